// ownership.js — buying the same machines for three years, against renting them.
import { h, s } from './h.js';
import { t } from './i18n.js';
import { amount, date, money, number, percent } from './format.js';
import { fitted } from './charts.js';
import { notes, pair, panel } from './parts.js';

function bars(own) {
  const rows = [['own.cost', own.three_year_cost, 's1'], ['own.rental', own.equivalent_rental, 's0']];
  const most = Math.max(...rows.map(([, m]) => amount(m)), 1);
  return h('div', { class: 'twobars' }, rows.map(([key, m, cls]) => h('div', {}, h('span', {}, t(key)), h('strong', {}, money(m)),
    s('svg', { viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, s('rect', { width: (amount(m) / most) * 100, height: 10, class: cls })))));
}

// Utilisation from nothing to full: where the two lines cross, and where this plan stands.
function scale(own, width) {
  const x = (share) => 16 + Math.min(share, 1) * (width - 32);
  const turn = own.break_even_utilisation;
  const mark = (share, y, text, cls, below) => [s('circle', { cx: x(share), cy: 26, r: 6, class: cls }),
    s('text', { x: Math.min(Math.max(x(share), 84), width - 84), y: below ? 52 : 12, 'text-anchor': 'middle' }, text)];
  return s('svg', { viewBox: `0 0 ${width} 60`, width: '100%', role: 'img', 'aria-label': t(turn === null ? 'own.scale.never' : 'own.scale', { use: percent(own.utilisation), turn: percent(turn) }) },
    s('line', { x1: x(0), x2: x(1), y1: 26, y2: 26, class: 'axis' }),
    turn === null || turn > 1 ? null : [s('rect', { x: x(turn), y: 22, width: x(1) - x(turn), height: 8, class: 's2' }), mark(turn, 12, t('own.turn', { p: percent(turn) }), 's2', false)],
    mark(own.utilisation, 52, t('own.here', { p: percent(own.utilisation) }), 's0', true),
    own.utilisation > 0.3 ? s('text', { x: x(0), y: 52 }, percent(0)) : null, own.utilisation < 0.7 ? s('text', { x: x(1), y: 52, 'text-anchor': 'end' }, percent(1)) : null);
}

export function ownership(own) {
  if (!own || !own.known) return own?.notes?.length ? panel('own', notes(own.notes)) : null;
  const p = own.purchase;
  return panel('own',
    own.ratio === null ? null : h('p', { class: 'lead' }, t(own.ratio < 1 ? 'own.says.cheaper' : 'own.says.dearer', { ratio: number(own.ratio, 2), use: percent(own.utilisation) })),
    own.three_year_cost && own.equivalent_rental ? bars(own) : null, own.utilisation === null ? null : fitted((width) => scale(own, width)),
    h('dl', { class: 'pairs' }, pair('own.ratio', number(own.ratio, 2)), pair('own.turns', own.break_even_utilisation === null ? t('turns.never') : percent(own.break_even_utilisation, 1)),
      pair('own.servers', p ? t('own.servers.of', { n: number(own.servers), cards: number(p.gpus_per_server) }) : number(own.servers)), p ? pair('own.price', `${money(p.price)} (${money(p.low)} – ${money(p.high)})`) : null,
      p ? pair('own.observed', `${date(p.observed_on)} · ${t(`trust.${p.confidence ?? 'low'}`)}`) : null),
    notes(own.notes));
}

// cards.js — one card an option: what it is, what it costs against the recommended one, when it is done, why and what to mind.
import { h } from './h.js';
import { t } from './i18n.js';
import { amount, date, days, money, number, percent } from './format.js';
import { chip, kind, more, named, notes } from './parts.js';
import { finishChip } from './summary.js';
import { phases } from './phases.js';
import { machine } from './machine.js';
import { lines, terms } from './costs.js';
import { reserve } from './reserve.js';
import { checklist, launch } from './takeaway.js';
import { relaxations } from './relax.js';

const short = 2; // a card shows the first of them; all stand in its details

const part = (key, ...content) => {
  const filled = content.flat(Infinity).filter(Boolean);
  return filled.length ? h('section', { class: 'part' }, h('h4', {}, t(`detail.${key}`)), ...filled) : null;
};

const detail = (option, act) => [
  part('notes', notes(option.reasons), notes(option.warnings, 'warn')),
  part('phases', phases(option)),
  part('machine', machine(option, act)),
  part('lines', lines(option, act), terms(option)),
  part('reserve', reserve(option, act)),
  part('relaxations', relaxations(option.relaxations, act)),
  part('launch', launch(option)),
  part('checklist', checklist(option)),
];

// What is missed, and by how much, comes first; whose price is derived or old is told by every card and comes last.
const weight = (n) => (n.short_by !== null ? 0 : n.code.startsWith('price_') ? 2 : 1);
const foremost = (list) => [...list].sort((a, b) => weight(a) - weight(b));

export function card(option, best, act) {
  const delta = best && best !== option ? amount(option.total_cost_to_finish) - amount(best.total_cost_to_finish) : null;
  const rest = option.reasons.length + option.warnings.length - Math.min(short, option.reasons.length) - Math.min(short, option.warnings.length);
  return h('article', { class: `card ${option === best ? 'best' : ''}`, 'data-label': option.label, 'aria-label': t('card.name', { label: option.label, title: option.title }) },
    h('div', { class: 'kind' }, h('strong', {}, option.label), ` ${kind(option.kind)} `,
      option === best ? chip('good', t('card.best')) : null, option.feasible ? null : chip('bad', t('not_feasible')), finishChip(option)),
    h('h3', {}, option.title),
    h('div', { class: 'sum' }, money(option.total_cost_to_finish)),
    delta === null ? null : h('div', { class: 'soft' }, delta === 0 ? t('delta.equal')
      : t(delta > 0 ? 'delta.more' : 'delta.less', { n: money({ amount: Math.abs(delta).toFixed(2), currency: option.cost.total.currency }), p: percent(Math.abs(delta) / Math.max(1, amount(best.total_cost_to_finish))) })),
    h('dl', { class: 'pairs' }, h('div', { class: 'pair' }, h('dt', {}, t('card.finish')), h('dd', {}, `${date(option.finish.finish_on)} · ${days(option.finish.expected_days)}`)),
      h('div', { class: 'pair' }, h('dt', {}, t('card.reserve', { basis: named('basis', option.inference_reserve.basis) })), h('dd', {}, money(option.inference_reserve.total)))),
    notes(foremost(option.reasons).slice(0, short)), notes(foremost(option.warnings).slice(0, short), 'warn'),
    rest > 0 ? h('p', { class: 'hint' }, t('card.rest', { n: number(rest) })) : null,
    h('div', { class: 'tools' }, act.compare ? h('button', { type: 'button', 'aria-label': t('card.compare.what', { label: option.label }), onclick: () => act.compare(option.label) }, t('card.compare')) : null),
    more(t('card.more', { label: option.label }), () => detail(option, act)));
}

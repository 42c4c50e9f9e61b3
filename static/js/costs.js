// costs.js — an option's bill: every line with its price, source and date; tax by code; when a longer term pays.
import { h } from './h.js';
import { t } from './i18n.js';
import { money, number, percent } from './format.js';
import { chip, grid, named, pair } from './parts.js';
import { itemName, machineName } from './names.js';

const source = (line) => [line.price_state ? [chip(line.price_state === 'firm' ? 'good' : 'warn', named('state', line.price_state)), ' '] : null,
  h('span', { class: 'soft' }, [line.price_as_of, line.source ?? line.assumption].filter(Boolean).join(' · ') || '–')];

function item(line, act) {
  const what = line.sku ? machineName(act.plan, line.sku) : itemName(act.lists, line.item);
  return [what, line.item === 'idle_hours' ? ` · ${t('lines.idle_hours')}` : '', line.pricing_mode ? h('span', { class: 'soft' }, ` ${t(`paid.${line.pricing_mode}`)}`) : null,
    line.unused_share > 0 ? [' ', chip('warn', t('unused', { p: percent(line.unused_share) }))] : null, h('br'), source(line)];
}

// Unit prices keep the places they are quoted with: 0.087 a GB is not 0.09.
const price = (p) => number(Number(p.amount), Math.max(2, (p.amount.split('.')[1] ?? '').length));

export function lines(option, act) {
  const cost = option.cost;
  const heads = [['phase', 'whole'], ['item', 'title'], ['quantity', 'num'], ['unit_price', 'num'], ['amount', 'num'], ['tax', 'num']];
  const total = (name, net, tax, cls = 'total') => h('tr', { class: cls }, h('th', { scope: 'row', colspan: 4, class: 'num' }, name), h('td', { class: 'num' }, net), h('td', { class: 'num' }, tax));
  return grid(t('lines.title', { label: option.label }), heads.map(([id, cls]) => [t(`lines.${id}`), cls]), cost.lines.map((l) => [
    [t(`phase.${l.phase}`), h('br'), h('span', { class: 'soft' }, t(`section.${l.section}`))], item(l, act), `${number(l.quantity, 3)} ${l.quantity === 1 ? named('each', l.unit) : named('unit', l.unit)}`, price(l.unit_price), money(l.amount), money(l.tax)]),
  [...cost.tax_lines.map((x) => total(act.taxName(x.tax_code), money(x.net), money(x.tax), '')), total(t('lines.sum'), money(cost.net), money(cost.tax)),
    h('tr', { class: 'total' }, h('th', { scope: 'row', colspan: 4, class: 'num' }, t('summary.total')), h('td', { class: 'num', colspan: 2 }, money(cost.total)))]);
}

const turns = (value, key) => (value === null || value === undefined ? t('turns.never') : t(key, { n: number(value, 1) }));

export const terms = (option) => h('dl', { class: 'pairs' },
  pair('turns.monthly', turns(option.monthly_beats_hourly_after_hours, 'turns.hours')), pair('turns.annual', turns(option.annual_beats_monthly_after_months, 'turns.months')),
  pair('cost.low', money(option.cost.low)), pair('cost.expected', money(option.cost.expected)), pair('cost.high', money(option.cost.high)), pair('cost.deposit', money(option.cost.deposit)));

// The same question for the plan as a whole.
export function breakEven(plan) {
  const b = plan.break_even;
  const cluster = b.cluster_beats_single_at_tokens;
  return h('dl', { class: 'pairs' },
    pair('turns.monthly', turns(b.monthly_beats_hourly_after_hours, 'turns.hours')), pair('turns.annual', turns(b.annual_beats_monthly_after_months, 'turns.months')),
    pair('turns.cluster', cluster === null ? t('turns.never') : cluster === 0 ? t('turns.always') : t('turns.tokens', { n: number(cluster) })));
}

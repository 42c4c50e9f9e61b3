// summary.js — the first answer: what is recommended, what it costs in all, when it is done, and why.
import { h } from './h.js';
import { t } from './i18n.js';
import { byId } from './fields.js';
import { amount, date, money, number, percent, roughly, significant } from './format.js';
import { chip, kind, named, notes, pair } from './parts.js';

export function finishChip(option) {
  const f = option.finish;
  if (f.deadline_probability === null || f.deadline_probability === undefined) return null;
  return chip(f.meets_deadline ? 'good' : 'bad', t(f.meets_deadline ? 'deadline.met' : 'deadline.missed', { p: percent(f.deadline_probability) }));
}

const diagnosed = (plan) => (plan.summary.diagnosis ? h('p', { class: 'say warn' }, plan.summary.diagnosis.text) : null);

const titled = (plan) => h('p', { class: 'soft' }, plan.name ? `${plan.name} · ` : '', t('summary.as_of', { on: plan.as_of }));

function understood(plan) {
  const m = plan.model;
  if (!m) return null;
  return h('p', { class: 'hint' }, t('summary.model', { name: m.name ?? m.preset ?? '–', params: significant(m.params_b), active: significant(m.active_params_b ?? m.params_b) }),
    ' · ', t('summary.weights', { cost: percent(plan.weights.cost), time: percent(plan.weights.time), risk: percent(plan.weights.risk) }));
}

// The same question with another priority, one press away.
function priorities(act) {
  const now = act.workload.priority ?? 'balanced';
  return h('div', { class: 'switch', role: 'group', 'aria-label': t('field.priority') }, byId.get('priority').options.map((name) =>
    h('button', { type: 'button', 'aria-pressed': String(name === now), onclick: () => { if (name !== now) act.apply([{ input: '/workload/priority', value: name }], null); } }, t(`option.priority.${name}`))));
}

export function summary(plan, act) {
  const best = plan.options.find((o) => o.label === plan.summary.recommended_option);
  if (!best)
    return h('div', { class: 'summary none' }, titled(plan), h('h3', {}, t('summary.nothing')), diagnosed(plan), h('p', {}, plan.summary.reason?.text), notes(plan.warnings, 'warn'), understood(plan));
  const differs = amount(best.cost.expected) !== amount(best.cost.total);
  return h('div', { class: 'summary' },
    titled(plan), diagnosed(plan),
    h('div', { class: 'bar' }, h('p', { class: 'lead' }, t('summary.recommended', { label: best.label }), ' · ', kind(best.kind), ' ', finishChip(best)), priorities(act)),
    h('h3', {}, best.title),
    h('div', { class: 'figures' },
      h('div', { class: 'main' }, h('span', { class: 'label' }, t('summary.total')), h('span', { class: 'total' }, money(best.total_cost_to_finish)),
        amount(best.total_cost_to_finish) >= 1e4 ? h('span', { class: 'soft' }, t('summary.about', { total: roughly(best.total_cost_to_finish), net: roughly(best.cost.net) })) : null,
        h('span', { class: 'hint' }, t('summary.range', { low: money(best.cost.low), high: money(best.cost.high) }), differs ? ` ${t('summary.expected', { sum: money(best.cost.expected) })}` : '')),
      h('dl', {},
        pair('summary.finish', date(best.finish.finish_on)),
        pair('summary.days', t('range.days', { low: number(best.finish.low_days), mid: number(best.finish.expected_days), high: number(best.finish.high_days) })),
        pair('summary.net', money(best.cost.net)), pair('summary.tax', money(best.cost.tax)),
        pair('summary.reserve', money(best.inference_reserve.total)),
        pair('summary.confidence', named('confidence', best.estimate?.confidence ?? 'analytic')))),
    h('p', { class: 'why' }, plan.summary.reason?.text),
    notes(plan.summary.cluster_triggers), notes(plan.summary.counter_signs, 'warn'), understood(plan));
}

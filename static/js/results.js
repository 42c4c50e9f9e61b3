// results.js — a plan on the page: the recommendation, the options, what they cost and when, and what is not offered.
import { h } from './h.js';
import { t, has } from './i18n.js';
import { amount, date, days, money, number, percent, significant } from './format.js';
import { barLegend, costBars, scatter, sections } from './charts.js';

const notes = (list, cls = '') =>
  list?.length ? h('ul', { class: `notes ${cls}` }, list.map((n) => h('li', { 'data-code': n.code }, n.text))) : null;
// A card shows the first few; the rest waits in its details.
const short = 3;
const first = (list, cls) => notes(list?.slice(0, short), cls);
const rest = (list, cls) => notes(list?.slice(short), cls);
const pair = (key, value) => h('div', { class: 'pair' }, h('dt', {}, t(key)), h('dd', {}, value));
const kind = (name) => t(`kind.${name}`);
const name = (prefix, code) => (has(`${prefix}.${code}`) ? t(`${prefix}.${code}`) : code);

function finishChip(option) {
  const f = option.finish;
  if (f.deadline_probability === null || f.deadline_probability === undefined) return null;
  return h('span', { class: `chip ${f.meets_deadline ? 'good' : 'bad'}` },
    t(f.meets_deadline ? 'deadline.met' : 'deadline.missed', { p: percent(f.deadline_probability) }));
}

function summary(plan) {
  const best = plan.options.find((o) => o.label === plan.summary.recommended_option);
  if (!best)
    return h('div', { class: 'summary' }, h('h3', {}, t('summary.nothing')), h('p', {}, plan.summary.reason?.text), notes(plan.warnings, 'warn'));
  return h('div', { class: 'summary' },
    h('h3', {}, t('summary.recommended', { label: best.label }), ' · ', kind(best.kind)),
    h('p', {}, best.title),
    h('div', { class: 'total' }, money(best.total_cost_to_finish)),
    h('p', { class: 'hint' }, t('summary.range', { low: money(best.cost.low), high: money(best.cost.high) })),
    h('p', {}, plan.summary.reason?.text),
    h('dl', {},
      pair('summary.net', money(best.cost.net)), pair('summary.tax', money(best.cost.tax)),
      pair('summary.finish', date(best.finish.finish_on)),
      pair('summary.days', t('range.days', { low: number(best.finish.low_days), mid: number(best.finish.expected_days), high: number(best.finish.high_days) })),
      pair('summary.reserve', money(best.inference_reserve.total)),
      pair('summary.confidence', t(`confidence.${best.estimate?.confidence ?? 'analytic'}`))),
    plan.summary.diagnosis ? h('p', { class: 'chip warn' }, plan.summary.diagnosis.text) : null,
    notes(plan.summary.cluster_triggers), notes(plan.summary.counter_signs, 'warn'));
}

function card(option, best) {
  const delta = best && best !== option ? amount(option.total_cost_to_finish) - amount(best.total_cost_to_finish) : null;
  return h('article', { class: `card ${option === best ? 'best' : ''}`, 'data-label': option.label },
    h('div', { class: 'kind' }, `${option.label} · ${kind(option.kind)} `,
      option.feasible ? null : h('span', { class: 'chip bad' }, t('not_feasible')), finishChip(option)),
    h('h3', {}, option.title),
    h('div', { class: 'sum' }, money(option.total_cost_to_finish)),
    delta === null ? null : h('div', { class: 'hint' }, t(delta >= 0 ? 'delta.more' : 'delta.less', { n: number(Math.abs(delta)), p: percent(Math.abs(delta) / Math.max(1, amount(best.total_cost_to_finish))) })),
    h('div', {}, t('card.finish', { on: date(option.finish.finish_on), days: days(option.finish.expected_days) })),
    h('div', {}, t('card.reserve', { sum: money(option.inference_reserve.total), basis: t(`basis.${option.inference_reserve.basis}`) })),
    first(option.reasons), first(option.warnings, 'warn'),
    h('details', { class: 'more' }, h('summary', {}, t('card.more')), detail(option)));
}

function timeline(option) {
  return h('div', { class: 'timeline' }, option.phases.map((p) => h('div', { class: 'seg' },
    h('strong', {}, t(`phase.${p.code}`)),
    h('div', {}, h('span', { class: 'when' }, `${date(p.start_on)} → ${date(p.end_on)} · ${t('hours', { n: number(p.hours) })} · ${t('gpus', { n: p.gpus })} · ${money(p.cost)}`),
      p.gate ? h('div', {}, h('span', { class: 'chip' }, t('gate')), p.gate.text) : null))));
}

function lines(option) {
  const cost = option.cost;
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': t('lines.title', { label: option.label }) }, h('table', {},
    h('caption', { class: 'hint' }, t('lines.title', { label: option.label })),
    h('thead', {}, h('tr', {}, ['phase', 'section', 'item', 'quantity', 'unit_price', 'amount', 'source'].map((c) =>
      h('th', { scope: 'col', class: ['quantity', 'unit_price', 'amount'].includes(c) ? 'num' : '' }, t(`lines.${c}`))))),
    h('tbody', {}, cost.lines.map((l) => h('tr', {},
      h('td', { class: 'whole' }, t(`phase.${l.phase}`)), h('td', { class: 'whole' }, t(`section.${l.section}`)), h('td', {}, l.item === 'idle_hours' ? `${l.sku} · ${t('lines.idle_hours')}` : l.sku ?? l.item ?? '–'),
      h('td', { class: 'num' }, `${number(l.quantity, 3)} ${name('unit', l.unit)}`), h('td', { class: 'num' }, l.unit_price.amount),
      h('td', { class: 'num' }, l.amount.amount),
      h('td', {}, l.source ?? '–', l.price_as_of ? ` (${l.price_as_of})` : '', l.unused_share > 0 ? ` · ${t('unused', { p: percent(l.unused_share) })}` : ''))),
      [['summary.net', cost.net], ['summary.tax', cost.tax], ['summary.total', cost.total]].map(([key, value]) =>
        h('tr', { class: 'total' }, h('td', { colspan: 5 }, t(key)), h('td', { class: 'num' }, value.amount), h('td', {}, value.currency))))));
}

function physics(option) {
  const e = option.estimate;
  if (!e) return null;
  const rows = [];
  if (e.training) rows.push(['tokens_per_s', significant(e.training.tokens_per_s)], ['step_time', significant(e.training.step_time_s)],
    ['mfu', e.training.mfu_pct === null ? '–' : `${significant(e.training.mfu_pct)} %`], ['comm', percent(e.training.communication_share)]);
  if (e.serving) rows.push(['tpot', significant(e.serving.tpot_ms)], ['ttft', significant(e.serving.ttft_ms)], ['out_tokens', significant(e.serving.output_tokens_per_s)]);
  if (e.memory) rows.push(['memory', `${significant(e.memory.total_gb)} / ${significant(e.memory.usable_gb)} GB`]);
  return h('dl', { class: 'legend' }, rows.map(([key, value]) => h('div', {}, h('dt', {}, t(`physics.${key}`)), h('dd', {}, value))));
}

// Requests that can wait: when they run in hours that are paid for anyway.
const windows = (batch) => batch?.windows.length ? h('ul', { class: 'notes' }, batch.windows.map((w) => h('li', {},
  t('reserve.window', { from: date(w.start_on), to: date(w.end_on), hours: number(w.hours_per_day), gpus: number(w.gpus), sku: w.sku, requests: number(w.requests) })))) : null;

// The reserve's notes, the same machines paid otherwise, and the same service on other cards.
function reserve(option) {
  const r = option.inference_reserve;
  const ways = r.pricing.map((w) => pair(`reserve.pay.${w.code}`, money(w.total)));
  const head = ['role', 'gpu', 'gpus', 'replicas', 'tpot', 'ttft', 'total'];
  return r.gpu ? [h('h4', {}, t('detail.reserve')), notes(r.notes), windows(r.batch), ways.length > 1 ? h('dl', {}, ways) : null,
    r.alternatives.length ? h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': t('detail.reserve') }, h('table', {},
      h('thead', {}, h('tr', {}, head.map((c) => h('th', { scope: 'col' }, t(`reserve.${c}`))))),
      h('tbody', {}, r.alternatives.map((c) => h('tr', {},
        h('td', {}, t(`reserve.role.${c.role}`)), h('td', {}, c.gpu), h('td', { class: 'num' }, number(c.gpus)), h('td', { class: 'num' }, number(c.replicas)),
        h('td', { class: 'num' }, significant(c.tpot_ms)), h('td', { class: 'num' }, significant(c.ttft_ms)), h('td', { class: 'num' }, money(c.total))))))) : null] : null;
}

function detail(option) {
  const launch = option.launch ?? {};
  return [
    option.reasons.length > short || option.warnings.length > short ? [h('h4', {}, t('detail.rest')), rest(option.reasons), rest(option.warnings, 'warn')] : null,
    h('h4', {}, t('detail.phases')), timeline(option),
    h('h4', {}, t('detail.physics')), physics(option),
    h('h4', {}, t('detail.lines')), lines(option), reserve(option),
    option.relaxations?.length ? [h('h4', {}, t('detail.relaxations')), notes(option.relaxations)] : null,
    launch.torchrun || launch.slurm || launch.deepspeed_config ? [h('h4', {}, t('detail.launch')),
      launch.torchrun ? h('pre', { tabindex: 0 }, launch.torchrun) : null,
      launch.deepspeed_config ? h('pre', { tabindex: 0 }, JSON.stringify(launch.deepspeed_config, null, 2)) : null,
      launch.slurm ? h('pre', { tabindex: 0 }, launch.slurm) : null] : null,
    option.checklist?.length ? [h('h4', {}, t('detail.checklist')), h('ul', { class: 'notes' }, option.checklist.map((c) =>
      h('li', {}, c.text, c.command ? [' ', h('code', {}, c.command)] : null)))] : null,
  ];
}

const columns = [
  ['rank', (o) => o.rank], ['label', (o) => o.label], ['kind', (o) => kind(o.kind)], ['title', (o) => o.title],
  ['total', (o) => amount(o.total_cost_to_finish), (o) => money(o.total_cost_to_finish)],
  ['days', (o) => o.finish.expected_days, (o) => number(o.finish.expected_days, 1)],
  ['finish', (o) => o.finish.finish_on], ['reserve', (o) => amount(o.inference_reserve.total), (o) => money(o.inference_reserve.total)],
  ['score', (o) => o.scores.overall, (o) => number(o.scores.overall, 2)],
  ['cheapest', (o) => o.probability_cheapest ?? 0, (o) => percent(o.probability_cheapest)],
];

function table(options) {
  const body = h('tbody', {});
  const draw = (list) => body.replaceChildren(...list.map((o) => h('tr', {}, columns.map(([id, value, show]) =>
    h('td', { class: typeof value(o) === 'number' ? 'num' : id === 'title' ? 'title' : 'whole' }, (show ?? value)(o))))));
  draw(options);
  const heads = columns.map(([id, value]) => {
    const th = h('th', { scope: 'col', class: typeof value(options[0]) === 'number' ? 'num' : '', 'aria-sort': id === 'rank' ? 'ascending' : null });
    th.append(h('button', { type: 'button', onclick: () => {
      const up = th.getAttribute('aria-sort') !== 'ascending';
      for (const other of heads) other.removeAttribute('aria-sort');
      th.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      draw([...options].sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (up ? 1 : -1)));
    } }, t(`table.${id}`)));
    return th;
  });
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': t('table.caption') },
    h('table', {}, h('thead', {}, h('tr', {}, heads)), body));
}

function sectionTable(options) {
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': t('sections.title') }, h('table', {}, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, t('lines.section')),
    options.map((o) => h('th', { scope: 'col', class: 'num' }, o.label)))),
  h('tbody', {}, [...sections, 'tax', 'total'].map((id) => h('tr', { class: id === 'total' ? 'total' : '' }, h('th', { scope: 'row' }, t(`section.${id}`)),
    options.map((o) => h('td', { class: 'num' }, (id === 'tax' || id === 'total' ? o.cost[id] : o.cost.by_section[id]).amount)))))));
}

const panel = (key, ...children) => h('section', { class: 'panel' }, h('h3', {}, t(key)), ...children);

function ownership(own) {
  if (!own || own.ratio === null || own.ratio === undefined) return null;
  return panel('own.title', h('dl', { class: 'legend' }, pair('own.cost', money(own.three_year_cost)), pair('own.rental', money(own.equivalent_rental)),
    pair('own.ratio', number(own.ratio, 2)), pair('own.turns', own.break_even_utilisation === null ? '–' : percent(own.break_even_utilisation))), notes(own.notes));
}

function refused(plan) {
  if (!plan.infeasible.length) return null;
  return panel('refused.title', plan.infeasible.map((k) => h('div', {}, h('h4', {}, kind(k.kind)), notes(k.reasons), notes(k.relaxations))));
}

export function render(plan, workload) {
  const best = plan.options.find((o) => o.label === plan.summary.recommended_option);
  const start = Date.parse(workload.constraints?.start_on ?? plan.as_of), end = Date.parse(workload.constraints?.deadline_on ?? '');
  const curl = `curl -s ${location.origin}/api/v1/plans -H 'Content-Type: application/json' -d '${JSON.stringify({ workload }).replaceAll("'", "'\\''")}'`;
  return [
    summary(plan),
    plan.options.length ? h('div', { class: 'cards' }, plan.options.map((o) => card(o, best))) : null,
    plan.options.length ? panel('table.caption', table(plan.options)) : null,
    plan.options.length ? panel('sections.title', costBars(plan.options), barLegend(), h('details', { class: 'more' }, h('summary', {}, t('as_table')), sectionTable(plan.options))) : null,
    plan.options.length > 1 ? panel('scatter.title', scatter(plan.options, amount(workload.constraints?.budget), Number.isFinite(end) ? (end - start) / 864e5 + 1 : null)) : null,
    refused(plan), plan.options.length && plan.warnings?.length ? panel('mind.title', notes(plan.warnings, 'warn')) : null, ownership(plan.own_hardware),
    plan.staged_advice?.length ? panel('advice.title', notes(plan.staged_advice)) : null,
    panel('assumptions.title', h('details', { class: 'more' }, h('summary', {}, t('assumptions.show', { n: plan.assumptions.length })),
      h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': t('assumptions.title') }, h('table', {}, h('thead', {}, h('tr', {}, ['name', 'value', 'source'].map((c) => h('th', { scope: 'col' }, t(`assumptions.${c}`))))),
        h('tbody', {}, plan.assumptions.map((a) => h('tr', {}, h('td', {}, a.name), h('td', { class: 'num' }, a.value ?? a.text ?? '–'), h('td', {}, a.source)))))))),
    panel('take.title', h('pre', { tabindex: 0 }, curl),
      h('p', { class: 'hint' }, t('take.versions', { plan: plan.plan_id, revision: plan.catalog_revision, engine: plan.engine_version, on: plan.as_of }))),
  ];
}

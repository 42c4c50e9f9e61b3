// compare.js — two options side by side, old card against new card, and what accounts for the difference of their sums.
import { h } from './h.js';
import { t } from './i18n.js';
import { amount, date, days, money, number, percent, significant } from './format.js';
import { sections } from './charts.js';
import { difference, grid, kind, named, panel } from './parts.js';

const train = (o) => o.supply.find((s) => s.role === 'train') ?? o.supply[0];
const card = (o, lists) => lists.gpus?.find((g) => g.id === train(o)?.gpu) ?? {};
const hours = (o) => o.phases.filter((p) => p.code === 'train').reduce((sum, p) => sum + p.hours, 0);
const cardHours = (o) => o.phases.filter((p) => p.code === 'train').reduce((sum, p) => sum + p.hours * p.gpus, 0);
const paid = (o) => o.phases.filter((p) => p.code === 'train').reduce((sum, p) => sum + amount(p.cost), 0);

// [text id, value, how it reads, unit of the difference or null]
const rows = (lists) => [
  ['kind', (o) => kind(o.kind)],
  ['machine', (o) => (train(o) ? t('machine.of', { nodes: number(train(o).nodes), n: number(train(o).gpus_per_node), gpu: train(o).gpu_name }) : '–')],
  ['provider', (o) => [...new Set(o.supply.filter((s) => s.role !== 'serve').map((s) => s.provider_name))].join(' + ') || '–'],
  ['card_year', (o) => card(o, lists).year ?? '–'],
  ['card_memory', (o) => (train(o) ? `${number(train(o).vram_gb_per_gpu)} GB` : '–')],
  ['card_bandwidth', (o) => (card(o, lists).memory_bandwidth_gb_s ? `${number(card(o, lists).memory_bandwidth_gb_s)} GB/s` : '–')],
  ['card_speed', (o) => (card(o, lists).bf16_tflops ?? card(o, lists).fp16_tflops ? `${number(card(o, lists).bf16_tflops ?? card(o, lists).fp16_tflops)} TFLOPS` : '–')],
  ['tokens_per_s', (o) => significant(o.estimate?.training?.tokens_per_s ?? o.estimate?.training?.samples_per_s)],
  ['train_hours', (o) => number(hours(o), 1), hours, 1],
  ['card_hours', (o) => number(cardHours(o)), cardHours, 0],
  ['per_card_hour', (o) => (cardHours(o) > 0 ? money({ amount: paid(o) / cardHours(o), currency: o.cost.net.currency }) : '–'), (o) => (cardHours(o) > 0 ? paid(o) / cardHours(o) : null), 2],
  ['memory', (o) => (o.estimate?.memory ? `${significant(o.estimate.memory.total_gb)} / ${significant(o.estimate.memory.usable_gb)} GB` : '–')],
  ['finish', (o) => date(o.finish.finish_on)],
  ['days', (o) => days(o.finish.expected_days), (o) => o.finish.expected_days, 0],
  ['deadline', (o) => percent(o.finish.deadline_probability)],
  ['risk', (o) => number(o.scores.risk, 2)],
  ['cheapest', (o) => percent(o.probability_cheapest)],
];

const signed = (value, digits) => (value > 0 ? '+' : '') + number(value, digits);

function table(a, b, lists) {
  const line = ([id, read, value, digits]) => {
    const delta = value && value(a) !== null && value(b) !== null ? signed(value(b) - value(a), digits) : '';
    return [t(`compare.${id}`), read(a), read(b), delta];
  };
  const delta = (pick) => { const by = (amount(pick(b)) - amount(pick(a))).toFixed(2); return Number(by) === 0 ? '–' : difference({ amount: by, currency: pick(a).currency }); };
  const sum = (key, pick) => [t(key), money(pick(a)), money(pick(b)), delta(pick)];
  const parts = sections.filter((id) => amount(a.cost.by_section[id]) || amount(b.cost.by_section[id]));
  return grid(t('compare.title'), [[t('compare.what')], [a.label, 'num'], [b.label, 'num'], [t('compare.delta', { a: a.label, b: b.label }), 'num']],
    [...rows(lists).map(line), ...parts.map((id) => sum(`section.${id}`, (o) => o.cost.by_section[id])), sum('section.tax', (o) => o.cost.tax),
      Object.assign(sum('section.total', (o) => o.cost.total), { total: true }), sum('compare.low', (o) => o.cost.low), sum('compare.high', (o) => o.cost.high), sum('compare.deposit', (o) => o.cost.deposit)]);
}

// The difference cut by cause; a plan tells each pair one way round, the other is its mirror.
export function attributionOf(plan, a, b) {
  const found = plan.attribution.find((x) => (x.from === a && x.to === b) || (x.from === b && x.to === a));
  if (!found) return null;
  const sign = found.from === a ? 1 : -1;
  const turn = (m) => ({ ...m, amount: sign > 0 || Number(m.amount) === 0 ? m.amount : m.amount.startsWith('-') ? m.amount.slice(1) : `-${m.amount}` });
  return { amount: turn(found.amount), by: found.by.map((part) => ({ ...part, amount: turn(part.amount) })) };
}

function attribution(plan, a, b) {
  const cut = attributionOf(plan, a.label, b.label);
  if (!cut) return h('p', { class: 'hint' }, t('attribution.equal'));
  const most = Math.max(...cut.by.map((part) => Math.abs(amount(part.amount))));
  const parts = [...cut.by].sort((x, y) => Math.abs(amount(y.amount)) - Math.abs(amount(x.amount)));
  const bar = (value) => {
    const meter = h('span', { class: `bar ${value < 0 ? 'less' : 'more'}` });
    meter.style.setProperty('--share', Math.abs(value) / most);
    return h('span', { class: 'diverge', 'aria-hidden': 'true' }, meter);
  };
  return [h('p', {}, t(amount(cut.amount) > 0 ? 'attribution.dearer' : 'attribution.cheaper', { a: a.label, b: b.label, sum: money({ ...cut.amount, amount: cut.amount.amount.replace('-', '') }) }), ' ',
    t('attribution.most', { list: parts.slice(0, 3).map((part) => `${named('cause', part.category)} ${difference(part.amount)}`).join(t('list')) })),
  grid(t('attribution.title'), [[t('attribution.cause')], [t('attribution.amount'), 'num'], [t('attribution.share'), 'num'], ['']],
    parts.map((part) => [named('cause', part.category), difference(part.amount), percent(part.share, 1), bar(amount(part.amount))]),
    h('tr', { class: 'total' }, h('th', { scope: 'row' }, t('attribution.sum')), h('td', { class: 'num' }, difference(cut.amount)), h('td', { class: 'num' }, percent(1)), h('td', {})))];
}

// Where they differ in card, an option of another card than the best is the question most asked.
function firstPair(plan) {
  const best = plan.options.find((o) => o.label === plan.summary.recommended_option) ?? plan.options[0];
  const other = plan.options.find((o) => o !== best && train(o)?.gpu !== train(best)?.gpu) ?? plan.options.find((o) => o !== best);
  return [best, other];
}

export function compare(plan, act) {
  if (plan.options.length < 2) return null;
  let [a, b] = firstPair(plan);
  const out = h('div', { class: 'compared' });
  const draw = () => out.replaceChildren(...[table(a, b, act.lists), h('h4', {}, t('attribution.title')), attribution(plan, a, b)].flat());
  const choose = (id, chosen, take) => h('span', { class: 'choice' }, h('label', { for: id }, t(`${id.replaceAll('-', '.')}`)), h('select', { id, onchange: (event) => {
    take(plan.options.find((o) => o.label === event.target.value));
    draw();
  } }, plan.options.map((o) => h('option', { value: o.label, selected: o === chosen }, `${o.label} · ${o.title}`))));
  const left = choose('compare-left', a, (o) => { a = o; }), right = choose('compare-right', b, (o) => { b = o; });
  const swap = h('button', { type: 'button', 'aria-label': t('compare.swap'), title: t('compare.swap'), onclick: () => {
    [a, b] = [b, a];
    left.querySelector('select').value = a.label;
    right.querySelector('select').value = b.label;
    draw();
  } }, '⇄');
  draw();
  const p = panel('compare', h('p', { class: 'hint' }, t('compare.hint')), h('div', { class: 'choices' }, left, swap, right), out);
  p.show = (label) => { // from a card's button
    const best = plan.options.find((o) => o.label === plan.summary.recommended_option) ?? plan.options[0];
    b = plan.options.find((o) => o.label === label);
    a = b === best ? plan.options.find((o) => o !== best) : best;
    left.querySelector('select').value = a.label;
    right.querySelector('select').value = b.label;
    draw();
  };
  return p;
}

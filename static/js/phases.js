// phases.js — a job's phases on one line of time, each with its dates, its cost and the gate that ends it.
import { h, s } from './h.js';
import { t } from './i18n.js';
import { date, money, number, significant } from './format.js';
import { chip, named, notes, pair } from './parts.js';

const day = (text) => Date.parse(text) / 864e5;

function bar(phase, from, to, k) {
  const scale = (d) => ((d - from) / Math.max(to - from, 1)) * 1000;
  const x = scale(day(phase.start_on));
  return s('svg', { viewBox: '0 0 1000 10', preserveAspectRatio: 'none', class: 'span', 'aria-hidden': 'true' },
    s('rect', { x: 0, y: 4, width: 1000, height: 2, class: 'rail' }), s('rect', { x, y: 0, width: Math.max(scale(day(phase.end_on) + 1) - x, 6), height: 10, class: `s${k % 10}` }));
}

function gate(g) {
  const threshold = g.metric === 'loss_trend' ? t('gate.falling') : significant(g.threshold, 4);
  return h('div', { class: 'gate' }, h('div', {}, chip('', t('gate')), g.text),
    h('dl', { class: 'pairs' }, pair('gate.metric', named('metric', g.metric)), pair('gate.threshold', threshold), pair('gate.saved', money(g.saved))));
}

// Named by the seller's words; the service of a plan runs for months and would press the rest into a corner of the line.
export function phases(option) {
  const job = option.phases.filter((p) => p.code !== 'serve');
  const shown = job.length ? job : option.phases;
  const from = Math.min(...shown.map((p) => day(p.start_on))), to = Math.max(...shown.map((p) => day(p.end_on) + 1));
  return h('ol', { class: 'phases' }, option.phases.map((p, k) => h('li', {},
    h('div', { class: 'head' }, h('strong', {}, t(`phase.${p.code}`)),
      h('span', {}, `${date(p.start_on)} → ${date(p.end_on)}`), h('span', {}, `${t('hours', { n: number(p.hours) })} · ${t('gpus', { n: number(p.gpus) })}`),
      h('span', { class: 'sum' }, money(p.cost))),
    shown.includes(p) ? bar(p, from, to, k) : null, p.gate ? gate(p.gate) : null, notes(p.reasons))));
}

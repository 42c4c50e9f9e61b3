// turning.js — turning points: how far an input may move before another option is the better one.
import { h, s } from './h.js';
import { t, has } from './i18n.js';
import { money, number, percent, significant } from './format.js';
import { chip, grid, panel } from './parts.js';
import { inputName } from './names.js';

const reach = 0.25; // as far as the planner walks, both ways
const EFFORT = 40000; // counted work that follows every input: 30 ms at most, where a plan usually takes 3
const isDate = (input) => input.endsWith('/deadline_on');

function dayText(plan, days) {
  const start = plan.options[0]?.phases.map((p) => p.start_on).sort()[0];
  if (!start) return t('days', { n: number(days) });
  return new Date(Date.parse(start) + (days - 1) * 864e5).toISOString().slice(0, 10);
}

function figure(plan, point, value) {
  if (value === null) return '–';
  if (isDate(point.input)) return dayText(plan, value);
  const [currency, per] = (point.unit ?? '').split('/');
  if (/^[A-Z]{3}$/.test(currency)) {
    const sum = money({ amount: String(Math.round(value * 10000) / 10000), currency });
    return per ? t('per', { sum, unit: has(`each.${per}`) ? t(`each.${per}`) : per }) : sum;
  }
  const shown = Math.abs(value) >= 1e4 ? number(value) : significant(value, 4);
  return has(`measure.${point.unit}`) ? t(`measure.${point.unit}`, { n: shown }) : `${shown} ${point.unit ?? ''}`;
}

// A reach of 25 % each way, today in the middle.
function slider(share) {
  const x = 70 + (share / reach) * 60;
  return s('svg', { viewBox: '0 0 140 18', width: 140, height: 18, 'aria-hidden': 'true' },
    s('line', { x1: 10, x2: 130, y1: 9, y2: 9, class: 'axis' }), s('line', { x1: 70, x2: 70, y1: 3, y2: 15, class: 'axis' }),
    s('line', { x1: 70, x2: x, y1: 9, y2: 9, class: 'reach' }), s('circle', { cx: x, cy: 9, r: 5, class: 's0' }));
}

// Half a step beyond the point, as a change of the request; null where the input is none of its members.
function beyond(plan, point) {
  if (!point.input.startsWith('/workload/')) return null;
  const away = Math.sign(point.turning_point - point.now), value = point.turning_point + away * 0.006 * point.now;
  if (isDate(point.input)) return { input: point.input, value: dayText(plan, point.turning_point) };
  if (point.input.endsWith('/budget')) return { input: point.input, value: { amount: value.toFixed(2), currency: point.unit } };
  if (point.input.endsWith('/runs')) return { input: point.input, value: point.turning_point };
  return { input: point.input, value: /tokens$|samples$|steps$/.test(point.input) ? Math.round(value) : Number(value.toPrecision(6)) };
}

export function turning(plan, act) {
  if (!plan.options.length) return null;
  const open = plan.sensitivity_unsettled.map((input) => inputName(input, plan, act.lists)).join(t('list'));
  const all = [{ input: '/workload/assumptions/plan_effort', value: EFFORT }];
  const rest = open ? h('div', {}, h('p', { class: 'hint' }, t('turning.unsettled', { inputs: open })), h('button', { type: 'button', onclick: () => act.apply(all, null) }, t('turning.all'))) : '';
  if (!plan.sensitivity.length) return panel('turning', h('p', { class: 'hint' }, t('turning.none')), rest);
  const rows = plan.sensitivity.map((point) => {
    const share = point.turning_point / point.now - 1;
    const change = beyond(plan, point);
    const name = inputName(point.input, plan, act.lists);
    return [[h('strong', {}, name), h('br'), t('turning.move', { now: figure(plan, point, point.now), point: figure(plan, point, point.turning_point), by: `${share > 0 ? '+' : ''}${percent(share, 1)}` }), h('br'), slider(share)],
      [chip(point.confirmed ? 'good' : '', t(point.confirmed ? 'turning.confirmed' : 'turning.foreseen')), ' ', point.title_then ? `${point.recommended_then ? `${point.recommended_then} · ` : ''}${point.title_then}` : t('turning.nothing')],
      change ? h('button', { type: 'button', class: 'apply', 'aria-label': t('turning.try.what', { name }), onclick: () => act.apply([change], null) }, t('turning.try')) : ''];
  });
  const heads = [['input', 'title'], ['then', 'title'], ['try', 'whole']];
  return panel('turning', h('p', { class: 'hint' }, t('turning.hint')),
    grid(t('turning.title'), heads.map(([id, cls]) => [t(`turning.${id}`), cls]), rows), rest);
}

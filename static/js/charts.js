// charts.js — drawings as SVG, each with its figures in words or a table beside it, never colour alone.
import { h, s } from './h.js';
import { t } from './i18n.js';
import { amount, compact, money, number } from './format.js';

export const sections = ['compute', 'network', 'storage', 'software', 'operations', 'egress', 'validation', 'migration', 'inference_reserve'];

// A drawing made anew for the width that it gets, so that its words stay readable on a phone.
export function fitted(draw) {
  const box = h('div', { class: 'fitted' });
  let width = 0;
  new ResizeObserver(([{ contentRect }]) => {
    const room = Math.min(760, Math.max(240, Math.round(contentRect.width / 20) * 20));
    if (room === width || contentRect.width === 0) return;
    width = room;
    box.replaceChildren(draw(width));
  }).observe(box);
  return box;
}

// One bar an option: what its total is made of, tax last.
function costBars(options, width) {
  const row = 34, left = 28, right = 110;
  const most = Math.max(...options.map((o) => amount(o.cost.total)), 1);
  const scale = (value) => (value / most) * (width - left - right);
  const svg = s('svg', { viewBox: `0 0 ${width} ${options.length * row + 8}`, role: 'img', width: '100%',
    'aria-label': t('chart.bars', { list: options.map((o) => `${o.label} ${money(o.cost.total)}`).join('; ') }) });
  options.forEach((option, i) => {
    let x = left;
    const y = i * row + 6;
    svg.append(s('text', { x: 6, y: y + 17, 'font-weight': 'bold' }, option.label));
    const parts = [...sections.map((name) => [name, amount(option.cost.by_section[name])]), ['tax', amount(option.cost.tax)]];
    parts.forEach(([name, value], k) => {
      if (value <= 0) return;
      const w = Math.max(scale(value), 0.5);
      svg.append(s('rect', { x, y, width: w, height: 22, class: `s${k}` }, s('title', {}, `${t(`section.${name}`)} ${number(value, 2)}`)));
      x += w;
    });
    svg.append(s('text', { x: x + 6, y: y + 16 }, money(option.cost.total)));
  });
  return svg;
}

export function barLegend() {
  return h('ul', { class: 'legend' }, [...sections, 'tax'].map((name, k) =>
    h('li', {}, s('svg', { viewBox: '0 0 14 14', 'aria-hidden': 'true' }, s('rect', { width: 14, height: 14, class: `s${k}` })), t(`section.${name}`))));
}

// The options that no other beats in both cost and time, soonest first.
function frontier(options) {
  let least = Infinity;
  return [...options].filter((o) => o.feasible)
    .sort((a, b) => a.finish.expected_days - b.finish.expected_days || amount(a.cost.total) - amount(b.cost.total))
    .filter((o) => amount(o.cost.total) < least && ((least = amount(o.cost.total)), true));
}

// Round figures for an axis that reaches `most`: about four steps of 1, 2, 2.5 or 5 times a power of ten.
export function ticks(most) {
  const rough = most / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((m) => m * power >= rough * 0.999) * power;
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
}

// Cost against time with the frontier, budget and deadline. A budget or a deadline far beyond every option would press
// them all into a corner, so it is left to the words.
function scatter(options, budget, deadlineDays, width) {
  const height = 300, left = 56, bottom = 40, top = 14, right = 20;
  const near = (mark, most) => (mark && mark <= 3 * most ? mark : null);
  const mostX = Math.max(...options.map((o) => o.finish.expected_days)), mostY = Math.max(...options.map((o) => amount(o.cost.total)));
  const lineX = near(deadlineDays, mostX), lineY = near(budget, mostY);
  const maxX = Math.max(mostX, lineX ?? 0) * 1.1 || 1, maxY = Math.max(mostY, lineY ?? 0) * 1.1 || 1;
  const x = (days) => left + (days / maxX) * (width - left - right);
  const y = (sum) => height - bottom - (sum / maxY) * (height - bottom - top);
  const svg = s('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', width: '100%',
    'aria-label': t('chart.scatter', { list: options.map((o) => `${o.label}: ${number(o.finish.expected_days)} / ${money(o.cost.total)}`).join('; ') }) });
  for (const sum of ticks(maxY))
    svg.append(s('line', { x1: left, x2: width - right, y1: y(sum), y2: y(sum), class: 'grid' }), s('text', { x: left - 6, y: y(sum) + 4, 'text-anchor': 'end' }, compact(sum)));
  for (const days of ticks(maxX)) svg.append(s('text', { x: x(days), y: height - bottom + 18, 'text-anchor': 'middle' }, number(days, 1)));
  svg.append(s('text', { x: width - right, y: height - 6, 'text-anchor': 'end' }, t('chart.days')));
  const line = frontier(options);
  if (line.length > 1)
    svg.append(s('polyline', { points: line.map((o) => `${x(o.finish.expected_days)},${y(amount(o.cost.total))}`).join(' '), fill: 'none', class: 'axis', 'stroke-dasharray': '5 4' }));
  if (lineY) svg.append(s('line', { x1: left, x2: width - right, y1: y(lineY), y2: y(lineY), class: 'axis' }), s('text', { x: left + 6, y: y(lineY) - 5 }, t('chart.budget')));
  if (lineX) svg.append(s('line', { x1: x(lineX), x2: x(lineX), y1: top, y2: height - bottom, class: 'axis' }), s('text', { x: x(lineX) - 6, y: top + 10, 'text-anchor': 'end' }, t('chart.deadline')));
  const points = options.map((option) => ({ option, cx: x(option.finish.expected_days), cy: y(amount(option.cost.total)) }));
  // A label stands where neither a point nor another label is: right of its point, above, below or left of it.
  const taken = points.map(({ cx, cy }) => [cx, cy]);
  const places = [[14, 0], [0, -15], [0, 16], [-14, 0], [14, -14], [14, 14], [-14, -14], [-14, 14], [0, -28], [0, 29]];
  for (const { option, cx, cy } of points) {
    svg.append(option.feasible ? s('circle', { cx, cy, r: 7, class: option.on_pareto_front ? 's0' : 's9' }) : s('path', { d: `M${cx - 6} ${cy - 6}l12 12m0 -12l-12 12`, class: 'axis', fill: 'none' }));
    const free = ([dx, dy]) => !taken.some(([tx, ty]) => Math.abs(tx - cx - dx) < 13 && Math.abs(ty - cy - dy) < 13);
    const [dx, dy] = places.find(free) ?? places[0];
    taken.push([cx + dx, cy + dy]);
    svg.append(s('text', { x: cx + dx, y: cy + dy + 4, 'text-anchor': 'middle', 'font-weight': 'bold' }, option.label));
  }
  return svg;
}

export const drawnBars = (options) => fitted((width) => costBars(options, width));
export const drawnScatter = (options, budget, deadlineDays) => fitted((width) => scatter(options, budget, deadlineDays, width));

// options.js — all options in one table, sorted by whatever column is asked.
import { h } from './h.js';
import { t } from './i18n.js';
import { amount, money, number, percent } from './format.js';
import { kind, scrolls } from './parts.js';

const columns = [
  ['rank', (o) => o.rank], ['label', (o) => o.label], ['kind', (o) => kind(o.kind)], ['machines', (o) => o.title],
  ['total', (o) => amount(o.total_cost_to_finish), (o) => money(o.total_cost_to_finish)],
  ['days', (o) => o.finish.expected_days ?? 0, (o) => number(o.finish.expected_days, 1)],
  ['finish', (o) => o.finish.finish_on ?? ''], ['reserve', (o) => amount(o.inference_reserve.total), (o) => money(o.inference_reserve.total)],
  ['score', (o) => o.scores.overall ?? 0, (o) => number(o.scores.overall, 2)],
  ['risk', (o) => o.scores.risk ?? 0, (o) => number(o.scores.risk, 2)],
  ['cheapest', (o) => o.probability_cheapest ?? 0, (o) => percent(o.probability_cheapest)],
];

export function table(options) {
  const body = h('tbody', {});
  const draw = (list) => body.replaceChildren(...list.map((o) => h('tr', {}, columns.map(([id, value, show]) =>
    h(id === 'label' ? 'th' : 'td', { scope: id === 'label' ? 'row' : null, class: typeof value(o) === 'number' ? 'num' : id === 'machines' ? 'title' : 'whole' }, (show ?? value)(o))))));
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
  return scrolls(h('div', { class: 'scroll' }, h('table', { 'aria-label': t('table.title') }, h('thead', {}, h('tr', {}, heads)), body)), t('table.title'));
}

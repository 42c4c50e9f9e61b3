// results.js — a plan on the page, part by part: the recommendation, the options, what they cost and when, what would
// turn it, what is not offered, and what to take along.
import { h } from './h.js';
import { t } from './i18n.js';
import { amount, money } from './format.js';
import { barLegend, drawnBars, drawnScatter, sections } from './charts.js';
import { grid, notes, panel } from './parts.js';
import { summary } from './summary.js';
import { card } from './cards.js';
import { table } from './options.js';
import { compare } from './compare.js';
import { turning } from './turning.js';
import { refused, ways } from './relax.js';
import { ownership } from './ownership.js';
import { assumptions } from './assumptions.js';
import { breakEven } from './costs.js';
import { take } from './download.js';

function sectionTable(options) {
  return grid(t('sections.title'), [[t('lines.section')], ...options.map((o) => [o.label, 'num'])],
    [...sections, 'tax', 'total'].map((id) => [t(`section.${id}`), ...options.map((o) => money(id === 'tax' || id === 'total' ? o.cost[id] : o.cost.by_section[id]))]));
}

function budget(plan) {
  if (!plan.budget_shares.length) return null;
  return panel('budget', grid(t('budget.title'), [[t('budget.share'), 'title'], [t('lines.amount'), 'num']], plan.budget_shares.map((share) => [share.text, money(share.amount)])));
}

function costs(plan) {
  const shares = h('details', { class: 'more' }, h('summary', {}, t('as_table')), sectionTable(plan.options));
  return panel('sections', drawnBars(plan.options), barLegend(), shares);
}

function scattered(plan, workload) {
  if (plan.options.length < 2) return null;
  const start = Date.parse(workload.constraints?.start_on ?? plan.as_of), end = Date.parse(workload.constraints?.deadline_on ?? '');
  return panel('scatter', drawnScatter(plan.options, amount(workload.constraints?.budget), Number.isFinite(end) ? (end - start) / 864e5 + 1 : null));
}

// Where each part stands, for a page that is longer than a screen.
function contents(parts) {
  const ids = parts.filter((p) => p?.classList.contains('panel')).map((p) => p.id.slice(2));
  return h('nav', { class: 'contents', 'aria-label': t('contents') }, h('ul', {}, ids.map((id) => h('li', {}, h('a', { href: `#p-${id}`, onclick: (event) => {
    event.preventDefault(); // the fragment is the workload's
    const part = document.getElementById(`p-${id}`);
    part.scrollIntoView({ block: 'start' });
    part.querySelector('h3').setAttribute('tabindex', '-1');
    part.querySelector('h3').focus({ preventScroll: true });
  } }, t(`contents.${id}`))))));
}

export function render(plan, workload, context) {
  const best = plan.options.find((o) => o.label === plan.summary.recommended_option);
  const act = { ...context, plan, workload };
  const some = plan.options.length > 0;
  const compared = compare(plan, act);
  if (compared) act.compare = (label) => { compared.show(label); compared.scrollIntoView({ block: 'start' }); compared.querySelector('select').focus({ preventScroll: true }); };
  const way = ways(plan, act);
  const parts = [
    best ? null : way,
    some ? panel('table', table(plan.options)) : null,
    best ? way : null,
    compared,
    some ? costs(plan) : null,
    scattered(plan, workload),
    some ? turning(plan, act) : null,
    some ? panel('even', breakEven(plan)) : null,
    budget(plan),
    refused(plan, act),
    some && plan.warnings?.length ? panel('mind', notes(plan.warnings, 'warn')) : null,
    ownership(plan.own_hardware),
    plan.staged_advice?.length ? panel('advice', notes(plan.staged_advice)) : null,
    assumptions(plan, act),
    take(plan, workload),
  ].filter(Boolean);
  return [summary(plan, act), contents(parts), best ? null : way, some ? h('div', { class: 'cards' }, plan.options.map((o) => card(o, best, act))) : null, ...parts.filter((p) => best || p !== way)];
}

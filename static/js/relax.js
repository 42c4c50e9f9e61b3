// relax.js — what would make a kind work or the plan cheaper: each a sentence, its changes, and a button that makes them.
import { h } from './h.js';
import { t } from './i18n.js';
import { changesText } from './changes.js';
import { kind, notes, panel } from './parts.js';

const one = (relaxation, act) => h('li', { 'data-code': relaxation.code, class: 'relaxation' },
  h('div', {}, h('p', {}, relaxation.text),
    relaxation.changes.length ? h('p', { class: 'hint' }, changesText(act.workload, relaxation.changes).join(t('and')),
      relaxation.exact ? '' : ` · ${t('relax.inexact')}`) : null),
  relaxation.changes.length ? h('button', { type: 'button', class: 'apply', 'aria-label': t('relax.apply.what', { what: relaxation.text }),
    onclick: () => act.apply(relaxation.changes, relaxation) }, t('relax.apply')) : null);

export const relaxations = (list, act) => (list?.length ? h('ul', { class: 'relaxations' }, list.map((r) => one(r, act))) : null);

// The same at a glance, for all options together: nobody should have to open a card to find a cheaper way, or any.
export function ways(plan, act) {
  const offered = plan.options.flatMap((o) => o.relaxations.map((r) => [o, r]));
  if (!offered.length) return null;
  const list = h('ul', { class: 'relaxations' }, offered.map(([, r]) => one(r, act)));
  return plan.summary.recommended_option ? panel('ways', list) : panel('helps', list);
}

export function refused(plan, act) {
  if (!plan.infeasible.length) return null;
  return panel('refused', plan.infeasible.map((k) => h('div', { class: 'refused' }, h('h4', {}, kind(k.kind)), notes(k.reasons), relaxations(k.relaxations, act))));
}

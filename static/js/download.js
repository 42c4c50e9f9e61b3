// download.js — the plan to take along: as CSV and JSON, as a link, on paper, as an address for spreadsheets, as a call.
import { h } from './h.js';
import { current, t } from './i18n.js';
import * as api from './api.js';
import { queryOf } from './changes.js';
import { copyable, download, more, panel } from './parts.js';

const fileName = (plan, ending) => `suanpan-${plan.plan_id}.${ending}`;

export function take(plan, workload) {
  const said = h('span', { class: 'said', role: 'status' });
  const csv = async () => {
    const result = await api.planCsv(workload, current());
    if (result.ok) download(result.body, fileName(plan, 'csv'));
    said.textContent = t(result.ok ? 'take.saved' : 'error.offline');
  };
  const json = () => { download(new Blob([JSON.stringify(plan, null, 2)], { type: 'application/json' }), fileName(plan, 'json')); said.textContent = t('take.saved'); };
  const query = queryOf(workload);
  const address = query && `${location.origin}/api/v1/plans.csv?${query}`;
  const curl = `curl -s ${location.origin}/api/v1/plans -H 'Content-Type: application/json' -d '${JSON.stringify({ workload }).replaceAll("'", "'\\''")}'`;
  return panel('take',
    h('div', { class: 'tools' }, h('button', { type: 'button', id: 'take-csv', onclick: csv }, t('take.csv')), h('button', { type: 'button', id: 'take-json', onclick: json }, t('take.json')),
      h('button', { type: 'button', onclick: () => window.print() }, t('take.print')), said),
    copyable(t('take.link'), location.href),
    more(t('take.sheet'), () => (address ? [h('p', { class: 'hint' }, t('take.sheet.hint')), copyable(t('take.address'), address),
      copyable(t('take.excel'), `= Csv.Document(Web.Contents("${address.replaceAll('"', '""')}"), [Delimiter = ",", Encoding = 65001])`)] : [h('p', { class: 'hint' }, t('take.no_address'))])),
    more(t('take.call'), () => copyable(t('take.curl'), curl)),
    h('p', { class: 'hint' }, t('take.versions', { plan: plan.plan_id, revision: plan.catalog_revision, engine: plan.engine_version, on: plan.as_of })));
}

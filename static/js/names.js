// names.js — what ids of the catalog are called: machines by what a plan says of them, the rest by the catalog's lists.
import { has, t } from './i18n.js';
import { byId, fieldOfPointer } from './fields.js';
import { optionText } from './controls.js';

const listed = (lists, source, id) => lists[source]?.find((item) => item.id === id)?.name;

export function machineName(plan, id) {
  const supply = plan.options.flatMap((o) => o.supply).find((s) => s.sku === id);
  return supply ? t('machine', { provider: supply.provider_name, n: supply.gpus_per_node, gpu: supply.gpu_name }) : id;
}

export const cardName = (lists, id) => listed(lists, 'gpus', id) ?? id;

// A network, a storage, a scheduler, a supplier, or a line between two of them.
export function itemName(lists, id) {
  if (!id) return '–';
  if (has(`item.${id}`)) return t(`item.${id}`);
  if (id.includes('--')) return t('item.line', { a: itemName(lists, id.split('--')[0]), b: itemName(lists, id.split('--')[1]) });
  return ['networks', 'storages', 'schedulers', 'providers'].map((source) => listed(lists, source, id)).find(Boolean)
    ?? (byId.get('team').options.includes(id) ? optionText(byId.get('team'), id) : id);
}

// What a turning point turns on: a member of the request, a price, or the speed of a card.
export function inputName(pointer, plan, lists) {
  const [, source, id, what] = pointer.split('/');
  if (source === 'workload' && id === 'assumptions') {
    const tier = /^tier_(.+)_failure_factor$/.exec(what)?.[1];
    return tier ? t('input.faults.tier', { tier }) : what === 'train.failure_gpu_hours' ? t('input.faults') : what;
  }
  if (source === 'workload') {
    const field = fieldOfPointer(pointer);
    return field ? t(`field.${field.id}`) : pointer;
  }
  if (source === 'skus') return t('input.price', { what: machineName(plan, id) });
  if (source === 'gpus') return t(what === 'samples_per_s' ? 'input.samples' : 'input.speed', { gpu: cardName(lists, id) });
  return t('input.price', { what: itemName(lists, id) });
}

// changes.js — changes of a request by JSON Pointer: what a relaxation or a turning point would make of the workload.
import { fieldOfPointer, stepsOfPointer } from './fields.js';
import { said } from './form.js';
import { t } from './i18n.js';
import { money } from './format.js';

// The workload with every change made; what is changed to null is left out, with the objects that this empties.
export function changedWorkload(workload, changes) {
  const next = structuredClone(workload);
  for (const { input, value } of changes) {
    const steps = stepsOfPointer(input);
    const last = steps.pop();
    let at = next;
    for (const step of steps) at = at[step] ??= {};
    if (value === null) delete at[last];
    else at[last] = value;
  }
  return next;
}

const valueText = (field, value) => {
  if (value === null) return t('was.nothing');
  if (typeof value === 'object' && value.amount !== undefined) return money(value);
  return field ? said(field.id, field.options && typeof value !== 'object' ? String(value) : value) || t('no') : String(value);
};

// "Method: LoRA → QLoRA", one a member.
export const changesText = (workload, changes) => changes.map(({ input, value }) => {
  const field = fieldOfPointer(input);
  const before = stepsOfPointer(input).reduce((at, step) => at?.[step], workload) ?? null;
  const name = field?.path === 'assumptions' ? stepsOfPointer(input).slice(1).join('/') : field ? t(`field.${field.id}`) : input;
  return t('change', { name, from: valueText(field, before), to: valueText(field, value) });
});

// Every member of a workload as a query parameter, for spreadsheets; null where something has no such form.
export function queryOf(workload) {
  const pairs = [];
  const walk = (value, path) => {
    if (value === null || value === undefined) return true;
    if (Array.isArray(value)) return pairs.push([path, value.join(',')]) > 0;
    if (typeof value !== 'object') return pairs.push([path, String(value)]) > 0;
    if (path.endsWith('budget')) return pairs.push([path, value.amount]) > 0 && (value.currency === workload.currency || (value.currency === 'CNY' && !workload.currency));
    if (path.endsWith('config')) return false;
    return Object.entries(value).every(([key, below]) => walk(below, path ? `${path}.${key}` : key));
  };
  return walk(workload, '') ? new URLSearchParams(pairs).toString() : null;
}

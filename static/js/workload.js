// workload.js — form values <-> the workload on the wire. What a preset says and the form does not ask is kept.
import { fields, isShown } from './fields.js';

function dig(object, path) {
  let at = object;
  for (const key of path.split('.')) at = at?.[key];
  return at;
}

function put(object, path, value) {
  const keys = path.split('.');
  const last = keys.pop();
  let at = object;
  for (const key of keys) at = at[key] ??= {};
  at[last] = value;
}

function drop(object, path) {
  const keys = path.split('.');
  const last = keys.pop();
  const at = keys.length ? dig(object, keys.join('.')) : object;
  if (at && typeof at === 'object') delete at[last];
}

export function initialValues() {
  const values = {};
  for (const field of fields) values[field.id] = field.initial ?? (field.type === 'checkbox' ? false : '');
  return values;
}

export function valuesOf(workload) {
  const values = initialValues();
  for (const field of fields) {
    if (!field.path) continue;
    const value = dig(workload, field.path);
    if (field.type === 'checkbox') values[field.id] = value === true;
    else if (value === undefined) values[field.id] = field.id === 'priority' ? 'balanced' : field.id === 'currency' ? 'CNY' : '';
    else values[field.id] = field.type === 'json' ? JSON.stringify(value, null, 1) : String(value);
  }
  const serving = workload.serving;
  // Silence about serving is no refusal of it: the service then states a default reserve. Only 0 months mean none.
  values.goal = !workload.training ? 'serve' : serving?.months === 0 ? 'train' : 'both';
  values.work_unit = ['samples', 'steps'].find((unit) => workload.training?.[unit] !== undefined) ?? 'tokens';
  values.load_unit = ['requests_per_s', 'concurrency', 'users'].find((unit) => serving?.[unit] !== undefined) ?? 'none';
  return values;
}

function typed(field, raw) {
  if (field.type === 'number' || field.type === 'integer') {
    const value = Number(raw);
    return Number.isFinite(value) ? value : raw; // the service refuses it by name
  }
  if (field.type === 'json') {
    try { return JSON.parse(raw); } catch { return raw; }
  }
  return raw;
}

// `base` holds what the preset said beyond the form; its members that the form owns are overwritten or removed.
export function workloadOf(values, base, language) {
  const workload = structuredClone(base ?? {});
  for (const field of fields) {
    if (!field.path) continue;
    const raw = values[field.id];
    if (!isShown(field, values) || raw === '' || raw === false) drop(workload, field.path);
    else put(workload, field.path, typed(field, raw));
  }
  if (values.goal === 'serve') { delete workload.training; delete workload.measured; }
  if (values.goal === 'train') workload.serving = { months: 0 };
  if (values.goal === 'both' && workload.serving && Object.keys(workload.serving).length === 0) delete workload.serving;
  if (workload.measured && !workload.measured.gpu) delete workload.measured;
  if (workload.model?.preset) workload.model = { preset: workload.model.preset };
  else if (workload.model?.config) workload.model = { config: workload.model.config };
  if (workload.constraints?.budget) {
    if (workload.constraints.budget.amount === undefined) delete workload.constraints.budget;
    else workload.constraints.budget = { amount: decimal(workload.constraints.budget.amount), currency: values.currency };
  }
  workload.language = language;
  return workload;
}

const decimal = (text) => (/^\d+$/.test(text) ? `${text}.00` : text);

// Shared by link without a server record: the workload in the URL's fragment.
export function toFragment(workload) {
  const bytes = new TextEncoder().encode(JSON.stringify(workload));
  return `#w=${btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}

export function fromFragment(fragment) {
  const match = /^#w=([\w-]+)$/.exec(fragment);
  if (!match) return null;
  try {
    const text = atob(match[1].replaceAll('-', '+').replaceAll('_', '/'));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (c) => c.charCodeAt(0))));
  } catch { return null; }
}

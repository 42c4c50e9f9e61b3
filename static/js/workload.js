// workload.js — form values <-> the workload on the wire. What a preset says and the form does not ask is kept.
import { fields, isShown } from './fields.js';
import { readDecimal, readNumber } from './numbers.js';

const dig = (object, path) => path.split('.').reduce((at, key) => at?.[key], object);

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

const nothing = (field) => ({ checkbox: false, many: [], figures: {} })[field.type] ?? '';

export function initialValues() {
  return Object.fromEntries(fields.map((field) => [field.id, field.initial ?? nothing(field)]));
}

function shownAs(field, value) {
  if (value === undefined || value === null) return field.absent ?? nothing(field);
  if (field.type === 'checkbox') return value === true;
  if (field.type === 'many') return [...value];
  if (field.type === 'figures') return Object.fromEntries(Object.entries(value).map(([name, figure]) => [name, String(figure)]));
  if (field.type === 'json') return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
  return String(value);
}

const formOf = (model) => (model?.preset ? 'preset' : model?.config ? 'config' : 'numbers');

export function valuesOf(workload) {
  const values = initialValues();
  for (const field of fields) if (field.path) values[field.id] = shownAs(field, dig(workload, field.path));
  const { training, serving, model } = workload;
  // Silence about serving is no refusal of it: the service then states a default reserve. Only 0 months mean none.
  values.goal = !training ? 'serve' : serving?.months === 0 ? 'train' : 'both';
  values.work_unit = ['samples', 'steps'].find((unit) => training?.[unit] !== undefined) ?? 'tokens';
  values.load_unit = ['requests_per_s', 'concurrency', 'users'].find((unit) => serving?.[unit] !== undefined) ?? 'none';
  values.model_from = model ? formOf(model) : 'preset';
  values.s_model_from = serving?.model ? formOf(serving.model) : 'same';
  return values;
}

function typed(field, raw) {
  if (field.type === 'number' || field.type === 'integer') return readNumber(raw) ?? raw; // the service refuses it by name
  if (field.type === 'amount') return readNumber(raw, { amount: true }) ?? raw;
  if (field.type === 'decimal') return readDecimal(raw) ?? raw;
  if (field.type === 'yes_no') return raw === 'true';
  if (field.type === 'figures') return Object.fromEntries(Object.entries(raw).map(([name, text]) => [name, readNumber(text) ?? text]));
  if (field.type === 'json') {
    try { return JSON.parse(raw); } catch { return raw; }
  }
  return raw;
}

const empty = (raw) => raw === '' || raw === false || (typeof raw === 'object' && Object.keys(raw).length === 0);

// One way of naming a model excludes the others.
function oneModel(holder, from) {
  if (from === 'same') delete holder.model;
  else if (!holder.model) return;
  else if (from === 'preset' || from === 'config') holder.model = holder.model[from] === undefined ? {} : { [from]: holder.model[from] };
  else { delete holder.model.preset; delete holder.model.config; }
}

// `base` holds what the preset said beyond the form; its members that the form owns are overwritten or removed.
export function workloadOf(values, base, language) {
  const workload = structuredClone(base ?? {});
  for (const field of fields) {
    if (!field.path) continue;
    const raw = values[field.id];
    const silent = raw === field.absent && (dig(base ?? {}, field.path) ?? null) === null; // what counts without a word
    if (!isShown(field, values) || empty(raw) || silent) drop(workload, field.path);
    else put(workload, field.path, typed(field, raw));
  }
  if (values.goal === 'serve') { delete workload.training; delete workload.measured; }
  if (values.goal === 'train') workload.serving = { months: 0 };
  oneModel(workload, values.model_from);
  if (workload.serving) oneModel(workload.serving, values.s_model_from);
  if (values.goal === 'both' && workload.serving && Object.keys(workload.serving).length === 0) delete workload.serving;
  if (workload.measured?.layout && Object.keys(workload.measured.layout).length === 0) delete workload.measured.layout;
  if (workload.measured && Object.keys(workload.measured).length === 0) delete workload.measured;
  const budget = workload.constraints?.budget;
  if (budget && budget.amount === undefined) delete workload.constraints.budget;
  else if (budget) budget.currency ??= values.currency;
  workload.language = language;
  return workload;
}

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

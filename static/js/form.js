// form.js — draws the groups of fields.js and keeps the values; it knows nothing of plans.
import { h } from './h.js';
import { t } from './i18n.js';
import { byId, fields, groups, isShown } from './fields.js';

const inputs = new Map(); // field id -> {box, input, fault}

function optionsOf(field, lists) {
  const items = field.source ? lists[field.source].map((item) => [item.id, item.name ?? item.id])
    : field.options.map((value) => [value, t(`option.${field.id}.${value}`)]);
  if (field.empty) items.unshift(['', t(`empty.${field.empty}`)]);
  return items.map(([value, label]) => h('option', { value }, label));
}

function control(field, lists) {
  const id = `f-${field.id}`;
  if (field.type === 'select') return h('select', { id }, optionsOf(field, lists));
  if (field.type === 'json') return h('textarea', { id, spellcheck: 'false', rows: 5 });
  if (field.type === 'checkbox') return h('input', { id, type: 'checkbox' });
  if (field.type === 'date') return h('input', { id, type: 'date' });
  const numeric = field.type === 'number' || field.type === 'integer' || field.type === 'decimal';
  return h('input', { id, type: 'text', inputmode: numeric ? (field.type === 'integer' ? 'numeric' : 'decimal') : null,
    autocomplete: 'off', maxlength: field.maxlength ?? (numeric ? 24 : null) });
}

function draw(field, lists) {
  const input = control(field, lists);
  const fault = h('p', { class: 'fault', id: `e-${field.id}`, hidden: true });
  const help = h("p", { class: "help", id: `h-${field.id}` }, t(`help.${field.id}`));
  const label = h('label', { for: input.id }, t(`field.${field.id}`));
  input.setAttribute('aria-describedby', `${help.id} ${fault.id}`);
  const box = h('div', { class: `field ${field.wide ? 'wide' : ''} ${field.type === 'checkbox' ? 'check' : ''}` },
    field.type === 'checkbox' ? [input, h('div', {}, label, help, fault)] : [label, input, help, fault]);
  inputs.set(field.id, { box, input, fault });
  return box;
}

export function read() {
  const values = {};
  for (const [id, { input }] of inputs) values[id] = input.type === 'checkbox' ? input.checked : input.value.trim();
  return values;
}

export function write(values) {
  for (const [id, { input }] of inputs) {
    if (input.type === 'checkbox') input.checked = values[id] === true;
    else input.value = values[id] ?? '';
  }
  refresh();
}

// Hides what does not apply to the present choices.
export function refresh() {
  const values = read();
  for (const field of fields) inputs.get(field.id).box.hidden = !isShown(field, values);
  for (const group of groups) {
    const box = document.getElementById(`g-${group.id}`);
    if (box) box.hidden = Boolean(group.when) && !group.when(values);
  }
}

export function build(root, lists, onChange) {
  const kept = inputs.size ? read() : null;
  inputs.clear();
  root.replaceChildren(...groups.map((group) => h('details', { class: 'group', id: `g-${group.id}`, open: group.open },
    h('summary', {}, t(`group.${group.id}`), h('span', {}, t(`group.${group.id}.hint`))),
    h('div', { class: 'fields' }, group.fields.map((field) => draw(byId.get(field.id), lists))))));
  root.addEventListener('change', onChange);
  if (kept) write(kept);
}

export function clearFaults() {
  for (const { input, fault } of inputs.values()) {
    input.removeAttribute('aria-invalid');
    fault.hidden = true;
    fault.textContent = '';
  }
}

export function markFault(id, text) {
  const { input, fault, box } = inputs.get(id);
  input.setAttribute('aria-invalid', 'true');
  fault.textContent = text;
  fault.hidden = false;
  const group = box.closest('details');
  if (group) group.open = true;
}

export function focus(id) {
  inputs.get(id)?.input.focus();
}

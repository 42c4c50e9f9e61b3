// form.js — draws the groups of questions and keeps their values; it knows nothing of plans.
import { h } from './h.js';
import { has, t } from './i18n.js';
import { byId, fields, groups, isShown } from './fields.js';
import { catalogs, control, optionText } from './controls.js';
import { number } from './format.js';
import { readDecimal, readNumber } from './numbers.js';

const drawn = new Map(); // field id -> {box, way, fault, said, was, refused}

function draw(field, lists) {
  const way = control(field, lists);
  const fault = h('p', { class: 'fault', id: `e-${field.id}`, hidden: true });
  const help = h('p', { class: 'help', id: `h-${field.id}`, hidden: !has(`help.${field.id}`) }, has(`help.${field.id}`) ? t(`help.${field.id}`) : '');
  const said = h('p', { class: 'help said', id: `s-${field.id}`, hidden: true });
  const was = h('p', { class: 'was', id: `w-${field.id}`, hidden: true });
  const group = field.type === 'many' && field.options;
  const label = h(group ? 'span' : 'label', group ? { id: `l-${field.id}`, class: 'label' } : { for: way.input.id }, t(`field.${field.id}`));
  way.input.setAttribute('aria-describedby', `${help.id} ${said.id} ${was.id} ${fault.id}`);
  const box = h('div', { class: `field ${field.wide ? 'wide' : ''} ${field.type === 'checkbox' ? 'check' : ''}`, 'data-field': field.id },
    field.type === 'checkbox' ? [way.node, h('div', {}, label, help, was, fault)] : [label, way.node, help, said, was, fault]);
  drawn.set(field.id, { box, way, fault, said, was });
  way.input.addEventListener('change', () => { check(field); forgetChange(field.id); });
  way.input.addEventListener('input', () => sayAmount(field));
  return box;
}

// 20亿 or 2e9 is read back in full, so that nobody counts noughts.
function sayAmount(field) {
  if (field.type !== 'amount') return;
  const { way, said } = drawn.get(field.id);
  const value = readNumber(way.get(), { amount: true });
  said.textContent = value !== null && value >= 1e4 ? `= ${number(value)}` : '';
  said.hidden = said.textContent === '';
}

export const read = () => Object.fromEntries([...drawn].map(([id, { way }]) => [id, way.get()]));

export function write(values) {
  for (const [id, { way }] of drawn) {
    way.set(values[id]);
    sayAmount(byId.get(id));
  }
  refresh();
}

// Hides what does not apply to the present choices.
export function refresh() {
  const values = read();
  for (const field of fields) drawn.get(field.id).box.hidden = !isShown(field, values);
  for (const group of groups) {
    const box = document.getElementById(`g-${group.id}`);
    if (!box) continue;
    box.hidden = Boolean(group.when) && !group.when(values);
    const more = box.querySelector('.rare');
    if (!more) continue;
    more.hidden = group.more.every((field) => drawn.get(field.id).box.hidden);
    const filled = group.more.map(({ id }) => byId.get(id)).filter((field) => isShown(field, values) && said(field.id, values[field.id]) !== '' && values[field.id] !== field.initial).length;
    more.querySelector('.count').textContent = filled ? t('rare.filled', { n: filled }) : '';
  }
}

const cells = (list, lists) => h('div', { class: 'fields' }, list.map((field) => draw(byId.get(field.id), lists)));

export function build(root, lists, onChange) {
  const kept = drawn.size ? read() : null;
  drawn.clear();
  root.replaceChildren(...catalogs(lists, [...new Set(fields.map((f) => f.source).filter(Boolean))]), ...groups.map((group) => h('details', { class: 'group', id: `g-${group.id}`, open: group.open },
    h('summary', {}, t(`group.${group.id}`), h('span', {}, t(`group.${group.id}.hint`))),
    cells(group.fields, lists),
    group.id === 'measured' ? h('div', { id: 'diagnosis', class: 'diagnosis' }) : null,
    group.more ? h('details', { class: 'rare' }, h('summary', {}, t('rare'), ' ', h('span', { class: 'count' })), cells(group.more, lists)) : null)));
  root.onchange = onChange;
  if (kept) write(kept);
}

function fault(id, message) {
  const { box, way, fault: node } = drawn.get(id);
  if (message) way.input.setAttribute('aria-invalid', 'true');
  else for (const marked of box.querySelectorAll('[aria-invalid]')) marked.removeAttribute('aria-invalid');
  node.textContent = message ?? '';
  node.hidden = !message;
}

// What can be told without asking: on leaving a field, in the field's own words. What the service refused stays told as
// long as it stands there.
function check(field) {
  const { way, refused } = drawn.get(field.id);
  const raw = way.get();
  if (refused !== undefined && refused === JSON.stringify(raw)) return;
  if (!['number', 'integer', 'amount', 'decimal'].includes(field.type) || raw === '') { fault(field.id, null); return; }
  const value = field.type === 'decimal' ? Number(readDecimal(raw) ?? NaN) : readNumber(raw, { amount: field.type === 'amount' }) ?? NaN;
  const message = Number.isNaN(value) ? t(field.type === 'amount' || field.type === 'decimal' ? 'fault.amount' : 'fault.number')
    : value < (field.min ?? -Infinity) || value > (field.max ?? Infinity) ? t(field.max === undefined ? 'fault.least' : 'fault.range', { min: field.min, max: field.max })
      : field.type === 'integer' && !Number.isInteger(value) ? t('fault.whole') : null;
  fault(field.id, message);
}

export function clearFaults() {
  for (const [id, entry] of drawn) { fault(id, null); entry.refused = undefined; }
}

// Opens whatever a field lies folded in.
function unfold(id) {
  for (let box = drawn.get(id).box.closest('details'); box; box = box.parentElement.closest('details')) box.open = true;
}

// Several faults of one field stand one after the other; of a list of figures the figure itself is marked too.
export function markFault(id, text, figure = null) {
  const said = drawn.get(id).fault.textContent;
  fault(id, said ? `${said} ${text}` : text);
  drawn.get(id).refused = JSON.stringify(drawn.get(id).way.get());
  if (figure) drawn.get(id).way.row?.(figure)?.setAttribute('aria-invalid', 'true');
  unfold(id);
}

export function focus(id, figure = null) {
  unfold(id);
  const { way } = drawn.get(id);
  (way.row?.(figure) ?? way.input).focus();
}

// How a value reads: what the field would show for it.
export function said(id, value) {
  const field = byId.get(id);
  if (value === true || value === false) return value ? t('yes') : '';
  if (Array.isArray(value)) return value.map((v) => (field.options ? optionText(field, v) : v)).join(', ');
  if (value && typeof value === 'object') return Object.entries(value).map(([name, figure]) => `${name} ${figure}`).join(', ');
  return value !== '' && field.options ? optionText(field, value) : value ?? '';
}

function forgetChange(id) {
  const { box, was } = drawn.get(id);
  box.classList.remove('changed');
  was.hidden = true;
}

export function forgetChanges() {
  for (const id of drawn.keys()) forgetChange(id);
}

// Marks what differs from `before` and says what it was; returns the ids, in the form's order.
export function markChanges(before) {
  forgetChanges();
  const now = read();
  const ids = fields.filter((f) => JSON.stringify(before[f.id]) !== JSON.stringify(now[f.id])).map((f) => f.id);
  const shown = ids.filter((id) => isShown(byId.get(id), now));
  for (const id of shown) {
    const { box, was } = drawn.get(id);
    box.classList.add('changed');
    was.textContent = t('was', { value: said(id, before[id]) || t('was.nothing') });
    was.hidden = false;
    unfold(id);
  }
  if (shown.length) drawn.get(shown[0]).box.scrollIntoView({ block: 'nearest' });
  return shown;
}

// controls.js — one way in for each kind of question: {node, input, get, set}. `input` takes the focus and the fault.
import { h } from './h.js';
import { has, t } from './i18n.js';

const changed = (node) => node.dispatchEvent(new Event('change', { bubbles: true }));
const nameOf = (item) => item?.name ?? item?.text ?? item?.id;

// What one value of a choice is called: its own text, else that of yes and no, else its name in the trade.
export function optionText(field, value) {
  if (has(`option.${field.id}.${value}`)) return t(`option.${field.id}.${value}`);
  return field.type === 'yes_no' ? t(value === 'true' ? 'yes' : 'no') : value;
}

function select(field, id) {
  const items = field.options.map((value) => h('option', { value }, optionText(field, value)));
  if (field.empty) items.unshift(h('option', { value: '' }, t(`empty.${field.empty}`)));
  const input = h('select', { id }, items);
  return { node: input, input, get: () => input.value, set: (value) => {
    // A value that the list does not know (a city of the catalog) is a choice too.
    if (value !== '' && ![...input.options].some((o) => o.value === value)) input.append(h('option', { value }, value));
    input.value = value;
  } };
}

function text(field, id, attrs) {
  const input = h('input', { id, type: 'text', autocomplete: 'off', spellcheck: 'false', ...attrs });
  return { node: input, input, get: () => input.value.trim(), set: (value) => { input.value = value; } };
}

const numeric = (field, id, lists) => text(field, id, { inputmode: field.type === 'integer' ? 'numeric' : 'decimal', maxlength: 24,
  placeholder: field.usual && lists.assumptions?.length ? t('usual', { value: lists.assumptions.find((a) => a.id === field.usual)?.value ?? '' }) : null });

function checkbox(field, id) {
  const input = h('input', { id, type: 'checkbox' });
  return { node: input, input, get: () => input.checked, set: (value) => { input.checked = value === true; } };
}

function area(field, id) {
  const input = h('textarea', { id, spellcheck: 'false', rows: 6 });
  return { node: input, input, get: () => input.value.trim(), set: (value) => { input.value = value; } };
}

// A long list of the catalog: typed or chosen, always its id; what it is called stands below.
function pick(field, id, lists) {
  const said = h('output', { class: 'help', for: id });
  const way = text(field, id, { list: `list-${field.source}`, maxlength: 100, placeholder: t('pick.placeholder') });
  const say = () => {
    const item = lists[field.source]?.find((i) => i.id === way.get());
    said.textContent = item && nameOf(item) !== item.id ? nameOf(item) : '';
  };
  way.input.addEventListener('input', say);
  return { ...way, node: [way.input, said], set: (value) => { way.set(value); say(); } };
}

function boxes(field, id) {
  const inputs = field.options.map((value, i) => h('input', { type: 'checkbox', id: i ? `${id}-${value}` : id, value }));
  const node = h('div', { class: 'boxes', role: 'group', 'aria-labelledby': `l-${field.id}` },
    inputs.map((input) => h('span', {}, input, h('label', { for: input.id }, optionText(field, input.value)))));
  return { node, input: inputs[0], get: () => inputs.filter((i) => i.checked).map((i) => i.value),
    set: (value) => { for (const input of inputs) input.checked = value.includes(input.value); } };
}

// Shared by lists of names and of figures: a field that adds what is chosen from the catalog.
function adder(field, id, lists, add) {
  const input = h('input', { id, type: 'text', list: `list-${field.source}`, autocomplete: 'off', spellcheck: 'false', maxlength: 100, placeholder: t('pick.add') });
  const take = (event) => {
    if (event.type === 'keydown' && event.key !== 'Enter') return;
    if (!lists[field.source]?.some((item) => item.id === input.value.trim())) return;
    event.preventDefault();
    add(input.value.trim());
    input.value = '';
    changed(input);
  };
  for (const kind of ['input', 'keydown']) input.addEventListener(kind, take);
  return input;
}

function chips(field, id, lists) {
  let chosen = [];
  const list = h('ul', { class: 'chips' });
  const input = adder(field, id, lists, (item) => set([...new Set([...chosen, item])]));
  function set(value) {
    chosen = value;
    list.replaceChildren(...chosen.map((item) => h('li', { class: 'chip' }, nameOf(lists[field.source]?.find((i) => i.id === item)) ?? item,
      h('button', { type: 'button', class: 'quiet', 'aria-label': t('remove', { name: item }), onclick: () => { set(chosen.filter((i) => i !== item)); changed(input); input.focus(); } }, '×'))));
    list.hidden = chosen.length === 0;
  }
  set([]);
  return { node: [list, input], input, get: () => [...chosen], set };
}

function figures(field, id, lists) {
  let rows = new Map(); // name -> input
  const list = h('div', { class: 'figures' });
  const row = (name, value) => {
    const item = lists[field.source]?.find((i) => i.id === name);
    const input = h('input', { type: 'text', inputmode: 'decimal', maxlength: 24, value, 'aria-label': item?.text ?? name });
    rows.set(name, input);
    return h('div', { class: 'figure' }, h('span', {}, item?.text ?? name, item ? h('small', {}, ` ${t('between', { min: item.min ?? '−∞', max: item.max ?? '∞' })}`) : null), input,
      h('button', { type: 'button', class: 'quiet', 'aria-label': t('remove', { name: item?.text ?? name }), onclick: () => { const left = get(); delete left[name]; set(left); changed(adding); adding.focus(); } }, '×'));
  };
  const get = () => Object.fromEntries([...rows].map(([name, input]) => [name, input.value.trim()]));
  function set(value) {
    rows = new Map();
    list.replaceChildren(...Object.entries(value).map(([name, figure]) => row(name, figure)));
  }
  const adding = adder(field, id, lists, (name) => {
    const item = lists[field.source].find((i) => i.id === name);
    set({ ...get(), [name]: get()[name] ?? String(item.value) });
    rows.get(name).focus();
  });
  return { node: [list, adding], input: adding, get, set, row: (name) => rows.get(name) };
}

export function control(field, lists) {
  const id = `f-${field.id}`;
  switch (field.type) {
  case 'select': case 'yes_no': return select(field, id);
  case 'checkbox': return checkbox(field, id);
  case 'json': return area(field, id);
  case 'date': return text(field, id, { type: 'date' });
  case 'pick': return pick(field, id, lists);
  case 'many': return field.options ? boxes(field, id) : chips(field, id, lists);
  case 'figures': return figures(field, id, lists);
  case 'text': return text(field, id, { maxlength: field.maxlength });
  default: return numeric(field, id, lists);
  }
}

// The lists of the catalog that fields choose from.
export const catalogs = (lists, sources) => sources.map((source) => h('datalist', { id: `list-${source}` },
  (lists[source] ?? []).map((item) => h('option', { value: item.id }, nameOf(item) === item.id ? '' : nameOf(item)))));

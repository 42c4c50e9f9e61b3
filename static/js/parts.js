// parts.js — the small pieces that every part of a plan on the page is made of.
import { h } from './h.js';
import { has, t } from './i18n.js';
import { money } from './format.js';

export const notes = (list, cls = '') =>
  list?.length ? h('ul', { class: `notes ${cls}` }, list.map((n) => h('li', { 'data-code': n.code }, n.text))) : null;
export const pair = (key, value, cls = '') => h('div', { class: `pair ${cls}` }, h('dt', {}, t(key)), h('dd', {}, value));
export const named = (prefix, code) => (code === null || code === undefined ? '–' : has(`${prefix}.${code}`) ? t(`${prefix}.${code}`) : code);
export const kind = (name) => t(`kind.${name}`);
export const chip = (cls, ...text) => h('span', { class: `chip ${cls}` }, ...text);
export const panel = (id, ...children) => h('section', { class: 'panel', id: `p-${id}`, 'aria-labelledby': `t-${id}` },
  h('h3', { id: `t-${id}` }, t(`${id}.title`)), ...children);
export const more = (label, fill) => {
  const box = h('details', { class: 'more' }, h('summary', {}, label));
  // Filled when it is first opened: eight options have thousands of cells that nobody may look at.
  box.addEventListener('toggle', () => { if (box.open && box.childElementCount === 1) box.append(...[fill()].flat(Infinity).filter(Boolean)); });
  return box;
};

// What scrolls sideways does so by keyboard too; what fits is no stop on the way.
export function scrolls(node, label) {
  new ResizeObserver(() => {
    const needed = node.scrollWidth > node.clientWidth || node.scrollHeight > node.clientHeight;
    if (needed) { node.setAttribute('tabindex', '0'); node.setAttribute('role', 'region'); node.setAttribute('aria-label', label); }
    else for (const name of ['tabindex', 'role', 'aria-label']) node.removeAttribute(name);
  }).observe(node);
  return node;
}

// A table that scrolls sideways by itself. heads: [text, numeric?]; rows: [[cell | {class, ...}]].
export function grid(label, heads, rows, foot = null) {
  const numeric = heads.map(([, n]) => n === 'num');
  return scrolls(h('div', { class: 'scroll' }, h('table', { 'aria-label': label },
    h('thead', {}, h('tr', {}, heads.map(([text, cls]) => h('th', { scope: 'col', class: cls ?? '' }, text)))),
    h('tbody', {}, rows.map((cells) => h('tr', { class: cells.total ? 'total' : null }, cells.map((cell, i) =>
      h(i === 0 ? 'th' : 'td', { scope: i === 0 ? 'row' : null, class: numeric[i] ? 'num' : heads[i][1] ?? '' }, cell))))),
    foot ? h('tfoot', {}, foot) : null)), label);
}

// +¥1,234.00 or −¥1,234.00
export const difference = (m) => (Number(m.amount) > 0 ? '+\u2060' : '') + money(m);

// Copying needs a secure context; elsewhere the text is selected and the old way is tried.
async function copy(text, beside) {
  try { await navigator.clipboard.writeText(text); return true; } catch { /* not allowed here */ }
  getSelection().selectAllChildren(beside);
  return document.execCommand('copy');
}

// A text to take away, with its name, and a button that copies it and says so.
export function copyable(name, text) {
  const body = scrolls(h('pre', {}, text), name);
  const said = h('span', { class: 'said', role: 'status' });
  const button = h('button', { type: 'button', 'aria-label': t('copy.what', { name }), onclick: async () => {
    said.textContent = t(await copy(text, body) ? 'copy.done' : 'copy.selected');
  } }, t('copy'));
  return h('div', { class: 'copyable' }, h('div', { class: 'bar' }, h('strong', {}, name), said, button), body);
}

export function download(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = h('a', { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

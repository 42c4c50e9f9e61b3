// takeaway.js — what a customer takes away: launch texts to copy, a checklist to tick on the machine, questions to ask.
import { h } from './h.js';
import { t } from './i18n.js';
import { copyable } from './parts.js';

const texts = ['torchrun', 'deepspeed_config', 'slurm', 'kubernetes', 'serve'];

export function launch(option) {
  const given = texts.filter((name) => option.launch?.[name]);
  if (!given.length) return null;
  return given.map((name) => copyable(t(`launch.${name}`), typeof option.launch[name] === 'string' ? option.launch[name] : JSON.stringify(option.launch[name], null, 2)));
}

// Ticks last as long as the tab: they belong to one machine being looked at.
const store = 'suanpan.ticks';
const ticked = () => { try { return JSON.parse(sessionStorage.getItem(store)) ?? {}; } catch { return {}; } };
const tick = (key, on) => { const all = ticked(); if (on) all[key] = true; else delete all[key]; sessionStorage.setItem(store, JSON.stringify(all)); };

function items(option, list, progress) {
  return h('ul', { class: 'ticks' }, list.map((c) => {
    const key = `${option.title}/${c.code}`, id = `tick-${option.label}-${c.code}`;
    const box = h('input', { type: 'checkbox', id, checked: Boolean(ticked()[key]), onchange: () => { tick(key, box.checked); progress(); } });
    return h('li', {}, box, h('div', {}, h('label', { for: id }, c.text), c.command ? h('code', {}, c.command) : null));
  }));
}

// Only the list goes to the printer: a copy of it on a page of its own.
function print(option, node) {
  const sheet = h('div', { id: 'sheet' }, h('h1', {}, option.title), node.cloneNode(true));
  const ticks = node.querySelectorAll('input');
  sheet.querySelectorAll('input').forEach((box, i) => { box.removeAttribute('id'); box.checked = ticks[i].checked; });
  for (const button of sheet.querySelectorAll('button, [role=status]')) button.remove();
  document.body.append(sheet);
  document.body.dataset.print = 'sheet';
  addEventListener('afterprint', () => { sheet.remove(); delete document.body.dataset.print; }, { once: true });
  window.print();
}

export function checklist(option) {
  const list = option.checklist ?? [];
  if (!list.length) return null;
  const checks = list.filter((c) => !c.code.startsWith('ask_')), questions = list.filter((c) => c.code.startsWith('ask_'));
  const said = h('span', { class: 'said', role: 'status' });
  const box = h('div', { class: 'checklist' });
  const progress = () => { said.textContent = t('check.progress', { n: box.querySelectorAll('input:checked').length, all: list.length }); };
  const commands = checks.filter((c) => c.command).map((c) => `# ${c.text}\n${c.command}`).join('\n\n');
  box.append(...[h('div', { class: 'bar' }, said, h('button', { type: 'button', onclick: () => print(option, box) }, t('check.print'))),
    checks.length ? [h('h5', {}, t('check.machine')), items(option, checks, progress)] : [],
    questions.length ? [h('h5', {}, t('check.supplier')), items(option, questions, progress)] : []].flat());
  progress();
  return [box, commands ? copyable(t('check.commands'), commands) : null];
}

// assumptions.js — every figure that was taken because nobody stated it, with its source, and a way to state it.
import { h } from './h.js';
import { t } from './i18n.js';
import { number } from './format.js';
import { grid, more, notes, panel } from './parts.js';

const shown = (a) => `${number(a.value, 6)}${a.unit && a.unit !== '1' ? ` ${a.unit}` : ''}`;

function table(plan, act) {
  const figures = plan.assumptions.filter((a) => a.value !== null);
  const open = new Set((act.lists.assumptions ?? []).map((a) => a.id));
  const box = h('div', {});
  const draw = (word) => {
    const list = figures.filter((a) => `${a.name} ${a.text} ${a.source ?? ''}`.toLowerCase().includes(word.toLowerCase()));
    box.replaceChildren(list.length ? grid(t('assumptions.title'), [[t('assumptions.text'), 'title'], [t('assumptions.value'), 'num'], [t('assumptions.source')], ['']],
      list.map((a) => [[a.text, h('br'), h('code', { class: 'soft' }, a.name)], shown(a), a.source ?? '–',
        open.has(a.name) ? h('button', { type: 'button', 'aria-label': t('assumptions.set.what', { what: a.text }), onclick: () => act.override(a.name, a.value) }, t('assumptions.set')) : ''])) : h('p', { class: 'hint' }, t('assumptions.none')));
  };
  draw('');
  return [h('div', { class: 'choice' }, h('label', { for: 'assumption-filter' }, t('assumptions.filter')),
    h('input', { id: 'assumption-filter', type: 'search', autocomplete: 'off', oninput: (e) => draw(e.target.value.trim()) })), box];
}

export function assumptions(plan, act) {
  const told = plan.assumptions.filter((a) => a.value === null).map((a) => ({ code: a.name, text: a.text }));
  return panel('assumptions', notes(told), more(t('assumptions.show', { n: plan.assumptions.length - told.length }), () => table(plan, act)));
}

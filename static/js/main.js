// main.js — puts the page together: language, presets, form, request, results, and what goes wrong between them.
import { h } from './h.js';
import * as i18n from './i18n.js';
import * as api from './api.js';
import * as form from './form.js';
import { fieldOfPointer } from './fields.js';
import { fromFragment, initialValues, toFragment, valuesOf, workloadOf } from './workload.js';
import { render } from './results.js';

const { t } = i18n;
const presets = ['01-lora-7b', '02-full-7b', '03-full-14b-deadline', '04-qlora-70b', '05-full-70b', '06-pretrain-130b', '07-serve-7b-50-users',
  '08-serve-70b-latency', '09-embed-corpus', '10-vision-measured', '11-sensitive-data', '12-budget-200k', '13-hybrid-parallel-runs', '14-measured-14b',
  '15-hybrid-shareable-runs', '16-nightly-batch'];
const $ = (id) => document.getElementById(id);
let lists = { models: [], gpus: [] };
let base = null;      // what the chosen preset says beyond the form
let preset = null;
let shown = null;     // {plan, workload} on the page
let running = null;   // AbortController of the request in flight

function drawPresets() {
  $('presets').replaceChildren(...presets.map((name) => h('button', { type: 'button', 'data-preset': name,
    'aria-pressed': String(name === preset), onclick: () => choose(name) }, t(`preset.${name}`))));
}

async function choose(name) {
  const reply = await fetch(`/examples/${name}.json`);
  base = (await reply.json()).workload;
  preset = name;
  form.write(valuesOf(base));
  form.clearFaults();
  $('errors').hidden = true;
  drawPresets();
  saveDraft();
}

function saveDraft() {
  sessionStorage.setItem('suanpan.draft', JSON.stringify({ values: form.read(), base, preset }));
}

function restoreDraft() {
  const shared = fromFragment(location.hash);
  if (shared) { base = shared; form.write(valuesOf(shared)); return true; }
  try {
    const draft = JSON.parse(sessionStorage.getItem('suanpan.draft'));
    if (!draft) return false;
    base = draft.base;
    preset = draft.preset;
    form.write({ ...initialValues(), ...draft.values });
    return true;
  } catch { return false; }
}

function showFaults(result) {
  form.clearFaults();
  const box = $('errors');
  const entries = (result.problem?.errors ?? []).map((fault) => {
    const field = fieldOfPointer(fault.pointer ?? '');
    const text = fault.detail ?? fault.code;
    if (field) form.markFault(field.id, text);
    return h('li', {}, field ? h('a', { href: `#f-${field.id}`, onclick: (e) => { e.preventDefault(); form.focus(field.id); } },
      `${t(`field.${field.id}`)}: ${text}`) : `${fault.pointer ?? ''} ${text}`);
  });
  const head = result.status === 0 ? t('error.offline') : result.status === 503 || result.status === 429 ? t('error.busy', { s: result.retryAfter || 1 })
    : result.problem?.title ?? t('error.http', { status: result.status });
  const detail = entries.length ? h('ul', {}, entries) : result.problem?.detail ? h('p', {}, result.problem.detail) : null;
  box.replaceChildren(h('strong', {}, head), detail ?? '',
    result.status === 0 || result.status >= 429 ? h('button', { type: 'button', onclick: () => submit() }, t('error.retry')) : '');
  box.hidden = false;
  box.focus();
}

function draw() {
  if (!shown) return;
  $('results-empty').hidden = true;
  $('plan').replaceChildren(...render(shown.plan, shown.workload).flat(Infinity).filter(Boolean));
}

async function submit({ quiet = false } = {}) {
  running?.abort();
  running = new AbortController();
  const workload = workloadOf(form.read(), base, i18n.current());
  $('results').setAttribute('aria-busy', 'true');
  $('go').disabled = true;
  $('status').textContent = t('status.busy');
  try {
    const result = await api.plan(workload, i18n.current(), running.signal);
    if (!result.ok) { $('status').textContent = t('status.refused'); showFaults(result); return; }
    form.clearFaults();
    $('errors').hidden = true;
    shown = { plan: result.plan, workload };
    draw();
    history.replaceState(null, '', toFragment(workload));
    $('status').textContent = t('status.done', { n: result.plan.options.length });
    if (!quiet) $('results').scrollIntoView({ block: 'start' });
  } catch (error) {
    if (error.name !== 'AbortError') throw error;
  } finally {
    $('results').removeAttribute('aria-busy');
    $('go').disabled = false;
  }
}

async function setLanguage(name) {
  await i18n.load(name);
  i18n.translatePage();
  document.title = t('title');
  drawPresets();
  form.build($('groups'), lists, () => { form.refresh(); saveDraft(); });
  if (shown) await submit({ quiet: true });
}

async function start() {
  const language = i18n.initialLanguage();
  await i18n.load(language);
  try {
    const [models, gpus] = await Promise.all([api.catalog('models', language), api.catalog('gpus', language)]);
    lists = { models, gpus };
  } catch { /* the form still works with its own numbers; submitting will say what is wrong */ }
  await setLanguage(language);
  form.write(initialValues());
  if (!restoreDraft()) await choose('01-lora-7b');
  drawPresets();
  form.refresh();
  $('form').addEventListener('submit', (event) => { event.preventDefault(); submit(); });
  $('form').addEventListener('input', saveDraft);
  $('reset').addEventListener('click', () => choose('01-lora-7b'));
  for (const button of document.querySelectorAll('[data-lang]')) button.addEventListener('click', () => setLanguage(button.dataset.lang));
  document.body.dataset.ready = 'yes';
  if (location.hash.startsWith('#w=')) await submit({ quiet: true });
}

start();

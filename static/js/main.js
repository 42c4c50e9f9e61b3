// main.js — puts the page together: language, presets, form, request, results, and the way back from what was tried.
import { h } from './h.js';
import * as i18n from './i18n.js';
import * as api from './api.js';
import * as form from './form.js';
import { loadLists, taxName } from './catalog.js';
import { changedWorkload, changesText } from './changes.js';
import { drawDiagnosis } from './diagnosis.js';
import { clearFaults, showFaults } from './faults.js';
import { money } from './format.js';
import { render } from './results.js';
import { fromFragment, initialValues, toFragment, valuesOf, workloadOf } from './workload.js';

const { t } = i18n;
const presets = ['01-lora-7b', '02-full-7b', '03-full-14b-deadline', '04-qlora-70b', '05-full-70b', '06-pretrain-130b', '07-serve-7b-50-users',
  '08-serve-70b-latency', '09-embed-corpus', '10-vision-measured', '11-sensitive-data', '12-budget-200k', '13-hybrid-parallel-runs', '14-measured-14b',
  '15-hybrid-shareable-runs', '16-nightly-batch'];
const $ = (id) => document.getElementById(id);
let lists = {};
let base = null;      // what the chosen preset says beyond the form
let preset = null;
let shown = null;     // {plan, workload} on the page
let running = null;   // AbortController of the request in flight
let tried = [];       // what stood here before each change that was applied, the latest last

function drawPresets() {
  $('presets').replaceChildren(...presets.map((name) => h('button', { type: 'button', 'data-preset': name,
    'aria-pressed': String(name === preset), onclick: () => choose(name) }, t(`preset.${name}`))));
}

const asked = () => workloadOf(form.read(), base, i18n.current());

// The results say so when the form has moved on.
function tellStale() {
  const stale = shown !== null && JSON.stringify(asked()) !== JSON.stringify(shown.workload);
  $('stale').hidden = !stale;
  $('results').classList.toggle('stale', stale);
}

function settled() {
  tellStale();
  sessionStorage.setItem('suanpan.draft', JSON.stringify({ values: form.read(), base, preset }));
}

function fill(workload, name = null) {
  base = workload;
  preset = name;
  form.write(valuesOf(workload));
  form.forgetChanges();
  clearFaults($('errors'));
  forgetTried();
  drawPresets();
  settled();
}

async function choose(name) {
  try {
    const reply = await fetch(`/examples/${name}.json`);
    fill((await reply.json()).workload, name);
  } catch { showFaults($('errors'), { status: 0 }, () => choose(name)); }
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

const context = { get lists() { return lists; }, taxName: (code) => taxName(lists, code), apply, override };

function draw() {
  if (!shown) return;
  $('results-empty').hidden = true;
  history.replaceState(null, '', toFragment(shown.workload)); // first: the page names its own link
  $('plan').replaceChildren(...render(shown.plan, shown.workload, context).flat(Infinity).filter(Boolean));
  tellStale();
}

function working(on) {
  if (on) $('results').setAttribute('aria-busy', 'true');
  else $('results').removeAttribute('aria-busy');
  $('go').disabled = on;
  $('cancel').hidden = !on;
}

// Resolves to whether a plan came.
async function submit({ quiet = false } = {}) {
  running?.abort();
  const mine = new AbortController();
  running = mine;
  const workload = asked();
  working(true);
  $('status').textContent = t('status.busy');
  try {
    const result = await api.plan(workload, i18n.current(), mine.signal);
    if (!result.ok) { $('status').textContent = t('status.refused'); showFaults($('errors'), result, () => submit()); return false; }
    clearFaults($('errors'));
    shown = { plan: result.body, workload };
    draw();
    $('status').textContent = t('status.done', { n: result.body.options.length });
    if (!quiet) $('results').scrollIntoView({ block: 'start' });
    return true;
  } catch (error) {
    if (error.name !== 'AbortError') throw error;
    if (running === mine) $('status').textContent = t('status.cancelled');
    return false;
  } finally {
    if (running === mine) working(false);
  }
}

function forgetTried() {
  tried = [];
  drawTried();
}

// What was applied and what came of it, with the way back.
function drawTried() {
  const last = tried.at(-1);
  $('tried').hidden = !last;
  $('tried-text').textContent = last ? last.text() : '';
  $('undo').textContent = last ? t('undo', { n: tried.length }) : '';
}

function outcome(foretold) {
  if (!foretold?.total_cost_to_finish) return '';
  const met = shown.plan.options.find((o) => o.total_cost_to_finish.amount === foretold.total_cost_to_finish.amount && o.finish.finish_on === foretold.finish_on);
  document.querySelector(`.card[data-label="${met?.label}"]`)?.classList.add('foretold');
  return met ? ` ${t('tried.met', { label: met.label, sum: money(met.total_cost_to_finish), on: met.finish.finish_on })}` : '';
}

// A relaxation, a turning point or readings: into the form, visibly, and asked anew.
async function apply(changes, foretold) {
  const before = { values: form.read(), base, preset, shown, language: i18n.current() };
  const from = shown.workload;
  base = changedWorkload(from, changes);
  preset = null;
  form.write(valuesOf(base));
  form.markChanges(before.values);
  drawPresets();
  const came = await submit({ quiet: true });
  tried.push({ ...before, text: () => t('tried', { what: changesText(from, changes).join(t('and')) }) + (came ? outcome(foretold) : '') });
  drawTried();
  settled();
  if (came) { $('tried').scrollIntoView({ block: 'start' }); $('undo').focus({ preventScroll: true }); }
}

async function undo() {
  const last = tried.pop();
  ({ base, preset } = last);
  form.write(last.values);
  form.forgetChanges();
  clearFaults($('errors'));
  drawPresets();
  drawTried();
  if (last.shown && last.language === i18n.current()) { running?.abort(); shown = last.shown; draw(); $('status').textContent = t('undone'); }
  else await submit({ quiet: true });
  settled();
  (tried.length ? $('undo') : $('results')).focus({ preventScroll: true });
}

// Readings of a diagnosis stand where measured ones are asked; asking is left to the person.
function fillMeasured(measured) {
  const before = form.read();
  base = { ...asked(), measured: { ...Object.fromEntries(Object.entries(measured).filter(([, value]) => value !== null)) } };
  form.write(valuesOf(base));
  const ids = form.markChanges(before);
  settled();
  $('status').textContent = t('diagnosis.filled', { n: ids.length });
  form.focus(ids[0] ?? 'm_gpu');
}

function override(name, value) {
  const values = form.read();
  form.write({ ...values, assumptions: { [name]: String(value), ...values.assumptions } });
  settled();
  form.focus('assumptions', name);
}

async function setLanguage(name) {
  try { await i18n.load(name); } catch { showFaults($('errors'), { status: 0 }, () => setLanguage(name)); return; }
  lists = await loadLists(name);
  i18n.translatePage();
  document.title = t('title');
  drawPresets();
  form.build($('groups'), lists, () => { form.refresh(); settled(); });
  drawDiagnosis($('diagnosis'), fillMeasured);
  drawTried();
  if (shown) await submit({ quiet: true });
}

async function start() {
  await setLanguage(i18n.initialLanguage());
  form.write(initialValues());
  if (!restoreDraft()) await choose('01-lora-7b');
  drawPresets();
  form.refresh();
  $('form').addEventListener('submit', (event) => { event.preventDefault(); forgetTried(); form.forgetChanges(); submit(); });
  $('form').addEventListener('input', settled);
  $('reset').addEventListener('click', () => choose('01-lora-7b'));
  $('cancel').addEventListener('click', () => running?.abort());
  $('undo').addEventListener('click', undo);
  for (const button of document.querySelectorAll('[data-lang]')) button.addEventListener('click', () => setLanguage(button.dataset.lang));
  document.body.dataset.ready = 'yes';
  if (location.hash.startsWith('#w=')) await submit({ quiet: true });
}

start();

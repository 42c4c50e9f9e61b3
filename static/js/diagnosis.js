// diagnosis.js — pasted readings to a verdict, and with one click into the form: are more cards the answer at all?
import { h } from './h.js';
import { current, t } from './i18n.js';
import * as api from './api.js';
import { number, percent, significant } from './format.js';
import { chip, grid, named, notes, pair } from './parts.js';

const kept = { readings: '', log: '' }; // a change of language draws the box anew

function cards(d) {
  if (!d.per_gpu.length) return null;
  const heads = [['index', 'num'], ['name'], ['use', 'num'], ['memory', 'num'], ['power', 'num'], ['verdict']];
  return grid(t('diagnosis.cards'), heads.map(([id, cls]) => [t(`diagnosis.${id}`), cls]), d.per_gpu.map((g) => [number(g.index), [g.name ?? g.gpu ?? '–', g.mig ? [' ', chip('', t('diagnosis.mig', { n: number(g.mig_devices) }))] : ''],
    g.utilisation_pct === null ? '–' : `${significant(g.utilisation_pct)} %`, [g.memory_used_pct === null ? '–' : `${significant(g.memory_used_pct)} %`, g.memory_total_gb === null ? '' : h('span', { class: 'soft' }, ` ${significant(g.memory_used_gb)} / ${significant(g.memory_total_gb)} GB`)],
    g.power_w === null ? '–' : `${number(g.power_w)}${g.power_limit_w === null ? '' : ` / ${number(g.power_limit_w)}`} W`, named('option.m_verdict', g.verdict)]));
}

function iterations(i) {
  if (!i) return null;
  return h('dl', { class: 'pairs' }, pair('diagnosis.n', i.warmup_left_out + i.pauses_left_out > 0 ? t('diagnosis.n.kept', { n: number(i.n), warm: number(i.warmup_left_out), pauses: number(i.pauses_left_out) }) : number(i.n)), pair('diagnosis.median', significant(i.steady_median_s ?? i.median_s)), pair('diagnosis.cv', significant(i.steady_cv ?? i.cv)),
    i.data_share === null ? null : pair('diagnosis.data_share', percent(i.data_share)), i.peak_memory_gb === null ? null : pair('diagnosis.peak', `${significant(i.peak_memory_gb)} GB`),
    i.tokens_per_s ?? i.samples_per_s ? pair('diagnosis.rate', i.tokens_per_s ? t('measure.tokens/s', { n: significant(i.tokens_per_s) }) : t('measure.samples/s', { n: significant(i.samples_per_s) })) : null,
    i.global_batch === null ? null : pair('field.m_batch', number(i.global_batch)), i.seq_len === null ? null : pair('field.m_seq_len', number(i.seq_len)), i.framework ? pair('diagnosis.framework', i.framework) : null);
}

function topology(x) {
  return x ? h('p', { class: 'hint' }, t(x.pcie_bound ? 'diagnosis.pcie' : x.nvlink_connected ? 'diagnosis.nvlink' : 'diagnosis.links', { n: number(x.gpus), links: x.links.join(', ') })) : null;
}

// The readings as the form's fields will show them.
function measuredText(m) {
  const flat = (object, prefix) => Object.entries(object).flatMap(([key, value]) => (value === null ? [] : typeof value === 'object' ? flat(value, `${prefix}${key}.`) : [[prefix + key, value]]));
  return flat(m, '').length;
}

function answer(d, fill) {
  const usable = d.measured ? measuredText(d.measured) : 0;
  return [h('p', { class: `verdict ${d.expand ? 'good' : d.verdict === 'insufficient' ? '' : 'warn'}` }, chip(d.expand ? 'good' : 'warn', named('option.m_verdict', d.verdict)), ' ', h('strong', {}, d.verdict_text),
    ' ', t(d.expand ? 'diagnosis.expand' : d.verdict === 'insufficient' ? 'diagnosis.unknown' : 'diagnosis.no_cards')),
  d.recoverable_share ? h('p', {}, t('diagnosis.recoverable', { p: percent(d.recoverable_share) }), d.recoverable_basis ? ` ${t(`recoverable.${d.recoverable_basis}`)}` : '') : null,
  d.fault ? h('p', { class: 'fault' }, d.fault) : null,
  notes(d.findings), d.driver ? h('p', { class: 'hint' }, t('diagnosis.driver', { driver: d.driver, cuda: d.cuda ?? '–' })) : null, cards(d), iterations(d.iterations), topology(d.topology),
  usable ? h('button', { type: 'button', class: 'primary', id: 'diagnosis-fill', onclick: () => fill(d.measured) }, t('diagnosis.fill', { n: number(usable) })) : h('p', { class: 'hint' }, t('diagnosis.nothing'))];
}

export function drawDiagnosis(root, fill) {
  const out = h('div', { id: 'diagnosis-answer', 'aria-live': 'polite' });
  const box = (id, key, rows) => {
    const area = h('textarea', { id, rows, spellcheck: 'false', oninput: () => { kept[key] = area.value; } });
    area.value = kept[key];
    return [h('div', { class: 'field wide' }, h('label', { for: id }, t(`diagnosis.${key}`)), area), area];
  };
  const [readings, readingsArea] = box('diagnosis-readings', 'readings', 5), [log, logArea] = box('diagnosis-log', 'log', 4);
  const say = (...nodes) => out.replaceChildren(...nodes.flat(Infinity).filter(Boolean));
  const ask = h('button', { type: 'button', id: 'diagnosis-ask', onclick: async () => {
    const request = { ...(readingsArea.value.trim() && { nvidia_smi: readingsArea.value }), ...(logArea.value.trim() && { training_log: logArea.value }) };
    if (!Object.keys(request).length) { say(h('p', { class: 'fault' }, t('diagnosis.empty'))); readingsArea.focus(); return; }
    ask.disabled = true;
    say(h('p', { class: 'hint' }, t('status.busy')));
    const result = await api.diagnosis(request, current());
    ask.disabled = false;
    if (result.ok) say(answer(result.body, fill));
    else say(h('p', { class: 'fault' }, result.status === 0 ? t('error.offline') : [result.problem?.errors?.map((e) => e.detail).join(' ') || result.problem?.detail || t('error.http', { status: result.status })]));
  } }, t('diagnosis.ask'));
  root.replaceChildren(h('details', {}, h('summary', {}, t('diagnosis.title')), h('p', { class: 'hint' }, t('diagnosis.hint')), h('div', { class: 'fields' }, readings, log), ask, out));
}

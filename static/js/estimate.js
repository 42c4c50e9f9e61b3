// estimate.js — the physics of an option: how fast, how full, how it is laid out, and how surely that is known.
import { h, s } from './h.js';
import { t } from './i18n.js';
import { number, percent, significant } from './format.js';
import { fitted } from './charts.js';
import { chip, named, notes, pair } from './parts.js';

const gb = (value) => `${significant(value)} GB`;
const span = (low, high) => `${significant(low)} – ${significant(high)}`;
const memoryParts = ['weights', 'gradients', 'optimizer', 'activations', 'logits', 'kv_cache', 'buffers', 'overhead'];
const filled = (m) => memoryParts.map((name, k) => [name, m[`${name}_gb`], k]).filter(([, value]) => value > 0);

function memoryBar(m, width) {
  const most = Math.max(m.total_gb, m.usable_gb, m.high_gb ?? 0), at = (value) => (value / most) * (width - 2);
  const drawing = s('svg', { viewBox: `0 0 ${width} 30`, width: '100%', role: 'img', 'aria-label': t('memory.bar', { need: gb(m.total_gb), usable: gb(m.usable_gb) }) });
  let x = 0;
  for (const [name, value, k] of filled(m)) {
    drawing.append(s('rect', { x, y: 6, width: at(value), height: 18, class: `s${k}` }, s('title', {}, `${t(`memory.${name}`)} ${gb(value)}`)));
    x += at(value);
  }
  drawing.append(s('line', { x1: at(m.usable_gb), x2: at(m.usable_gb), y1: 0, y2: 30, class: 'axis limit' }));
  return drawing;
}

function memory(m, fits) {
  return [h('p', { class: 'hint' }, chip(fits === 'yes' ? 'good' : fits === 'no' ? 'bad' : 'warn', t(`fits.${fits}`)), ' ',
    t('memory.says', { need: gb(m.total_gb), usable: gb(m.usable_gb), band: span(m.low_gb, m.high_gb), most: t(`memory.${(m.tightest_term ?? 'weights').replace(/_gb$/, '')}`) })),
  fitted((width) => memoryBar(m, width)), h('ul', { class: 'legend' }, filled(m).map(([name, value, k]) => h('li', {},
    s('svg', { viewBox: '0 0 14 14', 'aria-hidden': 'true' }, s('rect', { width: 14, height: 14, class: `s${k}` })), `${t(`memory.${name}`)} ${gb(value)}`)))];
}

function layout(l) {
  const degrees = ['dp', 'tp', 'pp', 'cp', 'ep'].filter((name) => l[name] > 1).map((name) => t(`layout.${name}`, { n: l[name] }));
  const kept = ['sharding', 'offload', 'recompute'].filter((name) => l[name] && l[name] !== 'none').map((name) => `${t(`field.ml_${name}`)} ${named(`option.ml_${name}`, l[name])}`);
  return [...degrees, ...kept, ...(l.micro_batch ? [`${t('field.ml_micro_batch')} ${number(l.micro_batch)}`] : [])].join(' · ') || t('layout.one');
}

// [text id, figure]; what is null or nought says nothing.
const trainingFigures = (x) => [['tokens_per_s', x.tokens_per_s && significant(x.tokens_per_s)], ['samples_per_s', x.samples_per_s && significant(x.samples_per_s)], ['per_card', x.tokens_per_s_per_gpu && significant(x.tokens_per_s_per_gpu)],
  ['band', x.tokens_per_s_per_gpu_low && span(x.tokens_per_s_per_gpu_low, x.tokens_per_s_per_gpu_high)], ['step_time', x.step_time_s && significant(x.step_time_s)], ['global_batch', x.global_batch && number(x.global_batch)],
  ['mfu', x.mfu_pct && `${significant(x.mfu_pct)} %`], ['tflops', x.tflops_per_gpu && significant(x.tflops_per_gpu)], ['comm', percent(x.communication_share)], ['bubble', x.bubble_share && percent(x.bubble_share, 1)],
  ['data_wait', x.data_wait_share && percent(x.data_wait_share)], ['scaling', x.scaling_efficiency && percent(x.scaling_efficiency)], ['overhead', x.run_overhead && percent(x.run_overhead, 1)],
  ['gpu_hours', x.gpu_hours && number(x.gpu_hours, 1)], ['wall_hours', x.wall_hours && number(x.wall_hours, 1)], ['checkpoint', x.checkpoint_gb && gb(x.checkpoint_gb)], ['host_memory', x.host_memory_gb && gb(x.host_memory_gb)]];

const servingFigures = (x) => [['ttft', significant(x.ttft_ms)], ['tpot', significant(x.tpot_ms)], ['out_tokens', significant(x.output_tokens_per_s)], ['out_band', x.output_tokens_per_s_low && span(x.output_tokens_per_s_low, x.output_tokens_per_s_high)],
  ['all_tokens', x.total_tokens_per_s && significant(x.total_tokens_per_s)], ['concurrency', x.max_concurrency && number(Math.floor(x.max_concurrency))], ['serve_weights', x.weights_gb && gb(x.weights_gb)],
  ['kv_cache', x.kv_cache_gb && `${gb(x.kv_cache_gb)} · ${t('measure.tokens', { n: number(Math.floor(x.kv_cache_tokens ?? 0)) })}`], ['kv_token', x.kv_bytes_per_token && `${number(x.kv_bytes_per_token / 1024, 1)} KiB`]];

export function estimate(e) {
  if (!e) return null;
  const figures = [...(e.training ? trainingFigures(e.training) : []), ...(e.serving ? servingFigures(e.serving) : [])].filter(([, value]) => value);
  return [h('dl', { class: 'pairs' }, figures.map(([key, value]) => pair(`physics.${key}`, value))), e.memory ? memory(e.memory, e.fits) : null,
    e.layout ? h('p', { class: 'hint' }, t('layout.says', { how: layout(e.layout) }), e.runner_up?.reason ? ` ${e.runner_up.reason.text}` : '') : null,
    notes(e.assumptions), notes(e.warnings, 'warn')];
}

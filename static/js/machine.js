// machine.js — whose machines an option stands on, how the job lies on them, how fast it runs and what fills the memory.
import { h, s } from './h.js';
import { t } from './i18n.js';
import { number, percent, significant } from './format.js';
import { fitted } from './charts.js';
import { chip, grid, named, notes, pair } from './parts.js';
import { itemName } from './names.js';

const gb = (value) => `${significant(value)} GB`;
const memoryParts = ['weights', 'gradients', 'optimizer', 'activations', 'logits', 'kv_cache', 'buffers', 'overhead'];

function supply(option, act) {
  const heads = [['role', 'whole'], ['provider'], ['machine', 'item'], ['links'], ['paid', 'whole'], ['price_as_of', 'source']];
  return grid(t('supply.title'), heads.map(([id, cls]) => [t(`supply.${id}`), cls]), option.supply.map((x) => [
    t(`supply.role.${x.role}`), [x.provider_name, x.city ? [' ', h('span', { class: 'soft whole' }, named('option.city', x.city))] : null],
    [t('machine.of', { nodes: number(x.nodes), n: number(x.gpus_per_node), gpu: x.gpu_name }), h('br'), h('span', { class: 'soft' }, `${named('form', x.form)} · ${t('supply.memory', { each: number(x.vram_gb_per_gpu), all: number(x.vram_gb_total) })}`)],
    [named('link', x.intra_link), x.inter_link && x.nodes > 1 ? [h('br'), `${itemName(act.lists, x.inter_link.network)} `, x.inter_link.dedicated ? '' : chip('warn', t('supply.shared'))] : ''],
    t(`paid.${x.pricing_mode}`), [x.price_as_of ?? '–', ' ', chip(x.price_state === 'firm' ? 'good' : 'warn', named('state', x.price_state)), h('br'), h('span', { class: 'soft' }, x.price_source ?? '')]]));
}

function memoryBar(m, width) {
  let x = 0;
  const most = Math.max(m.total_gb, m.usable_gb, m.high_gb ?? 0);
  const parts = memoryParts.map((name, k) => [name, m[`${name}_gb`], k]).filter(([, value]) => value > 0);
  const at = (value) => (value / most) * (width - 2);
  const drawing = s('svg', { viewBox: `0 0 ${width} 30`, width: '100%', role: 'img', 'aria-label': t('memory.bar', { need: gb(m.total_gb), usable: gb(m.usable_gb) }) });
  for (const [name, value, k] of parts) {
    drawing.append(s('rect', { x, y: 6, width: at(value), height: 18, class: `s${k}` }, s('title', {}, `${t(`memory.${name}`)} ${gb(value)}`)));
    x += at(value);
  }
  drawing.append(s('line', { x1: at(m.usable_gb), x2: at(m.usable_gb), y1: 0, y2: 30, class: 'axis limit' }));
  return drawing;
}

function memory(m) {
  const parts = memoryParts.map((name, k) => [name, m[`${name}_gb`], k]).filter(([, value]) => value > 0);
  return [fitted((width) => memoryBar(m, width)), h('ul', { class: 'legend' }, parts.map(([name, value, k]) => h('li', {},
    s('svg', { viewBox: '0 0 14 14', 'aria-hidden': 'true' }, s('rect', { width: 14, height: 14, class: `s${k}` })), `${t(`memory.${name}`)} ${gb(value)}`)))];
}

function layout(l) {
  const degrees = ['dp', 'tp', 'pp', 'cp', 'ep'].filter((name) => l[name] > 1).map((name) => t(`layout.${name}`, { n: l[name] }));
  const kept = ['sharding', 'offload', 'recompute'].filter((name) => l[name] && l[name] !== 'none').map((name) => `${t(`field.ml_${name}`)} ${named(`option.ml_${name}`, l[name])}`);
  return [...degrees, ...kept, ...(l.micro_batch ? [`${t('field.ml_micro_batch')} ${number(l.micro_batch)}`] : [])].join(' · ') || t('layout.one');
}

function speeds(e) {
  const rows = [];
  const tr = e.training, sv = e.serving;
  if (tr) rows.push(['tokens_per_s', tr.tokens_per_s ? significant(tr.tokens_per_s) : null], ['samples_per_s', significant(tr.samples_per_s)], ['step_time', significant(tr.step_time_s)],
    ['mfu', tr.mfu_pct === null ? null : `${significant(tr.mfu_pct)} %`], ['comm', percent(tr.communication_share)], ['data_wait', tr.data_wait_share ? percent(tr.data_wait_share) : null],
    ['scaling', tr.scaling_efficiency === null ? null : percent(tr.scaling_efficiency)], ['band', tr.tokens_per_s_per_gpu_low ? `${significant(tr.tokens_per_s_per_gpu_low)} – ${significant(tr.tokens_per_s_per_gpu_high)}` : null]);
  if (sv) rows.push(['tpot', significant(sv.tpot_ms)], ['ttft', significant(sv.ttft_ms)], ['out_tokens', significant(sv.output_tokens_per_s)]);
  if (e.memory) rows.push(['memory', `${significant(e.memory.total_gb)} / ${significant(e.memory.usable_gb)} GB`]);
  return h('dl', { class: 'pairs' }, rows.filter(([, value]) => value !== null).map(([key, value]) => pair(`physics.${key}`, value)));
}

export function machine(option, act) {
  const e = option.estimate;
  return [supply(option, act), e ? [speeds(e), e.memory ? memory(e.memory) : null,
    e.layout ? h('p', { class: 'hint' }, t('layout.says', { how: layout(e.layout) }), e.runner_up?.reason ? ` ${e.runner_up.reason.text}` : '') : null,
    notes(e.assumptions), notes(e.warnings, 'warn')] : null];
}

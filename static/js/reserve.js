// reserve.js — what serving costs after the job: sized how, paid how, on which cards, and what runs in idle hours.
import { h } from './h.js';
import { t } from './i18n.js';
import { date, money, number, percent, significant } from './format.js';
import { grid, notes, pair } from './parts.js';
import { estimate } from './estimate.js';
import { cardName, machineName } from './names.js';

function batch(b, act) {
  if (!b) return null;
  return [h('h5', {}, t('batch.title')), h('dl', { class: 'pairs' },
    pair('batch.all', number(b.requests)), pair('batch.idle', b.idle_machine_hours ? t('batch.in', { n: number(b.requests_in_idle_hours), hours: number(b.idle_machine_hours) }) : number(b.requests_in_idle_hours)), pair('batch.service', number(b.requests_in_service)),
    pair('batch.rented', b.rented_hours ? t('batch.renting', { n: number(b.rented_replicas), hours: number(b.rented_hours) }) : '–'), pair('batch.saved', money(b.saved))),
  b.windows.length ? grid(t('batch.windows'), [['from'], ['machine'], ['gpus', 'num'], ['hours_per_day', 'num'], ['requests', 'num']].map(([id, cls]) => [t(`batch.${id}`), cls]),
    b.windows.map((w) => [`${date(w.start_on)} → ${date(w.end_on)}`, machineName(act.plan, w.sku), number(w.gpus), number(w.hours_per_day, 1), number(w.requests)])) : null];
}

/* The far end of a hybrid's line: what of the peak goes where. */
function burst(b, act) {
  return b && pair('reserve.burst', t('reserve.away', { n: number(b.gpus), machine: machineName(act.plan, b.sku), hours: number(b.hours_per_day, 1), share: percent(b.share_of_peak) }));
}

export function reserve(option, act) {
  const r = option.inference_reserve;
  if (!r.gpu) return [h('p', {}, t(`basis.${r.basis}`)), notes(r.notes)];
  const heads = [['role'], ['gpu'], ['gpus', 'num'], ['each', 'num'], ['replicas', 'num'], ['utilisation', 'num'], ['tpot', 'num'], ['ttft', 'num'], ['total', 'num']];
  return [notes(r.notes), h('dl', { class: 'pairs' },
    pair('reserve.basis', t(`basis.${r.basis}`)), pair('reserve.months', t('months', { n: number(r.months, 1) })), pair('reserve.monthly', money(r.monthly)), pair('reserve.sum', money(r.total)),
    pair('reserve.band', `${money(r.low)} – ${money(r.high)}`), pair('reserve.cards', t('reserve.base', { base: number(r.base_gpus), all: number(r.gpus), hours: number(r.peak_hours_per_day, 1) })), burst(r.burst, act),
    pair('reserve.use', percent(r.utilisation)), r.replicas_per_gpu > 1 ? pair('reserve.share', number(r.replicas_per_gpu)) : null),
  r.pricing.length > 1 ? [h('h5', {}, t('reserve.ways')), h('dl', { class: 'pairs' }, r.pricing.map((w) => pair(`reserve.pay.${w.code}`, money(w.total), w.total.amount === r.total.amount ? 'best' : '')))] : null,
  r.alternatives.length ? grid(t('reserve.alternatives'), heads.map(([id, cls]) => [t(`reserve.${id}`), cls]), r.alternatives.map((c) => [
    t(`reserve.role.${c.role}`), cardName(act.lists, c.gpu), number(c.gpus), number(c.gpus_per_replica), number(c.replicas), percent(c.utilisation), significant(c.tpot_ms), significant(c.ttft_ms), money(c.total)])) : null,
  batch(r.batch, act), r.estimate ? [h('h5', {}, t('reserve.physics')), estimate(r.estimate)] : null];
}

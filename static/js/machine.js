// machine.js — whose machines an option stands on, how they are joined, and how they are paid for.
import { h } from './h.js';
import { t } from './i18n.js';
import { number } from './format.js';
import { chip, grid, named } from './parts.js';
import { estimate } from './estimate.js';
import { itemName } from './names.js';

const joined = (x, act) => (x.inter_link && x.nodes > 1 ? [h('br'), itemName(act.lists, x.inter_link.network),
  x.inter_link.gbps_per_node ? h('span', { class: 'soft' }, ` ${t('supply.gbps', { n: number(x.inter_link.gbps_per_node) })}`) : '', x.inter_link.dedicated ? '' : [' ', chip('warn', t('supply.sharing'))]] : '');

const paid = (x) => [t(`paid.${x.pricing_mode}`), x.term_units > 1 ? ` × ${number(x.term_units)}` : ''];

function supply(option, act) {
  const heads = [['role', 'whole'], ['provider'], ['machine', 'item'], ['links'], ['paid', 'whole'], ['price_as_of', 'source']];
  return grid(t('supply.title'), heads.map(([id, cls]) => [t(`supply.${id}`), cls]), option.supply.map((x) => [
    t(`supply.role.${x.role}`), [x.provider_name, x.city ? [' ', h('span', { class: 'soft whole' }, named('option.city', x.city))] : null],
    [t('machine.of', { nodes: number(x.nodes), n: number(x.gpus_per_node), gpu: x.gpu_name }), h('br'), h('span', { class: 'soft' }, `${named('form', x.form)} · ${t('supply.memory', { each: number(x.vram_gb_per_gpu), all: number(x.vram_gb_total) })}`)],
    [named('link', x.intra_link), joined(x, act)], paid(x),
    [x.price_as_of ?? '–', ' ', chip(x.price_state === 'firm' ? 'good' : 'warn', named('state', x.price_state)), h('br'), h('span', { class: 'soft' }, x.price_source ?? '')]]));
}

export const machine = (option, act) => [supply(option, act), estimate(option.estimate)];

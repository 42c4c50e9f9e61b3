// questions.test.mjs — the form asks every member of a workload, in both languages, and gives back what it was given.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fields } from '../../static/js/fields.js';
import { readDecimal, readNumber } from '../../static/js/numbers.js';
import { fromFragment, toFragment, valuesOf, workloadOf } from '../../static/js/workload.js';
import { changedWorkload, queryOf } from '../../static/js/changes.js';
import { ticks } from '../../static/js/charts.js';
import { example, examples, root } from './page.mjs';

const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const schemas = read('api/openapi.json').components.schemas;
const [zh, en] = ['zh-CN', 'en'].map((l) => read(`static/i18n/${l}.json`));
const fuzzed = readFileSync(join(root, 'tests/bench/requests.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line).workload);

// Every leaf of the contract's workload: [path, schema].
function leaves(name, path) {
  return Object.entries(schemas[name].properties).flatMap(([key, schema]) => {
    const below = (schema.anyOf ?? []).map((s) => s.$ref).find(Boolean) ?? schema.$ref;
    return below ? leaves(below.split('/').at(-1), `${path}${key}.`) : [[path + key, schema]];
  });
}

test('every member of a workload is asked, and nothing else', () => {
  // The language is the page's own. A service's own model is asked by name, size or configuration, which says all the rest.
  const asked = new Set(fields.map((f) => f.path).filter(Boolean));
  const told = leaves('Workload', '').map(([path]) => path);
  const elsewhere = (path) => path === 'language' || (path.startsWith('serving.model.') && asked.has('serving.model.config'));
  assert.deepEqual(told.filter((path) => !asked.has(path) && !elsewhere(path)), []);
  assert.deepEqual([...asked].filter((path) => !told.includes(path)), []);
});

test('every value of a choice can be chosen', () => {
  const byPath = new Map(fields.map((f) => [f.path, f]));
  for (const [path, schema] of leaves('Workload', '')) {
    const field = byPath.get(path);
    const values = (schema.enum ?? schema.items?.enum)?.filter((v) => v !== null);
    if (field && values) assert.deepEqual([...field.options].sort(), [...values].sort(), path);
  }
});

test('both catalogs have the same keys and placeholders, and a text for every question', () => {
  assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort());
  for (const key of Object.keys(en)) {
    assert.deepEqual((zh[key].match(/\{\w+\}/g) ?? []).sort(), (en[key].match(/\{\w+\}/g) ?? []).sort(), key);
    assert.ok(zh[key] && en[key], `${key} is empty`);
  }
  for (const field of fields) {
    assert.ok(en[`field.${field.id}`], `field.${field.id}`);
    if (field.empty) assert.ok(en[`empty.${field.empty}`], `empty.${field.empty}`);
  }
  const group = (id) => [`group.${id}`, `group.${id}.hint`];
  for (const key of fields.flatMap((f) => group(f.group.id))) assert.ok(en[key], key);
});

test('no catalog has a text that no script names', () => {
  const scripts = readdirSync(join(root, 'static/js')).map((f) => readFileSync(join(root, 'static/js', f), 'utf8'));
  const source = scripts.join('\n') + readFileSync(join(root, 'static/index.html'), 'utf8');
  // A key is named whole, or its first word heads a family whose members come from the answer or from a table.
  const families = new Set([...source.matchAll(/`([a-z_]+(?:\.[a-z_]+)*)\.\$\{/g)].map((m) => m[1]).concat([...source.matchAll(/named\('([\w.]+)'/g)].map((m) => m[1]), ['contents', 'detail']));
  const named = (key) => source.includes(`'${key}'`) || source.includes(`"${key}"`) || [...families].some((f) => key.startsWith(`${f}.`))
    || (key.endsWith('.title') && source.includes(`panel('${key.slice(0, -6)}'`)) || /^compare\.(left|right)$/.test(key);
  assert.deepEqual(Object.keys(en).filter((key) => !named(key)), []);
});

test('every script is named in the head, so that none waits for another to ask for it', () => {
  const page = readFileSync(join(root, 'static/index.html'), 'utf8');
  const named = [...page.matchAll(/\/js\/([\w]+\.js)/g)].map((m) => m[1]).sort();
  assert.deepEqual(named, readdirSync(join(root, 'static/js')).sort());
});

test('a workload that goes through the form comes back as it was', () => {
  for (const workload of [...examples.map(example), ...fuzzed]) {
    const expected = structuredClone(workload);
    expected.language = 'en';
    const c = expected.constraints ?? {};
    for (const key of ['data_sensitive', 'can_desensitise', 'allow_spot', 'mix_gpus']) if (c[key] === false) delete c[key]; // a box not ticked
    if (!c.data_sensitive) delete c.can_desensitise;
    if (expected.serving?.months === 0) expected.serving = { months: 0 };
    assert.deepEqual(workloadOf(valuesOf(workload), workload, 'en'), expected);
    assert.deepEqual(fromFragment(toFragment(workload)), workload);
  }
});

test('figures are read as people type them', () => {
  const cases = [['4096', 4096], ['2e9', 2e9], ['2,000,000', 2e6], ['2 000 000', 2e6], ['1.5', 1.5], ['.5', 0.5], ['１２８', 128], ['-3', -3], ['', null], ['abc', null], ['1.2.3', null], ['20亿', null], ['7b', null]];
  for (const [text, value] of cases) assert.equal(readNumber(text), value, text);
  const long = [['20亿', 2e9], ['3万', 3e4], ['1.5万亿', 1.5e12], ['300M', 3e8], ['2b', 2e9], ['50k', 5e4], ['2e9', 2e9], ['0.1M', 1e5], ['许多', null]];
  for (const [text, value] of long) assert.equal(readNumber(text, { amount: true }), value, text);
  for (const [text, value] of [['200000', '200000.00'], ['200,000.5', '200000.50'], ['20万', '200000.00'], ['0.05', '0.05'], ['x', null]]) assert.equal(readDecimal(text), value, text);
});

test('changes by pointer set, add and leave out members without touching the request they came from', () => {
  const workload = { model: { preset: 'qwen2.5-7b' }, serving: { weight_format: 'fp8' } };
  const next = changedWorkload(workload, [{ input: '/workload/serving/weight_format', value: null }, { input: '/workload/serving/weight_bits', value: 4 },
    { input: '/workload/assumptions/train.a~1b', value: 1 }, { input: '/workload/constraints/gpus', value: ['a', 'b'] }]);
  assert.deepEqual(next, { model: { preset: 'qwen2.5-7b' }, serving: { weight_bits: 4 }, assumptions: { 'train.a/b': 1 }, constraints: { gpus: ['a', 'b'] } });
  assert.deepEqual(workload, { model: { preset: 'qwen2.5-7b' }, serving: { weight_format: 'fp8' } });
  assert.equal(queryOf({ ...workload, constraints: { gpus: ['a', 'b'], budget: { amount: '5.00', currency: 'CNY' } } }),
    'model.preset=qwen2.5-7b&serving.weight_format=fp8&constraints.gpus=a%2Cb&constraints.budget=5.00');
  assert.equal(queryOf({ model: { config: { hidden_size: 1 } } }), null);
});

test('an axis has a handful of round figures and none beyond its end', () => {
  for (const most of [0.3, 1, 7, 19.8, 46, 99, 100, 359000, 1.2e6, 8e9]) {
    const list = ticks(most);
    assert.ok(list.length >= 3 && list.length <= 6, `${most}: ${list}`);
    assert.ok(list.at(-1) <= most * 1.0001);
    const step = (list[1] / 10 ** Math.floor(Math.log10(list[1] * 1.0001))).toFixed(3);
    assert.ok(['1.000', '2.000', '2.500', '5.000'].includes(step), `${most}: ${step}`);
  }
});

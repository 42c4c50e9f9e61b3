// plan.test.mjs — what can be done with a plan on the page: try its ways and turning points and come back, set two options
// side by side, take texts and lists along, put readings in; and that the page leaves nothing of the answer out.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { changedWorkload } from '../../static/js/changes.js';
import { fieldOfPointer, stepsOfPointer } from '../../static/js/fields.js';
import { valuesOf, workloadOf } from '../../static/js/workload.js';
import { ask, choose, example, examples, open, post, root, running, serve, settled, submit, unfold } from './page.mjs';

serve();

const reading = (name) => readFileSync(join(root, 'tests/data/readings', name), 'utf8');
const cents = (amount) => Math.round(Number(amount) * 100);
const said = (text) => text.replace('−', '-').replace(/[^\d.-]/g, '');

// An exact relaxation of a kind that is not offered, with one change: [preset, plan, relaxation].
async function oneWay(page) {
  for (const preset of examples) {
    const plan = await post(page, '/api/v1/plans', { workload: { ...example(preset), language: 'en' } });
    for (const refused of plan.infeasible) for (const r of refused.relaxations) if (r.exact && r.changes.length === 1) return [preset, { ...r, kind: refused.kind }];
  }
  return assert.fail('no example has an exact relaxation of one change');
}

test('a relaxation is applied by keyboard, seen in the form, foretold to the fen, and undone', async () => {
  const page = await open({ language: 'en' });
  const [preset, told] = await oneWay(page);
  await ask(page, preset);
  const before = await page.innerText('.summary .total');
  const button = page.locator(`#p-refused [data-code=${told.code}] button`).first();
  assert.ok((await button.getAttribute('aria-label')).includes(told.text), 'its name says what is applied');
  await button.focus();
  const reply = page.waitForResponse('**/api/v1/plans');
  await page.keyboard.press('Enter');
  const then = await (await reply).json();
  await page.waitForSelector('#tried:not([hidden])');
  const met = then.options.find((o) => o.kind === told.kind && o.total_cost_to_finish.amount === told.total_cost_to_finish.amount && o.finish.finish_on === told.finish_on);
  assert.ok(met, 'the option foretold is among the new ones');
  assert.ok((await page.innerText('#tried-text')).includes(`option ${met.label}`));
  assert.equal(await page.locator('.card.foretold').getAttribute('data-label'), met.label);
  const field = fieldOfPointer(told.changes[0].input).id;
  const now = page.locator(`#f-${field}`);
  assert.equal(await now.evaluate((e) => (e.type === 'checkbox' ? String(e.checked) : e.value)), String(told.changes[0].value));
  assert.ok(await page.locator(`[data-field=${field}]`).evaluate((e) => e.classList.contains('changed')));
  assert.match(await page.innerText(`#w-${field}`), /^was: ./);
  assert.equal(await page.locator('.field.changed').count(), 1);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'undo');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#tried', { state: 'hidden' });
  assert.equal(await page.innerText('.summary .total'), before);
  assert.equal(await page.locator('.field.changed').count(), 0);
  assert.equal(await page.locator(`[data-preset="${preset}"]`).getAttribute('aria-pressed'), 'true');
  await page.done();
});

test('another priority is one press away', async () => {
  const page = await open({ language: 'en' });
  await ask(page, '03-full-14b-deadline');
  assert.equal(await page.locator('.switch [aria-pressed=true]').innerText(), 'fastest');
  const request = page.waitForRequest((r) => r.method() === 'POST');
  await page.locator('.switch button', { hasText: 'cheapest' }).click();
  assert.equal((await request).postDataJSON().workload.priority, 'cheapest');
  await page.waitForSelector('#tried:not([hidden])');
  assert.equal(await page.inputValue('#f-priority'), 'cheapest');
  assert.equal(await page.locator('.switch [aria-pressed=true]').innerText(), 'cheapest');
  await page.done();
});

test('every relaxation of requests nobody chose can be made in the form', async () => {
  const requests = readFileSync(join(root, 'tests/bench/requests.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line).workload);
  const met = new Set();
  for (const workload of requests) {
    const reply = await fetch(`${running.service.url}/api/v1/plans`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ workload }) });
    const plan = await reply.json();
    assert.equal(reply.status, 200, JSON.stringify(plan).slice(0, 300));
    for (const r of [...plan.options, ...plan.infeasible].flatMap((x) => x.relaxations)) {
      const changed = changedWorkload(workload, r.changes);
      const back = workloadOf(valuesOf(changed), changed, 'zh-CN');
      for (const { input, value } of r.changes) {
        met.add(r.code);
        assert.deepEqual(stepsOfPointer(input).reduce((at, step) => at?.[step], back) ?? null, value, `${r.code}: ${input} of ${JSON.stringify(workload)}`);
      }
    }
  }
  assert.ok(met.size >= 10, [...met].join());
});

test('ways are tried one upon the other and undone one by one', async () => {
  const page = await open({ language: 'zh-CN' });
  await ask(page, '01-lora-7b');
  const form = () => page.evaluate(() => JSON.stringify([...document.querySelectorAll('#form input, #form select')].map((e) => [e.id, e.type === 'checkbox' ? e.checked : e.value])));
  const stood = [];
  for (const step of [1, 2]) {
    stood.push([await page.innerText('.summary .total'), await form()]);
    const request = page.waitForRequest((r) => r.method() === 'POST');
    await page.locator('#plan .panel .relaxation button').first().click();
    await request;
    await page.waitForFunction((n) => document.getElementById('undo').textContent.includes(`（${n}）`), step);
    await settled(page);
    const changed = await page.locator('.field.changed').evaluateAll((all) => all.map((e) => e.dataset.field));
    assert.ok(changed.length > 0);
    for (const id of changed) assert.ok(await page.locator(`#w-${id}`).isVisible(), id);
  }
  for (const [total, values] of stood.reverse()) {
    assert.notEqual(await form(), values);
    await page.click('#undo');
    await page.waitForFunction((sum) => document.querySelector('.summary .total').textContent === sum, total);
    assert.equal(await form(), values);
  }
  assert.ok(await page.locator('#tried').isHidden());
  await page.done();
});

test('where nothing is feasible, the nearest ways stand with their buttons, and one of them helps', async () => {
  const page = await open({ language: 'zh-CN' });
  await choose(page, '05-full-70b');
  await page.fill('#f-deadline_on', '2027-01-06');
  const plan = await submit(page);
  const ways = plan.options.flatMap((o) => o.relaxations).concat(plan.infeasible.flatMap((k) => k.relaxations)).filter((r) => r.changes.length);
  assert.ok(ways.length > 0);
  assert.equal(await page.locator('#plan .panel .relaxation button').count(), ways.length);
  const later = ways.find((r) => r.code === 'later_deadline');
  assert.ok(plan.options.every((o) => !o.feasible));
  const reply = page.waitForResponse('**/api/v1/plans');
  await page.locator('#plan .panel [data-code=later_deadline] button').first().click();
  const then = await (await reply).json();
  await page.waitForSelector('#tried:not([hidden])');
  assert.equal(await page.inputValue('#f-deadline_on'), later.changes[0].value);
  assert.ok(then.options[0].feasible);
  await page.done();
});

test('a turning point says what turns it, and can be tried', async () => {
  const page = await open({ language: 'en' });
  let tried = 0;
  for (const preset of examples) {
    const plan = await ask(page, preset);
    assert.equal(await page.locator('#p-turning tbody tr').count(), plan.sensitivity.length, preset);
    const text = await page.innerText('#p-turning');
    for (const point of plan.sensitivity) {
      assert.ok(!point.title_then || text.includes(point.title_then), `${preset}: ${point.input}`);
      assert.ok(!text.includes(point.input), `${preset}: ${point.input} is shown as a pointer`);
    }
    const own = plan.sensitivity.filter((p) => p.input.startsWith('/workload/'));
    assert.equal(await page.locator('#p-turning tbody button').count(), own.length, preset);
    if (!own.length || tried >= 2) continue;
    tried += 1;
    const request = page.waitForRequest((r) => r.method() === 'POST');
    const reply = page.waitForResponse('**/api/v1/plans');
    await page.locator('#p-turning tbody button').first().click();
    const value = own[0].input.split('/').slice(1).reduce((at, key) => at[key], (await request).postDataJSON());
    const there = await (await reply).json();
    await page.waitForSelector('#tried:not([hidden])');
    if (typeof value === 'number') assert.ok(Math.sign(value - own[0].turning_point) === Math.sign(own[0].turning_point - own[0].now) || value === own[0].turning_point, `${preset}: ${value} is beyond`);
    if (own[0].confirmed) assert.equal(there.options[0].title, own[0].title_then, preset);
    await page.click('#undo');
  }
  assert.ok(tried > 0);
  await page.done();
});

test('two options stand side by side, and what accounts for their difference sums to it, both ways round', async () => {
  const page = await open({ language: 'en' });
  const plan = await ask(page, '02-full-7b');
  const sums = Object.fromEntries(plan.options.map((o) => [o.label, cents(o.total_cost_to_finish.amount)]));
  for (const [a, b] of [['A', 'C'], ['C', 'A'], ['E', 'B']]) {
    await page.selectOption('#compare-left', a);
    await page.selectOption('#compare-right', b);
    const tables = page.locator('#p-compare table');
    assert.deepEqual(await tables.nth(0).locator('thead th').allInnerTexts(), ['What', a, b, `${b} less ${a}`]);
    const total = await tables.nth(0).locator('tr.total td').allInnerTexts();
    assert.deepEqual(total.map((text) => cents(said(text))), [sums[a], sums[b], sums[b] - sums[a]]);
    const parts = await tables.nth(1).locator('tbody td:nth-child(2)').allInnerTexts();
    assert.equal(parts.reduce((sum, text) => sum + cents(said(text)), 0), sums[b] - sums[a], `${a} and ${b}`);
    assert.equal(cents(said(await tables.nth(1).locator('tfoot td').first().innerText())), sums[b] - sums[a]);
  }
  await page.click('#p-compare .choices > button');
  assert.equal(await page.inputValue('#compare-left'), 'B');
  await page.locator('.card[data-label=D] .tools button').click();
  assert.deepEqual([await page.inputValue('#compare-left'), await page.inputValue('#compare-right')], ['A', 'D']);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'compare-left');
  await page.done();
});

// Every sentence and every sum of the answer is somewhere on the page, but what a pair of options not chosen differs in.
function sayings(value, path, found) {
  if (Array.isArray(value)) value.forEach((v, i) => sayings(v, `${path}/${i}`, found));
  else if (value && typeof value === 'object') {
    if (typeof value.amount === 'string' && value.currency && !/\/(values|unit_price|attribution)\b/.test(path)) found.push([path, value.amount]);
    for (const [key, below] of Object.entries(value)) {
      if (key === 'values' || key === 'attribution') continue;
      if (['text', 'title', 'title_then', 'command', 'provider_name', 'gpu_name'].includes(key) && typeof below === 'string') found.push([`${path}/${key}`, below]);
      else sayings(below, `${path}/${key}`, found);
    }
  }
}

test('nothing of the answer is left out', async () => {
  const page = await open({ language: 'zh-CN' });
  const squeezed = (text) => text.replace(/\s+/g, '');
  for (const preset of ['03-full-14b-deadline', '12-budget-200k', '14-measured-14b', '15-hybrid-shareable-runs', '16-nightly-batch']) {
    const plan = await ask(page, preset);
    await unfold(page, '#results');
    const text = squeezed(await page.locator('#results').evaluate((e) => e.textContent));
    const figures = new Set((text.match(/\d[\d,]*\.\d\d/g) ?? []).map((f) => f.replaceAll(',', '')));
    const found = [];
    sayings(plan, '', found);
    assert.ok(found.length > 300, preset);
    const missing = found.filter(([, what]) => (/^-?\d+\.\d\d$/.test(what) ? !figures.has(what.replace('-', '')) : !text.includes(squeezed(what))));
    assert.deepEqual(missing.slice(0, 8), [], preset);
    for (const o of plan.options) for (const body of Object.values(o.launch).filter((v) => typeof v === 'string')) assert.ok(text.includes(squeezed(body)), `${preset} ${o.label}: a launch text`);
    for (const code of new Set(plan.options.flatMap((o) => o.cost.tax_lines.map((x) => x.tax_code)))) assert.ok(!text.includes(code), `${code} has a name`);
  }
  await page.done();
});

test('answers to requests nobody chose are drawn without a missing word or figure', async () => {
  const lines = readFileSync(join(root, 'tests/bench/requests.jsonl'), 'utf8').trim().split('\n');
  const workloads = lines.filter((_, i) => i % 8 === 3).map((line) => ({ ...JSON.parse(line).workload, language: 'en' }));
  const page = await open({ language: 'en' });
  const faults = await page.evaluate(async (list) => {
    const { render } = await import('/js/results.js');
    const { loadLists, taxName } = await import('/js/catalog.js');
    const lists = await loadLists('en'), found = [];
    for (const workload of list) {
      const reply = await fetch('/api/v1/plans', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ workload }) });
      const box = document.createElement('div');
      document.body.append(box);
      box.append(...render(await reply.json(), workload, { lists, taxName: (code) => taxName(lists, code), apply() {}, override() {} }).flat(Infinity).filter(Boolean));
      const closed = [...box.querySelectorAll('details')];
      const filled = closed.map((d) => new Promise((done) => { d.addEventListener('toggle', done, { once: true }); d.open = true; }));
      await Promise.all(filled);
      const bad = /\[[a-z_]+(\.[\w/-]+)+\]|.{0,30}(undefined|NaN|\[object).{0,30}/s.exec(box.textContent);
      if (bad || !box.querySelector('.summary')) found.push([bad?.[0], JSON.stringify(workload)]);
      box.remove();
    }
    return found;
  }, workloads);
  assert.deepEqual(faults, []);
  await page.done();
});

test('texts are copied, also where the clipboard is not allowed', async () => {
  const page = await open({ language: 'en' });
  const plan = await ask(page, '06-pretrain-130b');
  const open1 = async () => { await page.locator('.card details').first().evaluate((d) => { d.open = true; }); await page.waitForSelector('.card .part'); };
  await open1();
  await page.locator('.card .copyable button').first().click();
  await page.waitForFunction(() => document.querySelector('.card .copyable .said').textContent !== '');
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), plan.options[0].launch.torchrun);
  await page.done();
  const plain = await open({ language: 'en', prepare: (p) => p.addInitScript(() => { Object.defineProperty(navigator, 'clipboard', { value: undefined }); }) });
  await ask(plain, '06-pretrain-130b');
  await plain.locator('#p-take .copyable button').first().click();
  await plain.waitForFunction(() => document.querySelector('#p-take .copyable .said').textContent !== '');
  assert.equal(await plain.evaluate(() => String(getSelection())), plain.url());
  await plain.done();
});

test('the checklist is ticked, outlasts asking again, and is printed by itself', async () => {
  const page = await open({ language: 'zh-CN', prepare: (p) => p.addInitScript(() => {
    window.print = () => { window.printed = { only: document.body.dataset.print, text: document.getElementById('sheet')?.textContent, ticks: document.querySelectorAll('#sheet input:checked').length }; dispatchEvent(new Event('afterprint')); };
  }) });
  const plan = await ask(page, '02-full-7b');
  const unfolded = async () => { await page.locator('.card details').first().evaluate((d) => { d.open = true; }); await page.waitForSelector('.card .ticks'); };
  await unfolded();
  const list = plan.options[0].checklist;
  assert.equal(await page.locator('.card[data-label=A] .ticks input').count(), list.length);
  await page.locator('.card[data-label=A] .ticks input').nth(0).check();
  await page.locator('.card[data-label=A] .ticks input').nth(2).check();
  assert.match(await page.innerText('.card[data-label=A] .checklist .said'), new RegExp(`2 / ${list.length}`));
  await page.locator('.card[data-label=A] .checklist .bar button').click();
  const printed = await page.evaluate(() => window.printed);
  assert.equal(printed.only, 'sheet');
  assert.equal(printed.ticks, 2);
  for (const item of list) assert.ok(printed.text.includes(item.text), item.code);
  assert.equal(await page.locator('#sheet').count(), 0);
  await page.evaluate(() => { document.querySelector('.card details').open = false; });
  await ask(page, '02-full-7b');
  await unfolded();
  assert.equal(await page.locator('.card[data-label=A] .ticks input:checked').count(), 2);
  await page.done();
});

test('on paper stands the plan and not the form', async () => {
  const page = await open({ language: 'zh-CN', colorScheme: 'dark', width: 700 }); // as wide as A4 between its margins
  const plan = await ask(page, '01-lora-7b');
  await page.emulateMedia({ media: 'print' });
  assert.ok(await page.locator('.ask').isHidden());
  assert.ok(await page.locator('.summary .total').isVisible());
  assert.ok((await page.innerText('.summary')).includes(plan.name));
  const dark = await page.evaluate(() => [...document.querySelectorAll('#results *')].filter((e) => e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())).filter((e) => {
    const [r, g, b] = getComputedStyle(e).color.match(/[\d.]+/g).map(Number);
    return 0.299 * r + 0.587 * g + 0.114 * b > 140;
  }).map((e) => e.outerHTML.slice(0, 80)));
  assert.deepEqual(dark, [], 'ink is dark on paper');
  const wide = await page.evaluate(() => [...document.querySelectorAll('#results table')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map((e) => e.textContent.slice(0, 40)));
  assert.deepEqual(wide, [], 'no table is cut off');
  assert.ok((await page.pdf({ format: 'A4' })).length > 20000);
  await page.done();
});

test('readings are diagnosed and fill the form with one click, and the plan starts with the verdict', async () => {
  const page = await open({ language: 'zh-CN' });
  await choose(page, '02-full-7b');
  await page.locator('#g-measured > summary').click();
  await page.locator('#diagnosis summary').click();
  await page.click('#diagnosis-ask');
  assert.match(await page.innerText('#diagnosis-answer'), /请先粘贴/);
  const paste = reading('smi-a100x4-data-pipeline-crlf-chinese.txt');
  await page.fill('#diagnosis-readings', paste);
  await page.click('#diagnosis-ask');
  await page.waitForSelector('#diagnosis-fill');
  const d = await post(page, '/api/v1/diagnoses', { nvidia_smi: paste, language: 'zh-CN' });
  const text = await page.innerText('#diagnosis-answer');
  for (const what of [d.verdict_text, ...d.findings.map((f) => f.text)]) assert.ok(text.includes(what), what);
  assert.equal(await page.locator('#diagnosis-answer tbody tr').count(), d.per_gpu.length);
  await page.click('#diagnosis-fill');
  assert.equal(await page.inputValue('#f-m_gpu'), d.measured.gpu);
  assert.equal(await page.inputValue('#f-m_gpus'), String(d.measured.gpus));
  assert.equal(await page.inputValue('#f-m_verdict'), d.measured.verdict);
  assert.equal(Number(await page.inputValue('#f-m_util')), d.measured.gpu_util_pct);
  const request = page.waitForRequest((r) => r.method() === 'POST' && r.url().endsWith('/plans'));
  const plan = await submit(page);
  assert.deepEqual((await request).postDataJSON().workload.measured, Object.fromEntries(Object.entries(d.measured).filter(([, v]) => v !== null)));
  assert.ok(plan.summary.diagnosis);
  assert.ok((await page.innerText('.summary')).includes(plan.summary.diagnosis.text));
  // A log goes the same way, and the box keeps what was pasted when the language changes.
  await page.fill('#diagnosis-readings', '');
  await page.fill('#diagnosis-log', reading('log-megatron-unstable.txt'));
  await page.click('#diagnosis-ask');
  await page.waitForFunction(() => /迭代时间不稳/.test(document.getElementById('diagnosis-answer').textContent));
  await page.click('[data-lang=en]');
  await page.waitForFunction(() => document.documentElement.lang === 'en' && document.querySelector('#diagnosis-log')?.value.length > 0);
  await settled(page);
  await page.done();
});

test('a plan is taken along as CSV, as JSON and as an address for spreadsheets', async () => {
  const page = await open({ language: 'zh-CN' });
  for (const preset of examples) {
    const plan = await ask(page, preset);
    const saved = async (id) => {
      const [file] = await Promise.all([page.waitForEvent('download'), page.click(id)]);
      return [file.suggestedFilename(), readFileSync(await file.path(), 'utf8')];
    };
    const [name, csv] = await saved('#take-csv');
    assert.equal(name, `suanpan-${plan.plan_id}.csv`);
    const rows = csv.replace(/^\uFEFF/, '').trim().split('\r\n');
    assert.equal(rows.length, plan.options.length + 1, preset);
    assert.ok(rows[0].startsWith('方案编号'), rows[0].slice(0, 30));
    plan.options.forEach((o, i) => assert.ok(rows[i + 1].includes(`,${o.total_cost_to_finish.amount},`), `${preset} ${o.label}`));
    if (preset === examples[0]) assert.deepEqual(JSON.parse((await saved('#take-json'))[1]), plan);
    await unfold(page, '#p-take');
    const address = await page.locator('#p-take details').first().locator('pre').first().innerText();
    const there = await page.evaluate(async (url) => (await fetch(`${url}&bom=0&cols=gross_cny`)).text(), address);
    assert.deepEqual(there.trim().split('\r\n').slice(1), plan.options.map((o) => o.total_cost_to_finish.amount), preset);
  }
  await page.done();
});

test('an assumption of the answer is found, stated otherwise, and taken', async () => {
  const page = await open({ language: 'en' });
  const plan = await ask(page, '04-qlora-70b');
  await page.locator('#p-assumptions details').evaluate((d) => { d.open = true; });
  await page.waitForSelector('#assumption-filter');
  const figures = plan.assumptions.filter((a) => a.value !== null);
  assert.equal(await page.locator('#p-assumptions tbody tr').count(), figures.length);
  await page.fill('#assumption-filter', 'validate_days_min');
  assert.equal(await page.locator('#p-assumptions tbody tr').count(), 1);
  await page.fill('#assumption-filter', 'own_years');
  await page.locator('#p-assumptions tbody button').click();
  assert.equal(await page.evaluate(() => document.activeElement.value), '3');
  await page.evaluate(() => document.activeElement.select());
  await page.keyboard.type('4');
  const next = await submit(page);
  assert.equal(next.assumptions.find((a) => a.name === 'own_years').value, 4);
  await page.done();
});

test('a model is given by name, by figures or by its configuration, and each excludes the others', async () => {
  const page = await open({ language: 'en' });
  await choose(page, '01-lora-7b');
  const sent = async () => { const [request] = await Promise.all([page.waitForRequest((r) => r.method() === 'POST'), submit(page)]); return request.postDataJSON().workload.model; };
  assert.deepEqual(await sent(), { preset: 'qwen2.5-7b' });
  await page.selectOption('#f-model_from', 'numbers');
  await page.fill('#f-params_b', '8');
  await page.locator('#g-model .rare > summary').click();
  await page.selectOption('#f-tied_embeddings', 'false');
  assert.deepEqual(await sent(), { params_b: 8, tied_embeddings: false });
  await page.selectOption('#f-model_from', 'config');
  await page.fill('#f-config', '{"model_type":"qwen2","hidden_size":3584,"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,"intermediate_size":18944,"vocab_size":152064}');
  assert.equal((await sent()).config.hidden_size, 3584);
  assert.match(await page.innerText('.summary'), /7\.6/);
  await page.done();
});

test('a quote in dollars is in dollars throughout', async () => {
  const page = await open({ language: 'zh-CN' });
  await choose(page, '02-full-7b');
  await page.selectOption('#f-currency', 'USD');
  const plan = await submit(page);
  assert.equal(plan.currency, 'USD');
  await unfold(page, '.card[data-label=A]');
  const yuan = await page.evaluate(() => [...document.querySelectorAll('.summary, .card[data-label=A] .phases .sum, #p-compare td, #p-table td, #p-sections svg')].filter((e) => e.textContent.includes('¥')).map((e) => e.textContent.slice(0, 60)));
  assert.deepEqual(yuan, []);
  assert.match(await page.innerText('.summary .total'), /\$/);
  await page.done();
});

test('a service that bursts says what of its peak goes where', async () => {
  const page = await open({ language: 'en' });
  await choose(page, '08-serve-70b-latency');
  const plan = await submit(page);
  const hybrid = plan.options.find((o) => o.inference_reserve.burst);
  const away = hybrid.inference_reserve.burst;
  assert.ok(away.gpus > 0 && away.share_of_peak > 0);
  await unfold(page, `.card[data-label=${hybrid.label}]`);
  const told = page.locator(`.card[data-label=${hybrid.label}] dl`).filter({ hasText: 'at the far end' });
  assert.match(await told.innerText(), new RegExp(`${away.gpus} of .*${hybrid.supply.find((s) => s.sku === away.sku).gpu_name}`));
  await page.done();
});

test('the inputs that time left out are followed with one press', async () => {
  const page = await open({ language: 'en' });
  await choose(page, '08-serve-70b-latency');
  const plan = await submit(page);
  assert.ok(plan.sensitivity_unsettled.length > 0);
  const [answer] = await Promise.all([page.waitForResponse((r) => r.url().includes('/plans') && r.request().method() === 'POST'), page.getByRole('button', { name: 'Follow them all' }).click()]);
  const all = await answer.json();
  assert.deepEqual(all.sensitivity_unsettled, []);
  assert.ok(all.sensitivity.every((point) => point.confirmed));
  await page.done();
});

test('one service can serve another model than the one that is trained', async () => {
  const page = await open({ language: 'en' });
  await choose(page, '16-nightly-batch');
  await page.locator('#g-serving .rare > summary').click();
  assert.equal(await page.inputValue('#f-s_model'), example('16-nightly-batch').serving.model.preset);
  const plan = await submit(page);
  assert.ok(plan.options[0].inference_reserve.batch.windows.length > 0);
  await unfold(page, '.card[data-label=A]');
  assert.equal(await page.locator('.card[data-label=A] table').filter({ hasText: 'Hours a day' }).locator('tbody tr').count(), plan.options[0].inference_reserve.batch.windows.length);
  await page.done();
});

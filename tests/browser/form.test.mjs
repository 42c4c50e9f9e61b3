// form.test.mjs — the form as a person meets it: presets, results, refusals, both languages, both colour schemes, phones.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { accessible, amounts, ask, choose, example, examples, open, post, serve, settled, shots, submit, unfold } from './page.mjs';

serve();

test('every preset gives an answer on the page', async () => {
  const page = await open({ language: 'zh-CN' });
  assert.deepEqual(await page.locator('[data-preset]').evaluateAll((all) => all.map((b) => b.dataset.preset)), examples);
  for (const preset of examples) {
    await ask(page, preset);
    await unfold(page, '#results');
    const text = await page.innerText('#plan');
    assert.ok(!/\[[a-z_]+(\.[\w/-]+)+\]/.test(text), `${preset}: a text is missing: ${/\[[a-z_]+(\.[\w/-]+)+\]/.exec(text)?.[0]}`);
    assert.ok(!/undefined|NaN|\[object/.test(text), `${preset}: ${/.{30}(undefined|NaN|\[object).{30}/s.exec(text)?.[0]}`);
    // Filled into the form and asked from there, an example is still the same workload: the same answer, reserve included.
    const straight = await post(page, '/api/v1/plans', { workload: { ...example(preset), language: 'zh-CN' } });
    assert.equal(amounts(await page.innerText('.summary .total')), straight.options[0].total_cost_to_finish.amount, preset);
    assert.equal(await page.locator('#plan .card').count(), straight.options.length, preset);
  }
  await page.done();
});

for (const language of ['zh-CN', 'en'])
  for (const colorScheme of ['light', 'dark'])
    test(`form and results are accessible: ${language}, ${colorScheme}`, async () => {
      const page = await open({ language, colorScheme });
      await unfold(page, '#form');
      await accessible(page, 'form, everything open');
      await page.evaluate(() => document.querySelectorAll('#form details').forEach((d) => { d.open = false; }));
      await ask(page, colorScheme === 'light' ? '02-full-7b' : '16-nightly-batch');
      await page.locator('.card details').first().evaluate((d) => { d.open = true; });
      await page.waitForSelector('.card .part');
      await page.locator('#p-assumptions details').evaluate((d) => { d.open = true; });
      await page.waitForSelector('#assumption-filter');
      await page.fill('#assumption-filter', 'months'); // a few rows stand for all
      await accessible(page, 'results, a card open', '#results');
      assert.equal(await page.getAttribute('html', 'lang'), language);
      await page.screenshot({ path: join(shots, `form-${language}-${colorScheme}.png`) });
      await page.done();
    });

test('a refusal names its field, takes the focus and loses nothing', async () => {
  const page = await open({ language: 'en' });
  await choose(page, '01-lora-7b');
  await page.fill('#f-tokens', '-5');
  await page.fill('#f-deadline_on', '2020-01-01');
  await page.locator('#g-constraints .rare > summary').click();
  await page.fill('#f-wan_gbps', '1e9');
  await page.locator('#g-constraints .rare > summary').click();
  await page.click('#go');
  await page.waitForSelector('#errors:not([hidden])');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'errors');
  for (const id of ['tokens', 'deadline_on', 'wan_gbps']) {
    assert.equal(await page.getAttribute(`#f-${id}`, 'aria-invalid'), 'true', `${id}: ${await page.innerText('#errors')}`);
    assert.ok((await page.innerText(`#e-${id}`)).length > 5, id);
    assert.ok((await page.getAttribute(`#f-${id}`, 'aria-describedby')).includes(`e-${id}`), id);
  }
  assert.ok(await page.locator('#f-wan_gbps').isVisible(), 'what a fault lies folded in is opened');
  await page.click('#errors a[href="#f-wan_gbps"]');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'f-wan_gbps');
  assert.equal(await page.inputValue('#f-tokens'), '-5');
  await page.locator('#f-wan_gbps').blur();
  assert.equal(await page.getAttribute('#f-wan_gbps', 'aria-invalid'), 'true', 'passing through a refused field mends nothing');
  await accessible(page, 'refusal', '.ask');
  await page.fill('#f-tokens', '2e8');
  await page.fill('#f-deadline_on', '');
  await page.fill('#f-wan_gbps', '');
  await submit(page);
  assert.ok(await page.locator('#errors').isHidden());
  await page.done();
});

test('a fault without a field of its own finds the nearest that is asked, a figure among many its own row', async () => {
  const page = await open({ language: 'en' });
  await choose(page, '01-lora-7b');
  await page.fill('#f-tokens', '');
  await page.locator('#g-constraints .rare > summary').click();
  await page.fill('#f-assumptions', 'month_days');
  await page.evaluate(() => document.activeElement.select());
  await page.keyboard.type('-4');
  await page.fill('#f-assumptions', 'own_years');
  await page.click('#go');
  await page.waitForSelector('#errors:not([hidden])');
  assert.equal(await page.getAttribute('#f-tokens', 'aria-invalid'), 'true', 'no amount of work: the field of the amount');
  const rows = page.locator('[data-field=assumptions] .figure input');
  assert.deepEqual(await rows.evaluateAll((all) => all.map((e) => e.getAttribute('aria-invalid'))), ['true', null]);
  await page.locator('#errors a', { hasText: 'assumptions' }).click();
  assert.equal(await page.evaluate(() => document.activeElement.value), '-4');
  await page.done();
});

test('what is no figure is told on leaving the field, without asking the service', async () => {
  const page = await open({ language: 'zh-CN' });
  let asked = 0;
  page.on('request', (r) => { if (r.method() === 'POST') asked += 1; });
  const left = async (id, text) => { await page.fill(`#f-${id}`, text); await page.locator(`#f-${id}`).blur(); return page.innerText(`#e-${id}`); };
  assert.match(await left('tokens', '很多'), /数字/);
  assert.equal(await page.getAttribute('#f-tokens', 'aria-invalid'), 'true');
  assert.match(await left('seq_len', '1.5'), /整数/);
  assert.match(await left('runs', '0'), /1/);
  assert.equal(await left('tokens', '20亿'), '');
  assert.equal(await page.getAttribute('#f-tokens', 'aria-invalid'), null);
  assert.equal(await page.innerText('#s-tokens'), '= 2,000,000,000');
  await page.fill('#f-seq_len', '4096');
  await page.fill('#f-runs', '2');
  assert.equal(asked, 0);
  const request = page.waitForRequest((r) => r.method() === 'POST');
  await page.click('#go');
  assert.equal((await request).postDataJSON().workload.training.tokens, 2e9);
  await settled(page);
  await page.done();
});

test('the keyboard alone reaches a plan', async () => {
  const page = await open({ language: 'en' });
  const press = async (selector, limit) => {
    for (let i = 0; i < limit; i += 1) {
      await page.keyboard.press('Tab');
      if (await page.evaluate((s) => document.activeElement.matches(s), selector)) { await page.keyboard.press('Enter'); return; }
    }
    assert.fail(`${selector} was not reached by Tab`);
  };
  await press('[data-preset="07-serve-7b-50-users"]', 40);
  await page.waitForSelector('[data-preset="07-serve-7b-50-users"][aria-pressed=true]');
  await press('#go', 120);
  await settled(page);
  await page.done();
});

for (const width of [320, 768, 1280, 1920])
  test(`${width} pixels need no sideways scrolling, with all of it open`, async () => {
    for (const [language, preset, colorScheme] of [['zh-CN', '16-nightly-batch', 'light'], ['en', '15-hybrid-shareable-runs', 'dark']]) {
      const page = await open({ language, colorScheme, width, height: 900 });
      await ask(page, preset);
      await unfold(page, '.ask');
      await unfold(page, '.panel');
      await unfold(page, '.card[data-label=A]');
      const wide = await page.evaluate(() => {
        const room = document.documentElement.clientWidth;
        const out = [...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > room + 1 && !e.closest('.scroll, pre, .ask > [aria-hidden]')).map((e) => e.outerHTML.slice(0, 120));
        return { room, page: document.documentElement.scrollWidth, out: out.slice(0, 3) };
      });
      assert.ok(wide.page <= wide.room, `${language}: page is ${wide.page} px wide in ${wide.room}: ${wide.out}`);
      assert.deepEqual(wide.out, [], language);
      await page.done();
    }
  });

test('a link carries the workload; a change of language keeps it', async () => {
  const page = await open({ language: 'en' });
  await ask(page, '10-vision-measured');
  const link = page.url();
  assert.equal(await page.innerText('#p-take .copyable pre'), link);
  const total = await page.innerText('.summary .total');
  const second = await open({ language: 'en', path: new URL(link).hash });
  await settled(second);
  assert.equal(await second.innerText('.summary .total'), total);
  await second.click('[data-lang="zh-CN"]');
  await second.waitForFunction(() => document.documentElement.lang === 'zh-CN' && !document.getElementById('results').hasAttribute('aria-busy') && document.querySelector('#plan .summary'));
  assert.equal(await second.inputValue('#f-steps'), '100000');
  await second.done();
  await page.done();
});

test('what is typed outlasts a reload of the tab and no other', async () => {
  const page = await open({ language: 'en' });
  await choose(page, '05-full-70b');
  await page.fill('#f-name', 'Kept for the tab');
  await page.reload();
  await page.waitForSelector('body[data-ready=yes]');
  assert.equal(await page.inputValue('#f-name'), 'Kept for the tab');
  assert.equal(await page.inputValue('#f-model'), 'qwen2.5-72b');
  assert.equal(await page.evaluate(() => localStorage.length), 0);
  await page.done();
});

test('the results say so when the form has moved on', async () => {
  const page = await open({ language: 'en' });
  await ask(page, '01-lora-7b');
  assert.ok(await page.locator('#stale').isHidden());
  await page.fill('#f-runs', '7');
  assert.ok(await page.locator('#stale').isVisible());
  await page.fill('#f-runs', '4');
  assert.ok(await page.locator('#stale').isHidden());
  await page.done();
});

test('a busy service is waited for with a countdown, a silent one can be left, a lost one asked again', async () => {
  const page = await open({ language: 'en', expected: /status of|net::ERR/, prepare: (p) => p.clock.install() });
  await ask(page, '01-lora-7b');
  const plans = '**/api/v1/plans';
  await page.route(plans, (route) => route.fulfill({ status: 503, headers: { 'Retry-After': '3' }, contentType: 'application/problem+json', body: '{"title":"Too much in flight","status":503,"code":2001}' }));
  await page.click('#go');
  await page.waitForSelector('#errors:not([hidden])');
  assert.match(await page.innerText('#errors strong'), /3/);
  assert.ok(await page.locator('#errors button').isDisabled());
  await page.clock.runFor(3500);
  assert.ok(await page.locator('#errors button').isEnabled());
  await page.unroute(plans);
  await page.route(plans, () => {}); // never answers
  await page.click('#errors button');
  await page.waitForSelector('#results[aria-busy=true]');
  assert.ok(await page.locator('#plan .summary').isVisible(), 'the last answer stays');
  await page.click('#cancel');
  await page.waitForFunction(() => !document.getElementById('results').hasAttribute('aria-busy'));
  assert.ok(await page.locator('#go').isEnabled() && await page.locator('#cancel').isHidden());
  await page.unroute(plans);
  await page.route(plans, (route) => route.abort());
  await page.click('#go');
  await page.waitForFunction(() => /not answer/.test(document.getElementById('errors').textContent));
  await page.unroute(plans);
  const reply = page.waitForResponse('**/api/v1/plans');
  await page.click('#errors button');
  assert.equal((await reply).status(), 200);
  await page.waitForFunction(() => document.getElementById('errors').hidden);
  await page.route('**/{examples,i18n}/**', (route) => route.abort());
  await page.click('[data-preset="02-full-7b"]');
  await page.waitForSelector('#errors:not([hidden])');
  assert.equal(await page.inputValue('#f-method'), 'lora', 'what stood in the form stays');
  await page.click('[data-lang="zh-CN"]');
  assert.equal(await page.getAttribute('html', 'lang'), 'en');
  await page.unroute('**/{examples,i18n}/**');
  await page.click('[data-preset="02-full-7b"]');
  await page.waitForSelector('[data-preset="02-full-7b"][aria-pressed=true]');
  assert.ok(await page.locator('#errors').isHidden());
  await page.done();
});

test('cards, suppliers, kinds and figures of assumptions are chosen from the catalog and can be taken back', async () => {
  const page = await open({ language: 'en' });
  await choose(page, '01-lora-7b');
  await page.locator('#g-constraints .rare > summary').click();
  await page.fill('#f-gpus', 'a100-sxm4-80g');
  await page.fill('#f-gpus', 'rtx-4090-24g');
  assert.equal(await page.locator('[data-field=gpus] .chip').count(), 2);
  await page.locator('[data-field=gpus] .chip button').first().click();
  await page.check('#f-kinds');
  await page.fill('#f-assumptions', 'month_days');
  await page.keyboard.type('31'); // the new figure has the focus
  await page.evaluate(() => document.activeElement.select());
  await page.keyboard.type('31');
  const request = page.waitForRequest((r) => r.method() === 'POST');
  await page.click('#go');
  const { workload } = (await request).postDataJSON();
  assert.deepEqual(workload.constraints.gpus, ['rtx-4090-24g']);
  assert.deepEqual(workload.constraints.kinds, ['single_machine']);
  assert.deepEqual(workload.assumptions, { month_days: 31 });
  await settled(page);
  await page.locator('[data-field=assumptions] .figure button').click();
  assert.equal(await page.locator('[data-field=assumptions] .figure').count(), 0);
  await page.done();
});

// form.test.mjs — the form as a person meets it: presets, results, refusals, both languages, both colour schemes.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { out, startBrowser, startService } from './service.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const examples = readdirSync(join(root, 'examples')).filter((f) => f.endsWith('.json')).map((f) => f.replace(/\.json$/, ''));
const shots = join(out, 'screenshots');
let service, browser;

before(async () => {
  mkdirSync(shots, { recursive: true });
  [service, browser] = await Promise.all([startService(), startBrowser()]);
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

// A page that fails the test on any console error or any request that leaves the origin.
async function open({ language = 'zh-CN', colorScheme = 'light', width = 1400, height = 1000 } = {}) {
  const context = await browser.newContext({ colorScheme, viewport: { width, height }, locale: language });
  const page = await context.newPage();
  page.trouble = [];
  page.on('console', (m) => { if (m.type() === 'error' && !/status of 422/.test(m.text())) page.trouble.push(m.text()); });
  page.on('pageerror', (e) => page.trouble.push(String(e)));
  page.on('request', (r) => { if (!r.url().startsWith(service.url) && !r.url().startsWith('data:')) page.trouble.push(`left the origin: ${r.url()}`); });
  await page.goto(`${service.url}/?lang=${language}`);
  await page.waitForSelector('body[data-ready=yes]');
  return page;
}

async function ask(page, preset) {
  await page.click(`[data-preset="${preset}"]`);
  await page.waitForSelector(`[data-preset="${preset}"][aria-pressed=true]`);
  await page.click('#go');
  await page.waitForSelector('#plan .summary');
  await page.waitForFunction(() => !document.getElementById('results').hasAttribute('aria-busy'));
}

const amounts = (text) => text.replace(/[^\d.]/g, '');

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
async function accessible(page, where) {
  // The whole page at once: what the sticky buttons half cover at one scroll position is no small target.
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width: page.viewportSize().width, height });
  const { violations } = await new AxeBuilder({ page }).withTags(tags).analyze();
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.slice(0, 2).map((n) => n.html.slice(0, 120)).join(' | ')}`), [], where);
}

test('both catalogs have the same keys and placeholders', () => {
  const [zh, en] = ['zh-CN', 'en'].map((l) => JSON.parse(readFileSync(join(root, `static/i18n/${l}.json`), 'utf8')));
  assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort());
  for (const key of Object.keys(en))
    assert.deepEqual((zh[key].match(/\{\w+\}/g) ?? []).sort(), (en[key].match(/\{\w+\}/g) ?? []).sort(), key);
});

test('every preset gives an answer on the page', async () => {
  const page = await open({ language: 'zh-CN' });
  for (const preset of examples) {
    await ask(page, preset);
    const text = await page.innerText('#plan');
    assert.ok(!/\[[a-z_]+(\.[\w-]+)+\]/.test(text), `${preset}: a text is missing: ${/\[[a-z_]+(\.[\w-]+)+\]/.exec(text)?.[0]}`);
    assert.ok(!/undefined|NaN|\[object/.test(text), `${preset}: ${/.{30}(undefined|NaN|\[object).{30}/s.exec(text)?.[0]}`);
    // Filled into the form and asked from there, an example is still the same workload: the same answer, reserve included.
    const { workload } = JSON.parse(readFileSync(join(root, `examples/${preset}.json`), 'utf8'));
    const straight = await page.evaluate(async (body) => (await fetch('/api/v1/plans', { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })).json(),
      JSON.stringify({ workload: { ...workload, language: 'zh-CN' } }));
    assert.equal(amounts(await page.innerText('.summary .total')), straight.options[0].total_cost_to_finish.amount, preset);
    assert.equal(await page.locator('#plan .card').count(), straight.options.length, preset);
    assert.ok(await page.locator('#plan .card').count() > 0 || /没有可行方案/.test(text), `${preset}: neither options nor a reason`);
  }
  assert.deepEqual(page.trouble, []);
  await page.context().close();
});

for (const language of ['zh-CN', 'en'])
  for (const colorScheme of ['light', 'dark'])
    test(`form and results are accessible: ${language}, ${colorScheme}`, async () => {
      const page = await open({ language, colorScheme });
      await accessible(page, 'form');
      await ask(page, '03-full-14b-deadline');
      await page.locator('.card details').first().evaluate((d) => { d.open = true; });
      await accessible(page, 'results');
      assert.equal(await page.getAttribute('html', 'lang'), language);
      await page.screenshot({ path: join(shots, `form-${language}-${colorScheme}.png`), fullPage: true });
      assert.deepEqual(page.trouble, []);
      await page.context().close();
    });

test('a refusal names its field, takes the focus and loses nothing', async () => {
  const page = await open({ language: 'en' });
  await page.click('[data-preset="01-lora-7b"]');
  await page.waitForSelector('[data-preset="01-lora-7b"][aria-pressed=true]'); // its example is fetched first
  await page.fill('#f-tokens', '-5');
  await page.fill('#f-deadline_on', '2020-01-01');
  await page.click('#go');
  await page.waitForSelector('#errors:not([hidden])');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'errors');
  assert.equal(await page.getAttribute('#f-tokens', 'aria-invalid'), 'true');
  assert.ok((await page.innerText('#errors')).length > 20);
  assert.equal(await page.inputValue('#f-tokens'), '-5');
  await accessible(page, 'refusal');
  await page.fill('#f-tokens', '2e8');
  await page.fill('#f-deadline_on', '');
  await page.click('#go');
  await page.waitForSelector('#plan .summary');
  assert.ok(await page.locator('#errors').isHidden());
  await page.context().close();
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
  await page.waitForSelector('#plan .summary');
  await page.context().close();
});

test('a phone of 320 pixels needs no sideways scrolling', async () => {
  const page = await open({ language: 'zh-CN', width: 320, height: 700 });
  await ask(page, '01-lora-7b');
  await page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
  const [inner, scroll] = await page.evaluate(() => [document.documentElement.clientWidth, document.documentElement.scrollWidth]);
  assert.ok(scroll <= inner, `page is ${scroll} px wide in ${inner}`);
  await page.context().close();
});

test('a link carries the workload; a change of language keeps it', async () => {
  const page = await open({ language: 'en' });
  await ask(page, '10-vision-measured');
  const link = page.url();
  const total = await page.innerText('.summary .total');
  const second = await (await browser.newContext({ locale: 'en' })).newPage();
  await second.goto(link);
  await second.waitForSelector('#plan .summary');
  assert.equal(await second.innerText('.summary .total'), total);
  await second.click('[data-lang="zh-CN"]');
  await second.waitForFunction(() => document.documentElement.lang === 'zh-CN');
  assert.equal(await second.inputValue('#f-steps'), '100000');
  await second.context().close();
  await page.context().close();
});

// page.mjs — the form in a real browser against the real service, as every test of it needs it.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { out, startBrowser, startService } from './service.mjs';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const examples = readdirSync(join(root, 'examples')).filter((f) => f.endsWith('.json')).map((f) => f.replace(/\.json$/, ''));
export const example = (name) => JSON.parse(readFileSync(join(root, `examples/${name}.json`), 'utf8')).workload;
export const shots = join(out, 'screenshots');
export const running = { service: null, browser: null };

export function serve() {
  before(async () => {
    mkdirSync(shots, { recursive: true });
    [running.service, running.browser] = await Promise.all([startService(), startBrowser()]);
  });
  after(async () => {
    await running.browser?.close();
    await running.service?.stop();
  });
}

// A page that notes any console error and any request that leaves the origin; `close` fails the test on them.
export async function open({ language = 'zh-CN', colorScheme = 'light', width = 1400, height = 1000, prepare = null, expected = /status of 422/, path = '' } = {}) {
  const context = await running.browser.newContext({ colorScheme, viewport: { width, height }, locale: language, permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  const trouble = [];
  page.on('console', (m) => { if (m.type() === 'error' && !expected.test(m.text())) trouble.push(m.text()); });
  page.on('pageerror', (e) => trouble.push(String(e)));
  page.on('request', (r) => { if (!r.url().startsWith(running.service.url) && !/^(data|blob):/.test(r.url())) trouble.push(`left the origin: ${r.url()}`); });
  if (prepare) await prepare(page);
  await page.goto(`${running.service.url}/?lang=${language}${path}`);
  await page.waitForSelector('body[data-ready=yes]');
  page.done = async () => { assert.deepEqual(trouble, []); await context.close(); };
  return page;
}

export async function choose(page, preset) {
  await page.click(`[data-preset="${preset}"]`);
  await page.waitForSelector(`[data-preset="${preset}"][aria-pressed=true]`); // its example is fetched first
}

export async function settled(page) {
  await page.waitForSelector('#plan .summary');
  await page.waitForFunction(() => !document.getElementById('results').hasAttribute('aria-busy'));
}

// Asks, and returns what the service answered.
export async function submit(page) {
  const reply = page.waitForResponse((r) => r.url().endsWith('/api/v1/plans') && r.request().method() === 'POST');
  await page.click('#go');
  const body = await (await reply).json();
  await settled(page);
  return body;
}

export async function ask(page, preset) {
  await choose(page, preset);
  return submit(page);
}

// Unfolds everything; what is filled when it is first opened is waited for.
export async function unfold(page, within = 'body') {
  await page.evaluate(async (selector) => {
    for (let left = 20; left > 0; left -= 1) {
      const closed = [...document.querySelectorAll(`${selector} details:not([open])`)];
      if (!closed.length) return;
      for (const box of closed) box.open = true;
      await new Promise((done) => { setTimeout(done, 0); });
      await new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });
    }
  }, within);
}

export const post = (page, path, body, headers = {}) => page.evaluate(async ([to, request, more]) =>
  (await fetch(to, { method: 'POST', body: JSON.stringify(request), headers: { 'Content-Type': 'application/json', ...more } })).json(), [path, body, headers]);

export const amounts = (text) => text.replace(/[^\d.]/g, '');

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
export async function accessible(page, where, within = 'html') {
  // The whole page at once: what the sticky buttons half cover at one scroll position is no small target.
  const was = page.viewportSize();
  const height = await page.evaluate(() => Math.max(document.documentElement.scrollHeight, document.querySelector('.ask').scrollHeight + 200));
  await page.setViewportSize({ width: was.width, height });
  const { violations } = await new AxeBuilder({ page }).include(within).withTags(tags).analyze();
  await page.setViewportSize(was);
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.slice(0, 2).map((n) => n.html.slice(0, 160)).join(' | ')}`), [], where);
}

// service.mjs — starts the real binary on a free port with a fresh database, and Debian's Chromium beside it.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const out = join(root, process.env.SUANPAN_BUILD ?? 'build/release');

export async function startService() {
  const folder = mkdtempSync(join(tmpdir(), 'suanpan-browser-'));
  const child = spawn(join(out, 'suanpan'), ['serve', '--port', '0', '--db', join(folder, 'catalog.db')],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: Object.fromEntries(Object.entries(process.env).filter(([k]) => !k.startsWith('SUANPAN_'))) });
  let log = '';
  const url = await new Promise((done, fail) => {
    const look = (chunk) => {
      log += chunk;
      const match = /http:\/\/127\.0\.0\.1:([1-9]\d*)/.exec(log);
      if (match) done(match[0]);
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.on('exit', (code) => fail(new Error(`the service left with ${code}:\n${log}`)));
    setTimeout(() => fail(new Error(`no address within 20 s:\n${log}`)), 20000).unref();
  });
  return { url, stop: () => new Promise((done) => {
    child.removeAllListeners('exit');
    child.on('exit', () => { rmSync(folder, { recursive: true, force: true }); done(); });
    child.kill('SIGTERM');
  }) };
}

export const startBrowser = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });

// Starts a node and a browser for a test.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

import { injectWallet } from './wallet.mjs';

const PROGRAM =
  process.env.TETRAD ?? fileURLToPath(new URL('../../target/release/tetrad', import.meta.url));
const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const BROWSER = process.env.CHROMIUM ?? BROWSERS.map((name) => `/usr/bin/${name}`).find(existsSync);
/** Directory for screenshots; none are taken if it is unset. */
const PICTURES = process.env.SCREENSHOTS;

/**
 * Running nodes. A failed test leaves some; they share its output, for whose end the runner waits,
 * so they end with its process.
 */
const running = new Set();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** Default options of a node. */
const DEFAULTS = {
  '--listen': '127.0.0.1:0',
  '--ws-listen': '127.0.0.1:0',
  '--exchange-price-tick': '0',
  '--exchange-rate-limit': '0',
};

/** Calls a method of a node at a URL, and resolves to its result. */
async function call(url, method, params) {
  const response = await fetch(`${url}/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const answer = await response.json();
  if (answer.error) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
  return answer.result;
}

/** Starts a node; `stop()` ends it. Prices do not move unless the options say so. */
export async function startNode(...options) {
  const folder = mkdtempSync(join(tmpdir(), 'tetrad-browser-'));
  const ready = join(folder, 'ready.json');
  const defaults = Object.entries(DEFAULTS).filter(([name]) => !options.includes(name));
  const child = spawn(PROGRAM, ['--quiet', '--ready-file', ready, ...defaults.flat(), ...options], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  running.add(child);
  const ended = new Promise((resolve) => child.once('exit', resolve)).then(() =>
    running.delete(child),
  );

  while (!existsSync(ready)) {
    if (child.exitCode !== null) throw new Error(`${PROGRAM} exited with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { rest: url } = JSON.parse(readFileSync(ready, 'utf8'));

  async function stop() {
    if (child.exitCode === null) child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }

  const rpc = (method, ...params) => call(url, method, params);
  return { url, port: new URL(url).port, stop, rpc };
}

/** Collects the errors of a page in `problems`. */
function collectProblems(page, tolerated) {
  page.problems = [];
  const note = (text) => tolerated.test(text) || page.problems.push(text);
  page.on('pageerror', (error) => note(error.stack ?? error.message));
  page.on('console', (message) => message.type() === 'error' && note(message.text()));
}

/**
 * Starts a browser. `open` opens a URL in a profile of its own and collects the errors of the page
 * in `problems`.
 */
export async function startBrowser() {
  if (!BROWSER) throw new Error('Chromium not found: install it, or set CHROMIUM to its path');
  const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] });

  async function open(url, { wallet = null, tolerated = /$^/, blank = false, ...context } = {}) {
    const profile = await browser.newContext({
      viewport: { width: 1360, height: 900 },
      reducedMotion: 'reduce',
      ...context,
    });
    const page = await profile.newPage();
    collectProblems(page, tolerated);
    if (wallet) await page.addInitScript(injectWallet, wallet);
    await page.goto(url);
    if (!blank) await page.waitForSelector('main h1');
    return page;
  }

  async function picture(page, name) {
    if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
  }

  return { open, picture, stop: () => browser.close() };
}

/** Asserts that a page had no errors, and closes it with its profile. */
export function clean(page) {
  assert.deepEqual(page.problems, []);
  return page.context().close();
}

// Starts a node and a browser for a test.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

const PROGRAM =
  process.env.TETRAD ?? fileURLToPath(new URL('../../target/release/tetrad', import.meta.url));
const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const BROWSER = process.env.CHROMIUM ?? BROWSERS.map((name) => `/usr/bin/${name}`).find(existsSync);
/** Directory for screenshots; none are taken if it is unset. */
const PICTURES = process.env.SCREENSHOTS;

/**
 * Nodes that run. A failed test leaves some; they share its output, for whose end the runner waits,
 * so they end with its process.
 */
const running = new Set();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** Starts a node; `stop()` ends it. Prices do not move unless the options say so. */
export async function startNode(...options) {
  const folder = mkdtempSync(join(tmpdir(), 'tetrad-browser-'));
  const ready = join(folder, 'ready.json');
  const defaults = [
    '--listen',
    '127.0.0.1:0',
    '--ws-listen',
    '127.0.0.1:0',
    '--exchange-price-tick',
    '0',
    '--exchange-rate-limit',
    '0',
  ];
  const given = new Set(options.filter((option) => option.startsWith('--')));
  const own = [];
  for (let at = 0; at < defaults.length; at += 2)
    if (!given.has(defaults[at])) own.push(defaults[at], defaults[at + 1]);
  const child = spawn(PROGRAM, ['--quiet', '--ready-file', ready, ...own, ...options], {
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
  const { rest } = JSON.parse(readFileSync(ready, 'utf8'));
  const stop = async () => {
    if (child.exitCode === null) child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const rpc = async (method, ...params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const answer = await (
      await fetch(`${rest}/rpc`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
    ).json();
    if (answer.error) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  };
  return { url: rest, port: new URL(rest).port, stop, rpc };
}

/**
 * Starts a browser. `open` opens a URL in a profile of its own and collects the errors of the page
 * in `problems`.
 */
export async function startBrowser() {
  if (!BROWSER) throw new Error('Chromium not found: install it, or set CHROMIUM to its path');
  const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] });
  const open = async (url, { wallet = null, tolerated = /$^/, blank = false, ...context } = {}) => {
    const profile = await browser.newContext({
      viewport: { width: 1360, height: 900 },
      reducedMotion: 'reduce',
      ...context,
    });
    const page = await profile.newPage();
    page.problems = [];
    const note = (text) => tolerated.test(text) || page.problems.push(text);
    page.on('pageerror', (error) => note(error.stack ?? error.message));
    page.on('console', (message) => message.type() === 'error' && note(message.text()));
    if (wallet) await page.addInitScript(injectWallet, wallet);
    await page.goto(url);
    if (!blank) await page.waitForSelector('main h1');
    return page;
  };
  const picture = async (page, name) => {
    if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
  };
  return { open, picture, stop: () => browser.close() };
}

/** Asserts that a page had no errors, and closes it with its profile. */
export function clean(page) {
  assert.deepEqual(page.problems, []);
  return page.context().close();
}

/**
 * An injected wallet (EIP-1193, announced by EIP-6963). The network is unknown to it at first; it
 * signs with a key of the node, and records the methods it was called with in `window.asked`.
 */
function injectWallet({ account }) {
  const asked = [];
  let chainId = '0x1';
  const known = new Set([chainId]);
  const refuse = (code, message) => Promise.reject(Object.assign(new Error(message), { code }));
  const forward = async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch('/rpc', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const { result, error } = await response.json();
    return error ? refuse(error.code, error.message) : result;
  };
  const request = ({ method, params = [] }) => {
    asked.push(method);
    switch (method) {
      case 'eth_accounts':
        return Promise.resolve([]);
      case 'eth_requestAccounts':
        return Promise.resolve([account]);
      case 'eth_chainId':
        return Promise.resolve(chainId);
      case 'wallet_switchEthereumChain':
        if (!known.has(params[0].chainId)) return refuse(4902, 'Unrecognized chain');
        chainId = params[0].chainId;
        return Promise.resolve(null);
      case 'wallet_addEthereumChain':
        window.added = params[0];
        known.add(params[0].chainId);
        chainId = params[0].chainId;
        return Promise.resolve(null);
      case 'eth_sendTransaction':
        if (window.refusing) return refuse(4001, 'User rejected the request.');
        return forward(method, params);
      default:
        return refuse(4200, `${method} is not supported`);
    }
  };
  window.asked = asked;
  const info = {
    uuid: '6f1c2b1e-0000-4000-8000-000000000000',
    name: 'Test wallet',
    rdns: 'test.wallet',
    icon: 'data:,',
  };
  const announce = () => {
    const detail = Object.freeze({ info, provider: { request, on() {} } });
    window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  };
  window.addEventListener('eip6963:requestProvider', announce);
  announce();
}

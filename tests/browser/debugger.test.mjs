// The debugger in a real browser: source lines, breakpoints, variables by name, and contracts
// without a source.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { encode, encodeCall, fragment } from '../../crates/page/src/page/lib/abi.js';
import { LOOKS, assertAccessible, assertFits } from './accessible.mjs';
import { BOX, deploy, send } from './contracts.mjs';
import { clean, startBrowser, startNode } from './node.mjs';

/**
 * The artifact of hardhat for contracts/Bank.sol: the compiler's input and output (solc without the
 * optimizer, EVM version shanghai, without metadata).
 */
const BUILD = readFileSync(new URL('contracts/bank.json', import.meta.url), 'utf8');
const { input, output } = JSON.parse(BUILD);
const [FILE] = Object.keys(input.sources);
const SOURCE = input.sources[FILE].content.split('\n');
const { Bank, Limits } = output.contracts[FILE];
const LIMIT = 1_000n;

let node;
let browser;
let sender;
let folder;
let limits;
let bank;

const lineOf = (text) => 1 + SOURCE.findIndex((line) => line.includes(text));
const word = (type, value) => encode([{ type, name: '' }], [value]).slice(2);

async function create(contract, type, argument) {
  const hash = await node.rpc('eth_sendTransaction', {
    from: sender,
    data: `0x${contract.evm.bytecode.object}${word(type, argument)}`,
  });
  return (await node.rpc('eth_getTransactionReceipt', hash)).contractAddress;
}

const depositOf = (amount) =>
  send(node, sender, bank, 'deposit(uint128)', [amount], { gas: '0x7a120' });

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tetrad-artifacts-'));
  mkdirSync(join(folder, 'build-info'));
  writeFileSync(join(folder, 'build-info', 'bank.json'), BUILD);
  [node, browser] = await Promise.all([startNode('--artifacts', folder), startBrowser()]);
  [sender] = await node.rpc('eth_accounts');
  limits = await create(Limits, 'uint256', LIMIT);
  bank = await create(Bank, 'address', limits);
});
after(async () => {
  await browser?.stop();
  await node?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const open = (path, options) => browser.open(`${node.url}/#/${path}`, options);
const button = (page, name) => page.locator(`.debug-controls button:has-text("${name}")`);
/** Waits until the debugger shows a line and the content of its step. */
const atLine = async (page, number) => {
  await page.locator(`.source-line.current[data-line="${number}"]`).waitFor();
  await settled(page);
};
/** Waits until the machine and the variables match the step that is shown. */
const settled = (page) =>
  page.waitForFunction(() => {
    const shown = document.querySelector('.debugger');
    return (
      shown?.dataset.step &&
      document
        .querySelector('.debug-status')
        ?.textContent.includes(`Step ${Number(shown.dataset.step).toLocaleString('en')} of`)
    );
  });
/** Waits until the address has the step that is shown. */
const linked = (page) =>
  page.waitForFunction(
    () =>
      new URLSearchParams(location.hash.split('?')[1]).get('step') ===
      document.querySelector('.debugger').dataset.step,
  );
const variable = (page, name) =>
  page.locator('.variables tr', { has: page.locator(`th[title^='${name} (']`) });

test('a failed transaction opens at its failing line, in the contract that failed', async () => {
  const page = await open(`tx/${await depositOf(5_000n)}`);
  await page.click('a:text-is("Go to the failing line")');
  await atLine(page, lineOf('revert TooLarge'));
  assert.equal(await page.locator('.source-line.current.failing').count(), 1);
  await page.locator('p.failure:has-text("TooLarge")').waitFor();
  const frames = page.locator('.frames .frame');
  assert.match(
    await frames.nth(0).textContent(),
    new RegExp(`Limits.*check.*:${lineOf('revert TooLarge')}`),
  );
  assert.match(
    await frames.nth(1).textContent(),
    new RegExp(`Bank.*deposit.*:${lineOf('limits.check(amount)')}`),
  );
  // The caller's line and variables are those of its own contract.
  await frames.nth(1).click();
  await atLine(page, lineOf('limits.check(amount)'));
  await variable(page, 'owner').waitFor();
  await browser.picture(page, 'debugger-failure');
  await clean(page);
});

test('the keyboard steps into, over and out of lines, and the link restores the step', async () => {
  const page = await open(`tx/${await depositOf(300n)}/debug`);
  await settled(page);
  await page.keyboard.press('i');
  while (
    (await page.locator('.source-line.current').getAttribute('data-line')) !==
    String(lineOf('limits.check(amount)'))
  ) {
    await page.keyboard.press('o');
    await settled(page);
  }
  await page.keyboard.press('o');
  await atLine(page, lineOf('total += amount'));
  await page.keyboard.press('b');
  await settled(page);
  assert.match(await page.locator('.frames .frame').first().textContent(), /Limits/);
  await page.keyboard.press('u');
  await atLine(page, lineOf('total += amount'));
  await page.keyboard.press('o');
  await atLine(page, lineOf('count += 1;'));
  await page.keyboard.press('o');
  await atLine(page, lineOf('credit(msg.sender, amount);'));
  await page.keyboard.press('i');
  await settled(page);
  await page.keyboard.press('i');
  await atLine(page, lineOf('Account storage account'));
  await page.keyboard.press('o');
  await atLine(page, lineOf('account.balance += amount'));
  await linked(page);
  const other = await browser.open(page.url());
  await atLine(other, lineOf('account.balance += amount'));
  await clean(other);
  // In a field, keys enter text.
  await page.focus('#query');
  await page.keyboard.press('b');
  assert.equal(await page.inputValue('#query'), 'b');
  await atLine(page, lineOf('account.balance += amount'));
  await clean(page);
});

test('the execution continues to a breakpoint, which the link keeps', async () => {
  const page = await open(`tx/${await depositOf(200n)}/debug`);
  await settled(page);
  const line = lineOf('account.since = 7');
  await page.click(`.line-number[aria-label="Breakpoint at line ${line}"]`);
  await page
    .locator(`.line-number[aria-label="Breakpoint at line ${line}"][aria-pressed="true"]`)
    .waitFor();
  await button(page, 'Continue').click();
  await atLine(page, line);
  await linked(page);
  const other = await browser.open(page.url().replace(/step=\d+/, 'step=0'));
  await settled(other);
  await button(other, 'Continue').click();
  await atLine(other, line);
  await clean(other);
  // Without another breakpoint it runs to the end; then it returns to this one.
  await page.keyboard.press('c');
  await page.locator(`.debug-status:not(:has-text("line ${line}."))`).waitFor();
  await page.keyboard.press('r');
  await atLine(page, line);
  await page.keyboard.press('t');
  await page.locator('.line-number[aria-pressed="true"]').waitFor({ state: 'detached' });
  await clean(page);
});

test('variables have their names, types and values at the step', async () => {
  const before = await node
    .rpc('eth_call', { to: bank, data: encodeCall(fragment('total()'), []) }, 'latest')
    .then(Number);
  const page = await open(
    `tx/${await depositOf(123n)}/debug?breakpoints=${encodeURIComponent(JSON.stringify({ [FILE]: [lineOf('limits.check(amount)'), lineOf('notes["last deposit"]')] }))}`,
  );
  await settled(page);
  await page.keyboard.press('c');
  await atLine(page, lineOf('limits.check(amount)'));
  const value = async (name) =>
    (await variable(page, name).locator('td').nth(1).textContent()).replace(/before:.*/, '');
  assert.equal(await value('total'), String(before));
  assert.equal(await value('open'), 'true');
  assert.equal(await value('offsets[2]'), '-300');
  assert.equal(await value('name'), '"A bank"');
  await variable(page, 'owner')
    .locator(
      `a[title="${await page.evaluate(() => document.querySelector('#account').value.split('/')[1])}" i]`,
    )
    .waitFor();
  await page.keyboard.press('c');
  await atLine(page, lineOf('notes["last deposit"]'));
  assert.equal(await value('total'), String(before + 123));
  assert.match(await variable(page, 'total').textContent(), new RegExp(`before: ${before}$`));
  assert.equal(await value(`accounts[${sender.toLowerCase()}].since`), '7');
  assert.equal(await value(`tags[${sender.toLowerCase()}][123]`), '0x70616964');
  await browser.picture(page, 'debugger-variables');
  await page.click('.tabs[aria-label="State"] button:text-is("Call data")');
  await page.locator('.arguments :text-is("123")').waitFor();
  await page.click('.tabs[aria-label="State"] button:text-is("Slots")');
  await page.locator('.words tr.changed').first().waitFor();
  await page.click('.tabs[aria-label="State"] button:text-is("Memory")');
  await page.locator('[aria-label="Memory"] td:text-is("0x40")').waitFor();
  await clean(page);
});

test('a contract without a source is stepped through by instruction', async () => {
  const box = await deploy(node, sender, BOX.runtime);
  const page = await open(`tx/${await send(node, sender, box, 'store(uint256)', [42n])}/debug`);
  await settled(page);
  await page.locator('text=The source of').waitFor();
  const op = () => page.locator('.instructions tr.chosen td').nth(2).textContent();
  assert.equal(await op(), 'PUSH0');
  await page.keyboard.press('i');
  await settled(page);
  assert.equal(await op(), 'CALLDATALOAD');
  await page.locator('[aria-label="Stack"] td:text-is("0x0")').waitFor();
  await page.keyboard.press('b');
  await settled(page);
  assert.equal(await op(), 'PUSH0');
  await page.keyboard.press('c');
  await settled(page);
  assert.equal(await op(), 'STOP');
  await page.click('.tabs[aria-label="State"] button:text-is("Slots")');
  await page.locator('.words tr.changed td:text-is("0x2a")').waitFor();
  await clean(page);
});

test('a failed simulation opens at its failing line', async () => {
  const data = encodeCall(fragment('deposit(uint128)'), [LIMIT + 1n]);
  const page = await open(`simulate?from=${sender}&to=${bank}&data=${data}`);
  await page.click('a:text-is("Go to the failing line")');
  await atLine(page, lineOf('revert TooLarge'));
  await page.locator('a:text-is("a simulation")').waitFor();
  await page.locator('.frames .frame').nth(1).click();
  await variable(page, 'open').waitFor();
  await clean(page);
});

test('state overrides apply to a debugged call', async () => {
  const data = encodeCall(fragment('deposit(uint128)'), [1n]);
  // Slot 0 without the bit of `open`.
  const overrides = JSON.stringify({
    [bank]: { stateDiff: { [`0x${'0'.repeat(64)}`]: `0x${'5'.padStart(64, '0')}` } },
  });
  const page = await open(
    `simulate/debug?from=${sender}&to=${bank}&data=${data}&overrides=${encodeURIComponent(overrides)}&step=failure`,
  );
  await atLine(page, lineOf('require(open, "closed")'));
  assert.equal(await variable(page, 'total').locator('td').nth(1).textContent(), '5');
  assert.equal(await variable(page, 'open').locator('td').nth(1).textContent(), 'false');
  await clean(page);
});

test('a replay at its position has the variables before later transactions of the block', async () => {
  const before = await node
    .rpc('eth_call', { to: bank, data: encodeCall(fragment('count()'), []) }, 'latest')
    .then(Number);
  await node.rpc('evm_setAutomine', false);
  let first;
  try {
    // It reads one slot, so that all others are requested from the node.
    first = await node.rpc('eth_sendTransaction', {
      from: sender,
      to: bank,
      data: encodeCall(fragment('tags(address,uint256)'), [sender, 1n]),
      gas: '0x7a120',
    });
    await node.rpc('eth_sendTransaction', {
      from: sender,
      to: bank,
      data: encodeCall(fragment('deposit(uint128)'), [9n]),
      gas: '0x7a120',
    });
    await node.rpc('evm_mine');
  } finally {
    await node.rpc('evm_setAutomine', true);
  }
  assert.equal((await node.rpc('eth_getTransactionReceipt', first)).transactionIndex, '0x0');
  const page = await open(`simulate/debug?tx=${first}`);
  await settled(page);
  await variable(page, 'count').waitFor();
  assert.equal(await variable(page, 'count').locator('td').nth(1).textContent(), String(before));
  await clean(page);
});

test('a call with overridden code is not shown with the source of the code that it replaces', async () => {
  // The same code has known lines, which must not be used.
  const overrides = JSON.stringify({ [bank]: { code: `0x${Bank.evm.deployedBytecode.object}00` } });
  const data = encodeCall(fragment('total()'), []);
  const page = await open(
    `simulate/debug?from=${sender}&to=${bank}&data=${data}&overrides=${encodeURIComponent(overrides)}`,
  );
  await settled(page);
  await page.locator('text=The source of').waitFor();
  assert.equal(await page.locator('.source-line').count(), 0);
  await clean(page);
});

test('a step that cannot be read shows neither the machine nor the variables of the step before', async () => {
  const page = await open(`tx/${await depositOf(150n)}/debug`);
  await settled(page);
  await page.locator('[aria-label="Stack"], .debugger :text("The stack is empty.")').waitFor();
  await variable(page, 'total').waitFor();
  await page.route('**/rpc', (route) => {
    if (!route.request().postData().includes('enableMemory')) return route.fallback();
    return route.fulfill({
      json: { jsonrpc: '2.0', id: null, error: { code: -32_000, message: 'the step is gone' } },
    });
  });
  await page.keyboard.press('o');
  await page.locator('.debugger .failure:has-text("the step is gone")').waitFor();
  assert.equal(await page.locator('.variables').count(), 0);
  const panel = (name) => page.click(`.tabs[aria-label="State"] button:text-is("${name}")`);
  for (const name of ['Stack', 'Memory', 'Returned']) {
    await panel(name);
    await page.locator('p:text-is("The machine at this step has not been read.")').waitFor();
  }
  await panel('Call data');
  await page.locator('.arguments :text-is("150")').waitFor();

  await page.unroute('**/rpc');
  await page.keyboard.press('o');
  await settled(page);
  await variable(page, 'total').waitFor();
  await panel('Stack');
  await page.locator('[aria-label="Stack"]').waitFor();
  await clean(page);
});

test('a transaction that reverted without data is shown as such', async () => {
  const hash = await node.rpc('eth_sendTransaction', {
    from: sender,
    to: bank,
    data: '0x12345678',
    gas: '0x7a120',
  });
  const page = await open(`tx/${hash}/debug`);
  await page.locator('p.failure:text-is("reverted without a reason")').waitFor();
  await clean(page);
});

test('a recent failed call opens at its failing line', async () => {
  const data = encodeCall(fragment('deposit(uint128)'), [LIMIT + 7n]);
  await assert.rejects(node.rpc('eth_call', { from: sender, to: bank, data }, 'latest'));
  const page = await open('developer');
  const entry = page.locator('.failed-call', { hasText: String(LIMIT + 7n) });
  await entry.locator('summary').first().click();
  await entry.locator('a:text-is("Go to the failing line")').click();
  await atLine(page, lineOf('revert TooLarge'));
  await clean(page);
});

test('an execution with more steps than are shown is marked, with the place of its failure', async () => {
  const hash = await send(node, sender, bank, 'spin()', [], { gas: '0xe4e1c0' });
  const page = await open(`tx/${hash}/debug?step=failure`);
  await page.locator('p.note:has-text("more steps than the 400,000 that are shown")').waitFor();
  await page.locator(`p.note:has-text("Bank.spin (${FILE}:")`).waitFor();
  await settled(page);
  await page.keyboard.press('i');
  await settled(page);
  assert.equal(await button(page, 'Failing line').count(), 0);
  await clean(page);
});

test('the constructor of a contract is stepped through', async () => {
  const hash = await node.rpc('eth_sendTransaction', {
    from: sender,
    data: `0x${Bank.evm.bytecode.object}${word('address', limits)}`,
  });
  const page = await open(
    `tx/${hash}/debug?breakpoints=${encodeURIComponent(JSON.stringify({ [FILE]: [lineOf('limits = limits_')] }))}`,
  );
  await settled(page);
  await page.keyboard.press('c');
  await atLine(page, lineOf('limits = limits_'));
  assert.match(await page.locator('.frames .frame').first().textContent(), /Bank\.create/);
  await variable(page, 'owner').waitFor();
  await clean(page);
});

test('a function whose read fails opens at its failing line', async () => {
  const page = await open(
    `contract/${limits}?tab=read&function=check&args=${encodeURIComponent(JSON.stringify(['5000']))}`,
  );
  await page.click('.result a:text-is("Go to the failing line")');
  await atLine(page, lineOf('revert TooLarge'));
  await clean(page);
});

test('the network’s own contracts have their lines and variables', async () => {
  const { vault, tokens } = await (await fetch(`${node.url}/api/network`)).json();
  const hash = await send(
    node,
    sender,
    vault,
    'swapExactTokensForTokens(address,address,uint256,uint256)',
    [tokens.USDC, tokens.USDC, 1_000n, 0n],
    { gas: '0x7a120' },
  );
  const page = await open(`tx/${hash}/debug?step=failure`);
  await page.locator('.source-line.current.failing').waitFor();
  await settled(page);
  assert.match(
    await page.locator('.debug-status').textContent(),
    /^Failing line: src\/exchange\/.*\.sol, line \d+\./,
  );
  await page.locator('.variables th').first().waitFor();
  await clean(page);
});

test('malicious sources, source maps and layouts stay text, and do not stop the page', async () => {
  const markup = '<img src=x onerror="window.attacked = true">';
  const itself = {
    encoding: 'inplace',
    label: markup,
    numberOfBytes: '32',
    members: Array.from({ length: 500 }, () => ({
      label: markup,
      slot: '0',
      offset: 0,
      type: 't',
    })),
  };
  const byte = { encoding: 'inplace', label: markup, numberOfBytes: '1' };
  const body = {
    sources: {
      [markup]: { content: `${markup}\u202e\n`.repeat(20_000) },
      b: { content: 'x'.repeat(2_000_000) },
      c: 5,
    },
    sourceIds: { [markup]: { id: 0 }, b: { id: 1 }, ['__proto__']: { id: 2 } },
    storageLayout: {
      storage: [
        { label: markup, slot: '0', offset: 0, type: 't' },
        { label: markup, slot: '1', offset: 0, type: 'u' },
      ],
      types: { t: itself, u: byte },
    },
    compilation: { name: markup },
    runtimeBytecode: {
      sourceMap: `5:1:0:i;${'70000:9:0;100:5:1;'.repeat(60_000)}`,
      onchainBytecode: `0x${BOX.runtime}`,
    },
    creationBytecode: { sourceMap: null },
  };
  const box = await deploy(node, sender, BOX.runtime);
  const hash = await send(node, sender, box, 'store(uint256)', [42n]);
  const page = await open('explorer');
  await page.route('**/api/v2/addresses/*', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), is_verified: true } });
  });
  await page.route('**/sourcify/**', (route) => route.fulfill({ json: body }));
  await page.goto(`${node.url}/#/tx/${hash}/debug`);
  await page.locator('.source-line.current').waitFor();
  await settled(page);
  for (const key of 'iioubc') {
    await page.keyboard.press(key);
    await settled(page);
  }
  assert.equal(await page.locator('.debugger img').count(), 0);
  assert.equal(await page.evaluate(() => window.attacked), undefined);
  assert.ok((await page.locator('.source-line').count()) <= 400);
  await clean(page);
});

test('a step to a line that is shown leaves the other lines in the document', async () => {
  const page = await open(`tx/${await depositOf(1n)}/debug`);
  await page.locator('.source-line.current').waitFor();
  await settled(page);
  const currentLine = () => page.locator('.source-line.current').getAttribute('data-line');
  const before = await currentLine();
  const others = await page.locator('.source-line:not(.current)').elementHandles();

  while ((await currentLine()) === before) {
    await page.keyboard.press('i');
    await settled(page);
  }
  const after = await currentLine();
  const isKept = await Promise.all(
    others.map((line) => line.evaluate((element) => element.isConnected || element.dataset.line)),
  );
  assert.deepEqual(
    isKept.filter((kept) => kept !== true),
    [after],
  );
  assert.equal(await page.locator('.source-line.current').count(), 1);
  assert.equal(await page.locator('.line-number[tabindex="0"]').count(), 1);
  await clean(page);
});

test('a transfer has no steps', async () => {
  const hash = await node.rpc('eth_sendTransaction', { from: sender, to: sender, value: '0x1' });
  const page = await open(`tx/${hash}/debug`);
  await page.locator('p.note:has-text("No code ran")').waitFor();
  await page.goto(`${node.url}/#/tx/${hash}`);
  await page.locator('a:text-is("Replay with changes")').waitFor();
  assert.equal(await page.locator('a:text-is("Debug")').count(), 0);
  await clean(page);
});

test('on a phone nothing in the debugger scrolls sideways, and words of 32 bytes are whole', async () => {
  const phone = { viewport: { width: 390, height: 844 } };
  const breakpoints = encodeURIComponent(JSON.stringify({ [FILE]: [lineOf('account.since = 7')] }));
  const page = await open(`tx/${await depositOf(17n)}/debug?breakpoints=${breakpoints}`, phone);
  await settled(page);
  await button(page, 'Continue').click();
  await atLine(page, lineOf('account.since = 7'));

  const scrolling = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('.debugger *')]
        .filter(
          (element) =>
            /auto|scroll/.test(getComputedStyle(element).overflowX) &&
            element.scrollWidth > element.clientWidth,
        )
        .map(
          (element) =>
            `${element.getAttribute('aria-label')}: ${element.scrollWidth} > ${element.clientWidth}`,
        ),
    );
  const panel = (name) => page.click(`.tabs[aria-label="State"] button:text-is("${name}")`);
  for (const name of ['Memory', 'Call data', 'Returned', 'Slots', 'Stack']) {
    await panel(name);
    assert.deepEqual(await scrolling(), [], name);
  }

  // The position of a mapping's element fills its word.
  const long = page
    .locator('[aria-label="Stack"] td.mono', { hasText: /^0x[0-9a-f]{60,64}$/ })
    .first();
  const { text, lines } = await long.evaluate((cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return {
      text: cell.textContent,
      lines: new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size,
    };
  });
  assert.ok(text.length >= 62, text);
  assert.equal(lines, 2);

  await page.click('button:text-is("Instructions")');
  await page.locator('.instructions tr.chosen').waitFor();
  assert.deepEqual(await scrolling(), [], 'Instructions');
  await browser.picture(page, 'debugger-phone-stack');
  await clean(page);
});

test('an instruction that the compiler added is not reported as of an unknown source', async () => {
  const page = await open(`tx/${await depositOf(19n)}/debug?step=0`);
  await settled(page);
  await page
    .locator('text=No line of Bank belongs to this instruction: the compiler has added it.')
    .waitFor();
  assert.equal(await page.locator('text=The source of').count(), 0);
  await clean(page);
});

test('the debugger is accessible in both themes, and fits a phone', async () => {
  const hash = await depositOf(6_000n);
  for (const look of LOOKS) {
    const page = await open(`tx/${hash}/debug?step=failure`, look);
    await atLine(page, lineOf('revert TooLarge'));
    await page.locator('.frames .frame').nth(1).click();
    await settled(page);
    await assertAccessible(page, look.name);
    await assertFits(page, look.name);
    await browser.picture(page, `debugger-${look.name}`);
    await clean(page);
  }
});

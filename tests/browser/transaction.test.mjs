// Transactions, and their simulation with changes, in a real browser.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { encodeCall, fragment, selector, topic } from '../../crates/page/src/page/lib/abi.js';
import { checksum, forms } from '../../crates/page/src/page/lib/address.js';
import { LOOKS, assertAccessible, assertFits } from './accessible.mjs';
import { BOX, cloneOf, deploy, send } from './contracts.mjs';
import { cosmosSend } from './cosmos.mjs';
import { clean, startBrowser, startNode } from './node.mjs';

const SWAP = 'swapExactTokensForTokens(address,address,uint256,uint256)';
let node;
let browser;
let network;
let accounts;
let sender;

before(async () => {
  [node, browser] = await Promise.all([startNode(), startBrowser()]);
  network = await (await fetch(`${node.url}/api/network`)).json();
  accounts = await node.rpc('eth_accounts');
  sender = accounts[3];
  await send(node, sender, network.tokens.USDC, 'approve(address,uint256)', [
    network.vault,
    10n ** 12n,
  ]);
});
after(async () => {
  await browser?.stop();
  await node?.stop();
});

const swap = (amount, least, more) =>
  send(
    node,
    sender,
    network.vault,
    SWAP,
    [network.tokens.USDC, network.tokens.WETH, amount, least],
    more,
  );

/** The innermost card with a title. */
const card = (page, title) =>
  page.locator('section.card:not(:has(section.card))', {
    has: page.locator('h2', { hasText: title }),
  });

test('a swap is summarised in a sentence, with transfers, fees and confirmations', async () => {
  const hash = await swap(10n ** 9n, 0n);
  const page = await browser.open(`${node.url}/#/tx/${hash}`);
  await page.waitForSelector('h1:has-text("swapExactTokensForTokens")');
  assert.match(
    await page.textContent('.happened'),
    /^Swapped 1,000 USDC for 0\.\d+ WETH on the exchange$/,
  );
  const rows = card(page, 'Transfers (2)').locator('tbody tr');
  assert.equal(await rows.count(), 2);
  assert.match(await rows.nth(0).textContent(), /ERC-20.*Exchange vault.*1,000 USDC/);

  const { gasUsed, effectiveGasPrice, blockNumber } = await node.rpc(
    'eth_getTransactionReceipt',
    hash,
  );
  const { baseFeePerGas } = await node.rpc('eth_getBlockByNumber', blockNumber, false);
  const coins = (wei) => `${Number(wei) / 1e18}`.slice(0, 8);
  const fact = (name) =>
    page
      .locator('.facts > div', { has: page.locator(`dt:text-is("${name}")`) })
      .locator('dd')
      .textContent();
  assert.ok(
    (await fact('Transaction fee')).startsWith(coins(BigInt(gasUsed) * BigInt(effectiveGasPrice))),
  );
  assert.ok((await fact('Burnt')).startsWith(coins(BigInt(gasUsed) * BigInt(baseFeePerGas))));
  assert.ok(
    (await fact('Priority fee paid')).startsWith(
      coins(BigInt(gasUsed) * (BigInt(effectiveGasPrice) - BigInt(baseFeePerGas))),
    ),
  );
  assert.match(await fact('Savings'), /HPX below the maximum fee/);

  await page.waitForSelector('.confirmations:has-text("1 confirmation")');
  await node.rpc('evm_mine', { blocks: '0x2' });
  await page.waitForSelector('.confirmations:has-text("3 confirmations")');
  await clean(page);
});

test('other transactions are summarised in sentences', async () => {
  const { USDC, WETH } = network.tokens;
  const hashes = [
    [
      await node.rpc('eth_sendTransaction', {
        from: sender,
        to: accounts[4],
        value: '0x29a2241af62c0000',
      }),
      /^Account 3 sent 3 HPX to Account 4$/,
    ],
    [
      await send(node, sender, USDC, 'transfer(address,uint256)', [accounts[4], 5_500_000n]),
      /^Account 3 sent 5.5 USDC to Account 4$/,
    ],
    [
      await send(node, sender, WETH, 'approve(address,uint256)', [
        network.lendingPool,
        2n ** 256n - 1n,
      ]),
      /^Approved Lending pool to spend unlimited WETH$/,
    ],
    [
      await send(node, sender, network.lendingPool, 'deposit(address,uint256)', [WETH, 10n ** 18n]),
      /^Supplied 1 WETH to the lending pool$/,
    ],
    [
      await send(node, sender, network.lendingPool, 'borrow(address,uint256)', [
        USDC,
        100_000_000n,
      ]),
      /^Borrowed 100 USDC on the lending pool$/,
    ],
    [
      await send(node, sender, WETH, 'approve(address,uint256)', [network.lendingPool, 0n]),
      /^Revoked the allowance of Lending pool for WETH$/,
    ],
    [
      await node.rpc('eth_sendTransaction', { from: sender, data: '0x600180600a5f395ff300' }),
      /^Account 3 deployed the contract 0x/,
    ],
  ];
  const page = await browser.open(node.url);
  for (const [hash, expected] of hashes) {
    await page.goto(`${node.url}/#/tx/${hash}`);
    await page.waitForSelector(`.facts :text("${hash}")`);
    assert.match(await page.textContent('.happened'), expected);
  }
  await clean(page);
});

test('a failed transaction shows the decoded reason and where it began', async () => {
  const hash = await swap(10n ** 9n, 10n ** 24n, { gas: '0x40000' });
  const page = await browser.open(`${node.url}/#/tx/${hash}`);
  await page.waitForSelector('.tag.bad:has-text("Failed")');
  assert.match(
    await page.textContent('.failure'),
    /^Failed: swapExactTokensForTokens on Exchange vault was reverted: InsufficientOutputAmount\(amountOut: 0\.\d+ WETH, minAmountOut: 1,000,000 WETH\)/,
  );
  // The token, which the vault calls, refuses to move more than the balance.
  await send(node, accounts[5], network.tokens.SOL, 'approve(address,uint256)', [
    network.vault,
    10n ** 30n,
  ]);
  const { result } = await (
    await fetch(`${node.url}/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'eth_call',
        params: [
          {
            to: network.tokens.SOL,
            data: encodeCall(fragment('balanceOf(address)'), [accounts[5]]),
          },
          'latest',
        ],
      }),
    })
  ).json();
  await send(node, accounts[5], network.tokens.SOL, 'transfer(address,uint256)', [
    accounts[6],
    BigInt(result),
  ]);
  const inner = await send(
    node,
    accounts[5],
    network.vault,
    SWAP,
    [network.tokens.SOL, network.tokens.USDC, 10n ** 6n, 0n],
    { gas: '0x40000' },
  );
  await page.goto(`${node.url}/#/tx/${inner}`);
  await page.waitForSelector(`.facts :text("${inner}")`);
  assert.match(
    await page.textContent('.failure'),
    /ERC20InsufficientBalance\(sender: 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc, balance: 0 SOL, needed: [\d.,]+ SOL\), in SOL token\.transferFrom$/,
  );
  await clean(page);
});

test('a panic, an exhausted gas limit and a caught failure are described in words', async () => {
  // Reverts with Panic(0x11).
  const panics = await deploy(
    node,
    sender,
    `63${selector(fragment('Panic(uint256)')).slice(2)}5f5260116020526024601cfd`,
  );
  const failing = await node.rpc('eth_sendTransaction', {
    from: sender,
    to: panics,
    gas: '0x20000',
  });
  const page = await browser.open(`${node.url}/#/tx/${failing}`);
  await page.waitForSelector('.failure:has-text("arithmetic overflow or underflow (panic 0x11)")');
  await page.goto(`${node.url}/#/explorer?failed=1`);
  await page.waitForSelector(
    'td:has-text("arithmetic overflow or underflow (panic 0x11)"), [title*="arithmetic overflow or underflow (panic 0x11)"]',
  );

  // Loops until there is no gas left; the caller passes the failure on.
  const loops = await deploy(node, sender, '5b5f56');
  const passes = await deploy(node, sender, `5f5f5f5f5f73${loops.slice(2)}5af15f5ffd`);
  const exhausted = await node.rpc('eth_sendTransaction', {
    from: sender,
    to: loops,
    gas: '0x10000',
  });
  await page.goto(`${node.url}/#/tx/${exhausted}`);
  await page.waitForSelector('.failure:has-text("ran out of gas")');
  const inner = await node.rpc('eth_sendTransaction', { from: sender, to: passes, gas: '0x20000' });
  await page.goto(`${node.url}/#/tx/${inner}`);
  await page.waitForSelector(
    `.failure:has-text("ran out of gas, in"):has(a[title="${checksum(loops)}"])`,
  );

  // Calls the contract that panics, and continues.
  const catches = await deploy(node, sender, `5f5f5f5f5f73${panics.slice(2)}5af100`);
  const caught = await node.rpc('eth_sendTransaction', {
    from: sender,
    to: catches,
    gas: '0x30000',
  });
  await page.goto(`${node.url}/#/tx/${caught}`);
  await page.waitForSelector('.tag.good:text-is("Success")');
  const note = page.locator('.caught');
  await note
    .filter({ hasText: /1 inner call failed, and the caller went on\./ })
    .filter({ hasText: 'arithmetic overflow or underflow (panic 0x11)' })
    .waitFor();
  await note.locator('a:text-is("Show the calls")').click();
  await page.waitForSelector('[role=tab][aria-selected=true]:text-is("Calls")');
  await clean(page);
});

test('a list of structs is a table, and long lists are shown in parts', async () => {
  const multicall = '0xcA11bde05977b3631167028862bE2a173976CA11';
  const decimals = selector(fragment('decimals()'));
  const calls = Array.from({ length: 60 }, () => [network.tokens.USDC, false, decimals]);
  const hash = await send(
    node,
    sender,
    multicall,
    'aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable',
    [calls],
  );
  const page = await browser.open(`${node.url}/#/tx/${hash}`);
  const table = card(page, 'Input data').locator('table.tuples');
  assert.deepEqual(await table.locator('th').allTextContents(), [
    '#',
    'target',
    'allowFailure',
    'callData',
  ]);
  assert.equal(await table.locator('tbody tr').count(), 50);
  assert.match(
    await table.locator('tbody tr').first().textContent(),
    /USDC token.*false.*0x313ce567/,
  );
  await card(page, 'Input data').locator('button:text-is("Show more of 10")').click();
  assert.equal(await table.locator('tbody tr').count(), 60);
  await clean(page);
});

test('the time of a transaction is its date with its age', async () => {
  const hash = await swap(10n ** 6n, 0n);
  const page = await browser.open(`${node.url}/#/tx/${hash}`);
  const time = page.locator('.facts > div', { has: page.locator('dt:text-is("Time")') });
  assert.match(
    await time.textContent(),
    /\d{1,2} \w+ \d{4}, \d{2}:\d{2}:\d{2} \((just now|.* ago)\)/,
  );
  await clean(page);
});

test('input and events are decoded or raw', async () => {
  const hash = await swap(10n ** 6n, 0n);
  const page = await browser.open(`${node.url}/#/tx/${hash}`);
  const input = card(page, 'Input data');
  const events = card(page, 'Events (4)');
  await input.locator('td:has-text("1 USDC")').waitFor();
  await input
    .locator(
      'p:has-text("swapExactTokensForTokens(address,address,uint256,uint256) · selector 0x89fe039b")',
    )
    .waitFor();
  await input.locator('td.mono:text-is("uint256")').first().waitFor();
  await input.locator('button:text-is("Raw")').click();
  await input.locator('td:text-is("0x89fe039b")').waitFor();
  await page.click('[role=tab]:text-is("Events (4)")');
  assert.match(page.url(), /\?tab=events$/);
  await events.locator('.tag.accent:text-is("SwapPriced")').waitFor();
  await events.locator('button:text-is("Raw")').click();
  await events
    .locator(`td:text-is("${topic(fragment('event Transfer(address,address,uint256)'))}")`)
    .first()
    .waitFor();
  await clean(page);
});

test('the call tree expands, collapses, and shows arguments and return values', async () => {
  const hash = await swap(10n ** 6n, 0n);
  const page = await browser.open(`${node.url}/#/tx/${hash}?tab=calls`);
  const tree = page.locator('.trace');
  await tree.locator('.call:has-text("transferFrom")').waitFor();
  await tree.locator('button:text-is("Collapse all")').click();
  await tree.locator('.call:has-text("transferFrom")').waitFor({ state: 'hidden' });
  await tree.locator('.twist').first().click();
  await tree.locator('.call:has-text("readPrice")').first().waitFor();
  await tree.locator('button:text-is("Expand all")').click();
  await tree.locator('button.link-button:has-text("balanceOf")').first().click();
  const detail = tree.locator('.call-detail').first();
  for (const text of ['Arguments', 'account', 'Exchange vault', 'Returns', 'uint256'])
    await detail.locator(`text=${text}`).first().waitFor();
  await clean(page);
});

test('a call with thousands of internal calls is shown in parts', async () => {
  // Calls the token 3,000 times.
  const loop = await deploy(
    node,
    sender,
    `610bb85b5f5f5f5f73${network.tokens.USDC.slice(2)}5afa50600190038060035700`,
  );
  const hash = await node.rpc('eth_sendTransaction', { from: sender, to: loop, gas: '0x1000000' });
  const page = await browser.open(`${node.url}/#/tx/${hash}?tab=calls`);
  const lines = page.locator('.trace .call');
  await page.locator('.trace button:text-is("Show more of 2,900")').click();
  await page.locator('.trace button:text-is("Show more of 2,400")').waitFor();
  assert.equal(await lines.count(), 601);
  await clean(page);
});

test('the gas flame is operated with the keyboard', async () => {
  const hash = await swap(10n ** 6n, 0n);
  const page = await browser.open(`${node.url}/#/tx/${hash}?tab=calls`);
  const flame = page.locator('svg.flame');
  const focused = () => page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  await flame.locator('[role=treeitem]').first().focus();
  assert.match(await focused(), /^Exchange vault\.swapExactTokensForTokens: [\d,]+ gas, 100\.0%/);
  await page.keyboard.press('ArrowDown');
  assert.match(await focused(), /^Price oracle\.readPrice/);
  for (let at = 0; at < 3; at++) await page.keyboard.press('ArrowRight');
  assert.match(await focused(), /^USDC token\.transferFrom/);
  await page.keyboard.press('Enter');
  assert.equal(await flame.locator('[role=treeitem]').count(), 1, 'zoomed in');
  await page.locator('button:text-is("Show in the call tree")').click();
  assert.match(await page.evaluate(() => document.activeElement.textContent), /transferFrom/);
  await page.locator('button:text-is("Whole transaction")').click();
  await flame.locator('[role=treeitem]').nth(5).waitFor();
  await clean(page);
});

test('state changes name balances and mappings', async () => {
  const hash = await send(node, sender, network.tokens.USDC, 'transfer(address,uint256)', [
    accounts[4],
    1_000_000n,
  ]);
  const page = await browser.open(`${node.url}/#/tx/${hash}?tab=state`);
  const changes = card(page, 'State changes');
  const token = changes.locator('.log', { has: page.locator('a:text-is("USDC token")') });
  await token.locator('td:text-is("slot 0 [0x90f79b…b906]")').waitFor();
  await token.locator('td:text-is("slot 0 [0x15d34a…6a65]")').waitFor();
  const own = changes.locator('.log', { has: page.locator('a:text-is("Account 3")') });
  const nonce = await own.locator('tr:has(td:text-is("Nonce")) td').allTextContents();
  assert.equal(Number(nonce[2]), Number(nonce[1]) + 1);
  await clean(page);
});

test('native transfers inside a transaction are listed', async () => {
  // Sends the value of the call on to a fixed address.
  const receiver = `0x${'ab'.repeat(20)}`;
  const forwarder = await deploy(node, sender, `5f5f5f5f3473${receiver.slice(2)}5af100`);
  const hash = await node.rpc('eth_sendTransaction', {
    from: sender,
    to: forwarder,
    value: '0xde0b6b3a7640000',
  });
  const page = await browser.open(`${node.url}/#/tx/${hash}`);
  const rows = card(page, 'Transfers (2)').locator('tbody tr');
  assert.match(await rows.nth(0).textContent(), /^Native.*1 HPX$/);
  assert.match(await rows.nth(1).textContent(), /^Internal.*0xABaBaB….*1 HPX$/);
  await clean(page);
});

test('unique and multiple tokens are recognised by their events', async () => {
  const word = (value) => BigInt(value).toString(16).padStart(64, '0');
  const log = (text, topics, data) =>
    `${data.map((value, at) => `7f${word(value)}60${(at * 32).toString(16).padStart(2, '0')}52`).join('')}${topics
      .toReversed()
      .map((value) => `7f${word(value)}`)
      .join(
        '',
      )}7f${topic(fragment(text)).slice(2)}60${(data.length * 32).toString(16).padStart(2, '0')}5fa${topics.length + 1}`;
  const from = 0;
  const to = accounts[6];
  const runtime = `${log('event Transfer(address,address,uint256)', [from, to, 77], [])}00`;
  const unique = await deploy(node, sender, runtime);
  const single = await deploy(
    node,
    sender,
    `${log(
      'event TransferSingle(address,address,address,uint256,uint256)',
      [sender, sender, to],
      [5, 30],
    )}00`,
  );
  const page = await browser.open(
    `${node.url}/#/tx/${await node.rpc('eth_sendTransaction', { from: sender, to: unique })}`,
  );
  assert.match(
    await card(page, 'Transfers (1)').locator('tbody tr').textContent(),
    /^ERC-721 mint.*#77$/,
  );
  assert.match(await page.textContent('.happened'), /^Minted .* #77 to Account 6$/);
  const hash = await node.rpc('eth_sendTransaction', { from: sender, to: single });
  await page.goto(`${node.url}/#/tx/${hash}`);
  await page.waitForSelector(`.facts :text("${hash}")`);
  assert.match(
    await card(page, 'Transfers (1)').locator('tbody tr').textContent(),
    /^ERC-1155.*30 × .*#5$/,
  );
  // The ABI is unknown, but the event is one of a standard.
  await page.click('[role=tab]:text-is("Events (1)")');
  await card(page, 'Events (1)').locator('.tag.accent:text-is("TransferSingle")').waitFor();
  // It has no supply as a whole, since each id has its own.
  await page.goto(`${node.url}/#/token/${single}`);
  await page.waitForSelector('.tag:text-is("ERC-1155")');
  assert.deepEqual(await page.locator('.tile > span').allTextContents(), ['Holders', 'Transfers']);
  await clean(page);
});

test('a pending transaction becomes a mined one', async () => {
  await node.rpc('evm_setAutomine', false);
  const hash = await swap(10n ** 6n, 0n);
  const page = await browser.open(`${node.url}/#/tx/${hash}`);
  await page.waitForSelector('.tag:text-is("Pending")');
  await node.rpc('evm_setAutomine', true);
  await node.rpc('evm_mine');
  await page.waitForSelector('.tag.good:text-is("Success")');
  await page.waitForSelector('.happened:has-text("Swapped 1 USDC")');
  await clean(page);
});

test('a saved ABI decodes calls that were unknown', async () => {
  const data = `0x5a3b1d4f${'0'.repeat(63)}7`;
  const hash = await node.rpc('eth_sendTransaction', { from: sender, to: sender, data });
  const page = await browser.open(`${node.url}/#/interfaces`);
  await page.fill('textarea', 'nonsense');
  await page.click('button.primary');
  await page.waitForSelector('.failure');
  const named = selector(fragment('launch(uint256 rockets)'));
  const known = await node.rpc('eth_sendTransaction', {
    from: sender,
    to: sender,
    data: named + data.slice(10),
  });
  await page.fill('textarea', 'function launch(uint256 rockets)');
  await page.click('button.primary');
  await page.waitForSelector('.toast.good:has-text("1 entry")');
  await page.goto(`${node.url}/#/tx/${known}`);
  await page.waitForSelector('h1:has-text("launch")');
  assert.ok((await page.textContent('table.arguments')).includes('rockets'));
  await page.goto(`${node.url}/#/tx/${hash}`);
  await page.waitForSelector('p:has-text("No known ABI")');
  await clean(page);
});

test('calls through a proxy are decoded with the ABI of its implementation', async () => {
  const clone = await deploy(node, sender, cloneOf(network.tokens.USDC));
  const hash = await send(node, sender, clone, 'approve(address,uint256)', [accounts[4], 5n]);
  const page = await browser.open(`${node.url}/#/tx/${hash}?tab=calls`);
  await page.waitForSelector('h1:text-is("approve")');
  await page.locator('.trace .call:has-text("delegatecall"):has-text("approve")').waitFor();
  await clean(page);
});

test('a Cosmos transaction is shown as a Cosmos transaction', async () => {
  const { hash, cosmosHash } = await cosmosSend(node, network, {
    from: accounts[7],
    to: accounts[8],
    amount: 25n * 10n ** 17n,
    memo: 'For lunch',
    keyType: 'ethermint',
  });
  const page = await browser.open(`${node.url}/#/tx/${hash}`);
  await page.waitForSelector('h1:text-is("Cosmos transaction")');
  assert.match(
    await page.textContent('.happened'),
    /^Account 7 sent 2.5 HPX to 0x23618e…8f$|sent 2.5 HPX to/,
  );

  const text = await card(page, 'Cosmos transaction').textContent();
  for (const expected of [
    cosmosHash,
    'For lunch',
    'MsgSend',
    '/cosmos.bank.v1beta1.MsgSend',
    '2.5 HPX',
    '0.002 HPX',
    forms(accounts[7], 'pax').account,
    forms(accounts[8], 'pax').account,
  ])
    assert.ok(text.includes(expected), `${expected}: ${text}`);
  assert.equal(await page.locator('a:text-is("Replay with changes")').count(), 0);
  await browser.picture(page, 'transaction-cosmos');
  await clean(page);
});

test('a replay without changes has the same results as the transaction', async () => {
  await node.rpc('evm_setAutomine', false);
  // The second swap gets another rate because of the first one in the same block.
  await swap(10n ** 11n, 0n, { gas: '0x40000' });
  const hash = await swap(10n ** 11n, 0n, { gas: '0x40000' });
  await node.rpc('evm_mine');
  await node.rpc('evm_setAutomine', true);
  await node.rpc('evm_mine');
  const page = await browser.open(`${node.url}/#/tx/${hash}`);
  await page.click('a:text-is("Replay with changes")');
  await page.waitForSelector('h1:text-is("Replay with changes")');
  await page.waitForSelector('.note:has-text("did exactly what the transaction did")');
  await clean(page);
});

test('a transaction is replayed with other arguments, compared, and shared', async () => {
  const hash = await swap(10n ** 9n, 0n);
  const page = await browser.open(`${node.url}/#/simulate?tx=${hash}`);
  await page.waitForSelector('.compare');
  await page.fill('label:has-text("_amountIn") input', '2,000_000000');
  await page.click('button.primary');
  await page.waitForSelector('tr.changed:has-text("Transfers"):has-text("2,000 USDC")');
  assert.match(
    await page.textContent('tr:has(td:text-is("Transfers")) td:nth-child(2)'),
    /1,000 USDC/,
  );
  await page.locator('.call:has-text("transferFrom"):has-text("differs")').waitFor();
  const link = page.url();
  assert.match(link, /#\/simulate\?tx=0x[0-9a-f]{64}&data=0x89fe039b[0-9a-f]+$/);
  const other = await browser.open(link);
  await other.waitForSelector('tr.changed:has-text("2,000 USDC")');
  assert.equal(await other.inputValue('label:has-text("_amountIn") input'), '2000000000');

  await other.fill('label:has-text("_minAmountOut") input', '1e24');
  await other.click('button.primary');
  await other.waitForSelector('tr.changed:has-text("Status"):has-text("Failed")');
  await other.waitForSelector('tr.changed:has-text("Reason"):has-text("InsufficientOutputAmount")');
  await other.fill('label:has-text("_amountIn") input', 'many');
  await other.click('button.primary');
  await other.waitForSelector('.failure:has-text("_amountIn: expected a whole number")');
  await clean(page);
  await clean(other);
});

test('a simulation takes any sender, other blocks, raw input and state overrides', async () => {
  const box = await deploy(node, sender, BOX.runtime);
  const before = Number(await node.rpc('eth_blockNumber'));
  await send(node, sender, box, 'store(uint256)', [7n]);
  const page = await browser.open(
    `${node.url}/#/simulate?to=${box}&data=${selector(fragment('value()'))}`,
  );
  const returned = () => page.locator('.compare tr:has(td:text-is("Returned"))');
  await returned()
    .locator(`text=0x${'7'.padStart(64, '0')}`)
    .waitFor();
  await page.selectOption('label:has-text("State") select', 'number');
  await page.fill('label:has-text("Block number") input', String(before));
  await page.click('button.primary');
  await returned()
    .locator(`text=0x${'0'.repeat(64)}`)
    .waitFor();
  await page.selectOption('label:has-text("State") select', 'latest');
  await page.click('summary:has-text("State overrides")');
  await page.fill(
    'label:has-text("Accounts by address") textarea',
    JSON.stringify({
      [box]: { stateDiff: { [`0x${'0'.repeat(64)}`]: `0x${'9'.padStart(64, '0')}` } },
    }),
  );
  await page.click('button.primary');
  await returned()
    .locator(`text=0x${'9'.padStart(64, '0')}`)
    .waitFor();
  await page.fill('label:has-text("Accounts by address") textarea', '{"x"');
  await page.click('button.primary');
  await page.waitForSelector('.failure:has-text("state overrides: not valid JSON")');

  // No signature is needed, so the vault itself can send.
  await page.goto(
    `${node.url}/#/simulate?from=${network.vault}&to=${network.tokens.USDC}&data=${encodeCall(fragment('transfer(address,uint256)'), [sender, 10n ** 6n])}`,
  );
  await page.waitForSelector(
    '.compare tr:has-text("Transfers"):has-text("1 USDC from Exchange vault")',
  );
  await clean(page);
});

test('without tracing, transactions and simulations are still shown', async () => {
  const page = await browser.open(node.url);
  await page.route('**/rpc', async (route) => {
    const request = JSON.parse(route.request().postData());
    if (![request].flat().some(({ method }) => method.startsWith('debug_')))
      return route.continue();
    const answer = ({ id }) => ({
      jsonrpc: '2.0',
      id,
      error: { code: -32601, message: 'the method does not exist' },
    });
    return route.fulfill({
      contentType: 'application/json',
      body: JSON.stringify(Array.isArray(request) ? request.map(answer) : answer(request)),
    });
  });
  const hash = await swap(10n ** 9n, 0n);
  await page.goto(`${node.url}/#/tx/${hash}`);
  await page.waitForSelector('.happened:has-text("Swapped 1,000 USDC")');
  assert.equal(await page.locator('.trace, svg.flame').count(), 0);
  await page.goto(`${node.url}/#/simulate?tx=${hash}&block=latest`);
  await page.waitForSelector('.compare tr:has-text("Transfers"):has-text("1,000 USDC")');
  await clean(page);
});

test('an unknown or malformed hash is a described error', async () => {
  const page = await browser.open(`${node.url}/#/tx/0x12`);
  await page.waitForSelector('.failure:has-text("not a transaction hash")');
  await page.goto(`${node.url}/#/tx/0x${'12'.repeat(32)}`);
  await page.waitForSelector('h1:has-text("not found")');
  await clean(page);
});

test('transactions and simulations are accessible and fit a phone', async () => {
  const good = await swap(10n ** 9n, 0n);
  const bad = await swap(10n ** 9n, 10n ** 24n, { gas: '0x40000' });
  const paths = {
    transaction: `tx/${good}`,
    failed: `tx/${bad}`,
    events: `tx/${good}?tab=events`,
    calls: `tx/${bad}?tab=calls`,
    state: `tx/${good}?tab=state`,
    replay: `simulate?tx=${bad}`,
    simulate: 'simulate',
  };
  for (const look of LOOKS) {
    const page = await browser.open(node.url, look);
    for (const [name, path] of Object.entries(paths)) {
      await page.goto(`${node.url}/#/${path}`);
      await page.waitForSelector(
        name === 'replay'
          ? '.compare'
          : name === 'simulate'
            ? 'h1:has-text("Simulate")'
            : name === 'transaction' || name === 'failed'
              ? `.facts :text("${path.slice(3)}")`
              : '[role=tabpanel]:not([hidden]) .card',
      );
      await page.waitForLoadState('networkidle');
      await assertAccessible(page, `${name}, ${look.name}`);
      await assertFits(page, `${name}, ${look.name},`);
      await browser.picture(page, `${name}-${look.name}`);
    }
    await clean(page);
  }
});

test('an error shows an address next to its name, since any contract may have any name', async () => {
  const { vault } = network;
  const page = await browser.open(`${node.url}/#/explorer`);
  const word = vault.slice(2).toLowerCase().padStart(64, '0');
  const text = await page.evaluate(async (argument) => {
    const { fragment, selector } = await import('./site/lib/abi.js');
    const { explainRevert } = await import('./site/lib/reverts.js');
    return explainRevert(selector(fragment('NotUpdater(address caller)')) + argument);
  }, word);
  assert.equal(
    text,
    `NotUpdater(caller: Exchange vault (${vault.slice(0, 8)}…${vault.slice(-6)}))`,
  );
  await clean(page);
});

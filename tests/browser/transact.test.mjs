// The forms that send, deploy, verify, sign and broadcast, in a real browser.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { encode, encodeCall, fragment, selector } from '../../crates/page/src/page/lib/abi.js';
import { checkCode, parseArtifact } from '../../crates/page/src/page/lib/artifact.js';
import { decodeRlp, encodeRlp } from '../../crates/page/src/page/lib/rlp.js';
import { LOOKS, assertAccessible, assertFits } from './accessible.mjs';
import { BOX, cloneOf, creationOf, deploy } from './contracts.mjs';
import { clean, startBrowser, startNode } from './node.mjs';

/**
 * A constructor that takes a number, which the code ignores: arguments follow the creation code.
 */
const CONSTRUCTOR = {
  type: 'constructor',
  inputs: [{ name: 'limit', type: 'uint256' }],
  stateMutability: 'nonpayable',
};
const SOURCE = 'contract Box {\n  uint256 public value;\n}\n';
let node;
let browser;
let network;
let accounts;
let folder;

/** A compiler whose output is always that of the box, with the code of the deployed contract. */
function fakeCompiler(directory) {
  const answer = {
    contracts: {
      'src/Box.sol': {
        Box: {
          abi: BOX.abi,
          metadata: '{}',
          evm: {
            bytecode: { object: creationOf(BOX.runtime).slice(2), linkReferences: {} },
            deployedBytecode: { object: BOX.runtime, linkReferences: {}, immutableReferences: {} },
          },
        },
      },
    },
  };
  const place = join(directory, '0.8.24');
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'answer.json'), JSON.stringify(answer));
  writeFileSync(
    join(place, 'solc-0.8.24'),
    `#!/bin/sh\ncat > /dev/null\ncat ${place}/answer.json\n`,
  );
  chmodSync(join(place, 'solc-0.8.24'), 0o755);
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tetrad-compilers-'));
  fakeCompiler(folder);
  [node, browser] = await Promise.all([startNode('--solc-directory', folder), startBrowser()]);
  network = await (await fetch(`${node.url}/api/network`)).json();
  accounts = await node.rpc('eth_accounts');
});
after(async () => {
  await browser?.stop();
  await node?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const open = (path, options) => browser.open(`${node.url}/#/${path}`, options);

/** Runs something while the node mines no blocks for transactions. */
async function withoutMining(run) {
  await node.rpc('evm_setAutomine', false);
  try {
    await run();
  } finally {
    await node.rpc('evm_setAutomine', true);
  }
}

/** Makes another wallet announce itself, like one that starts later than the page. */
const announceWallet = (page) =>
  page.evaluate(() => {
    const info = {
      uuid: '6f1c2b1e-0000-4000-8000-000000000001',
      name: 'Late wallet',
      rdns: 'late.wallet',
      icon: 'data:,',
    };
    const provider = { request: () => Promise.resolve([]), on() {} };
    window.dispatchEvent(
      new CustomEvent('eip6963:announceProvider', { detail: { info, provider } }),
    );
  });

/**
 * Holds the page's requests to the node whose body matches: `asked` resolves with the first,
 * `release()` lets them continue.
 */
async function hold(page, pattern) {
  const held = [];
  let isOver = false;
  let count = 0;
  let first = null;
  const asked = new Promise((resolve) => (first = resolve));
  await page.route('**/rpc', (route) => {
    if (!pattern.test(route.request().postData() ?? '')) return route.fallback();
    count++;
    first();
    return isOver ? route.fallback() : held.push(route);
  });
  const release = () => {
    isOver = true;
    return Promise.all(held.map((route) => route.fallback()));
  };
  return { asked, release, count: () => count };
}

/** Submits a form as the Enter key does, whether or not its button is disabled. */
const submitAgain = (page, button) =>
  page
    .locator('form', { has: page.locator(`button.primary:text-is("${button}")`) })
    .evaluate((form) => form.requestSubmit());

const nonceOf = async (account, tag = 'latest') =>
  Number(await node.rpc('eth_getTransactionCount', account, tag));

test('creation code is found in the output of compilers', () => {
  const abi = [CONSTRUCTOR];
  const expected = [{ name: 'Box', abi, bytecode: '0x6001' }];
  assert.deepEqual(parseArtifact(' 60 01\n'), [{ name: 'Contract', abi: [], bytecode: '0x6001' }]);
  assert.deepEqual(
    parseArtifact(JSON.stringify({ contractName: 'Box', abi, bytecode: '0x6001' })),
    expected,
    'hardhat',
  );
  const metadata = { settings: { compilationTarget: { 'src/Box.sol': 'Box' } } };
  assert.deepEqual(
    parseArtifact(JSON.stringify({ abi, bytecode: { object: '0x6001' }, metadata })),
    expected,
    'forge',
  );
  const output = {
    contracts: {
      'Box.sol': {
        Box: { abi, evm: { bytecode: { object: '6001' } } },
        IBox: { abi, evm: { bytecode: { object: '' } } },
      },
    },
  };
  assert.deepEqual(parseArtifact(JSON.stringify(output)), expected, 'solc, without the interface');
  assert.deepEqual(parseArtifact(JSON.stringify({ output })), expected, 'build-info of hardhat');
  assert.deepEqual(
    parseArtifact(
      JSON.stringify({ contracts: { 'Box.sol:Box': { abi: JSON.stringify(abi), bin: '6001' } } }),
    ),
    expected,
    '--combined-json',
  );
  assert.throws(() => parseArtifact('{"abi": []}'), /no contract in this JSON has creation code/);
  assert.throws(() => parseArtifact('{"abi"'), /not valid JSON/);
  assert.throws(() => checkCode(`0x60__$${'a'.repeat(34)}$__`), /not linked/);
  assert.throws(() => checkCode('0x600'), /in hex/);
});

test('RLP is decoded, and refused if it is invalid', () => {
  const long = `0x${'ab'.repeat(70)}`;
  const value = ['0x', '0x7f', '0x80', long, [[], ['0x01', long]]];
  assert.deepEqual(decodeRlp(encodeRlp(value)), value);
  assert.throws(() => decodeRlp('0xc20102ff'), /bytes follow/);
  assert.throws(() => decodeRlp('0xf8ff01'), /end too early/);
  assert.throws(() => decodeRlp(`0x${'c1'.repeat(100)}c0`), /nested too deeply|end too early/);
});

test('coins and tokens are sent, and the link restores the form', async () => {
  const page = await open('transact');
  await page.waitForSelector('text=has 10,000');
  await page.fill('label:has-text("Amount") input', '1,5');
  await page.fill('label:has(span:text-is("To")) input', accounts[7]);
  await page.click('button.primary:text-is("Send")');
  await page.waitForSelector('.failure:has-text("Use a point for decimals, such as 1.5.")');
  await page.fill('label:has-text("Amount") input', '1.5');
  const before = BigInt(await node.rpc('eth_getBalance', accounts[7], 'latest'));
  await page.click('button.primary:text-is("Send")');
  await page.waitForSelector('.toast.good:has-text("Sent 1.5 HPX")');
  assert.equal(
    BigInt(await node.rpc('eth_getBalance', accounts[7], 'latest')) - before,
    15n * 10n ** 17n,
  );

  await page.selectOption('label:has-text("Asset") select', 'USDC');
  await page.fill('label:has-text("Amount") input', '2.5');
  await page.click('[role=tab]:text-is("Deploy")');
  assert.match(page.url(), /\?tab=deploy$/);
  await page.click('[role=tab]:text-is("Send")');
  await page.waitForSelector('p:has-text("USDC.")');
  const again = await browser.open(page.url());
  assert.equal(await again.inputValue('label:has-text("Asset") select'), 'USDC');
  assert.equal(await again.inputValue('label:has-text("Amount") input'), '2.5');
  await again.click('button.primary:text-is("Send")');
  await again.waitForSelector('.toast.good:has-text("Sent 2.5 USDC")');
  await again.waitForSelector('.steps li.done:has-text("Send 2.5 USDC to 0x14dC79…")');
  await clean(again);
  await clean(page);
});

test('any token is sent by its address', async () => {
  const page = await open(
    `transact?tab=send&asset=${network.tokens.WETH}&to=${accounts[6]}&amount=0.25`,
  );
  await page.waitForSelector('p:has-text("WETH.")');
  await page.click('button.primary:text-is("Send")');
  await page.waitForSelector('.toast.good:has-text("Sent 0.25 WETH")');
  await clean(page);
});

test('a transfer that fails is refused, and is mined when it is forced', async () => {
  const page = await open(`transact?tab=send&asset=USDC&to=${accounts[6]}&amount=999999999999`);
  await page.click('button.primary:text-is("Send")');
  await page.waitForSelector('.failure:has-text("The balance is too low.")');
  const block = Number(await node.rpc('eth_blockNumber'));
  await page.check('label:has-text("Send even if it would fail") input');
  await page.fill('label:has-text("Gas limit") input', '200,000');
  await page.click('button.primary:text-is("Send")');
  await page.waitForSelector('.steps li.failed:has-text("Mined, and failed")');
  const { transactions } = await node.rpc(
    'eth_getBlockByNumber',
    `0x${(block + 1).toString(16)}`,
    true,
  );
  assert.equal(Number(transactions[0].gas), 200_000);
  assert.equal((await node.rpc('eth_getTransactionReceipt', transactions[0].hash)).status, '0x0');
  await clean(page);
});

test('coins are sent once, whatever happens while the transaction waits', async () => {
  const page = await open(`transact?tab=send&to=${accounts[7]}&amount=1`);
  await page.waitForSelector('p:has-text("HPX.")');
  const before = await nonceOf(accounts[0]);
  await withoutMining(async () => {
    await page.click('button.primary:text-is("Send")');
    await page.waitForSelector('.steps li.active:has-text("Waiting for a block")');
    await page.selectOption('label:has-text("Asset") select', 'USDC');
    await page.waitForSelector('p:has-text("USDC.")');
    await announceWallet(page);
    assert.ok(await page.isDisabled('button.primary:text-is("Send")'));
    await submitAgain(page, 'Send');
    await node.rpc('evm_mine');
    await page.waitForSelector('.toast.good:has-text("Sent 1 HPX")');
  });
  await page.waitForSelector('.steps li.done:has-text("Send 1 HPX")');
  await page.waitForSelector('button.primary:text-is("Send"):enabled');
  assert.equal(await nonceOf(accounts[0], 'pending'), before + 1);
  await clean(page);
});

test('a balance that arrives late does not replace that of the asset chosen since', async () => {
  const page = await open('transact?tab=send');
  await page.waitForSelector('p:has-text("HPX.")');
  const late = await hold(page, /70a08231/);
  await page.selectOption('label:has-text("Asset") select', 'USDC');
  await late.asked;
  await page.selectOption('label:has-text("Asset") select', 'HPX');
  const answered = page.waitForResponse((response) =>
    /70a08231/.test(response.request().postData() ?? ''),
  );
  await late.release();
  await (await answered).finished();
  await page.evaluate(() => new Promise(requestAnimationFrame));
  assert.match(await page.textContent('p.soft:has-text(" has ")'), /HPX\.$/);
  await clean(page);
});

test('a function is written once, whatever happens while the transaction waits', async () => {
  const values = encodeURIComponent(JSON.stringify([accounts[7], '5']));
  const page = await open(
    `contract/${network.tokens.USDC}?tab=write&function=approve&args=${values}`,
  );
  const approve = page.locator('details[open]', { has: page.locator('strong:text-is("approve")') });
  const before = await nonceOf(accounts[0]);
  await withoutMining(async () => {
    await approve.locator('button:text-is("Write")').click();
    await approve.locator('p:has-text("waiting for its receipt")').waitFor();
    await announceWallet(page);
    assert.ok(await approve.locator('button.primary').isDisabled());
    await approve.locator('form').evaluate((form) => form.requestSubmit());
    await node.rpc('evm_mine');
    await approve.locator('.tag.good:text-is("Success")').waitFor();
  });
  await approve.locator('button:text-is("Write"):enabled').waitFor();
  assert.equal(await nonceOf(accounts[0], 'pending'), before + 1);
  await clean(page);
});

test('a transaction is sent by the account that was chosen when it was submitted', async () => {
  const page = await open(`transact?tab=send&to=${accounts[7]}&amount=1`, {
    wallet: { account: accounts[1] },
  });
  await page.waitForSelector('p:has-text("HPX.")');
  const estimate = await hold(page, /eth_estimateGas/);
  await page.click('button.primary:text-is("Send")');
  await estimate.asked;
  await page.selectOption('#account', 'test.wallet/');
  await page.waitForFunction(() =>
    document.querySelector('#account').value.startsWith('test.wallet/0x'),
  );
  await estimate.release();
  await page.waitForSelector('.toast.good:has-text("Sent 1 HPX")');
  const [{ from }] = (await node.rpc('eth_getBlockByNumber', 'latest', true)).transactions;
  assert.equal(from, accounts[0].toLowerCase());
  assert.ok(
    !(await page.evaluate(() => window.asked)).includes('eth_sendTransaction'),
    'the wallet is not asked',
  );
  await clean(page);
});

test('nothing is sent if another account is chosen while the decimals of a token are read', async () => {
  const token = await deploy(node, accounts[0], cloneOf(network.tokens.WETH));
  const page = await open(`transact?tab=send&to=${accounts[7]}&amount=1`);
  await page.waitForSelector('p:has-text("HPX.")');
  const before = await Promise.all(accounts.slice(0, 2).map((account) => nonceOf(account)));
  const decimals = await hold(page, /313ce567/);
  await page.selectOption('label:has-text("Asset") select', 'other');
  await page.fill('label:has-text("Token address") input', token);
  await page.click('button.primary:text-is("Send")');
  await decimals.asked;
  const options = await page
    .locator('#account option')
    .evaluateAll((all) => all.map((one) => one.value));
  await page.selectOption(
    '#account',
    options.find((value) => value.toLowerCase() === `node/${accounts[1].toLowerCase()}`),
  );
  await decimals.release();
  await page.waitForSelector(
    '.failure:has-text("The active account has changed from Account 0 in the meantime, so nothing more was sent")',
  );
  await page.waitForSelector('.steps li.failed:has-text("Not sent")');
  assert.deepEqual(
    await Promise.all(accounts.slice(0, 2).map((account) => nonceOf(account, 'pending'))),
    before,
  );
  await clean(page);
});

test('a contract is deployed from an artifact with arguments, and its page has its functions', async () => {
  const artifact = {
    contractName: 'Box',
    abi: [CONSTRUCTOR, ...BOX.abi],
    bytecode: creationOf(BOX.runtime),
  };
  const page = await open('transact?tab=deploy');
  await page.fill('label:has-text("Bytecode or artifact") textarea', JSON.stringify(artifact));
  await page.click('button.primary:text-is("Deploy")');
  await page.waitForSelector('.failure:has-text("Limit: enter a number.")');
  await page.fill('label:has-text("limit (uint256)") input', '1.5');
  await page.click('button[aria-label="Multiply limit by the power of ten"]');
  assert.equal(
    await page.inputValue('label:has-text("limit (uint256)") input'),
    '1500000000000000000',
  );
  await page.click('button.primary:text-is("Deploy")');
  await page.waitForSelector('p:has-text("Box was deployed at")');
  const [{ hash }] = (await node.rpc('eth_getBlockByNumber', 'latest', true)).transactions;
  const { input } = await node.rpc('eth_getTransactionByHash', hash);
  assert.equal(input, artifact.bytecode + encode(CONSTRUCTOR.inputs, [15n * 10n ** 17n]).slice(2));
  await page.click('a:text-is("Open the contract") >> nth=0');
  await page.waitForSelector('.functions summary strong:text-is("value")');
  await clean(page);
});

test('the submitted contract is the deployed one, whatever the form shows by then', async () => {
  const crate = { contractName: 'Crate', abi: [], bytecode: '0x6001600055' };
  const box = { contractName: 'Box', abi: BOX.abi, bytecode: creationOf(BOX.runtime) };
  const page = await open('transact?tab=deploy');
  const source = page.locator('label:has-text("Bytecode or artifact") textarea');
  await source.fill(JSON.stringify(box));
  const before = await nonceOf(accounts[0]);
  await withoutMining(async () => {
    await page.click('button.primary:text-is("Deploy")');
    await page.waitForSelector('.steps li.active:has-text("Waiting for a block")');
    await source.fill(JSON.stringify(crate));
    await page.waitForSelector('p:has-text("5 bytes of creation code")');
    await announceWallet(page);
    assert.ok(await page.isDisabled('button.primary:text-is("Deploy")'));
    await submitAgain(page, 'Deploy');
    await node.rpc('evm_mine');
    await page.waitForSelector('p:has-text("Box was deployed at")');
  });
  await page.waitForSelector('.steps li.done:has-text("Deploy Box")');
  assert.equal(await page.locator('.failure').count(), 0);
  assert.equal(await nonceOf(accounts[0], 'pending'), before + 1);
  await page.click('a:text-is("Open the contract") >> nth=0');
  await page.waitForSelector('.functions summary strong:text-is("value")');
  await clean(page);
});

test('one of several contracts of a file is deployed from bytecode alone', async () => {
  const evm = (object) => ({ abi: [], evm: { bytecode: { object } } });
  const output = {
    contracts: {
      'a.sol': { First: evm('6001600055'), Second: evm(creationOf(BOX.runtime).slice(2)) },
    },
  };
  const file = join(folder, 'output.json');
  writeFileSync(file, JSON.stringify(output));
  const page = await open('transact?tab=deploy');
  await page.setInputFiles('input[type=file]', file);
  await page.selectOption('label:has-text("Contract") select', { label: 'Second' });
  await page.click('button.primary:text-is("Deploy")');
  await page.waitForSelector('p:has-text("Second was deployed at")');
  const [{ hash }] = (await node.rpc('eth_getBlockByNumber', 'latest', true)).transactions;
  const { contractAddress } = await node.rpc('eth_getTransactionReceipt', hash);
  assert.equal(await node.rpc('eth_getCode', contractAddress, 'latest'), `0x${BOX.runtime}`);
  await clean(page);
});

test('a source is verified from its contract’s page, and its functions and events are found', async () => {
  const box = await deploy(node, accounts[0], BOX.runtime);
  const page = await open(`contract/${box}`);
  await page.click('a:text-is("verify the source")');
  await page.waitForSelector('label:has-text("Compiler") select');
  assert.equal(
    (await page.inputValue('label:has-text("Contract address") input')).toLowerCase(),
    box,
  );
  const input = {
    language: 'Solidity',
    sources: { 'src/Box.sol': { content: SOURCE } },
    settings: {},
  };
  await page.click('button.primary:text-is("Verify")');
  await page.waitForSelector('.failure:has-text("Enter the source.")');
  await page.fill('label:has-text("Source") textarea', JSON.stringify(input));
  assert.equal(
    await page.inputValue('label:has-text("Contract name") input'),
    'src/Box.sol:Box',
    'the only contract of the source',
  );
  await page.fill('label:has-text("Contract name") input', 'src/Box.sol:Crate');
  await page.click('button.primary:text-is("Verify")');
  await page.waitForSelector('.failure:has-text("The sources have no contract")');
  await page.fill('label:has-text("Contract name") input', 'src/Box.sol:Box');
  await page.click('button.primary:text-is("Verify")');
  await page.waitForSelector('.tag.good:text-is("Verified")');
  await page.click('a:text-is("View the source")');
  await page.waitForSelector('.tag:text-is("Verified source")');
  await clean(page);

  const other = await open('network');
  for (const [term, found] of [
    ['store(uint', 'store(uint256)'],
    [selector(fragment('value()')), 'value()'],
    ['stored', 'Stored(address,uint256)'],
  ]) {
    await other.fill('header input[type="search"]', term);
    await other.waitForSelector(`#results [role="option"]:has-text("${found}"):has-text("of Box")`);
  }
  await clean(other);
});

/**
 * Holds the texts of files that a page reads: `release()` passes them on, and resolves when the
 * page has handled them.
 */
async function holdFiles(page) {
  await page.evaluate(() => {
    const { text } = File.prototype;
    const released = new Promise((resolve) => (window.releaseFiles = resolve));
    File.prototype.text = async function held() {
      await released;
      const found = await text.call(this);
      setTimeout(() => (window.wasRead = true));
      return found;
    };
  });
  const release = async () => {
    await page.evaluate(() => window.releaseFiles());
    await page.waitForFunction(() => window.wasRead);
  };
  return { release };
}

test('a file that is read after its form was left does not change the URL', async () => {
  const file = join(folder, 'Late.sol');
  writeFileSync(file, SOURCE);
  const leave = {
    form: async (page) => page.click('[role=tab]:text-is("Send")'),
    view: async (page) => page.click('nav a:has-text("Explorer")'),
  };
  for (const [what, left] of [
    ['form', /#\/transact\?tab=send$/],
    ['view', /#\/explorer$/],
  ]) {
    const page = await open(
      `transact?tab=verify&format=solidity-single-file&address=${accounts[3]}`,
    );
    await page.waitForSelector('label:has-text("Or read a file")');
    const texts = await holdFiles(page);
    await page.setInputFiles('input[type=file]', file);
    await leave[what](page);
    await page.waitForURL(left);
    await texts.release();
    assert.match(page.url(), left);
    if (what === 'form')
      assert.equal(await page.inputValue('label:has-text("Source") textarea'), SOURCE);
    await clean(page);
  }
});

test('a message and typed data are signed, and the node recovers the signer', async () => {
  const page = await open('transact?tab=sign');
  await page.fill('label:has-text("Message") textarea', 'Grüße');
  await page.click('button:text-is("Sign message")');
  await page.waitForSelector('.result dt:text-is("Signature")');
  const signature = await page.locator('.result dd .mono').last().textContent();
  const message = `0x${Buffer.from('Grüße').toString('hex')}`;
  assert.equal(
    (await node.rpc('personal_ecRecover', message, signature)).toLowerCase(),
    accounts[0].toLowerCase(),
  );
  await page.check('label:has-text("bytes in hex") input');
  await page.click('button:text-is("Sign message")');
  await page.waitForSelector('.failure:has-text("Expected bytes in hex")');

  await page.click('button:text-is("Typed data")');
  assert.match(page.url(), /form=typed/);
  const typed = JSON.parse(await page.inputValue('label:has-text("Typed data") textarea'));
  await page.waitForSelector('dt:text-is("Domain")');
  await page.click('button:text-is("Sign typed data")');
  await page.waitForSelector('.result dt:text-is("Signature")');
  const own = await node.rpc('eth_signTypedData_v4', accounts[0], JSON.stringify(typed));
  assert.equal(await page.locator('.result dd .mono').last().textContent(), own);
  await page.fill(
    'label:has-text("Typed data") textarea',
    JSON.stringify({ ...typed, domain: { ...typed.domain, chainId: 1 } }),
  );
  await page.waitForSelector('.tag.bad:text-is("Not this chain")');
  await page.fill('label:has-text("Typed data") textarea', '{"types": {}}');
  await page.click('button:text-is("Sign typed data")');
  await page.waitForSelector('.failure:has-text("The member primaryType is missing.")');
  await clean(page);
});

test('typed data are signed with the numbers of the text, or not at all', async () => {
  const page = await open('transact?tab=sign&form=typed');
  const field = page.locator('label:has-text("Typed data") textarea');
  const types = {
    EIP712Domain: [{ name: 'name', type: 'string' }],
    Pay: [{ name: 'sum', type: 'uint256' }],
  };
  const text = (sum) =>
    JSON.stringify({
      types,
      primaryType: 'Pay',
      domain: { name: 'Example' },
      message: { sum: 'SUM' },
    }).replace('"SUM"', sum);
  for (const rounded of ['1000000000000000001', '1e400', '0.1']) {
    await field.fill(text(rounded));
    await page.click('button:text-is("Sign typed data")');
    await page.waitForSelector(
      '.failure:has-text("Sum: write the number in quotes, or it would be rounded.")',
    );
  }
  const quoted = text('"1000000000000000001"');
  await field.fill(quoted);
  await page.click('button:text-is("Sign typed data")');
  await page.waitForSelector('.result dt:text-is("Signature")');
  const own = await node.rpc('eth_signTypedData_v4', accounts[0], quoted);
  assert.equal(await page.locator('.result dd .mono').last().textContent(), own);
  await clean(page);
});

test('members of a domain that the signature does not contain are not shown', async () => {
  const page = await open('transact?tab=sign&form=typed');
  const field = page.locator('label:has-text("Typed data") textarea');
  const types = {
    EIP712Domain: [{ name: 'name', type: 'string' }],
    Mail: [{ name: 'text', type: 'string' }],
  };
  const given = {
    types,
    primaryType: 'Mail',
    domain: { name: 'Example' },
    message: { text: 'Hello' },
  };
  await field.fill(JSON.stringify(given));
  await page.waitForSelector('dd:text-is("none, valid on every chain")');
  await field.fill(
    JSON.stringify({ ...given, domain: { name: 'Example', chainId: network.chainId } }),
  );
  await page.waitForSelector('dt:text-is("Chain ID")', { state: 'detached' });
  await page.click('button:text-is("Sign typed data")');
  await page.waitForSelector(
    '.failure:has-text("member chainId is not in the type EIP712Domain, and would not be signed.")',
  );
  await field.fill(JSON.stringify({ ...given, domain: null }));
  await page.click('button:text-is("Sign typed data")');
  await page.waitForSelector('.failure:has-text("The member domain is no object.")');
  await clean(page);
});

test('a message is signed once, whatever happens while the signature is made', async () => {
  const page = await open('transact?tab=sign');
  const signing = await hold(page, /personal_sign/);
  await page.fill('label:has-text("Message") textarea', 'Once');
  await page.click('button:text-is("Sign message")');
  await signing.asked;
  await announceWallet(page);
  assert.ok(await page.isDisabled('button:text-is("Sign message")'));
  await submitAgain(page, 'Sign message');
  await signing.release();
  await page.waitForSelector('.result dt:text-is("Signature")');
  assert.equal(signing.count(), 1);
  await clean(page);
});

test('a raw transaction is decoded before it is broadcast', async () => {
  const data = encodeCall(fragment('transfer(address,uint256)'), [accounts[8], 3_000_000n]);
  const nonce = await node.rpc('eth_getTransactionCount', accounts[3], 'latest');
  const given = {
    from: accounts[3],
    to: network.tokens.USDC,
    data,
    gas: '0x30000',
    nonce,
    maxFeePerGas: '0x77359400',
    maxPriorityFeePerGas: '0x3b9aca00',
    value: '0x0',
    chainId: `0x${network.chainId.toString(16)}`,
  };
  const { raw } = await node.rpc('eth_signTransaction', given);

  const page = await open('transact?tab=broadcast');
  const field = page.locator('label:has-text("Signed transaction") textarea');
  assert.ok(await page.isDisabled('button.primary:text-is("Broadcast")'));
  await field.fill('0x02f8');
  await page.waitForSelector('.failure:has-text("end too early")');
  await field.fill(encodeRlp([`0x${'ff'.repeat(400_000)}`, ...Array(8).fill('0x01')]));
  await page.waitForSelector('.failure:has-text("The field nonce is too long.")');

  await field.fill(raw);
  const fact = (name) =>
    page.locator('.facts > div', { has: page.locator(`dt:text-is("${name}")`) }).locator('dd');
  await fact('From')
    .locator(`text=${accounts[3].slice(2, 8)}`)
    .first()
    .waitFor();
  assert.match(await fact('Type').textContent(), /EIP-1559/);
  await page.waitForSelector('.arguments td:has-text("3 USDC")');
  await page.waitForSelector('text=transfer(address,uint256)');
  assert.equal(await page.locator('.failure').count(), 0);

  await page.click('button.primary:text-is("Broadcast")');
  await page.waitForSelector('.toast.good:has-text("The transaction was sent")');
  const hash = await page.locator('p:has-text("Sent: ") a').getAttribute('title');
  assert.equal(
    hash,
    (await node.rpc('eth_getBlockByNumber', 'latest', false)).transactions[0],
    'the hash that was decoded',
  );

  await field.fill('');
  await field.fill(raw);
  await page.waitForSelector('.failure:has-text("has been used")');

  const legacy = await node.rpc('eth_signTransaction', {
    from: accounts[3],
    to: accounts[4],
    value: '0x1',
    gas: '0x5208',
    gasPrice: '0x77359400',
    nonce: '0x64',
  });

  await field.fill(legacy.raw);
  await page.waitForSelector(
    '.failure:has-text("it waits until the account has sent the transactions")',
  );
  await fact('From')
    .locator(`text=${accounts[3].slice(2, 8)}`)
    .first()
    .waitFor();
  await clean(page);
});

const factOf = (page, name) =>
  page.locator('.facts > div', { has: page.locator(`dt:text-is("${name}")`) }).locator('dd');

/** A signed transaction that moves nothing; `more` are the fields of its type. */
async function signedWith(more) {
  const chainId = `0x${network.chainId.toString(16)}`;
  const nonce = await node.rpc('eth_getTransactionCount', accounts[3], 'latest');
  const given = {
    from: accounts[3],
    to: accounts[4],
    gas: '0x30000',
    nonce,
    maxFeePerGas: '0x77359400',
    maxPriorityFeePerGas: '0x3b9aca00',
    value: '0x0',
    chainId,
  };
  return (await node.rpc('eth_signTransaction', { ...given, ...more })).raw;
}

test('the delegations of a transaction are shown before it is broadcast', async () => {
  // The generator of secp256k1 and any number are a signature by an account whose key is unknown.
  const r = '0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
  const s = `0x${'22'.repeat(32)}`;
  const authorizationList = [
    { chainId: '0x0', address: network.tokens.USDC, nonce: '0x0', yParity: '0x0', r, s },
  ];
  const accessList = [
    { address: accounts[6], storageKeys: [`0x${'0'.repeat(64)}`, `0x${'1'.repeat(64)}`] },
  ];
  const page = await open('transact?tab=broadcast');
  await page.fill(
    'label:has-text("Signed transaction") textarea',
    await signedWith({ authorizationList, accessList }),
  );
  const row = factOf(page, 'Authorizations').locator('li');
  await row.filter({ hasText: 'on every chain · nonce 0' }).waitFor();
  assert.equal(await factOf(page, 'Access list').textContent(), '1 address, 2 storage keys');
  const [signer, target] = await row
    .locator('a')
    .evaluateAll((links) => links.map((link) => link.title.toLowerCase()));
  assert.equal(target, network.tokens.USDC.toLowerCase());
  await browser.picture(page, 'transact-delegation');
  await page.click('button.primary:text-is("Broadcast")');
  await page.waitForSelector('.toast.good:has-text("The transaction was sent")');
  assert.equal(
    await node.rpc('eth_getCode', signer, 'latest'),
    `0xef0100${target.slice(2)}`,
    'the chain recovers the same account',
  );
  await clean(page);
});

test('only the shown transaction is broadcast', async () => {
  const page = await open('transact?tab=broadcast');
  const field = page.locator('label:has-text("Signed transaction") textarea');
  const button = page.locator('button.primary:text-is("Broadcast")');
  await field.fill(await signedWith({}));
  await page.waitForSelector('button.primary:text-is("Broadcast"):enabled');
  const sending = await hold(page, /eth_sendRawTransaction/);
  await button.click();
  await sending.asked;
  await field.fill('0x02f8');
  await page.waitForSelector('.failure:has-text("end too early")');
  await sending.release();
  await page.waitForSelector('.toast.good:has-text("The transaction was sent")');
  assert.ok(await button.isDisabled());
  assert.equal(
    await page.locator('p:has-text("Sent: ")').count(),
    0,
    'the outcome of another transaction',
  );
  await submitAgain(page, 'Broadcast');
  // A second request would precede this one.
  await page.evaluate(() =>
    fetch('rpc', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
    }).then((response) => response.text()),
  );
  await page.waitForLoadState('networkidle');
  assert.equal(await page.locator('.failure').count(), 1);
  assert.equal(sending.count(), 1);
  await clean(page);
});

test('the maximum cost of a transaction includes its blobs', async () => {
  // Two blobs at 40,000 gwei for each unit of their gas.
  const blobVersionedHashes = ['01', '02'].map((end) => `0x01${'0'.repeat(60)}${end}`);
  const page = await open('transact?tab=broadcast');
  await page.fill(
    'label:has-text("Signed transaction") textarea',
    await signedWith({ blobVersionedHashes, maxFeePerBlobGas: '0x246139ca8000' }),
  );
  await factOf(page, 'Blobs').filter({ hasText: '2, at most 40,000 gwei' }).waitFor();
  const most = 2n * 131_072n * 40_000n * 10n ** 9n + 0x30000n * 0x77359400n;
  assert.equal(most, 10_486_153_216_000_000_000n);
  assert.equal(await factOf(page, 'May cost').textContent(), '10.4861532 HPX');
  await clean(page);
});

test('the forms are accessible, and fit a phone', async () => {
  for (const look of LOOKS) {
    const page = await open('transact', look);
    for (const tab of ['send', 'deploy', 'verify', 'sign', 'broadcast']) {
      await page.goto(`${node.url}/#/transact?tab=${tab}`);
      await page.waitForSelector('[role=tabpanel]:not([hidden]) button');
      await assertAccessible(page, `${tab}, ${look.name}`);
      await assertFits(page, `${tab}, ${look.name},`);
      await browser.picture(page, `transact-${tab}-${look.name}`);
    }
    await clean(page);
  }
});

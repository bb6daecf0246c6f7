// A realistic history of a node with the network's contracts, for tests and screenshots.

import { readFileSync } from 'node:fs';

import { encodeCall, fragment } from '../../crates/page/src/page/lib/abi.js';
import { cosmosSend } from './cosmos.mjs';

/**
 * Creation code of contracts/History.sol: solc with the optimizer (1 run), EVM version paris,
 * without metadata.
 */
const { code: CODE } = JSON.parse(
  readFileSync(new URL('contracts/history.json', import.meta.url), 'utf8'),
);
const GWEI = 10n ** 9n;
const ETHER = 10n ** 18n;
/** Gas for transactions that fail, of which no estimate is possible. */
const FAILING_GAS = '0x30d40';

const APPROVE = 'approve(address,uint256)';
const TRANSFER = 'transfer(address,uint256)';
const TRANSFER_FROM = 'transferFrom(address,address,uint256)';
const SWAP = 'swapExactTokensForTokens(address,address,uint256,uint256)';

function hex(value) {
  return `0x${value.toString(16)}`;
}

/** Sends the transactions of a history, one after the other. */
class Sender {
  constructor(node) {
    this.node = node;
  }

  /** Waits until a transaction is in a block. */
  async receipt(hash) {
    const deadline = Date.now() + 10_000;
    for (;;) {
      const found = await this.node.rpc('eth_getTransactionReceipt', hash);
      if (found) return found;
      if (Date.now() > deadline) throw new Error(`the transaction ${hash} is in no block`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Sends a transaction, by default with the gas that it is estimated to need. */
  async send(from, to, { data = '0x', value = 0n, gas = null } = {}) {
    const limit =
      gas ?? (await this.node.rpc('eth_estimateGas', { from, to, data, value: hex(value) }));
    const hash = await this.node.rpc('eth_sendTransaction', {
      from,
      ...(to && { to }),
      data,
      value: hex(value),
      gas: limit,
    });
    return this.receipt(hash);
  }

  /** Calls a function, given by its signature. */
  call(from, to, signature, values = [], options = {}) {
    return this.send(from, to, { data: encodeCall(fragment(signature), values), ...options });
  }

  /** Creates a contract and returns its address. */
  async create(from, name, types = [], values = []) {
    const inputs = types.map((type) => ({ type, name: '' }));
    // The arguments of a constructor follow the code, encoded like those of a call behind its
    // selector.
    const encoded = encodeCall({ type: 'function', name: 'f', inputs }, values).slice(10);
    const { contractAddress } = await this.send(from, null, { data: CODE[name] + encoded });
    return contractAddress;
  }
}

/** Payments in coins and in a token of the network. */
async function pay(sender, { alice, bob, carol }, { tokens }) {
  await sender.send(alice, bob, { value: 3n * ETHER });
  await sender.send(bob, carol, { value: ETHER / 4n });
  await sender.call(alice, tokens.USDC, TRANSFER, [bob, 1_500_000000n]);
  await sender.call(bob, tokens.USDC, TRANSFER, [carol, 250_500000n]);
}

/** Swaps; returns the receipt of the first. */
async function swap(sender, { alice }, { vault, tokens }) {
  await sender.call(alice, tokens.USDC, APPROVE, [vault, 10n ** 12n]);
  const swapped = await sender.call(alice, vault, SWAP, [
    tokens.USDC,
    tokens.WETH,
    1_000_000000n,
    0n,
  ]);
  await sender.call(alice, vault, SWAP, [tokens.USDC, tokens.WBTC, 2_000_000000n, 0n]);
  return swapped;
}

/** A loan on a collateral; returns its receipt. */
async function borrow(sender, { bob }, { lendingPool, tokens }) {
  await sender.call(bob, tokens.WETH, APPROVE, [lendingPool, 10n * ETHER]);
  await sender.call(bob, lendingPool, 'deposit(address,uint256)', [tokens.WETH, 5n * ETHER]);
  return sender.call(bob, lendingPool, 'borrow(address,uint256)', [tokens.USDC, 500_000000n]);
}

/** A swap, a transfer and a transaction with too little gas, which all fail. */
async function fail(sender, { alice, carol, dave }, { vault, tokens }) {
  const gas = FAILING_GAS;
  return [
    await sender.call(carol, vault, SWAP, [tokens.USDC, tokens.USDC, 1n, 0n], { gas }),
    await sender.call(dave, tokens.USDC, TRANSFER_FROM, [alice, dave, 1n], { gas }),
    await sender.call(dave, vault, SWAP, [tokens.USDC, tokens.WETH, 1n, 0n], { gas: '0x6000' }),
  ];
}

/** A fungible token (ERC-20) with holders; the last transfer fails. */
async function makeCoin(sender, { alice, bob, carol, dave }) {
  const supply = 1_000_000n * ETHER;
  const coin = await sender.create(
    carol,
    'Coin',
    ['string', 'string', 'uint256'],
    ['Community Token', 'COMM', supply],
  );
  await sender.call(carol, coin, TRANSFER, [alice, 400_000n * ETHER]);
  await sender.call(carol, coin, TRANSFER, [bob, 125_000n * ETHER]);
  await sender.call(carol, coin, TRANSFER, [dave, ETHER]);
  await sender.call(alice, coin, 'burn(uint256)', [1_000n * ETHER]);

  const gas = FAILING_GAS;
  const failed = await sender.call(dave, coin, TRANSFER, [bob, 50n * ETHER], { gas });
  return { coin, failed };
}

/** Non-fungible tokens (ERC-721) with owners. */
async function makeCollectible(sender, { alice, bob, carol, dave }) {
  const collectible = await sender.create(carol, 'Collectible');
  for (const to of [alice, alice, bob, dave])
    await sender.call(carol, collectible, 'mint(address)', [to]);
  await sender.call(alice, collectible, TRANSFER_FROM, [alice, bob, 1n]);
  return collectible;
}

/** Tokens of several kinds (ERC-1155) with owners. */
async function makeBadges(sender, { alice, bob, carol, dave }) {
  const badges = await sender.create(dave, 'Badges');
  const mint = 'mint(address,uint256,uint256)';
  await sender.call(dave, badges, mint, [alice, 7n, 20n]);
  await sender.call(dave, badges, mint, [bob, 9n, 1n]);
  const transfer = 'safeTransferFrom(address,address,uint256,uint256,bytes)';
  await sender.call(alice, badges, transfer, [alice, carol, 7n, 5n, '0x']);
  return badges;
}

/** A contract that creates another, which pays. */
async function makeFactory(sender, { alice, dave }) {
  const factory = await sender.create(alice, 'Factory');
  const { logs } = await sender.call(alice, factory, 'create()');
  const purse = `0x${logs[0].data.slice(-40)}`;
  await sender.call(alice, purse, 'pay(address)', [dave], { value: ETHER / 10n });
  return { factory, purse };
}

/**
 * Gives a node a history: transfers of coins and tokens, tokens of each standard, swaps, loans,
 * failed transactions, created contracts and a Cosmos transaction. `transfers` is the number of
 * additional transfers of coins, which make lists longer than a page. Returns the accounts,
 * addresses and hashes of the history.
 */
export async function seed(node, { transfers = 0 } = {}) {
  const network = await (await fetch(`${node.url}/api/network`)).json();
  const accounts = await node.rpc('eth_accounts');
  const [alice, bob, carol, dave] = accounts;
  const people = { alice, bob, carol, dave };
  const sender = new Sender(node);

  await pay(sender, people, network);
  const swapped = await swap(sender, people, network);
  const loan = await borrow(sender, people, network);
  const failed = await fail(sender, people, network);

  const { coin, failed: failedTransfer } = await makeCoin(sender, people);
  const collectible = await makeCollectible(sender, people);
  const badges = await makeBadges(sender, people);
  const { factory, purse } = await makeFactory(sender, people);

  const payment = { from: dave, to: alice, amount: ETHER / 2n, memo: 'Lunch' };
  const { hash: cosmos } = await cosmosSend(node, network, payment);
  for (let at = 0; at < transfers; at++) {
    const value = BigInt(at + 1) * GWEI;
    await sender.send(accounts[5], accounts[6 + (at % 4)], { value, gas: '0x5208' });
  }

  return {
    network,
    accounts,
    contracts: { coin, collectible, badges, factory, purse },
    swapped: swapped.transactionHash,
    loan: loan.transactionHash,
    failed: [...failed, failedTransfer].map((one) => one.transactionHash),
    cosmos,
  };
}

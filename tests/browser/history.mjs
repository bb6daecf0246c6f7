// A realistic history of a node with the network's contracts, for tests and screenshots.

import { createECDH } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { encodeCall, fragment } from '../../crates/page/src/page/lib/abi.js';
import { forms } from '../../crates/page/src/page/lib/address.js';
import { keccak256 as keccak } from '../../crates/page/src/page/vendor/ethers.js';
import { KNOWN_KEYS } from '../../crates/page/src/page/lib/keys.js';

/**
 * Creation code of contracts/History.sol: solc with the optimizer (1 run), EVM version paris,
 * without metadata.
 */
const { code: CODE } = JSON.parse(
  readFileSync(new URL('contracts/history.json', import.meta.url), 'utf8'),
);
/** The hash of bytes, as bytes. */
const keccak256 = (bytes) => Buffer.from(keccak(bytes).slice(2), 'hex');
const GWEI = 10n ** 9n;
const ETHER = 10n ** 18n;

const hex = (value) => `0x${value.toString(16)}`;

/**
 * A signature over a digest with secp256k1, as 64 bytes. The nonce is derived from key and digest,
 * which suffices for tests.
 */
function sign(digest, key) {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const mod = (value, by) => ((value % by) + by) % by;
  const inverse = (value, by) => {
    let [a, b, x, y] = [mod(value, by), by, 1n, 0n];
    while (a > 1n) [a, b, x, y] = [b % a, a, y - (b / a) * x, x];
    return mod(x, by);
  };
  const number = (bytes) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  const bytes = (value) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
  const secret = number(key);
  const nonce = mod(number(keccak256(Buffer.concat([key, digest]))), order);
  const curve = createECDH('secp256k1');
  curve.setPrivateKey(bytes(nonce));
  const r = mod(number(curve.getPublicKey().subarray(1, 33)), order);
  const s = mod(inverse(nonce, order) * (number(digest) + r * secret), order);
  return Buffer.concat([bytes(r), bytes(s > order / 2n ? order - s : s)]);
}

/**
 * Fields of a protobuf message: numbers as varints, texts and bytes with their length; empty ones
 * are left out.
 */
function message(fields) {
  const varint = (value) => {
    const out = [];
    for (let left = BigInt(value); ; left >>= 7n) {
      if (left < 128n) return Buffer.from([...out, Number(left)]);
      out.push(Number(left & 127n) | 128);
    }
  };
  return Buffer.concat(
    Object.entries(fields).flatMap(([tag, value]) => {
      if (typeof value === 'number' || typeof value === 'bigint')
        return value ? [varint(tag << 3), varint(value)] : [];
      return [value]
        .flat()
        .map((one) => Buffer.from(one))
        .flatMap((one) => [varint((tag << 3) | 2), varint(one.length), one]);
    }),
  );
}

/** Sends coins by a Cosmos transaction, and returns its hash on the EVM side. */
async function cosmosSend(node, key, from, to, amount, network) {
  const prefix = network.bech32Prefix;
  const secret = Buffer.from(key.slice(2), 'hex');
  const curve = createECDH('secp256k1');
  curve.setPrivateKey(secret);
  const sender = forms(from, prefix).account;
  const { account } = await (
    await fetch(`${node.url}/cosmos/auth/v1beta1/accounts/${sender}`)
  ).json();
  const { account_number: number, sequence } = account.base_account ?? account;
  const denom = network.nativeCoin.denomination;
  const coin = (value) => message({ 1: denom, 2: value.toString() });
  const any = (url, value) => message({ 1: url, 2: value });
  const send = message({ 1: sender, 2: forms(to, prefix).account, 3: coin(amount) });
  const body = message({ 1: any('/cosmos.bank.v1beta1.MsgSend', send), 2: 'Lunch' });
  const publicKey = any(
    '/hyperpaxeer.crypto.v1.ethsecp256k1.PubKey',
    message({ 1: curve.getPublicKey(null, 'compressed') }),
  );
  const signer = message({
    1: publicKey,
    2: message({ 1: message({ 1: 1 }) }),
    3: Number(sequence),
  });
  const auth = message({ 1: signer, 2: message({ 1: coin(200_000n * 10n * GWEI), 2: 200_000 }) });
  const document = message({ 1: body, 2: auth, 3: network.cosmosChainId, 4: Number(number) });
  const raw = message({ 1: body, 2: auth, 3: sign(Buffer.from(keccak256(document)), secret) });
  const request = { tx_bytes: raw.toString('base64'), mode: 'BROADCAST_MODE_SYNC' };
  const response = await fetch(`${node.url}/cosmos/tx/v1beta1/txs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
  const answer = await response.json();
  if (answer.tx_response?.code !== 0)
    throw new Error(`the Cosmos transaction was refused: ${JSON.stringify(answer)}`);
  const path = `${node.url}/cosmos/tx/v1beta1/txs/${answer.tx_response.txhash}`;
  const deadline = Date.now() + 10_000;
  let found = await fetch(path);
  while (!found.ok) {
    if (Date.now() > deadline) throw new Error('the Cosmos transaction is in no block');
    await new Promise((resolve) => setTimeout(resolve, 10));
    found = await fetch(path);
  }
  const { height } = (await found.json()).tx_response;
  const { transactions } = await node.rpc('eth_getBlockByNumber', hex(Number(height)), true);
  return transactions.find(({ v, r, s }) => [v, r, s].every((part) => part === '0x0')).hash;
}

/**
 * Gives a node a history: transfers of coins and tokens, tokens of each standard, swaps, loans,
 * failed transactions, created contracts and a Cosmos transaction. `transfers` is the number of
 * additional transfers of coins, which make lists longer than a page. Returns the accounts, and
 * addresses and hashes of what there is to see.
 */
export async function seed(node, { transfers = 0 } = {}) {
  const network = await (await fetch(`${node.url}/api/network`)).json();
  const { vault, lendingPool, tokens } = network;
  const accounts = await node.rpc('eth_accounts');
  const [alice, bob, carol, dave] = accounts;

  const receipt = async (hash) => {
    const deadline = Date.now() + 10_000;
    for (;;) {
      const found = await node.rpc('eth_getTransactionReceipt', hash);
      if (found) return found;
      if (Date.now() > deadline) throw new Error(`the transaction ${hash} is in no block`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const send = async (
    from,
    to,
    {
      text = null,
      values = [],
      data = text ? encodeCall(fragment(text), values) : '0x',
      value = 0n,
      gas = null,
    } = {},
  ) => {
    const limit = gas ?? (await node.rpc('eth_estimateGas', { from, to, data, value: hex(value) }));
    return receipt(
      await node.rpc('eth_sendTransaction', {
        from,
        ...(to && { to }),
        data,
        value: hex(value),
        gas: limit,
      }),
    );
  };
  const create = async (from, name, types = [], values = []) => {
    const inputs = types.map((type) => ({ type, name: '' }));
    // The arguments of a constructor follow the code, encoded like those of a call behind its
    // selector.
    const encoded = encodeCall({ type: 'function', name: 'f', inputs }, values).slice(10);
    const { contractAddress } = await send(from, null, { data: CODE[name] + encoded });
    return contractAddress;
  };

  await send(alice, bob, { value: 3n * ETHER });
  await send(bob, carol, { value: ETHER / 4n });
  await send(alice, tokens.USDC, {
    text: 'transfer(address,uint256)',
    values: [bob, 1_500_000000n],
  });
  await send(bob, tokens.USDC, { text: 'transfer(address,uint256)', values: [carol, 250_500000n] });

  const swap = 'swapExactTokensForTokens(address,address,uint256,uint256)';
  await send(alice, tokens.USDC, { text: 'approve(address,uint256)', values: [vault, 10n ** 12n] });
  const swapped = await send(alice, vault, {
    text: swap,
    values: [tokens.USDC, tokens.WETH, 1_000_000000n, 0n],
  });
  await send(alice, vault, { text: swap, values: [tokens.USDC, tokens.WBTC, 2_000_000000n, 0n] });

  await send(bob, tokens.WETH, {
    text: 'approve(address,uint256)',
    values: [lendingPool, 10n * ETHER],
  });
  await send(bob, lendingPool, {
    text: 'deposit(address,uint256)',
    values: [tokens.WETH, 5n * ETHER],
  });
  const loan = await send(bob, lendingPool, {
    text: 'borrow(address,uint256)',
    values: [tokens.USDC, 500_000000n],
  });

  const failed = [
    await send(carol, vault, {
      text: swap,
      values: [tokens.USDC, tokens.USDC, 1n, 0n],
      gas: '0x30d40',
    }),
    await send(dave, tokens.USDC, {
      text: 'transferFrom(address,address,uint256)',
      values: [alice, dave, 1n],
      gas: '0x30d40',
    }),
    await send(dave, vault, {
      text: swap,
      values: [tokens.USDC, tokens.WETH, 1n, 0n],
      gas: '0x6000',
    }),
  ];

  const coin = await create(
    carol,
    'Coin',
    ['string', 'string', 'uint256'],
    ['Community Token', 'COMM', 1_000_000n * ETHER],
  );
  for (const [to, units] of [
    [alice, 400_000n],
    [bob, 125_000n],
    [dave, 1n],
  ]) {
    await send(carol, coin, { text: 'transfer(address,uint256)', values: [to, units * ETHER] });
  }
  await send(alice, coin, { text: 'burn(uint256)', values: [1_000n * ETHER] });
  failed.push(
    await send(dave, coin, {
      text: 'transfer(address,uint256)',
      values: [bob, 50n * ETHER],
      gas: '0x30d40',
    }),
  );

  const collectible = await create(carol, 'Collectible');
  for (const to of [alice, alice, bob, dave])
    await send(carol, collectible, { text: 'mint(address)', values: [to] });
  await send(alice, collectible, {
    text: 'transferFrom(address,address,uint256)',
    values: [alice, bob, 1n],
  });
  const badges = await create(dave, 'Badges');
  await send(dave, badges, { text: 'mint(address,uint256,uint256)', values: [alice, 7n, 20n] });
  await send(dave, badges, { text: 'mint(address,uint256,uint256)', values: [bob, 9n, 1n] });
  await send(alice, badges, {
    text: 'safeTransferFrom(address,address,uint256,uint256,bytes)',
    values: [alice, carol, 7n, 5n, '0x'],
  });

  const factory = await create(alice, 'Factory');
  const { logs } = await send(alice, factory, { text: 'create()' });
  const purse = `0x${logs[0].data.slice(-40)}`;
  await send(alice, purse, { text: 'pay(address)', values: [dave], value: ETHER / 10n });

  const key = KNOWN_KEYS[dave];
  const cosmos = await cosmosSend(node, key, dave, alice, ETHER / 2n, network);

  for (let at = 0; at < transfers; at++)
    await send(accounts[5], accounts[6 + (at % 4)], {
      value: BigInt(at + 1) * GWEI,
      gas: '0x5208',
    });

  return {
    network,
    accounts,
    contracts: { coin, collectible, badges, factory, purse },
    swapped: swapped.transactionHash,
    loan: loan.transactionHash,
    failed: failed.map((one) => one.transactionHash),
    cosmos,
  };
}

// One account or contract: addresses, balances, code and recent activity.

import { forms, parseAddress } from '../lib/address.js';
import { card, copyButton, facts, failure, h, heading, replace, table } from '../lib/dom.js';
import { amount, count, usd } from '../lib/format.js';
import { addressLink, coins } from '../lib/links.js';
import { nameOf, network, read } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { prices } from '../lib/prices.js';
import { TRANSACTION_COLUMNS, transactionRows } from './explorer.js';
import { contractCard } from './contract.js';
import { transfers } from './transfers.js';

/** Number of recent blocks searched for transactions of the account. */
const SEARCHED = 180;

function copyable(text) {
  return h('span', h('span.mono', text), copyButton(text));
}

/** The address that an account delegates its code to (EIP-7702), or null. */
function delegate(code) {
  return code.startsWith('0xef0100') && code.length === 48 ? `0x${code.slice(8)}` : null;
}

async function holdings(address) {
  const all = [...network.tokens, ...(network.receipts ?? [])];
  const balances = await Promise.all(all.map((token) => read('Token', token.address, 'balanceOf', address).catch(() => 0n)));
  return all.map((token, at) => ({ token, balance: balances[at] })).filter(({ balance }) => balance > 0n);
}

function holdingRows(found) {
  return found.map(({ token, balance }) => {
    const asset = token.kind === 'receipt' ? network.tokens[network.receipts.indexOf(token)] : token;
    const price = prices.of(asset.address)?.price;
    const worth = price ? usd((Number(balance) / 10 ** token.decimals) * price) : '–';
    return [addressLink(token.address), h('span', { title: balance.toString() }, `${amount(balance, token.decimals, 10)} ${token.symbol}`), worth];
  });
}

/** Transactions from or to an account in the newest blocks. */
async function recent(address, signal) {
  const wanted = address.toLowerCase();
  const blocks = await Promise.all(node.headers.slice(-SEARCHED).map((header) => node.call('eth_getBlockByHash', header.hash, true).catch(() => null)));
  if (signal.aborted) return [];
  const all = blocks.filter(Boolean).flatMap((block) => block.transactions).toReversed();
  return transactionRows(all.filter((one) => one.from === wanted || one.to === wanted).slice(0, 25));
}

async function cosmos(address) {
  if (!network.addresses) return null;
  const response = await fetch(`cosmos/auth/v1beta1/accounts/${forms(address, network.prefix).account}`);
  return response.ok ? (await response.json()).account : null;
}

export default async function view({ signal, rest: [text = ''] }) {
  const address = parseAddress(text, network.prefix);
  const all = forms(address, network.prefix);
  prices.follow();
  const [code, account] = await Promise.all([node.call('eth_getCode', address, 'latest'), cosmos(address).catch(() => null)]);
  const isContract = code !== '0x';
  const moving = { balance: h('strong'), nonce: h('span') };
  const tokens = h('div');
  const base = account?.base_account ?? account;
  whenever(node, 'head', signal, async () => {
    const [balance, nonce, found] = await Promise.all([node.call('eth_getBalance', address, 'latest'), node.call('eth_getTransactionCount', address, 'latest'), holdings(address)]);
    if (signal.aborted) return;
    moving.balance.textContent = coins(balance, 24);
    moving.nonce.textContent = count(Number(nonce));
    replace(tokens, table(['Token', '-Balance', '-Value'], holdingRows(found), 'No balance of the network\u2019s tokens'));
  }, 2_000);
  const activity = h('div', h('p.soft', 'Searching recent blocks…'));
  recent(address, signal).then((rows) => replace(activity, table(TRANSACTION_COLUMNS, rows, `No transactions in the last ${SEARCHED} blocks`)));
  const moved = h('div', h('p.soft', 'Loading transfers…'));
  transfers(address).then((list) => replace(moved, list), (error) => replace(moved, failure(error)));
  const target = delegate(code);
  return [
    heading(nameOf(address) ?? (isContract && !target ? 'Contract' : 'Account'), h('span.tag', target ? 'Delegated account' : isContract ? 'Contract' : 'Account')),
    card(null, facts([
      ['Address', copyable(all.hex)],
      network.addresses && ['Cosmos address', copyable(all.account)],
      ['Balance', moving.balance],
      ['Nonce', moving.nonce],
      base?.account_number !== undefined && ['Account number', base.account_number],
      base?.pub_key?.key && ['Public key', copyable(base.pub_key.key)],
      target && ['Delegated to', addressLink(target, { full: true })],
    ])),
    h('div.grid.two',
      card('Tokens', tokens),
      isContract && !target
        ? await contractCard(address, signal)
        : card('Validator addresses', facts([['Validator operator', copyable(all.operator)], ['Validator consensus', copyable(all.consensus)]]))),
    card('Latest transactions', activity),
    card('Token transfers', moved),
    isContract && card('Code', h('p.soft', `${count(code.length / 2 - 1)} bytes`), h('details', h('summary', 'Show'), h('div.code', h('pre', { tabindex: '0' }, code), copyButton(code)))),
  ];
}

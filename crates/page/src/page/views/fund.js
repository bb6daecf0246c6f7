// Coins and tokens for any account, without limits: the development methods write balances.

import { action, first, quantity } from '../lib/actions.js';
import { parseRecipient } from '../lib/address.js';
import { addressInput } from '../lib/addressinput.js';
import { card, field, h } from '../lib/dom.js';
import { amount, fromUnits } from '../lib/format.js';
import { callData, network, read } from '../lib/network.js';
import { node } from '../lib/node.js';
import { wallets } from '../lib/wallet.js';
import { needsBlock } from './miningnotice.js';

/** The coins that a sender keeps for its gas, in wei. */
const GAS_COINS = 10n ** 16n;

/** A node account with a sufficient balance, other than the recipient. */
async function richest(token, value, except) {
  for (const from of wallets.held.filter((one) => one !== except)) {
    const balance = token
      ? await read('Token', token.address, 'balanceOf', from)
      : BigInt(await node.call('eth_getBalance', from, 'latest')) - GAS_COINS;
    if (balance >= value) return from;
  }
  throw new Error('no node account has a sufficient balance');
}

/** Adds to the balance of an address. Without a token it is that of coins. */
async function give(address, token, value, { setBalance, deal }) {
  if (!token && setBalance) {
    const before = BigInt(await node.call('eth_getBalance', address, 'latest'));
    await node.call(setBalance, address, quantity(before + value));
  } else if (token && deal) {
    const before = await read('Token', token.address, 'balanceOf', address);
    await node.call(deal, address, token.address, quantity(before + value));
  } else {
    await transfer(address, token, value);
  }
}

/** Sends coins or a token from a node account, where balances cannot be written. */
async function transfer(address, token, value) {
  const from = await richest(token, value, address);
  const transaction = token
    ? { from, to: token.address, data: callData('Token', 'transfer', address, value) }
    : { from, to: address, value: quantity(value) };
  await wallets.receipt(await node.call('eth_sendTransaction', transaction));
}

export async function fundCard(signal) {
  const [setBalance, deal] = await Promise.all([
    first('anvil_setBalance', 'hardhat_setBalance'),
    first('anvil_dealERC20'),
  ]);
  const to = addressInput({ value: wallets.current?.address ?? '' });
  const symbols = [network.coin, ...network.tokens.map((token) => token.symbol)];
  const what = h(
    'select',
    symbols.map((symbol) => h('option', symbol)),
  );
  const how = h('input', { inputmode: 'decimal', value: '100' });

  const send = async () => {
    const address = parseRecipient(to.value, network.prefix);
    const token = network.tokens.find((one) => one.symbol === what.value);
    const value = fromUnits(how.value, token?.decimals ?? 18);
    await give(address, token, value, { setBalance, deal });
    return `Sent ${amount(value, token?.decimals ?? 18)} ${what.value}`;
  };
  const fields = [field('To', to), h('div.pair', field('Asset', what), field('Amount', how))];
  const needsTransaction = !setBalance || !deal;
  return card('Fund account', action(fields, 'Send', send), needsTransaction && needsBlock(signal));
}

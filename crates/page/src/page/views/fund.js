// Coins and tokens for any account, without limits: the development methods write balances.

import { action, quantity } from '../lib/actions.js';
import { parseRecipient } from '../lib/address.js';
import { card, field, h } from '../lib/dom.js';
import { amount, fromUnits } from '../lib/format.js';
import { network, callData, read } from '../lib/network.js';
import { node } from '../lib/node.js';
import { first } from '../lib/actions.js';
import { wallets } from '../lib/wallet.js';
import { needsBlock } from './miningnotice.js';

/** A node account with a sufficient balance, other than the recipient. */
async function richest(token, value, except) {
  for (const from of wallets.held.filter((one) => one !== except)) {
    const balance = token
      ? await read('Token', token.address, 'balanceOf', from)
      : BigInt(await node.call('eth_getBalance', from, 'latest')) - 10n ** 16n;
    if (balance >= value) return from;
  }
  throw new Error('no node account has a sufficient balance');
}

export async function fundCard(signal) {
  const [setBalance, deal] = await Promise.all([
    first('anvil_setBalance', 'hardhat_setBalance'),
    first('anvil_dealERC20'),
  ]);
  const choices = [network.coin, ...network.tokens.map((token) => token.symbol)];
  const to = h('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: `0x… or ${network.prefix}1…`,
    value: wallets.current?.address ?? '',
  });
  const what = h(
    'select',
    choices.map((symbol) => h('option', symbol)),
  );
  const how = h('input', { inputmode: 'decimal', value: '100' });
  const give = async () => {
    const address = parseRecipient(to.value, network.prefix);
    const token = network.tokens.find((one) => one.symbol === what.value);
    const value = fromUnits(how.value, token?.decimals ?? 18);
    if (!token && setBalance) {
      const before = BigInt(await node.call('eth_getBalance', address, 'latest'));
      await node.call(setBalance, address, quantity(before + value));
    } else if (token && deal) {
      const before = await read('Token', token.address, 'balanceOf', address);
      await node.call(deal, address, token.address, quantity(before + value));
    } else {
      const from = await richest(token, value, address);
      const transaction = token
        ? { from, to: token.address, data: callData('Token', 'transfer', address, value) }
        : { from, to: address, value: quantity(value) };
      await wallets.receipt(await node.call('eth_sendTransaction', transaction));
    }
    return `Sent ${amount(value, token?.decimals ?? 18)} ${what.value}`;
  };
  const sends = !setBalance || !deal;
  return card(
    'Fund account',
    action(
      [field('To', to), h('div.pair', field('Asset', what), field('Amount', how))],
      'Send',
      give,
    ),
    sends && needsBlock(signal),
  );
}

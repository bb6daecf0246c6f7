// Sends coins or tokens from the active account.

import { encodeCall, fragment } from '../lib/abi.js';
import { quantity, submitOnce } from '../lib/actions.js';
import { parseAddress, parseRecipient } from '../lib/address.js';
import { failure, field, h, replace, setText, toast } from '../lib/dom.js';
import { flow } from '../lib/flow.js';
import { amount, amountProblem, fromUnits, shorten, toUnits } from '../lib/format.js';
import { network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { placed, setPlace } from '../lib/place.js';
import { tokenInfo } from '../lib/tokens.js';
import { wallets } from '../lib/wallet.js';
import { forcedSend } from './forced.js';

const BALANCE_OF = fragment('balanceOf(address account) view returns (uint256)');
const TRANSFER = fragment('transfer(address to, uint256 value)');
/** The choice of a token that is not one of the network's. */
const OTHER = 'other';

/**
 * The choices of assets by what the URL calls them: the coin, the network's tokens, and any token
 * by its address.
 */
function assetSelect(wanted) {
  const listed = [network.coin, ...network.tokens.map(({ symbol }) => symbol)];
  const chosen = listed.includes(wanted) ? wanted : wanted ? OTHER : network.coin;
  const options = listed.map((symbol) =>
    h('option', { value: symbol, selected: symbol === chosen }, symbol),
  );
  return h(
    'select',
    options,
    h('option', { value: OTHER, selected: chosen === OTHER }, 'Another token…'),
  );
}

/** What is sent: `{ address, symbol, decimals }`, with an address of null for the coin. */
async function assetOf(select, other) {
  if (select.value === network.coin) return { address: null, symbol: network.coin, decimals: 18 };
  if (select.value !== OTHER) return network.tokens.find(({ symbol }) => symbol === select.value);
  const address = parseAddress(other.value, network.prefix);
  const { symbol, decimals } = await tokenInfo(address);
  if (decimals === null)
    throw new Error(`the contract ${shorten(address)} reports no decimals: it may be no token`);
  return { address, symbol: symbol ?? 'tokens', decimals };
}

async function balanceOf(asset, account) {
  if (!asset.address) return BigInt(await node.call('eth_getBalance', account, 'latest'));
  return BigInt(
    await node.call(
      'eth_call',
      { to: asset.address, data: encodeCall(BALANCE_OF, [account]) },
      'latest',
    ),
  );
}

function parseAmount(text, asset) {
  try {
    return fromUnits(text, asset.decimals);
  } catch (error) {
    throw new Error(amountProblem(error, asset));
  }
}

function transactionOf(asset, to, value) {
  if (!asset.address) return { to, value: quantity(value) };
  return { to: asset.address, data: encodeCall(TRANSFER, [to, value]) };
}

export function sendForm(signal) {
  const asked = placed('asset') ?? '';
  const asset = assetSelect(asked);
  const other = h('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: '0x…',
    value: asset.value === OTHER ? asked : '',
  });
  const otherRow = field('Token address', other);
  const to = h('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: `0x… or ${network.prefix}1…`,
    value: placed('to') ?? '',
  });
  const sum = h('input', {
    inputmode: 'decimal',
    autocomplete: 'off',
    placeholder: '0',
    value: placed('amount') ?? '',
  });
  const balance = h('p.soft');
  const problem = h('div', { 'aria-live': 'polite' });
  const submit = h('button.primary', { type: 'submit' }, 'Send');
  const forced = forcedSend();
  const steps = flow();
  const form = h(
    'form.stack',
    h('div.pair', field('Asset', asset), field('Amount', sum)),
    otherRow,
    field('To', to),
    balance,
    forced.element,
    h('div.row', submit),
    problem,
    steps.element,
  );

  let turn = 0;

  const describe = async () => {
    const own = ++turn;
    const account = wallets.current?.address;
    otherRow.hidden = asset.value !== OTHER;
    if (!account) return setText(balance, 'To send, choose an account at the top.');
    const chosen = await assetOf(asset, other).catch(() => null);
    const held = chosen && (await balanceOf(chosen, account).catch(() => null));
    // Another asset or account may have been chosen since.
    if (own !== turn) return;
    const known = held !== null && held !== undefined;
    setText(
      balance,
      known ? `${shorten(account)} has ${amount(held, chosen.decimals, 9)} ${chosen.symbol}.` : '',
    );
  };
  const run = async () => {
    // What is in the fields now is sent by the account that is active now, even if either changes
    // while the token is asked for its decimals.
    const account = wallets.current;
    const recipient = parseRecipient(to.value, network.prefix);
    const sumText = sum.value;
    const gas = forced.gas();
    const mayFail = forced.on();
    const chosen = await assetOf(asset, other);
    const value = parseAmount(sumText, chosen);
    const name = `Send ${toUnits(value, chosen.decimals)} ${chosen.symbol} to ${shorten(recipient)}`;
    const receipt = await steps.run(
      [{ name, transaction: { ...transactionOf(chosen, recipient, value), ...gas }, mayFail }],
      account,
    );
    if (receipt.status === '0x1')
      toast(`Sent ${toUnits(value, chosen.decimals)} ${chosen.symbol}`, 'good', {
        href: `#/tx/${receipt.transactionHash}`,
        text: 'View transaction',
      });
  };

  submitOnce(
    form,
    submit,
    async () => {
      replace(problem);
      steps.clear();
      await run().catch((error) => replace(problem, failure(error)));
      describe();
    },
    signal,
  );
  form.addEventListener('input', () => {
    replace(problem);
    setPlace({
      asset: asset.value === OTHER ? other.value.trim() : asset.value,
      to: to.value.trim(),
      amount: sum.value.trim(),
    });
  });
  form.addEventListener('change', describe);
  wallets.addEventListener('change', describe, { signal });
  whenever(node, 'head', signal, describe, 2_000);
  return form;
}

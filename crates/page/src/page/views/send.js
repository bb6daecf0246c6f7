// Sends coins or tokens from the active account.

import { encodeCall, fragment } from '../lib/abi.js';
import { quantity, submitOnce } from '../lib/actions.js';
import { parseAddress, parseRecipient } from '../lib/address.js';
import { failure, field, h, replace, setText, toast } from '../lib/dom.js';
import { flow } from '../lib/flow.js';
import { amount, amountProblem, fromUnits, shorten, toUnits } from '../lib/format.js';
import { viewTransaction } from '../lib/links.js';
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
  const unlisted = wanted ? OTHER : network.coin;
  const chosen = listed.includes(wanted) ? wanted : unlisted;
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

  const call = { to: asset.address, data: encodeCall(BALANCE_OF, [account]) };
  return BigInt(await node.call('eth_call', call, 'latest'));
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

function textInput(properties) {
  return h('input', { autocomplete: 'off', ...properties });
}

class SendForm {
  #signal;
  #asset;
  #other;
  #otherRow;
  #to = textInput({
    spellcheck: 'false',
    placeholder: `0x… or ${network.prefix}1…`,
    value: placed('to') ?? '',
  });
  #amount = textInput({ inputmode: 'decimal', placeholder: '0', value: placed('amount') ?? '' });
  #balance = h('p.soft');
  #problem = h('div', { 'aria-live': 'polite' });
  #submit = h('button.primary', { type: 'submit' }, 'Send');
  #forced = forcedSend();
  #steps = flow();
  /** The number of the newest reading of a balance. */
  #turn = 0;

  constructor(signal) {
    this.#signal = signal;
    const wanted = placed('asset') ?? '';
    this.#asset = assetSelect(wanted);
    this.#other = textInput({
      spellcheck: 'false',
      placeholder: '0x…',
      value: this.#asset.value === OTHER ? wanted : '',
    });
    this.#otherRow = field('Token address', this.#other);
    this.element = h(
      'form.stack',
      h('div.pair', field('Asset', this.#asset), field('Amount', this.#amount)),
      this.#otherRow,
      field('To', this.#to),
      this.#balance,
      this.#forced.element,
      h('div.row', this.#submit),
      this.#problem,
      this.#steps.element,
    );
    this.#listen();
  }

  #listen() {
    submitOnce(this.element, this.#submit, () => this.#run(), this.#signal);
    this.element.addEventListener('input', () => {
      replace(this.#problem);
      this.#keepPlace();
    });

    const describe = () => this.#describe();
    this.element.addEventListener('change', describe);
    wallets.addEventListener('change', describe, { signal: this.#signal });
    whenever(node, 'head', this.#signal, describe, 2_000);
  }

  #keepPlace() {
    setPlace({
      asset: this.#asset.value === OTHER ? this.#other.value.trim() : this.#asset.value,
      to: this.#to.value.trim(),
      amount: this.#amount.value.trim(),
    });
  }

  /** Shows the field of another token if it is needed, and what the account has of the asset. */
  async #describe() {
    const turn = ++this.#turn;
    const account = wallets.current?.address;
    this.#otherRow.hidden = this.#asset.value !== OTHER;
    if (!account) return setText(this.#balance, 'To send, choose an account at the top.');

    const asset = await assetOf(this.#asset, this.#other).catch(() => null);
    const held = asset && (await balanceOf(asset, account).catch(() => null));
    // Another asset or account may have been chosen since.
    if (turn !== this.#turn) return;

    const isKnown = held !== null && held !== undefined;
    setText(
      this.#balance,
      isKnown ? `${shorten(account)} has ${amount(held, asset.decimals, 9)} ${asset.symbol}.` : '',
    );
  }

  async #run() {
    replace(this.#problem);
    this.#steps.clear();
    await this.#send().catch((error) => replace(this.#problem, failure(error)));
    this.#describe();
  }

  async #send() {
    // What is in the fields now is sent by the account that is active now, even if either changes
    // while the token is asked for its decimals.
    const account = wallets.current;
    const recipient = parseRecipient(this.#to.value, network.prefix);
    const amountText = this.#amount.value;
    const gas = this.#forced.gas();
    const mayFail = this.#forced.on();

    const asset = await assetOf(this.#asset, this.#other);
    const value = parseAmount(amountText, asset);
    const what = `${toUnits(value, asset.decimals)} ${asset.symbol}`;
    const step = {
      name: `Send ${what} to ${shorten(recipient)}`,
      transaction: { ...transactionOf(asset, recipient, value), ...gas },
      mayFail,
    };
    const receipt = await this.#steps.run([step], account);
    if (receipt.status === '0x1')
      toast(`Sent ${what}`, 'good', viewTransaction(receipt.transactionHash));
  }
}

export function sendForm(signal) {
  return new SendForm(signal).element;
}

// Simulation of a call, such as that of a transaction with changes, beside what the transaction
// did. Nothing is sent.

import { decode, encodeCall, selector, signature } from '../lib/abi.js';
import { coinsIn, quantity } from '../lib/actions.js';
import { checksum, parseAddress } from '../lib/address.js';
import { formatArgument } from '../lib/arguments.js';
import { abiOf, contractAt } from '../lib/contracts.js';
import { decoderFor } from '../lib/decoder.js';
import { card, copyButton, field, h, heading, replace } from '../lib/dom.js';
import {
  addressesIn,
  callDebugLink,
  outcomeOf,
  simulate,
  simulationLink,
  traceTransaction,
} from '../lib/execution.js';
import { reasonOfOutcome } from '../lib/failures.js';
import { count, toUnits } from '../lib/format.js';
import { addressLink, blockLink, transactionLink } from '../lib/links.js';
import { coinTransfers, tokensOf, tokenTransfers } from '../lib/movements.js';
import { network } from '../lib/network.js';
import { node } from '../lib/node.js';
import { wallets } from '../lib/wallet.js';
import { callTree, resultsOf } from './calltree.js';
import { argumentFields } from './fields.js';
import { addressesInLogs, eventList, hexBlock, movementAmount, stateChanges } from './parts.js';

const NOBODY = `0x${'0'.repeat(40)}`;

/**
 * A transaction with its receipt, which is null while it is pending; null without a hash. Throws if
 * there is no such transaction.
 */
export async function minedTransaction(hash) {
  if (!hash) return null;
  if (!/^0x[0-9a-f]{64}$/i.test(hash))
    throw new Error(`not a transaction hash: ${hash.slice(0, 80)}`);
  const [transaction, receipt] = await Promise.all([
    node.call('eth_getTransactionByHash', hash),
    node.call('eth_getTransactionReceipt', hash),
  ]);
  if (!transaction) throw new Error(`transaction ${hash} not found`);
  return { transaction, receipt };
}

/** A transaction with its receipt and its outcome, or null without a hash. */
async function originalOf(hash) {
  const mined = await minedTransaction(hash);
  if (!mined) return null;
  const { transaction, receipt } = mined;
  if (!receipt) return { transaction, receipt, outcome: null };

  const traced = await traceTransaction(hash);
  const outcome = traced
    ? outcomeOf(traced)
    : {
        status: receipt.status === '0x1',
        output: null,
        error: receipt.status === '0x1' ? null : 'failed',
        gasUsed: BigInt(receipt.gasUsed),
        logs: receipt.logs,
        trace: null,
        diff: null,
      };
  return { transaction, receipt, outcome };
}

/** The fields' first contents: the link's, else the transaction's. */
export function startingFrom(query, original) {
  const { transaction, receipt } = original ?? {};
  const pick = (name, otherwise) => query.get(name) ?? otherwise;
  return {
    from: pick('from', transaction?.from ?? wallets.current?.address ?? NOBODY),
    to: pick('to', transaction?.to ?? '').replace(/^none$/, ''),
    value: pick('value', transaction ? BigInt(transaction.value).toString() : '0'),
    data: pick('data', transaction?.input ?? '0x'),
    gas: pick('gas', transaction ? Number(transaction.gas).toString() : ''),
    block: pick('block', receipt ? 'position' : 'latest'),
    overrides: pick('overrides', ''),
  };
}

/** State overrides from JSON text, or null without any. */
export function parseOverrides(text) {
  if (!text.trim()) return null;
  let given;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw new Error(`state overrides: not valid JSON: ${error.message}`);
  }
  if (!given || typeof given !== 'object' || Array.isArray(given))
    throw new Error('state overrides: expected a JSON object of accounts by address');
  return Object.fromEntries(
    Object.entries(given).map(([address, account]) => {
      if (!account || typeof account !== 'object')
        throw new Error(`state overrides: expected an object for ${address}`);
      // Numbers are more easily written in decimal than in hex.
      const number = (name) =>
        account[name] !== undefined && /^\d+$/.test(String(account[name]))
          ? { [name]: quantity(account[name]) }
          : {};
      return [
        parseAddress(address, network.prefix),
        { ...account, ...number('balance'), ...number('nonce') },
      ];
    }),
  );
}

/** Which block and position a choice of the block field means. */
export function placeOf(block, original) {
  const number = original?.receipt ? Number(original.receipt.blockNumber) : null;
  if (block === 'position' && number !== null)
    return { at: quantity(number), index: Number(original.receipt.transactionIndex) };
  if (block === 'before' && number !== null) return { at: quantity(Math.max(0, number - 1)) };
  if (block === 'latest') return { at: 'latest' };
  if (!/^\d{1,15}$/.test(block)) throw new Error('block: expected a block number');
  return { at: quantity(block) };
}

/** Transfers as a list. */
function moves(transfers, tokens) {
  const rest = transfers.length - 20;
  return h(
    'ul.plain.moves',
    transfers
      .slice(0, 20)
      .map((one) =>
        h(
          'li',
          movementAmount(one, tokens),
          h('span.soft', ' from '),
          addressLink(one.from),
          h('span.soft', ' to '),
          addressLink(one.to),
        ),
      ),
    rest > 0 && h('li.soft', `and ${count(rest)} more`),
  );
}

/**
 * The rows of the comparison: name, the cell of an outcome, and a text by which two outcomes are
 * compared.
 */
async function comparedRows(outcome, call, decoder, tokens) {
  if (!outcome) return null;
  const known = call.to ? decoder.call(call.to, call.data) : null;
  const values = known && outcome.status ? decoder.result(known.fragment, outcome.output) : null;
  const returned =
    outcome.output === null
      ? h('span.soft', 'Unknown')
      : values
        ? resultsOf(known.fragment, values, call.to)
        : outcome.output === '0x'
          ? h('span.soft', 'Nothing')
          : hexBlock(outcome.output);
  const transfers = [
    ...(outcome.trace ? coinTransfers(outcome.trace) : []),
    ...tokenTransfers(outcome.logs),
  ];
  const names = outcome.logs.map((log) => decoder.log(log)?.fragment.name ?? 'unknown');
  return [
    [
      'Status',
      h(outcome.status ? 'span.tag.good' : 'span.tag.bad', outcome.status ? 'Success' : 'Failed'),
      String(outcome.status),
    ],
    [
      'Reason',
      outcome.status ? h('span.soft', '–') : await reasonOfOutcome(outcome, decoder, call),
      `${outcome.status}${outcome.output}`,
    ],
    [
      'Returned',
      outcome.status ? returned : h('span.soft', '–'),
      outcome.status ? outcome.output : '',
    ],
    ['Gas used', count(Number(outcome.gasUsed)), String(outcome.gasUsed)],
    [
      'Events',
      names.length
        ? `${count(names.length)}: ${[...new Set(names)].slice(0, 8).join(', ')}`
        : 'None',
      JSON.stringify(outcome.logs.map(({ address, topics, data }) => [address, topics, data])),
    ],
    [
      'Transfers',
      transfers.length ? moves(transfers, tokens) : 'None',
      JSON.stringify(transfers.map((one) => Object.values(one).map(String))),
    ],
  ];
}

async function results(outcome, original, call) {
  const past = original?.outcome ?? null;
  const logs = [...outcome.logs, ...(past?.logs ?? [])];
  const decoder = await decoderFor([
    call.to,
    original?.transaction.to,
    ...logs.map((log) => log.address),
    ...addressesIn(outcome.trace),
    ...addressesIn(past?.trace),
  ]);
  const transfers = [outcome, past]
    .filter(Boolean)
    .flatMap((one) => [
      ...(one.trace ? coinTransfers(one.trace) : []),
      ...tokenTransfers(one.logs),
    ]);
  const tokens = await tokensOf(transfers);
  const before = original && { to: original.transaction.to, data: original.transaction.input };
  const [now, then] = await Promise.all([
    comparedRows(outcome, call, decoder, tokens),
    comparedRows(past, before, decoder, tokens),
  ]);
  const rows = now.map(([name, cell, text], at) => {
    const changed = then && then[at][2] !== text;
    const difference =
      name === 'Gas used' && changed ? Number(outcome.gasUsed) - Number(past.gasUsed) : 0;
    return h(
      changed ? 'tr.changed' : 'tr',
      h('td', name),
      then && h('td', then[at][1]),
      h(
        'td',
        cell,
        difference !== 0 &&
          h('span.soft', ` (${difference > 0 ? '+' : '−'}${count(Math.abs(difference))})`),
        changed && h('span.hidden', ' (changed)'),
      ),
    );
  });
  const head = h(
    'thead',
    h(
      'tr',
      h('td'),
      then && h('th', { scope: 'col' }, 'Original'),
      h('th', { scope: 'col' }, 'Simulated'),
    ),
  );
  const beside = (title, make) =>
    card(
      title,
      then
        ? h(
            'div.grid.two',
            h('div.stack', h('h3', 'Original'), make(past)),
            h('div.stack', h('h3', 'Simulated'), make(outcome)),
          )
        : make(outcome),
    );
  const tree = (one) =>
    one.trace
      ? callTree(one.trace, decoder, { other: one === outcome ? (past?.trace ?? null) : null })
          .element
      : h('p.soft', 'The node does not trace calls.');
  const same = then && now.every(([, , text], at) => then[at][2] === text);
  return [
    card(
      'Result',
      same && h('p.note', 'The simulation did exactly what the transaction did.'),
      h(
        'div.scroll',
        { tabindex: '0', role: 'group', 'aria-label': 'Result' },
        h('table.compare', head, h('tbody', rows)),
      ),
    ),
    beside('Events', (one) => eventList(one.logs, decoder)),
    beside('Call tree', tree),
    outcome.diff &&
      card(
        'State changes of the simulation',
        stateChanges(
          outcome.diff,
          [
            call.from,
            call.to,
            ...addressesInLogs(outcome.logs),
            ...addressesIn(outcome.trace),
          ].filter(Boolean),
        ),
      ),
  ];
}

/**
 * The fields of the input: the arguments of a function if the ABI of the recipient is known, or
 * hex.
 */
function inputFields(start) {
  const raw = h('textarea', { rows: '4', spellcheck: 'false', placeholder: '0x' });
  raw.value = start;
  const box = h('div.stack');
  let [functions, chosen, fields] = [[], null, null];
  const read = () => (fields ? encodeCall(chosen, fields.values()) : raw.value.trim() || '0x');

  function showFunction(called, texts) {
    chosen = called;
    fields = argumentFields(called.inputs, texts);
    const select = h(
      'select',
      functions.map((one, at) => h('option', { value: at }, signature(one))),
    );
    select.value = String(functions.indexOf(called));
    select.addEventListener('change', () => showFunction(functions[Number(select.value)], []));
    replace(box, modes(false), field('Function', select), fields.elements);
  }
  function showRaw() {
    fields = null;
    replace(box, functions.length > 0 && modes(true), field('Input data', raw));
  }
  function decoded() {
    const known = functions.find((one) => raw.value.trim().startsWith(selector(one)));
    if (!known) return showFunction(functions[0], []);
    try {
      const values = decode(known.inputs, `0x${raw.value.trim().slice(10)}`);
      showFunction(
        known,
        known.inputs.map((input, at) => formatArgument(values[at], input)),
      );
    } catch {
      showRaw();
    }
  }
  function toRaw() {
    try {
      raw.value = read();
    } catch {
      // Incomplete arguments have no encoding; the last one stays.
    }
    showRaw();
  }
  const modes = (isRaw) =>
    h(
      'div.tabs',
      { role: 'group', 'aria-label': 'Form of the input' },
      h(
        'button',
        { type: 'button', 'aria-pressed': String(!isRaw), onclick: () => isRaw && decoded() },
        'Decoded',
      ),
      h(
        'button',
        { type: 'button', 'aria-pressed': String(isRaw), onclick: () => !isRaw && toRaw() },
        'Raw',
      ),
    );

  /** Adapts to the recipient's functions. */
  async function follow(to) {
    const abi = await contractAt(to)
      .then(abiOf)
      .catch(() => null);
    const found = abi
      ? [
          ...new Map(
            [...abi.implementation, ...abi.own]
              .filter((one) => one.type === 'function')
              .map((one) => [signature(one), one]),
          ).values(),
        ]
      : [];
    if (fields) toRaw();
    functions = found.sort((a, b) => a.name.localeCompare(b.name));
    if (functions.some((one) => raw.value.trim().startsWith(selector(one)))) decoded();
    else showRaw();
  }
  showRaw();
  return { box, read, follow };
}

export default async function view({ query, signal }) {
  const original = await originalOf(query.get('tx'));
  const start = startingFrom(query, original);
  const shown = (address) => (/^0x[0-9a-f]{40}$/i.test(address) ? checksum(address) : address);
  const text = (value, properties = {}) => {
    const input = h('input', { autocomplete: 'off', spellcheck: 'false', ...properties });
    input.value = value;
    return input;
  };
  const from = text(shown(start.from));
  const to = text(shown(start.to), { placeholder: 'Empty: the input creates a contract' });
  const value = text(/^\d+$/.test(start.value) ? toUnits(BigInt(start.value), 18) : start.value, {
    inputmode: 'decimal',
  });
  const gas = text(start.gas, { inputmode: 'numeric', placeholder: 'The node’s limit' });
  const number = original?.receipt ? Number(original.receipt.blockNumber) : null;
  const places = [
    ...(number !== null
      ? [
          ['position', `In block ${count(number)}, at its position`],
          ['before', `Before block ${count(number)}`],
        ]
      : []),
    ['latest', 'Latest block'],
    ['number', 'After block number…'],
  ];
  const block = h(
    'select',
    places.map(([id, name]) => h('option', { value: id }, name)),
  );
  const other = text(/^\d+$/.test(start.block) ? start.block : '', {
    inputmode: 'numeric',
    placeholder: '0',
  });
  block.value = places.some(([id]) => id === start.block)
    ? start.block
    : /^\d+$/.test(start.block)
      ? 'number'
      : 'latest';
  const otherField = field('Block number', other);
  const showOther = () => (otherField.hidden = block.value !== 'number');
  const overrides = h('textarea', {
    rows: '3',
    spellcheck: 'false',
    placeholder: '{"0x…": {"balance": "1000000000000000000", "stateDiff": {"0x…": "0x…"}}}',
  });
  overrides.value = start.overrides;
  const input = inputFields(start.data);
  const output = h('div.stack.sections', { 'aria-live': 'polite' });
  const share = h('span.row');
  const submit = h('button.primary', { type: 'submit' }, 'Simulate');

  function callOf() {
    const address = (name, given) => {
      try {
        return parseAddress(given, network.prefix);
      } catch (error) {
        throw new Error(`${name}: ${error.message}`);
      }
    };
    const sum = coinsIn(value);
    if (gas.value.trim() && !/^\d[\d,_]*$/.test(gas.value.trim()))
      throw new Error('gas limit: expected a number');
    const data = input.read();
    if (!/^0x([0-9a-f]{2})*$/i.test(data)) throw new Error('input data: expected bytes in hex');
    return {
      from: address('from', from.value),
      to: to.value.trim() ? address('to', to.value) : null,
      value: sum,
      data,
      gas: gas.value.trim() ? BigInt(gas.value.replace(/[,_]/g, '')) : null,
    };
  }

  /** The link that fills in this form: the transaction, and what differs from it. */
  function linkOf(call, place) {
    const { transaction } = original ?? {};
    const lower = (address) => (address ?? '').toLowerCase();
    return simulationLink({
      tx: transaction?.hash,
      from: lower(transaction?.from) === lower(call.from) ? null : call.from,
      value: (transaction ? BigInt(transaction.value) : 0n) === call.value ? null : call.value,
      data: (transaction?.input ?? '0x') === call.data ? null : call.data,
      gas:
        transaction && call.gas !== null && BigInt(transaction.gas) === call.gas ? null : call.gas,
      block: place === (number !== null ? 'position' : 'latest') ? null : place,
      overrides: overrides.value.trim() || null,
      ...(lower(transaction?.to) !== lower(call.to) && { to: call.to ?? 'none' }),
    });
  }

  async function run() {
    submit.disabled = true;
    try {
      const call = callOf();
      const place = block.value === 'number' ? other.value.trim() : block.value;
      const outcome = await simulate(call, {
        ...placeOf(place, original),
        overrides: parseOverrides(overrides.value),
      });
      const link = linkOf(call, place);
      const parts = await results(outcome, original, call);
      if (signal.aborted) return;
      history.replaceState(history.state, '', link);
      const debug =
        outcome.trace &&
        h(
          'a.button',
          { href: callDebugLink(link, !outcome.status) },
          outcome.status ? 'Debug' : 'Go to the failing line',
        );
      replace(
        share,
        debug,
        copyButton(() => new URL(link, location.href).href, 'Copy link to this simulation'),
      );
      replace(output, parts);
    } catch (error) {
      if (!signal.aborted) replace(output, h('div.failure', { role: 'alert' }, error.message));
    }
    submit.disabled = false;
  }

  const follow = async () => {
    try {
      await input.follow(parseAddress(to.value, network.prefix));
    } catch {
      await input.follow(NOBODY);
    }
  };
  block.addEventListener('change', showOther);
  to.addEventListener('change', follow);
  showOther();
  const form = h(
    'form.stack',
    h(
      'div.grid.two',
      field('From', from, 'Any address: no signature is needed.'),
      field('To', to),
      field(`Value (${network.coin})`, value),
      field('Gas limit', gas),
      field('State', block),
      otherField,
    ),
    input.box,
    h(
      'details',
      { open: start.overrides !== '' },
      h('summary', 'State overrides'),
      field(
        'Accounts by address (JSON)',
        overrides,
        'balance, nonce, code, state, stateDiff; as in eth_call.',
      ),
    ),
    h('div.row', submit, share),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    run();
  });
  await follow();
  if (['tx', 'data', 'value'].some((name) => query.has(name))) run();
  const about =
    original &&
    h(
      'p',
      'Transaction ',
      transactionLink(original.transaction.hash),
      original.receipt ? [' in block ', blockLink(number)] : ' (pending)',
      ' from ',
      addressLink(original.transaction.from),
    );
  return [
    heading(original ? 'Replay with changes' : 'Simulate a call'),
    about ??
      h(
        'p.lead',
        'Executes a call on the state of a block, from any account. Nothing is sent, and nothing changes.',
      ),
    card('Call', form),
    output,
  ];
}

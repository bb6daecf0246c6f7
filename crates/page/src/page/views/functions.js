// The functions of a contract, each with a form to read it, or to simulate and write it.

import { decode, encodeCall, signature, typeName } from '../lib/abi.js';
import { coinsIn, quantity } from '../lib/actions.js';
import { decoderFor } from '../lib/decoder.js';
import { copyButton, field, h, replace, toast } from '../lib/dom.js';
import { addressesIn, callDebugLink, simulate, simulationLink } from '../lib/execution.js';
import { reasonOfOutcome } from '../lib/failures.js';
import { count } from '../lib/format.js';
import { addressLink, transactionLink } from '../lib/links.js';
import { coinTransfers, tokensOf, tokenTransfers } from '../lib/movements.js';
import { network } from '../lib/network.js';
import { node } from '../lib/node.js';
import { wallets } from '../lib/wallet.js';
import { resultsOf } from './calltree.js';
import { argumentFields } from './fields.js';
import { forcedSend } from './forced.js';
import { showGetters } from './getters.js';
import { eventList, transferTable } from './parts.js';

const NOBODY = `0x${'0'.repeat(40)}`;

/** The link to a contract with a tab and its parameters. */
function linkTo(address, parameters) {
  const query = new URLSearchParams(
    Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined),
  );
  return `#/contract/${address}?${query}`;
}

/**
 * The functions of an ABI by name, those of the implementation first; each with whether it is the
 * proxy's own.
 */
export function functionsOf(abi) {
  const found = new Map();
  for (const one of abi.implementation)
    if (one.type === 'function') found.set(signature(one), { called: one, own: false });
  for (const one of abi.own)
    if (one.type === 'function' && !found.has(signature(one)))
      found.set(signature(one), { called: one, own: abi.implementation.length > 0 });
  return [...found.values()].sort((a, b) => a.called.name.localeCompare(b.called.name));
}

/** The argument texts in a link's `args`, a JSON list. */
function argumentsIn(query) {
  try {
    const list = JSON.parse(query.get('args') ?? '[]');
    return Array.isArray(list)
      ? list.map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one)))
      : [];
  } catch {
    return [];
  }
}

function problem(error) {
  return h('div.failure', { role: 'alert' }, error.message);
}

function shareButton(contract, tab, called, texts) {
  return copyButton(
    () =>
      new URL(
        linkTo(contract.address, {
          tab,
          function: signature(called),
          args: texts.length ? JSON.stringify(texts) : null,
        }),
        location.href,
      ).href,
    'Copy link with these arguments',
  );
}

/**
 * The link to where a call without an account fails, or null where the node does not trace calls.
 */
async function failingLine(to, data) {
  if (!(await node.has('debug_traceCall'))) return null;
  return h(
    'p',
    h(
      'a',
      { href: callDebugLink(simulationLink({ from: NOBODY, to, data }), true) },
      'Go to the failing line',
    ),
  );
}

/** The form of a view function. It reads immediately if there is nothing to fill in. */
function readForm(contract, called, texts, run) {
  const fields = argumentFields(called.inputs, texts, contract.address);
  const output = h('div.result', { 'aria-live': 'polite' });
  const query = async () => {
    try {
      const data = encodeCall(called, fields.values());
      const answer = await node
        .call('eth_call', { to: contract.address, data }, 'latest')
        .catch(async (error) => {
          throw error.data
            ? Object.assign(
                new Error(await (await decoderFor([contract.address])).error(error.data)),
                { link: await failingLine(contract.address, data) },
              )
            : error;
        });
      if (answer === '0x' && called.outputs.length)
        throw new Error('the contract returned nothing: it may not have this function');
      replace(
        output,
        resultsOf(called, decode(called.outputs, answer), contract.address) ??
          h('p.soft', 'No return values'),
      );
    } catch (error) {
      replace(output, problem(error), error.link);
    }
  };
  const link = h('span');
  const share = () => replace(link, shareButton(contract, 'read', called, fields.texts()));
  const form = h(
    'form.stack',
    fields.elements,
    h('div.row', h('button', { type: 'submit' }, called.inputs.length ? 'Query' : 'Refresh'), link),
    output,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    query();
  });
  form.addEventListener('input', share);
  share();
  if (!called.inputs.length || run) query();
  return form;
}

/**
 * The reason for which a call fails, with the ABIs of all contracts that it reaches, or null if it
 * does not fail.
 */
async function reasonOf(contract, call) {
  const found = await simulate(call);
  if (found.status) return null;
  return reasonOfOutcome(
    found,
    await decoderFor([contract.address, ...addressesIn(found.trace)]),
    call,
  );
}

async function showOutcome(output, called, contract, call) {
  const found = await simulate(call);
  const decoder = await decoderFor([
    contract.address,
    ...addressesIn(found.trace),
    ...found.logs.map((log) => log.address),
  ]);
  const transfers = [
    ...(found.trace ? coinTransfers(found.trace) : []),
    ...tokenTransfers(found.logs),
  ];
  const tokens = await tokensOf(transfers);
  const values = found.status ? decoder.result(called, found.output) : null;
  const link = simulationLink({
    from: call.from,
    to: call.to,
    data: call.data,
    value: call.value > 0n ? call.value : null,
  });
  replace(
    output,
    h(
      'div.row',
      h(
        found.status ? 'span.tag.good' : 'span.tag.bad',
        found.status ? 'Would succeed' : 'Would fail',
      ),
      h('span.soft', `${count(Number(found.gasUsed))} gas`),
      h('a', { href: link }, 'Open in the simulator'),
      found.trace &&
        h(
          'a',
          { href: callDebugLink(link, !found.status) },
          found.status ? 'Debug' : 'Go to the failing line',
        ),
    ),
    !found.status && h('p', await reasonOfOutcome(found, decoder, call)),
    values && resultsOf(called, values, contract.address),
    transfers.length > 0 && [h('h3', 'Transfers'), transferTable(transfers, tokens)],
    found.logs.length > 0 && [
      h('h3', `Events (${count(found.logs.length)})`),
      eventList(found.logs, decoder),
    ],
  );
}

/** Shows what a written call did. One that was forced may have failed. */
async function showReceipt(output, called, contract, receipt) {
  const decoder = await decoderFor([contract.address, ...receipt.logs.map((log) => log.address)]);
  const succeeded = receipt.status === '0x1';
  replace(
    output,
    h(
      'div.row',
      succeeded ? h('span.tag.good', 'Success') : h('span.tag.bad', 'Failed'),
      transactionLink(receipt.transactionHash),
      h('span.soft', `${count(Number(receipt.gasUsed))} gas`),
    ),
    receipt.logs.length > 0 && eventList(receipt.logs, decoder),
  );
  toast(
    `${called.name} ${succeeded ? 'succeeded' : 'was mined, and failed'}`,
    succeeded ? 'good' : 'info',
    { href: `#/tx/${receipt.transactionHash}`, text: 'View transaction' },
  );
}

/**
 * The call with what is in the fields, from the active account or from the zero address. `value` is
 * the field of the coins, if it has one.
 */
function callWith(contract, called, fields, value) {
  return {
    from: wallets.current?.address ?? NOBODY,
    to: contract.address,
    value: coinsIn(value),
    data: encodeCall(called, fields.values()),
  };
}

/** Sends a call from the active account and shows what it did, or why it failed. */
async function sendCall(output, called, contract, call, forced) {
  let sent = null;
  try {
    const { to, data, value } = call;
    const receipt = await wallets.send(
      { to, data, value: quantity(value), ...forced.gas() },
      (hash) => {
        sent = hash;
        replace(output, h('p', 'Sent: ', transactionLink(hash), ', waiting for its receipt…'));
      },
      { mayFail: forced.on() },
    );
    await showReceipt(output, called, contract, receipt);
  } catch (error) {
    // The wallet knows the errors of the network's contracts; those of this one need its ABI.
    const reason = /unknown error/.test(error.message)
      ? await reasonOf(contract, call).catch(() => null)
      : null;
    replace(
      output,
      problem(reason ? new Error(reason) : error),
      sent && h('p', 'Sent: ', transactionLink(sent)),
    );
  }
}

/**
 * The form of a function that changes the state: simulate it, or send it from the active account.
 */
function writeForm(contract, called, texts, signal) {
  const fields = argumentFields(called.inputs, texts, contract.address);
  const value =
    called.stateMutability === 'payable'
      ? h('input', { inputmode: 'decimal', placeholder: '0', autocomplete: 'off' })
      : null;
  const forced = forcedSend();
  const output = h('div.result', { 'aria-live': 'polite' });
  const send = h('button.primary', { type: 'submit' }, 'Write');
  const trial = h('button', { type: 'button' }, 'Simulate');
  const whoever = h('p.soft');
  let busy = false;
  const describe = () => {
    const { current } = wallets;
    send.disabled = busy || !current;
    replace(
      whoever,
      current
        ? ['From ', addressLink(current.address)]
        : 'To write, choose an account at the top. Simulating needs none.',
    );
  };
  const runOnce = async (run) => {
    if (busy) return;
    busy = send.disabled = trial.disabled = true;
    try {
      await run(callWith(contract, called, fields, value));
    } catch (error) {
      replace(output, problem(error));
    }
    busy = trial.disabled = false;
    describe();
  };
  const simulateCall = (call) => showOutcome(output, called, contract, call);
  const write = async (call) => {
    send.textContent = 'Waiting…';
    await sendCall(output, called, contract, call, forced);
    send.textContent = 'Write';
  };

  const link = h('span');
  const share = () => replace(link, shareButton(contract, 'write', called, fields.texts()));
  const form = h(
    'form.stack',
    fields.elements,
    value && field(`Value (${network.coin})`, value),
    forced.element,
    h('div.row', trial, send, link),
    whoever,
    output,
  );
  trial.addEventListener('click', () => runOnce(simulateCall));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    runOnce(write);
  });
  form.addEventListener('input', share);
  wallets.addEventListener('change', describe, { signal });
  share();
  describe();
  return form;
}

/** A list of functions, each with a form that is made when it is opened. */
export function functionList(contract, functions, tab, query, signal) {
  const wanted =
    query.get('tab') === tab || (!query.has('tab') && tab === 'read')
      ? query.get('function')
      : null;
  const named =
    functions.find(({ called }) => signature(called) === wanted) ??
    functions.find(({ called }) => called.name === wanted);
  const entries = functions.map((entry) => {
    const { called, own } = entry;
    const body = h('div.stack');
    const value = h('span.value');
    const outputs = called.outputs.length ? ` → ${called.outputs.map(typeName).join(', ')}` : '';
    const element = h(
      'details',
      h(
        'summary',
        h('strong', called.name),
        h(
          'span.mono.soft',
          `(${called.inputs.map((input) => `${typeName(input)}${input.name ? ` ${input.name}` : ''}`).join(', ')})${outputs}`,
        ),
        called.stateMutability === 'payable' && h('span.tag.accent', 'payable'),
        own && h('span.tag', 'proxy'),
        value,
      ),
      body,
    );
    const fill = (texts, run) =>
      !body.firstChild &&
      body.append(
        tab === 'read'
          ? readForm(contract, called, texts, run)
          : writeForm(contract, called, texts, signal),
      );
    element.addEventListener('toggle', () => element.open && fill([], false));
    if (entry === named) {
      fill(argumentsIn(query), true);
      element.open = true;
    }
    return { element, called, value, text: called.name.toLowerCase() };
  });
  if (tab === 'read') showGetters(contract, entries, signal);
  const search = h('input', {
    type: 'search',
    placeholder: 'Filter functions',
    'aria-label': 'Filter functions',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const none = h('p.soft', { hidden: true }, 'No function has this name');
  search.addEventListener('input', () => {
    const text = search.value.trim().toLowerCase();
    entries.forEach(({ element, text: name }) => (element.hidden = !name.includes(text)));
    none.hidden = entries.some(({ element }) => !element.hidden);
  });
  return h(
    'div.stack',
    entries.length > 8 && h('div', search),
    h(
      'div.functions',
      entries.map(({ element }) => element),
    ),
    none,
  );
}

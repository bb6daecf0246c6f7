// A contract: functions to read, simulate and write, events, source, bytecode, and the ABI they are decoded with.

import { action } from '../lib/actions.js';
import { decode, encodeCall, signature, typeName } from '../lib/abi.js';
import { parseAddress } from '../lib/address.js';
import { abiOf, contractAt, removeAbi, saveAbi, savedAbi } from '../lib/contracts.js';
import { decoderFor } from '../lib/decoder.js';
import { card, copyButton, facts, field, h, heading, replace, toast } from '../lib/dom.js';
import { addressesIn, callDebugLink, simulate, simulationLink } from '../lib/execution.js';
import { reasonOfOutcome } from '../lib/failures.js';
import { count, counted, fromUnits } from '../lib/format.js';
import { ask } from '../lib/index.js';
import { addressLink, transactionLink } from '../lib/links.js';
import { tokensOf, tokenTransfers, coinTransfers } from '../lib/movements.js';
import { displayName } from '../lib/labels.js';
import { network } from '../lib/network.js';
import { node } from '../lib/node.js';
import { setPlace } from '../lib/place.js';
import { TOKEN_STANDARDS } from '../lib/standards.js';
import { isTokenAbi, tokenInfo } from '../lib/tokens.js';
import { wallets } from '../lib/wallet.js';
import { resultsOf } from './calltree.js';
import { eventsViewer } from './events.js';
import { argumentFields } from './fields.js';
import { forcedSend } from './forced.js';
import { showGetters } from './getters.js';
import { eventList, hexBlock, transferTable } from './parts.js';
import { sourceViewer } from './source.js';

/** The tabs of a contract, as `?tab=` in links names them. */
export const CONTRACT_TABS = ['read', 'write', 'events', 'source', 'code', 'abi'];

const NOBODY = `0x${'0'.repeat(40)}`;
const ORIGINS = { network: 'Network contract', verified: 'Verified source', saved: 'ABI saved in this browser' };

function currentQuery() {
  return new URLSearchParams(location.hash.split('?')[1] ?? '');
}

/** The link to a contract with a tab and its parameters. */
function linkTo(address, parameters) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined));
  return `#/contract/${address}?${query}`;
}

const isView = (one) => /^(view|pure)$/.test(one.stateMutability);

/** The functions of an ABI by name, those of the implementation first; each with whether it is the proxy's own. */
function functionsOf(abi) {
  const found = new Map();
  for (const one of abi.implementation) if (one.type === 'function') found.set(signature(one), { called: one, own: false });
  for (const one of abi.own) if (one.type === 'function' && !found.has(signature(one))) found.set(signature(one), { called: one, own: abi.implementation.length > 0 });
  return [...found.values()].sort((a, b) => a.called.name.localeCompare(b.called.name));
}

/** The argument texts in a link's `args`, a JSON list. */
function argumentsIn(query) {
  try {
    const list = JSON.parse(query.get('args') ?? '[]');
    return Array.isArray(list) ? list.map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one))) : [];
  } catch {
    return [];
  }
}

function problem(error) {
  return h('div.failure', { role: 'alert' }, error.message);
}

function shareButton(contract, tab, called, texts) {
  return copyButton(() => new URL(linkTo(contract.address, { tab, function: signature(called), args: texts.length ? JSON.stringify(texts) : null }), location.href).href, 'Copy link with these arguments');
}

/** The link to where a call without an account fails, or null where the node does not trace calls. */
async function failingLine(to, data) {
  if (!(await node.has('debug_traceCall'))) return null;
  return h('p', h('a', { href: callDebugLink(simulationLink({ from: NOBODY, to, data }), true) }, 'Go to the failing line'));
}

/** The form of a view function. It reads immediately if there is nothing to fill in. */
function readForm(contract, called, texts, run) {
  const fields = argumentFields(called.inputs, texts, contract.address);
  const output = h('div.result', { 'aria-live': 'polite' });
  const query = async () => {
    try {
      const data = encodeCall(called, fields.values());
      const answer = await node.call('eth_call', { to: contract.address, data }, 'latest').catch(async (error) => {
        throw error.data ? Object.assign(new Error(await (await decoderFor([contract.address])).error(error.data)), { link: await failingLine(contract.address, data) }) : error;
      });
      if (answer === '0x' && called.outputs.length) throw new Error('the contract returned nothing: it may not have this function');
      replace(output, resultsOf(called, decode(called.outputs, answer), contract.address) ?? h('p.soft', 'No return values'));
    } catch (error) {
      replace(output, problem(error), error.link);
    }
  };
  const link = h('span');
  const share = () => replace(link, shareButton(contract, 'read', called, fields.texts()));
  const form = h('form.stack', fields.elements, h('div.row', h('button', { type: 'submit' }, called.inputs.length ? 'Query' : 'Refresh'), link), output);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    query();
  });
  form.addEventListener('input', share);
  share();
  if (!called.inputs.length || run) query();
  return form;
}

/** The reason for which a call fails, with the ABIs of all contracts that it reaches, or null if it does not fail. */
async function reasonOf(contract, call) {
  const found = await simulate(call);
  if (found.status) return null;
  return reasonOfOutcome(found, await decoderFor([contract.address, ...addressesIn(found.trace)]), call);
}

async function showOutcome(output, called, contract, call) {
  const found = await simulate(call);
  const decoder = await decoderFor([contract.address, ...addressesIn(found.trace), ...found.logs.map((log) => log.address)]);
  const transfers = [...(found.trace ? coinTransfers(found.trace) : []), ...tokenTransfers(found.logs)];
  const tokens = await tokensOf(transfers);
  const values = found.status ? decoder.result(called, found.output) : null;
  const link = simulationLink({ from: call.from, to: call.to, data: call.data, value: call.value > 0n ? call.value : null });
  replace(output,
    h('div.row', h(found.status ? 'span.tag.good' : 'span.tag.bad', found.status ? 'Would succeed' : 'Would fail'), h('span.soft', `${count(Number(found.gasUsed))} gas`),
      h('a', { href: link }, 'Open in the simulator'), found.trace && h('a', { href: callDebugLink(link, !found.status) }, found.status ? 'Debug' : 'Go to the failing line')),
    !found.status && h('p', await reasonOfOutcome(found, decoder, call)),
    values && resultsOf(called, values, contract.address),
    transfers.length > 0 && [h('h3', 'Transfers'), transferTable(transfers, tokens)],
    found.logs.length > 0 && [h('h3', `Events (${count(found.logs.length)})`), eventList(found.logs, decoder)]);
}

/** Shows what a written call did. One that was forced may have failed. */
async function showReceipt(output, called, contract, receipt) {
  const decoder = await decoderFor([contract.address, ...receipt.logs.map((log) => log.address)]);
  const succeeded = receipt.status === '0x1';
  replace(output, h('div.row', succeeded ? h('span.tag.good', 'Success') : h('span.tag.bad', 'Failed'), transactionLink(receipt.transactionHash), h('span.soft', `${count(Number(receipt.gasUsed))} gas`)),
    receipt.logs.length > 0 && eventList(receipt.logs, decoder));
  toast(`${called.name} ${succeeded ? 'succeeded' : 'was mined, and failed'}`, succeeded ? 'good' : 'info', { href: `#/tx/${receipt.transactionHash}`, text: 'View transaction' });
}

/** The form of a function that changes the state: simulate it, or send it from the active account. */
function writeForm(contract, called, texts, signal) {
  const fields = argumentFields(called.inputs, texts, contract.address);
  const value = called.stateMutability === 'payable' ? h('input', { inputmode: 'decimal', placeholder: '0', autocomplete: 'off' }) : null;
  const forced = forcedSend();
  const output = h('div.result', { 'aria-live': 'polite' });
  const send = h('button.primary', { type: 'submit' }, 'Write');
  const trial = h('button', { type: 'button' }, 'Simulate');
  const whoever = h('p.soft');
  let busy = false;
  const describe = () => {
    const { current } = wallets;
    send.disabled = busy || !current;
    replace(whoever, current ? ['From ', addressLink(current.address)] : 'To write, choose an account at the top. Simulating needs none.');
  };
  const callOf = () => {
    let sum = 0n;
    try {
      sum = value?.value.trim() ? fromUnits(value.value, 18) : 0n;
    } catch (error) {
      throw new Error(`value: ${error.message}`);
    }
    return { from: wallets.current?.address ?? NOBODY, to: contract.address, value: sum, data: encodeCall(called, fields.values()) };
  };
  let [sent, written] = [null, null];
  const during = async (button, run) => {
    if (busy) return;
    const label = button.textContent;
    sent = written = null;
    busy = send.disabled = trial.disabled = true;
    try {
      await run();
    } catch (error) {
      // The wallet knows the errors of the network's contracts; those of this one need its ABI.
      const reason = written && /unknown error/.test(error.message) ? await reasonOf(contract, written).catch(() => null) : null;
      replace(output, problem(reason ? new Error(reason) : error), sent && h('p', 'Sent: ', transactionLink(sent)));
    }
    button.textContent = label;
    busy = trial.disabled = false;
    describe();
  };
  trial.addEventListener('click', () => during(trial, async () => showOutcome(output, called, contract, callOf())));
  const write = () => during(send, async () => {
    written = callOf();
    const { to, data, value: sum } = written;
    send.textContent = 'Waiting…';
    const receipt = await wallets.send({ to, data, value: `0x${sum.toString(16)}`, ...forced.gas() }, (hash) => {
      sent = hash;
      replace(output, h('p', 'Sent: ', transactionLink(hash), ', waiting for its receipt…'));
    }, { mayFail: forced.on() });
    await showReceipt(output, called, contract, receipt);
  });
  const link = h('span');
  const share = () => replace(link, shareButton(contract, 'write', called, fields.texts()));
  const form = h('form.stack', fields.elements, value && field(`Value (${network.coin})`, value), forced.element, h('div.row', trial, send, link), whoever, output);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    write();
  });
  form.addEventListener('input', share);
  wallets.addEventListener('change', describe, { signal });
  share();
  describe();
  return form;
}

/** A list of functions, each with a form that is made when it is opened. */
function functionList(contract, functions, tab, query, signal) {
  const wanted = query.get('tab') === tab || (!query.has('tab') && tab === 'read') ? query.get('function') : null;
  const named = functions.find(({ called }) => signature(called) === wanted) ?? functions.find(({ called }) => called.name === wanted);
  const entries = functions.map((entry) => {
    const { called, own } = entry;
    const body = h('div.stack');
    const value = h('span.value');
    const outputs = called.outputs.length ? ` → ${called.outputs.map(typeName).join(', ')}` : '';
    const element = h('details', h('summary', h('strong', called.name), h('span.mono.soft', `(${called.inputs.map((input) => `${typeName(input)}${input.name ? ` ${input.name}` : ''}`).join(', ')})${outputs}`),
      called.stateMutability === 'payable' && h('span.tag.accent', 'payable'), own && h('span.tag', 'proxy'), value), body);
    const fill = (texts, run) => !body.firstChild && body.append(tab === 'read' ? readForm(contract, called, texts, run) : writeForm(contract, called, texts, signal));
    element.addEventListener('toggle', () => element.open && fill([], false));
    if (entry === named) {
      fill(argumentsIn(query), true);
      element.open = true;
    }
    return { element, called, value, text: called.name.toLowerCase() };
  });
  if (tab === 'read') showGetters(contract, entries, signal);
  const search = h('input', { type: 'search', placeholder: 'Filter functions', 'aria-label': 'Filter functions', autocomplete: 'off', spellcheck: 'false' });
  const none = h('p.soft', { hidden: true }, 'No function has this name');
  search.addEventListener('input', () => {
    const text = search.value.trim().toLowerCase();
    entries.forEach(({ element, text: name }) => (element.hidden = !name.includes(text)));
    none.hidden = entries.some(({ element }) => !element.hidden);
  });
  return h('div.stack', entries.length > 8 && h('div', search), h('div.functions', entries.map(({ element }) => element)), none);
}

/** The form that saves or removes the ABI of a contract. */
function abiForm(contract, abi, changed) {
  const input = h('textarea', { rows: '8', spellcheck: 'false', placeholder: 'A JSON ABI, a compiler artifact, or Solidity signatures such as\nfunction balanceOf(address owner) view returns (uint256)' });
  const saved = savedAbi(contract.address);
  if (saved) input.value = saved;
  const failed = h('div');
  const templates = [...TOKEN_STANDARDS].map(([name, text]) => h('button', { type: 'button', onclick: () => (input.value = text) }, name));
  const form = h('form.stack', !saved && h('div.row', h('span.soft', 'Fill in the ABI of a standard:'), templates), field('ABI', input, 'Kept for this address, in this browser only. It takes precedence over a verified one.'), failed,
    h('div.row', h('button.primary', { type: 'submit' }, 'Save ABI'), saved && h('button', { type: 'button', onclick: () => changed(() => removeAbi(contract.address)) }, 'Remove ABI')));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    try {
      const size = saveAbi(contract.address, input.value);
      toast(`Saved an ABI with ${counted(size, 'entry', 'entries')}`, 'good');
      changed(() => {});
    } catch (error) {
      replace(failed, problem(error));
    }
  });
  const known = abi ? [...abi.own, ...abi.implementation] : [];
  const lines = known.map((one) => `${one.type} ${one.name}(${one.inputs.map((part) => `${typeName(part)}${part.indexed ? ' indexed' : ''}${part.name ? ` ${part.name}` : ''}`).join(', ')})${isView(one) || one.stateMutability === 'payable' ? ` ${one.stateMutability}` : ''}${one.outputs?.length ? ` returns (${one.outputs.map(typeName).join(', ')})` : ''}`).join('\n');
  return h('div.stack', lines && [h('h3', 'Known ABI'), h('div.code', h('pre', { tabindex: '0' }, lines), copyButton(lines))], h('h3', saved ? 'Saved ABI' : 'Add an ABI'), form);
}

function proxyFacts({ proxy }) {
  return proxy && facts([
    ['Proxy', proxy.kind],
    ['Implementation', addressLink(proxy.implementation, { full: true })],
    ['Beacon', proxy.beacon && addressLink(proxy.beacon, { full: true })],
    ['Proxy admin', proxy.admin && addressLink(proxy.admin, { full: true })],
  ].filter(([, value]) => value));
}

function bytecode(contract, info) {
  const { code } = contract;
  return h('div.stack', h('h3', `Runtime code (${count(code.length / 2 - 1)} bytes)`), hexBlock(code),
    info?.creation_bytecode && [h('h3', `Creation code (${count(info.creation_bytecode.length / 2 - 1)} bytes)`), hexBlock(info.creation_bytecode)]);
}

async function sourceOf(address) {
  const response = await fetch(`api/v2/smart-contracts/${address}`);
  return response.ok ? response.json() : null;
}

/** Whether the node compiles sources to verify them, as a sentence; empty if it does not say. */
async function compilersOf() {
  const found = await ask('smart-contracts/verification/config').catch(() => null);
  if (!found) return '';
  const number = found.solidity_compiler_versions?.length ?? 0;
  return number ? `This node has ${counted(number, 'compiler')}.` : 'This node has no compilers (--solc-directory).';
}

/** Fills the card of a contract. */
async function fill(box, address, signal, query) {
  const contract = await contractAt(address);
  const [abi, info] = await Promise.all([abiOf(contract), contract.code === '0x' || /^0xef0100/.test(contract.code) ? null : sourceOf(address).catch(() => null)]);
  if (abi && isTokenAbi([...abi.own, ...abi.implementation])) await tokenInfo(address).catch(() => null);
  if (signal.aborted) return;
  const compilers = abi ? '' : await compilersOf();
  const functions = abi ? functionsOf(abi) : [];
  const reads = functions.filter(({ called }) => isView(called));
  const writes = functions.filter(({ called }) => !isView(called));
  const origin = contract.origin ?? (abi ? 'implementation' : null);
  // What is drawn now goes when the card is drawn anew: its getters would go on asking the node.
  const drawing = new AbortController();
  const drawn = AbortSignal.any([signal, drawing.signal]);
  const redraw = async (change, tab) => {
    change();
    drawing.abort();
    setPlace({ tab, function: null, args: null });
    await fill(box, address, signal, new URLSearchParams({ tab }));
  };
  const tabs = [
    reads.length && ['read', 'Read', () => functionList(contract, reads, 'read', query, drawn)],
    writes.length && ['write', 'Write', () => functionList(contract, writes, 'write', query, drawn)],
    ['events', 'Events', () => eventsViewer(contract.address, abi ? [...abi.implementation, ...abi.own] : [], drawn, query)],
    info?.source_code && ['source', 'Source', () => sourceViewer(info)],
    ['code', 'Bytecode', () => bytecode(contract, info)],
    ['abi', 'ABI', () => abiForm(contract, abi, (change) => redraw(change, 'abi'))],
  ].filter(Boolean);
  const content = h('div.stack');
  const made = new Map();
  const buttons = tabs.map(([id, name]) => h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => choose(id, true) }, name));
  function choose(id, byUser) {
    if (byUser) setPlace({ tab: id, function: null, args: null });
    buttons.forEach((button, at) => button.setAttribute('aria-pressed', String(tabs[at][0] === id)));
    if (!made.has(id)) made.set(id, tabs.find(([one]) => one === id)[2]());
    replace(content, made.get(id));
  }
  const asked = query.get('tab');
  const first = tabs.some(([id]) => id === asked) ? asked : asked && CONTRACT_TABS.includes(asked) ? 'abi' : (reads.length ? 'read' : writes.length ? 'write' : 'abi');
  replace(box,
    h('h2.row', 'Contract', contract.name && h('span.tag.accent', contract.name), h(origin ? 'span.tag.good' : 'span.tag', ORIGINS[origin] ?? (origin ? 'ABI of the implementation' : 'Unknown ABI'))),
    proxyFacts(contract),
    !origin && h('p.soft', 'The ABI of this contract is unknown. Add it here, or ', h('a', { href: `#/transact?tab=verify&address=${contract.address}` }, 'verify the source'), `; with --artifacts, contracts of your project are recognised. ${compilers}`),
    h('div.tabs', { role: 'group', 'aria-label': 'Contract' }, buttons),
    content);
  choose(first, false);
}

/** A card with everything about a contract. `query` are the parameters of a link: `tab`, `function`, `args`. */
export async function contractCard(address, signal, query = currentQuery()) {
  const box = card('Contract', h('p.soft', 'Loading…'));
  await fill(box, address, signal, query);
  return box;
}

/** The view `#/contract`: which contract? */
function withoutAddress() {
  const to = h('input', { spellcheck: 'false', autocomplete: 'off', placeholder: `0x… or ${network.prefix}1…` });
  return [heading('Contract'), card(null, action(field('Address', to), 'Open', () => {
    location.hash = `#/contract/${parseAddress(to.value, network.prefix)}`;
  }))];
}

/** The view `#/contract/<address>`. */
export default async function view({ signal, rest: [text = ''], query }) {
  if (!text.trim()) return withoutAddress();
  const address = parseAddress(text, network.prefix);
  const { code } = await contractAt(address);
  if (code === '0x') return [heading('No contract'), h('p.failure', { role: 'alert' }, `No contract at ${address}: this address has no code.`), h('div.row', h('a.button', { href: `#/address/${address}` }, 'Transactions and balances'))];
  const content = await contractCard(address, signal, query);
  return [heading(displayName(address) ?? 'Contract', h('a.button', { href: `#/simulate?to=${address}` }, 'Simulate a call'), h('a.button', { href: `#/address/${address}` }, 'Transactions and balances')), h('p', h('span.mono', address), copyButton(address, 'Copy address')), content];
}

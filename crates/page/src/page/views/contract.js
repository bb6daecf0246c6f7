// A contract: its functions, events, source and bytecode, and the ABI they are decoded with.

import { action } from '../lib/actions.js';
import { isView } from '../lib/abi.js';
import { delegateOf, parseAddress } from '../lib/address.js';
import { abiOf, contractAt } from '../lib/contracts.js';
import { card, copyButton, facts, field, h, heading, replace } from '../lib/dom.js';
import { count, counted } from '../lib/format.js';
import { ask } from '../lib/index.js';
import { displayName } from '../lib/labels.js';
import { addressLink } from '../lib/links.js';
import { network } from '../lib/network.js';
import { setPlace } from '../lib/place.js';
import { isTokenAbi, tokenInfo } from '../lib/tokens.js';
import { abiForm } from './abiform.js';
import { eventsViewer } from './events.js';
import { functionList, functionsOf } from './functions.js';
import { hexBlock } from './parts.js';
import { sourceViewer } from './source.js';

/** The tabs of a contract, as `?tab=` in links names them. */
export const CONTRACT_TABS = ['read', 'write', 'events', 'source', 'code', 'abi'];

const ORIGINS = {
  network: 'Network contract',
  verified: 'Verified source',
  saved: 'ABI saved in this browser',
};

function currentQuery() {
  return new URLSearchParams(location.hash.split('?')[1] ?? '');
}

function proxyFacts({ proxy }) {
  return (
    proxy &&
    facts(
      [
        ['Proxy', proxy.kind],
        ['Implementation', addressLink(proxy.implementation, { full: true })],
        ['Beacon', proxy.beacon && addressLink(proxy.beacon, { full: true })],
        ['Proxy admin', proxy.admin && addressLink(proxy.admin, { full: true })],
      ].filter(([, value]) => value),
    )
  );
}

function bytecode(contract, info) {
  const { code } = contract;
  return h(
    'div.stack',
    h('h3', `Runtime code (${count(code.length / 2 - 1)} bytes)`),
    hexBlock(code),
    info?.creation_bytecode && [
      h('h3', `Creation code (${count(info.creation_bytecode.length / 2 - 1)} bytes)`),
      hexBlock(info.creation_bytecode),
    ],
  );
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
  return number
    ? `This node has ${counted(number, 'compiler')}.`
    : 'This node has no compilers (--solc-directory).';
}

/**
 * What the card of a contract shows: the contract, its ABI, and what the node knows of its source.
 */
async function describe(address) {
  const contract = await contractAt(address);
  const hasSource = contract.code !== '0x' && !delegateOf(contract.code);
  const [abi, info] = await Promise.all([
    abiOf(contract),
    hasSource ? sourceOf(address).catch(() => null) : null,
  ]);

  if (abi && isTokenAbi([...abi.own, ...abi.implementation]))
    await tokenInfo(address).catch(() => null);
  return { contract, abi, info, compilers: abi ? '' : await compilersOf() };
}

/**
 * The tabs of a contract: `{ id, name, make }`. `redraw` draws the card again after its ABI has
 * changed.
 */
function tabsOf({ contract, abi, info }, signal, query, redraw) {
  const functions = abi ? functionsOf(abi) : [];
  const reads = functions.filter(({ called }) => isView(called));
  const writes = functions.filter(({ called }) => !isView(called));
  const events = abi ? [...abi.implementation, ...abi.own] : [];

  return [
    reads.length > 0 && {
      id: 'read',
      name: 'Read',
      make: () => functionList(contract, reads, 'read', query, signal),
    },
    writes.length > 0 && {
      id: 'write',
      name: 'Write',
      make: () => functionList(contract, writes, 'write', query, signal),
    },
    {
      id: 'events',
      name: 'Events',
      make: () => eventsViewer(contract.address, events, signal, query),
    },
    info?.source_code && { id: 'source', name: 'Source', make: () => sourceViewer(info) },
    { id: 'code', name: 'Bytecode', make: () => bytecode(contract, info) },
    { id: 'abi', name: 'ABI', make: () => abiForm(contract, abi, redraw) },
  ].filter(Boolean);
}

/** The tab that is open first: the one of the link, where the contract has it. */
function firstTab(tabs, asked) {
  const has = (wanted) => tabs.some(({ id }) => id === wanted);
  if (has(asked)) return asked;
  if (asked && CONTRACT_TABS.includes(asked)) return 'abi';
  return ['read', 'write', 'abi'].find(has);
}

/**
 * The buttons of tabs, and the content of the one that is open, which is made when it is opened
 * first.
 */
function tabbed(tabs, first) {
  const content = h('div.stack');
  const made = new Map();
  const choose = (tab) => {
    buttons.forEach((button, at) => button.setAttribute('aria-pressed', String(tabs[at] === tab)));
    if (!made.has(tab)) made.set(tab, tab.make());
    replace(content, made.get(tab));
  };

  const buttons = tabs.map((tab) =>
    h(
      'button',
      {
        type: 'button',
        'aria-pressed': 'false',
        onclick: () => {
          setPlace({ tab: tab.id, function: null, args: null });
          choose(tab);
        },
      },
      tab.name,
    ),
  );
  choose(tabs.find(({ id }) => id === first));
  return [h('div.tabs', { role: 'group', 'aria-label': 'Contract' }, buttons), content];
}

/** What is said of a contract above its tabs. */
function introduction({ contract, abi, compilers }) {
  const origin = contract.origin ?? (abi ? 'implementation' : null);
  return [
    h(
      'h2.row',
      'Contract',
      contract.name && h('span.tag.accent', contract.name),
      h(
        origin ? 'span.tag.good' : 'span.tag',
        ORIGINS[origin] ?? (origin ? 'ABI of the implementation' : 'Unknown ABI'),
      ),
    ),
    proxyFacts(contract),
    !origin && withoutAbi(contract, compilers),
  ];
}

function withoutAbi({ address }, compilers) {
  return h(
    'p.soft',
    'The ABI of this contract is unknown. Add it here, or ',
    h('a', { href: `#/transact?tab=verify&address=${address}` }, 'verify the source'),
    `; with --artifacts, contracts of your project are recognised. ${compilers}`,
  );
}

/**
 * A function that draws the card of a contract, with the parameters of a link. A newer drawing
 * aborts the one before.
 */
function drawing(box, address, signal) {
  let current = new AbortController();

  return async function draw(query) {
    // Aborted when the card is redrawn: its getters would go on asking the node.
    current.abort();
    current = new AbortController();
    const drawn = AbortSignal.any([signal, current.signal]);
    const found = await describe(address);
    if (drawn.aborted) return;

    const redraw = () => {
      setPlace({ tab: 'abi', function: null, args: null });
      return draw(new URLSearchParams({ tab: 'abi' }));
    };
    const tabs = tabsOf(found, drawn, query, redraw);
    replace(box, introduction(found), tabbed(tabs, firstTab(tabs, query.get('tab'))));
  };
}

/**
 * A card with everything about a contract. `query` are the parameters of a link: `tab`, `function`,
 * `args`.
 */
export async function contractCard(address, signal, query = currentQuery()) {
  const box = card('Contract', h('p.soft', 'Loading…'));
  await drawing(box, address, signal)(query);
  return box;
}

/** The view `#/contract`: which contract? */
function withoutAddress() {
  const to = h('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: `0x… or ${network.prefix}1…`,
  });
  return [
    heading('Contract'),
    card(
      null,
      action(field('Address', to), 'Open', () => {
        location.hash = `#/contract/${parseAddress(to.value, network.prefix)}`;
      }),
    ),
  ];
}

/** The view `#/contract/<address>`. */
export default async function view({ signal, rest: [text = ''], query }) {
  if (!text.trim()) return withoutAddress();
  const address = parseAddress(text, network.prefix);
  const { code } = await contractAt(address);
  if (code === '0x')
    return [
      heading('No contract'),
      h('p.failure', { role: 'alert' }, `No contract at ${address}: this address has no code.`),
      h('div.row', h('a.button', { href: `#/address/${address}` }, 'Transactions and balances')),
    ];
  const content = await contractCard(address, signal, query);
  return [
    heading(
      displayName(address) ?? 'Contract',
      h('a.button', { href: `#/simulate?to=${address}` }, 'Simulate a call'),
      h('a.button', { href: `#/address/${address}` }, 'Transactions and balances'),
    ),
    h('p', h('span.mono', address), copyButton(address, 'Copy address')),
    content,
  ];
}

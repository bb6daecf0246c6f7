// The API console: every operation of REST and JSON-RPC, from the node's own documents, to be tried
// out.

import { card, failure, h, heading, icon, replace, setText, table } from '../lib/dom.js';
import { codeBlock } from '../lib/json.js';
import { prose } from '../lib/prose.js';
import { reference, search, typeName } from '../lib/reference.js';
import requestForm from './apirequest.js';
import liveSocket from './apilive.js';
import { STREAMS, streamOf } from './apistreams.js';

/** Most results of a search. */
const MAX_RESULTS = 60;

/** What stays between operations: the search, open groups, the position of the list. */
const kept = { query: '', open: new Set(), scroll: 0 };

/** Operations that the start page suggests, where the node has them. */
const SUGGESTED = [
  ['eth_blockNumber', 'Is the node alive?'],
  ['eth_getBalance', 'Balance of an account'],
  ['eth_call', 'Read a contract'],
  ['eth_getLogs', 'Search events'],
  ['debug_traceTransaction', 'Trace a transaction'],
  ['getPrices', 'Prices of all tokens'],
  ['getQuote', 'Quote a swap'],
  ['getPools', 'Lending pools'],
  ['getUserPositions', 'Loans of a user'],
  ['evm_mine', 'Seal a block'],
];

const hrefOf = (id, query = '') => `#/api/${encodeURIComponent(id)}${query}`;

/** A name that may be broken between its words. */
const breakable = (name) =>
  name.split(/(?<=_)|(?=[A-Z][a-z])/).flatMap((part, at) => (at ? [h('wbr'), part] : [part]));

const badge = (method) => h(`span.method.${method.toLowerCase()}`, method);

function item(operation, current, marked = false) {
  const isRpc = operation.kind === 'rpc';
  return h(
    'li',
    h(
      'a',
      {
        href: hrefOf(operation.id),
        'aria-current': operation.id === current ? 'page' : null,
        title: operation.summary,
      },
      (marked || !isRpc) && badge(operation.kind === 'live' ? 'WS' : operation.method),
      h('span', h('strong', breakable(operation.id)), !isRpc && h('small', operation.path)),
      operation.changes &&
        h('span.changes', { title: 'Changes state' }, h('span.hidden', 'changes state')),
    ),
  );
}

/** The streams of a node with these operations. */
function streamsOf(operations) {
  return STREAMS.filter(({ path }) =>
    operations.some((one) => one.kind === 'live' && one.path === path),
  );
}

/**
 * The number of operations as they are listed: a path with several streams stands for each of them.
 */
function sizeOf(operations) {
  return operations.filter((one) => one.kind !== 'live').length + streamsOf(operations).length;
}

function streamItems(streams, operations, current, query) {
  return streams.map(({ key, path, name, about }) => {
    const { id } = operations.find((one) => one.kind === 'live' && one.path === path);
    const selected =
      id === current &&
      (query.get('stream') ?? STREAMS.find((one) => one.path === path).key) === key;
    return h(
      'li',
      h(
        'a',
        {
          href: hrefOf(id, `?stream=${key}`),
          'aria-current': selected ? 'page' : null,
          title: about,
        },
        badge('WS'),
        h('span', h('strong', breakable(name)), h('small', about)),
      ),
    );
  });
}

/** The searchable list. Groups are filled when they are opened. */
function operationList({ operations, groups }, current, query) {
  const input = h('input', {
    type: 'search',
    value: kept.query,
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'Search methods and routes',
    'aria-label': 'Search methods and routes',
  });
  const count = h('p.soft.count', { role: 'status' });
  const list = h('div.groups');
  const drawGroups = () => {
    setText(count, `${sizeOf(operations)} operations`);
    let heading = null;
    const drawn = groups.flatMap((group) => {
      const items = h('ul.plain');
      const fill = () => {
        if (items.childElementCount) return;
        replace(
          items,
          group.kind === 'live'
            ? streamItems(streamsOf(operations), operations, current, query)
            : group.operations.map((one) => item(one, current)),
        );
      };
      const holds = group.operations.some((one) => one.id === current);
      const open = holds || kept.open.has(group.key);
      if (open) fill();
      const size = group.kind === 'live' ? streamsOf(operations).length : group.operations.length;
      const box = h(
        'details',
        { open },
        h('summary', h('span', group.name), h('span.soft', String(size))),
        items,
      );
      box.addEventListener('toggle', () => {
        if (box.open) fill();
        if (box.open) kept.open.add(group.key);
        else kept.open.delete(group.key);
      });
      const title = group.kind === 'rpc' ? 'JSON-RPC' : group.kind === 'rest' ? 'REST' : null;
      const first = title && title !== heading ? h('h2', title) : null;
      heading = title ?? heading;
      return [first, box].filter(Boolean);
    });
    replace(list, drawn);
  };
  const drawFound = () => {
    const found = search(
      operations.filter((one) => one.kind !== 'live'),
      kept.query,
    );
    const streams = search(
      streamsOf(operations).map((one) => ({
        ...one,
        id: one.name,
        text: `${one.name} ${one.about} ${one.path} ${one.message}`.toLowerCase(),
      })),
      kept.query,
    );
    const number = found.length + streams.length;
    setText(
      count,
      found.length > MAX_RESULTS
        ? `${MAX_RESULTS} of ${number} operations`
        : `${number} ${number === 1 ? 'operation' : 'operations'}`,
    );
    replace(
      list,
      number
        ? h(
            'ul.plain',
            found.slice(0, MAX_RESULTS).map((one) => item(one, current, true)),
            streamItems(streams, operations, current, query),
          )
        : h('p.empty', 'Nothing found. Search by method, path or words of the description.'),
    );
  };
  const draw = () => (kept.query.trim() ? drawFound() : drawGroups());
  input.addEventListener('input', () => {
    kept.query = input.value;
    kept.scroll = 0;
    draw();
  });
  const links = () =>
    [...list.querySelectorAll('summary, a')].filter((one) => one.checkVisibility());
  const nav = h('nav.operations', { 'aria-label': 'Operations' }, input, count, list);
  nav.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter' && event.target === input) list.querySelector('a')?.click();
    if (!step) return;
    event.preventDefault();
    const all = links();
    const at = all.indexOf(document.activeElement);
    if (at < 0 && step < 0) return;
    if (at === 0 && step < 0) input.focus();
    else all[Math.min(at + step, all.length - 1)]?.focus();
  });
  list.addEventListener('scroll', () => (kept.scroll = list.scrollTop), { passive: true });
  draw();
  queueMicrotask(() =>
    requestAnimationFrame(() => {
      list.scrollTop = kept.scroll;
      const marked = list.querySelector('[aria-current]');
      if (!marked) return;
      const [box, own] = [list.getBoundingClientRect(), marked.getBoundingClientRect()];
      if (own.top < box.top || own.bottom > box.bottom)
        list.scrollTop += own.top - box.top - box.height / 3;
    }),
  );
  return nav;
}

/** The start page of the console. */
function welcome({ operations, byId }) {
  const count = (kind) => operations.filter((one) => one.kind === kind).length;
  const suggested = SUGGESTED.filter(([id]) => byId.has(id));
  const streams = streamsOf(operations);
  const tile = (href, method, title, about) =>
    h(
      'a.suggestion',
      { href },
      badge(method),
      h('span', h('strong', breakable(title)), h('small', about)),
    );
  return [
    heading('API'),
    h(
      'p.lead',
      `${count('rpc')} JSON-RPC methods, ${count('rest')} REST routes and ${streams.length} live streams of this node. Choose one, run it against the node, copy it as code. Nothing runs without a click.`,
    ),
    h(
      'a.browse',
      { href: '#/api?list' },
      icon('search'),
      `Search all ${sizeOf(operations)} operations`,
    ),
    card(
      'Start with',
      h(
        'div.suggestions',
        suggested.map(([id, about]) => tile(hrefOf(id), byId.get(id).method, id, about)),
      ),
    ),
    card(
      'Watch live',
      h(
        'div.suggestions',
        streams.map(({ key, path, name, about }) => {
          const { id } = operations.find((one) => one.kind === 'live' && one.path === path);
          return tile(hrefOf(id, `?stream=${key}`), 'WS', name, about);
        }),
      ),
    ),
    card(
      'Documents',
      h('p', 'Generate clients from them, or import them into Postman, Insomnia or Bruno.'),
      h(
        'div.row',
        h('a.button', { href: 'openapi.json' }, 'OpenAPI'),
        h('a.button', { href: hrefOf('rpc.discover') }, 'OpenRPC (rpc.discover)'),
      ),
    ),
  ];
}

/** What the documents say about an operation. */
function documentation(operation) {
  const cards = [];
  if (operation.kind === 'rpc') {
    const { schema, example } = operation.result;
    cards.push(
      card(
        'Result',
        h('p.soft', `Type: ${typeName(schema)}`),
        example !== undefined &&
          h(
            'details',
            { open: JSON.stringify(example).length < 1_500 },
            h('summary', 'Example'),
            codeBlock(JSON.stringify(example, null, 2), {
              coloured: true,
              name: 'Example of a result',
            }),
          ),
        schema &&
          Object.keys(schema).length > 0 &&
          h(
            'details',
            h('summary', 'Schema'),
            codeBlock(JSON.stringify(schema, null, 2), {
              coloured: true,
              name: 'Schema of the result',
            }),
          ),
      ),
    );
    if (operation.errors.length) {
      cards.push(
        card(
          'Errors',
          table(
            ['-Code', 'Meaning'],
            operation.errors.map(({ code, message }) => [
              h('code', String(code)),
              h('span.wrap', prose(message)),
            ]),
          ),
        ),
      );
    }
    return cards;
  }
  const shown =
    operation.responses.find((one) => one.status.startsWith('2') && one.example !== undefined) ??
    operation.responses.find((one) => one.example !== undefined);
  const described = shown ?? operation.responses.find((one) => one.status.startsWith('2'));
  const schema = described?.schema && inlined(described.schema, operation.document);
  cards.push(
    card(
      'Responses',
      table(
        ['Status', 'Meaning'],
        operation.responses.map(({ status, description }) => [
          h('code', status),
          h('span.wrap', prose(description)),
        ]),
      ),
      shown &&
        h(
          'details',
          { open: JSON.stringify(shown.example).length < 1_500 },
          h('summary', `Example of ${shown.status}`),
          codeBlock(JSON.stringify(shown.example, null, 2), {
            coloured: true,
            name: 'Example of a response',
          }),
        ),
      schema &&
        h(
          'details',
          h('summary', `Schema of ${described.status}`),
          codeBlock(JSON.stringify(schema, null, 2), {
            coloured: true,
            name: 'Schema of a response',
          }),
        ),
    ),
  );
  return cards;
}

/** A schema with its references replaced, to some depth. */
function inlined(schema, document, depth = 0) {
  if (Array.isArray(schema)) return schema.map((one) => inlined(one, document, depth));
  if (!schema || typeof schema !== 'object') return schema;
  const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : null;
  if (name) {
    const target = document.components?.schemas?.[name];
    return depth < 4 && target
      ? { ...inlined(target, document, depth + 1), title: name }
      : { title: name };
  }
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, inlined(value, document, depth)]),
  );
}

function operationPage(operation, query, signal) {
  const tags = [
    h(
      'span.tag',
      operation.kind === 'rpc'
        ? `JSON-RPC · ${operation.group}`
        : operation.kind === 'live'
          ? 'WebSocket'
          : operation.group,
    ),
  ];
  if (operation.changes) tags.push(h('span.tag.caution', 'Changes state'));
  if (operation.needsToken) tags.push(h('span.tag.caution', 'Admin token'));
  const stream = operation.kind === 'live' ? streamOf(operation, query) : null;
  return [
    h('a.back', { href: '#/api?list' }, icon('back'), 'All operations'),
    heading(stream ? stream.name : breakable(operation.id), tags),
    operation.kind !== 'rpc' &&
      h(
        'p.route',
        badge(operation.kind === 'live' ? 'WS' : operation.method),
        h('code', operation.path),
      ),
    h('p.lead', stream ? `${stream.about}.` : prose(operation.summary)),
    operation.kind === 'live'
      ? liveSocket({ operation, stream, signal, query })
      : requestForm({ operation, query, signal }),
    ...(operation.kind === 'live' ? [] : documentation(operation)),
  ];
}

export default async function view({ rest, query, signal }) {
  let documents;
  try {
    documents = await reference();
  } catch (error) {
    const retry = h('button', { type: 'button' }, 'Try again');
    retry.addEventListener('click', () => window.dispatchEvent(new HashChangeEvent('hashchange')));
    return [heading('API'), failure(error), h('div.row', retry)];
  }
  const [id] = rest;
  const operation = id ? documents.byId.get(id) : null;
  const content = operation
    ? operationPage(operation, query, signal)
    : id
      ? [
          heading('Unknown operation'),
          h('p.failure', { role: 'alert' }, `This node has no operation ${id.slice(0, 80)}.`),
          h(
            'p.lead',
            'It may be one of another profile: methods of the development profile do not exist in production.',
          ),
        ]
      : welcome(documents);
  return h(
    `div.api${id ? '.chosen' : ''}${query.has('list') ? '.listed' : ''}`,
    operationList(documents, id, query),
    h('div.stack.operation', content),
  );
}

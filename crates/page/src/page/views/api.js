// The API console: every operation of REST and JSON-RPC, from the node's own documents, to be tried
// out.

import { card, failure, h, heading, icon } from '../lib/dom.js';
import { prose } from '../lib/prose.js';
import { reference } from '../lib/reference.js';
import { documentation } from './apidocumentation.js';
import { operationList } from './apilist.js';
import liveSocket from './apilive.js';
import { badge, breakable, hrefOf } from './apiparts.js';
import requestForm from './apirequest.js';
import { sizeOf, socketOf, streamOf, streamsOf } from './apistreams.js';

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

/** The most characters of an unknown name that are shown. */
const LONGEST_NAME = 80;

function suggestion(href, operation, title, about) {
  return h(
    'a.suggestion',
    { href },
    badge(operation),
    h('span', h('strong', breakable(title)), h('small', about)),
  );
}

function suggestedOperations(byId) {
  return SUGGESTED.filter(([id]) => byId.has(id)).map(([id, about]) =>
    suggestion(hrefOf(id), byId.get(id), id, about),
  );
}

function suggestedStreams(streams, operations) {
  return streams.map((stream) => {
    const socket = socketOf(stream, operations);
    const href = hrefOf(socket.id, `?stream=${stream.key}`);
    return suggestion(href, socket, stream.name, stream.about);
  });
}

function documentsCard() {
  return card(
    'Documents',
    h('p', 'Generate clients from them, or import them into Postman, Insomnia or Bruno.'),
    h(
      'div.row',
      h('a.button', { href: 'openapi.json' }, 'OpenAPI'),
      h('a.button', { href: hrefOf('rpc.discover') }, 'OpenRPC (rpc.discover)'),
    ),
  );
}

/** The start page of the console. */
function welcome({ operations, byId }) {
  const count = (kind) => operations.filter((one) => one.kind === kind).length;
  const streams = streamsOf(operations);
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
    card('Start with', h('div.suggestions', suggestedOperations(byId))),
    card('Watch live', h('div.suggestions', suggestedStreams(streams, operations))),
    documentsCard(),
  ];
}

function tagsOf({ kind, group, changes, needsToken }) {
  const interfaceNames = { rpc: `JSON-RPC · ${group}`, live: 'WebSocket' };
  return [
    h('span.tag', interfaceNames[kind] ?? group),
    changes && h('span.tag.caution', 'Changes state'),
    needsToken && h('span.tag.caution', 'Admin token'),
  ];
}

function operationPage(operation, query, signal) {
  const isLive = operation.kind === 'live';
  const stream = isLive ? streamOf(operation, query) : null;
  return [
    h('a.back', { href: '#/api?list' }, icon('back'), 'All operations'),
    heading(stream ? stream.name : breakable(operation.id), tagsOf(operation)),
    operation.kind !== 'rpc' && h('p.route', badge(operation), h('code', operation.path)),
    h('p.lead', stream ? `${stream.about}.` : prose(operation.summary)),
    isLive
      ? liveSocket({ operation, stream, signal, query })
      : [requestForm({ operation, query, signal }), documentation(operation)],
  ];
}

function unknownOperation(id) {
  return [
    heading('Unknown operation'),
    h('p.failure', { role: 'alert' }, `This node has no operation ${id.slice(0, LONGEST_NAME)}.`),
    h(
      'p.lead',
      'It may be one of another profile: methods of the development profile do not exist in production.',
    ),
  ];
}

/** The page without the node's documents. */
function withoutDocuments(error) {
  const retry = h('button', { type: 'button' }, 'Try again');
  retry.addEventListener('click', () => window.dispatchEvent(new HashChangeEvent('hashchange')));
  return [heading('API'), failure(error), h('div.row', retry)];
}

function contentOf(id, documents, query, signal) {
  if (!id) return welcome(documents);
  const operation = documents.byId.get(id);
  return operation ? operationPage(operation, query, signal) : unknownOperation(id);
}

export default async function view({ rest, query, signal }) {
  let documents;
  try {
    documents = await reference();
  } catch (error) {
    return withoutDocuments(error);
  }

  const [id] = rest;
  const content = contentOf(id, documents, query, signal);
  return h(
    `div.api${id ? '.chosen' : ''}${query.has('list') ? '.listed' : ''}`,
    operationList(documents, id, query),
    h('div.stack.operation', content),
  );
}

// The streams of the node's WebSockets.

const subscribe = (...params) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params });

/** All streams, with the path of their socket and the message that starts them. */
const STREAMS = [
  {
    key: 'prices',
    path: '/ws',
    name: 'Prices',
    about: 'All prices, then each change',
    message: '',
  },
  {
    key: 'price',
    path: '/ws',
    name: 'Prices of one token',
    about: 'Limited by a message',
    message: JSON.stringify({ type: 'subscribe', tokens: ['WETH'] }),
  },
  {
    key: 'newHeads',
    path: '/rpc',
    name: 'newHeads',
    about: 'Headers of new blocks',
    message: subscribe('newHeads'),
  },
  {
    key: 'logs',
    path: '/rpc',
    name: 'logs',
    about: 'Events, by address and topics',
    message: subscribe('logs', {}),
  },
  {
    key: 'newPendingTransactions',
    path: '/rpc',
    name: 'newPendingTransactions',
    about: 'Transactions that enter the pool',
    message: subscribe('newPendingTransactions'),
  },
  {
    key: 'comet',
    path: '/websocket',
    name: 'CometBFT events',
    about: 'New blocks, as Cosmos wallets see them',
    message: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'subscribe',
      params: { query: "tm.event='NewBlock'" },
    }),
  },
];

/** The streams of a socket. */
export function streamsAt(path) {
  return STREAMS.filter((one) => one.path === path);
}

/** The stream that the link of a socket's page names, or the first. */
export function streamOf(operation, query) {
  const streams = streamsAt(operation.path);
  const unknown = {
    key: '',
    path: operation.path,
    name: operation.id,
    about: operation.summary.replace(/\.$/, ''),
    message: '',
  };
  return streams.find((one) => one.key === query.get('stream')) ?? streams[0] ?? unknown;
}

/** The streams of a node with these operations. */
export function streamsOf(operations) {
  return STREAMS.filter((stream) => socketOf(stream, operations));
}

/** The operation that is the socket of a stream. */
export function socketOf(stream, operations) {
  return operations.find((one) => one.kind === 'live' && one.path === stream.path);
}

/**
 * The number of operations as they are listed: a path with several streams stands for each of them.
 */
export function sizeOf(operations) {
  return operations.filter((one) => one.kind !== 'live').length + streamsOf(operations).length;
}

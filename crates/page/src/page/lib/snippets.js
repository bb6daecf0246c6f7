// Requests as code: for the shell, for fetch, and for the libraries of JSON-RPC.

/** A text in single quotes, for a POSIX shell. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

const literal = (value) => JSON.stringify(value, null, 2).replace(/"([A-Za-z_$][\w$]*)":/g, '$1:');
const inline = (value) => {
  const short = JSON.stringify(value);
  return short.length > 70 && typeof value === 'object'
    ? literal(value)
    : short.replace(/"([A-Za-z_$][\w$]*)":/g, '$1: ').replaceAll(',', ', ');
};
const text = (value) => (typeof value === 'string' ? JSON.stringify(value) : inline(value));

/** The body of a JSON-RPC request. */
export function rpcBody(method, params) {
  return { jsonrpc: '2.0', id: 1, method, params };
}

/** The command that sends a request: `{ method, url, headers, body }`. */
export function curl({ method, url, headers = {}, body = null }) {
  const parts = ['curl -s'];
  if (method !== 'GET' && !(method === 'POST' && body !== null)) parts[0] += ` -X ${method}`;
  parts[0] += ` ${/[?&{}()'\s$]/.test(url) ? quoted(url) : url}`;
  for (const [name, value] of Object.entries(headers))
    parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body !== null) parts.push(`${body.includes('\n') ? '--data-binary' : '-d'} ${quoted(body)}`);
  return parts.join(' \\\n  ');
}

/** The request in JavaScript, with fetch. */
export function fetchCode({ method, url, headers = {}, body = null }) {
  const options = [];
  if (method !== 'GET') options.push(`method: ${JSON.stringify(method)}`);
  if (Object.keys(headers).length)
    options.push(
      `headers: ${JSON.stringify(headers).replaceAll('":"', '": "').replaceAll('","', '", "')}`,
    );
  if (body !== null) options.push(`body: ${asBody(body)}`);
  const given = options.length ? `, {\n${options.map((one) => `  ${one},`).join('\n')}\n}` : '';
  return `const response = await fetch(${JSON.stringify(url)}${given});\nconsole.log(response.status, await response.json());`;
}

function asBody(body) {
  try {
    return `JSON.stringify(${literal(JSON.parse(body)).replaceAll('\n', '\n  ')})`;
  } catch {
    return JSON.stringify(body);
  }
}

/** Calls of ethers 6 that have a name of their own. */
const ETHERS = {
  eth_blockNumber: () => 'provider.getBlockNumber()',
  eth_chainId: () => 'provider.getNetwork()',
  eth_getBalance: ([address, block]) => `provider.getBalance(${list(address, block)})`,
  eth_getTransactionCount: ([address, block]) =>
    `provider.getTransactionCount(${list(address, block)})`,
  eth_getCode: ([address, block]) => `provider.getCode(${list(address, block)})`,
  eth_getStorageAt: ([address, slot, block]) =>
    `provider.getStorage(${list(address, slot, block)})`,
  eth_getBlockByNumber: ([block, full]) => `provider.getBlock(${list(block, full || undefined)})`,
  eth_getBlockByHash: ([block, full]) => `provider.getBlock(${list(block, full || undefined)})`,
  eth_getTransactionByHash: ([hash]) => `provider.getTransaction(${list(hash)})`,
  eth_getTransactionReceipt: ([hash]) => `provider.getTransactionReceipt(${list(hash)})`,
  eth_call: ([transaction, block], { length }) =>
    length > 2 ? null : `provider.call(${inline(withTag(transaction, block))})`,
  eth_estimateGas: ([transaction], { length }) =>
    length > 1 ? null : `provider.estimateGas(${inline(transaction)})`,
  eth_getLogs: ([filter]) => `provider.getLogs(${inline(filter)})`,
  eth_sendRawTransaction: ([raw]) => `provider.broadcastTransaction(${list(raw)})`,
};

const list = (...values) => {
  while (values.length && values.at(-1) === undefined) values.pop();
  return values.map(text).join(', ');
};
const withTag = (transaction, block) =>
  block && block !== 'latest' ? { ...transaction, blockTag: block } : transaction;

/** The call in JavaScript, with ethers 6. */
export function ethersCode(url, method, params) {
  const own = ETHERS[method]?.(params, params);
  const call =
    own ?? `provider.send(${JSON.stringify(method)}, ${params.length ? inline(params) : '[]'})`;
  return `import { JsonRpcProvider } from 'ethers';\n\nconst provider = new JsonRpcProvider(${JSON.stringify(url)});\nconsole.log(await ${call});`;
}

const TAGS = ['latest', 'earliest', 'pending', 'safe', 'finalized'];

/** The members by which viem names a block. */
function viemBlock(block) {
  if (block === undefined || block === 'latest') return {};
  if (TAGS.includes(block)) return { blockTag: block };
  return typeof block === 'string' && /^0x[0-9a-f]{1,16}$/i.test(block)
    ? { blockNumber: BigInt(block) }
    : null;
}

/** Calls of viem that have a name of their own; null if they cannot express the parameters. */
const VIEM = {
  eth_blockNumber: () => 'client.getBlockNumber()',
  eth_chainId: () => 'client.getChainId()',
  eth_gasPrice: () => 'client.getGasPrice()',
  eth_getBalance: ([address, block]) => viemCall('getBalance', { address }, block),
  eth_getTransactionCount: ([address, block]) =>
    viemCall('getTransactionCount', { address }, block),
  eth_getCode: ([address, block]) => viemCall('getCode', { address }, block),
  eth_getStorageAt: ([address, slot, block]) => viemCall('getStorageAt', { address, slot }, block),
  eth_getBlockByNumber: ([block, full]) =>
    viemCall('getBlock', full ? { includeTransactions: true } : {}, block),
  eth_getTransactionByHash: ([hash]) => viemCall('getTransaction', { hash }),
  eth_getTransactionReceipt: ([hash]) => viemCall('getTransactionReceipt', { hash }),
  eth_sendRawTransaction: ([serializedTransaction]) =>
    viemCall('sendRawTransaction', { serializedTransaction }),
};

function viemCall(name, members, block) {
  const place = viemBlock(block);
  if (place === null) return null;
  const all = Object.entries({ ...members, ...place });
  if (all.some(([, value]) => value === undefined)) return null;
  const shown = all.map(
    ([key, value]) => `${key}: ${typeof value === 'bigint' ? `${value}n` : text(value)}`,
  );
  return `client.${name}(${shown.length ? `{ ${shown.join(', ')} }` : ''})`;
}

/** The call in JavaScript, with viem. */
export function viemCode(url, method, params) {
  const request = `client.request({\n  method: ${JSON.stringify(method)},\n  params: ${(params.length ? inline(params) : '[]').replaceAll('\n', '\n  ')},\n})`;
  const call = VIEM[method]?.(params) ?? request;
  return `import { createPublicClient, http } from 'viem';\n\nconst client = createPublicClient({ transport: http(${JSON.stringify(url)}) });\nconsole.log(await ${call});`;
}

/** A WebSocket in JavaScript; `message` is sent when it opens. */
export function socketCode(url, message) {
  const send = message
    ? `socket.addEventListener('open', () => socket.send(${JSON.stringify(message)}));\n`
    : '';
  return `const socket = new WebSocket(${JSON.stringify(url)});\n${send}socket.addEventListener('message', ({ data }) => console.log(JSON.parse(data)));`;
}

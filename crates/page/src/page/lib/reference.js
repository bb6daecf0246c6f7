// The operations of the node, read from its own documents: /openapi.json for REST, rpc.discover for
// JSON-RPC.

/** Headings of the JSON-RPC namespaces that come first in lists. */
const FIRST = ['eth', 'debug', 'trace', 'txpool', 'net', 'web3'];

let loaded = null;

/** Loads both documents once; a failed load is repeated at the next call. */
export function reference() {
  loaded ??= load().catch((error) => {
    loaded = null;
    throw error;
  });
  return loaded;
}

async function load() {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'rpc.discover', params: [] });
  const [openapi, openrpc] = await Promise.all([
    json('openapi.json'),
    json('rpc', { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
  ]);
  if (!openrpc.result) throw new Error(openrpc.error?.message ?? 'rpc.discover has no result');
  return build(openapi, openrpc.result);
}

async function json(url, options) {
  const response = await fetch(url, options).catch(() => {
    throw new Error('the node is not responding');
  });
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  return response.json();
}

/** Operations by their kind and group. `about` has the descriptions of groups. */
function groupOperations(operations, about) {
  const groups = new Map();
  for (const operation of operations) {
    const { kind, group: name } = operation;
    const key = `${kind}/${name}`;
    if (!groups.has(key)) {
      const description = about.get(key) ?? '';
      groups.set(key, { key, kind, name, description, operations: [] });
    }
    groups.get(key).operations.push(operation);
  }
  return [...groups.values()];
}

/** Both documents as one list of operations in groups. */
export function build(openapi, openrpc) {
  const operations = [...restOperations(openapi), ...rpcOperations(openrpc)];
  const about = new Map((openapi.tags ?? []).map((tag) => [`rest/${tag.name}`, tag.description]));
  for (const [name, tag] of Object.entries(openrpc.components?.tags ?? {}))
    about.set(`rpc/${name}`, tag.description);

  const tagOrder = [...about.keys()];
  const place = ({ kind, name, key }) => {
    if (kind === 'live') return -1;
    if (kind === 'rest') return tagOrder.includes(key) ? tagOrder.indexOf(key) : 500;
    return 1_000 + (FIRST.includes(name) ? FIRST.indexOf(name) : 100);
  };
  const groups = groupOperations(operations, about).sort(
    (a, b) => place(a) - place(b) || a.name.localeCompare(b.name),
  );
  return { operations, groups, byId: new Map(operations.map((one) => [one.id, one])) };
}

/** Follows a reference within a document. */
function resolve(document, value) {
  const target = value?.$ref;
  if (typeof target !== 'string' || !target.startsWith('#/')) return value;
  return target
    .slice(2)
    .split('/')
    .reduce((at, part) => at?.[part.replaceAll('~1', '/').replaceAll('~0', '~')], document);
}

function restResponse(status, { description, content }) {
  const [body] = Object.values(content ?? {});
  return { status, description, example: body?.example, schema: body?.schema };
}

function restBody(requestBody) {
  const [media, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return media ? { media, example: content.example ?? null, schema: content.schema } : null;
}

/** Whether an operation needs a token: it has no alternative without one. */
function needsToken(document, described) {
  const security = described.security ?? document.security ?? [];
  return security.length > 0 && !security.some((one) => Object.keys(one).length === 0);
}

function restOperation(document, path, method, described) {
  const responses = Object.entries(described.responses ?? {}).map(([status, response]) =>
    restResponse(status, resolve(document, response)),
  );
  const live = responses.some(({ status }) => status === '101');
  return {
    kind: live ? 'live' : 'rest',
    id: described.operationId,
    group: live ? 'Live' : (described.tags?.[0] ?? 'Other'),
    method: method.toUpperCase(),
    path,
    summary: described.summary ?? '',
    parameters: (described.parameters ?? []).map((one) => ({
      ...one,
      place: one.in,
      example: one.example ?? null,
    })),
    body: restBody(described.requestBody),
    responses,
    changes: method !== 'get' && !isRead(path),
    needsToken: needsToken(document, described),
    document,
    text: `${described.operationId} ${method} ${path} ${described.summary}`.toLowerCase(),
  };
}

function restOperations(document) {
  return Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) =>
      restOperation(document, path, method, described),
    ),
  );
}

/** Routes that take POST for its body only. */
function isRead(path) {
  return (
    path.endsWith('/simulate') ||
    path === '/rpc' ||
    path === '/' ||
    path === '/graphql' ||
    path.includes('/verif') ||
    path === '/api'
  );
}

function rpcOperations(document) {
  return (document.methods ?? []).map((method) => {
    const [example] = method.examples ?? [];
    const values = new Map((example?.params ?? []).map(({ name, value }) => [name, value]));
    return {
      kind: 'rpc',
      id: method.name,
      group: method.name.split(/[_.]/)[0],
      method: 'RPC',
      path: method.name,
      summary: method.summary ?? '',
      parameters: method.params.map((one) => ({
        name: one.name,
        place: 'position',
        required: one.required === true,
        schema: one.schema,
        description: one.summary ?? one.description ?? '',
        example: values.has(one.name) ? values.get(one.name) : null,
      })),
      body: null,
      responses: [],
      errors: (method.errors ?? []).map((one) => resolve(document, one)).filter(Boolean),
      result: { schema: method.result?.schema, example: example?.result?.value },
      changes: method['x-changes-state'] === true,
      needsToken: false,
      document,
      text: `${method.name} ${method.summary}`.toLowerCase(),
    };
  });
}

/** The operations that have all words of a query, those with it in their names first. */
export function search(operations, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found = operations.filter((one) => words.every((word) => one.text.includes(word)));
  const rank = (one) => {
    const id = one.id.toLowerCase();
    const [word] = words;
    return id === word ? 0 : id.startsWith(word) ? 1 : id.includes(word) ? 2 : 3;
  };
  return found
    .map((one) => [rank(one), one])
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);
}

/** The JSON types that a schema allows; none are listed if it allows all. */
export function typesOf(schema, found = new Set()) {
  if (!schema || typeof schema !== 'object') return found;
  for (const type of [schema.type ?? []].flat()) found.add(type);
  if (schema.enum) for (const value of schema.enum) found.add(typeof value);
  for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) typesOf(one, found);
  return found;
}

/** The words that a schema allows, and whether it allows nothing else. */
export function wordsOf(schema) {
  if (schema?.enum)
    return { words: schema.enum.filter((one) => typeof one === 'string'), only: true };
  const alternatives = [...(schema?.anyOf ?? []), ...(schema?.oneOf ?? [])].filter(
    (one) => one.type !== 'null',
  );
  const listed = alternatives.filter((one) => one.enum);
  return {
    words: listed.flatMap((one) => one.enum),
    only: alternatives.length > 0 && listed.length === alternatives.length,
  };
}

function patternsOf(schema) {
  const alternatives = [schema, ...(schema?.anyOf ?? []), ...(schema?.oneOf ?? [])];
  return alternatives.flatMap((one) => one?.pattern ?? []);
}

/** The text of a value in a form. */
export function textOf(value) {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}

/**
 * The JSON value that a text stands for, by the schema. Throws if the text has to be JSON and is
 * not.
 */
export function parseValue(text, schema) {
  const types = typesOf(schema);
  const trimmed = text.trim();
  const any = types.size === 0;
  if (/^[[{]/.test(trimmed) && (any || types.has('object') || types.has('array')))
    return JSON.parse(trimmed);
  if (/^(true|false)$/.test(trimmed) && (any || types.has('boolean'))) return trimmed === 'true';
  if (trimmed === 'null' && (any || types.has('null'))) return null;
  if (/^-?\d+(\.\d+)?$/.test(trimmed) && (any || types.has('integer') || types.has('number'))) {
    const fits =
      types.has('string') &&
      patternsOf(schema).some((pattern) => new RegExp(pattern).test(trimmed));
    if (!fits && Number.isSafeInteger(Number(trimmed))) return Number(trimmed);
  }
  if (!any && !types.has('string')) return JSON.parse(trimmed);
  return text;
}

/** A schema in a few words: `integer`, `hex string`, `object`. */
export function typeName(schema) {
  const { words, only } = wordsOf(schema);
  if (only && words.length && words.length <= 4) return words.join(' | ');
  const types = [...typesOf(schema)].filter((type) => type !== 'null');
  const names = types.map((type) =>
    type === 'string' && patternsOf(schema).some((pattern) => pattern.startsWith('^0x'))
      ? 'hex'
      : type,
  );
  if (words.length) names.unshift('tag');
  return [...new Set(names)].join(' | ') || 'any';
}

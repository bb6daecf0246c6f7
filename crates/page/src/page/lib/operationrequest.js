// The request of an operation, from the texts of its form, and the response to it.

import { parseValue } from './reference.js';
import { rpcBody } from './snippets.js';

/** Most bytes of a response that are read. */
export const MAX_RESPONSE_BYTES = 16 << 20;

/** The kind of JSON that a body is, without the schema's details. */
function kindOf(schema) {
  return schema?.type ? { type: schema.type } : {};
}

function bodyParameter({ media, schema, example }) {
  return {
    name: 'body',
    place: 'body',
    required: true,
    schema:
      media === 'application/json'
        ? { type: ['object', 'array'], ...kindOf(schema) }
        : { type: 'string' },
    description: media,
    example,
  };
}

const TOKEN_PARAMETER = {
  name: 'admin token',
  place: 'header',
  required: true,
  schema: { type: 'string' },
  description: 'Sent as a header; it is not part of the link.',
  example: null,
};

/** The parameters of an operation, with the body and the admin token among them. */
export function allParameters(operation) {
  return [
    ...operation.parameters,
    operation.body && bodyParameter(operation.body),
    operation.needsToken && TOKEN_PARAMETER,
  ].filter(Boolean);
}

/** An error that names the parameter that cannot be sent. */
function problemOf(parameter, text) {
  return Object.assign(new Error(text), { parameter });
}

function readJson(name, text, read) {
  try {
    return read(text);
  } catch (error) {
    throw problemOf(name, `Not valid JSON: ${error.message}`);
  }
}

function rpcRequest(operation, textOf) {
  const params = operation.parameters.map(({ name, schema }) => {
    const text = textOf(name);
    if (text.trim() === '') return undefined;
    return readJson(name, text, (json) => parseValue(json, schema));
  });
  while (params.length && params.at(-1) === undefined) params.pop();

  // Those that are left out before others are null.
  const filled = params.map((value) => (value === undefined ? null : value));
  return {
    method: 'POST',
    path: 'rpc',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(rpcBody(operation.id, filled)),
    params: filled,
  };
}

/** A body as its media type has it; forms may be written as JSON. */
function bodyOf(name, media, text) {
  if (media === 'application/json')
    return readJson(name, text, (json) => JSON.stringify(JSON.parse(json)));
  if (media === 'application/x-www-form-urlencoded' && text.trim().startsWith('{'))
    return readJson(name, text, (json) => new URLSearchParams(JSON.parse(json)).toString());
  return text;
}

function restRequest(operation, parameters, textOf) {
  let path = operation.path;
  let body = null;
  const pairs = [];
  const headers = {};

  for (const { name, place } of parameters) {
    const value = textOf(name);
    if (place === 'path') {
      path = path.replace(`{${name}}`, encodeURIComponent(value.trim()));
    } else if (place === 'query' && value.trim() !== '') {
      pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    } else if (place === 'header') {
      headers.authorization = `Bearer ${value.trim()}`;
    } else if (place === 'body') {
      const { media } = operation.body;
      headers['content-type'] = media;
      body = bodyOf(name, media, value);
    }
  }

  const query = pairs.length ? `?${pairs.join('&')}` : '';
  return { method: operation.method, path: path.replace(/^\//, '') + query, headers, body };
}

/**
 * The request of an operation: `{ method, path, headers, body }`, and `params` of JSON-RPC.
 * `textOf(name)` is the text of a parameter. Throws an error with the `parameter` that cannot be
 * sent.
 */
export function buildRequest(operation, parameters, textOf) {
  for (const { name, place, required } of parameters) {
    const isNeeded = required && (place === 'path' || place === 'header');
    if (isNeeded && textOf(name).trim() === '') throw problemOf(name, 'Enter a value');
  }
  return operation.kind === 'rpc'
    ? rpcRequest(operation, textOf)
    : restRequest(operation, parameters, textOf);
}

/** Sends a request and reads its response, up to a limit. */
export async function sendRequest({ method, path, headers, body }, signal) {
  const response = await fetch(path, { method, headers, body, signal, cache: 'no-store' });
  const chunks = [];
  let bytes = 0;
  let cut = false;

  const reader = response.body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    bytes += value.length;
    if (bytes > MAX_RESPONSE_BYTES) {
      cut = true;
      await reader.cancel();
      break;
    }
  }

  const text = new TextDecoder().decode(await new Blob(chunks).arrayBuffer());
  return { status: response.status, statusText: response.statusText, text, bytes, cut };
}

// The form of an operation: parameters, the request as code, and the response.

import { announce, card, h, replace, setText } from '../lib/dom.js';
import { codeBlock, pretty } from '../lib/json.js';
import { network } from '../lib/network.js';
import { node } from '../lib/node.js';
import { prose } from '../lib/prose.js';
import { textOf, typeName, typesOf, parseValue, wordsOf } from '../lib/reference.js';
import { curl, ethersCode, fetchCode, rpcBody, viemCode } from '../lib/snippets.js';

/** Most bytes of a response that are read. */
const MAX_RESPONSE_BYTES = 16 << 20;
/** Optional parameters beyond this number are folded away. */
const PLAIN = 6;
/** The contract of the documents' examples, which exists on their chain only. */
const EXAMPLE_CONTRACT = '0x5fbdb2315678afecb367f032d93f642f64180aa3';
const TOTAL_SUPPLY = '0x18160ddd';
/** Optional parameters that a route needs to be of any use. */
const NEEDED = { '/api': ['module', 'action', 'address'] };

/** The absolute URL of a path of the node. */
const urlOf = (path) => new URL(path.replace(/^\//, ''), document.baseURI.split('#')[0]).href;

/** Replaces things of the examples' chain by such of this one. */
async function localExamples(operation) {
  const found = new Map();
  const token = network.tokens?.[0]?.address;
  for (const parameter of operation.parameters) {
    const { name, example } = parameter;
    const text = textOf(example);
    if (operation.kind === 'rpc' && token && text.toLowerCase().includes(EXAMPLE_CONTRACT)) {
      let value = text.replace(new RegExp(EXAMPLE_CONTRACT, 'gi'), token);
      if (name === 'filter' && operation.id === 'eth_getLogs' && network.addresses && node.head) {
        const from = Math.max(0, Number(node.head.number) - 9);
        value = textOf({
          address: network.addresses.oracle,
          fromBlock: `0x${from.toString(16)}`,
          toBlock: 'latest',
        });
      }
      if (name === 'transaction' && !operation.changes)
        value = textOf({ to: token, data: TOTAL_SUPPLY });
      found.set(name, value);
    }
    const isHash =
      name === 'transaction hash' || (name === 'hash' && operation.path.includes('/t'));
    if (isHash) {
      const hash = await newestTransaction();
      if (hash)
        found.set(name, operation.path.startsWith('/cosmos/') ? hash.slice(2).toUpperCase() : hash);
    }
    if (name === 'block hash' && node.head) found.set(name, node.head.hash);
  }
  return found;
}

/** The hash of a recent transaction. */
async function newestTransaction() {
  const known = node.headers
    .slice(-32)
    .map((header) => header.number)
    .reverse();
  // The first header may not have arrived yet.
  const numbers = known.length ? known : ['latest'];
  const blocks = await Promise.all(
    numbers.map((number) => node.call('eth_getBlockByNumber', number, false).catch(() => null)),
  );
  return blocks.flatMap((block) => block?.transactions?.at(-1) ?? [])[0] ?? null;
}

/** The lines that a text takes in a narrow field. */
function rowsFor(text) {
  return Math.min(
    16,
    text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 31)), 0),
  );
}

/** The input for a parameter. */
function inputFor(parameter, value, id) {
  const { schema, required } = parameter;
  const { words, only } = wordsOf(schema);
  const types = typesOf(schema);
  const options =
    only && words.length
      ? words
      : types.size === 1 && types.has('boolean')
        ? ['true', 'false']
        : null;
  if (options) {
    const blank = !required || !options.includes(value);
    return h(
      'select',
      { id, value },
      blank &&
        h(
          'option',
          { value: '' },
          required ? 'Choose…' : schema.default !== undefined ? `Default: ${schema.default}` : '–',
        ),
      options.map((word) => h('option', { value: word, selected: word === value }, word)),
    );
  }
  const isLong =
    value.includes('\n') ||
    value.length > 90 ||
    (!words.length && (types.has('object') || types.has('array')));
  const hint = parameter.example ?? schema?.default;
  const placeholder = hint === undefined || hint === null ? '' : textOf(hint);
  if (isLong)
    return h('textarea', {
      id,
      value,
      rows: String(rowsFor(value)),
      spellcheck: 'false',
      placeholder,
    });
  const listed = words.length
    ? h(
        'datalist',
        { id: `${id}-words` },
        words.map((word) => h('option', { value: word })),
      )
    : null;
  const input = h('input.mono', {
    id,
    value,
    type: 'text',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder,
    list: listed?.id,
  });
  return listed ? [input, listed] : input;
}

/** The form of all parameters: `{ element, values(), problems }`. Values are texts by name. */
function parameterFields(parameters, start, changed) {
  const inputs = new Map();
  const marks = new Map();
  const rowOf = (parameter, at) => {
    const id = `parameter-${at}`;
    const made = [inputFor(parameter, start(parameter), id)].flat();
    const [input] = made;
    inputs.set(parameter.name, input);
    const mark = h('small.down', { id: `${id}-problem`, role: 'alert' });
    marks.set(parameter.name, mark);
    input.setAttribute('aria-describedby', `${id}-about ${id}-problem`);
    if (parameter.required) input.setAttribute('aria-required', 'true');
    const type = parameter.place === 'header' ? 'header' : typeName(parameter.schema);
    const about = parameter.description?.replace(/\.$/, '');
    return h(
      'div.parameter',
      h(
        'label',
        { for: id },
        h('span.mono', parameter.name),
        parameter.required && h('span.required', 'required'),
        h('span.soft', type),
      ),
      made,
      h('small', { id: `${id}-about` }, about ? prose(about) : ''),
      mark,
    );
  };
  const isPlain = (parameter, at) => parameter.required || start(parameter) !== '' || at < PLAIN;
  const rows = parameters.map((parameter, at) => [isPlain(parameter, at), rowOf(parameter, at)]);
  const plain = rows.filter(([shown]) => shown).map(([, row]) => row);
  const others = rows.filter(([shown]) => !shown).map(([, row]) => row);
  const element = h(
    'div.stack.parameters',
    plain,
    others.length > 0 &&
      h('details', h('summary', `${others.length} more parameters`), h('div.stack', others)),
  );
  element.addEventListener('input', changed);
  element.addEventListener('change', changed);
  return { element, inputs, marks };
}

export default function requestForm({ operation, query, signal }) {
  const isRpc = operation.kind === 'rpc';
  const all = [...operation.parameters];
  if (operation.body) {
    const { media, schema } = operation.body;
    all.push({
      name: 'body',
      place: 'body',
      required: true,
      schema:
        media === 'application/json'
          ? { type: ['object', 'array'], ...only(schema) }
          : { type: 'string' },
      description: media,
      example: operation.body.example,
    });
  }
  if (operation.needsToken)
    all.push({
      name: 'admin token',
      place: 'header',
      required: true,
      schema: { type: 'string' },
      description: 'Sent as a header; it is not part of the link.',
      example: null,
    });
  const needed = NEEDED[operation.path] ?? [];
  const initial = (parameter) => {
    if (parameter.place === 'header') return '';
    const filled = isRpc
      ? parameter.example !== null
      : parameter.required || needed.includes(parameter.name);
    return filled ? textOf(parameter.example) : '';
  };
  const start = new Map(
    all.map((parameter) => [parameter.name, query.get(parameter.name) ?? initial(parameter)]),
  );
  let running = null;
  const {
    element: fields,
    inputs,
    marks,
  } = parameterFields(
    all,
    (parameter) => start.get(parameter.name),
    () => update(),
  );
  if (operation.needsToken) inputs.get('admin token').type = 'password';

  /** The request as the form has it; throws with the name of a parameter that cannot be sent. */
  const build = () => {
    const fail = (name, what) => Object.assign(new Error(what), { parameter: name });
    const text = (name) => inputs.get(name)?.value ?? '';
    for (const { name, place, required } of all) {
      if (required && text(name).trim() === '' && (place === 'path' || place === 'header'))
        throw fail(name, 'Enter a value');
    }
    if (isRpc) {
      const params = operation.parameters.map(({ name, schema }) => {
        if (text(name).trim() === '') return undefined;
        try {
          return parseValue(text(name), schema);
        } catch (error) {
          throw fail(name, `Not valid JSON: ${error.message}`);
        }
      });
      while (params.length && params.at(-1) === undefined) params.pop();
      const filled = params.map((value) => (value === undefined ? null : value));
      const body = JSON.stringify(rpcBody(operation.id, filled));
      return {
        method: 'POST',
        path: 'rpc',
        headers: { 'content-type': 'application/json' },
        body,
        params: filled,
      };
    }
    let path = operation.path;
    const pairs = [];
    const headers = {};
    let body = null;
    for (const { name, place } of all) {
      const value = text(name);
      if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value.trim()));
      else if (place === 'query' && value.trim() !== '')
        pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
      else if (place === 'header') headers.authorization = `Bearer ${value.trim()}`;
      else if (place === 'body') {
        const { media } = operation.body;
        headers['content-type'] = media;
        body = value;
        if (media === 'application/json') {
          try {
            body = JSON.stringify(JSON.parse(value));
          } catch (error) {
            throw fail(name, `Not valid JSON: ${error.message}`);
          }
        } else if (media === 'application/x-www-form-urlencoded' && value.trim().startsWith('{')) {
          try {
            body = new URLSearchParams(JSON.parse(value)).toString();
          } catch (error) {
            throw fail(name, `Not valid JSON: ${error.message}`);
          }
        }
      }
    }
    return {
      method: operation.method,
      path: path.replace(/^\//, '') + (pairs.length ? `?${pairs.join('&')}` : ''),
      headers,
      body,
    };
  };

  const code = h('div.snippets');
  const kinds = isRpc ? ['curl', 'ethers', 'viem'] : ['curl', 'fetch'];
  const key = isRpc ? 'tetrad.api.rpc' : 'tetrad.api.rest';
  let kind = kinds.includes(localStorage.getItem(key)) ? localStorage.getItem(key) : 'curl';
  const tabs = h(
    'div.tabs',
    { role: 'group', 'aria-label': 'Language' },
    kinds.map((one) => h('button', { type: 'button', onclick: () => choose(one) }, one)),
  );
  const choose = (one) => {
    kind = one;
    localStorage.setItem(key, one);
    drawCode();
  };
  const drawCode = () => {
    for (const button of tabs.children)
      button.setAttribute('aria-pressed', String(button.textContent === kind));
    try {
      const request = build();
      const whole = { ...request, url: urlOf(request.path) };
      if (whole.headers.authorization)
        whole.headers = { ...whole.headers, authorization: 'Bearer <token>' };
      const text =
        kind === 'curl'
          ? curl(whole)
          : kind === 'fetch'
            ? fetchCode(whole)
            : (kind === 'ethers' ? ethersCode : viemCode)(whole.url, operation.id, request.params);
      replace(code, codeBlock(text, { label: `Copy as ${kind}`, name: `The request in ${kind}` }));
    } catch {
      replace(code, h('p.soft', 'Complete the form to see the code.'));
    }
  };

  const own = `#/api/${encodeURIComponent(operation.id)}`;
  const saveState = () => {
    // The link may be another already, while this view is still there.
    if (location.hash.split('?')[0] !== own) return;
    const state = new URLSearchParams();
    for (const parameter of all) {
      const value = inputs.get(parameter.name).value;
      if (parameter.place !== 'header' && value !== initial(parameter))
        state.set(parameter.name, value);
    }
    const text = state.toString();
    history.replaceState(history.state, '', `${own}${text ? `?${text}` : ''}`);
  };
  let timer = null;
  const update = () => {
    for (const mark of marks.values()) setText(mark, '');
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (signal.aborted) return;
      saveState();
      drawCode();
    }, 120);
  };

  const button = h('button.primary', { type: 'submit' }, operation.changes ? 'Send' : 'Run');
  const reset = h(
    'button.quiet',
    {
      type: 'button',
      onclick: () => {
        for (const parameter of all)
          inputs.get(parameter.name).value = local.get(parameter.name) ?? initial(parameter);
        update();
      },
    },
    'Reset',
  );
  const result = h(
    'div.stack',
    h(
      'p.soft',
      operation.changes
        ? 'This operation changes the state of the node.'
        : 'The response appears here.',
    ),
  );
  const summary = h('div.outcome');
  const form = h(
    'form.stack',
    all.length ? fields : h('p.soft', 'No parameters.'),
    h('div.row', button, all.length > 0 && reset),
  );
  const local = new Map();

  async function run() {
    if (running) return running.abort();
    let request;
    try {
      request = build();
    } catch (error) {
      const mark = marks.get(error.parameter);
      if (mark) setText(mark, error.message);
      inputs.get(error.parameter)?.focus();
      return undefined;
    }
    running = new AbortController();
    setText(button, 'Cancel');
    replace(summary, h('span.tag', 'Waiting…'));
    const began = performance.now();
    try {
      const outcome = await send(request, AbortSignal.any([running.signal, signal]));
      if (!signal.aborted) show(outcome, performance.now() - began);
    } catch (error) {
      if (signal.aborted) return undefined;
      const cancelled = error.name === 'AbortError';
      replace(summary, h('span.tag.bad', cancelled ? 'Cancelled' : 'No response'));
      replace(
        result,
        h(
          'div.failure',
          { role: 'alert' },
          cancelled ? 'The request was cancelled.' : `The node did not respond: ${error.message}`,
        ),
      );
    } finally {
      running = null;
      setText(button, operation.changes ? 'Send' : 'Run');
    }
    return undefined;
  }

  function show({ status, statusText, text, bytes, cut }, took) {
    let failed = null;
    if (isRpc && !cut) {
      try {
        failed = JSON.parse(text).error ?? null;
      } catch {
        failed = null;
      }
    }
    const good = status >= 200 && status < 400 && !failed;
    const word = failed ? `Error ${failed.code}` : `${status} ${statusText}`.trim();
    replace(
      summary,
      h(`span.tag.${good ? 'good' : 'bad'}`, word),
      h('span.soft', duration(took)),
      h('span.soft', size(bytes)),
    );
    replace(
      result,
      failed &&
        h(
          'div.failure',
          h('strong', failed.message ?? 'Error'),
          typeof failed.data === 'string' && !failed.data.startsWith('0x')
            ? `: ${failed.data}`
            : '',
        ),
      cut &&
        h(
          'p.note',
          `The response is longer than ${size(MAX_RESPONSE_BYTES)}; this is its beginning.`,
        ),
      text === ''
        ? h('p.soft', 'The response has no body.')
        : codeBlock(pretty(text), { coloured: true, label: 'Copy response', name: 'Response' }),
    );
    announce(`${word}, ${duration(took)}, ${size(bytes)}`);
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    run();
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
  });
  signal.addEventListener('abort', () => clearTimeout(timer));
  drawCode();
  localExamples(operation).then(
    (found) => {
      if (signal.aborted) return;
      for (const [name, value] of found) {
        local.set(name, value);
        const input = inputs.get(name);
        if (!query.has(name) && input && input.value === start.get(name)) {
          input.value = value;
          if (input.rows) input.rows = rowsFor(value);
        }
      }
      if (found.size) drawCode();
    },
    () => {},
  );
  return h(
    'div.grid.console',
    card('Request', form),
    h('section.card', h('div.spread', h('h2', 'Response'), summary), result),
    h('section.card', h('div.spread', h('h2', 'Code'), tabs), code),
  );
}

/** The part of a body's schema that says which kind of JSON it is. */
function only(schema) {
  return schema?.type ? { type: schema.type } : {};
}

/** Sends a request and reads its response, up to a limit. */
async function send({ method, path, headers, body }, signal) {
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

function duration(ms) {
  return ms < 1_000
    ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
    : `${(ms / 1_000).toFixed(1)} s`;
}

function size(bytes) {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000
    ? `${(bytes / 1_000).toFixed(1)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

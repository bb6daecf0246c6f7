// What the node's documents say about an operation: results, responses and errors.

import { card, h, table } from '../lib/dom.js';
import { codeBlock } from '../lib/json.js';
import { prose } from '../lib/prose.js';
import { typeName } from '../lib/reference.js';

/** Examples of fewer characters are open. */
const SHORT_EXAMPLE = 1_500;
/** How deep references inside of references are replaced. */
const MAX_DEPTH = 4;

function folded(title, value, name, isOpen = false) {
  return h(
    'details',
    { open: isOpen },
    h('summary', title),
    codeBlock(JSON.stringify(value, null, 2), { coloured: true, name }),
  );
}

function foldedExample(title, example, name) {
  return folded(title, example, name, JSON.stringify(example).length < SHORT_EXAMPLE);
}

function resultCard({ schema, example }) {
  const hasSchema = schema && Object.keys(schema).length > 0;
  return card(
    'Result',
    h('p.soft', `Type: ${typeName(schema)}`),
    example !== undefined && foldedExample('Example', example, 'Example of a result'),
    hasSchema && folded('Schema', schema, 'Schema of the result'),
  );
}

function errorsCard(errors) {
  const rows = errors.map(({ code, message }) => [
    h('code', String(code)),
    h('span.wrap', prose(message)),
  ]);
  return card('Errors', table(['-Code', 'Meaning'], rows));
}

function responsesCard({ responses, document }) {
  const isSuccess = ({ status }) => status.startsWith('2');
  const hasExample = ({ example }) => example !== undefined;
  const shown =
    responses.find((one) => isSuccess(one) && hasExample(one)) ?? responses.find(hasExample);
  const described = shown ?? responses.find(isSuccess);
  const schema = described?.schema && inlined(described.schema, document);

  const rows = responses.map(({ status, description }) => [
    h('code', status),
    h('span.wrap', prose(description)),
  ]);
  return card(
    'Responses',
    table(['Status', 'Meaning'], rows),
    shown && foldedExample(`Example of ${shown.status}`, shown.example, 'Example of a response'),
    schema && folded(`Schema of ${described.status}`, schema, 'Schema of a response'),
  );
}

/** A schema with its references replaced, to some depth. */
function inlined(schema, document, depth = 0) {
  if (Array.isArray(schema)) return schema.map((one) => inlined(one, document, depth));
  if (!schema || typeof schema !== 'object') return schema;

  const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : null;
  if (name) {
    const target = document.components?.schemas?.[name];
    return depth < MAX_DEPTH && target
      ? { ...inlined(target, document, depth + 1), title: name }
      : { title: name };
  }

  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, inlined(value, document, depth)]),
  );
}

/** The cards about an operation. */
export function documentation(operation) {
  if (operation.kind !== 'rpc') return [responsesCard(operation)];
  const { result, errors } = operation;
  return [resultCard(result), errors.length > 0 && errorsCard(errors)];
}

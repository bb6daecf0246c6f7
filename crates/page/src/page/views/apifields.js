// The fields for the parameters of an operation.

import { h, setText } from '../lib/dom.js';
import { prose } from '../lib/prose.js';
import { textOf, typeName, typesOf, wordsOf } from '../lib/reference.js';

/** Optional parameters beyond this number are folded away. */
const PLAIN = 6;
/** Longer texts get a field of several lines. */
const LONGEST_LINE = 90;
/** The characters that fit in a line of a narrow field, and the most lines that it shows. */
const NARROW_LINE = 31;
const MOST_ROWS = 16;

/** The lines that a text takes in a narrow field. */
function rowsFor(text) {
  const rows = text
    .split('\n')
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / NARROW_LINE)), 0);
  return Math.min(MOST_ROWS, rows);
}

/** The words of which one has to be chosen, or null if there may be other texts. */
function choicesOf(schema) {
  const { words, only } = wordsOf(schema);
  if (only && words.length) return words;

  const types = typesOf(schema);
  return types.size === 1 && types.has('boolean') ? ['true', 'false'] : null;
}

function choice({ schema, required }, words, value, id) {
  const isBlank = !required || !words.includes(value);
  const byDefault = schema.default !== undefined ? `Default: ${schema.default}` : '–';
  return h(
    'select',
    { id, value },
    isBlank && h('option', { value: '' }, required ? 'Choose…' : byDefault),
    words.map((word) => h('option', { value: word, selected: word === value }, word)),
  );
}

/** A field of one line, with the list of words that it suggests, if there are any. */
function line(words, { id, value, placeholder }) {
  const suggested =
    words.length > 0 &&
    h(
      'datalist',
      { id: `${id}-words` },
      words.map((word) => h('option', { value: word })),
    );
  const input = h('input.mono', {
    id,
    value,
    type: 'text',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder,
    list: suggested ? suggested.id : null,
  });
  return suggested ? [input, suggested] : [input];
}

/** The elements that a parameter is entered with; the first is the input. */
function inputFor(parameter, value, id) {
  const { schema } = parameter;
  const choices = choicesOf(schema);
  if (choices) return [choice(parameter, choices, value, id)];

  const { words } = wordsOf(schema);
  const types = typesOf(schema);
  const isStructured = !words.length && (types.has('object') || types.has('array'));
  const hint = parameter.example ?? schema?.default;
  const placeholder = hint === undefined || hint === null ? '' : textOf(hint);

  if (isStructured || value.includes('\n') || value.length > LONGEST_LINE)
    return [
      h('textarea', {
        id,
        value,
        rows: String(rowsFor(value)),
        spellcheck: 'false',
        placeholder,
      }),
    ];
  return line(words, { id, value, placeholder });
}

/** The fields of parameters, which begin with the texts that `start` has of them. */
export class ParameterFields {
  #inputs = new Map();
  /** The elements that say what is wrong with a parameter. */
  #problems = new Map();

  constructor(parameters, start, changed) {
    const isPlain = ({ name, required }, at) => required || start.get(name) !== '' || at < PLAIN;
    const rows = parameters.map((parameter, at) => ({
      isPlain: isPlain(parameter, at),
      row: this.#row(parameter, start.get(parameter.name), `parameter-${at}`),
    }));
    const plain = rows.filter((one) => one.isPlain).map(({ row }) => row);
    const others = rows.filter((one) => !one.isPlain).map(({ row }) => row);

    this.element = h(
      'div.stack.parameters',
      plain,
      others.length > 0 &&
        h('details', h('summary', `${others.length} more parameters`), h('div.stack', others)),
    );
    this.element.addEventListener('input', changed);
    this.element.addEventListener('change', changed);
  }

  #row(parameter, value, id) {
    const { name, required, schema, place } = parameter;
    const elements = inputFor(parameter, value, id);
    const [input] = elements;
    input.setAttribute('aria-describedby', `${id}-about ${id}-problem`);
    if (required) input.setAttribute('aria-required', 'true');
    this.#inputs.set(name, input);

    const problem = h('small.down', { id: `${id}-problem`, role: 'alert' });
    this.#problems.set(name, problem);

    const about = parameter.description?.replace(/\.$/, '');
    return h(
      'div.parameter',
      h(
        'label',
        { for: id },
        h('span.mono', name),
        required && h('span.required', 'required'),
        h('span.soft', place === 'header' ? 'header' : typeName(schema)),
      ),
      elements,
      h('small', { id: `${id}-about` }, about ? prose(about) : ''),
      problem,
    );
  }

  has(name) {
    return this.#inputs.has(name);
  }

  textOf(name) {
    return this.#inputs.get(name)?.value ?? '';
  }

  setText(name, text) {
    this.#inputs.get(name).value = text;
  }

  /** Enters a text, with as many lines as it takes. */
  fill(name, text) {
    const input = this.#inputs.get(name);
    input.value = text;
    if (input.rows) input.rows = rowsFor(text);
  }

  /** Hides what is typed. */
  conceal(name) {
    this.#inputs.get(name).type = 'password';
  }

  showProblem(name, text) {
    const problem = this.#problems.get(name);
    if (problem) setText(problem, text);
    this.#inputs.get(name)?.focus();
  }

  clearProblems() {
    for (const problem of this.#problems.values()) setText(problem, '');
  }
}

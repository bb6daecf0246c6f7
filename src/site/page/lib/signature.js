// Parsing of ABIs: Solidity signatures and compiler JSON.

const WORDS_BEHIND = /\b(external|public|view|pure|payable|nonpayable|virtual|override|memory|calldata|storage|anonymous)\b/g;

/** The text between the parentheses that open at `start`, and the position after them. */
function inside(text, start) {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '(') depth++;
    if (text[at] === ')' && --depth === 0) return { body: text.slice(start + 1, at), end: at + 1 };
  }
  throw new Error(`unclosed parenthesis: ${text.slice(0, 60)}`);
}

/** Splits a text at its top-level commas. */
function parts(text) {
  const found = [];
  let [depth, from] = [0, 0];
  for (let at = 0; at <= text.length; at++) {
    if (text[at] === '(') depth++;
    if (text[at] === ')') depth--;
    if (at === text.length || (text[at] === ',' && depth === 0)) {
      found.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  return found.filter((part) => part !== '');
}

function canonical(type) {
  const match = /^(u?int|byte|fixed|ufixed)((?:\[\d*\])*)$/.exec(type);
  if (match?.[1] === 'byte') return 'bytes1' + match[2];
  if (match && match[1].endsWith('int')) return match[1] + '256' + match[2];
  if (!/^(address|bool|string|bytes([1-9]|[12]\d|3[0-2])?|u?int\d{1,3}|function)((\[\d*\])*)$/.test(type)) {
    throw new Error(`unknown type ${type.slice(0, 40)}`);
  }
  return type;
}

function parameter(text) {
  let rest = text.replace(/^(tuple|struct)\s*\(/, '(');
  let type;
  let components;
  if (rest.startsWith('(')) {
    const { body, end } = inside(rest, 0);
    components = parts(body).map(parameter);
    const suffix = /^((?:\[\d*\])*)/.exec(rest.slice(end))[1];
    type = 'tuple' + suffix;
    rest = rest.slice(end + suffix.length);
  } else {
    const match = /^(\S+)/.exec(rest);
    type = canonical(match[1]);
    rest = rest.slice(match[1].length);
  }
  const indexed = /\bindexed\b/.test(rest);
  const words = rest.replace(/\bindexed\b/, '').replace(WORDS_BEHIND, '').trim().split(/\s+/);
  return { type, name: words.at(-1) ?? '', ...(components && { components }), ...(indexed && { indexed }) };
}

/** Parses one declaration, such as `event Transfer(address indexed from, address indexed to, uint256 value)`. */
export function parseFragment(text) {
  const line = text.trim().replace(/;$/, '');
  const head = /^(?:(function|event|error|constructor)\s*)?([A-Za-z_$][\w$]*)?\s*\(/.exec(line);
  if (!head || (!head[2] && head[1] !== 'constructor')) throw new Error(`expected a function, event or error, got ${line.slice(0, 60)}`);
  const { body, end } = inside(line, head[0].length - 1);
  const behind = line.slice(end);
  const returns = /\breturns\s*\(/.exec(behind);
  const outputs = returns ? inside(behind, returns.index + returns[0].length - 1).body : '';
  return {
    type: head[1] ?? 'function',
    name: head[2] ?? '',
    inputs: parts(body).map(parameter),
    outputs: parts(outputs).map(parameter),
    anonymous: /\banonymous\b/.test(behind),
    stateMutability: /\b(view|pure|payable)\b/.exec(behind)?.[1] ?? 'nonpayable',
  };
}

/** A fragment from an entry of a JSON ABI. */
function fromJson(entry) {
  const check = (input) => {
    const components = input.components?.map(check);
    if (!components) canonical(input.type);
    return { type: input.type, name: input.name ?? '', ...(components && { components }), ...(input.indexed && { indexed: true }) };
  };
  return {
    type: entry.type ?? 'function',
    name: entry.name ?? '',
    inputs: (entry.inputs ?? []).map(check),
    outputs: (entry.outputs ?? []).map(check),
    anonymous: entry.anonymous === true,
    stateMutability: entry.stateMutability ?? 'nonpayable',
  };
}

/** Parses an ABI: JSON, a compiler artifact, or Solidity declarations, one per line. */
export function parseInterface(text) {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed)) {
    const parsed = JSON.parse(trimmed);
    const list = Array.isArray(parsed) ? parsed : parsed.abi;
    if (!Array.isArray(list)) throw new Error('expected a JSON ABI or an artifact with one');
    const named = list.map((entry) => (typeof entry === 'string' ? parseFragment(entry) : fromJson(entry)));
    return named.filter((entry) => entry.name !== '');
  }
  const lines = trimmed.split(/[\n;]/).map((line) => line.replace(/\/\/.*/, '').trim());
  return lines.filter((line) => /^(function|event|error)\b/.test(line)).map(parseFragment);
}

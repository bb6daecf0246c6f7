// Writes the book's pages about the contracts from their NatSpec comments.
//
//   node reference.mjs            rewrite docs/src/contracts/
//   node reference.mjs --check    fail if a page is not what the sources say

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { compile, readSources } from './build.mjs';

const root = dirname(fileURLToPath(import.meta.url));
const pages = join(root, '../docs/src/contracts');

/** The contracts that people call, in the order of the book. */
const CONTRACTS = {
  Vault: 'src/exchange/Vault.sol',
  PriceOracle: 'src/oracle/PriceOracle.sol',
  Token: 'src/token/Token.sol',
  LendingPool: 'src/lending/LendingPool.sol',
  LendingLens: 'src/lending/LendingLens.sol',
  PToken: 'src/lending/PToken.sol',
};

/** Sections of a page: title, type of the entries, and where the compiler has their comments. */
const SECTIONS = [
  ['Functions', 'function', 'methods'],
  ['Events', 'event', 'events'],
  ['Errors', 'error', 'errors'],
];

function describe(name, path, sources) {
  const settings = { outputSelection: { [path]: { [name]: ['abi', 'devdoc', 'userdoc'] } } };
  const isFault = (message) => message.severity === 'error';
  const { output } = compile(path, sources, settings, isFault);
  return page(name, output.contracts[path][name]);
}

/** The components of a tuple with its brackets, such as `(a,b)[]`. */
function tuple(input, components) {
  return `(${components})${input.type.slice('tuple'.length)}`;
}

function type(input) {
  return input.components ? tuple(input, input.components.map(parameter).join(', ')) : input.type;
}

function parameter(input) {
  return [type(input), input.indexed && 'indexed', input.name].filter(Boolean).join(' ');
}

/** A type as in a signature. */
function canonical(input) {
  return input.components ? tuple(input, input.components.map(canonical).join(',')) : input.type;
}

/** The signature of an entry, by which the compiler lists its comments. */
function key(entry) {
  return `${entry.name}(${entry.inputs.map(canonical).join(',')})`;
}

function sentence(text) {
  return text?.replace(/\s+/g, ' ').trim() ?? '';
}

/** An entry as Solidity declares it. */
function declaration(entry) {
  const inputs = entry.inputs.map(parameter).join(', ');
  const returns = entry.outputs?.length
    ? ` returns (${entry.outputs.map(parameter).join(', ')})`
    : '';
  const mutability = ['view', 'pure', 'payable'].includes(entry.stateMutability)
    ? ` ${entry.stateMutability}`
    : '';
  return `${entry.type} ${entry.name}(${inputs})${mutability}${returns};`;
}

/** The parameters and results of an entry that have a comment, `[name, text]`. */
function documentedParameters(entry, details) {
  const inputs = entry.inputs.map((input) => [input.name, details?.params?.[input.name]]);
  const outputs = (entry.outputs ?? []).map((output, at) => [
    output.name || 'result',
    details?.returns?.[output.name || `_${at}`],
  ]);
  return [...inputs, ...outputs].filter(([, text]) => text);
}

function entryText(entry, user, developer) {
  const lines = [`### \`${entry.name}\``, '', '```solidity', declaration(entry), '```', ''];

  // Errors may be documented in several places, so the compiler gives a list.
  const [notice] = [user].flat();
  const [details] = [developer].flat();
  const about = [sentence(notice?.notice), sentence(details?.details)].filter(Boolean).join(' ');
  if (about) lines.push(about, '');

  const documented = documentedParameters(entry, details);
  for (const [name, text] of documented) lines.push(`- \`${name}\`: ${sentence(text)}`);
  if (documented.length > 0) lines.push('');
  return lines;
}

function page(name, { abi, userdoc, devdoc }) {
  const lines = [
    `# ${name}`,
    '',
    '<!-- Written by contracts/reference.mjs from the sources. -->',
    '',
  ];
  const about = [sentence(userdoc.notice), sentence(devdoc.details)].filter(Boolean).join(' ');
  if (about) lines.push(about, '');

  for (const [title, kind, documented] of SECTIONS) {
    const entries = abi
      .filter((entry) => entry.type === kind)
      .sort((a, b) => key(a).localeCompare(key(b), 'en'));
    if (entries.length > 0) lines.push(`## ${title}`, '');
    for (const entry of entries) {
      const user = userdoc[documented]?.[key(entry)];
      const developer = devdoc[documented]?.[key(entry)];
      lines.push(...entryText(entry, user, developer));
    }
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

const check = process.argv.includes('--check');
const sources = readSources();
const stale = [];
mkdirSync(pages, { recursive: true });
for (const [name, path] of Object.entries(CONTRACTS)) {
  const file = join(pages, `${name}.md`);
  const text = describe(name, path, sources);
  if (check && !(existsSync(file) && readFileSync(file, 'utf8') === text)) stale.push(file);
  if (!check) writeFileSync(file, text);
}
if (stale.length > 0) {
  console.error(`not what the sources say: ${stale.join(', ')}; run node contracts/reference.mjs`);
  process.exit(1);
}

// Writes the book's pages about the contracts from their NatSpec comments.
//
//   node reference.mjs            rewrite docs/src/contracts/
//   node reference.mjs --check    fail if a page is not what the sources say

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { readSources } from './build.mjs';

const root = dirname(fileURLToPath(import.meta.url));
const pages = join(root, '../docs/src/contracts');
const solc = createRequire(import.meta.url)('solc');

/** The contracts that people call, in the order of the book. */
const CONTRACTS = {
  Vault: 'src/exchange/Vault.sol',
  PriceOracle: 'src/oracle/PriceOracle.sol',
  Token: 'src/token/Token.sol',
  LendingPool: 'src/lending/LendingPool.sol',
  LendingLens: 'src/lending/LendingLens.sol',
  PToken: 'src/lending/PToken.sol',
};

function describe(name, path, sources) {
  const input = {
    language: 'Solidity',
    sources: { [path]: { content: sources[path] } },
    settings: { outputSelection: { [path]: { [name]: ['abi', 'devdoc', 'userdoc'] } } },
  };
  const findImport = (wanted) => {
    if (wanted in sources) return { contents: sources[wanted] };
    const file = join(root, 'node_modules', wanted);
    return existsSync(file)
      ? { contents: readFileSync(file, 'utf8') }
      : { error: `${wanted}: not found` };
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImport }));
  const faults = (output.errors ?? []).filter((message) => message.severity === 'error');
  if (faults.length > 0) throw new Error(faults.map((fault) => fault.formattedMessage).join('\n'));
  return page(name, output.contracts[path][name]);
}

const type = (input) =>
  input.components
    ? `(${input.components.map(parameter).join(', ')})${input.type.slice('tuple'.length)}`
    : input.type;
const parameter = (input) =>
  [type(input), input.indexed && 'indexed', input.name].filter(Boolean).join(' ');
const canonical = (input) =>
  input.components
    ? `(${input.components.map(canonical).join(',')})${input.type.slice('tuple'.length)}`
    : input.type;
const key = (entry) => `${entry.name}(${entry.inputs.map(canonical).join(',')})`;
const sentence = (text) => text?.replace(/\s+/g, ' ').trim() ?? '';

function entryText(entry, user, developer) {
  const returns = entry.outputs?.length
    ? ` returns (${entry.outputs.map(parameter).join(', ')})`
    : '';
  const mutability = ['view', 'pure', 'payable'].includes(entry.stateMutability)
    ? ` ${entry.stateMutability}`
    : '';
  const lines = [`### \`${entry.name}\``, '', '```solidity'];
  lines.push(
    `${entry.type} ${entry.name}(${entry.inputs.map(parameter).join(', ')})${mutability}${returns};`,
    '```',
    '',
  );
  // Errors may be documented in several places, so the compiler gives a list.
  const [notice] = [user].flat();
  const [details] = [developer].flat();
  const about = [sentence(notice?.notice), sentence(details?.details)].filter(Boolean).join(' ');
  if (about) lines.push(about, '');
  const named = [
    ...entry.inputs.map((input) => [input.name, details?.params?.[input.name]]),
    ...(entry.outputs ?? []).map((output, at) => [
      output.name || 'result',
      details?.returns?.[output.name || `_${at}`],
    ]),
  ].filter(([, text]) => text);
  for (const [name, text] of named) lines.push(`- \`${name}\`: ${sentence(text)}`);
  if (named.length > 0) lines.push('');
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
  const sections = [
    ['Functions', 'function', 'methods'],
    ['Events', 'event', 'events'],
    ['Errors', 'error', 'errors'],
  ];
  for (const [title, kind, documented] of sections) {
    const entries = abi
      .filter((entry) => entry.type === kind)
      .sort((a, b) => key(a).localeCompare(key(b), 'en'));
    if (entries.length > 0) lines.push(`## ${title}`, '');
    for (const entry of entries) {
      lines.push(
        ...entryText(entry, userdoc[documented]?.[key(entry)], devdoc[documented]?.[key(entry)]),
      );
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

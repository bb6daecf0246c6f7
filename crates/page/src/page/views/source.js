// The verified source of a contract: files with line numbers, and the compiler's settings.

import { copyButton, facts, h, replace } from '../lib/dom.js';
import { count } from '../lib/format.js';
import { hexBlock } from './parts.js';

/** Longer files are shown without colours. */
const LONGEST_COLOURED = 150_000;

const KEYWORDS = new Set(
  (
    'abstract address anonymous as assembly bool break calldata case catch constant constructor continue contract default delete do else emit enum error event ' +
    'external fallback false fixed for from function global if immutable import indexed interface internal is let library mapping memory modifier new override payable pragma ' +
    'private public pure receive return returns revert solidity storage string struct switch this throw transient true try type unchecked unicode using view virtual while'
  ).split(' '),
);
const TOKEN =
  /(\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(\b(?:0x[0-9a-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:e\d+)?)\b)|([A-Za-z_$][\w$]*)/g;

/** The class of a token's colour; null without one. */
function kindOf([, comment, string, number, word]) {
  if (comment) return 'comment';
  if (string) return 'string';
  if (number) return 'number';
  return KEYWORDS.has(word) || /^(u?int|bytes)\d*$/.test(word) ? 'keyword' : null;
}

/** Source text as texts and coloured spans. */
function coloured(text) {
  if (text.length > LONGEST_COLOURED) return [text];

  const parts = [];
  let from = 0;
  for (const match of text.matchAll(TOKEN)) {
    const kind = kindOf(match);
    if (!kind) continue;
    if (match.index > from) parts.push(text.slice(from, match.index));
    parts.push(h(`span.${kind}`, match[0]));
    from = match.index + match[0].length;
  }
  parts.push(text.slice(from));
  return parts;
}

/**
 * Source text as lines of texts and coloured spans. A comment over several lines has a span in
 * each.
 */
export function colouredLines(text) {
  const lines = [[]];
  for (const part of coloured(text)) {
    const isText = typeof part === 'string';
    (isText ? part : part.textContent).split('\n').forEach((piece, at) => {
      if (at > 0) lines.push([]);
      if (piece) lines.at(-1).push(isText ? piece : h(`span.${part.className}`, piece));
    });
  }
  return lines;
}

function fileView(path, text) {
  const lines = text.replace(/\n$/, '').split('\n').length;
  const numbers = Array.from({ length: lines }, (_, at) => at + 1).join('\n');
  return h(
    'div.stack',
    h(
      'div.spread',
      h('strong.mono', path),
      h('span.row', h('span.soft', `${count(lines)} lines`), copyButton(text, `Copy ${path}`)),
    ),
    h(
      'div.source',
      { tabindex: '0', role: 'group', 'aria-label': `Source of ${path}` },
      h('pre.numbers', { 'aria-hidden': 'true' }, numbers),
      h('pre', coloured(text)),
    ),
  );
}

/** How much of a contract the source explains; null if it is not verified. */
function matchText(info) {
  if (info.is_fully_verified) return 'Exact';
  return info.is_partially_verified ? 'Partial: the metadata differs' : null;
}

/** The setting of the optimiser; null if it is not known. */
function optimiserText({ optimization_enabled: isEnabled, optimization_runs: runs }) {
  if (isEnabled === null) return null;
  return isEnabled ? `${count(runs ?? 200)} runs` : 'off';
}

function verificationFacts(info) {
  const { language, verified_at: time } = info;
  return facts([
    ['Contract', info.name],
    ['Match', matchText(info)],
    [
      'Verified',
      time && new Date(time).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' }),
    ],
    ['Language', language && `${language[0].toUpperCase()}${language.slice(1)}`],
    ['Compiler', info.compiler_version],
    ['EVM version', info.evm_version],
    ['Optimiser', optimiserText(info)],
    ['License', info.license_type],
  ]);
}

/** The arguments of the constructor, in hex if their types are not known; null without any. */
function constructorArguments({ decoded_constructor_args: decoded, constructor_args: raw }) {
  const title = h('h3', 'Constructor arguments');
  if (decoded?.length > 0) {
    const rows = decoded.map(([value, about]) =>
      h(
        'tr',
        h('td', about?.name || about?.type),
        h('td.mono', typeof value === 'string' ? value : JSON.stringify(value)),
      ),
    );
    return [title, h('table.arguments', h('tbody', rows))];
  }
  return raw && raw !== '0x' ? [title, hexBlock(raw)] : null;
}

function settingsDetails(settings) {
  const text = JSON.stringify(settings, null, 2);
  return h(
    'details',
    h('summary', 'Compiler settings'),
    h('div.code', h('pre', { tabindex: '0' }, text), copyButton(text)),
  );
}

/** The files of a source, of which one is shown at a time. */
function fileList(files) {
  const shown = h('div');
  const buttons = files.map(({ path }, at) =>
    h('button', { type: 'button', onclick: () => choose(at) }, path),
  );

  function choose(at) {
    for (const [index, button] of buttons.entries()) {
      if (index === at) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
    }
    replace(shown, fileView(files[at].path, files[at].text));
  }

  choose(0);
  if (files.length === 1) return shown;
  return h('div.files', h('nav', { 'aria-label': 'Files' }, buttons), shown);
}

/** The source of a contract, from the explorer API's `smart-contracts/<address>`. */
export function sourceViewer(info) {
  const files = [
    { path: info.file_path ?? info.name ?? 'Source', text: info.source_code },
    ...info.additional_sources.map((one) => ({ path: one.file_path, text: one.source_code })),
  ];
  return h(
    'div.stack',
    verificationFacts(info),
    constructorArguments(info),
    info.compiler_settings && settingsDetails(info.compiler_settings),
    fileList(files),
  );
}

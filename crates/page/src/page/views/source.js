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

/** Source text as texts and coloured spans. */
function coloured(text) {
  if (text.length > LONGEST_COLOURED) return [text];
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [all, comment, string, number, word] = match;
    const kind = comment
      ? 'comment'
      : string
        ? 'string'
        : number
          ? 'number'
          : KEYWORDS.has(word) || /^(u?int|bytes)\d*$/.test(word)
            ? 'keyword'
            : null;
    if (!kind) continue;
    if (match.index > from) parts.push(text.slice(from, match.index));
    parts.push(h(`span.${kind}`, all));
    from = match.index + all.length;
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

/** The source of a contract, from the explorer API's `smart-contracts/<address>`. */
export function sourceViewer(info) {
  const files = [
    { path: info.file_path ?? info.name ?? 'Source', text: info.source_code },
    ...info.additional_sources.map((one) => ({ path: one.file_path, text: one.source_code })),
  ];
  const shown = h('div');
  const buttons = files.map(({ path }, at) =>
    h('button', { type: 'button', onclick: () => choose(at) }, path),
  );
  function choose(at) {
    buttons.forEach((button, index) =>
      index === at
        ? button.setAttribute('aria-current', 'true')
        : button.removeAttribute('aria-current'),
    );
    replace(shown, fileView(files[at].path, files[at].text));
  }
  choose(0);
  const settings = info.compiler_settings ? JSON.stringify(info.compiler_settings, null, 2) : null;
  const optimiser =
    info.optimization_enabled === null
      ? null
      : info.optimization_enabled
        ? `${count(info.optimization_runs ?? 200)} runs`
        : 'off';
  return h(
    'div.stack',
    facts([
      ['Contract', info.name],
      [
        'Match',
        info.is_fully_verified
          ? 'Exact'
          : info.is_partially_verified
            ? 'Partial: the metadata differs'
            : null,
      ],
      [
        'Verified',
        info.verified_at &&
          new Date(info.verified_at).toLocaleString('en-GB', {
            dateStyle: 'medium',
            timeStyle: 'short',
          }),
      ],
      ['Language', info.language && `${info.language[0].toUpperCase()}${info.language.slice(1)}`],
      ['Compiler', info.compiler_version],
      ['EVM version', info.evm_version],
      ['Optimiser', optimiser],
      ['License', info.license_type],
    ]),
    info.decoded_constructor_args?.length > 0 && [
      h('h3', 'Constructor arguments'),
      h(
        'table.arguments',
        h(
          'tbody',
          info.decoded_constructor_args.map(([value, about]) =>
            h(
              'tr',
              h('td', about?.name || about?.type),
              h('td.mono', typeof value === 'string' ? value : JSON.stringify(value)),
            ),
          ),
        ),
      ),
    ],
    !info.decoded_constructor_args?.length &&
      info.constructor_args &&
      info.constructor_args !== '0x' && [
        h('h3', 'Constructor arguments'),
        hexBlock(info.constructor_args),
      ],
    settings &&
      h(
        'details',
        h('summary', 'Compiler settings'),
        h('div.code', h('pre', { tabindex: '0' }, settings), copyButton(settings)),
      ),
    files.length > 1 ? h('div.files', h('nav', { 'aria-label': 'Files' }, buttons), shown) : shown,
  );
}

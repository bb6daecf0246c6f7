// What a search term may mean, and the search box.

import { parseAddress } from './address.js';
import { h, replace } from './dom.js';
import { ask, indexed } from './explorer.js';
import { count, shorten } from './format.js';
import { nameOf, network, tokenAt } from './network.js';
import { node } from './node.js';
import { wallets } from './wallet.js';

const RECENT = 'tetrad.searches';
/** Numbers of remembered searches and of shown results. */
const REMEMBERED = 6;
const SHOWN = 10;
const TAGS = { latest: 'The newest block', pending: 'The next block', finalized: 'The newest final block', safe: 'The newest safe block', earliest: 'The first block' };
/** Pause in typing after which the node is asked, in milliseconds. */
const PAUSE = 120;

/** A text that may be pasted with quotes, spaces or without its 0x. */
function tidy(text) {
  const bare = text.trim().replace(/^["'`]+|["'`,;]+$/g, '');
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(bare) && /[a-f]/i.test(bare) ? `0x${bare}` : bare;
}

const block = (number) => ({ kind: 'Block', title: `Block ${count(Number(number))}`, detail: '', href: `#/block/${number}` });

/** Results of hashes, numbers and addresses, and the reason if there is none although the term is one of them. */
async function exact(text) {
  const head = Number(node.head?.number ?? 0);
  if (/^\d[\d,_]*$/.test(text)) {
    const number = BigInt(text.replace(/[,_]/g, ''));
    return number <= head ? { found: [block(number)] } : { reason: `Block ${count(number)} does not exist yet; the latest block is ${count(head)}.` };
  }
  if (/^0x[0-9a-f]{64}$/i.test(text)) {
    const hash = text.toLowerCase();
    const [transaction, found] = await Promise.all([node.call('eth_getTransactionByHash', hash), node.call('eth_getBlockByHash', hash, false)]);
    if (transaction) return { found: [{ kind: 'Transaction', title: shorten(hash, 18, 10), detail: transaction.blockNumber === null ? 'Pending' : `In block ${count(Number(transaction.blockNumber))}`, href: `#/tx/${hash}` }] };
    if (found) return { found: [{ ...block(Number(found.number)), detail: hash }] };
    return { reason: 'No block or transaction has this hash.' };
  }
  if (/^0x[0-9a-f]{1,12}$/i.test(text)) {
    const number = BigInt(text);
    return number <= head ? { found: [block(number)] } : { reason: `Block ${count(number)} does not exist yet; the latest block is ${count(head)}.` };
  }
  const looksLikeOne = /^0x/i.test(text) || new RegExp(`^${network.prefix}[a-z]*1`, 'i').test(text);
  try {
    const address = parseAddress(text, network.prefix);
    const token = tokenAt(address);
    const result = { kind: 'Address', title: nameOf(address) ?? shorten(address, 12, 10), detail: address, href: `#/address/${address}` };
    return { found: token ? [result, tokenResult(token)] : [result] };
  } catch (error) {
    return looksLikeOne ? { reason: `${error.message[0].toUpperCase()}${error.message.slice(1)}.` } : {};
  }
}

function tokenResult(token) {
  return { kind: 'Token', title: `${token.symbol}`, detail: nameOf(token.address) ?? token.address, href: `#/token/${token.address}` };
}

/** How well a name matches: 0 for equal, 1 for its beginning, 2 for the beginning of a word, 3 for a part; null for none. */
function rank(name, words) {
  const lower = name.toLowerCase();
  if (lower === words) return 0;
  if (lower.startsWith(words)) return 1;
  if (lower.includes(` ${words}`)) return 2;
  return lower.includes(words) ? 3 : null;
}

/** Results among names that the page knows: tokens, contracts of the network, accounts of the node, blocks. */
function named(words) {
  const found = [];
  const add = (name, result) => {
    const how = rank(name, words);
    if (how !== null) found.push({ ...result, how });
  };
  for (const [tag, detail] of Object.entries(TAGS)) if (tag.startsWith(words)) found.push({ kind: 'Block', title: tag, detail, href: `#/block/${tag}`, how: tag === words ? 0 : 2 });
  for (const token of [...network.tokens, ...(network.receipts ?? [])]) add(token.symbol, tokenResult(token));
  for (const [address, name] of network.names) {
    if (!tokenAt(address)) add(name, { kind: 'Contract', title: name, detail: address, href: `#/address/${address}` });
    else if (words.length > 2 && rank(name, words) !== null) found.push({ ...tokenResult(tokenAt(address)), how: 2 });
  }
  wallets.held.forEach((address, at) => add(`Account ${at}`, { kind: 'Account', title: `Account ${at}`, detail: address, href: `#/address/${address}` }));
  return found.sort((a, b) => a.how - b.how);
}

/** Tokens and verified contracts of the index. */
async function remote(text) {
  if (text.length < 2 || !(await indexed())) return [];
  const all = await ask('search/quick', { q: text }).catch(() => []);
  return all.filter(({ type }) => type === 'token' || type === 'contract').map((one) => {
    const isToken = one.type === 'token';
    const name = one.name ?? shorten(one.address_hash, 12, 10);
    const title = isToken && one.symbol ? `${name} (${one.symbol})` : name;
    const how = Math.min(...[one.name, one.symbol].filter(Boolean).map((each) => rank(each, text.toLowerCase()) ?? 4), 4);
    return { kind: isToken ? (one.token_type === 'ERC-20' ? 'Token' : 'NFT') : 'Contract', title, detail: one.address_hash, href: `#/${isToken ? 'token' : 'address'}/${one.address_hash}`, how: how + 0.5 };
  });
}

/** The results of a term, best first, and the reason if there are none. */
export async function search(given) {
  const text = tidy(given);
  if (!text) return { found: [], reason: '' };
  const { found = null, reason = null } = await exact(text);
  if (found) return { found, reason: '' };
  if (reason) return { found: [], reason };
  const all = [...named(text.toLowerCase()), ...(await remote(text))].sort((a, b) => a.how - b.how);
  const seen = new Set();
  const distinct = all.filter(({ href }) => !seen.has(href.toLowerCase()) && seen.add(href.toLowerCase()));
  if (distinct.length) return { found: distinct.slice(0, SHOWN), reason: '' };
  const where = (await indexed()) ? 'token, contract or block' : 'token or contract of the network';
  return { found: [], reason: `No ${where} is called “${text.slice(0, 60)}”.` };
}

function recent() {
  try {
    const list = JSON.parse(localStorage.getItem(RECENT) ?? '[]');
    return Array.isArray(list) ? list.filter((one) => typeof one?.href === 'string' && one.href.startsWith('#/') && typeof one.title === 'string').slice(0, REMEMBERED) : [];
  } catch {
    return [];
  }
}

function remember({ kind, title, detail, href }) {
  const list = [{ kind, title, detail, href }, ...recent().filter((one) => one.href !== href)];
  try {
    localStorage.setItem(RECENT, JSON.stringify(list.slice(0, REMEMBERED)));
  } catch {
    // Storage may be disabled.
  }
}

/** Makes an input a combobox (WAI-ARIA) whose list shows results while the user types. */
export function searchBox(form, input) {
  const list = h('ul.options', { id: 'results', role: 'listbox', 'aria-label': 'Results', hidden: true });
  const said = h('div.options.message', { hidden: true }, h('p.said'));
  form.append(list, said);
  for (const [name, value] of Object.entries({ role: 'combobox', 'aria-controls': 'results', 'aria-expanded': 'false', 'aria-autocomplete': 'list', 'aria-haspopup': 'listbox' })) input.setAttribute(name, value);
  let [results, active, turn, timer, latest] = [[], -1, 0, null, null];

  const close = () => {
    turn++;
    clearTimeout(timer);
    [list.hidden, said.hidden, active, latest] = [true, true, -1, null];
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const go = (result) => {
    remember(result);
    close();
    input.value = '';
    input.blur();
    if (location.hash === result.href) window.dispatchEvent(new HashChangeEvent('hashchange'));
    else location.hash = result.href;
  };
  const mark = (at) => {
    active = at;
    [...list.querySelectorAll('[role="option"]')].forEach((option, each) => option.setAttribute('aria-selected', String(each === at)));
    const option = at < 0 ? null : list.querySelector(`#result-${at}`);
    if (option) {
      input.setAttribute('aria-activedescendant', option.id);
      option.scrollIntoView({ block: 'nearest' });
    } else input.removeAttribute('aria-activedescendant');
  };
  const draw = (found, reason) => {
    results = found;
    replace(list, found.map((one, at) => h('li', {
      id: `result-${at}`,
      role: 'option',
      'aria-selected': 'false',
      // Keeps the focus in the input.
      onpointerdown: (event) => event.preventDefault(),
      onclick: () => go(one),
    }, h('b', one.title), one.detail && h('small', one.detail), h('span.tag', one.kind))));
    list.hidden = !found.length;
    said.hidden = Boolean(found.length) || !reason;
    replace(said, h('p.said', { role: 'status' }, reason));
    input.setAttribute('aria-expanded', String(Boolean(found.length)));
    mark(-1);
  };
  /** Looks a term up, once for each term. */
  const look = (text) => {
    if (latest?.text === text) return latest.outcome;
    const outcome = search(text).catch((error) => ({ found: [], reason: `The search failed: ${error.message}` }));
    latest = { text, outcome };
    return outcome;
  };
  const update = async () => {
    const mine = ++turn;
    const text = input.value.trim();
    if (!text) return draw(recent(), '');
    const { found, reason } = await look(text);
    if (mine === turn && document.activeElement === input) draw(found, reason);
  };

  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(update, PAUSE);
  });
  input.addEventListener('focus', update);
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      if (list.hidden && said.hidden) input.value = '';
      else event.preventDefault();
      return close();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return null;
    event.preventDefault();
    if (list.hidden) return update();
    const count = results.length + 1;
    return mark(((active + 1 + step + count) % count) - 1);
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (active >= 0 && results[active]) return go(results[active]);
    const text = input.value.trim();
    if (!text) return null;
    clearTimeout(timer);
    const mine = ++turn;
    const { found } = await look(text);
    if (mine !== turn) return null;
    if (found.length) return go(found[0]);
    close();
    input.value = '';
    input.blur();
    location.hash = `#/search/${encodeURIComponent(text)}`;
    return null;
  });
  if (document.activeElement === input) update();
}

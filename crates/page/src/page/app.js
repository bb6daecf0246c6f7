// The frame around the views: navigation, search, the active account and the connection status.

import { followAccounts } from './lib/accountmenu.js';
import { clockText, followClock } from './lib/clock.js';
import { announce, failure, h, heading, icon, replace, setText, toast } from './lib/dom.js';
import { count } from './lib/format.js';
import { load, network } from './lib/network.js';
import { node, whenever } from './lib/node.js';
import { arrive, followScrolling, leave } from './lib/place.js';
import { prices } from './lib/prices.js';
import { switchTheme } from './lib/theme.js';
import { wallets } from './lib/wallet.js';
import { showMiningNotice } from './views/miningnotice.js';

/**
 * Routes: path, its last part if that decides, module and navigation label; `needs` is the
 * condition under which a view is available.
 */
const VIEWS = [
  { path: '', file: 'network', name: 'Network' },
  { path: 'explorer', file: 'explorer', name: 'Explorer' },
  { path: 'exchange', file: 'exchange', name: 'Exchange', needs: () => network.addresses },
  { path: 'lending', file: 'lending', name: 'Lending', needs: () => network.addresses },
  { path: 'accounts', file: 'accounts', name: 'Accounts' },
  { path: 'transact', file: 'transact', name: 'Transact' },
  { path: 'developer', file: 'developer', name: 'Developer', needs: () => network.development },
  { path: 'faucet', file: 'faucet', under: 'accounts' },
  { path: 'api', file: 'api', name: 'API' },
  { path: 'block', file: 'block', under: 'explorer' },
  { path: 'tx', last: 'debug', file: 'debugger', under: 'explorer' },
  { path: 'simulate', last: 'debug', file: 'debugger', under: 'explorer' },
  { path: 'tx', file: 'transaction', under: 'explorer' },
  { path: 'address', file: 'address', under: 'explorer' },
  { path: 'token', file: 'token', under: 'explorer' },
  { path: 'tokens', file: 'tokens', under: 'explorer' },
  { path: 'contract', file: 'contract', under: 'explorer' },
  { path: 'simulate', file: 'simulate', under: 'explorer' },
  { path: 'search', file: 'search', under: 'explorer' },
  { path: 'interfaces', file: 'interfaces', under: 'explorer' },
];

const main = document.getElementById('main');
const nav = document.getElementById('nav');
let leaving = new AbortController();
/** What the views depend on, as text; empty until it has been loaded. */
let learnt = '';
/** The number of failed attempts to import a view, by its URL. */
const failed = new Map();

/** Why a view is not available, by its path. */
const WITHOUT = {
  developer: 'The developer view needs the development profile.',
  exchange: 'This chain has no exchange: it began with a genesis file of its own.',
  lending: 'This chain has no lending pool: it began with a genesis file of its own.',
};

/** What is shown in place of a view that does not exist. */
function missing(title, message) {
  const links = VIEWS.filter((one) => one.name && isAvailable(one)).flatMap(({ path, name }) => [
    h('a', { href: `#/${path}` }, name),
    ', ',
  ]);
  return h(
    'div.stack',
    heading(title),
    failure(message),
    h('p', 'Go to ', links, 'or ', h('a', { href: 'docs/' }, 'the documentation'), '.'),
  );
}

/** The route in the address bar, such as `#/block/7?x=y`. */
function route() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, ...rest] = path.split('/').map(decodeURIComponent);
  return { name, rest, query: new URLSearchParams(query) };
}

/**
 * Imports a view. A browser remembers that a module failed to load, so that a later attempt uses
 * another URL.
 */
async function loadView(file) {
  const url = `./views/${file}.js`;
  const attempt = failed.get(url) ?? 0;
  try {
    return await import(attempt ? `${url}?attempt=${attempt}` : url);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    failed.set(url, attempt + 1);
    throw new Error('the node is not responding. The page is loaded when it responds again');
  }
}

/** The view of a route, or undefined. */
function viewOf({ name, rest }) {
  return VIEWS.find((one) => one.path === name && (!one.last || one.last === rest.at(-1)));
}

function isAvailable(view) {
  return !view.needs || Boolean(view.needs());
}

/** Why a route has no view, as a sentence; null or undefined if it has one. */
function absenceOf(view, name) {
  if (!view) return `There is no page “${name.slice(0, 60)}”.`;
  return isAvailable(view) ? null : WITHOUT[view.path];
}

/** Shows the view of the route, and again once the node is there if it does not load without. */
async function show({ focus }) {
  leaving.abort();
  leave();
  leaving = new AbortController();
  const { signal } = leaving;

  let content;
  let view;
  try {
    const { name, rest, query } = route();
    view = viewOf({ name, rest });
    const absence = absenceOf(view, name);
    if (absence) content = missing(view?.name ?? 'Page not found', absence);
    else content = await (await loadView(view.file)).default({ signal, rest, query });
  } catch (error) {
    content = h('div.stack', heading(error.title ?? 'Page could not be loaded'), failure(error));
    if (view && !node.connected) {
      const again = () => signal.aborted || show({ focus: false });
      node.addEventListener('status', again, { once: true, signal });
    }
  }
  if (signal.aborted) return;

  replace(main, content);
  drawNavigation(view);
  const title = main.querySelector('h1');
  document.title = title ? `${title.textContent} · tetrad` : 'tetrad';
  arrive(signal);
  if (focus && title) {
    title.focus({ preventScroll: true });
    announce(title.textContent);
  }
}

function drawNavigation(view) {
  const shown = VIEWS.filter((one) => one.name && isAvailable(one));
  const current = view?.under ?? view?.path;
  const link = (one) =>
    h(
      'a',
      { href: `#/${one.path}`, 'aria-current': one.path === current ? 'page' : null },
      icon(one.file),
      h('span', one.name),
    );
  replace(nav, shown.map(link));
}

function drawStatus() {
  const status = document.getElementById('status');
  const text = document.getElementById('status-text');
  status.classList.toggle('lost', !node.connected);
  const block = node.head ? ` · block ${count(Number(node.head.number))}` : '';
  setText(text, node.connected ? `Chain ${network.chainId}${block}` : 'Reconnecting…');
  const clock = document.getElementById('clock');
  clock.hidden = !clockText();
  setText(clock, `clock ${clockText()}`);
}

/** Follows the skip link without a change of the route, which is after the `#`. */
function listenToSkipLink() {
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
  });
}

function listenToSearch() {
  const query = document.getElementById('query');
  const form = document.getElementById('search');
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = query.value.trim();
    if (text && query.getAttribute('role') !== 'combobox')
      location.hash = `#/search/${encodeURIComponent(text)}`;
  });

  // The search box is loaded when it is used first, and again if that failed.
  const arm = () =>
    query.addEventListener(
      'focus',
      () => import('./lib/searchbox.js').then(({ searchBox }) => searchBox(form, query), arm),
      { once: true },
    );
  arm();

  document.addEventListener('keydown', (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '');
    if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      query.focus();
    }
  });
}

function listenToTheme() {
  const theme = document.getElementById('theme');
  theme.append(icon('theme'));
  theme.addEventListener('click', switchTheme);
}

function followStatus() {
  const always = new AbortController().signal;
  whenever(node, 'head', always, drawStatus);
  whenever(node, 'status', always, drawStatus, 0);
}

/** Shows the view again when another node is there. */
function followRestarts() {
  node.addEventListener('restart', async () => {
    prices.forget();
    await learn();
    toast('The node was restarted with a new chain');
    await show({ focus: false });
  });

  // A restarted node may have the same chain, but another profile or version.
  node.addEventListener('status', async () => {
    const before = learnt;
    if (!node.connected || !before) return;
    try {
      await learn();
    } catch {
      return;
    }
    if (learnt === before) return;
    toast('The node was restarted with other settings');
    await show({ focus: false });
  });
}

/**
 * Imports all views while there is nothing else to do, so that they open at once, and without a
 * node that responds.
 */
function prepareViews() {
  const idle = window.requestIdleCallback ?? ((run) => setTimeout(run, 1_000));
  const rest = VIEWS.map(({ file }) => file);
  const next = () => {
    const file = rest.shift();
    if (file)
      loadView(file)
        .catch(() => {})
        .then(() => idle(next));
  };
  idle(next);
}

/** The network without the fees suggested to wallets, which follow the base fee. */
function settings(addresses) {
  if (!addresses?.keplr) return addresses;
  const feeCurrencies = addresses.keplr.feeCurrencies?.map((one) => ({
    ...one,
    gasPriceStep: undefined,
  }));
  return { ...addresses, keplr: { ...addresses.keplr, feeCurrencies } };
}

/** Loads what every view depends on. */
async function learn() {
  const [, , development] = await Promise.all([load(), wallets.refresh(), node.has('evm_mine')]);
  network.development = development;
  const { chainId, client, addresses } = network;
  learnt = JSON.stringify([chainId, client, development, settings(addresses)]);
  drawStatus();
}

/** Loads it as soon as the node responds. */
async function learnPatiently() {
  for (;;) {
    try {
      await learn();
      return;
    } catch (error) {
      replace(main, failure(`${error.message}. Retrying…`));
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}

async function begin() {
  window.addEventListener('hashchange', () => show({ focus: true }));
  listenToSkipLink();
  listenToSearch();
  listenToTheme();
  followAccounts();
  followStatus();
  followRestarts();
  followClock();
  followScrolling();
  node.follow();
  await learnPatiently();

  showMiningNotice();
  await Promise.all([wallets.begin(), show({ focus: false })]);
  prepareViews();
}

begin();

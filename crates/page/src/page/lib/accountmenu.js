// The menu of the active account in the header.

import { h, replace, toast } from './dom.js';
import { shorten } from './format.js';
import { wallets } from './wallet.js';

/**
 * Windows in which the header has room for the short form of an account only; as in the stylesheet.
 */
const PHONE = matchMedia('(max-width: 46rem)');

/** An account of the node, or of a wallet. */
function option(via, address, text) {
  const { current } = wallets;
  const selected = current?.via === via && current.address === address;
  return h('option', { value: `${via}/${address}`, selected }, text);
}

function heldOption(address, at) {
  const text = PHONE.matches
    ? `#${at} ${address.slice(0, 6)}…`
    : `Account ${at} · ${shorten(address, 6, 4)}`;
  return option('node', address, text);
}

/** The connected account of a wallet, or the choice to connect the wallet. */
function walletOption(via, name) {
  const { current } = wallets;
  if (current?.via !== via) return h('option', { value: `${via}/` }, `Connect ${name}…`);
  const address = shorten(current.address, 6, 4);
  return option(via, current.address, PHONE.matches ? address : `${name} · ${address}`);
}

function draw() {
  const { current, held, impersonated, injected } = wallets;
  const impersonatedOptions = impersonated.map((address) =>
    option('node', address, shorten(address, 6, 4)),
  );
  replace(
    document.getElementById('account'),
    !current && h('option', { value: '', selected: true, disabled: true }, 'No account'),
    held.length > 0 && h('optgroup', { label: 'Node accounts' }, held.map(heldOption)),
    impersonated.length > 0 && h('optgroup', { label: 'Impersonated' }, impersonatedOptions),
    [...injected].map(([via, { name }]) => h('optgroup', { label: name }, walletOption(via, name))),
    !held.length &&
      !injected.size &&
      h('option', { value: '', disabled: true }, 'No browser wallet found'),
  );
}

async function choose(event) {
  const [via, address] = event.target.value.split('/');
  try {
    if (via === 'node') wallets.useHeld(address);
    else await wallets.connect(via);
  } catch (error) {
    toast(error.message ?? 'The wallet rejected the request', 'error');
    draw();
  }
}

/** Fills the menu, and again when the accounts or the window change. */
export function followAccounts() {
  document.getElementById('account').addEventListener('change', choose);
  wallets.addEventListener('change', draw);
  PHONE.addEventListener('change', draw);
}

// First steps on a network without node accounts: connect a wallet, get coins, use the network.

import { card, h, toast } from '../lib/dom.js';
import { describeFaucet } from '../lib/faucet.js';
import { network } from '../lib/network.js';
import { node, whenever } from '../lib/node.js';
import { wallets } from '../lib/wallet.js';

/** The wallet to prefer, as `[identifier, wallet]`: MetaMask, or the first one. */
export function preferredWallet() {
  const all = [...wallets.injected];
  return all.find(([, wallet]) => wallet.name === 'MetaMask') ?? all[0] ?? null;
}

/** A button that adds this network to the browser's wallet. */
export function addToWallet(signal) {
  const button = h('button', { type: 'button' }, 'Add to MetaMask');
  const draw = () => (button.textContent = `Add to ${preferredWallet()?.[1].name ?? 'MetaMask'}`);
  wallets.addEventListener('change', draw, { signal });
  draw();
  button.addEventListener('click', async () => {
    const found = preferredWallet();
    if (!found)
      return toast(
        'No browser wallet found. Install MetaMask, or add the network manually with the details below.',
      );
    try {
      await wallets.addNetwork(found[1].provider);
      toast(`${found[1].name} is connected to this network`, 'good');
    } catch (error) {
      toast(error.message ?? 'The wallet rejected the request', 'error');
    }
  });
  return button;
}

/**
 * What a form says without an account: the label of its button, and either what the button does or,
 * where there is neither a node account nor a wallet, a sentence with a link.
 */
export function withoutAccount() {
  const found = preferredWallet();
  if (found) return { label: `Connect ${found[1].name}`, act: () => wallets.connect(found[0]) };
  if (wallets.held.length) return { label: 'Choose an account' };
  return {
    label: 'Connect a wallet',
    text: 'No browser wallet found. ',
    link: h('a', { href: 'docs/start/dapp.html#3-connect-a-wallet' }, 'How to connect one'),
  };
}

async function connectWallet() {
  const found = preferredWallet();
  if (!found) return toast('No browser wallet found. Install MetaMask or another wallet first.');
  try {
    await wallets.connect(found[0]);
    toast(`${found[1].name} is connected`, 'good');
  } catch (error) {
    toast(error.message ?? 'The wallet rejected the request', 'error');
  }
}

/** Whether the active account has coins. */
async function hasCoins() {
  if (!wallets.current) return false;
  const balance = await node
    .call('eth_getBalance', wallets.current.address, 'latest')
    .catch(() => '0x0');
  return BigInt(balance) > 0n;
}

function step(title, ...content) {
  return h('li', h('div', h('h3', title), content));
}

/** How an account gets coins for gas. */
function coinsStep(faucet) {
  const title = `Get ${network.coin} for gas`;
  if (faucet?.enabled)
    return step(
      title,
      h('p.soft', 'The faucet pays test coins and tokens to any address.'),
      h('div.row', h('a.button', { href: '#/faucet' }, 'Open faucet')),
    );
  return step(
    title,
    h(
      'p.soft',
      `This node has no faucet. Ask its operator to send ${network.coin} to your address. Operators: start the node with `,
      h('span.mono', '--faucet 10'),
      ', or send coins from the treasury’s account.',
    ),
  );
}

/** Links to what the network can be used for. */
function useLinks() {
  const links = [
    network.addresses && ['#/exchange', 'Swap tokens'],
    network.addresses && ['#/lending', 'Lend and borrow'],
    ['#/explorer', 'Explore transactions'],
  ];
  return links.filter(Boolean).map(([href, text]) => h('a.button', { href }, text));
}

/**
 * The card, or null where the node has accounts to use. It is hidden while the active account has
 * coins.
 */
export async function startCard(signal) {
  if (wallets.held.length) return null;

  const [faucet, started] = await Promise.all([describeFaucet(), hasCoins()]);
  const connect = step(
    'Connect a wallet',
    h(
      'p.soft',
      'Your wallet keeps the keys; this node has none. The network is added to it at the same time.',
    ),
    h('div.row', h('button', { type: 'button', onclick: connectWallet }, 'Connect wallet')),
  );
  const use = step('Use the network', h('div.row', useLinks()));
  const element = card('Get started', h('ol.steps', connect, coinsStep(faucet), use));

  element.hidden = started;
  whenever(wallets, 'change', signal, async () => (element.hidden = await hasCoins()));
  return element;
}

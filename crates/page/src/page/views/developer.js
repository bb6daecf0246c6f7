// Controls for the development methods. A control is shown only if the node has its method.

import { action, confirmButton, first } from '../lib/actions.js';
import { parseAddress } from '../lib/address.js';
import { card, field, h, heading, replace, toast } from '../lib/dom.js';
import { shorten } from '../lib/format.js';
import { addressLink } from '../lib/links.js';
import { mining } from '../lib/mining.js';
import { network } from '../lib/network.js';
import { node } from '../lib/node.js';
import { wallets } from '../lib/wallet.js';
import { editorCard } from './editor.js';
import { failedCallsCard } from './failedcalls.js';
import { fundCard } from './fund.js';
import { miningCard } from './mining.js';
import { poolCard } from './pool.js';
import { priceCard } from './pricecard.js';
import { scenarioCard } from './scenarios.js';
import { snapshotCard } from './snapshots.js';
import { timeCard } from './time.js';

/** The accounts that are impersonated, with buttons that end it by the method `end`. */
function impersonatedList(end) {
  const element = h('div.stack');
  const stop = async (address) => {
    try {
      await node.call(end, address);
      wallets.impersonate(address, false);
    } catch (error) {
      toast(error.message, 'error');
    }
    draw();
  };
  const row = (address) =>
    h(
      'div.spread',
      addressLink(address),
      h('button', { type: 'button', onclick: () => stop(address) }, 'Stop'),
    );
  const draw = () => replace(element, wallets.impersonated.map(row));
  draw();
  return { element, draw };
}

async function impersonationCard() {
  const [begin, end] = await Promise.all([
    first('anvil_impersonateAccount', 'hardhat_impersonateAccount'),
    first('anvil_stopImpersonatingAccount', 'hardhat_stopImpersonatingAccount'),
  ]);
  if (!begin || !end) return null;

  const who = h('input', {
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: `0x… or ${network.prefix}1…`,
  });
  const impersonated = impersonatedList(end);
  const impersonate = async () => {
    const address = parseAddress(who.value, network.prefix);
    await node.call(begin, address);
    wallets.impersonate(address, true);
    impersonated.draw();
    return `Impersonating ${shorten(address)}`;
  };
  return card(
    'Impersonate account',
    action(
      field('Account', who, 'It is added to the account list at the top.'),
      'Impersonate',
      impersonate,
    ),
    impersonated.element,
  );
}

async function resetCard() {
  const method = await first('anvil_reset', 'hardhat_reset');
  if (!method) return null;

  const reset = async () => {
    await node.call(method);
    await Promise.all([node.refresh(), mining.refresh(), wallets.refresh()]);
    return 'The chain was reset to its first block';
  };
  return card(
    'Reset',
    h(
      'p.soft',
      'Returns the chain to its first block. All later blocks, the transaction pool and all snapshots are deleted.',
    ),
    h('div.row', confirmButton('Reset chain', 'Delete all blocks?', reset)),
  );
}

/** Cards under a title, if there are any. */
function group(title, cards) {
  return cards.some(Boolean) && h('div.stack', h('h2.group', title), h('div.grid.three', cards));
}

export default async function view({ signal }) {
  const [chain, state, prices, wide] = await Promise.all([
    Promise.all([miningCard(signal), timeCard(signal), snapshotCard(signal)]),
    Promise.all([fundCard(signal), editorCard(signal), impersonationCard()]),
    Promise.all([priceCard(signal), scenarioCard(signal), resetCard()]),
    Promise.all([failedCallsCard(signal), poolCard(signal)]),
  ]);
  return [
    heading('Developer'),
    h(
      'p.lead',
      'In the development profile, anyone who can reach this node can use these controls.',
    ),
    group('Chain', chain),
    group('Accounts', state),
    wide,
    group(network.addresses ? 'Market and node' : 'Node', prices),
  ];
}

// Endpoints and snippets with this node's URLs, chain ID and addresses filled in.

import { card, copyButton, facts, h, replace } from '../lib/dom.js';
import { network } from '../lib/network.js';
import { wallets } from '../lib/wallet.js';

/** The first of the well-known accounts, which nodes of other clients have as well. */
const DEVELOPMENT_ACCOUNT = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

function url(path, protocol = location.protocol) {
  const found = new URL(path, location.href);
  found.protocol = protocol;
  found.hash = '';
  return found.href;
}

/** Pairs of endpoint name and URL. */
function endpoints() {
  const socket = location.protocol === 'https:' ? 'wss:' : 'ws:';
  const all = [
    ['JSON-RPC', url('rpc')],
    ['JSON-RPC (WebSocket)', url('rpc', socket)],
    network.addresses && ['REST', url('api/prices')],
    network.addresses && ['Prices (WebSocket)', url('ws', socket)],
    ['GraphQL', url('graphql')],
    network.addresses && ['Cosmos REST', `${url('cosmos/auth/v1beta1/accounts/')}<address>`],
    ['Documentation', url('docs/')],
  ];
  return all.filter(Boolean);
}

function walletSnippet({ rpc, name }) {
  return `Network name     ${name}
RPC URL          ${rpc}
Chain ID         ${network.chainId}
Currency symbol  ${network.coin}
Block explorer   ${url('.')}`;
}

function curlSnippet({ rpc, sender }) {
  const rest = `

curl ${url('api/prices')}
curl ${url(`api/user/${sender}`)}`;
  return `curl ${rpc} \\
  -H 'content-type: application/json' \\
  -d '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'${network.addresses ? rest : ''}`;
}

function ethersSnippet({ rpc, vault }) {
  const connection = `import { ethers } from 'ethers';

const provider = new ethers.JsonRpcProvider('${rpc}', ${network.chainId});
console.log(await provider.getBlockNumber());`;
  if (!vault) return connection;

  const { USDC, WETH } = network.addresses.tokens;
  return `${connection}

const vault = new ethers.Contract('${vault}', [
  'function quoteSwap(address,address,uint256) view returns (uint256 amountOut, uint256 fee, uint256 impactBps, uint8 status)',
  'function swapExactTokensForTokens(address,address,uint256,uint256)',
], provider);
const [amountOut] = await vault.quoteSwap(
  '${USDC}', // USDC
  '${WETH}', // WETH
  100_000_000n,
);`;
}

function viemSnippet({ rpc, name }) {
  const { chainId, coin } = network;
  return `import { createPublicClient, defineChain, http } from 'viem';

const chain = defineChain({
  id: ${chainId},
  name: '${name}',
  nativeCurrency: { name: '${coin}', symbol: '${coin}', decimals: 18 },
  rpcUrls: { default: { http: ['${rpc}'] } },
});
const client = createPublicClient({ chain, transport: http() });
console.log(await client.getBlockNumber());`;
}

function forgeSnippet({ rpc, sender, vault }) {
  const cast = `
cast call ${vault} 'SWAP_FEE_BPS()(uint256)' --rpc-url ${rpc}`;
  return `# foundry.toml
[rpc_endpoints]
tetrad = "${rpc}"

# then
forge script script/Deploy.s.sol --rpc-url tetrad --broadcast --unlocked --sender ${sender}${vault ? cast : ''}`;
}

function hardhatSnippet({ rpc }) {
  return `// hardhat.config.js
module.exports = {
  networks: {
    tetrad: { url: '${rpc}', chainId: ${network.chainId} },
  },
};

// then: npx hardhat run scripts/deploy.js --network tetrad`;
}

/** Code snippets by tool. */
function snippets() {
  const names = {
    rpc: url('rpc'),
    name: network.cosmosChainId || `Chain ${network.chainId}`,
    sender: wallets.held[0] ?? DEVELOPMENT_ACCOUNT,
    vault: network.addresses?.vault,
  };
  return {
    MetaMask: walletSnippet(names),
    curl: curlSnippet(names),
    ethers: ethersSnippet(names),
    viem: viemSnippet(names),
    forge: forgeSnippet(names),
    hardhat: hardhatSnippet(names),
  };
}

/** The snippets, of which the one of the chosen tool is shown. */
function snippetsCard() {
  const texts = snippets();
  const code = h('pre', { tabindex: '0' });
  const choose = (chosen) => {
    replace(code, h('code', texts[chosen]));
    for (const tab of tabs.children)
      tab.setAttribute('aria-pressed', String(tab.textContent === chosen));
  };
  const tabs = h(
    'div.tabs',
    { role: 'group', 'aria-label': 'Tool' },
    Object.keys(texts).map((name) =>
      h('button', { type: 'button', onclick: () => choose(name) }, name),
    ),
  );
  choose('MetaMask');

  const copy = copyButton(() => code.textContent, 'Copy snippet');
  return card('Connect with', tabs, h('div.code', code, copy));
}

function endpointsCard() {
  const list = endpoints().map(([name, address]) => [
    name,
    h('span.mono', address),
    copyButton(address, `Copy ${name} URL`),
  ]);
  const chain = [
    [
      'Chain IDs',
      `${network.chainId} (EVM)`,
      network.cosmosChainId && ` · ${network.cosmosChainId} (Cosmos)`,
    ],
    ['Native currency', `${network.coin}, 18 decimals`],
    ['Client version', network.client],
  ];
  return card('Endpoints', facts([...list, ...chain]));
}

/** The cards with endpoints and snippets. */
export function connect() {
  return h('div.grid.two', endpointsCard(), snippetsCard());
}

// Endpoints and snippets with this node's URLs, chain ID and addresses filled in.

import { card, copyButton, facts, h, replace } from '../lib/dom.js';
import { network } from '../lib/network.js';
import { wallets } from '../lib/wallet.js';

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

/** Code snippets by tool. */
function snippets() {
  const rpc = url('rpc');
  const { chainId, coin, addresses } = network;
  const name = network.cosmosChainId || `Chain ${chainId}`;
  const sender = wallets.held[0] ?? '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
  const vault = addresses?.vault;
  const [usdc, weth] = ['USDC', 'WETH'].map((symbol) => addresses?.tokens[symbol]);
  const found = {
    MetaMask: `Network name     ${name}
RPC URL          ${rpc}
Chain ID         ${chainId}
Currency symbol  ${coin}
Block explorer   ${url('.')}`,
    curl: `curl ${rpc} \\
  -H 'content-type: application/json' \\
  -d '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'${
    addresses
      ? `

curl ${url('api/prices')}
curl ${url(`api/user/${sender}`)}`
      : ''
  }`,
    ethers: `import { ethers } from 'ethers';

const provider = new ethers.JsonRpcProvider('${rpc}', ${chainId});
console.log(await provider.getBlockNumber());${
      vault
        ? `

const vault = new ethers.Contract('${vault}', [
  'function quoteSwap(address,address,uint256) view returns (uint256 amountOut, uint256 fee, uint256 impactBps, uint8 status)',
  'function swapExactTokensForTokens(address,address,uint256,uint256)',
], provider);
const [amountOut] = await vault.quoteSwap(
  '${usdc}', // USDC
  '${weth}', // WETH
  100_000_000n,
);`
        : ''
    }`,
    viem: `import { createPublicClient, defineChain, http } from 'viem';

const chain = defineChain({
  id: ${chainId},
  name: '${name}',
  nativeCurrency: { name: '${coin}', symbol: '${coin}', decimals: 18 },
  rpcUrls: { default: { http: ['${rpc}'] } },
});
const client = createPublicClient({ chain, transport: http() });
console.log(await client.getBlockNumber());`,
    forge: `# foundry.toml
[rpc_endpoints]
tetrad = "${rpc}"

# then
forge script script/Deploy.s.sol --rpc-url tetrad --broadcast --unlocked --sender ${sender}${
      vault
        ? `
cast call ${vault} 'SWAP_FEE_BPS()(uint256)' --rpc-url ${rpc}`
        : ''
    }`,
    hardhat: `// hardhat.config.js
module.exports = {
  networks: {
    tetrad: { url: '${rpc}', chainId: ${chainId} },
  },
};

// then: npx hardhat run scripts/deploy.js --network tetrad`,
  };
  return found;
}

/** The cards with endpoints and snippets. */
export function connect() {
  const texts = snippets();
  const code = h('pre', { tabindex: '0' });
  const tabs = h('div.tabs', { role: 'group', 'aria-label': 'Tool' });
  const choose = (chosen) => {
    replace(code, h('code', texts[chosen]));
    for (const tab of tabs.children)
      tab.setAttribute('aria-pressed', String(tab.textContent === chosen));
  };
  replace(
    tabs,
    Object.keys(texts).map((name) =>
      h('button', { type: 'button', onclick: () => choose(name) }, name),
    ),
  );
  choose('MetaMask');
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
  return h(
    'div.grid.two',
    card('Endpoints', facts([...list, ...chain])),
    card(
      'Connect with',
      tabs,
      h(
        'div.code',
        code,
        copyButton(() => code.textContent, 'Copy snippet'),
      ),
    ),
  );
}

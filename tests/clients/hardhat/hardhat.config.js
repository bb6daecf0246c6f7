import helpers from '@nomicfoundation/hardhat-network-helpers';
import verify from '@nomicfoundation/hardhat-verify';
import { defineConfig } from 'hardhat/config';
import path from 'node:path';

const rest = process.env.NODE_REST ?? 'http://127.0.0.1:8545';

export default defineConfig({
  plugins: [helpers, verify],
  // The compiler from npm, so that nothing is downloaded at run time.
  solidity: {
    version: '0.8.37',
    path: path.join(import.meta.dirname, 'node_modules/solc/soljson.js'),
  },
  chainDescriptors: {
    125: {
      name: 'tetrad',
      blockExplorers: { blockscout: { name: 'tetrad', url: rest, apiUrl: `${rest}/api` } },
    },
  },
  verify: { sourcify: { apiUrl: `${rest}/sourcify` } },
  networks: { tetrad: { type: 'http', url: process.env.NODE_URL ?? 'http://127.0.0.1:8545/rpc' } },
});

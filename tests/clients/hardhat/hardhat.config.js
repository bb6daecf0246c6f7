import helpers from '@nomicfoundation/hardhat-network-helpers';
import { defineConfig } from 'hardhat/config';
import path from 'node:path';

export default defineConfig({
    plugins: [helpers],
    // The compiler from npm, so that nothing is downloaded at run time.
    solidity: { version: '0.8.37', path: path.join(import.meta.dirname, 'node_modules/solc/soljson.js') },
    networks: { tetrad: { type: 'http', url: process.env.NODE_URL ?? 'http://127.0.0.1:8545/rpc' } },
});

// The JavaScript of the book's pages about Cosmos clients, as it stands there.
import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { DirectEthSecp256k1HdWallet } from '@cosmjs/proto-signing';
import { DENOM } from './support/cosmos.mjs';
import { MNEMONIC, start } from './support/node.mjs';

const RECIPIENT = 'pax1wzvhjux9rqfdcwspp37srdgwp5tac7wghez4vw';

let node;

before(async () => {
    node = await start();
});
after(() => node.stop());

/** The blocks of JavaScript on a page. */
async function blocks(page) {
    const text = await readFile(path.join(import.meta.dirname, '../../docs/src/interfaces', page), 'utf8');
    return [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
}

/** Runs blocks as one module, against the node. */
async function run(name, code) {
    // In this directory, whose packages it imports.
    const file = path.join(import.meta.dirname, `.book-${process.pid}-${name}.mjs`);
    await writeFile(file, code.join('\n').replaceAll('localhost:8545', new URL(node.rest).host));
    try {
        await import(pathToFileURL(file));
    } finally {
        await rm(file);
    }
}

async function balance(address) {
    const answer = await fetch(`${node.rest}/cosmos/bank/v1beta1/balances/${address}/by_denom?denom=${DENOM}`);
    return BigInt((await answer.json()).balance.amount);
}

test('CosmJS', async () => {
    const before = await balance(RECIPIENT);
    await run('cosmjs', await blocks('cosmjs.md'));
    assert.equal(await balance(RECIPIENT), before + 2n * 10n ** 18n);
});

test('Keplr', async () => {
    const suggested = [];
    const wallet = await DirectEthSecp256k1HdWallet.fromMnemonic(MNEMONIC, { prefix: 'pax' });
    const signer = {
        // Keplr's signers say so on every chain.
        getAccounts: async () => (await wallet.getAccounts()).map((account) => ({ ...account, algo: 'secp256k1' })),
        signDirect: (address, document) => wallet.signDirect(address, document),
    };
    globalThis.window = {
        keplr: {
            experimentalSuggestChain: async ({ chainId }) => suggested.push(chainId),
            enable: async (chainId) => assert.deepEqual(suggested, [chainId]),
            getOfflineSigner: (chainId) => (suggested.includes(chainId) ? signer : null),
        },
    };
    const [imports] = await blocks('cosmjs.md');
    const before = await balance(RECIPIENT);
    await run('keplr', [imports, ...await blocks('keplr.md')]);
    assert.equal(await balance(RECIPIENT), before + 10n ** 18n);
});

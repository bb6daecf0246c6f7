// CosmJS: the Cosmos interface, over HTTP and WebSocket.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { toBech32 } from '@cosmjs/encoding';
import { decodePubkey, DirectSecp256k1HdWallet } from '@cosmjs/proto-signing';
import { accountFromAny, SigningStargateClient, StargateClient } from '@cosmjs/stargate';
import { connectComet } from '@cosmjs/tendermint-rpc';
import { BinaryReader } from 'cosmjs-types/binary';
import { BaseAccount } from 'cosmjs-types/cosmos/auth/v1beta1/auth';
import { MNEMONIC, rpc, start } from './support/node.mjs';

const FIRST = 'pax17w0adeg64ky0daxwd2ugyuneellmjgnxljx2cg';
const NOBODY = toBech32('pax', new Uint8Array(20).fill(1));

let node, client;

/** Parser of Ethermint accounts, as CosmJS users of such chains write it: the base account is the first field. */
function parseAccount(any) {
    if (any.typeUrl !== '/hyperpaxeer.types.v1.EthAccount') return accountFromAny(any);
    const reader = new BinaryReader(any.value);
    assert.equal(reader.uint32() >>> 3, 1);
    const base = BaseAccount.decode(reader.bytes());
    return {
        address: base.address,
        pubkey: base.pubKey ?? null,
        accountNumber: Number(base.accountNumber),
        sequence: Number(base.sequence),
    };
}

before(async () => {
    node = await start();
    client = await StargateClient.connect(node.rest, { accountParser: parseAccount });
});
after(async () => {
    client.disconnect();
    await node.stop();
});

test('reads the chain ID and the height', async () => {
    assert.equal(await client.getChainId(), 'hyperpax_125-1');
    const before = await client.getHeight();
    await rpc(node, 'evm_mine');
    assert.equal(await client.getHeight(), before + 1);
    const block = await client.getBlock(before + 1);
    assert.equal(block.header.height, before + 1);
    assert.equal(block.header.chainId, 'hyperpax_125-1');
    const evm = await rpc(node, 'eth_getBlockByNumber', ['latest', false]);
    assert.equal(`0x${block.id.toLowerCase()}`, evm.hash);
    assert.equal(BigInt(Math.floor(Date.parse(block.header.time) / 1000)), BigInt(evm.timestamp));
});

test('reads accounts', async () => {
    const [from, to] = await rpc(node, 'eth_accounts');
    await rpc(node, 'eth_sendTransaction', [{ from, to, value: '0x5' }]);
    const account = await client.getAccount(FIRST);
    assert.equal(account.address, FIRST);
    assert.equal(account.sequence, Number(await rpc(node, 'eth_getTransactionCount', [from, 'latest'])));
    assert.equal(account.pubkey.typeUrl, '/hyperpaxeer.crypto.v1.ethsecp256k1.PubKey');
    assert.throws(() => decodePubkey(account.pubkey), 'CosmJS itself knows no keys of Ethermint');
    const answer = await (await fetch(`${node.rest}/cosmos/auth/v1beta1/accounts/${FIRST}`)).json();
    assert.equal(String(account.accountNumber), answer.account.account_number);
    assert.equal(await client.getAccount(NOBODY), null);
    assert.deepEqual(await client.getSequence(FIRST), { accountNumber: account.accountNumber, sequence: account.sequence });
});

test('reads balances', async () => {
    const [first] = await rpc(node, 'eth_accounts');
    const amount = BigInt(await rpc(node, 'eth_getBalance', [first, 'latest'])).toString();
    const coin = { denom: 'ahpx', amount };
    assert.deepEqual(await client.getBalance(FIRST, 'ahpx'), coin);
    assert.deepEqual(await client.getAllBalances(FIRST), [coin]);
    assert.deepEqual(await client.getBalance(FIRST, 'uatom'), { denom: 'uatom', amount: '0' });
    assert.deepEqual(await client.getAllBalances(NOBODY), []);
    assert.equal(await client.getBalanceStaked(FIRST), null);
    await assert.rejects(client.getBalance('pax1wrong', 'ahpx'), /invalid address/);
});

test('finds no Cosmos transactions', async () => {
    assert.equal(await client.getTx('AB'.repeat(32)), null);
    assert.deepEqual(await client.searchTx('message.action=\'send\''), []);
});

test('a broadcast is rejected with a pointer to eth_sendRawTransaction', async () => {
    await assert.rejects(client.broadcastTx(new Uint8Array([10, 0])), /eth_sendRawTransaction/);
    const wallet = await DirectSecp256k1HdWallet.fromMnemonic(MNEMONIC, { prefix: 'pax' });
    const [{ address }] = await wallet.getAccounts();
    const signer = await SigningStargateClient.connectWithSigner(node.rest, wallet, { accountParser: parseAccount });
    const fee = { amount: [{ denom: 'ahpx', amount: '1' }], gas: '21000' };
    await assert.rejects(signer.sendTokens(address, FIRST, [{ denom: 'ahpx', amount: '1' }], fee, ''));
    signer.disconnect();
});

test('speaks CometBFT over both transports', async () => {
    for (const url of [node.rest, node.rest.replace('http', 'ws')]) {
        const comet = await connectComet(url);
        const status = await comet.status();
        assert.equal(status.nodeInfo.network, 'hyperpax_125-1');
        assert.equal(status.syncInfo.catchingUp, false);
        assert.ok(status.syncInfo.latestBlockTime instanceof Date);
        assert.equal((await comet.abciInfo()).lastBlockHeight, status.syncInfo.latestBlockHeight);
        assert.equal((await comet.genesis()).chainId, 'hyperpax_125-1');
        assert.equal(await comet.health(), null);
        const { block, blockId } = await comet.block(1);
        assert.equal(block.header.height, 1);
        assert.equal((await comet.commit(1)).commit.blockId.hash.length, blockId.hash.length);
        assert.equal((await comet.blockResults(1)).height, 1);
        assert.equal((await comet.blockchain(0, 1)).blockMetas[0].header.height, 1);
        assert.deepEqual((await comet.validators({ height: 1 })).validators, []);
        await assert.rejects(comet.block(1_000_000), /less than or equal to the current blockchain height/);
        comet.disconnect();
    }
});

test('receives new blocks', async () => {
    const comet = await connectComet(node.rest.replace('http', 'ws'));
    const heights = [];
    const seen = new Promise((resolve, reject) => {
        const take = (event) => {
            heights.push(event.header.height);
            if (heights.length === 2) resolve();
        };
        comet.subscribeNewBlock().addListener({ next: take, error: reject, complete: () => {} });
    });
    // The subscription was sent first on the same connection, so it is active once this response arrives.
    const { syncInfo } = await comet.status();
    await rpc(node, 'anvil_mine', ['0x2']);
    await seen;
    assert.deepEqual(heights, [syncInfo.latestBlockHeight + 1, syncInfo.latestBlockHeight + 2]);
    comet.disconnect();
});

// Keplr: its own packages where they suffice, and otherwise the requests of its sources
// (packages/stores, packages/background) in their order.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { serializeSignDoc } from '@cosmjs/amino';
import validator from '@keplr-wallet/chain-validator';
import keplrCosmos from '@keplr-wallet/cosmos';
import bankTx from '@keplr-wallet/proto-types/cosmos/bank/v1beta1/tx.js';
import secp256k1 from '@keplr-wallet/proto-types/cosmos/crypto/secp256k1/keys.js';
import signing from '@keplr-wallet/proto-types/cosmos/tx/signing/v1beta1/signing.js';
import protoTx from '@keplr-wallet/proto-types/cosmos/tx/v1beta1/tx.js';
import web3 from '@keplr-wallet/proto-types/ethermint/types/v1/web3.js';
import { SignTypedDataVersion, signTypedData } from '@metamask/eth-sig-util';
import { ethers } from 'ethers';
import WebSocket from 'ws';
import {
  AminoSigner,
  bech32,
  coins,
  DENOM,
  legacyTypedData,
  TypedDataSigner,
} from './support/cosmos.mjs';
import { MNEMONIC, network, rpc, start } from './support/node.mjs';

const { BaseAccount, EthermintChainIdHelper, TendermintTxTracer } = keplrCosmos;
const { AuthInfo, Fee, SignerInfo, TxBody, TxRaw } = protoTx;
const { SignMode } = signing;

let node, chain;

before(async () => {
  node = await start('--comet-listen', '127.0.0.1:0', '--cosmos-rest-listen', '127.0.0.1:0');
  ({ keplr: chain } = await network(node));
});
after(() => node.stop());

async function get(path) {
  const answer = await fetch(`${chain.rest}${path}`);
  assert.equal(answer.status, 200, path);
  return answer.json();
}

async function post(path, body) {
  const answer = await fetch(`${chain.rest}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}

const base64 = (bytes) => Buffer.from(bytes).toString('base64');
const wallet = (index) => ethers.HDNodeWallet.fromPhrase(MNEMONIC, '', `m/44'/60'/0'/0/${index}`);

/** The message in both encodings. */
function message(from, to, amount) {
  const value = bankTx.MsgSend.encode({
    fromAddress: from,
    toAddress: to,
    amount: coins(amount),
  }).finish();
  return {
    amino: {
      type: 'cosmos-sdk/MsgSend',
      value: { from_address: from, to_address: to, amount: coins(amount) },
    },
    proto: { typeUrl: '/cosmos.bank.v1beta1.MsgSend', value },
  };
}

/**
 * Keplr's requests before it shows the fee: the account, its balance, the base fee, and the gas of
 * the unsigned transaction.
 */
async function prepare(address, proto, memo) {
  const account = await BaseAccount.fetchFromRest(chain.rest, address, true);
  const { balances } = await get(
    `/cosmos/bank/v1beta1/spendable_balances/${address}?pagination.limit=1000`,
  );
  assert.equal(balances[0].denom, DENOM);
  const { base_fee } = await get('/cosmos/evm/feemarket/v1/base_fee');
  const sequence = account.getSequence().toString();
  const modeInfo = { single: { mode: SignMode.SIGN_MODE_LEGACY_AMINO_JSON } };
  const unsigned = TxRaw.encode({
    bodyBytes: TxBody.encode(TxBody.fromPartial({ messages: [proto], memo })).finish(),
    authInfoBytes: AuthInfo.encode({
      signerInfos: [SignerInfo.fromPartial({ modeInfo, sequence })],
      fee: Fee.fromPartial({ amount: [] }),
    }).finish(),
    signatures: [new Uint8Array(64)],
  }).finish();
  const { status, body } = await post('/cosmos/tx/v1beta1/simulate', {
    tx_bytes: base64(unsigned),
  });
  assert.equal(status, 200, JSON.stringify(body));
  const gas = Math.floor(1.3 * Number(body.gas_info.gas_used));
  // The average price of Keplr's feature evm-feemarket.
  const price = (BigInt(base_fee.split('.')[0]) * 12n) / 10n;
  return { account, fee: { gas: String(gas), amount: coins(BigInt(gas) * price) } };
}

/** Signs as Keplr does, with Amino, and encodes the transaction. */
async function sign(signer, { amino, proto }, memo, extend = () => ({})) {
  const { account, fee } = await prepare(signer.address, proto, memo);
  const doc = {
    chain_id: chain.chainId,
    account_number: account.getAccountNumber().toString(),
    sequence: account.getSequence().toString(),
    fee,
    msgs: [amino],
    memo,
  };
  const { signed, signature } = await signer.signAmino(signer.address, doc);
  const bytes = Buffer.from(signature.signature, 'base64');
  const { signatures = [bytes], ...extension } = extend(bytes);
  return TxRaw.encode({
    bodyBytes: TxBody.encode(
      TxBody.fromPartial({ messages: [proto], memo: signed.memo, ...extension }),
    ).finish(),
    authInfoBytes: AuthInfo.encode({
      signerInfos: [
        {
          publicKey: {
            typeUrl: '/ethermint.crypto.v1.ethsecp256k1.PubKey',
            value: secp256k1.PubKey.encode({ key: signer.pubkey }).finish(),
          },
          modeInfo: { single: { mode: SignMode.SIGN_MODE_LEGACY_AMINO_JSON }, multi: undefined },
          sequence: signed.sequence,
        },
      ],
      fee: Fee.fromPartial({ amount: signed.fee.amount, gasLimit: signed.fee.gas }),
    }).finish(),
    signatures,
  }).finish();
}

/** Broadcasts as Keplr does, and returns the hash. */
async function broadcast(tx) {
  const { body } = await post('/cosmos/tx/v1beta1/txs', {
    tx_bytes: base64(tx),
    mode: 'BROADCAST_MODE_SYNC',
  });
  if (body.tx_response.code) throw new Error(body.tx_response.raw_log);
  return Buffer.from(body.tx_response.txhash, 'hex');
}

const balance = async (address) =>
  BigInt((await get(`/cosmos/bank/v1beta1/balances/${address}`)).balances[0]?.amount ?? 0);

test('the suggested chain passes the checks of Keplr', async () => {
  assert.deepEqual(await validator.validateBasicChainInfoType(chain, false), chain);
  await validator.checkRPCConnectivity(chain.chainId, chain.rpc, (url) => new WebSocket(url));
  await validator.checkRestConnectivity(chain.chainId, chain.rest);
  await validator.checkEvmRpcConnectivity(chain.evm.chainId, chain.evm.rpc);
  assert.equal(EthermintChainIdHelper.parse(chain.chainId).ethChainId, chain.evm.chainId);
  assert.deepEqual(
    [chain.rpc, chain.rest, chain.evm.rpc],
    [node.comet, node.cosmos_rest, node.rpc],
  );
});

test('a transfer succeeds, and the recipient spends with ethers', async () => {
  const signer = new AminoSigner(wallet(1));
  const provider = new ethers.JsonRpcProvider(chain.evm.rpc);
  const recipient = ethers.Wallet.createRandom(provider);
  const tx = await sign(
    signer,
    message(signer.address, bech32(recipient.address), ethers.WeiPerEther),
    'from Keplr',
  );
  const hash = await broadcast(tx);
  assert.equal(`0x${hash.toString('hex')}`, ethers.sha256(tx));
  assert.equal(await balance(bech32(recipient.address)), ethers.WeiPerEther);
  await (await recipient.sendTransaction({ to: ethers.ZeroAddress, value: 1n })).wait();
  assert.equal(
    (await BaseAccount.fetchFromRest(chain.rest, bech32(recipient.address)))
      .getSequence()
      .toString(),
    '1',
  );
  await assert.rejects(broadcast(tx), /account sequence mismatch/);
  provider.destroy();
});

test('typed data of a Ledger is accepted, with its signature in the extension and without the extension', async () => {
  const metamask = (privateKey, data) =>
    signTypedData({
      privateKey: ethers.getBytes(privateKey),
      data,
      version: SignTypedDataVersion.V4,
    });
  const recipient = bech32(ethers.Wallet.createRandom().address);
  const signer = new TypedDataSigner(wallet(2), legacyTypedData, metamask);
  await broadcast(await sign(signer, message(signer.address, recipient, 2n), ''));
  const extend = (feePayerSig) => ({
    signatures: [new Uint8Array()],
    extensionOptions: [
      {
        typeUrl: '/ethermint.types.v1.ExtensionOptionsWeb3Tx',
        value: web3.ExtensionOptionsWeb3Tx.encode(
          web3.ExtensionOptionsWeb3Tx.fromPartial({
            typedDataChainId: '125',
            feePayer: signer.address,
            feePayerSig,
          }),
        ).finish(),
      },
    ],
  });
  await broadcast(await sign(signer, message(signer.address, recipient, 3n), '', extend));
  assert.equal(await balance(recipient), 5n);
});

test('a signature of SHA-256, as on chains without the feature eth-key-sign, is refused', async () => {
  const signer = new AminoSigner(wallet(3));
  signer.signAmino = async (_, signed) => ({
    signed,
    signature: { signature: base64(signer.sign(ethers.sha256(serializeSignDoc(signed)))) },
  });
  await assert.rejects(
    broadcast(await sign(signer, message(signer.address, signer.address, 1n), '')),
    /signature verification failed/,
  );
});

/**
 * Keplr's tracer, which requests the transaction and subscribes to it at once. Keplr starts it
 * after the broadcast.
 */
async function trace(start) {
  const tracer = new TendermintTxTracer(chain.rpc, '/websocket', { wsObject: WebSocket });
  try {
    return await start(tracer);
  } finally {
    tracer.close();
  }
}

test('the tracer finds a transaction in a block', async () => {
  const signer = new AminoSigner(wallet(4));
  const recipient = bech32(ethers.Wallet.createRandom().address);
  const hash = await broadcast(await sign(signer, message(signer.address, recipient, 1n), ''));
  const result = await trace((tracer) => tracer.traceTx(hash));
  assert.equal(result.code ?? 0, 0);
  assert.equal(BigInt(result.gas_wanted) > 0n, true);
  const { tx_response } = await get(`/cosmos/tx/v1beta1/txs/${hash.toString('hex').toUpperCase()}`);
  assert.equal(tx_response.code, 0);
  assert.equal(
    tx_response.tx.auth_info.signer_infos[0].public_key['@type'],
    '/ethermint.crypto.v1.ethsecp256k1.PubKey',
  );
  // By events, as for transfers over IBC.
  const searched = await trace((tracer) =>
    tracer.traceTx({ 'message.sender': signer.address, 'transfer.recipient': recipient }),
  );
  assert.equal(searched.total_count, '1');
  assert.equal(searched.txs[0].hash, hash.toString('hex').toUpperCase());
});

test('the tracer is notified of a transaction that is mined later', async () => {
  const waiting = await start(
    '--no-mining',
    '--comet-listen',
    '127.0.0.1:0',
    '--cosmos-rest-listen',
    '127.0.0.1:0',
  );
  const before = chain;
  try {
    ({ keplr: chain } = await network(waiting));
    const signer = new AminoSigner(wallet(0));
    const hash = await broadcast(
      await sign(signer, message(signer.address, signer.address, 1n), ''),
    );
    await trace(async (tracer) => {
      const opened = new Promise((resolve) => tracer.addEventListener('open', resolve));
      const subscribed = new Promise((resolve) => {
        tracer.addEventListener('message', ({ data }) => {
          const { result } = JSON.parse(data);
          // The answer to `subscribe` is an empty object; that to `tx` is an error.
          if (result && Object.keys(result).length === 0) resolve();
        });
      });
      const traced = tracer.traceTx(hash);
      await opened;
      await subscribed;
      await rpc(waiting, 'evm_mine');
      assert.equal((await traced).code ?? 0, 0);
    });
  } finally {
    chain = before;
    await waiting.stop();
  }
});

test('the tracer is notified of new blocks', async () => {
  await trace(async (tracer) => {
    const heights = [];
    await new Promise((resolve) => {
      tracer.addEventListener(
        'message',
        ({ data }) => JSON.parse(data).result.data ?? rpc(node, 'evm_mine'),
      );
      tracer.addEventListener('open', () =>
        tracer.subscribeBlock(({ block }) => resolve(heights.push(block.header.height))),
      );
    });
    assert.deepEqual(heights, [String(Number(await rpc(node, 'eth_blockNumber')))]);
  });
});

// gRPC with grpc-js, as Cosmos clients of Node.js use it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import grpc from '@grpc/grpc-js';
import { QueryAccountRequest, QueryAccountResponse } from 'cosmjs-types/cosmos/auth/v1beta1/query';
import {
  QueryBalanceRequest,
  QueryBalanceResponse,
  QueryTotalSupplyRequest,
  QueryTotalSupplyResponse,
} from 'cosmjs-types/cosmos/bank/v1beta1/query';
import {
  GetLatestBlockRequest,
  GetLatestBlockResponse,
} from 'cosmjs-types/cosmos/base/tendermint/v1beta1/query';
import { QueryParamsRequest, QueryParamsResponse } from 'cosmjs-types/cosmos/staking/v1beta1/query';
import { BroadcastTxRequest, BroadcastTxResponse } from 'cosmjs-types/cosmos/tx/v1beta1/service';
import { rpc, start } from './support/node.mjs';

const FIRST = 'pax17w0adeg64ky0daxwd2ugyuneellmjgnxljx2cg';

let node, clients;

/** Sends a request over one of the clients. */
function ask(client, method, Request, Response, fields = {}, headers = {}) {
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return new Promise((resolve, reject) => {
    const encode = (request) => Buffer.from(Request.encode(request).finish());
    const call = client.makeUnaryRequest(
      `/${method}`,
      encode,
      (bytes) => Response.decode(bytes),
      Request.fromPartial(fields),
      metadata,
      (error, response) => (error ? reject(error) : resolve({ response, metadata: answered })),
    );
    let answered;
    call.on('metadata', (metadata) => (answered = metadata));
  });
}

before(async () => {
  node = await start('--grpc-listen', '127.0.0.1:0');
  clients = [node.rest, node.grpc].map(
    (url) => new grpc.Client(new URL(url).host, grpc.credentials.createInsecure()),
  );
});
after(async () => {
  for (const client of clients) client.close();
  await node.stop();
});

test('reads accounts, balances and blocks on both ports', async () => {
  const [first] = await rpc(node, 'eth_accounts');
  const amount = BigInt(await rpc(node, 'eth_getBalance', [first, 'latest'])).toString();
  for (const client of clients) {
    const { response } = await ask(
      client,
      'cosmos.bank.v1beta1.Query/Balance',
      QueryBalanceRequest,
      QueryBalanceResponse,
      { address: FIRST, denom: 'ahpx' },
    );
    assert.deepEqual(response.balance, { denom: 'ahpx', amount });
    const { response: found } = await ask(
      client,
      'cosmos.auth.v1beta1.Query/Account',
      QueryAccountRequest,
      QueryAccountResponse,
      { address: FIRST },
    );
    assert.equal(found.account.typeUrl, '/hyperpaxeer.types.v1.EthAccount');
    const { response: supply } = await ask(
      client,
      'cosmos.bank.v1beta1.Query/TotalSupply',
      QueryTotalSupplyRequest,
      QueryTotalSupplyResponse,
    );
    assert.ok(BigInt(supply.supply[0].amount) >= BigInt(amount));
    const { response: latest } = await ask(
      client,
      'cosmos.base.tendermint.v1beta1.Service/GetLatestBlock',
      GetLatestBlockRequest,
      GetLatestBlockResponse,
    );
    assert.equal(latest.block.header.chainId, 'hyperpax_125-1');
    const { response: staking } = await ask(
      client,
      'cosmos.staking.v1beta1.Query/Params',
      QueryParamsRequest,
      QueryParamsResponse,
    );
    assert.equal(staking.params.bondDenom, 'ahpx');
  }
});

test('reads past states by the height in the metadata', async () => {
  const [from, to] = await rpc(node, 'eth_accounts');
  const before = BigInt(await rpc(node, 'eth_getBalance', [from, 'latest']));
  const height = Number(await rpc(node, 'eth_blockNumber'));
  await rpc(node, 'evm_mine');
  await rpc(node, 'eth_sendTransaction', [{ from, to, value: '0x5' }]);
  const at = { 'x-cosmos-block-height': String(height + 1) };
  const { response, metadata } = await ask(
    clients[0],
    'cosmos.bank.v1beta1.Query/Balance',
    QueryBalanceRequest,
    QueryBalanceResponse,
    { address: FIRST, denom: 'ahpx' },
    at,
  );
  assert.equal(BigInt(response.balance.amount), before);
  assert.deepEqual(metadata.get('x-cosmos-block-height'), [String(height + 1)]);
});

test('errors have a status', async () => {
  const balance = (fields) =>
    ask(
      clients[0],
      'cosmos.bank.v1beta1.Query/Balance',
      QueryBalanceRequest,
      QueryBalanceResponse,
      fields,
    );
  await assert.rejects(balance({ address: 'x', denom: 'ahpx' }), {
    code: grpc.status.INVALID_ARGUMENT,
  });
  const unknown = ask(
    clients[0],
    'cosmos.nft.v1beta1.Query/Classes',
    QueryBalanceRequest,
    QueryBalanceResponse,
  );
  await assert.rejects(unknown, { code: grpc.status.UNIMPLEMENTED });
  const broadcast = ask(
    clients[0],
    'cosmos.tx.v1beta1.Service/BroadcastTx',
    BroadcastTxRequest,
    BroadcastTxResponse,
  );
  await assert.rejects(broadcast, {
    code: grpc.status.INVALID_ARGUMENT,
    details: 'invalid empty tx',
  });
});

// CosmJS: the Cosmos interface, over HTTP and WebSocket.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { toBech32 } from '@cosmjs/encoding';
import {
  decodePubkey,
  DirectEthSecp256k1HdWallet,
  DirectSecp256k1HdWallet,
} from '@cosmjs/proto-signing';
import {
  assertIsDeliverTxSuccess,
  GasPrice,
  QueryClient,
  setupAuthExtension,
  setupAuthzExtension,
  setupBankExtension,
  setupDistributionExtension,
  setupFeegrantExtension,
  setupGovExtension,
  setupIbcExtension,
  setupMintExtension,
  setupSlashingExtension,
  setupStakingExtension,
  SigningStargateClient,
  StargateClient,
} from '@cosmjs/stargate';
import { connectComet } from '@cosmjs/tendermint-rpc';
import { SignTypedDataVersion, signTypedData } from '@metamask/eth-sig-util';
import { TxBody, TxRaw } from 'cosmjs-types/cosmos/tx/v1beta1/tx';
import { ethers } from 'ethers';
import {
  AminoSigner,
  bech32,
  coins,
  DENOM,
  legacyTypedData,
  parseAccount,
  typedData,
  TypedDataSigner,
} from './support/cosmos.mjs';
import { MNEMONIC, network, rpc, start } from './support/node.mjs';

const FIRST = 'pax17w0adeg64ky0daxwd2ugyuneellmjgnxljx2cg';
const UNUSED = toBech32('pax', new Uint8Array(20).fill(1));

let node, client;

/** Connects with a signer to a URL of a node. */
async function connect(url, signer) {
  const { keplr } = await network(node);
  const gasPrice = GasPrice.fromString(`${keplr.feeCurrencies[0].gasPriceStep.high}${DENOM}`);
  return SigningStargateClient.connectWithSigner(url, signer, {
    accountParser: parseAccount,
    gasPrice,
  });
}

const send = (fromAddress, toAddress, amount) => ({
  typeUrl: '/cosmos.bank.v1beta1.MsgSend',
  value: { fromAddress, toAddress, amount: coins(amount) },
});

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
  assert.equal(
    account.sequence,
    Number(await rpc(node, 'eth_getTransactionCount', [from, 'latest'])),
  );
  assert.equal(account.pubkey.typeUrl, '/hyperpaxeer.crypto.v1.ethsecp256k1.PubKey');
  assert.throws(() => decodePubkey(account.pubkey), 'CosmJS itself knows no keys of Ethermint');
  const answer = await (await fetch(`${node.rest}/cosmos/auth/v1beta1/accounts/${FIRST}`)).json();
  assert.equal(String(account.accountNumber), answer.account.account_number);
  assert.equal(await client.getAccount(UNUSED), null);
  assert.deepEqual(await client.getSequence(FIRST), {
    accountNumber: account.accountNumber,
    sequence: account.sequence,
  });
});

test('reads balances', async () => {
  const [first] = await rpc(node, 'eth_accounts');
  const amount = BigInt(await rpc(node, 'eth_getBalance', [first, 'latest'])).toString();
  const coin = { denom: 'ahpx', amount };
  assert.deepEqual(await client.getBalance(FIRST, 'ahpx'), coin);
  assert.deepEqual(await client.getAllBalances(FIRST), [coin]);
  assert.deepEqual(await client.getBalance(FIRST, 'uatom'), { denom: 'uatom', amount: '0' });
  assert.deepEqual(await client.getAllBalances(UNUSED), []);
  assert.equal(await client.getBalanceStaked(FIRST), null);
  await assert.rejects(client.getBalance('pax1wrong', 'ahpx'), /invalid address/);
});

test('answers the queries of the extensions, also on a node without blocks', async () => {
  const fresh = await start('--comet-listen', '127.0.0.1:0');
  const operator = toBech32('paxvaloper', new Uint8Array(20).fill(1));
  try {
    for (const url of [node.rest, fresh.rest, fresh.comet]) {
      const comet = await connectComet(url);
      const query = QueryClient.withExtensions(
        comet,
        setupAuthExtension,
        setupAuthzExtension,
        setupBankExtension,
        setupDistributionExtension,
        setupFeegrantExtension,
        setupGovExtension,
        setupIbcExtension,
        setupMintExtension,
        setupSlashingExtension,
        setupStakingExtension,
      );
      assert.equal((await query.auth.account(FIRST)).typeUrl, '/hyperpaxeer.types.v1.EthAccount');
      const [{ denom, amount }] = (await query.bank.totalSupply()).supply;
      assert.deepEqual(await query.bank.supplyOf('ahpx'), { denom, amount });
      assert.equal((await query.bank.denomMetadata('ahpx')).denomUnits[1].exponent, 18);
      assert.equal((await query.bank.denomsMetadata()).length, 1);
      assert.equal((await query.staking.params()).params.bondDenom, 'ahpx');
      assert.equal((await query.staking.pool()).pool.bondedTokens, '0');
      assert.deepEqual((await query.staking.validators('BOND_STATUS_BONDED')).validators, []);
      assert.deepEqual((await query.staking.delegatorDelegations(FIRST)).delegationResponses, []);
      assert.deepEqual(
        (await query.staking.delegatorUnbondingDelegations(FIRST)).unbondingResponses,
        [],
      );
      assert.deepEqual((await query.staking.delegatorValidators(FIRST)).validators, []);
      await assert.rejects(query.staking.validator(operator), /not found/);
      await assert.rejects(query.staking.delegation(FIRST, operator), /not found/);
      assert.equal((await query.distribution.params()).params.communityTax, '0');
      assert.deepEqual((await query.distribution.delegationTotalRewards(FIRST)).total, []);
      assert.equal(
        (await query.distribution.delegatorWithdrawAddress(FIRST)).withdrawAddress,
        FIRST,
      );
      assert.deepEqual((await query.distribution.communityPool()).pool, []);
      assert.equal((await query.mint.inflation()).toString(), '0');
      assert.equal((await query.mint.annualProvisions()).toString(), '0');
      assert.equal((await query.mint.params()).mintDenom, 'ahpx');
      assert.deepEqual((await query.gov.proposals(0, '', '')).proposals, []);
      for (const kind of ['voting', 'tallying', 'deposit']) assert.ok(await query.gov.params(kind));
      await assert.rejects(query.gov.proposal(1), /doesn't exist/);
      assert.equal((await query.slashing.params()).params.signedBlocksWindow, 0n);
      assert.deepEqual((await query.slashing.signingInfos()).info, []);
      assert.deepEqual((await query.authz.granterGrants(FIRST)).grants, []);
      assert.deepEqual((await query.feegrant.allowances(FIRST)).allowances, []);
      assert.deepEqual((await query.ibc.channel.allChannels()).channels, []);
      assert.deepEqual((await query.ibc.connection.allConnections()).connections, []);
      assert.deepEqual((await query.ibc.client.allStates()).clientStates, []);
      assert.deepEqual((await query.ibc.transfer.denomTraces()).denoms ?? [], []);
      assert.equal((await query.ibc.transfer.params()).params.sendEnabled, false);
      await assert.rejects(query.ibc.channel.channel('transfer', 'channel-0'), /not found/);
      comet.disconnect();
    }
  } finally {
    await fresh.stop();
  }
});

test('sends over both transports, and the recipient spends with ethers', async () => {
  const wallet = await DirectEthSecp256k1HdWallet.fromMnemonic(MNEMONIC, { prefix: 'pax' });
  const [{ address }] = await wallet.getAccounts();
  assert.equal(address, FIRST);
  const provider = new ethers.JsonRpcProvider(node.rpc);
  for (const url of [node.rest, node.rest.replace('http', 'ws')]) {
    const signer = await connect(url, wallet);
    const recipient = ethers.Wallet.createRandom(provider);
    const { sequence } = await signer.getSequence(address);
    const first = await signer.signAndBroadcastSync(
      address,
      [send(address, bech32(recipient.address), ethers.WeiPerEther)],
      'auto',
      'R&D <3',
    );
    assert.match(first, /^[0-9A-F]{64}$/);
    await signer.signAndBroadcastSync(
      address,
      [send(address, bech32(recipient.address), 5n), send(address, UNUSED, 6n)],
      1.5,
    );
    assert.equal((await signer.getSequence(address)).sequence, sequence + 2);
    assert.equal(
      (await signer.getBalance(bech32(recipient.address), DENOM)).amount,
      `${ethers.WeiPerEther + 5n}`,
    );
    const { pubkey } = await signer.getAccount(address);
    assert.equal(pubkey.typeUrl, '/hyperpaxeer.crypto.v1.ethsecp256k1.PubKey');

    const receipt = await (
      await recipient.sendTransaction({ to: ethers.ZeroAddress, value: 7n })
    ).wait();
    const spent = receipt.gasUsed * receipt.gasPrice + 7n;
    assert.equal(
      (await signer.getBalance(bech32(recipient.address), DENOM)).amount,
      `${ethers.WeiPerEther + 5n - spent}`,
    );
    assert.equal((await signer.getAccount(bech32(recipient.address))).sequence, 1);
    await assert.rejects(
      signer.signAndBroadcastSync(address, [send(address, UNUSED, 10n ** 30n)], 'auto'),
      /insufficient funds/,
    );
    signer.disconnect();
  }
  provider.destroy();
});

test("signs Amino documents, and typed data with MetaMask's library and with a key of the node", async () => {
  const metamask = (privateKey, data) =>
    signTypedData({
      privateKey: ethers.getBytes(privateKey),
      data,
      version: SignTypedDataVersion.V4,
    });
  const wallet = (index) => ethers.HDNodeWallet.fromPhrase(MNEMONIC, '', `m/44'/60'/0'/0/${index}`);
  const held = (_, data) => rpc(node, 'eth_signTypedData_v4', [wallet(4).address, data]);
  const signers = [
    new AminoSigner(wallet(1)),
    new TypedDataSigner(wallet(2), typedData, metamask),
    new TypedDataSigner(wallet(3), legacyTypedData, metamask),
    new TypedDataSigner(wallet(4), typedData, held),
  ];
  for (const signer of signers) {
    const { address } = signer;
    const connected = await connect(node.rest, signer);
    const recipient = bech32(ethers.Wallet.createRandom().address);
    for (const [messages, memo] of [
      [1, ''],
      [2, 'R&D <3 ünïcödé'],
    ]) {
      await connected.signAndBroadcastSync(
        address,
        Array(messages).fill(send(address, recipient, 1n)),
        1.5,
        memo,
      );
    }
    assert.equal((await connected.getBalance(recipient, DENOM)).amount, '3');
    assert.equal((await connected.getSequence(address)).sequence, 2);
    const fee = { amount: coins(10n ** 15n), gas: '200000' };
    const signed = await connected.sign(address, [send(address, recipient, 1n)], fee, '', {
      accountNumber: 0,
      sequence: 3,
      chainId: 'hyperpax_125-1',
    });
    await assert.rejects(connected.broadcastTxSync(TxRaw.encode(signed).finish()), {
      code: 32,
      codespace: 'sdk',
    });
    const foreign = await connected.sign(address, [send(address, recipient, 1n)], fee, '', {
      ...(await connected.getSequence(address)),
      chainId: 'other_126-1',
    });
    await assert.rejects(connected.broadcastTxSync(TxRaw.encode(foreign).finish()), {
      code: 4,
      codespace: 'sdk',
    });
    connected.disconnect();
  }
});

/** The attributes of an event, by name. */
const attributes = (events, type) => {
  const found = events.filter((event) => event.type === type);
  return found.map((event) =>
    Object.fromEntries(event.attributes.map(({ key, value }) => [key, value])),
  );
};

test('waits for a transaction, and finds it by its hash, its events and its height', async () => {
  const wallet = await DirectEthSecp256k1HdWallet.fromMnemonic(MNEMONIC, { prefix: 'pax' });
  for (const url of [node.rest, node.rest.replace('http', 'ws')]) {
    const signer = await connect(url, wallet);
    const recipient = bech32(ethers.Wallet.createRandom().address);
    const message = send(FIRST, recipient, 9n);
    const tx = await signer.sign(
      FIRST,
      [message],
      { amount: coins(10n ** 15n), gas: '200000' },
      'found',
    );
    const bytes = TxRaw.encode(tx).finish();
    const sent = await signer.broadcastTx(bytes, 10_000, 20);
    assert.equal(sent.code, 0);
    assert.equal(sent.height, await signer.getHeight());
    assert.equal(sent.gasWanted, 200_000n);
    assert.ok(sent.gasUsed > 0n && sent.gasUsed <= sent.gasWanted, `${sent.gasUsed}`);
    assert.deepEqual(
      sent.msgResponses.map(({ typeUrl }) => typeUrl),
      ['/cosmos.bank.v1beta1.MsgSendResponse'],
    );
    const transfer = attributes(sent.events, 'transfer').find(
      (event) => event.recipient === recipient,
    );
    assert.deepEqual([transfer.sender, transfer.amount], [FIRST, `9${DENOM}`]);
    assert.equal(
      attributes(sent.events, 'tx')
        .find((event) => event.acc_seq !== undefined)
        .acc_seq.split('/')[0],
      FIRST,
    );
    assert.ok(
      attributes(sent.events, 'message').some(
        (event) => event.action === '/cosmos.bank.v1beta1.MsgSend',
      ),
    );

    const found = await signer.getTx(sent.transactionHash);
    assert.deepEqual(
      [found.hash, found.height, found.txIndex, found.code],
      [sent.transactionHash, sent.height, 0, 0],
    );
    assert.deepEqual(found.tx, bytes);
    const queries = [
      [{ key: 'transfer.recipient', value: recipient }],
      [
        { key: 'message.sender', value: FIRST },
        { key: 'tx.height', value: sent.height },
      ],
      `message.action='/cosmos.bank.v1beta1.MsgSend' AND transfer.recipient='${recipient}'`,
      `tx.height=${sent.height}`,
    ];
    for (const query of queries) {
      assert.deepEqual(
        (await signer.searchTx(query)).map(({ hash }) => hash),
        [sent.transactionHash],
        JSON.stringify(query),
      );
    }
    signer.disconnect();
  }
  assert.equal(await client.getTx('AB'.repeat(32)), null);
  assert.deepEqual(
    await client.searchTx(`transfer.recipient='${bech32(ethers.Wallet.createRandom().address)}'`),
    [],
  );
});

test('a transfer that fails in its block is found with its code', async () => {
  const wallet = await DirectEthSecp256k1HdWallet.fromMnemonic(MNEMONIC, { prefix: 'pax' });
  const signer = await connect(node.rest, wallet);
  const fee = { amount: coins(10n ** 15n), gas: '200000' };
  const tx = await signer.sign(FIRST, [send(FIRST, UNUSED, 10n ** 30n)], fee, '');
  const sent = await signer.broadcastTx(TxRaw.encode(tx).finish(), 10_000, 20);
  assert.equal(sent.code, 5);
  assert.match(sent.rawLog, /insufficient funds/);
  assert.deepEqual(sent.msgResponses, []);
  assert.throws(() => assertIsDeliverTxSuccess(sent), /insufficient funds/);
  signer.disconnect();
});

test('finds Ethereum transactions by both hashes, and decodes them', async () => {
  const [, from, to] = await rpc(node, 'eth_accounts');
  const hash = await rpc(node, 'eth_sendTransaction', [{ from, to, value: '0x5' }]);
  const { blockNumber } = await rpc(node, 'eth_getTransactionReceipt', [hash]);
  const [found] = await client.searchTx(`tx.height=${Number(blockNumber)}`);
  const { messages } = TxBody.decode(TxRaw.decode(found.tx).bodyBytes);
  assert.deepEqual(
    messages.map(({ typeUrl }) => typeUrl),
    ['/cosmos.evm.vm.v1.MsgEthereumTx'],
  );
  assert.equal(
    attributes(found.events, 'ethereum_tx').find((event) => event.ethereumTxHash).ethereumTxHash,
    hash,
  );
  assert.equal((await client.getTx(found.hash)).height, Number(blockNumber));
  assert.equal((await client.searchTx(`ethereum_tx.ethereumTxHash='${hash}'`))[0].hash, found.hash);
  // The route that takes either hash.
  for (const known of [found.hash, hash.slice(2).toUpperCase(), hash]) {
    const answer = await fetch(`${node.rest}/cosmos/tx/v1beta1/txs/${known}`);
    const { tx, tx_response } = await answer.json();
    assert.equal(tx_response.txhash, found.hash, known);
    assert.equal(tx.body.messages[0]['@type'], '/cosmos.evm.vm.v1.MsgEthereumTx');
  }
});

test('receives transactions and blocks that match a query', async () => {
  const wallet = await DirectEthSecp256k1HdWallet.fromMnemonic(MNEMONIC, { prefix: 'pax' });
  const signer = await connect(node.rest, wallet);
  const comet = await connectComet(node.rest.replace('http', 'ws'));
  const recipient = bech32(ethers.Wallet.createRandom().address);
  const next = (stream) =>
    new Promise((resolve, reject) => {
      stream.addListener({
        next: resolve,
        error: reject,
        complete: () => reject(new Error('completed')),
      });
    });
  const paid = next(comet.subscribeTx(`transfer.recipient='${recipient}'`));
  const any = next(comet.subscribeTx());
  // Active once a later request of the same connection is answered.
  await comet.status();
  const other = await signer.signAndBroadcastSync(FIRST, [send(FIRST, UNUSED, 1n)], 1.5);
  const hash = await signer.signAndBroadcastSync(FIRST, [send(FIRST, recipient, 1n)], 1.5);
  const hex = (bytes) => Buffer.from(bytes).toString('hex').toUpperCase();
  const [first, event] = await Promise.all([any, paid]);
  assert.deepEqual([hex(first.hash), hex(event.hash)], [other, hash]);
  assert.equal(event.height, await signer.getHeight());
  assert.equal(event.result.code, 0);
  assert.equal(hex(ethers.getBytes(ethers.sha256(event.tx))), hash);
  comet.disconnect();
  signer.disconnect();
});

test('a malformed transaction, or one with a key of another type, is rejected with the code of the SDK', async () => {
  await assert.rejects(client.broadcastTx(new Uint8Array([10, 0])), { code: 2, codespace: 'sdk' });
  const wallet = await DirectSecp256k1HdWallet.fromMnemonic(MNEMONIC, { prefix: 'pax' });
  const [{ address }] = await wallet.getAccounts();
  const signer = await SigningStargateClient.connectWithSigner(node.rest, wallet, {
    accountParser: parseAccount,
  });
  const fee = { amount: [{ denom: 'ahpx', amount: '1' }], gas: '21000' };
  await assert.rejects(
    signer.sendTokens(address, FIRST, [{ denom: 'ahpx', amount: '1' }], fee, ''),
  );
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
    await assert.rejects(
      comet.block(1_000_000),
      /less than or equal to the current blockchain height/,
    );
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
  // The subscription was sent first on the same connection, so it is active once this response
  // arrives.
  const { syncInfo } = await comet.status();
  await rpc(node, 'anvil_mine', ['0x2']);
  await seen;
  assert.deepEqual(heights, [syncInfo.latestBlockHeight + 1, syncInfo.latestBlockHeight + 2]);
  comet.disconnect();
});

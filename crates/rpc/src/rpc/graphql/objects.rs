//! The objects of the schema: blocks, transactions, logs and accounts. They refer to one another,
//! as in geth's schema.

use std::sync::Arc;

use alloy_consensus::{Header, Transaction as _, TxType, Typed2718};
use alloy_eips::{eip2718::Encodable2718, eip2930::AccessListItem, eip4895::Withdrawal};
use alloy_primitives::{Address, B256, Bytes, U256};
use async_graphql::{InputObject, Object, Result, SimpleObject};
use revm::context_interface::result::ExecutionResult;
use tetrad_chain::{BlockId, fees};
use tetrad_evm::{StateOverrides, TimeLimit};
use tetrad_primitives::block::{Block, Receipt, Status, Transaction};
use tetrad_web::refuses_long;

use super::scalars::{AddressScalar, BigIntScalar, Bytes32Scalar, BytesScalar, LongScalar};
use crate::rpc::{
    Context, RpcError,
    eth::{self, LogFilter, LogRange, TransactionRequest},
};

/// The maximum number of logs of a query, each of which takes more memory here than in JSON.
const MAX_LOGS: usize = 10_000;

/// An account at a block.
pub(super) struct GraphAccount {
    context: Arc<Context>,
    address: Address,
    block: BlockId,
}

/// A block, or the header of an uncle.
pub(super) struct GraphBlock {
    context: Arc<Context>,
    header: Header,
    hash: B256,
    /// None for an uncle.
    block: Option<Arc<Block>>,
}

/// A transaction in a block or in the pool.
pub(super) struct GraphTransaction {
    context: Arc<Context>,
    transaction: Arc<Transaction>,
    /// The block and the index in it.
    place: Option<(Arc<Block>, usize)>,
}

/// A log at an index of a block.
pub(super) struct GraphLog {
    context: Arc<Context>,
    block: Arc<Block>,
    transaction: usize,
    /// The index among the transaction's logs.
    log: usize,
}

/// The pool and the block that would be sealed next.
pub(super) struct GraphPending(pub(super) Arc<Context>);

/// An entry of an access list (EIP-2930).
#[derive(SimpleObject)]
#[graphql(name = "AccessTuple")]
pub(super) struct GraphAccessTuple {
    address: AddressScalar,
    storage_keys: Vec<Bytes32Scalar>,
}

impl From<AccessListItem> for GraphAccessTuple {
    fn from(item: AccessListItem) -> Self {
        Self {
            address: AddressScalar(item.address),
            storage_keys: item.storage_keys.into_iter().map(Bytes32Scalar).collect(),
        }
    }
}

/// A withdrawal from the consensus layer (EIP-4895).
#[derive(SimpleObject)]
#[graphql(name = "Withdrawal")]
pub(super) struct GraphWithdrawal {
    /// Its index.
    index: LongScalar,
    /// Index of the validator.
    validator: LongScalar,
    /// The recipient.
    address: AddressScalar,
    /// The amount in gwei.
    amount: LongScalar,
}

impl From<&Withdrawal> for GraphWithdrawal {
    fn from(withdrawal: &Withdrawal) -> Self {
        Self {
            index: withdrawal.index.into(),
            validator: withdrawal.validator_index.into(),
            address: AddressScalar(withdrawal.address),
            amount: withdrawal.amount.into(),
        }
    }
}

/// A call to simulate. All fields are optional.
#[derive(InputObject)]
pub(super) struct CallData {
    /// The sender.
    from: Option<AddressScalar>,
    /// The recipient.
    to: Option<AddressScalar>,
    /// The gas limit.
    gas: Option<LongScalar>,
    /// The price in wei per gas.
    gas_price: Option<BigIntScalar>,
    /// The maximum fee in wei per gas (EIP-1559).
    max_fee_per_gas: Option<BigIntScalar>,
    /// The maximum tip in wei per gas (EIP-1559).
    max_priority_fee_per_gas: Option<BigIntScalar>,
    /// The value in wei.
    value: Option<BigIntScalar>,
    /// The call's data.
    data: Option<BytesScalar>,
}

/// The result of a simulated call.
#[derive(SimpleObject)]
#[graphql(name = "CallResult")]
pub(super) struct GraphCallResult {
    /// The output, or the data of a revert.
    data: BytesScalar,
    /// The gas used, after refunds.
    gas_used: LongScalar,
    /// 1 for a success, 0 for a failure.
    status: LongScalar,
}

/// A selection of a block's logs.
#[derive(InputObject)]
pub(super) struct BlockFilterCriteria {
    /// The contracts; an empty list is any.
    addresses: Option<Vec<AddressScalar>>,
    /// The alternatives for the topic in each position; an empty list is any.
    topics: Option<Vec<Vec<Bytes32Scalar>>>,
}

/// A selection of logs.
#[derive(InputObject)]
pub(super) struct FilterCriteria {
    /// The first block; by default the newest.
    from_block: Option<LongScalar>,
    /// The last block; by default the newest.
    to_block: Option<LongScalar>,
    /// The contracts; an empty list is any.
    addresses: Option<Vec<AddressScalar>>,
    /// The alternatives for the topic in each position; an empty list is any.
    topics: Option<Vec<Vec<Bytes32Scalar>>>,
}

fn refused(error: RpcError) -> async_graphql::Error {
    async_graphql::Error::new(error.message)
}

fn price(given: Option<BigIntScalar>, name: &str) -> Result<Option<u128>> {
    let Some(price) = given else {
        return Ok(None);
    };
    match u128::try_from(price.0) {
        Ok(price) => Ok(Some(price)),
        Err(_) => Err(format!("{name}: more than 128 bits").into()),
    }
}

impl CallData {
    fn request(self) -> Result<TransactionRequest> {
        let gas = self
            .gas
            .map(|gas| gas.unsigned().ok_or("gas: a negative number"))
            .transpose()?;

        Ok(TransactionRequest {
            from: self.from.map(|from| from.0),
            to: self.to.map(|to| to.0),
            gas,
            gas_price: price(self.gas_price, "gasPrice")?,
            max_fee_per_gas: price(self.max_fee_per_gas, "maxFeePerGas")?,
            max_priority_fee_per_gas: price(self.max_priority_fee_per_gas, "maxPriorityFeePerGas")?,
            value: self.value.map(|value| value.0),
            input: self.data.map(|data| data.0),
            ..TransactionRequest::default()
        })
    }
}

fn simulate(
    context: &Context,
    block: BlockId,
    request: TransactionRequest,
) -> Result<ExecutionResult, RpcError> {
    let view = context.chain.view(block)?;
    let call = request.into_call(context.chain.params().chain_id)?;

    let out_of_time = context.time_check();
    let overrides = StateOverrides::new();
    let calls = view
        .call_context(&overrides, context.config.gas_cap)
        .within(TimeLimit::new(&out_of_time, &refuses_long));
    Ok(calls.call(&call)?)
}

/// Simulates a call on the state of a block.
fn call(context: &Context, block: BlockId, data: CallData) -> Result<Option<GraphCallResult>> {
    let request = data.request()?;
    let result = simulate(context, block, request).map_err(refused)?;

    Ok(Some(GraphCallResult {
        status: LongScalar::from(u64::from(result.is_success())),
        gas_used: result.gas().tx_gas_used().into(),
        data: BytesScalar(result.into_output().unwrap_or_default()),
    }))
}

fn estimate(context: &Context, block: BlockId, data: CallData) -> Result<LongScalar> {
    let request = data.request()?;
    Ok(eth::estimate_at(context, request, block)
        .map_err(refused)?
        .into())
}

/// Returns the selected logs.
pub(super) fn logs(
    context: &Arc<Context>,
    range: LogRange,
    addresses: Option<Vec<AddressScalar>>,
    topics: Option<Vec<Vec<Bytes32Scalar>>>,
) -> Result<Vec<GraphLog>> {
    let addresses = addresses
        .unwrap_or_default()
        .into_iter()
        .map(|address| address.0)
        .collect();
    let topics = topics
        .unwrap_or_default()
        .into_iter()
        .map(|position| position.into_iter().map(|topic| topic.0).collect())
        .collect();

    let filter = LogFilter::new(range, addresses, topics)?;
    let found = filter.find(context, MAX_LOGS).map_err(refused)?;

    let logs = found
        .into_iter()
        .map(|(block, transaction, log)| GraphLog {
            context: context.clone(),
            block,
            transaction,
            log,
        })
        .collect();
    Ok(logs)
}

impl FilterCriteria {
    /// Returns the selected logs.
    pub(super) fn logs(self, context: &Arc<Context>) -> Result<Vec<GraphLog>> {
        // A negative number stands for the newest block, as no number does.
        let from = self.from_block.and_then(LongScalar::unsigned);
        let to = self.to_block.and_then(LongScalar::unsigned);
        if from.zip(to).is_some_and(|(from, to)| from > to) {
            return Err("invalid from and to block combination: from > to".into());
        }

        let from = from.map_or(BlockId::Latest, BlockId::Number);
        let to = to.map_or(BlockId::Latest, BlockId::Number);
        let range = LogRange::Between(from, to);
        logs(context, range, self.addresses, self.topics)
    }
}

impl GraphAccount {
    /// Returns an account at the block of this number, by default the newest.
    fn at(context: &Arc<Context>, address: Address, block: Option<LongScalar>) -> Self {
        let block = match block {
            // No block has a negative number, nor this one.
            Some(number) => BlockId::Number(number.unsigned().unwrap_or(u64::MAX)),
            None => BlockId::Latest,
        };
        Self {
            context: context.clone(),
            address,
            block,
        }
    }

    fn read<T>(
        &self,
        read: impl FnOnce(
            &tetrad_primitives::state::State,
        ) -> Result<T, tetrad_primitives::state::ReadError>,
    ) -> Result<T> {
        let run = || Ok(read(&self.context.chain.view(self.block)?.state)?);
        run().map_err(refused)
    }
}

/// An account at a block.
#[Object(name = "Account")]
impl GraphAccount {
    /// The address.
    async fn address(&self) -> AddressScalar {
        AddressScalar(self.address)
    }

    /// The balance in wei.
    async fn balance(&self) -> Result<BigIntScalar> {
        self.read(|state| state.balance(self.address))
            .map(BigIntScalar)
    }

    /// The nonce of the next transaction.
    async fn transaction_count(&self) -> Result<LongScalar> {
        let pooled = match self.block {
            BlockId::Pending => self.context.chain.pool().pending_nonce(self.address),
            _ => None,
        };

        match pooled {
            Some(nonce) => Ok(nonce.into()),
            None => self.read(|state| state.nonce(self.address)).map(Into::into),
        }
    }

    /// The code.
    async fn code(&self) -> Result<BytesScalar> {
        self.read(|state| state.code(self.address)).map(BytesScalar)
    }

    /// The value of a storage slot.
    async fn storage(&self, slot: Bytes32Scalar) -> Result<Bytes32Scalar> {
        let slot = U256::from_be_bytes(slot.0.0);
        self.read(|state| state.storage(self.address, slot))
            .map(|value| Bytes32Scalar(value.into()))
    }
}

impl GraphBlock {
    pub(super) fn new(context: &Arc<Context>, block: Arc<Block>) -> Self {
        Self {
            context: context.clone(),
            header: block.header.clone(),
            hash: block.hash,
            block: Some(block),
        }
    }

    fn ommer(&self, header: &Header) -> Self {
        Self {
            context: self.context.clone(),
            header: header.clone(),
            hash: header.hash_slow(),
            block: None,
        }
    }

    fn transaction(&self, block: &Arc<Block>, index: usize) -> GraphTransaction {
        GraphTransaction {
            context: self.context.clone(),
            transaction: block.transactions[index].clone(),
            place: Some((block.clone(), index)),
        }
    }
}

/// A block.
#[Object(name = "Block")]
impl GraphBlock {
    /// The number.
    async fn number(&self) -> LongScalar {
        self.header.number.into()
    }

    /// The hash.
    async fn hash(&self) -> Bytes32Scalar {
        Bytes32Scalar(self.hash)
    }

    /// The parent; null for the first block.
    async fn parent(&self) -> Result<Option<GraphBlock>> {
        if self.header.number == 0 {
            return Ok(None);
        }
        block(&self.context, BlockId::Hash(self.header.parent_hash))
    }

    /// The nonce of proof of work.
    async fn nonce(&self) -> BytesScalar {
        BytesScalar(Bytes::copy_from_slice(self.header.nonce.as_slice()))
    }

    /// The root of the trie of transactions.
    async fn transactions_root(&self) -> Bytes32Scalar {
        Bytes32Scalar(self.header.transactions_root)
    }

    /// The number of transactions.
    async fn transaction_count(&self) -> Option<LongScalar> {
        Some((self.block.as_ref()?.transactions.len() as u64).into())
    }

    /// The root of the state after the block.
    async fn state_root(&self) -> Bytes32Scalar {
        Bytes32Scalar(self.header.state_root)
    }

    /// The root of the trie of receipts.
    async fn receipts_root(&self) -> Bytes32Scalar {
        Bytes32Scalar(self.header.receipts_root)
    }

    /// The beneficiary.
    async fn miner(&self, block: Option<LongScalar>) -> GraphAccount {
        GraphAccount::at(&self.context, self.header.beneficiary, block)
    }

    /// The extra data.
    async fn extra_data(&self) -> BytesScalar {
        BytesScalar(self.header.extra_data.clone())
    }

    /// The gas limit.
    async fn gas_limit(&self) -> LongScalar {
        self.header.gas_limit.into()
    }

    /// The gas used by all transactions.
    async fn gas_used(&self) -> LongScalar {
        self.header.gas_used.into()
    }

    /// The base fee in wei per gas; null before London.
    async fn base_fee_per_gas(&self) -> Option<BigIntScalar> {
        self.header
            .base_fee_per_gas
            .map(|fee| BigIntScalar(U256::from(fee)))
    }

    /// The base fee of the block after this one.
    async fn next_base_fee_per_gas(&self) -> Option<BigIntScalar> {
        let head = self.context.chain.head();
        let rules = head.rules(self.header.number + 1, self.header.timestamp);
        fees::next_base_fee(&self.header, rules).map(|fee| BigIntScalar(U256::from(fee)))
    }

    /// The time in seconds.
    async fn timestamp(&self) -> LongScalar {
        self.header.timestamp.into()
    }

    /// The bloom filter of the logs.
    async fn logs_bloom(&self) -> BytesScalar {
        BytesScalar(Bytes::copy_from_slice(self.header.logs_bloom.as_slice()))
    }

    /// The mix hash.
    async fn mix_hash(&self) -> Bytes32Scalar {
        Bytes32Scalar(self.header.mix_hash)
    }

    /// The difficulty.
    async fn difficulty(&self) -> BigIntScalar {
        BigIntScalar(self.header.difficulty)
    }

    /// The number of uncles.
    async fn ommer_count(&self) -> Option<LongScalar> {
        Some((self.block.as_ref()?.ommers.len() as u64).into())
    }

    /// The uncles.
    async fn ommers(&self) -> Option<Vec<Option<GraphBlock>>> {
        let ommers = &self.block.as_ref()?.ommers;
        Some(
            ommers
                .iter()
                .map(|header| Some(self.ommer(header)))
                .collect(),
        )
    }

    /// The uncle at an index.
    async fn ommer_at(&self, index: LongScalar) -> Option<GraphBlock> {
        let index = usize::try_from(index.0).ok()?;
        self.block
            .as_ref()?
            .ommers
            .get(index)
            .map(|header| self.ommer(header))
    }

    /// The hash of the uncles.
    async fn ommer_hash(&self) -> Bytes32Scalar {
        Bytes32Scalar(self.header.ommers_hash)
    }

    /// The transactions.
    async fn transactions(&self) -> Option<Vec<GraphTransaction>> {
        let block = self.block.as_ref()?;
        Some(
            (0..block.transactions.len())
                .map(|index| self.transaction(block, index))
                .collect(),
        )
    }

    /// The transaction at an index.
    async fn transaction_at(&self, index: LongScalar) -> Option<GraphTransaction> {
        let block = self.block.as_ref()?;
        let index = usize::try_from(index.0).ok()?;
        (index < block.transactions.len()).then(|| self.transaction(block, index))
    }

    /// The selected logs.
    async fn logs(&self, filter: BlockFilterCriteria) -> Result<Vec<GraphLog>> {
        logs(
            &self.context,
            LogRange::Block(self.hash),
            filter.addresses,
            filter.topics,
        )
    }

    /// An account after this block.
    async fn account(&self, address: AddressScalar) -> GraphAccount {
        GraphAccount {
            context: self.context.clone(),
            address: address.0,
            block: BlockId::Hash(self.hash),
        }
    }

    /// Runs a call on the state after this block.
    async fn call(&self, data: CallData) -> Result<Option<GraphCallResult>> {
        call(&self.context, BlockId::Hash(self.hash), data)
    }

    /// The gas that a transaction needs on the state after this block.
    async fn estimate_gas(&self, data: CallData) -> Result<LongScalar> {
        estimate(&self.context, BlockId::Hash(self.hash), data)
    }

    /// The RLP of the header.
    async fn raw_header(&self) -> BytesScalar {
        BytesScalar(alloy_rlp::encode(&self.header).into())
    }

    /// The RLP of the block.
    async fn raw(&self) -> BytesScalar {
        BytesScalar(
            self.block
                .as_ref()
                .map(|block| block.encode())
                .unwrap_or_default(),
        )
    }

    /// The root of the trie of withdrawals; null before Shanghai.
    async fn withdrawals_root(&self) -> Option<Bytes32Scalar> {
        self.header.withdrawals_root.map(Bytes32Scalar)
    }

    /// The withdrawals; null before Shanghai.
    async fn withdrawals(&self) -> Option<Vec<GraphWithdrawal>> {
        let withdrawals = self.block.as_ref()?.withdrawals.as_ref()?;
        Some(withdrawals.iter().map(GraphWithdrawal::from).collect())
    }

    /// The blob gas used by all transactions; null before Cancun.
    async fn blob_gas_used(&self) -> Option<LongScalar> {
        self.header.blob_gas_used.map(Into::into)
    }

    /// The excess blob gas before the block; null before Cancun.
    async fn excess_blob_gas(&self) -> Option<LongScalar> {
        self.header.excess_blob_gas.map(Into::into)
    }

    /// The slot; null for blocks whose fork does not record it, which are all so far.
    async fn slot_number(&self) -> Option<LongScalar> {
        None
    }

    /// The hash of the block's access list (EIP-7928); null for blocks whose fork has none, which
    /// are all so far.
    async fn block_access_list_hash(&self) -> Option<Bytes32Scalar> {
        None
    }
}

/// Returns the block, if there is one.
pub(super) fn block(context: &Arc<Context>, id: BlockId) -> Result<Option<GraphBlock>> {
    Ok(eth::find(context, id)
        .map_err(refused)?
        .map(|(_, block)| GraphBlock::new(context, block)))
}

/// Returns the transaction in the chain or the pool, if there is one.
pub(super) fn transaction(context: &Arc<Context>, hash: B256) -> Option<GraphTransaction> {
    // The pool first: a transaction leaves it only after it is in the chain, so none is missed on
    // its way.
    let pooled = context.chain.pool().get(hash);
    let head = context.chain.head();
    let place = context.chain.transaction(&head, hash);

    let transaction = match &place {
        Some((block, index)) => block.transactions[*index].clone(),
        None => pooled?.transaction.clone(),
    };

    Some(GraphTransaction {
        context: context.clone(),
        transaction,
        place,
    })
}

impl GraphTransaction {
    fn receipt(&self) -> Option<&Receipt> {
        self.place
            .as_ref()
            .map(|(block, index)| &block.receipts[*index])
    }

    fn is_dynamic(&self) -> bool {
        self.transaction.envelope.is_dynamic_fee()
    }

    /// The wei per gas that were paid.
    fn paid(&self) -> Option<u128> {
        let (block, _) = self.place.as_ref()?;
        Some(
            self.transaction
                .effective_gas_price(block.header.base_fee_per_gas),
        )
    }

    /// `v` of the signature (EIP-155).
    fn v(&self) -> U256 {
        let tx = &self.transaction.envelope;
        let parity = u8::from(tx.signature().v());
        if tx.tx_type() != TxType::Legacy {
            return U256::from(parity);
        }

        match tx.chain_id() {
            Some(chain_id) => U256::from(chain_id) * U256::from(2) + U256::from(35 + parity),
            None => U256::from(27 + parity),
        }
    }
}

/// A transaction.
#[Object(name = "Transaction")]
impl GraphTransaction {
    /// The hash.
    async fn hash(&self) -> Bytes32Scalar {
        Bytes32Scalar(self.transaction.hash())
    }

    /// The nonce.
    async fn nonce(&self) -> LongScalar {
        self.transaction.envelope.nonce().into()
    }

    /// The index in its block; null while it is in none.
    async fn index(&self) -> Option<LongScalar> {
        self.place.as_ref().map(|(_, index)| (*index as u64).into())
    }

    /// The sender.
    async fn from(&self, block: Option<LongScalar>) -> GraphAccount {
        GraphAccount::at(&self.context, self.transaction.sender, block)
    }

    /// The recipient; null for a creation.
    async fn to(&self, block: Option<LongScalar>) -> Option<GraphAccount> {
        self.transaction
            .envelope
            .to()
            .map(|to| GraphAccount::at(&self.context, to, block))
    }

    /// The value in wei.
    async fn value(&self) -> BigIntScalar {
        BigIntScalar(self.transaction.envelope.value())
    }

    /// The wei per gas that were paid, or in no block the maximum.
    async fn gas_price(&self) -> BigIntScalar {
        self.paid()
            .unwrap_or_else(|| self.transaction.envelope.max_fee_per_gas())
            .into()
    }

    /// The maximum fee in wei per gas (EIP-1559).
    async fn max_fee_per_gas(&self) -> Option<BigIntScalar> {
        self.is_dynamic()
            .then(|| self.transaction.envelope.max_fee_per_gas().into())
    }

    /// The maximum tip in wei per gas (EIP-1559).
    async fn max_priority_fee_per_gas(&self) -> Option<BigIntScalar> {
        self.transaction
            .envelope
            .max_priority_fee_per_gas()
            .map(Into::into)
    }

    /// The maximum fee in wei per blob gas (EIP-4844).
    async fn max_fee_per_blob_gas(&self) -> Option<BigIntScalar> {
        self.transaction
            .envelope
            .max_fee_per_blob_gas()
            .map(Into::into)
    }

    /// The tip in wei per gas that was paid; null while the transaction is in no block.
    async fn effective_tip(&self) -> Option<BigIntScalar> {
        let (block, _) = self.place.as_ref()?;
        let base_fee = u128::from(block.header.base_fee_per_gas.unwrap_or(0));
        self.paid().map(|paid| paid.saturating_sub(base_fee).into())
    }

    /// The gas limit.
    async fn gas(&self) -> LongScalar {
        self.transaction.envelope.gas_limit().into()
    }

    /// The call's data or the creation code.
    async fn input_data(&self) -> BytesScalar {
        BytesScalar(self.transaction.envelope.input().clone())
    }

    /// The block; null while it is in none.
    async fn block(&self) -> Option<GraphBlock> {
        self.place
            .as_ref()
            .map(|(block, _)| GraphBlock::new(&self.context, block.clone()))
    }

    /// 1 for a success, 0 for a failure; null in no block, and before Byzantium.
    async fn status(&self) -> Option<LongScalar> {
        match self.receipt()?.status {
            Status::Success => Some(1_u64.into()),
            Status::Failure => Some(0_u64.into()),
            Status::Root(_) => None,
        }
    }

    /// The gas used; null in no block.
    async fn gas_used(&self) -> Option<LongScalar> {
        self.receipt().map(|receipt| receipt.gas_used.into())
    }

    /// The gas used by this transaction and all before it in the block; null in no block.
    async fn cumulative_gas_used(&self) -> Option<LongScalar> {
        self.receipt()
            .map(|receipt| receipt.cumulative_gas_used.into())
    }

    /// The wei per gas that were paid; null in no block.
    async fn effective_gas_price(&self) -> Option<BigIntScalar> {
        self.paid().map(Into::into)
    }

    /// The blob gas used; null in no block, and for other types.
    async fn blob_gas_used(&self) -> Option<LongScalar> {
        self.place
            .as_ref()
            .and(self.transaction.envelope.blob_gas_used())
            .map(Into::into)
    }

    /// The wei per blob gas that were paid; null in no block, and for other types.
    async fn blob_gas_price(&self) -> Option<BigIntScalar> {
        let (block, _) = self.place.as_ref()?;
        self.transaction.envelope.blob_gas_used()?;
        self.context
            .chain
            .head()
            .environment_of(block)
            .blob_base_fee()
            .map(Into::into)
    }

    /// The contract that the transaction created; null in no block, and for calls.
    async fn created_contract(&self, block: Option<LongScalar>) -> Option<GraphAccount> {
        self.place.as_ref()?;
        self.transaction
            .creates()
            .map(|address| GraphAccount::at(&self.context, address, block))
    }

    /// The logs; null in no block.
    async fn logs(&self) -> Option<Vec<GraphLog>> {
        let (block, transaction) = self.place.as_ref()?;
        let count = block.receipts[*transaction].logs.len();

        let logs = (0..count)
            .map(|log| GraphLog {
                context: self.context.clone(),
                block: block.clone(),
                transaction: *transaction,
                log,
            })
            .collect();
        Some(logs)
    }

    /// `r` of the signature.
    async fn r(&self) -> BigIntScalar {
        BigIntScalar(self.transaction.envelope.signature().r())
    }

    /// `s` of the signature.
    async fn s(&self) -> BigIntScalar {
        BigIntScalar(self.transaction.envelope.signature().s())
    }

    /// `v` of the signature.
    #[graphql(name = "v")]
    async fn signature_v(&self) -> BigIntScalar {
        BigIntScalar(self.v())
    }

    /// The parity of the signature; null for a legacy transaction.
    async fn y_parity(&self) -> Option<BigIntScalar> {
        (self.transaction.envelope.tx_type() != TxType::Legacy).then(|| BigIntScalar(self.v()))
    }

    /// The type (EIP-2718).
    #[graphql(name = "type")]
    async fn transaction_type(&self) -> Option<LongScalar> {
        Some(u64::from(self.transaction.envelope.ty()).into())
    }

    /// The access list (EIP-2930).
    async fn access_list(&self) -> Option<Vec<GraphAccessTuple>> {
        let list = self
            .transaction
            .envelope
            .access_list()
            .cloned()
            .unwrap_or_default();
        Some(list.0.into_iter().map(GraphAccessTuple::from).collect())
    }

    /// The encoding of the transaction (EIP-2718).
    async fn raw(&self) -> BytesScalar {
        BytesScalar(self.transaction.envelope.encoded_2718().into())
    }

    /// The encoding of the receipt (EIP-2718); empty in no block.
    async fn raw_receipt(&self) -> BytesScalar {
        let mut out = Vec::new();
        if let Some(receipt) = self.receipt() {
            receipt.encode_2718(&mut out);
        }
        BytesScalar(out.into())
    }

    /// The versioned hashes of the blobs (EIP-4844); null for other types.
    async fn blob_versioned_hashes(&self) -> Option<Vec<Bytes32Scalar>> {
        let hashes = self.transaction.envelope.blob_versioned_hashes()?;
        Some(hashes.iter().copied().map(Bytes32Scalar).collect())
    }
}

impl GraphLog {
    fn log(&self) -> &alloy_primitives::Log {
        &self.block.receipts[self.transaction].logs[self.log]
    }
}

/// A log.
#[Object(name = "Log")]
impl GraphLog {
    /// The index in the block.
    async fn index(&self) -> LongScalar {
        (self.block.receipts[self.transaction].first_log_index + self.log as u64).into()
    }

    /// The contract.
    async fn account(&self, block: Option<LongScalar>) -> GraphAccount {
        GraphAccount::at(&self.context, self.log().address, block)
    }

    /// The topics.
    async fn topics(&self) -> Vec<Bytes32Scalar> {
        self.log()
            .topics()
            .iter()
            .copied()
            .map(Bytes32Scalar)
            .collect()
    }

    /// The data.
    async fn data(&self) -> BytesScalar {
        BytesScalar(self.log().data.data.clone())
    }

    /// The transaction.
    async fn transaction(&self) -> GraphTransaction {
        GraphTransaction {
            context: self.context.clone(),
            transaction: self.block.transactions[self.transaction].clone(),
            place: Some((self.block.clone(), self.transaction)),
        }
    }
}

/// The pool and the block that would be sealed next.
#[Object(name = "Pending")]
impl GraphPending {
    /// The number of transactions that can go into the next block.
    async fn transaction_count(&self) -> LongScalar {
        (self.0.chain.pool().counts().0 as u64).into()
    }

    /// The transactions that can go into the next block.
    async fn transactions(&self) -> Result<Option<Vec<GraphTransaction>>> {
        if self.0.chain.pool().counts().0 > MAX_LOGS {
            return Err(format!("more than {MAX_LOGS} transactions; use txpool_content").into());
        }

        let ready = self
            .0
            .chain
            .pool()
            .content()
            .into_iter()
            .filter(|(_, executable)| *executable);
        let transactions = ready.map(|(pooled, _)| GraphTransaction {
            context: self.0.clone(),
            transaction: pooled.transaction.clone(),
            place: None,
        });
        Ok(Some(transactions.collect()))
    }

    /// An account after the next block.
    async fn account(&self, address: AddressScalar) -> GraphAccount {
        GraphAccount {
            context: self.0.clone(),
            address: address.0,
            block: BlockId::Pending,
        }
    }

    /// Runs a call on the state after the next block.
    async fn call(&self, data: CallData) -> Result<Option<GraphCallResult>> {
        call(&self.0, BlockId::Pending, data)
    }

    /// The gas that a transaction needs in the next block.
    async fn estimate_gas(&self, data: CallData) -> Result<LongScalar> {
        estimate(&self.0, BlockId::Pending, data)
    }
}

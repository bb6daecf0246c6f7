//! Blocks, transactions, receipts and logs in the shapes that geth gives them.

use alloy_consensus::{Header, Transaction as _, TxType, Typed2718};
use alloy_eips::{eip2930::AccessList, eip4895::Withdrawal, eip7702::SignedAuthorization};
use alloy_primitives::{Address, B64, B256, Bloom, Bytes, U256};
use serde::{Serialize, Serializer};

use crate::{
    block::{Block, LogPosition, Status, Transaction},
    chain::Head,
    rpc::hex::Quantity,
};

/// A block header with the block's hash and size.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcHeader<'a> {
    number: Quantity<u64>,
    hash: Option<B256>,
    parent_hash: B256,
    nonce: Option<B64>,
    mix_hash: B256,
    sha3_uncles: B256,
    logs_bloom: &'a Bloom,
    transactions_root: B256,
    state_root: B256,
    receipts_root: B256,
    miner: Address,
    difficulty: Quantity<U256>,
    extra_data: &'a Bytes,
    gas_limit: Quantity<u64>,
    gas_used: Quantity<u64>,
    timestamp: Quantity<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_fee_per_gas: Option<Quantity<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    withdrawals_root: Option<B256>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blob_gas_used: Option<Quantity<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    excess_blob_gas: Option<Quantity<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_beacon_block_root: Option<B256>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests_hash: Option<B256>,
}

impl<'a> RpcHeader<'a> {
    /// The header of a sealed block.
    pub fn sealed(block: &'a Block) -> Self {
        Self::new(&block.header, Some(block.hash))
    }

    fn new(header: &'a Header, hash: Option<B256>) -> Self {
        Self {
            number: Quantity(header.number),
            parent_hash: header.parent_hash,
            // A pending block has neither hash nor nonce.
            nonce: hash.map(|_| header.nonce),
            hash,
            mix_hash: header.mix_hash,
            sha3_uncles: header.ommers_hash,
            logs_bloom: &header.logs_bloom,
            transactions_root: header.transactions_root,
            state_root: header.state_root,
            receipts_root: header.receipts_root,
            miner: header.beneficiary,
            difficulty: Quantity(header.difficulty),
            extra_data: &header.extra_data,
            gas_limit: Quantity(header.gas_limit),
            gas_used: Quantity(header.gas_used),
            timestamp: Quantity(header.timestamp),
            base_fee_per_gas: header.base_fee_per_gas.map(Quantity),
            withdrawals_root: header.withdrawals_root,
            blob_gas_used: header.blob_gas_used.map(Quantity),
            excess_blob_gas: header.excess_blob_gas.map(Quantity),
            parent_beacon_block_root: header.parent_beacon_block_root,
            requests_hash: header.requests_hash,
        }
    }
}

/// A block with hashes or whole transactions.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcBlock<'a> {
    #[serde(flatten)]
    header: RpcHeader<'a>,
    size: Quantity<usize>,
    transactions: RpcTransactions<'a>,
    uncles: Vec<B256>,
    #[serde(skip_serializing_if = "Option::is_none")]
    withdrawals: Option<Vec<RpcWithdrawal>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum RpcTransactions<'a> {
    Hashes(Vec<B256>),
    Full(Vec<RpcTransaction<'a>>),
}

impl<'a> RpcBlock<'a> {
    /// The block; `pending` leaves out what only a sealed block has.
    pub fn new(block: &'a Block, full: bool, pending: bool) -> Self {
        let transactions = if full {
            let transactions = (0..block.transactions.len()).map(|index| match pending {
                false => RpcTransaction::mined(block, index),
                true => RpcTransaction::pending(&block.transactions[index], block.header.base_fee_per_gas),
            });
            RpcTransactions::Full(transactions.collect())
        } else {
            RpcTransactions::Hashes(block.transactions.iter().map(|tx| tx.hash()).collect())
        };
        Self {
            header: RpcHeader::new(&block.header, (!pending).then_some(block.hash)),
            size: Quantity(block.size()),
            transactions,
            uncles: block.ommers.iter().map(Header::hash_slow).collect(),
            withdrawals: block.withdrawals.as_ref().map(|all| all.iter().map(RpcWithdrawal::from).collect()),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RpcWithdrawal {
    index: Quantity<u64>,
    validator_index: Quantity<u64>,
    address: Address,
    amount: Quantity<u64>,
}

impl From<&Withdrawal> for RpcWithdrawal {
    fn from(withdrawal: &Withdrawal) -> Self {
        Self {
            index: Quantity(withdrawal.index),
            validator_index: Quantity(withdrawal.validator_index),
            address: withdrawal.address,
            amount: Quantity(withdrawal.amount),
        }
    }
}

/// A transaction, in a block or not yet.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcTransaction<'a> {
    block_hash: Option<B256>,
    block_number: Option<Quantity<u64>>,
    block_timestamp: Option<Quantity<u64>>,
    from: Address,
    gas: Quantity<u64>,
    gas_price: Quantity<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_fee_per_gas: Option<Quantity<u128>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_priority_fee_per_gas: Option<Quantity<u128>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_fee_per_blob_gas: Option<Quantity<u128>>,
    hash: B256,
    input: &'a Bytes,
    nonce: Quantity<u64>,
    to: Option<Address>,
    transaction_index: Option<Quantity<u64>>,
    value: Quantity<U256>,
    #[serde(rename = "type")]
    transaction_type: Quantity<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    access_list: Option<&'a AccessList>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain_id: Option<Quantity<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blob_versioned_hashes: Option<&'a [B256]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authorization_list: Option<&'a [SignedAuthorization]>,
    v: Quantity<U256>,
    r: Quantity<U256>,
    s: Quantity<U256>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y_parity: Option<Quantity<u8>>,
}

impl<'a> RpcTransaction<'a> {
    /// The transaction at `index` of a sealed block.
    pub fn mined(block: &'a Block, index: usize) -> Self {
        let header = &block.header;
        let transaction = &block.transactions[index];
        Self {
            block_hash: Some(block.hash),
            block_number: Some(Quantity(header.number)),
            block_timestamp: Some(Quantity(header.timestamp)),
            transaction_index: Some(Quantity(index as u64)),
            gas_price: Quantity(transaction.effective_gas_price(header.base_fee_per_gas)),
            ..Self::pending(transaction, None)
        }
    }

    /// A transaction that is in no block. Its price is what it would pay at `base_fee`, or its maximum.
    pub fn pending(transaction: &'a Transaction, base_fee: Option<u64>) -> Self {
        let tx = &transaction.envelope;
        let signature = tx.signature();
        let y_parity = u8::from(signature.v());
        let (typed, dynamic) = (tx.tx_type() != TxType::Legacy, tx.is_dynamic_fee());
        Self {
            block_hash: None,
            block_number: None,
            block_timestamp: None,
            from: transaction.sender,
            gas: Quantity(tx.gas_limit()),
            gas_price: Quantity(base_fee.map_or(tx.max_fee_per_gas(), |_| transaction.effective_gas_price(base_fee))),
            max_fee_per_gas: dynamic.then(|| Quantity(tx.max_fee_per_gas())),
            max_priority_fee_per_gas: tx.max_priority_fee_per_gas().map(Quantity),
            max_fee_per_blob_gas: tx.max_fee_per_blob_gas().map(Quantity),
            hash: transaction.hash(),
            input: tx.input(),
            nonce: Quantity(tx.nonce()),
            to: tx.to(),
            transaction_index: None,
            value: Quantity(tx.value()),
            transaction_type: Quantity(tx.ty()),
            access_list: tx.access_list(),
            chain_id: tx.chain_id().map(Quantity),
            blob_versioned_hashes: tx.blob_versioned_hashes(),
            authorization_list: tx.authorization_list(),
            v: Quantity(match tx.chain_id() {
                _ if typed => U256::from(y_parity),
                Some(chain_id) => U256::from(chain_id) * U256::from(2) + U256::from(35 + y_parity),
                None => U256::from(27 + y_parity),
            }),
            r: Quantity(signature.r()),
            s: Quantity(signature.s()),
            y_parity: typed.then_some(Quantity(y_parity)),
        }
    }
}

/// A receipt with its place in the chain.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcReceipt<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    blob_gas_price: Option<Quantity<u128>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blob_gas_used: Option<Quantity<u64>>,
    block_hash: B256,
    block_number: Quantity<u64>,
    contract_address: Option<Address>,
    cumulative_gas_used: Quantity<u64>,
    effective_gas_price: Quantity<u128>,
    from: Address,
    gas_used: Quantity<u64>,
    logs: Vec<RpcLog<'a>>,
    logs_bloom: Bloom,
    #[serde(flatten)]
    status: RpcStatus,
    to: Option<Address>,
    transaction_hash: B256,
    transaction_index: Quantity<u64>,
    #[serde(rename = "type")]
    transaction_type: Quantity<u8>,
}

#[derive(Debug)]
struct RpcStatus(Status);

impl Serialize for RpcStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Status::Success => serializer.collect_map([("status", "0x1")]),
            Status::Failure => serializer.collect_map([("status", "0x0")]),
            Status::Root(root) => serializer.collect_map([("root", root)]),
        }
    }
}

impl<'a> RpcReceipt<'a> {
    /// The receipt at `index` of a block.
    pub fn new(head: &Head, block: &'a Block, index: usize) -> Self {
        let (transaction, receipt) = (&block.transactions[index], &block.receipts[index]);
        let tx = &transaction.envelope;
        let blob_gas_used = tx.blob_gas_used();
        let logs = receipt.logs.iter().zip(receipt.first_log_index..).map(|(log, log_index)| {
            let at = LogPosition { log, log_index, transaction, transaction_index: index as u64 };
            RpcLog::new(block, at, false)
        });
        Self {
            blob_gas_price: blob_gas_used.and_then(|_| head.environment_of(block).blob_base_fee()).map(Quantity),
            blob_gas_used: blob_gas_used.map(Quantity),
            block_hash: block.hash,
            block_number: Quantity(block.number()),
            contract_address: transaction.creates(),
            cumulative_gas_used: Quantity(receipt.cumulative_gas_used),
            effective_gas_price: Quantity(transaction.effective_gas_price(block.header.base_fee_per_gas)),
            from: transaction.sender,
            gas_used: Quantity(receipt.gas_used),
            logs: logs.collect(),
            logs_bloom: receipt.bloom(),
            status: RpcStatus(receipt.status),
            to: tx.to(),
            transaction_hash: transaction.hash(),
            transaction_index: Quantity(index as u64),
            transaction_type: Quantity(tx.ty()),
        }
    }
}

/// A log with its place in the chain.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcLog<'a> {
    address: Address,
    topics: &'a [B256],
    data: &'a Bytes,
    block_number: Quantity<u64>,
    transaction_hash: B256,
    transaction_index: Quantity<u64>,
    block_hash: B256,
    block_timestamp: Quantity<u64>,
    log_index: Quantity<u64>,
    removed: bool,
}

impl<'a> RpcLog<'a> {
    /// A log of `block`; `removed` if the chain no longer has that block.
    pub fn new(block: &Block, at: LogPosition<'a>, removed: bool) -> Self {
        Self {
            address: at.log.address,
            topics: at.log.topics(),
            data: &at.log.data.data,
            block_number: Quantity(block.number()),
            transaction_hash: at.transaction.hash(),
            transaction_index: Quantity(at.transaction_index),
            block_hash: block.hash,
            block_timestamp: Quantity(block.header.timestamp),
            log_index: Quantity(at.log_index),
            removed,
        }
    }
}

//! Blocks and headers.

use alloy_consensus::Header;
use alloy_eips::eip4895::Withdrawal;
use alloy_primitives::{Address, B64, B256, Bloom, Bytes, U256};
use serde::Serialize;

use super::RpcTransaction;
use crate::{block::Block, rpc::hex::Quantity};

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

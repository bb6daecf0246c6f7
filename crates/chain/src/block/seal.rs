//! Sealing: computes a block's header from its content. The only place that creates headers.
//!
//! In a large block two threads compute the roots of transactions and of receipts.

use std::sync::{Arc, OnceLock};

use alloy_consensus::{Header, proofs::calculate_withdrawals_root};
use alloy_eips::{eip4895::Withdrawal, eip7685::Requests};
use alloy_primitives::{B64, B256, Bloom};
use tetrad_evm::{BlockOutcome, Environment, Fork};
use tetrad_primitives::{
    block::{Block, Receipt, Transaction, ommers_hash, receipts_root, transactions_root},
    state::Changes,
};
use tetrad_stdx::parallel;

/// From this number of transactions on, computing their root takes longer than starting a thread.
const PARALLEL_FROM: usize = 200;

/// The content of a block: everything except its [`Environment`].
#[derive(Debug, Default)]
pub(crate) struct BlockContent {
    pub(crate) transactions: Vec<Arc<Transaction>>,
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) gas_used: u64,
    pub(crate) blob_gas_used: u64,
    pub(crate) requests: Option<Requests>,
    pub(crate) ommers: Vec<Header>,
    pub(crate) withdrawals: Option<Vec<Withdrawal>>,
    pub(crate) nonce: B64,
}

impl BlockContent {
    /// Splits the outcome of an execution into the block's content and its state changes.
    pub(crate) fn of(
        transactions: Vec<Arc<Transaction>>,
        outcome: BlockOutcome,
    ) -> (Self, Changes) {
        let BlockOutcome {
            changes,
            receipts,
            gas_used,
            blob_gas_used,
            requests,
        } = outcome;
        (
            Self {
                transactions,
                receipts,
                gas_used,
                blob_gas_used,
                requests,
                ..Self::default()
            },
            changes,
        )
    }

    /// The roots of the transactions and of the receipts.
    fn roots(&self) -> (B256, B256) {
        if self.transactions.len() < PARALLEL_FROM {
            (
                transactions_root(&self.transactions),
                receipts_root(&self.receipts),
            )
        } else {
            parallel::join(
                || transactions_root(&self.transactions),
                || receipts_root(&self.receipts),
            )
        }
    }
}

/// Seals a block. Fields that the fork does not have stay out of the header.
pub(crate) fn seal(environment: &Environment, content: BlockContent, state_root: B256) -> Block {
    let (transactions_root, receipts_root) = content.roots();
    let rules = environment.rules;
    // Since Shanghai a block has a list of withdrawals, even if that is empty (EIP-4895).
    let withdrawals = content
        .withdrawals
        .or_else(|| rules.has(Fork::Shanghai).then(Vec::new));
    let mut logs_bloom = Bloom::ZERO;
    content
        .receipts
        .iter()
        .filter_map(|receipt| receipt.bloom.as_deref())
        .for_each(|bloom| logs_bloom |= *bloom);

    let header = Header {
        parent_hash: environment.parent_hash,
        ommers_hash: ommers_hash(&content.ommers),
        beneficiary: environment.beneficiary,
        state_root,
        transactions_root,
        receipts_root,
        logs_bloom,
        difficulty: environment.difficulty,
        number: environment.number,
        gas_limit: environment.gas_limit,
        gas_used: content.gas_used,
        timestamp: environment.timestamp,
        extra_data: environment.extra_data.clone(),
        mix_hash: environment.mix_hash,
        nonce: content.nonce,
        base_fee_per_gas: environment.base_fee,
        withdrawals_root: withdrawals.as_deref().map(calculate_withdrawals_root),
        blob_gas_used: rules.has(Fork::Cancun).then_some(content.blob_gas_used),
        excess_blob_gas: environment.excess_blob_gas,
        parent_beacon_block_root: environment.parent_beacon_block_root,
        requests_hash: rules
            .has(Fork::Prague)
            .then(|| content.requests.unwrap_or_default().requests_hash()),
        // Fields of Amsterdam, whose rules are not supported.
        block_access_list_hash: None,
        slot_number: None,
    };

    Block {
        hash: header.hash_slow(),
        header,
        transactions: content.transactions,
        receipts: content.receipts,
        ommers: content.ommers,
        withdrawals,
        known_size: OnceLock::new(),
    }
}

//! Blocks, transactions and receipts: their content, encodings and hashes, and the settings under
//! which blocks are sealed. Knows nothing of state or execution.

mod codec;
pub mod cosmos;
mod encoding;
mod fields;
mod ordered_trie;
mod receipt;
mod recovery;
mod setting;
mod sidecar;
mod transaction;

use std::sync::{Arc, OnceLock};

use alloy_consensus::{EMPTY_OMMER_ROOT_HASH, Header, proofs};
use alloy_eips::{eip2718::Encodable2718, eip4895::Withdrawal};
use alloy_primitives::{B256, Bloom, Bytes, Log};
use alloy_rlp::Encodable;

pub use encoding::{
    Envelope, ListedEnvelope, UnsignedTransaction, decode_envelope, without_signature,
};
pub use fields::{GasPrice, TransactionFields};
use ordered_trie::ordered_root;
pub use receipt::{Receipt, Status, bloom};
pub use recovery::{CompressedKey, recover, recover_authority};
pub use setting::{DevSettings, Impersonated, Mining, SealingSettings, Setting};
pub use sidecar::{Blobs, InvalidBlobs};
pub use transaction::{DecodeError, Submission, Transaction};

/// The largest RLP encoding of a block, in bytes (EIP-7934, since Osaka).
pub const MAX_BLOCK_SIZE: usize = 8 << 20;

/// A sealed block with its receipts.
#[derive(Debug)]
pub struct Block {
    /// The header.
    pub header: Header,
    /// The header's hash, which is the block's.
    pub hash: B256,
    /// The transactions in order.
    pub transactions: Vec<Arc<Transaction>>,
    /// One receipt for each transaction.
    pub receipts: Vec<Receipt>,
    /// Uncle headers; always empty since the merge.
    pub ommers: Vec<Header>,
    /// Withdrawals from the consensus layer; `None` before Shanghai.
    pub withdrawals: Option<Vec<Withdrawal>>,
    /// The result of [`size`](Self::size) once it has been called: a block never changes. Adding up
    /// the sizes of the transactions takes as long as writing their hashes.
    pub known_size: OnceLock<usize>,
}

/// A log and its position in the block.
#[derive(Clone, Copy, Debug)]
pub struct LogPosition<'a> {
    /// The log.
    pub log: &'a Log,
    /// Its index in the block.
    pub log_index: u64,
    /// Its transaction.
    pub transaction: &'a Transaction,
    /// The transaction's index in the block.
    pub transaction_index: u64,
}

impl Block {
    /// Returns the block's number.
    pub fn number(&self) -> u64 {
        self.header.number
    }

    /// Returns the size of the block's RLP encoding in bytes.
    pub fn size(&self) -> usize {
        *self
            .known_size
            .get_or_init(|| self.rlp_header().0.length_with_payload())
    }

    /// Checks the header against the block's content. The error is the name of the first field that
    /// does not match.
    pub fn verify(&self) -> Result<(), &'static str> {
        let logs_bloom = self
            .receipts
            .iter()
            .fold(Bloom::ZERO, |all, receipt| all | receipt.bloom());
        let withdrawals = self
            .withdrawals
            .as_deref()
            .map(proofs::calculate_withdrawals_root);
        let gas_used = self
            .receipts
            .last()
            .map_or(0, |last| last.cumulative_gas_used);

        let fields = [
            ("gasUsed", gas_used == self.header.gas_used),
            ("logsBloom", logs_bloom == self.header.logs_bloom),
            (
                "transactionsRoot",
                transactions_root(&self.transactions) == self.header.transactions_root,
            ),
            (
                "receiptsRoot",
                receipts_root(&self.receipts) == self.header.receipts_root,
            ),
            (
                "withdrawalsRoot",
                withdrawals == self.header.withdrawals_root,
            ),
            (
                "sha3Uncles",
                ommers_hash(&self.ommers) == self.header.ommers_hash,
            ),
            ("hash", self.header.hash_slow() == self.hash),
        ];

        fields
            .into_iter()
            .find(|(_, fits)| !fits)
            .map_or(Ok(()), |(field, _)| Err(field))
    }

    /// Returns the index of the transaction with this hash.
    pub fn position(&self, hash: B256) -> Option<usize> {
        self.transactions.iter().position(|tx| tx.hash() == hash)
    }

    /// Iterates over all logs in order.
    pub fn logs(&self) -> impl Iterator<Item = LogPosition<'_>> {
        self.transactions
            .iter()
            .zip(&self.receipts)
            .enumerate()
            .flat_map(|(index, (transaction, receipt))| {
                receipt
                    .logs
                    .iter()
                    .zip(receipt.first_log_index..)
                    .map(move |(log, log_index)| LogPosition {
                        log,
                        log_index,
                        transaction,
                        transaction_index: index as u64,
                    })
            })
    }

    /// Returns the RLP encoding of the network protocol.
    pub fn encode(&self) -> Bytes {
        let (header, transactions) = self.rlp_header();
        let mut out = Vec::with_capacity(header.length_with_payload());
        header.encode(&mut out);
        self.header.encode(&mut out);
        transactions.encode(&mut out);
        self.transactions
            .iter()
            .for_each(|tx| encoding::encode_listed(&tx.envelope, &mut out));

        alloy_rlp::encode_list(&self.ommers, &mut out);
        if let Some(withdrawals) = &self.withdrawals {
            withdrawals.encode(&mut out);
        }

        out.into()
    }

    /// Returns the RLP headers of the block and of its list of transactions.
    fn rlp_header(&self) -> (ListHeader, ListHeader) {
        let transactions = ListHeader(
            self.transactions
                .iter()
                .map(|tx| tx.envelope.network_len())
                .sum::<usize>(),
        );

        let payload = self.header.length()
            + transactions.length_with_payload()
            + alloy_rlp::list_length(&self.ommers)
            + self.withdrawals.as_ref().map_or(0, Encodable::length);
        (ListHeader(payload), transactions)
    }
}

/// The RLP header of a list with a payload of this many bytes.
#[derive(Clone, Copy)]
struct ListHeader(usize);

impl ListHeader {
    fn rlp(self) -> alloy_rlp::Header {
        alloy_rlp::Header {
            list: true,
            payload_length: self.0,
        }
    }

    fn encode(self, out: &mut Vec<u8>) {
        self.rlp().encode(out);
    }

    fn length_with_payload(self) -> usize {
        self.rlp().length_with_payload()
    }
}

/// Returns the root of the trie of a block's transactions.
pub fn transactions_root(transactions: &[Arc<Transaction>]) -> B256 {
    ordered_root(transactions.len(), |index, out| {
        encoding::encode(&transactions[index].envelope, out)
    })
}

/// Returns the root of the trie of a block's receipts.
pub fn receipts_root(receipts: &[Receipt]) -> B256 {
    ordered_root(receipts.len(), |index, out| {
        receipts[index].encode_2718(out)
    })
}

/// Returns the hash of a block's uncles.
pub fn ommers_hash(ommers: &[Header]) -> B256 {
    if ommers.is_empty() {
        EMPTY_OMMER_ROOT_HASH
    } else {
        proofs::calculate_ommers_root(ommers)
    }
}

//! What a transaction did.

use alloy_consensus::TxType;
use alloy_primitives::{B256, Bloom, Log};
use alloy_rlp::{BufMut, Encodable, Header};

/// How a receipt tells the outcome of its transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The transaction's changes and logs stand.
    Success,
    /// The transaction reverted or halted; it paid for its gas all the same.
    Failure,
    /// Before Byzantium receipts carry the state root after the transaction instead (EIP-658).
    Root(B256),
}

/// The receipt of one transaction, and what follows from it only together with the block's other receipts.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// The transaction's type.
    pub tx_type: TxType,
    /// The outcome.
    pub status: Status,
    /// Gas used by this transaction and all before it in the block.
    pub cumulative_gas_used: u64,
    /// Gas used by this transaction.
    pub gas_used: u64,
    /// The events it left, in order.
    pub logs: Vec<Log>,
    /// The bloom filter of `logs`; none where there are no logs, which is common and saves 256 bytes.
    pub bloom: Option<Box<Bloom>>,
    /// How many of the block's logs come before this receipt's.
    pub first_log_index: u64,
}

impl Receipt {
    /// Whether the transaction's changes stand. Before Byzantium that is not recorded, and this answers `true`.
    pub fn succeeded(&self) -> bool {
        !matches!(self.status, Status::Failure)
    }

    /// The bloom filter of the logs.
    pub fn bloom(&self) -> Bloom {
        self.bloom.as_deref().copied().unwrap_or_default()
    }

    /// Appends the consensus encoding, whose trie is the block's receipts root (EIP-2718).
    pub fn encode_2718(&self, out: &mut dyn BufMut) {
        if self.tx_type != TxType::Legacy {
            out.put_u8(self.tx_type as u8);
        }
        let status = match self.status {
            Status::Success => &[1][..],
            Status::Failure => &[][..],
            Status::Root(ref root) => root.as_slice(),
        };
        let bloom = self.bloom();
        let payload = status.length() + self.cumulative_gas_used.length() + bloom.length() + self.logs.length();
        Header { list: true, payload_length: payload }.encode(out);
        status.encode(out);
        self.cumulative_gas_used.encode(out);
        bloom.encode(out);
        self.logs.encode(out);
    }
}

/// The bloom filter of some logs (Yellow Paper, 4.3.1), or none if there are none.
pub fn bloom(logs: &[Log]) -> Option<Box<Bloom>> {
    (!logs.is_empty()).then(|| {
        let mut bloom = Box::<Bloom>::default();
        logs.iter().for_each(|log| bloom.accrue_log(log));
        bloom
    })
}

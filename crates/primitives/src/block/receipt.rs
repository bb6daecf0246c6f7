//! Receipts of transactions.

use alloy_consensus::TxType;
use alloy_primitives::{B256, Bloom, Log};
use alloy_rlp::{BufMut, Encodable, Header};

/// The outcome of a transaction in its receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The transaction succeeded.
    Success,
    /// The transaction reverted or halted. It still paid for its gas.
    Failure,
    /// The state root after the transaction, which receipts have instead of a status before
    /// Byzantium (EIP-658).
    Root(B256),
}

/// The receipt of a transaction, with the fields that are derived from the block's other receipts.
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
    /// The logs, in order.
    pub logs: Vec<Log>,
    /// The bloom filter of `logs`; `None` if there are no logs, which is common and saves 256
    /// bytes.
    pub bloom: Option<Box<Bloom>>,
    /// Index in the block of this receipt's first log.
    pub first_log_index: u64,
}

impl Receipt {
    /// Returns whether the transaction succeeded. Returns `true` before Byzantium, when receipts do
    /// not record it.
    pub fn succeeded(&self) -> bool {
        !matches!(self.status, Status::Failure)
    }

    /// Returns the bloom filter of the logs.
    pub fn bloom(&self) -> Bloom {
        self.bloom.as_deref().copied().unwrap_or_default()
    }

    /// Appends the consensus encoding, whose trie is the block's receipts root (EIP-2718).
    pub fn encode_2718(&self, out: &mut dyn BufMut) {
        if self.tx_type != TxType::Legacy {
            out.put_u8(self.tx_type as u8);
        }

        let status = match self.status {
            // As RLP encodes 1 and 0.
            Status::Success => &[1][..],
            Status::Failure => &[][..],
            Status::Root(ref root) => root.as_slice(),
        };

        let bloom = self.bloom();
        let payload = status.length()
            + self.cumulative_gas_used.length()
            + bloom.length()
            + self.logs.length();

        Header {
            list: true,
            payload_length: payload,
        }
        .encode(out);

        status.encode(out);
        self.cumulative_gas_used.encode(out);
        bloom.encode(out);
        self.logs.encode(out);
    }
}

/// Returns the bloom filter of logs (Yellow Paper, 4.3.1), or `None` if there are none.
pub fn bloom(logs: &[Log]) -> Option<Box<Bloom>> {
    (!logs.is_empty()).then(|| {
        let mut bloom = Box::<Bloom>::default();
        logs.iter().for_each(|log| bloom.accrue_log(log));
        bloom
    })
}

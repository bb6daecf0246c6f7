//! The rows of a block, and what they count for.

use std::collections::BTreeSet;

use alloy_primitives::{Address, B256};
use tetrad_evm::{InternalCall, InternalCallKind};
use tetrad_primitives::block::Block;
use tetrad_stdx::codec::{Malformed, Reader, Writer};

use super::{
    calls::{Executed, encode_call},
    due::DueRead,
    key::{Parts, RowKey, kind},
    transfers::{TokenKind, TokenTransfer, transfers_of},
};

/// How a transaction or a transfer touches an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Touched {
    /// The address sent it.
    pub from: bool,
    /// The address received it.
    pub to: bool,
    /// The transaction created the contract at the address.
    pub created: bool,
}

impl Touched {
    fn code(self) -> u8 {
        u8::from(self.from) | u8::from(self.to) << 1 | u8::from(self.created) << 2
    }

    pub(super) fn of_code(code: u8) -> Self {
        Self {
            from: code & 1 != 0,
            to: code & 2 != 0,
            created: code & 4 != 0,
        }
    }
}

/// Numbers of rows: those of an address, or of the whole chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Transactions sent, received or creating the address; all transactions.
    pub transactions: u64,
    /// Token transfers to or from the address; all token transfers.
    pub transfers: u64,
    /// Internal calls by or to the address; all internal calls.
    pub internal: u64,
    /// Gas that the address's transactions used; all gas.
    pub gas_used: u64,
    /// Transfers of the token at this address; none in the totals.
    pub token_transfers: u64,
    /// Holders of the token at this address; none in the totals.
    pub holders: u64,
}

impl Counts {
    pub(super) fn fields(self) -> [u64; 6] {
        [
            self.transactions,
            self.transfers,
            self.internal,
            self.gas_used,
            self.token_transfers,
            self.holders,
        ]
    }

    pub(super) fn of_fields(fields: [u64; 6]) -> Self {
        let [
            transactions,
            transfers,
            internal,
            gas_used,
            token_transfers,
            holders,
        ] = fields;
        Self {
            transactions,
            transfers,
            internal,
            gas_used,
            token_transfers,
            holders,
        }
    }

    /// Returns what a row counts for: an address, or `None` for the totals, and the numbers.
    pub(super) fn of_row(key: &[u8], value: &[u8]) -> Option<(Option<Address>, Self)> {
        let mut key = Parts(key);
        let mut value = Parts(value);
        let row_kind = key.byte();

        let counts = match row_kind {
            kind::TRANSACTION => {
                let touched = Touched::of_code(value.byte());
                Self {
                    transactions: 1,
                    // Only its sender pays for a transaction.
                    gas_used: if touched.from { value.block() } else { 0 },
                    ..Self::default()
                }
            }
            kind::FILLED => Self {
                transactions: value.block(),
                gas_used: value.block(),
                ..Self::default()
            },
            kind::TRANSFER | kind::ANY_TRANSFER => Self {
                transfers: 1,
                ..Self::default()
            },
            kind::INTERNAL | kind::CALL => Self {
                internal: 1,
                ..Self::default()
            },
            kind::TOKEN_TRANSFER => Self {
                token_transfers: 1,
                ..Self::default()
            },
            _ => return None,
        };

        // The keys of the other kinds begin with an address.
        let is_total = matches!(row_kind, kind::FILLED | kind::ANY_TRANSFER | kind::CALL);
        let subject = (!is_total).then(|| key.address());
        Some((subject, counts))
    }
}

/// A row.
pub(super) type Row = (Vec<u8>, Vec<u8>);

/// The rows that a block adds to the index.
#[derive(Debug, Default)]
pub(super) struct BlockRows {
    pub(super) rows: Vec<Row>,
    /// Contract reads that became due.
    pub(super) due: BTreeSet<DueRead>,
    /// The tokens that were transferred.
    pub(super) tokens: BTreeSet<(Address, TokenKind)>,
}

impl BlockRows {
    /// Derives the rows of a block and of the execution of its transactions.
    pub(super) fn of(block: &Block, executed: &[Executed]) -> Self {
        let mut rows = Self::default();
        if !block.transactions.is_empty() {
            let count = block.transactions.len() as u64;
            let gas = block.header.gas_used;
            let key = RowKey::new(kind::FILLED).position(block.number(), 0, 0);
            rows.push(key, [count.to_be_bytes(), gas.to_be_bytes()].concat());
        }

        for index in 0..block.transactions.len() {
            rows.transaction(block, index);
        }
        rows.transfers(block);

        for (index, executed) in (0..).zip(executed) {
            for (at, call) in (1..).zip(&executed.calls) {
                rows.internal_call(block.number(), index, at, call);
            }
            if let Some(failure) = &executed.failure {
                let key = RowKey::new(kind::FAILURE).position(block.number(), index, 0);
                rows.push(key, failure.encode());
            }
        }
        rows
    }

    fn push(&mut self, key: RowKey, value: Vec<u8>) {
        self.rows.push((key.into_bytes(), value));
    }

    fn transaction(&mut self, block: &Block, at: usize) {
        let transaction = &block.transactions[at];
        let receipt = &block.receipts[at];
        let from = transaction.sender;
        let index = at as u32;
        let to = alloy_consensus::Transaction::to(&transaction.envelope);
        let created = transaction.creates().filter(|_| receipt.succeeded());

        for (address, touched) in touched_by(from, to, created) {
            let mut value = vec![touched.code()];
            if touched.from {
                value.extend_from_slice(&receipt.gas_used.to_be_bytes());
            }
            let key = RowKey::new(kind::TRANSACTION).address(address);
            self.push(key.position(block.number(), index, 0), value);
        }

        if let Some(created) = created {
            let key = RowKey::new(kind::CREATION).address(created);
            self.push(key.position(block.number(), index, 0), from.to_vec());
        }
    }

    fn transfers(&mut self, block: &Block) {
        for at in block.logs() {
            for (part, transfer) in (0..).zip(transfers_of(at.log)) {
                self.transfer(block.number(), at.log_index as u32, part, &transfer);
            }
        }
    }

    fn transfer(&mut self, block: u64, log: u32, part: u32, transfer: &TokenTransfer) {
        let token = transfer.token;
        let kind = transfer.kind;
        let place = |key: RowKey| key.position(block, log, part);

        // A transfer to its own sender has one row under the address.
        let is_own = transfer.from == transfer.to;
        let sides = [(transfer.from, true), (transfer.to, false)];
        for (address, from) in sides.into_iter().take(if is_own { 1 } else { 2 }) {
            let touched = Touched {
                from,
                to: !from || is_own,
                created: false,
            };
            let value = [&[touched.code(), kind.code()], token.as_slice()].concat();
            self.push(place(RowKey::new(kind::TRANSFER).address(address)), value);
        }

        let mut value = vec![kind.code()];
        value.extend_from_slice(transfer.from.as_slice());
        value.extend_from_slice(transfer.to.as_slice());
        value.extend_from_slice(&transfer.id.unwrap_or_default().to_be_bytes::<32>());
        self.push(
            place(RowKey::new(kind::TOKEN_TRANSFER).address(token)),
            value,
        );
        self.push(place(RowKey::new(kind::ANY_TRANSFER)), vec![kind.code()]);

        self.due.extend(DueRead::of_transfer(transfer));
        self.tokens.insert((token, kind));
    }

    fn internal_call(&mut self, block: u64, transaction: u32, at: u32, call: &InternalCall) {
        let place = |key: RowKey| key.position(block, transaction, at);
        self.push(place(RowKey::new(kind::CALL)), encode_call(call));

        // A call to itself is listed once.
        let to = call.to.filter(|to| *to != call.from);
        for address in [Some(call.from), to].into_iter().flatten() {
            self.push(
                place(RowKey::new(kind::INTERNAL).address(address)),
                Vec::new(),
            );
        }

        if matches!(
            call.kind,
            InternalCallKind::Create | InternalCallKind::Create2
        ) && let Some(created) = call.to
        {
            self.push(
                place(RowKey::new(kind::CREATION).address(created)),
                call.from.to_vec(),
            );
        }
    }
}

/// Returns the addresses that a transaction touches, each once.
fn touched_by(
    from: Address,
    to: Option<Address>,
    created: Option<Address>,
) -> Vec<(Address, Touched)> {
    let sender = Touched {
        from: true,
        ..Touched::default()
    };
    let recipient = Touched {
        to: true,
        ..Touched::default()
    };
    let contract = Touched {
        created: true,
        ..Touched::default()
    };

    let mut seen = vec![(from, sender)];
    for (address, touched) in [(to, recipient), (created, contract)] {
        let Some(address) = address else { continue };
        match seen.iter_mut().find(|(known, _)| *known == address) {
            Some((_, known)) => known.to |= touched.to,
            None => seen.push((address, touched)),
        }
    }
    seen
}

/// The record of an indexed block: its hash, and the keys of its rows, with which they are removed
/// again.
pub(super) struct BlockRecord {
    pub(super) hash: B256,
    pub(super) keys: Vec<Vec<u8>>,
}

impl BlockRecord {
    pub(super) fn encode(hash: B256, rows: &[Row]) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.raw(hash.as_slice());
        writer.number(rows.len() as u64);
        rows.iter().for_each(|(key, _)| writer.string(key));
        writer.into_bytes()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let hash = B256::from_slice(reader.raw(32)?);
        let count = reader.number()?;
        let keys = (0..count)
            .map(|_| reader.string().map(<[u8]>::to_vec))
            .collect::<Result<_, _>>()?;
        reader.end("record of an indexed block")?;
        Ok(Self { hash, keys })
    }
}

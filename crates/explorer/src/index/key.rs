//! Keys of rows: a kind, what the row is about, and its position on the chain, so that a list is a
//! range of keys.

use alloy_primitives::{Address, U256};

/// Kinds of rows. The kind is the first byte of a key. Positions always have three parts, of which
/// the last ones may be zero. Otherwise the end of a range would not be where a position is.
pub(super) mod kind {
    /// Transactions by address: address, block, transaction.
    pub(in crate::index) const TRANSACTION: u8 = b't';
    /// Token transfers by address: address, block, log, part of the log.
    pub(in crate::index) const TRANSFER: u8 = b'k';
    /// Token transfers by token: token, block, log, part of the log.
    pub(in crate::index) const TOKEN_TRANSFER: u8 = b'm';
    /// All token transfers: block, log, part of the log.
    pub(in crate::index) const ANY_TRANSFER: u8 = b'z';
    /// Internal calls by address: address, block, transaction, call.
    pub(in crate::index) const INTERNAL: u8 = b'i';
    /// The internal calls: block, transaction, call.
    pub(in crate::index) const CALL: u8 = b'c';
    /// Failures: block, transaction.
    pub(in crate::index) const FAILURE: u8 = b'f';
    /// Creations: contract, block, transaction, call.
    pub(in crate::index) const CREATION: u8 = b'n';
    /// Blocks with transactions: block.
    pub(in crate::index) const FILLED: u8 = b'b';
    /// Tokens: token.
    pub(in crate::index) const TOKEN: u8 = b'o';
    /// Indexed blocks: block.
    pub(in crate::index) const BLOCK: u8 = b'u';
    /// Counters: address, or nothing for the totals.
    pub(in crate::index) const COUNTS: u8 = b'#';
    /// Balances: address, token, id.
    pub(in crate::index) const BALANCE: u8 = b'B';
    /// Holders: token, inverted balance, address, id.
    pub(in crate::index) const HOLDER: u8 = b'H';
    /// Owners of non-fungible tokens: token, id.
    pub(in crate::index) const INSTANCE: u8 = b'x';
    /// Non-fungible tokens by owner: address, token, id.
    pub(in crate::index) const OWNED: u8 = b'y';
    /// Reads of contracts that are due, see [`DueRead`](super::super::due::DueRead).
    pub(in crate::index) const DUE: u8 = b'p';
    /// The state of the index itself.
    pub(in crate::index) const META: u8 = b'!';
}

/// A key, or the beginning of keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowKey(Vec<u8>);

impl RowKey {
    pub(super) fn new(kind: u8) -> Self {
        let mut bytes = Vec::with_capacity(48);
        bytes.push(kind);
        Self(bytes)
    }

    pub(super) fn byte(mut self, byte: u8) -> Self {
        self.0.push(byte);
        self
    }

    pub(super) fn address(mut self, address: Address) -> Self {
        self.0.extend_from_slice(address.as_slice());
        self
    }

    pub(super) fn block(mut self, number: u64) -> Self {
        // Big-endian: keys are in the order of their bytes.
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    pub(super) fn index(mut self, index: u32) -> Self {
        self.0.extend_from_slice(&index.to_be_bytes());
        self
    }

    pub(super) fn word(mut self, word: U256) -> Self {
        self.0.extend_from_slice(&word.to_be_bytes::<32>());
        self
    }

    /// The position of a row on the chain: block, then transaction or log, then call or part of a
    /// log.
    pub(super) fn position(self, block: u64, index: u32, part: u32) -> Self {
        self.block(block).index(index).index(part)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The first key after all keys that begin like this one.
    pub(super) fn end(&self) -> Vec<u8> {
        let mut end = self.0.clone();
        while let Some(last) = end.pop() {
            if last < u8::MAX {
                end.push(last + 1);
                break;
            }
        }
        end
    }
}

/// Reads the parts of a key or a value, one after another. Missing bytes read as zero: rows are
/// written by this module only, and the file has checksums.
pub(super) struct Parts<'a>(pub(super) &'a [u8]);

impl Parts<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (part, rest) = self
            .0
            .split_first_chunk::<N>()
            .map_or(([0; N], &[][..]), |(part, rest)| (*part, rest));
        self.0 = rest;
        part
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    pub(super) fn address(&mut self) -> Address {
        Address::from(self.take::<20>())
    }

    pub(super) fn block(&mut self) -> u64 {
        u64::from_be_bytes(self.take())
    }

    pub(super) fn index(&mut self) -> u32 {
        u32::from_be_bytes(self.take())
    }

    pub(super) fn word(&mut self) -> U256 {
        U256::from_be_bytes(self.take::<32>())
    }
}

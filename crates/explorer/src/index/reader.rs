//! Reads of the index: lists, page by page, and single rows.

use std::{ops::Bound, sync::Arc};

use alloy_primitives::{Address, B256, U256};
use tetrad_chain::{BlockId, Chain, Head};
use tetrad_evm::{InternalCall, InternalCallKind};
use tetrad_primitives::block::Block;
use tetrad_store::store::LogKey;

use super::{
    calls::{Failure, decode_call},
    database::{IndexError, RowsTable, counts_key},
    key::{Parts, RowKey, kind},
    rows::{Counts, Touched},
    tokens::TokenRecord,
    transfers::TokenKind,
};

/// The most rows that are read for one page: those that a filter leaves out are read as well.
const MAX_READS: usize = 100_000;

/// The position of a row: block, then transaction or log, then call or part of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The block.
    pub block: u64,
    /// The transaction's index, or the log's.
    pub index: u32,
    /// The internal call's number, or the part of the log.
    pub part: u32,
}

impl Position {
    /// Returns the position right after this one.
    pub(crate) fn successor(self) -> Self {
        let (part, carry) = self.part.overflowing_add(1);
        let (index, carry) = self.index.overflowing_add(carry.into());
        Self {
            block: self.block.saturating_add(carry.into()),
            index,
            part,
        }
    }

    /// The first position in a block.
    fn of_block(block: u64) -> Self {
        Self {
            block,
            ..Self::default()
        }
    }

    /// The first position in a transaction.
    fn of_transaction(block: u64, index: usize) -> Self {
        Self {
            block,
            index: u32::try_from(index).unwrap_or(u32::MAX),
            part: 0,
        }
    }
}

impl RowKey {
    /// The key that ends with a position.
    fn at(&self, position: Position) -> Self {
        self.clone()
            .position(position.block, position.index, position.part)
    }
}

/// The position of an internal call, with the call.
#[derive(Clone, Debug)]
pub struct InternalPosition {
    /// The position.
    pub position: Position,
    /// The call.
    pub call: InternalCall,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// From the newest row to the oldest.
    #[default]
    NewestFirst,
    /// From the oldest row to the newest.
    OldestFirst,
}

/// A part of a list.
#[derive(Clone, Copy, Debug)]
pub struct PositionRange {
    /// The first position.
    pub from: Position,
    /// The position after the last one.
    pub before: Position,
    /// The order.
    pub order: Order,
    /// Rows to leave out at the beginning.
    pub skip: usize,
    /// Rows at most.
    pub limit: usize,
}

impl PositionRange {
    /// The newest rows before a position.
    pub fn before(before: Option<Position>, limit: usize) -> Self {
        let newest = Position {
            block: u64::MAX,
            index: u32::MAX,
            part: u32::MAX,
        };
        let before = before.unwrap_or(newest);
        Self {
            from: Position::default(),
            before,
            order: Order::NewestFirst,
            skip: 0,
            limit,
        }
    }

    /// The rows after a position in an order.
    pub fn beyond(position: Option<Position>, order: Order, limit: usize) -> Self {
        let range = Self {
            order,
            ..Self::before(None, limit)
        };
        match (position, order) {
            (None, _) => range,
            (Some(before), Order::NewestFirst) => Self { before, ..range },
            (Some(after), Order::OldestFirst) => Self {
                from: after.successor(),
                ..range
            },
        }
    }

    /// The rows of a transaction of a block, or of all of the block's.
    pub fn of_transactions(block: u64, index: Option<usize>, order: Order, limit: usize) -> Self {
        let (from, before) = match index {
            Some(index) => (
                Position::of_transaction(block, index),
                Position::of_transaction(block, index + 1),
            ),
            None => (
                Position::of_block(block),
                Position::of_block(block.saturating_add(1)),
            ),
        };
        Self {
            from,
            before,
            order,
            skip: 0,
            limit,
        }
    }

    /// Rows of some blocks, both included.
    pub(crate) fn of_blocks(from: u64, to: u64, order: Order, skip: usize, limit: usize) -> Self {
        Self {
            from: Position::of_block(from),
            before: Position::of_block(to.saturating_add(1)),
            order,
            skip,
            limit,
        }
    }
}

/// A page of a list.
#[derive(Clone, Debug)]
pub struct IndexPage<T, C = Position> {
    /// The items.
    pub items: Vec<T>,
    /// The position of the last row that was read, if there may be more after it.
    pub next: Option<C>,
}

/// The part that an address has in a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionRole {
    /// It sent the transaction.
    Sender,
    /// It received the transaction, or was created by it.
    Recipient,
}

impl TransactionRole {
    /// Returns whether what touched an address in this way is meant.
    fn includes(self, touched: Touched) -> bool {
        match self {
            Self::Sender => touched.from,
            Self::Recipient => touched.to || touched.created,
        }
    }
}

/// A filter of internal calls.
#[derive(Clone, Debug, Default)]
pub struct CallFilter {
    /// The side of the address; either if there is none.
    pub side: Option<TransactionRole>,
    /// The kinds; any if there are none.
    pub kinds: Option<Vec<InternalCallKind>>,
    /// Whether calls without value are left out. Creations and self-destructs never are.
    pub only_with_value: bool,
}

impl CallFilter {
    fn includes(&self, address: Option<Address>, call: &InternalCall) -> bool {
        let has_side = match (address, self.side) {
            (None, _) | (_, None) => true,
            (Some(address), Some(TransactionRole::Sender)) => call.from == address,
            (Some(address), Some(TransactionRole::Recipient)) => call.to == Some(address),
        };
        let is_silent = call.value.is_zero() && call.kind.is_call();
        has_side
            && self
                .kinds
                .as_ref()
                .is_none_or(|kinds| kinds.contains(&call.kind))
            && !(self.only_with_value && is_silent)
    }

    /// Reads a stored call; `None` unless the filter includes it.
    fn read(
        &self,
        address: Option<Address>,
        position: Position,
        stored: &[u8],
    ) -> Result<Option<InternalPosition>, IndexError> {
        let call = decode_call(stored)?;
        Ok(self
            .includes(address, &call)
            .then_some(InternalPosition { position, call }))
    }
}

/// A filter of transfers.
#[derive(Clone, Debug, Default)]
pub struct TransferRole {
    /// The side of the address; either if there is none.
    pub side: Option<TransactionRole>,
    /// The token.
    pub token: Option<Address>,
    /// The standards; any if the list is empty.
    pub kinds: Vec<TokenKind>,
}

/// A token's contract and an id, zero if there are no ids: lists of an address's tokens are in this
/// order.
pub type TokenKey = (Address, U256);

/// A token that an address holds.
#[derive(Clone, Copy, Debug)]
pub struct OwnedToken {
    /// The token's contract.
    pub token: Address,
    /// The standard.
    pub kind: TokenKind,
    /// The id; `None` unless balances are by id.
    pub id: Option<U256>,
    /// The balance.
    pub balance: U256,
}

impl OwnedToken {
    /// Returns the contract and the id, zero if balances are not by id: tokens are listed in this
    /// order.
    pub fn key(&self) -> TokenKey {
        (self.token, self.id.unwrap_or_default())
    }
}

/// A holder of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The holder.
    pub address: Address,
    /// The id, for ERC-1155.
    pub id: U256,
    /// The balance.
    pub balance: U256,
}

/// The index's record of an address.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// The numbers of rows.
    pub counts: Counts,
    /// The creator of the contract, and the position of its creation.
    pub creation: Option<(Address, Position)>,
    /// The token, if the address is a token's contract.
    pub token: Option<TokenRecord>,
}

/// The rows as of one moment, and the chain.
pub struct IndexReader {
    rows: RowsTable,
    chain: Chain,
    /// The head that blocks are read from.
    pub head: Arc<Head>,
}

impl IndexReader {
    pub(super) fn new(rows: RowsTable, chain: Chain) -> Self {
        let head = chain.head();
        Self { rows, chain, head }
    }

    /// Returns a canonical block.
    pub fn block(&self, number: u64) -> Option<Arc<Block>> {
        self.chain
            .block(&self.head, BlockId::Number(number))
            .ok()
            .flatten()
    }

    /// Returns the block of a transaction, and its index there.
    pub fn transaction(&self, hash: B256) -> Option<(Arc<Block>, usize)> {
        self.chain.transaction(&self.head, hash)
    }

    /// Returns the block with a hash.
    pub fn block_by_hash(&self, hash: B256) -> Option<Arc<Block>> {
        self.chain
            .block(&self.head, BlockId::Hash(hash))
            .ok()
            .flatten()
    }

    /// Returns the oldest block in memory or on disk.
    pub fn oldest(&self) -> u64 {
        self.chain.oldest(&self.head)
    }

    /// Iterates over the blocks up to `last` that may have logs under at least one key of each of
    /// `wanted`, newest first.
    pub(crate) fn blocks_with_logs<'a>(
        &'a self,
        last: Option<u64>,
        wanted: &'a [Vec<LogKey>],
    ) -> impl Iterator<Item = Arc<Block>> + 'a {
        let last = last.unwrap_or(u64::MAX);
        let recent: Vec<_> = self
            .head
            .candidates(0, last.min(self.head.number()), wanted)
            .cloned()
            .collect();
        let older = self
            .chain
            .old_blocks_before(&self.head, last.saturating_add(1), wanted);
        recent.into_iter().rev().chain(older)
    }

    /// Iterates over the blocks from `from` to `to` that may have logs under at least one key of
    /// each of `wanted`, oldest first.
    pub fn candidates<'a>(
        &'a self,
        from: u64,
        to: u64,
        wanted: &[Vec<LogKey>],
    ) -> impl Iterator<Item = Arc<Block>> + 'a {
        let to = to.min(self.head.number());
        let older = self.chain.old_candidates(&self.head, from, to, wanted);
        let recent: Vec<_> = self.head.candidates(from, to, wanted).cloned().collect();
        older
            .into_iter()
            .filter_map(|number| self.chain.old_block(&self.head, number))
            .chain(recent)
    }

    /// Returns the numbers of the whole chain.
    pub fn totals(&self) -> Result<Counts, IndexError> {
        self.counts(None)
    }

    fn counts(&self, subject: Option<Address>) -> Result<Counts, IndexError> {
        let Some(value) = self.get(&counts_key(subject))? else {
            return Ok(Counts::default());
        };
        let mut parts = Parts(&value);
        Ok(Counts::of_fields(std::array::from_fn(|_| parts.block())))
    }

    fn get(&self, key: &RowKey) -> Result<Option<Vec<u8>>, IndexError> {
        Ok(self
            .rows
            .get(key.bytes())?
            .map(|value| value.value().to_vec()))
    }

    /// Returns what is known of an address.
    pub fn account(&self, address: Address) -> Result<Account, IndexError> {
        let key = RowKey::new(kind::CREATION).address(address);
        let newest = self.page(&key, &PositionRange::before(None, 1), |position, value| {
            Ok(Some((Parts(value).address(), position)))
        })?;
        let creation = newest.items.into_iter().next();
        Ok(Account {
            counts: self.counts(Some(address))?,
            creation,
            token: self.token(address)?,
        })
    }

    /// Returns a token.
    pub fn token(&self, token: Address) -> Result<Option<TokenRecord>, IndexError> {
        let stored = self.get(&RowKey::new(kind::TOKEN).address(token))?;
        Ok(stored
            .map(|stored| serde_json::from_slice(&stored))
            .transpose()?)
    }

    /// Returns the numbers of a token's transfers and holders.
    pub(crate) fn token_counts(&self, token: Address) -> Result<Counts, IndexError> {
        self.counts(Some(token))
    }

    /// Returns a page of the rows that begin with `key`. `read` leaves rows out by returning
    /// `None`.
    fn page<T>(
        &self,
        key: &RowKey,
        range: &PositionRange,
        mut read: impl FnMut(Position, &[u8]) -> Result<Option<T>, IndexError>,
    ) -> Result<IndexPage<T>, IndexError> {
        let mut page = IndexPage {
            items: Vec::new(),
            next: None,
        };
        let from = key.at(range.from).into_bytes();
        let before = key.at(range.before).into_bytes();
        if from >= before {
            return Ok(page);
        }

        let bounds = (Bound::Included(&from[..]), Bound::Excluded(&before[..]));
        let rows = self.rows.range::<&[u8]>(bounds)?;
        let rows: Box<dyn Iterator<Item = _>> = match range.order {
            Order::NewestFirst => Box::new(rows.rev()),
            Order::OldestFirst => Box::new(rows),
        };

        let mut last = Position::default();
        let mut skipped = 0;
        for (count, row) in rows.enumerate() {
            // A filter that leaves out most rows must not make a page read the whole index.
            if page.items.len() == range.limit || count == MAX_READS + range.skip {
                page.next = Some(last);
                break;
            }

            let (row_key, value) = row?;
            let mut parts = Parts(&row_key.value()[key.bytes().len()..]);
            last = Position {
                block: parts.block(),
                index: parts.index(),
                part: parts.index(),
            };

            if let Some(item) = read(last, value.value())? {
                if skipped < range.skip {
                    skipped += 1;
                } else {
                    page.items.push(item);
                }
            }
        }
        Ok(page)
    }

    /// Returns the transactions of an address.
    pub fn transactions(
        &self,
        address: Address,
        role: Option<TransactionRole>,
        range: &PositionRange,
    ) -> Result<IndexPage<Position>, IndexError> {
        let key = RowKey::new(kind::TRANSACTION).address(address);
        self.page(&key, range, |position, value| {
            let touched = Touched::of_code(value.first().copied().unwrap_or_default());
            Ok(role
                .is_none_or(|role| role.includes(touched))
                .then_some(position))
        })
    }

    /// Returns blocks with transactions.
    pub(crate) fn filled_blocks(
        &self,
        range: &PositionRange,
    ) -> Result<IndexPage<u64>, IndexError> {
        self.page(&RowKey::new(kind::FILLED), range, |position, _| {
            Ok(Some(position.block))
        })
    }

    /// Returns token transfers: of an address or of all.
    pub fn transfers(
        &self,
        address: Option<Address>,
        role: &TransferRole,
        range: &PositionRange,
    ) -> Result<IndexPage<Position>, IndexError> {
        let is_kind = |kind: TokenKind| role.kinds.is_empty() || role.kinds.contains(&kind);

        let Some(address) = address else {
            let key = match role.token {
                Some(token) => RowKey::new(kind::TOKEN_TRANSFER).address(token),
                None => RowKey::new(kind::ANY_TRANSFER),
            };
            return self.page(&key, range, |position, value| {
                Ok(is_kind(TokenKind::of_code(Parts(value).byte())).then_some(position))
            });
        };

        self.page(
            &RowKey::new(kind::TRANSFER).address(address),
            range,
            |position, value| {
                let mut parts = Parts(value);
                let touched = Touched::of_code(parts.byte());
                let kind = TokenKind::of_code(parts.byte());
                let token = parts.address();
                let is_wanted = role.side.is_none_or(|side| side.includes(touched))
                    && role.token.is_none_or(|wanted| wanted == token)
                    && is_kind(kind);
                Ok(is_wanted.then_some(position))
            },
        )
    }

    /// Returns the transfers of a token, or of one id of it.
    pub(crate) fn token_transfers(
        &self,
        token: Address,
        id: Option<U256>,
        range: &PositionRange,
    ) -> Result<IndexPage<Position>, IndexError> {
        self.page(
            &RowKey::new(kind::TOKEN_TRANSFER).address(token),
            range,
            |position, value| {
                let mut parts = Parts(value);
                // The standard, the sender and the recipient come before the id.
                parts.byte();
                parts.address();
                parts.address();
                let own = parts.word();
                Ok(id.is_none_or(|id| id == own).then_some(position))
            },
        )
    }

    /// Returns internal calls: of an address or of all.
    pub fn internal_calls(
        &self,
        address: Option<Address>,
        filter: &CallFilter,
        range: &PositionRange,
    ) -> Result<IndexPage<InternalPosition>, IndexError> {
        let Some(address) = address else {
            return self.page(&RowKey::new(kind::CALL), range, |position, stored| {
                filter.read(None, position, stored)
            });
        };
        self.page(
            &RowKey::new(kind::INTERNAL).address(address),
            range,
            |position, _| {
                let key = RowKey::new(kind::CALL).at(position);
                match self.get(&key)? {
                    Some(stored) => filter.read(Some(address), position, &stored),
                    None => Ok(None),
                }
            },
        )
    }

    /// Returns why a transaction failed; `None` if it succeeded, or if the state before its block
    /// was not available.
    pub fn failure(&self, block: u64, index: usize) -> Result<Option<Failure>, IndexError> {
        let position = Position {
            block,
            index: index as u32,
            part: 0,
        };
        let stored = self.get(&RowKey::new(kind::FAILURE).at(position))?;
        Ok(stored.map(|stored| Failure::decode(&stored)).transpose()?)
    }

    /// Returns a page of the rows that begin with `key`, after `after`. `at` reads what a row is
    /// about from the rest of its key; `read` leaves rows out by returning `None`.
    fn list<T, C: Copy>(
        &self,
        key: &RowKey,
        after: Option<RowKey>,
        limit: usize,
        at: impl Fn(Parts<'_>) -> C,
        mut read: impl FnMut(C, &[u8]) -> Result<Option<T>, IndexError>,
    ) -> Result<IndexPage<T, C>, IndexError> {
        let start = after.map_or(Bound::Included(key.clone()), Bound::Excluded);
        let start = start.as_ref().map(RowKey::bytes);
        let end = key.end();

        let mut page = IndexPage {
            items: Vec::new(),
            next: None,
        };
        let mut last = None;
        for (count, row) in self
            .rows
            .range::<&[u8]>((start, Bound::Excluded(&end[..])))?
            .enumerate()
        {
            // Rows that are left out count as well: they are read.
            if page.items.len() == limit || count == MAX_READS {
                page.next = last;
                break;
            }

            let (row_key, value) = row?;
            let position = at(Parts(&row_key.value()[key.bytes().len()..]));
            last = Some(position);
            page.items.extend(read(position, value.value())?);
        }
        Ok(page)
    }

    /// Returns the tokens that an address holds, after one of them, in the order of their
    /// addresses.
    pub(crate) fn owned_tokens(
        &self,
        address: Address,
        kinds: &[TokenKind],
        after: Option<TokenKey>,
        limit: usize,
    ) -> Result<IndexPage<OwnedToken, TokenKey>, IndexError> {
        let key = RowKey::new(kind::BALANCE).address(address);
        let after = after.map(|(token, id)| key.clone().address(token).word(id));
        self.list(&key, after, limit, token_and_id, |(token, id), value| {
            let mut value = Parts(value);
            let kind = TokenKind::of_code(value.byte());
            let id = (kind == TokenKind::Erc1155).then_some(id);
            let owned = OwnedToken {
                token,
                kind,
                id,
                balance: value.word(),
            };
            Ok((kinds.is_empty() || kinds.contains(&kind)).then_some(owned))
        })
    }

    /// Returns a stored balance.
    pub fn balance(&self, address: Address, token: Address, id: U256) -> Result<U256, IndexError> {
        let stored = self.get(
            &RowKey::new(kind::BALANCE)
                .address(address)
                .address(token)
                .word(id),
        )?;
        // The first byte is the code of the standard.
        Ok(stored.map_or(U256::ZERO, |value| Parts(&value[1..]).word()))
    }

    /// Returns the non-fungible tokens with owners that an address owns: contract and id, after one
    /// of them.
    pub(crate) fn owned_instances(
        &self,
        address: Address,
        after: Option<TokenKey>,
        limit: usize,
    ) -> Result<IndexPage<TokenKey, TokenKey>, IndexError> {
        let key = RowKey::new(kind::OWNED).address(address);
        let after = after.map(|(token, id)| key.clone().address(token).word(id));
        self.list(&key, after, limit, token_and_id, |at, _| Ok(Some(at)))
    }

    /// Returns the ids of a non-fungible token that an address owns, or of which it holds an
    /// amount, after an id.
    pub(crate) fn ids_of_owner(
        &self,
        owner: Address,
        token: Address,
        standard: TokenKind,
        after: Option<U256>,
        limit: usize,
    ) -> Result<IndexPage<U256, U256>, IndexError> {
        // ERC-1155 has balances, but no owners.
        let rows = if standard == TokenKind::Erc1155 {
            kind::BALANCE
        } else {
            kind::OWNED
        };
        let key = RowKey::new(rows).address(owner).address(token);
        let after = after.map(|id| key.clone().word(id));
        self.list(
            &key,
            after,
            limit,
            |mut rest| rest.word(),
            |id, _| Ok(Some(id)),
        )
    }

    /// Returns the ids of a non-fungible token, each with its owner if there is a single one, after
    /// an id.
    pub fn instances(
        &self,
        token: Address,
        after: Option<U256>,
        limit: usize,
    ) -> Result<IndexPage<(U256, Option<Address>), U256>, IndexError> {
        let key = RowKey::new(kind::INSTANCE).address(token);
        let after = after.map(|id| key.clone().word(id));
        let id = |mut rest: Parts<'_>| rest.word();
        self.list(&key, after, limit, id, |id, value| {
            Ok(Some((
                id,
                (!value.is_empty()).then(|| Parts(value).address()),
            )))
        })
    }

    /// Returns an id of a non-fungible token, with its owner if there is a single one.
    pub fn instance(
        &self,
        token: Address,
        id: U256,
    ) -> Result<Option<Option<Address>>, IndexError> {
        let stored = self.get(&RowKey::new(kind::INSTANCE).address(token).word(id))?;
        Ok(stored.map(|value| (!value.is_empty()).then(|| Parts(&value).address())))
    }

    /// Returns the holders of a token, the largest first, after one of them.
    pub fn holders(
        &self,
        token: Address,
        after: Option<Holder>,
        limit: usize,
    ) -> Result<IndexPage<Holder, Holder>, IndexError> {
        let key = RowKey::new(kind::HOLDER).address(token);
        let after = after.map(|after| {
            key.clone()
                // Inverted, so that the largest balance comes first.
                .word(!after.balance)
                .address(after.address)
                .word(after.id)
        });
        self.list(&key, after, limit, holder, |holder, _| Ok(Some(holder)))
    }

    /// Returns the tokens after one of them, in the order of their addresses, that `is_wanted`.
    pub fn tokens(
        &self,
        after: Option<Address>,
        limit: usize,
        is_wanted: impl Fn(Address, &TokenRecord) -> bool,
    ) -> Result<IndexPage<(Address, TokenRecord), Address>, IndexError> {
        let key = RowKey::new(kind::TOKEN);
        let after = after.map(|after| key.clone().address(after));
        let token = |mut rest: Parts<'_>| rest.address();
        self.list(&key, after, limit, token, |token, value| {
            let record = serde_json::from_slice(value)?;
            Ok(is_wanted(token, &record).then_some((token, record)))
        })
    }
}

/// Reads a holder from a key, where the balance is inverted.
fn holder(mut rest: Parts<'_>) -> Holder {
    let balance = !rest.word();
    Holder {
        balance,
        address: rest.address(),
        id: rest.word(),
    }
}

/// Reads a token's contract and an id from a key.
fn token_and_id(mut rest: Parts<'_>) -> TokenKey {
    (rest.address(), rest.word())
}

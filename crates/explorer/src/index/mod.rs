//! The index of addresses: transactions, internal calls, token transfers, tokens and their holders,
//! for explorers.
//!
//! A thread follows the chain and derives rows from each block, after the fact, so that the writer
//! does nothing for it. Internal calls and the reasons of failures are in no block; the thread
//! executes the transactions of contracts a second time to find them. While blocks keep coming it
//! works a small part of the time only, unless a request waits for it.
//!
//! The rows are in a file beside the chain, or in memory for a chain in memory, which keeps no rows
//! of blocks that the chain has dropped. Everything can be derived again: a damaged file is deleted
//! and rebuilt.
//!
//! The embedded database is redb. The parts of the log's index are sorted files that no longer
//! change, whereas rows are also removed and changed (reverts, balances, counters). Every row has a
//! key of its kind, its subject and its position on the chain, so that a list is a range of keys
//! and a page begins where the last one ended (`key.rs`). One step removes the rows of blocks that
//! are gone, adds those of new blocks, and commits both as one transaction. Each block's record
//! lists the keys of its rows, with which a revert removes them. Rows are committed to the disk
//! once a second; after a kill the index continues from there, since the log has everything.
//!
//! Balances and holders are not added up from events: genesis gives out tokens without events, and
//! a token may compute balances. A transfer makes reads of the token's contract due (`due.rs`), and
//! the newest state answers them once the index has reached it.
//!
//! A request waits until the index has the head that it found. Without a request, the thread begins
//! two seconds after the start, and works 2 % of the time while blocks keep coming. If the writer
//! recorded internal calls, every transaction would pay for a call of the inspector per
//! instruction. If they were found on request only, those of blocks that a chain in memory has
//! dropped would be missing.
//!
//! A file that is damaged, of another chain or of another version is dropped and built again.

mod balances;
mod calls;
mod database;
mod due;
mod follow;
mod key;
mod reader;
mod rows;
mod thread;
mod tokens;
mod transfers;
mod verify;

pub use database::IndexError;
pub use reader::{
    CallFilter, Holder, IndexPage, IndexReader, InternalPosition, Order, OwnedToken, Position,
    PositionRange, TokenKey, TransactionRole, TransferRole,
};
pub use thread::{Index, IndexOptions, Waiting};
pub use tokens::{TokenRecord, total_supply};
pub use transfers::{TokenKind, TokenTransfer, transfers_of};
pub use verify::verify;

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

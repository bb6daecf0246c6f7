//! Blocks, transactions, receipts and logs in geth's format.

mod block;
mod receipt;
mod schema;
mod transaction;

pub(crate) use block::{RpcBlock, RpcHeader, write_withdrawal};
pub(crate) use receipt::{RpcReceipt, write_log};
pub(crate) use schema::log as log_schema;
pub(crate) use transaction::{RpcTransaction, write_access_list, write_mined_briefly};

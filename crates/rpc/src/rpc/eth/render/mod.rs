//! Blocks, transactions, receipts and logs in geth's format.

mod block;
mod receipt;
mod schema;
mod transaction;

pub use block::{RpcBlock, RpcHeader, write_withdrawal};
pub use receipt::{RpcReceipt, write_log};
pub use schema::log as log_schema;
pub use transaction::{RpcTransaction, write_access_list, write_mined_briefly};

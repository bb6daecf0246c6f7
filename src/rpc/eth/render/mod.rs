//! Blocks, transactions, receipts and logs in the shapes that geth gives them.

mod block;
mod receipt;
mod transaction;

pub use block::{RpcBlock, RpcHeader};
pub use receipt::{RpcReceipt, write_log};
pub use transaction::RpcTransaction;

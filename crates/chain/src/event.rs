//! The events that subscribers of a chain receive.

use std::sync::Arc;

use tetrad_primitives::block::{Block, Transaction};

use super::Head;

/// A change of the chain or of its pool.
#[derive(Clone, Debug)]
pub enum Event {
    /// A head was published.
    Head {
        /// The head.
        head: Arc<Head>,
        /// The blocks that it adds to the previous head, oldest first.
        added: Arc<[Arc<Block>]>,
        /// The blocks of the previous head that it removes, oldest first.
        removed: Arc<[Arc<Block>]>,
    },
    /// The pool accepted a transaction.
    Pending(Arc<Transaction>),
}

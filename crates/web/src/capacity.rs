//! The capacity that the requests of all listeners share.

use std::sync::Arc;

use super::{Budget, ClientAddresses, Execution};

/// The capacity that the requests of all listeners share. Clones share it, too.
#[derive(Clone, Debug, Default)]
pub struct Capacity {
    /// The memory of requests and responses in transit.
    pub budget: Budget,
    /// The threads that execute; none outside of a node.
    pub execution: Option<Arc<Execution>>,
    /// Determines the clients that take turns.
    pub addresses: ClientAddresses,
}

//! The processes of a cluster.

use alloy_primitives::{hex, keccak256};

/// A process. Another one may have, or may have had, the name of its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodeProcess {
    pub(super) node: String,
    /// A random number of the process. It is in the cluster's bucket only: a client that may not
    /// read that cannot send the process requests, and cannot keep it from those of others by many.
    pub(super) instance: u64,
}

/// The public part of a process's number: the beginning of its hash.
pub(super) fn shown(instance: u64) -> String {
    hex::encode(&keccak256(instance.to_be_bytes())[..8])
}

//! The processes of a cluster.

/// A process. Another one may have, or may have had, the name of its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodeProcess {
    pub(super) node: String,
    /// A random number of the process.
    pub(super) instance: u64,
}

/// The number of a process as text.
pub(super) fn shown(instance: u64) -> String {
    format!("{instance:016x}")
}

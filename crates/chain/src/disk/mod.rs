//! Chains in files: opening and maintaining data directories, and dumps.

pub(super) mod dump;
pub(super) mod maintain;
pub(super) mod recover;

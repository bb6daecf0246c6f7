//! Chains in files: opening and maintaining their directories, and dumps.

pub(super) mod dump;
pub(super) mod maintain;
pub(super) mod recover;

//! TODO-DOC contracts

pub mod artifacts;
pub mod contracts;
pub mod sources;

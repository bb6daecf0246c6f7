//! tetrad.

pub mod account;
pub mod cli;

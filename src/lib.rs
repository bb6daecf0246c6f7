//! tetrad.

pub mod account;

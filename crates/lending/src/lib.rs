//! TODO-DOC lending

pub mod activity;
pub mod faucet;
pub mod lending;

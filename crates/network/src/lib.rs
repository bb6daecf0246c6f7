//! TODO-DOC network

pub mod account;
pub mod network;

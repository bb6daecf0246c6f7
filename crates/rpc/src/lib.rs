//! TODO-DOC rpc

pub mod fork;
pub mod rpc;

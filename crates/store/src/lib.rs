//! TODO-DOC store

pub mod log;
pub mod storage;
pub mod store;

//! TODO-DOC primitives

pub mod block;
pub mod state;

//! Clusters: several nodes that serve one chain, of which one leads and seals the blocks.

mod message;

pub use message::{MessageError, Outcome, PoolSelection, Request, Response};

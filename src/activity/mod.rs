//! What users did on the exchange and in the lending pool, read from the logs of the blocks that the node keeps.
//!
//! Nothing is remembered: a page is found by walking the blocks backwards. Those in memory have bloom filters, which tell
//! quickly whether they are worth opening; those on disk are found through the chain's index of logs. So a revert needs no
//! care, and memory does not grow.

mod bodies;
mod record;
mod rest;
mod scan;

pub use rest::Activity;

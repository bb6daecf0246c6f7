//! What users did on the exchange and in the lending pool, read from the logs of the blocks that the node holds.
//!
//! Nothing is kept: a page is found by walking the blocks backwards, and their bloom filters tell quickly which of them
//! are worth opening. So a revert needs no care, and memory does not grow.

mod bodies;
mod record;
mod rest;
mod scan;

pub use rest::Activity;

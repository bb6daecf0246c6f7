//! The activity of users on the exchange and in the lending pool, read from the logs of the blocks
//! that the node keeps.
//!
//! Nothing is cached: each page is a scan of the blocks, newest first. The bloom filters of blocks
//! in memory tell which to read; blocks on disk are found through the chain's index of logs.
//! Reverts therefore need no handling, and memory does not grow.

mod bodies;
mod record;
mod rest;
mod scan;

pub use rest::Activity;

//! tetrad.
pub mod block;
pub mod chain;
pub mod evm;
pub mod state;

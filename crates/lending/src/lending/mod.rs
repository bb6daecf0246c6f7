//! Lending: pools, loans and credit scores (see the book, "Lending").

mod apy;
mod bodies;
mod deployed;
pub mod genesis;
mod history;
mod reader;
mod rest;

pub use apy::yearly_percent;
pub use deployed::deployed_pool;
pub use rest::Lending;

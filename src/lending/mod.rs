//! Lending: pools, loans and credit scores (see the book, "Lending").

mod apy;
mod bodies;
pub mod genesis;
mod history;
mod reader;
mod rest;

#[cfg(feature = "internals")]
pub use apy::yearly_percent;
pub use rest::Lending;

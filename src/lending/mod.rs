//! Lending: pools, loans and credit scores (specification, 4.5 and 4.6).

mod apy;
mod bodies;
pub mod genesis;
mod history;
mod reader;
mod rest;

pub use apy::yearly_percent;
pub use rest::Lending;

//! The exchange: prices, swaps, and what is told about them (specification, 4.2 to 4.4).

pub mod contract;
pub mod genesis;

//! Lending: pools, loans and credit scores (specification, 4.5 and 4.6).

pub mod contract;
pub mod genesis;

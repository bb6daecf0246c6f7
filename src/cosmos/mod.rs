//! The account query of a Cosmos node's REST gateway (specification, 2.8 and 4.7).

mod account;
mod rest;

pub use rest::router;

//! The integration tests, one binary for all of them.

mod account;

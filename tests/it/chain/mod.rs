//! The ledger without an interface in between.

mod history;
mod pool;
mod standard;
mod submitters;

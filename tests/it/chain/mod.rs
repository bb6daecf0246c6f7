//! The ledger without an interface in between.

mod history;
mod pool;
mod pool_limits;
mod standard;
mod submitters;

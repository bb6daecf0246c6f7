//! The ledger, tested below all interfaces.

mod history;
mod pool;
mod pool_limits;
mod pool_size;
mod settings;
mod standard;
mod submitters;

//! The ledger without an interface in between.

mod pool;

//! Addresses, keys, mnemonics and keystores, and the commands over them.

mod golden;
mod golden_keys;
mod vectors;

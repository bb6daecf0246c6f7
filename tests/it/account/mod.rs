//! Addresses, keys, mnemonics and keystores, and their commands.

mod address;
mod cli;
mod cli_address;
mod cli_keys;
mod cli_show;
mod golden;
mod golden_keys;
mod hd;
mod key;
mod keystore;
mod mnemonic;
mod node_keystore;
mod property;
mod public_key;
mod vectors;

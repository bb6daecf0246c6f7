//! The text that anvil prints at its start, which programs that start it read line by line, and
//! the same as JSON for `--config-out`.

use std::{
    fmt::Display,
    io::{self, Write},
    sync::Arc,
};

use alloy_eips::eip1559::BaseFeeParams;
use alloy_primitives::utils::format_ether;
use serde::Serialize;
use tetrad_primitives::block::Block;
use tetrad_stdx::redact;

use super::VERSION;
use crate::Node;

/// The rule below a heading.
const RULE: &str = "==================";
/// The tip that anvil adds to the base fee for a gas price, in wei.
const TIP: u64 = 1_000_000_000;

/// Prints the banner. Its last line has the address, and says that the node listens.
pub(super) fn print(node: &Node, out: &mut dyn Write) -> io::Result<()> {
    let config = &node.config;
    let tetrad = env!("CARGO_PKG_VERSION");
    writeln!(out, "\n    anvil {VERSION} (tetrad {tetrad})\n")?;

    let accounts = node.development_accounts();
    let head = node.chain.head();
    writeln!(out, "Available Accounts\n{RULE}\n")?;
    for (index, (address, _)) in accounts.iter().enumerate() {
        let balance = format_ether(head.state.balance(*address).unwrap_or_default());
        writeln!(out, "({index}) {address} ({balance} ETH)")?;
    }

    writeln!(out, "\nPrivate Keys\n{RULE}\n")?;
    for (index, (_, key)) in accounts.iter().enumerate() {
        writeln!(out, "({index}) {}", **key)?;
    }

    writeln!(out, "\nWallet\n{RULE}")?;
    writeln!(out, "Mnemonic:          {}", config.mnemonic)?;
    writeln!(out, "Derivation path:   {}/\n", config.derivation_path)?;

    if let Some(url) = &config.fork.url {
        fork(out, node, url.as_str())?;
    }
    let first = first_block(node);
    section(out, "Chain ID", node.chain.params().chain_id)?;
    section(out, "Base Fee", base_fee(&first))?;
    section(out, "Gas Limit", first.header.gas_limit)?;
    section(out, "Genesis Timestamp", first.header.timestamp)?;
    section(out, "Genesis Number", first.number())?;

    writeln!(out)?;
    for address in node.all_addresses() {
        writeln!(out, "Listening on {address}")?;
    }
    out.flush()
}

fn section(out: &mut dyn Write, name: &str, value: impl Display) -> io::Result<()> {
    writeln!(out, "\n{name}\n{RULE}\n\n{value}")
}

fn fork(out: &mut dyn Write, node: &Node, url: &str) -> io::Result<()> {
    let forked = first_block(node);
    writeln!(out, "\nFork\n{RULE}")?;
    writeln!(out, "Endpoint:       {}", redact::url(url))?;
    writeln!(out, "Block number:   {}", forked.number())?;
    writeln!(out, "Block hash:     {}", forked.hash)?;
    writeln!(out, "Chain ID:       {}", node.chain.params().chain_id)
}

/// Returns the chain's first block; on a fork, the one that is forked.
fn first_block(node: &Node) -> Arc<Block> {
    node.chain.head().genesis.clone()
}

fn base_fee(block: &Block) -> u64 {
    block.header.base_fee_per_gas.unwrap_or_default()
}

/// The content of the file.
#[derive(Serialize)]
struct ConfigOut<'a> {
    available_accounts: Vec<String>,
    private_keys: Vec<String>,
    wallet: Wallet<'a>,
    base_fee: String,
    gas_price: String,
    gas_limit: String,
    genesis_timestamp: String,
}

#[derive(Serialize)]
struct Wallet<'a> {
    mnemonic: &'a str,
    derivation_path: String,
}

/// Returns accounts and settings in the form of `--config-out`.
pub(super) fn written(node: &Node) -> serde_json::Result<String> {
    let config = &node.config;
    let accounts = node.development_accounts();
    let first = first_block(node);
    let next = first
        .header
        .next_block_base_fee(BaseFeeParams::ethereum())
        .unwrap_or_default();

    serde_json::to_string(&ConfigOut {
        available_accounts: accounts
            .iter()
            .map(|(address, _)| format!("{address:#x}"))
            .collect(),
        private_keys: accounts.iter().map(|(_, key)| key.to_string()).collect(),
        wallet: Wallet {
            mnemonic: &config.mnemonic,
            derivation_path: format!("{}/", config.derivation_path),
        },
        base_fee: base_fee(&first).to_string(),
        gas_price: next.saturating_add(TIP).to_string(),
        gas_limit: first.header.gas_limit.to_string(),
        genesis_timestamp: first.header.timestamp.to_string(),
    })
}

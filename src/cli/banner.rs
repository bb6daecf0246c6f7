//! The banner that a node prints at its start: URLs, accounts and contracts.

use std::io::{self, Write};

use crate::{
    Node,
    account::{Kind, address_to_bech32},
    config::Profile,
};

pub(super) fn print(node: &Node, out: &mut dyn Write) -> io::Result<()> {
    let config = &node.config;
    let network = &config.network;
    let params = node.chain.params();
    writeln!(out, "tetrad {}, chain id {}, {}", env!("CARGO_PKG_VERSION"), params.chain_id, network.cosmos_chain_id)?;
    let head = node.chain.head();
    if config.fork.url.is_some() {
        writeln!(out, "Fork of block {} ({})", head.genesis.number(), head.genesis.hash)?;
    }
    writeln!(out, "\nEndpoints")?;
    writeln!(out, "  Page             {}", node.rest_url())?;
    writeln!(out, "  JSON-RPC         {}   {}", node.rpc_url(), node.ws_url())?;
    writeln!(
        out,
        "  REST             {}   /api/prices  /api/pools  /cosmos/auth/v1beta1/accounts/<address>",
        node.rest_url()
    )?;
    writeln!(out, "  Price WebSocket  {}", node.exchange_ws_url())?;

    let accounts = node.development_accounts();
    if config.profile == Profile::Development && !accounts.is_empty() {
        let balance = alloy_primitives::utils::format_ether(config.balance);
        let balance = balance.strip_suffix(".000000000000000000").unwrap_or(&balance);
        if config.fork.url.is_some() {
            writeln!(out, "\nAccounts ({balance} {} each)", network.coin)?;
        } else if config.genesis.is_some() {
            writeln!(out, "\nAccounts (the genesis file decides what they have)")?;
        } else {
            writeln!(out, "\nAccounts ({balance} {} each, and some of every token)", network.coin)?;
        }
        for (index, (address, key)) in accounts.iter().enumerate() {
            let bech32 = address_to_bech32(address, &network.hrp, Kind::Account);
            writeln!(out, "  ({index}) {address}  {bech32}")?;
            writeln!(out, "      {}", **key)?;
        }
        writeln!(out, "  Mnemonic  {}", config.mnemonic)?;
        writeln!(out, "  These keys are public. Never send anything of value to these accounts on another network.")?;
    }
    if config.genesis.is_none() && config.fork.url.is_none() {
        writeln!(out, "\nContracts")?;
        let contracts = &network.contracts;
        for (name, address) in [
            ("Vault", contracts.vault),
            ("Oracle", contracts.oracle),
            ("Lending pool", contracts.lending_pool),
            ("Lending lens", contracts.lending_lens),
        ] {
            writeln!(out, "  {name:<13} {address}")?;
        }
        writeln!(out, "\nTokens {:<8} {:<42} receipt of the lending pool", "", "")?;
        for token in &network.tokens {
            writeln!(out, "  {:<13} {} {}", token.symbol, token.address, token.receipt)?;
        }
    }
    writeln!(out)
}

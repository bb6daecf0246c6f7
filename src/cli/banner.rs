//! The banner that a node prints at its start: the page's URL, what the chain has, and where the
//! node listens. All URLs come last, where a terminal shows them; the page is the first thing that
//! a new user needs, and stays at the top of a log.

use std::io::{self, Write};

use tetrad_network::{
    account::{Kind, address_to_bech32},
    network::COIN_DECIMALS,
};
use tetrad_stdx::{decimal, redact};

use crate::{
    Node,
    config::{Config, MetricsAt, Profile},
};

pub(super) fn print(node: &Node, out: &mut dyn Write) -> io::Result<()> {
    let config = &node.config;
    writeln!(out, "{}\n", line("Page", &node.rest_url()))?;

    let chain_id = node.chain.params().chain_id;
    let version = env!("CARGO_PKG_VERSION");
    if node.has_exchange {
        writeln!(
            out,
            "tetrad {version}, chain id {chain_id}, {}",
            config.network.cosmos_chain_id
        )?;
        contracts(config, out)?;
    } else {
        writeln!(out, "tetrad {version}, chain id {chain_id}")?;
    }

    if let Some(url) = &config.fork.url {
        let head = node.chain.head();
        let url = redact::url(url.as_str());
        writeln!(
            out,
            "Fork of {url} at block {}, {}",
            head.genesis.number(),
            head.genesis.hash
        )?;
    }

    accounts(node, out)?;
    shared(node, out)?;
    endpoints(node, out)
}

/// What an operator of the production profile has to know: what outlives the process, and who has
/// money.
fn shared(node: &Node, out: &mut dyn Write) -> io::Result<()> {
    let config = &node.config;
    if config.profile != Profile::Production {
        return Ok(());
    }

    writeln!(out, "\nProduction profile")?;
    if config.data_dir.is_none() && !config.cluster.is_enabled() {
        writeln!(
            out,
            "  Chain         in memory: it ends with this process (--data-dir DIR keeps it)"
        )?;
    }

    if node.has_exchange && config.fork.url.is_none() {
        writeln!(
            out,
            "  Treasury      {}: it has the first coins, and mints tokens",
            node.treasury
        )?;
        match config.faucet.amount {
            Some(amount) => {
                let amount = decimal::shortest(amount, COIN_DECIMALS);
                writeln!(
                    out,
                    "  Faucet        {amount} {} for a payment",
                    config.network.coin
                )?;
            }
            None => writeln!(out, "  Faucet        off (--faucet AMOUNT turns it on)")?,
        }
    }
    Ok(())
}

fn contracts(config: &Config, out: &mut dyn Write) -> io::Result<()> {
    let network = &config.network;
    writeln!(
        out,
        "\nTokens {:<8} {:<42} receipt token of the lending pool",
        "", ""
    )?;
    for token in &network.tokens {
        writeln!(
            out,
            "  {:<13} {} {}",
            token.symbol, token.address, token.receipt
        )?;
    }

    let contracts = &network.contracts;
    writeln!(out, "\nContracts")?;
    for (name, address) in [
        ("Vault", contracts.vault),
        ("Oracle", contracts.oracle),
        ("Lending pool", contracts.lending_pool),
        ("Lending lens", contracts.lending_lens),
    ] {
        writeln!(out, "  {name:<13} {address}")?;
    }
    Ok(())
}

fn accounts(node: &Node, out: &mut dyn Write) -> io::Result<()> {
    let config = &node.config;
    let network = &config.network;
    let accounts = node.development_accounts();
    if config.profile != Profile::Development || accounts.is_empty() {
        return Ok(());
    }

    let balance = decimal::shortest(config.balance, COIN_DECIMALS);
    if config.begins_with_file() {
        writeln!(out, "\nAccounts (the genesis file decides what they have)")?;
    } else if config.fork.url.is_some() {
        let unless = config
            .genesis
            .as_ref()
            .map_or("", |_| " unless the genesis file says otherwise");
        writeln!(out, "\nAccounts ({balance} {} each{unless})", network.coin)?;
    } else {
        writeln!(
            out,
            "\nAccounts ({balance} {} each, and some of every token)",
            network.coin
        )?;
    }

    for (index, (address, key)) in accounts.iter().enumerate() {
        if node.has_exchange {
            let bech32 = address_to_bech32(address, &network.hrp, Kind::Account);
            writeln!(out, "  ({index}) {address}  {bech32}\n      {}", **key)?;
        } else {
            writeln!(out, "  ({index}) {address}  {}", **key)?;
        }
    }

    writeln!(out, "  Mnemonic  {}", config.mnemonic)?;
    writeln!(
        out,
        "  These keys are public. Never send anything of value to these accounts on another network."
    )
}

fn endpoints(node: &Node, out: &mut dyn Write) -> io::Result<()> {
    let config = &node.config;
    let mut rest = vec!["/cosmos"];
    if !config.no_explorer {
        rest.insert(0, "/api/v2");
    }
    if node.has_exchange {
        rest.splice(0..0, ["/api/prices", "/api/pools"]);
    }
    rest.extend(["/graphql", "/openapi.json"]);

    let mut lines = vec![
        (
            "JSON-RPC",
            format!("{}   {}", node.rpc_url(), node.ws_url()),
        ),
        ("REST", format!("{}   {}", node.rest_url(), rest.join("  "))),
    ];
    if node.has_exchange {
        lines.push(("Price WebSocket", node.exchange_ws_url()));
    }

    let own = [
        ("CometBFT", node.comet_url()),
        ("Cosmos REST", node.cosmos_rest_url()),
        ("gRPC", node.grpc_url()),
    ];
    lines.extend(own.into_iter().filter_map(|(name, url)| Some((name, url?))));

    if let MetricsAt::Own(address) = config.metrics {
        lines.push(("Metrics", format!("http://{address}/metrics")));
    }
    if let Some(path) = &config.listen_unix {
        lines.push(("Unix socket", path.display().to_string()));
    }
    lines.push(("Page", format!("{}   /docs/", node.rest_url())));

    writeln!(out)?;
    for (name, place) in lines {
        writeln!(out, "{}", line(name, &place))?;
    }
    writeln!(out)
}

/// A line with a place at which the node listens.
fn line(name: &str, place: &str) -> String {
    format!("{name:<16} {}", reachable(place))
}

/// Replaces the addresses that stand for all interfaces, which no client can connect to, by those
/// of this machine.
fn reachable(url: &str) -> String {
    url.replace("://0.0.0.0:", "://127.0.0.1:")
        .replace("://[::]:", "://[::1]:")
}

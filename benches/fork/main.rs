//! Forks of a node that is 50 ms away: a proxy answers each HTTP request that much later.
//!
//! `cargo bench --bench fork -- [--rounds N] [--binary BINARY]`. The forked node is tetrad with its
//! own contracts; it has all methods, or the proxy refuses those with which a fork asks for what an
//! execution reads. anvil is included as in the bench `compare`.
//!
//! What is measured is time, of which nearly all is spent waiting, and HTTP requests: a fork starts,
//! then makes one call, the same again, and a suite of transactions one after the other; once more
//! with what a fork of the same block has kept. Nodes take turns in each round, and the tables show
//! medians, with the smallest and the largest in parentheses.

#![allow(clippy::unwrap_used, reason = "a measurement that fails has no result")]

#[path = "../compare/client.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod client;
#[path = "../compare/peers.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod peers;
mod proxy;
#[path = "../compare/server.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod server;
#[path = "../compare/wallet.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod wallet;

use std::time::{Duration, Instant};

use alloy::{
    primitives::{Address, TxKind, U256},
    sol_types::SolCall,
};
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::{Token, Vault};

use self::{
    client::Request,
    peers::Peer,
    proxy::{Proxy, Refusals},
    server::Server,
    wallet::Wallet,
};

/// How much later an answer comes.
const DELAY: Duration = Duration::from_millis(50);
/// Transactions of the suite.
const TRANSACTIONS: usize = 200;

alloy::sol! {
    function getPools() external view;
    function deposit(address asset, uint256 amount) external;
    function borrow(address asset, uint256 amount) external;
    function repay(address asset, uint256 amount) external;
    function withdraw(address asset, uint256 amount) external;
}

/// The contracts of the forked node.
struct Contracts {
    vault: Address,
    lens: Address,
    pool: Address,
    usdc: Address,
    weth: Address,
}

/// The figures of one fork in one round.
#[derive(Clone, Copy)]
struct Figures {
    start: f64,
    cold: f64,
    cold_requests: f64,
    warm: f64,
    suite: f64,
    suite_requests: f64,
}

/// The median of a figure, with the smallest and the largest in parentheses.
fn shown(figures: &[Figures], figure: fn(&Figures) -> f64) -> String {
    let mut all: Vec<f64> = figures.iter().map(figure).collect();
    all.sort_by(f64::total_cmp);
    let first = all[0];
    let last = all[all.len() - 1];
    format!("{} ({first} to {last})", all[all.len() / 2])
}

fn main() {
    let mut rounds = 3;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rounds" => rounds = arguments.next().unwrap().parse().unwrap(),
            "--binary" => peers::BINARY.set(arguments.next().unwrap()).unwrap(),
            // cargo passes it.
            "--bench" => {}
            other => panic!("unknown argument {other}"),
        }
    }

    let origin = Server::start(&peers::tetrad().command);
    let contracts = contracts(&origin);
    let kept = tempfile::tempdir().unwrap();
    let mut again = peers::tetrad();
    let block = origin.client().number("eth_blockNumber", json!([]));
    let directory = kept.path().to_string_lossy();
    again
        .command
        .extend(["--fork-block".to_owned(), block.to_string()]);
    again
        .command
        .extend(["--fork-cache".to_owned(), directory.into_owned()]);
    // This one fills the file.
    measure(&again, &origin, Refusals::Nothing, &contracts);

    let mut subjects = vec![
        ("tetrad", peers::tetrad(), Refusals::Nothing),
        ("tetrad, with what was kept", again, Refusals::Nothing),
        ("tetrad, without traces", peers::tetrad(), Refusals::Traces),
        ("tetrad, without either", peers::tetrad(), Refusals::Both),
    ];
    subjects.extend(peers::anvil().map(|peer| ("anvil", peer, Refusals::Nothing)));

    let mut figures = vec![Vec::new(); subjects.len()];
    for _ in 0..rounds {
        for ((_, peer, refusals), figures) in subjects.iter().zip(&mut figures) {
            figures.push(measure(peer, &origin, *refusals, &contracts));
        }
    }

    println!(
        "\n| Fork | start, s | first call, s | HTTP requests | again, s | {TRANSACTIONS} transactions, s | HTTP requests |"
    );
    println!("|---|---|---|---|---|---|---|");
    for ((name, ..), figures) in subjects.iter().zip(&figures) {
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} |",
            shown(figures, |figures| figures.start),
            shown(figures, |figures| figures.cold),
            shown(figures, |figures| figures.cold_requests),
            shown(figures, |figures| figures.warm),
            shown(figures, |figures| figures.suite),
            shown(figures, |figures| figures.suite_requests),
        );
    }
}

fn contracts(origin: &Server) -> Contracts {
    let body = origin
        .client()
        .exchange(&Request::get("/api/network"))
        .unwrap()
        .to_vec();
    let network: Value = serde_json::from_slice(&body).unwrap();
    let address = |value: &Value| value.as_str().unwrap().parse().unwrap();
    Contracts {
        vault: address(&network["vault"]),
        lens: address(&network["lendingLens"]),
        pool: address(&network["lendingPool"]),
        usdc: address(&network["tokens"]["USDC"]),
        weth: address(&network["tokens"]["WETH"]),
    }
}

fn measure(peer: &Peer, origin: &Server, refusals: Refusals, contracts: &Contracts) -> Figures {
    let proxy = Proxy::start(origin.port, DELAY, refusals);
    let mut command = peer.command.clone();
    command.extend(["--fork-url".to_owned(), proxy.url()]);
    let fork = Server::start(&command);
    let mut client = fork.client();

    let call =
        json!([{ "to": contracts.lens, "data": getPoolsCall {}.abi_encode_hex() }, "latest"]);
    let before = proxy.requests();
    let began = Instant::now();
    let first = client.call("eth_call", call.clone());
    let cold = began.elapsed();
    let cold_requests = proxy.requests() - before;
    let expected = origin.client().call("eth_call", call.clone());
    // The interest of a few seconds makes some words differ.
    assert_eq!(
        first.as_str().unwrap().len(),
        expected.as_str().unwrap().len()
    );

    let began = Instant::now();
    client.call("eth_call", call);
    let warm = began.elapsed();

    let raw = suite(contracts);
    let before = proxy.requests();
    let began = Instant::now();
    for raw in &raw {
        client.send(raw);
    }
    let suite = began.elapsed();
    let suite_requests = proxy.requests() - before;

    Figures {
        start: round(fork.started),
        cold: round(cold),
        cold_requests: cold_requests as f64,
        warm: round(warm),
        suite: round(suite),
        suite_requests: suite_requests as f64,
    }
}

/// Seconds with three decimal places.
fn round(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000.0).round() / 1_000.0
}

fn swap(from: Address, to: Address, amount: U256) -> Vec<u8> {
    Vault::swapExactTokensForTokensCall {
        _tokenIn: from,
        _tokenOut: to,
        _amountIn: amount,
        _minAmountOut: U256::ZERO,
    }
    .abi_encode()
}

/// Signed transactions of an account that uses the exchange and the lending service.
fn suite(contracts: &Contracts) -> Vec<String> {
    let mut wallet = Wallet::development(0, 125);

    let approvals = [contracts.vault, contracts.pool]
        .into_iter()
        .flat_map(|spender| {
            let approve = Token::approveCall {
                spender,
                value: U256::MAX,
            };
            [contracts.usdc, contracts.weth].map(|token| (token, approve.abi_encode()))
        });

    let amount = U256::from(1_000_000);
    let usdc = contracts.usdc;
    let weth = contracts.weth;
    let cycle = [
        (contracts.vault, swap(usdc, weth, amount)),
        (
            contracts.pool,
            depositCall {
                asset: usdc,
                amount: amount * U256::from(4),
            }
            .abi_encode(),
        ),
        (
            contracts.pool,
            borrowCall {
                asset: weth,
                amount,
            }
            .abi_encode(),
        ),
        (
            contracts.pool,
            repayCall {
                asset: weth,
                amount: amount / U256::from(2),
            }
            .abi_encode(),
        ),
        (
            contracts.pool,
            withdrawCall {
                asset: usdc,
                amount,
            }
            .abi_encode(),
        ),
    ];

    approvals
        .chain(cycle.into_iter().cycle())
        .take(TRANSACTIONS)
        .map(|(to, input)| wallet.sign(TxKind::Call(to), 0, input, 1_000_000))
        .collect()
}

/// Call data in hex.
trait AbiEncodeHex {
    fn abi_encode_hex(&self) -> String;
}

impl<C: SolCall> AbiEncodeHex for C {
    fn abi_encode_hex(&self) -> String {
        alloy::hex::encode_prefixed(self.abi_encode())
    }
}

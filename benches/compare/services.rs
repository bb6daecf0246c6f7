//! Workloads specific to tetrad: REST reads of prices and pools, and swaps through the vault.

use alloy::{
    primitives::{Address, TxKind, U256},
    sol_types::SolCall,
};
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::{Token, Vault};

use super::{
    Effort,
    client::Request,
    load::{Measured, in_turns, repeat},
    peers, report,
    server::Server,
    wallet::Wallet,
};

const SWAPS: u64 = 2_000;
const TICKS: u64 = 1_000;

pub(crate) fn run(effort: Effort) {
    report::table(
        "Exchange and lending",
        &["Work", "Node", "µs each", "per second"],
    );

    let mut still = peers::builds("0");
    let mut ticking = peers::builds("1");
    let names: Vec<&str> = still.iter().map(|peer| peer.name).collect();
    let figures = |measured: Measured| [measured.cpu, measured.per_second];

    let mut servers: Vec<Server> = still
        .iter()
        .map(|peer| Server::start(&peer.command))
        .collect();

    let user = Wallet::development(0, 125).address();
    for path in [
        "/api/prices".to_owned(),
        "/api/tokens/swap".to_owned(),
        "/api/pools".to_owned(),
        format!("/api/user/{user}"),
    ] {
        let get = Request::get(&path);
        let runs = in_turns(effort.rounds, &mut servers, |server| {
            figures(repeat(server, &get, effort.time))
        });
        report::rows(&[&format!("GET {path}")], &names, &runs);
    }

    let runs = in_turns(effort.rounds, &mut still, |peer| {
        figures(swaps(&Server::start(&peer.command)))
    });
    report::rows(&["swap, sent and mined one after another"], &names, &runs);

    let runs = in_turns(effort.rounds, &mut ticking, |peer| {
        figures(ticks(&Server::start(&peer.command)))
    });
    report::rows(
        &["price tick: a block that sets 12 prices, bodies and frames made"],
        &names,
        &runs,
    );

    report::end();
}

fn swaps(server: &Server) -> Measured {
    let mut client = server.client();
    let network: Value =
        serde_json::from_slice(client.exchange(&Request::get("/api/network")).unwrap()).unwrap();
    let address = |value: &Value| -> Address { value.as_str().unwrap().parse().unwrap() };
    let vault = address(&network["vault"]);
    let usdc = address(&network["tokens"]["USDC"]);
    let weth = address(&network["tokens"]["WETH"]);

    let mut wallet = Wallet::development(0, 125);
    let approve = Token::approveCall {
        spender: vault,
        value: U256::MAX,
    }
    .abi_encode();
    client.send(&wallet.sign(TxKind::Call(usdc), 0, approve, 100_000));

    let swap = Vault::swapExactTokensForTokensCall {
        _tokenIn: usdc,
        _tokenOut: weth,
        _amountIn: U256::from(1_000_000),
        _minAmountOut: U256::ZERO,
    };
    let input = swap.abi_encode();

    let signed: Vec<Request> = (0..SWAPS)
        .map(|_| wallet.sign(TxKind::Call(vault), 0, input.clone(), 500_000))
        .map(|raw| Request::rpc("eth_sendRawTransaction", &json!([raw])))
        .collect();

    let cpu = server.cpu();
    let began = std::time::Instant::now();
    for request in &signed {
        let answer: Value = serde_json::from_slice(client.exchange(request).unwrap()).unwrap();
        assert!(answer["error"].is_null(), "{answer}");
    }
    Measured::of(SWAPS, began.elapsed(), server.cpu() - cpu)
}

/// Price ticks at the maximum rate, each in its own block with a timestamp one second after the
/// previous one.
fn ticks(server: &Server) -> Measured {
    let mut client = server.client();
    let newest = client.call("eth_getBlockByNumber", json!(["latest", false]));
    let time = u64::from_str_radix(
        newest["timestamp"]
            .as_str()
            .unwrap()
            .trim_start_matches("0x"),
        16,
    )
    .unwrap();
    let cpu = server.cpu();
    let began = std::time::Instant::now();
    for tick in 1..=TICKS {
        client.call("evm_mine", json!([time + 60 + tick]));
    }
    let measured = Measured::of(TICKS, began.elapsed(), server.cpu() - cpu);
    let count = client.number("eth_getBlockTransactionCountByNumber", json!(["latest"]));
    assert_eq!(count, 1, "the block has no prices");
    measured
}

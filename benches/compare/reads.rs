//! Read requests over 16 connections, on a chain with 1,000 blocks of ten logs and a block of 200 transactions.

use alloy::{
    primitives::{Address, TxKind, U256},
    sol_types::{SolCall, SolEvent},
};
use serde_json::{Value, json};
use tetrad::internals::contracts::bindings::Token;

use super::{
    Effort,
    client::{Client, Request},
    contracts::{deploy_multicall, deploy_token, many},
    load::{Measured, repeat},
    peers, report,
    server::Server,
    wallet::{Wallet, address_at},
};

const BLOCKS: u64 = 1_000;
const LOGS: u64 = 10;
const TRANSFERS: u64 = 200;

/// Addresses, hashes and block numbers on a prepared chain.
struct Prepared {
    token: Address,
    holder: Address,
    first: String,
    last: String,
    transaction: Value,
}

pub fn run(effort: Effort) {
    let mut targets: Vec<_> = [Some(peers::tetrad()), peers::baseline(), peers::anvil()]
        .into_iter()
        .flatten()
        .map(|peer| {
            let server = Server::start(&peer.command);
            let prepared = prepare(&server);
            (peer.name, server, prepared)
        })
        .collect();
    let echo = Server::start(&peers::echo().command);

    let names: Vec<&str> = targets.iter().map(|(name, ..)| *name).collect();
    let columns: Vec<String> =
        names.iter().map(|name| format!("{name}, µs (per second)")).chain(["echo, µs".to_owned()]).collect();
    let columns: Vec<&str> =
        std::iter::once("Processor time of a read").chain(columns.iter().map(String::as_str)).collect();
    report::table("Reads", &columns);
    for (name, body) in bodies() {
        let mut measured: Vec<Vec<Measured>> = vec![Vec::new(); targets.len()];
        let mut limits = Vec::new();
        for _ in 0..effort.rounds {
            for (at, (_, server, prepared)) in targets.iter_mut().enumerate() {
                let request = Request::post(&body(prepared));
                check(name, server, &request);
                measured[at].push(repeat(server, &request, effort.time));
            }
            limits.push(repeat(&echo, &Request::rpc("eth_chainId", &json!([])), effort.time).cpu);
        }
        let cells = measured.into_iter().map(|runs| {
            let cpu = report::median(runs.iter().map(|run| run.cpu).collect());
            let rate = report::median(runs.iter().map(|run| run.per_second).collect());
            format!("{} ({})", report::figure(cpu), report::figure(rate))
        });
        let cells = std::iter::once(name.to_owned()).chain(cells).chain([report::figure(report::median(limits))]);
        report::row(&cells.collect::<Vec<_>>());
    }
    report::end();
}

/// Checks one response, so that a fast error never counts as a fast response.
fn check(name: &str, server: &Server, request: &Request) {
    let mut client = server.client();
    let answer: Value = serde_json::from_slice(client.exchange(request).unwrap()).unwrap();
    let count = |value: &Value| value.as_array().map_or(0, Vec::len) as u64;
    let right = match name {
        "batch of 100 eth_getBalance" => count(&answer) == 100,
        "eth_getLogs, 10 of 10,000" => count(&answer["result"]) == LOGS,
        "eth_getLogs, all 10,000" => count(&answer["result"]) == BLOCKS * LOGS,
        "block of 200, hashes" | "block of 200, full" => count(&answer["result"]["transactions"]) == TRANSFERS,
        _ => !answer["result"].is_null(),
    };
    assert!(right, "{name}: {}", &answer.to_string()[..answer.to_string().len().min(300)]);
}

type Body = fn(&Prepared) -> Value;

fn call(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// A query for a token's transfers between two blocks, all of them or those to one recipient.
pub fn transfers(token: Address, first: &str, last: &str, to: Option<Address>) -> Value {
    let topics = match to {
        Some(to) => json!([Token::Transfer::SIGNATURE_HASH, null, to.into_word()]),
        None => json!([Token::Transfer::SIGNATURE_HASH]),
    };
    json!({"fromBlock": first, "toBlock": last, "address": token, "topics": topics})
}

fn bodies() -> [(&'static str, Body); 10] {
    fn logs(on: &Prepared, to: Option<Address>) -> Value {
        call("eth_getLogs", json!([transfers(on.token, &on.first, &on.last, to)]))
    }
    [
        ("eth_chainId", |_| call("eth_chainId", json!([]))),
        ("eth_blockNumber", |_| call("eth_blockNumber", json!([]))),
        ("eth_getBalance", |on| call("eth_getBalance", json!([on.holder, "latest"]))),
        ("eth_call, balanceOf", |on| {
            let input = Token::balanceOfCall { account: on.holder }.abi_encode();
            call("eth_call", json!([{"to": on.token, "data": alloy::hex::encode_prefixed(input)}, "latest"]))
        }),
        ("eth_getTransactionReceipt", |on| call("eth_getTransactionReceipt", json!([on.transaction]))),
        ("block of 200, hashes", |_| call("eth_getBlockByNumber", json!(["latest", false]))),
        ("block of 200, full", |_| call("eth_getBlockByNumber", json!(["latest", true]))),
        ("eth_getLogs, 10 of 10,000", |on| logs(on, Some(recipient(505)))),
        ("eth_getLogs, all 10,000", |on| logs(on, None)),
        ("batch of 100 eth_getBalance", |on| {
            let balance =
                |id| json!({"jsonrpc": "2.0", "id": id, "method": "eth_getBalance", "params": [on.holder, "latest"]});
            (0..100).map(balance).collect()
        }),
    ]
}

/// The n-th of a thousand recipients, each of whom gets ten of the transfers.
pub fn recipient(n: u64) -> Address {
    address_at(n % 1_000)
}

fn prepare(server: &Server) -> Prepared {
    let mut client = server.client();
    let chain_id = client.number("eth_chainId", json!([]));
    let mut wallet = Wallet::development(0, chain_id);
    let multicall = deploy_multicall(&mut client, &mut wallet);
    let token = deploy_token(&mut client, &mut wallet, multicall);
    let (first, last) = mint(&mut client, &mut wallet, multicall, token);

    client.call("evm_setAutomine", json!([false]));
    let mut transaction = Value::Null;
    for n in 0..TRANSFERS {
        let raw = wallet.sign(TxKind::Call(address_at(n)), 1, Vec::new(), 21_000);
        transaction = client.call("eth_sendRawTransaction", json!([raw]));
    }
    client.call("evm_mine", json!([]));
    client.call("evm_setAutomine", json!([true]));
    client.receipt(&transaction);
    Prepared { token, holder: wallet.address(), first, last, transaction }
}

/// Mines a thousand blocks with ten logs each. Returns the numbers of the first and the last.
pub fn mint(client: &mut Client, wallet: &mut Wallet, multicall: Address, token: Address) -> (String, String) {
    let first = client.number("eth_blockNumber", json!([])) + 1;
    for block in 0..BLOCKS {
        let mint = |n: u64| Token::mintCall { to: recipient(block * LOGS + n), amount: U256::from(1) }.abi_encode();
        let (_, input) = many((0..LOGS).map(|n| (token, mint(n).into())), 0);
        client.send(&wallet.sign(TxKind::Call(multicall), 0, input, 2_000_000));
    }
    let last = client.number("eth_blockNumber", json!([]));
    (format!("{first:#x}"), format!("{last:#x}"))
}

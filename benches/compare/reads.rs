//! Read requests over 16 connections, on a chain with 1,000 blocks of ten logs and a block of 200
//! transactions.

use alloy::{
    primitives::{Address, TxKind},
    sol_types::{SolCall, SolEvent},
};
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::Token;

use super::{
    Effort,
    client::{Client, Request},
    contracts::{deploy_multicall, deploy_token, many, mint_call},
    load::{self, CONNECTIONS, in_turns},
    peers::{self, Peer},
    report,
    server::Server,
    wallet::{Wallet, address_at},
};

const BLOCKS: u64 = 1_000;
const LOGS: u64 = 10;
const TRANSFERS: u64 = 200;

/// Number of newest blocks whose states a node may hold in memory.
const RECENT: u64 = 200;

/// A node on which a chain was prepared.
pub(crate) struct Target {
    pub name: &'static str,
    pub server: Server,
    pub prepared: Prepared,
}

/// Addresses, hashes and block numbers on a prepared chain.
pub(crate) struct Prepared {
    token: Address,
    holder: Address,
    first: u64,
    last: u64,
    transaction: Value,
}

/// The requests of a workload, which are sent in turn.
pub(crate) type Requests = fn(&Prepared) -> Vec<Request>;

pub(crate) fn run(effort: Effort) {
    let targets = targets();
    let echo = Server::start(&peers::echo().command);

    let columns = [
        "Read",
        "Node",
        "µs each",
        "per second",
        "p50, µs",
        "p99, µs",
        "p99.9, µs",
    ];
    report::table(
        "Reads, processor time and latency over 16 connections",
        &columns,
    );

    for (name, requests) in reads() {
        let mut nodes: Vec<_> = targets
            .iter()
            .map(|target| (target.name, &target.server, requests(&target.prepared)))
            .collect();

        for (_, server, requests) in &nodes {
            check(name, server, &requests[0]);
            check(name, server, &requests[requests.len() - 1]);
        }

        nodes.push(("echo", &echo, vec![Request::rpc("eth_chainId", &json!([]))]));
        let names: Vec<&str> = nodes.iter().map(|(name, ..)| *name).collect();
        let runs = in_turns(effort.rounds, &mut nodes, |(_, server, requests)| {
            let measured = load::run(server, requests, CONNECTIONS, None, effort.time);
            let [p50, p99, p999] = measured.latency;
            [measured.cpu, measured.per_second, p50, p99, p999]
        });

        report::rows(&[name], &names, &runs);
    }

    report::end();
}

/// Starts a node and prepares its chain.
fn target(peer: Peer) -> Target {
    let server = Server::start(&peer.command);
    let prepared = prepare(&server);
    Target {
        name: peer.name,
        server,
        prepared,
    }
}

/// Starts the nodes and prepares their chains.
pub(crate) fn targets() -> Vec<Target> {
    let peers = peers::builds("0").into_iter().chain(peers::anvil());
    peers.map(target).collect()
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
        "block of 200, hashes" | "block of 200, full" => {
            count(&answer["result"]["transactions"]) == TRANSFERS
        }
        _ => !answer["result"].is_null(),
    };
    assert!(
        right,
        "{name}: {}",
        &answer.to_string()[..answer.to_string().len().min(300)]
    );
}

/// A query for a token's transfers between two blocks, all of them or those to one recipient.
pub(crate) fn transfers(token: Address, first: &str, last: &str, to: Option<Address>) -> Value {
    let topics = match to {
        Some(to) => json!([Token::Transfer::SIGNATURE_HASH, null, to.into_word()]),
        None => json!([Token::Transfer::SIGNATURE_HASH]),
    };
    json!({"fromBlock": first, "toBlock": last, "address": token, "topics": topics})
}

fn reads() -> [(&'static str, Requests); 11] {
    [
        ("eth_chainId", |_| {
            vec![Request::rpc("eth_chainId", &json!([]))]
        }),
        ("eth_blockNumber", |_| {
            vec![Request::rpc("eth_blockNumber", &json!([]))]
        }),
        ("eth_getBalance", |on| vec![on.balance("latest")]),
        ("eth_getBalance, an old block", |on| {
            // Downwards, so that no request can start from the state that was built for another
            // one.
            (on.first..on.last - RECENT)
                .rev()
                .map(|number| on.balance(&format!("{number:#x}")))
                .collect()
        }),
        ("eth_call, balanceOf", |on| vec![on.token_balance()]),
        ("eth_getTransactionReceipt", |on| vec![on.receipt()]),
        ("block of 200, hashes", |on| vec![on.block(false)]),
        ("block of 200, full", |on| vec![on.block(true)]),
        ("eth_getLogs, 10 of 10,000", |on| {
            vec![on.logs(Some(recipient(505)))]
        }),
        ("eth_getLogs, all 10,000", |on| vec![on.logs(None)]),
        ("batch of 100 eth_getBalance", |on| {
            let balance = |id| json!({"jsonrpc": "2.0", "id": id, "method": "eth_getBalance", "params": [on.holder, "latest"]});
            vec![Request::post(&(0..100).map(balance).collect())]
        }),
    ]
}

impl Prepared {
    pub(crate) fn balance(&self, block: &str) -> Request {
        Request::rpc("eth_getBalance", &json!([self.holder, block]))
    }

    pub(crate) fn token_balance(&self) -> Request {
        let input = Token::balanceOfCall {
            account: self.holder,
        }
        .abi_encode();
        Request::rpc(
            "eth_call",
            &json!([{"to": self.token, "data": alloy::hex::encode_prefixed(input)}, "latest"]),
        )
    }

    pub(crate) fn receipt(&self) -> Request {
        Request::rpc("eth_getTransactionReceipt", &json!([self.transaction]))
    }

    /// The newest block, with its transactions or their hashes.
    pub(crate) fn block(&self, full: bool) -> Request {
        Request::rpc("eth_getBlockByNumber", &json!(["latest", full]))
    }

    fn logs(&self, to: Option<Address>) -> Request {
        let first = format!("{:#x}", self.first);
        let last = format!("{:#x}", self.last);
        Request::rpc(
            "eth_getLogs",
            &json!([transfers(self.token, &first, &last, to)]),
        )
    }
}

/// The n-th of a thousand recipients, each of whom gets ten of the transfers.
pub(crate) fn recipient(n: u64) -> Address {
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
    Prepared {
        token,
        holder: wallet.address(),
        first,
        last,
        transaction,
    }
}

/// Mines a thousand blocks with ten logs each. Returns the numbers of the first and the last.
pub(crate) fn mint(
    client: &mut Client,
    wallet: &mut Wallet,
    multicall: Address,
    token: Address,
) -> (u64, u64) {
    let first = client.number("eth_blockNumber", json!([])) + 1;
    for block in 0..BLOCKS {
        let calls = (0..LOGS).map(|n| (token, mint_call(recipient(block * LOGS + n), 1)));
        let (_, input) = many(calls, 0);
        client.send(&wallet.sign(TxKind::Call(multicall), 0, input, 2_000_000));
    }
    (first, client.number("eth_blockNumber", json!([])))
}

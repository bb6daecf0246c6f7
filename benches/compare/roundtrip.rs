//! Latency of sequential transactions, from sending one to receiving its receipt.

use std::time::Instant;

use alloy::primitives::TxKind;
use serde_json::{Value, json};

use super::{
    Effort,
    client::{Client, Request},
    load::{expect_accepted, in_turns},
    peers::{self, Peer},
    report,
    server::Server,
    wallet::{Wallet, address_at},
};

const COUNT: u64 = 1_000;

pub(crate) fn run(effort: Effort) {
    report::table(
        "Send → receipt, one after another",
        &["Node", "p50, µs", "p99, µs"],
    );
    let mut peers: Vec<Peer> = peers::builds("0")
        .into_iter()
        .chain(peers::anvil())
        .collect();
    let names: Vec<&str> = peers.iter().map(|peer| peer.name).collect();
    let runs = in_turns(effort.rounds, &mut peers, |peer| {
        let server = Server::start(&peer.command);
        let mut wallet = Wallet::development(1, server.client().number("eth_chainId", json!([])));
        let mut times = measure(&server, &mut wallet, COUNT);
        [0.5, 0.99].map(|share| report::quantile(&mut times, share))
    });
    report::rows(&[], &names, &runs);
    report::end();
}

/// Time from sending a transaction to receiving its receipt, in microseconds.
fn time_to_receipt(client: &mut Client, send: &Request, receipt: &Request) -> f64 {
    let began = Instant::now();
    expect_accepted(client.exchange(send).unwrap());
    loop {
        let answer: Value = serde_json::from_slice(client.exchange(receipt).unwrap()).unwrap();
        if !answer["result"].is_null() {
            return began.elapsed().as_secs_f64() * 1e6;
        }
    }
}

/// Latency of each of `count` transactions in microseconds.
pub(crate) fn measure(server: &Server, wallet: &mut Wallet, count: u64) -> Vec<f64> {
    let mut client = server.client();
    let requests: Vec<_> = (0..count)
        .map(|n| {
            let raw = wallet.sign(TxKind::Call(address_at(n % 100)), 1, Vec::new(), 21_000);
            let hash = alloy::primitives::keccak256(alloy::hex::decode(&raw).unwrap());
            let receipt = Request::rpc("eth_getTransactionReceipt", &json!([hash]));
            (
                Request::rpc("eth_sendRawTransaction", &json!([raw])),
                receipt,
            )
        })
        .collect();

    requests
        .iter()
        .map(|(send, receipt)| time_to_receipt(&mut client, send, receipt))
        .collect()
}

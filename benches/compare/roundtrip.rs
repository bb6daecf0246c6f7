//! Latency of sequential transactions, from sending one to receiving its receipt.

use std::time::Instant;

use alloy::primitives::TxKind;
use serde_json::{Value, json};

use super::{
    Effort,
    client::Request,
    load::expect_accepted,
    peers, report,
    server::Server,
    wallet::{Wallet, address_at},
};

const COUNT: u64 = 1_000;

pub fn run(effort: Effort) {
    report::table("Send → receipt, one after another", &["Node", "p50, µs", "p99, µs"]);
    for peer in [Some(peers::tetrad()), peers::baseline(), peers::anvil()].into_iter().flatten() {
        let (mut middle, mut high) = (Vec::new(), Vec::new());
        for _ in 0..effort.rounds {
            let server = Server::start(&peer.command);
            let mut wallet = Wallet::development(1, server.client().number("eth_chainId", json!([])));
            let mut times = measure(&server, &mut wallet, COUNT);
            middle.push(report::quantile(&mut times, 0.5));
            high.push(report::quantile(&mut times, 0.99));
        }
        let cells = [middle, high].map(|values| report::figure(report::median(values)));
        report::row(&[peer.name.to_owned(), cells[0].clone(), cells[1].clone()]);
    }
    report::end();
}

/// Latency of each of `count` transactions in microseconds.
pub fn measure(server: &Server, wallet: &mut Wallet, count: u64) -> Vec<f64> {
    let mut client = server.client();
    let requests: Vec<_> = (0..count)
        .map(|n| {
            let raw = wallet.sign(TxKind::Call(address_at(n % 100)), 1, Vec::new(), 21_000);
            let hash = alloy::primitives::keccak256(alloy::hex::decode(&raw).unwrap());
            let receipt = Request::rpc("eth_getTransactionReceipt", &json!([hash]));
            (Request::rpc("eth_sendRawTransaction", &json!([raw])), receipt)
        })
        .collect();
    let one = |(send, receipt): &(Request, Request)| {
        let began = Instant::now();
        expect_accepted(client.exchange(send).unwrap());
        loop {
            let answer: Value = serde_json::from_slice(client.exchange(receipt).unwrap()).unwrap();
            if !answer["result"].is_null() {
                return began.elapsed().as_secs_f64() * 1e6;
            }
        }
    };
    requests.iter().map(one).collect()
}

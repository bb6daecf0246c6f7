//! What a million accounts, or a million storage slots of one contract, do to the speed of everything else.

use std::time::Instant;

use alloy::{
    primitives::{Address, Bytes, TxKind, U256},
    sol_types::SolCall,
};
use serde_json::json;

use super::{
    Effort,
    client::{Client, Request},
    contracts::{Token, deploy_multicall, deploy_token, many},
    load::repeat,
    peers, report,
    server::Server,
    transfers::{Kind, submit},
    wallet::{Wallet, somebody},
};

/// New accounts or slots of one transaction.
const STEP: u64 = 300;

pub fn run(effort: Effort) {
    let columns = ["Size", "transfers per second", "empty block, ms", "eth_getBalance, µs", "MB", "bytes per entry"];
    for slots in [false, true] {
        let server = Server::start(&peers::tetrad().command);
        let mut client = server.client();
        let chain_id = client.number("eth_chainId", json!([]));
        let mut funder = Wallet::development(0, chain_id);
        let multicall = deploy_multicall(&mut client, &mut funder);
        let token = deploy_token(&mut client, &mut funder, multicall);
        let mut senders = vec![Wallet::development(1, chain_id)];
        report::table(if slots { "Growth: slots of one contract" } else { "Growth: accounts" }, &columns);
        let (mut size, idle) = (0, server.memory());
        for target in [0, effort.accounts / 10, effort.accounts] {
            grow(&mut client, &mut funder, multicall, slots.then_some(token), size..target);
            size = target;
            let memory = server.memory();
            let transfers = submit(&server, &mut client, &mut senders, Kind::Native, 5_000, false);
            let empty = Instant::now();
            for _ in 0..20 {
                client.call("evm_mine", json!([]));
            }
            let empty = empty.elapsed().as_secs_f64() * 50.0;
            let balance = Request::rpc("eth_getBalance", &json!([somebody(size / 2), "latest"]));
            let read = repeat(&server, &balance, effort.time);
            let per_entry = if size == 0 { f64::NAN } else { (memory - idle) * 1_048_576.0 / size as f64 };
            let figures = [transfers.per_second, empty, read.cpu, memory, per_entry].map(report::figure);
            report::row(&[vec![size.to_string()], figures.to_vec()].concat());
        }
        report::end();
    }
}

/// Gives a wei, or a token, to everybody in the range.
fn grow(
    client: &mut Client,
    funder: &mut Wallet,
    multicall: Address,
    token: Option<Address>,
    range: std::ops::Range<u64>,
) {
    let mut from = range.start;
    while from < range.end {
        let to = (from + STEP).min(range.end);
        let (value, input) = match token {
            None => many((from..to).map(|n| (somebody(n), Bytes::new())), 1),
            Some(token) => {
                let mint = |n: u64| Token::mintCall { to: somebody(n), amount: U256::from(1) }.abi_encode();
                many((from..to).map(|n| (token, mint(n).into())), 0)
            }
        };
        let raw = funder.sign(TxKind::Call(multicall), value, input, 16_000_000);
        let hash = client.call("eth_sendRawTransaction", json!([raw]));
        client.receipt(&hash);
        from = to;
    }
}

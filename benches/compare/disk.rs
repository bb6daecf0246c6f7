//! The cost of durability for a chain on disk, and the effect of a million blocks.

use std::time::Instant;

use serde_json::json;
use tempfile::TempDir;

use super::{
    Effort,
    client::Request,
    contracts::{deploy_multicall, deploy_token},
    load::{Measured, repeat},
    peers::{self, Peer},
    reads::{mint, recipient, transfers},
    report,
    server::Server,
    transfers::{Kind, Work, blast, submit},
    wallet::Wallet,
};

/// Number of blocks per mining request.
const STEP: u64 = 10_000;

/// tetrad with a temporary data directory, which is deleted when the second value is dropped.
fn on_disk(durability: &str) -> (Peer, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let mut peer = peers::tetrad();
    let place = directory.path().join("chain").to_string_lossy().into_owned();
    peer.command.extend(["--data-dir".to_owned(), place, "--durability".to_owned(), durability.to_owned()]);
    (peer, directory)
}

pub fn run(effort: Effort) {
    report::table(
        "Transfers by durability",
        &["20,000 transfers", "per second", "of in memory", "µs each", "MB after"],
    );
    for tokens in [false, true] {
        let modes = [None, Some("os"), Some("fsync")];
        let mut runs: Vec<Vec<(Measured, f64)>> = vec![Vec::new(); modes.len()];
        for _ in 0..effort.rounds {
            for (at, mode) in modes.iter().enumerate() {
                let (peer, _directory) = match mode {
                    None => (peers::tetrad(), None),
                    Some(durability) => {
                        let (peer, directory) = on_disk(durability);
                        (peer, Some(directory))
                    }
                };
                let server = Server::start(&peer.command);
                let measured = blast(&server, &peer, tokens);
                runs[at].push((measured, server.memory()));
            }
        }
        // Results are compared within a round, so that other load on the machine affects both sides.
        let memory: Vec<f64> = runs[0].iter().map(|(measured, _)| measured.per_second).collect();
        for (mode, runs) in modes.iter().zip(&runs) {
            let shares = runs.iter().zip(&memory).map(|((measured, _), memory)| 100.0 * measured.per_second / memory);
            let median =
                |of: fn(&(Measured, f64)) -> f64| report::figure(report::median(runs.iter().map(of).collect()));
            report::row(&[
                format!("{}, {}", if tokens { "ERC-20" } else { "native" }, mode.unwrap_or("in memory")),
                median(|run| run.0.per_second),
                format!("{} %", report::figure(report::median(shares.collect()))),
                median(|run| run.0.cpu),
                median(|run| run.1),
            ]);
        }
    }
    report::end();
}

pub fn blocks(effort: Effort) {
    let columns = [
        "Blocks",
        "transfers per second",
        "empty block, ms",
        "10 logs of the first thousand blocks, µs",
        "of all blocks, µs",
        "an old balance, µs",
        "MB",
    ];
    let (peer, _directory) = on_disk("os");
    let server = Server::start(&peer.command);
    let mut client = server.client();
    let chain_id = client.number("eth_chainId", json!([]));
    let mut funder = Wallet::development(0, chain_id);
    let multicall = deploy_multicall(&mut client, &mut funder);
    let token = deploy_token(&mut client, &mut funder, multicall);
    let (first, last) = mint(&mut client, &mut funder, multicall, token);
    let mut senders = vec![Wallet::development(1, chain_id)];
    let work = Work { kind: Kind::Native, count: 5_000, stride: 1, manual: false };
    report::table("Growth: blocks on disk", &columns);
    for target in [0, effort.blocks / 100, effort.blocks / 10, effort.blocks] {
        let mut number = client.number("eth_blockNumber", json!([]));
        while number < target {
            let count = STEP.min(target - number);
            client.call("anvil_mine", json!([format!("{count:#x}"), "0x1"]));
            number += count;
        }
        let transfers_made = submit(&server, &mut client, &mut senders, work);
        let empty = Instant::now();
        for _ in 0..20 {
            client.call("evm_mine", json!([]));
        }
        let empty = empty.elapsed().as_secs_f64() * 50.0;
        let newest = format!("{:#x}", client.number("eth_blockNumber", json!([])));
        let logs = |last: &str| {
            let query = Request::rpc("eth_getLogs", &json!([transfers(token, &first, last, Some(recipient(505)))]));
            repeat(&server, &query, effort.time).cpu
        };
        let (within, over_all) = (logs(&last), logs(&newest));
        let balance = Request::rpc("eth_getBalance", &json!([recipient(505), last]));
        let old = repeat(&server, &balance, effort.time).cpu;
        let figures = [transfers_made.per_second, empty, within, over_all, old, server.memory()].map(report::figure);
        report::row(&[vec![number.to_string()], figures.to_vec()].concat());
    }
    report::end();
}

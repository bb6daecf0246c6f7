//! The cost of durability for a chain on disk, and the effect of a million blocks.

use std::time::{Duration, Instant};

use alloy::primitives::Address;
use serde_json::json;
use tempfile::TempDir;

use super::{
    Effort,
    client::Request,
    contracts::{deploy_multicall, deploy_token},
    load::{in_turns, repeat},
    peers::{self, Peer},
    reads::{mint, recipient, transfers},
    report,
    server::Server,
    transfers::{Kind, Work, blast, submit},
    wallet::Wallet,
};

/// Number of blocks per mining request.
const STEP: u64 = 10_000;

/// The node with a temporary data directory, which is deleted when the second value is dropped.
fn on_disk(peer: &Peer, durability: &str) -> (Peer, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let mut peer = peer.clone();
    let place = directory
        .path()
        .join("chain")
        .to_string_lossy()
        .into_owned();
    peer.command.extend([
        "--data-dir".to_owned(),
        place,
        "--durability".to_owned(),
        durability.to_owned(),
    ]);
    (peer, directory)
}

pub(crate) fn run(effort: Effort) {
    let columns = [
        "20,000 transfers",
        "Durability",
        "Node",
        "per second",
        "% of in memory",
        "µs each",
        "MB after",
    ];
    report::table("Transfers by durability", &columns);

    let builds = peers::builds("0");
    let names: Vec<&str> = builds.iter().map(|peer| peer.name).collect();
    let modes = [None, Some("os"), Some("fsync")];

    for tokens in [false, true] {
        let mut nodes: Vec<_> = modes
            .iter()
            .flat_map(|mode| builds.iter().map(move |peer| (*mode, peer)))
            .collect();
        let runs = in_turns(effort.rounds, &mut nodes, |(mode, peer)| {
            let (peer, _directory) = match mode {
                None => (peer.clone(), None),
                Some(durability) => {
                    let (peer, directory) = on_disk(peer, durability);
                    (peer, Some(directory))
                }
            };
            let server = Server::start(&peer.command);
            let measured = blast(&server, &peer, tokens);
            [measured.per_second, measured.cpu, server.memory()]
        });

        let in_memory = &runs[..builds.len()];
        let what = if tokens { "ERC-20" } else { "native" };
        for (mode, runs) in modes.iter().zip(runs.chunks(builds.len())) {
            let figures: Vec<Vec<[f64; 4]>> = runs
                .iter()
                .zip(in_memory)
                .map(|(runs, baselines)| {
                    runs.iter()
                        .zip(baselines)
                        .map(|([per_second, cpu, memory], [in_memory, ..])| {
                            [*per_second, 100.0 * per_second / in_memory, *cpu, *memory]
                        })
                        .collect()
                })
                .collect();
            report::rows(&[what, mode.unwrap_or("in memory")], &names, &figures);
        }
    }

    report::end();
}

/// Processor time of a search for ten logs in the blocks from the first to the last.
fn search(server: &Server, token: Address, [first, last]: [&str; 2], time: Duration) -> f64 {
    let query = Request::rpc(
        "eth_getLogs",
        &json!([transfers(token, first, last, Some(recipient(505)))]),
    );
    repeat(server, &query, time).cpu
}

pub(crate) fn blocks(effort: Effort) {
    let columns = [
        "Blocks",
        "transfers per second",
        "empty block, ms",
        "10 logs of the first thousand blocks, µs",
        "of all blocks, µs",
        "an old balance, µs",
        "MB",
    ];

    let (peer, _directory) = on_disk(&peers::tetrad(), "os");
    let server = Server::start(&peer.command);
    let mut client = server.client();
    let chain_id = client.number("eth_chainId", json!([]));
    let mut funder = Wallet::development(0, chain_id);

    let multicall = deploy_multicall(&mut client, &mut funder);
    let token = deploy_token(&mut client, &mut funder, multicall);
    let (first, last) = mint(&mut client, &mut funder, multicall, token);
    let first = format!("{first:#x}");
    let last = format!("{last:#x}");

    let mut senders = vec![Wallet::development(1, chain_id)];
    let work = Work {
        kind: Kind::Native,
        count: 5_000,
        stride: 1,
        manual: false,
    };

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

        let within = search(&server, token, [&first, &last], effort.time);
        let over_all = search(&server, token, [&first, &newest], effort.time);

        let balance = Request::rpc("eth_getBalance", &json!([recipient(505), last]));
        let old = repeat(&server, &balance, effort.time).cpu;

        let figures = [
            transfers_made.per_second,
            empty,
            within,
            over_all,
            old,
            server.memory(),
        ]
        .map(report::figure);
        report::row(&[vec![number.to_string()], figures.to_vec()].concat());
    }
    report::end();
}

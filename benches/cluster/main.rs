//! Measures a cluster of three nodes over three NATS servers beside a single node that waits for
//! the device, in one run.
//!
//! `cargo bench --bench cluster -- [transfers] [roundtrip] [reads] [failover] [joining] [--seconds
//! N] [--rounds N] [--transactions N] [--kills N] [--accounts N] [--blocks N] [--missed N]
//! [--binary BINARY]`. Without names all parts run. It needs nats-server.
//!
//! All processes share the machine: three nodes, three NATS servers and the clients. Nodes
//! alternate in each round, and the tables show medians, with the smallest and the largest value in
//! parentheses.

#![allow(clippy::unwrap_used, reason = "a measurement that fails has no result")]

mod failover;
mod fixture;
mod joining;
mod nats;
mod reads;
mod roundtrip;
/// The clients and the workloads of the comparison with other nodes.
#[path = "../compare"]
#[allow(dead_code, reason = "the comparison uses the rest")]
mod shared {
    pub(crate) use super::Effort;

    pub(crate) mod client;
    pub(crate) mod contracts;
    pub(crate) mod load;
    pub(crate) mod peers;
    pub(crate) mod report;
    pub(crate) mod roundtrip;
    pub(crate) mod server;
    pub(crate) mod transfers;
    pub(crate) mod wallet;
}
mod transfers;

use std::time::Duration;

use shared::{peers, report};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Duration and extent of the measurements.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Duration of one kind of read on one node in one round.
    time: Duration,
    rounds: usize,
    /// Number of transfers per node and round.
    transactions: u64,
    /// Number of leaders that are killed.
    kills: usize,
    /// Number of accounts of the chain that nodes join.
    accounts: u64,
    /// Number of blocks of this chain.
    blocks: u64,
    /// Number of transactions that a node misses while it is away.
    missed: u64,
}

type Part = (&'static str, fn(Effort));

const PARTS: [Part; 5] = [
    ("transfers", transfers::run),
    ("roundtrip", roundtrip::run),
    ("reads", reads::run),
    ("failover", failover::run),
    ("joining", joining::run),
];

fn main() {
    let mut effort = Effort {
        time: Duration::from_secs(2),
        rounds: 3,
        transactions: 20_000,
        kills: 10,
        accounts: 100_000,
        blocks: 10_000,
        missed: 50_000,
    };

    let mut names = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().expect("a value after the option");
        let number = |text: String| text.parse::<u64>().expect("a number after the option");
        match argument.as_str() {
            "--bench" => {}
            "--binary" => peers::BINARY.set(value()).expect("one binary"),
            "--seconds" => effort.time = Duration::from_secs(number(value())),
            "--rounds" => effort.rounds = number(value()) as usize,
            "--transactions" => effort.transactions = number(value()),
            "--kills" => effort.kills = number(value()) as usize,
            "--accounts" => effort.accounts = number(value()),
            "--blocks" => effort.blocks = number(value()),
            "--missed" => effort.missed = number(value()),
            name if PARTS.iter().any(|(known, _)| *known == name) => names.push(argument),
            other => panic!("unknown argument {other}"),
        }
    }

    report::machine();
    for (name, run) in PARTS {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            run(effort);
        }
    }
}

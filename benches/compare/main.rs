//! Compares tetrad with other nodes, and with a bare HTTP server as the upper limit, in one run.
//!
//! `cargo bench --bench compare -- [reads] [latency] [transfers] [full_blocks] [roundtrip] [start]
//! [services] [disk] [growth] [blocks] [--against BINARY] [--binary BINARY] [--seconds N] [--rounds
//! N] [--accounts N] [--blocks N]`. Without names all workloads except `growth` and `blocks` run.
//! anvil is included if the variable `ANVIL` is the path of its binary, or after
//! `npm install --prefix benches/peers`.
//!
//! With `--against` another build of tetrad runs in turns with it, in all workloads but `growth`
//! and `blocks`, and the tables show the ratios between the two. `--binary` measures this binary of
//! tetrad instead of the one that cargo built.
//!
//! The main figure is the server's CPU time per operation, from `/proc`, because other load on the
//! machine affects it least. Nodes alternate in each round, and the tables show medians, with the
//! smallest and the largest round in parentheses. Ratios are those of figures of the same round.

#![allow(clippy::unwrap_used, reason = "a measurement that fails has no result")]

mod client;
mod contracts;
mod disk;
mod echo;
mod full_blocks;
mod growth;
mod latency;
mod load;
mod peers;
mod reads;
mod report;
mod roundtrip;
mod server;
mod services;
mod start;
mod transfers;
mod wallet;

use std::time::Duration;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Duration and extent of the measurements.
#[derive(Clone, Copy)]
struct Effort {
    /// Duration of one workload on one node in one round.
    time: Duration,
    rounds: usize,
    /// Number of accounts that `growth` reaches.
    accounts: u64,
    /// Number of blocks that `blocks` reaches.
    blocks: u64,
}

type Workload = (&'static str, fn(Effort));

const WORKLOADS: [Workload; 10] = [
    ("reads", reads::run),
    ("latency", latency::run),
    ("transfers", transfers::run),
    ("full_blocks", full_blocks::run),
    ("roundtrip", roundtrip::run),
    ("start", start::run),
    ("services", services::run),
    ("disk", disk::run),
    ("growth", growth::run),
    ("blocks", disk::blocks),
];

fn main() {
    let mut effort = Effort {
        time: Duration::from_secs(2),
        rounds: 3,
        accounts: 1_000_000,
        blocks: 1_000_000,
    };

    let mut names = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().expect("a value after the option");
        let number = |text: String| text.parse::<u64>().expect("a number after the option");
        match argument.as_str() {
            "--bench" => {}
            "--echo" => return echo::serve(number(value()) as u16),
            "--against" => peers::AGAINST.set(value()).expect("one other build"),
            "--binary" => peers::BINARY.set(value()).expect("one binary"),
            "--seconds" => effort.time = Duration::from_secs(number(value())),
            "--rounds" => effort.rounds = number(value()) as usize,
            "--accounts" => effort.accounts = number(value()),
            "--blocks" => effort.blocks = number(value()),
            name if WORKLOADS.iter().any(|(known, _)| *known == name) => names.push(argument),
            other => panic!("unknown argument {other}"),
        }
    }

    report::machine();
    for (name, run) in WORKLOADS {
        let is_long = matches!(name, "growth" | "blocks");
        let wanted = if names.is_empty() {
            !is_long
        } else {
            names.iter().any(|wanted| wanted == name)
        };
        if wanted {
            run(effort);
        }
    }
}

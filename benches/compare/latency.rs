//! Latency of reads at full speed, and at constant arrival rates relative to the highest rate of
//! tetrad.
//!
//! All nodes are sent the same requests at the same rates by the same clients, so that the time
//! that these take is the same.

use super::{
    Effort,
    load::{self, in_turns},
    peers,
    reads::{Requests, targets},
    report,
    server::Server,
};

const CONNECTIONS: [usize; 2] = [16, 64];

/// The arrival rates, as shares of tetrad's rate at full speed. That comes first, since the others
/// follow from it.
const LOADS: [(&str, Option<f64>); 3] = [
    ("full speed", None),
    ("50 %", Some(0.5)),
    ("80 %", Some(0.8)),
];

/// Requests that are sent in turn.
const MIXES: [(&str, Requests); 2] = [
    ("eth_getBalance", |on| vec![on.balance("latest")]),
    (
        "of ten reads 4 balances, 3 calls of balanceOf, 2 receipts and a block of 200 hashes",
        |on| {
            vec![
                on.balance("latest"),
                on.token_balance(),
                on.receipt(),
                on.balance("latest"),
                on.token_balance(),
                on.balance("latest"),
                on.block(false),
                on.token_balance(),
                on.receipt(),
                on.balance("latest"),
            ]
        },
    ),
];

pub(crate) fn run(effort: Effort) {
    let targets = targets();
    let echo = Server::start(&peers::echo().command);

    let columns = [
        "Connections",
        "Load",
        "Node",
        "per second",
        "µs each",
        "p50, µs",
        "p99, µs",
        "p99.9, µs",
        "p99, % of the echo's",
    ];

    for (mix, requests) in MIXES {
        report::table(&format!("Latency: {mix}"), &columns);

        let mut nodes: Vec<_> = targets
            .iter()
            .map(|target| (target.name, &target.server, requests(&target.prepared)))
            .collect();
        nodes.push(("echo", &echo, requests(&targets[0].prepared)));

        for connections in CONNECTIONS {
            let mut highest = vec![f64::INFINITY; nodes.len()];
            for (name, share) in LOADS {
                let rate = share.map(|share| share * highest[0]);

                // Others that cannot keep up would only measure how long the queue gets.
                let able = nodes
                    .iter()
                    .zip(&highest)
                    .filter(|(_, highest)| rate.is_none_or(|rate| rate < **highest));
                let mut able: Vec<_> = able.map(|(node, _)| node).collect();

                let runs = in_turns(effort.rounds, &mut able, |(_, server, requests)| {
                    load::run(server, requests, connections, rate, effort.time)
                });
                if rate.is_none() {
                    highest = runs
                        .iter()
                        .map(|runs| report::median(runs.iter().map(|run| run.per_second).collect()))
                        .collect();
                }

                let echo = &runs[runs.len() - 1];
                let figures = runs.iter().map(|runs| {
                    let figures = runs.iter().zip(echo).map(|(run, echo)| {
                        let [p50, p99, p999] = run.latency;
                        [
                            run.per_second,
                            run.cpu,
                            p50,
                            p99,
                            p999,
                            100.0 * p99 / echo.latency[1],
                        ]
                    });
                    figures.collect()
                });

                let names: Vec<&str> = able.iter().map(|(name, ..)| *name).collect();
                report::rows(
                    &[&connections.to_string(), name],
                    &names,
                    &figures.collect::<Vec<_>>(),
                );
            }
        }
        report::end();
    }
}

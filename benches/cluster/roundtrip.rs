//! Latency of sequential transactions, from sending one to receiving its receipt.

use super::{
    Effort,
    fixture::{Cluster, NODES, Prepared, Single},
    shared::{report, roundtrip::measure, server::Server, wallet::Wallet},
};

const COUNT: u64 = 1_000;

pub(crate) fn run(effort: Effort) {
    let single = Single::start();
    let mut alone = Prepared::on(&single.server);
    let cluster = Cluster::start();
    let mut prepared = Prepared::on(cluster.node(cluster.leader()));

    let mut runs: [Vec<(f64, f64)>; 3] = Default::default();
    for _ in 0..effort.rounds {
        let leader = cluster.leader();
        runs[0].push(percentiles(&single.server, &mut alone.single));
        runs[1].push(percentiles(cluster.node(leader), &mut prepared.single));
        runs[2].push(percentiles(
            cluster.node((leader + 1) % NODES),
            &mut prepared.single,
        ));
    }

    report::table(
        "Send → receipt, one after another",
        &["Node", "p50, µs", "p99, µs"],
    );
    for (name, runs) in [
        "single node, fsync",
        "through the leader",
        "through a follower",
    ]
    .into_iter()
    .zip(runs)
    {
        let (middle, high): (Vec<f64>, Vec<f64>) = runs.into_iter().unzip();
        report::row(&[
            name.to_owned(),
            report::spread(&middle),
            report::spread(&high),
        ]);
    }

    report::end();
}

fn percentiles(server: &Server, wallet: &mut Wallet) -> (f64, f64) {
    let mut times = measure(server, wallet, COUNT);
    (
        report::quantile(&mut times, 0.5),
        report::quantile(&mut times, 0.99),
    )
}

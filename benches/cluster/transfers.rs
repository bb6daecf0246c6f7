//! Signed native transfers from many senders: throughput, and the CPU time of each role.

use std::time::Duration;

use super::{
    Effort,
    fixture::{Cluster, NODES, Prepared, Single},
    shared::{
        load::Measured,
        report,
        server::Server,
        transfers::{Kind, Work, submit},
        wallet::Wallet,
    },
};

/// The results of one round in a cluster. CPU times are in microseconds per transfer.
struct Run {
    per_second: f64,
    leader: f64,
    /// Followers that only follow, on average.
    follower: f64,
    /// The follower that clients send to, if it is one.
    forwarding: f64,
    nats: f64,
    /// Transfers in a block, on average.
    per_block: f64,
}

pub(crate) fn run(effort: Effort) {
    let single = Single::start();
    let mut alone = Prepared::on(&single.server);
    let cluster = Cluster::start();
    let mut prepared = Prepared::on(cluster.node(cluster.leader()));

    let mut baseline = Vec::new();
    let mut through_leader = Vec::new();
    let mut through_follower = Vec::new();
    for _ in 0..effort.rounds {
        baseline.push(blast(&single.server, &mut alone.senders, effort));
        let leader = cluster.leader();
        through_leader.push(through(&cluster, leader, &mut prepared.senders, effort));
        through_follower.push(through(
            &cluster,
            (leader + 1) % NODES,
            &mut prepared.senders,
            effort,
        ));
    }

    let columns = [
        "Transfers",
        "per second",
        "of the single node's",
        "single node or leader, µs each",
        "follower, µs each",
        "of the leader's",
        "forwarding follower, µs each",
        "three NATS servers, µs each",
        "per block",
    ];
    report::table(
        &format!("{} transfers, submitted one by one", effort.transactions),
        &columns,
    );

    let none = || report::figure(f64::NAN);
    let rates: Vec<f64> = baseline.iter().map(|run| run.per_second).collect();
    let cpu = report::spread(&baseline.iter().map(|run| run.cpu).collect::<Vec<_>>());
    let rate = report::spread(&rates);
    report::row(&[
        "single node, fsync".to_owned(),
        rate,
        "100 %".to_owned(),
        cpu,
        none(),
        none(),
        none(),
        none(),
        none(),
    ]);

    for (name, runs) in [
        ("through the leader", through_leader),
        ("through a follower", through_follower),
    ] {
        let of = |value: fn(&Run) -> f64| -> Vec<f64> { runs.iter().map(value).collect() };
        report::row(&[
            name.to_owned(),
            report::spread(&of(|run| run.per_second)),
            report::ratio(&of(|run| run.per_second), &rates),
            report::spread(&of(|run| run.leader)),
            report::spread(&of(|run| run.follower)),
            report::ratio(&of(|run| run.follower), &of(|run| run.leader)),
            report::spread(&of(|run| run.forwarding)),
            report::spread(&of(|run| run.nats)),
            report::spread(&of(|run| run.per_block)),
        ]);
    }

    report::end();
}

fn blast(server: &Server, senders: &mut [Wallet], effort: Effort) -> Measured {
    let work = Work {
        kind: Kind::Native,
        count: effort.transactions,
        stride: 1,
        manual: false,
    };
    submit(server, &mut server.client(), senders, work)
}

/// Sends all transfers to one node.
fn through(cluster: &Cluster, index: usize, senders: &mut [Wallet], effort: Effort) -> Run {
    let leader = cluster.leader();
    let height = cluster.settle();
    let (before, nats_before) = cluster.cpu();
    let measured = blast(cluster.node(index), senders, effort);
    let blocks = cluster.settle() - height;
    let (after, nats_after) = cluster.cpu();
    assert_eq!(cluster.leader(), leader, "the leader changed");
    let each = |time: Duration| time.as_secs_f64() * 1e6 / effort.transactions as f64;
    let node = |index: usize| each(after[index] - before[index]);
    let followers: Vec<usize> = (0..NODES)
        .filter(|other| *other != leader && *other != index)
        .collect();
    Run {
        per_second: measured.per_second,
        leader: node(leader),
        follower: followers.iter().map(|index| node(*index)).sum::<f64>() / followers.len() as f64,
        forwarding: if index == leader {
            f64::NAN
        } else {
            node(index)
        },
        nats: each(nats_after - nats_before),
        per_block: effort.transactions as f64 / blocks as f64,
    }
}

//! The time until a node with an empty directory is ready, and until one that was away has caught
//! up.

use std::{thread, time::Duration};

use alloy::primitives::{Bytes, TxKind};
use serde_json::json;

use super::{
    Effort,
    fixture::{Cluster, NODES, Prepared},
    shared::{
        contracts::many,
        report,
        server::Server,
        transfers::{Kind, Work, submit},
        wallet::address_at,
    },
};

/// New accounts per transaction.
const ACCOUNTS: u64 = 300;
/// New blocks per request.
const BLOCKS: u64 = 1_000;
/// Time after which the leader has offered its newest checkpoint.
const OFFER: Duration = Duration::from_secs(15);

pub(crate) fn run(effort: Effort) {
    let mut cluster = Cluster::start();
    let leader = cluster.leader();
    let mut prepared = Prepared::on(cluster.node(leader));
    grow(cluster.node(leader), &mut prepared, effort);
    cluster.settle();
    cluster.await_indexes();
    thread::sleep(OFFER);

    let mut joins = Vec::new();
    let mut memory = Vec::new();
    for _ in 0..effort.rounds {
        let height = cluster.height(leader);
        joins.push(cluster.start_node(NODES, height).as_secs_f64());
        memory.push(cluster.node(NODES).memory());
        cluster.remove_last();
    }
    let columns = [
        "Start of a node",
        "s until it is ready",
        "transactions per second",
        "beyond an ordinary restart",
        "MB",
    ];
    report::table("Joining and catching up", &columns);
    let none = || report::figure(f64::NAN);
    let name = format!(
        "empty directory, {} accounts, {} blocks",
        effort.accounts, effort.blocks
    );
    report::row(&[
        name,
        seconds(&joins),
        none(),
        none(),
        report::figure(report::median(memory)),
    ]);

    let mut restarts = Vec::new();
    let mut catching_up = Vec::new();
    for _ in 0..effort.rounds {
        let away = (cluster.leader() + 1) % NODES;
        restarts.push(absence(&mut cluster, away, &mut prepared, 0));
        catching_up.push(absence(&mut cluster, away, &mut prepared, effort.missed));
    }
    report::row(&[
        "restart, nothing missed".to_owned(),
        seconds(&restarts),
        none(),
        none(),
        none(),
    ]);
    let missed = effort.missed as f64;
    let rates: Vec<f64> = catching_up.iter().map(|time| missed / time).collect();
    let beyond: Vec<f64> = catching_up
        .iter()
        .zip(&restarts)
        .map(|(time, restart)| missed / (time - restart))
        .collect();
    report::row(&[
        format!("restart, {} transactions missed", effort.missed),
        seconds(&catching_up),
        report::spread(&rates),
        report::spread(&beyond),
        none(),
    ]);
    report::end();
}

fn seconds(values: &[f64]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    format!(
        "{:.2} ({:.2}–{:.2})",
        report::median(values.to_vec()),
        sorted[0],
        sorted[sorted.len() - 1]
    )
}

/// Sends a wei to new addresses and mines empty blocks.
fn grow(server: &Server, prepared: &mut Prepared, effort: Effort) {
    let mut client = server.client();
    let mut accounts = 0;
    while accounts < effort.accounts {
        let range = accounts..(accounts + ACCOUNTS).min(effort.accounts);
        accounts = range.end;
        let (value, input) = many(range.map(|n| (address_at(n), Bytes::new())), 1);
        client.send(&prepared.funder.sign(
            TxKind::Call(prepared.multicall),
            value,
            input,
            16_000_000,
        ));
    }
    let mut number = client.number("eth_blockNumber", json!([]));
    while number < effort.blocks {
        let count = BLOCKS.min(effort.blocks - number);
        client.call("anvil_mine", json!([format!("{count:#x}"), "0x1"]));
        number += count;
    }
}

/// Ends a follower, has the cluster make transfers, and starts the follower again. Returns the
/// seconds until it is ready.
fn absence(cluster: &mut Cluster, away: usize, prepared: &mut Prepared, missed: u64) -> f64 {
    cluster.kill(away);
    let leader = cluster.leader();
    let server = cluster.node(leader);
    if missed > 0 {
        let work = Work {
            kind: Kind::Native,
            count: missed,
            stride: 1,
            manual: false,
        };
        submit(server, &mut server.client(), &mut prepared.senders, work);
    }
    let height = cluster.settle();
    cluster.await_indexes();
    cluster.start_node(away, height).as_secs_f64()
}

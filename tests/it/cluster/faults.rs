//! Faults of every kind under load, with the checker. `TETRAD_FAULTS` sets their number,
//! `TETRAD_SEED` repeats a run's choices.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    LOG, POLL, POOL, WAIT_TIMEOUT,
    checker::{self, Workload, check, seed},
    nats::NatsServers,
    nodes::{Cluster, Options},
    serving::call,
};

/// Faults of a run in continuous integration: one of each kind.
const FAULTS: usize = KINDS.len();
/// Time for which servers are cut off from each other: longer than their elections.
const PARTITION: Duration = Duration::from_secs(12);
/// Transactions that must be acknowledged after each fault.
pub(super) const PROGRESS: usize = 40;

#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    LeaderKilled,
    FollowerKilled,
    LeaderTerminated,
    LeaderStopped,
    StreamLeaderKilled,
    ServerKilled,
    StreamLeaderStopped,
    LeaderCutOff,
    LeaderHeld,
    FollowerDelayed,
    AllServersKilled,
    /// The servers are killed one after another while transactions wait, each once the one before
    /// has caught up.
    ServersKilledInTurn,
    StreamLeaderIsolated,
    StreamLeaderDeaf,
    ServerIsolated,
}

const KINDS: [Fault; 15] = [
    Fault::LeaderKilled,
    Fault::StreamLeaderKilled,
    Fault::LeaderStopped,
    Fault::FollowerKilled,
    Fault::LeaderCutOff,
    Fault::LeaderTerminated,
    Fault::ServerKilled,
    Fault::LeaderHeld,
    Fault::FollowerDelayed,
    Fault::StreamLeaderStopped,
    Fault::AllServersKilled,
    Fault::ServersKilledInTurn,
    Fault::StreamLeaderIsolated,
    Fault::ServerIsolated,
    Fault::StreamLeaderDeaf,
];

/// Causes a fault, and ends it. The transactions of the `workload` wait meanwhile if the fault
/// concerns waiting transactions; it is none where only the block time makes transactions wait.
pub(super) async fn cause(
    fault: Fault,
    nats: &mut NatsServers,
    cluster: &mut Cluster,
    workload: Option<&Workload>,
) {
    let leader = cluster.leader().await;
    let follower = (leader + 1) % 3;

    match fault {
        Fault::LeaderKilled => {
            cluster.kill(leader);
            cluster.leader().await;
            cluster.restart(leader).await;
        }
        Fault::FollowerKilled => {
            cluster.kill(follower);
            cluster.restart(follower).await;
        }
        Fault::LeaderTerminated => {
            cluster.terminate(leader).await;
            cluster.leader().await;
            cluster.restart(leader).await;
        }
        Fault::LeaderStopped => {
            cluster.stop(leader);
            sleep(Duration::from_secs(5)).await;
            cluster.cont(leader);
        }

        Fault::StreamLeaderKilled => {
            let server = nats.await_stream_leader(LOG).await;
            nats.kill(server);
            nats.await_stream_leader(LOG).await;
            nats.start_again(server).await;
        }
        Fault::ServerKilled => {
            let server = (nats.await_stream_leader(LOG).await + 1) % 3;
            nats.kill(server);
            sleep(Duration::from_secs(1)).await;
            nats.start_again(server).await;
        }
        Fault::AllServersKilled => {
            for server in 0..3 {
                nats.kill(server);
            }
            for server in 0..3 {
                nats.start_again(server).await;
            }
            nats.await_stream_leader(LOG).await;
        }

        Fault::ServersKilledInTurn => {
            if let Some(workload) = workload {
                let_transactions_wait(nats, cluster, workload).await;
            }
            for server in 0..3 {
                nats.kill(server);
                nats.await_stream_leader(LOG).await;
                nats.start_again(server).await;
                await_replicas(nats).await;
            }
            if let Some(workload) = workload {
                mine_again(cluster, workload).await;
            }
        }

        Fault::StreamLeaderIsolated => {
            nats.isolate(nats.await_stream_leader(LOG).await);
            sleep(PARTITION).await;
            nats.reconnect();
        }
        Fault::ServerIsolated => {
            nats.isolate((nats.await_stream_leader(LOG).await + 1) % 3);
            sleep(PARTITION).await;
            nats.reconnect();
        }
        Fault::StreamLeaderDeaf => {
            nats.deafen(nats.await_stream_leader(LOG).await);
            sleep(PARTITION).await;
            nats.reconnect();
        }

        Fault::StreamLeaderStopped => {
            let server = nats.await_stream_leader(LOG).await;
            nats.stop(server);
            sleep(Duration::from_secs(3)).await;
            nats.cont(server);
        }

        Fault::LeaderCutOff => {
            cluster
                .proxies(leader)
                .iter()
                .for_each(super::proxy::Proxy::cut);
            sleep(Duration::from_secs(3)).await;
            cluster
                .proxies(leader)
                .iter()
                .for_each(super::proxy::Proxy::restore);
        }

        Fault::LeaderHeld => {
            cluster
                .proxies(leader)
                .iter()
                .for_each(super::proxy::Proxy::hold);
            sleep(Duration::from_secs(5)).await;
            cluster
                .proxies(leader)
                .iter()
                .for_each(super::proxy::Proxy::restore);
        }

        Fault::FollowerDelayed => {
            cluster
                .proxies(follower)
                .iter()
                .for_each(|proxy| proxy.delay(Duration::from_millis(50)));
            sleep(Duration::from_secs(2)).await;
            cluster
                .proxies(follower)
                .iter()
                .for_each(super::proxy::Proxy::restore);
        }
    }
}

/// Switches mining off, and waits until a transaction of each client waits.
async fn let_transactions_wait(nats: &NatsServers, cluster: &Cluster, workload: &Workload) {
    workload.let_wait(true);
    call_leader(cluster, "evm_setAutomine", json!([false])).await;
    let deadline = Instant::now() + WAIT_TIMEOUT;
    while nats
        .messages(POOL)
        .await
        .is_none_or(|messages| messages < workload.clients() as u64)
    {
        assert!(Instant::now() < deadline, "no transactions wait");
        sleep(POLL).await;
    }
}

/// Switches mining on, and waits until transactions are acknowledged again.
async fn mine_again(cluster: &Cluster, workload: &Workload) {
    call_leader(cluster, "evm_setAutomine", json!([true])).await;
    call_leader(cluster, "evm_mine", json!([])).await;
    workload.progress(PROGRESS).await;
    workload.let_wait(false);
}

/// Calls a method of the leader until it succeeds.
async fn call_leader(cluster: &Cluster, method: &str, params: Value) {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    loop {
        let leader = cluster.leader().await;
        let Err(error) = call(cluster.rpc(leader), method, params.clone()).await else {
            return;
        };
        assert!(Instant::now() < deadline, "{error}");
        sleep(POLL).await;
    }
}

/// Waits until all replicas are current: killing the only current server would stop the cluster.
pub(super) async fn await_replicas(nats: &NatsServers) {
    for stream in [LOG, POOL] {
        nats.await_replicas(stream).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_transactions_are_included_once_despite_faults() {
    let Some(mut nats) = NatsServers::start(3).await else {
        return;
    };

    let count = std::env::var("TETRAD_FAULTS")
        .ok()
        .map_or(FAULTS, |count| count.parse().unwrap());

    let mut state = seed();
    let mut cluster = Cluster::start(
        &nats,
        3,
        Options {
            proxied: true,
            ..Options::default()
        },
    )
    .await;
    cluster.leader().await;

    // Many faults take long, and the checker reads every block afterwards.
    let pause = Duration::from_millis(if count > KINDS.len() { 20 } else { 2 });
    let options = checker::Options {
        transactions: 100_000,
        pause,
        ..checker::Options::new(state)
    };

    let workload = Workload::start(cluster.endpoints(), options).await;
    workload.progress(PROGRESS).await;

    for number in 0..count {
        // One of each kind, then random ones (xorshift).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let kind = if number < KINDS.len() {
            number
        } else {
            (state % KINDS.len() as u64) as usize
        };

        println!("fault {number}: {:?}", KINDS[kind]);
        cause(KINDS[kind], &mut nats, &mut cluster, Some(&workload)).await;
        workload.progress(PROGRESS).await;
    }

    verify(workload, &cluster).await;
}

/// Stops the clients, and verifies their history against the chain of every node.
pub(super) async fn verify(workload: Workload, cluster: &Cluster) {
    let mut history = workload.finish().await;
    history.given_up = cluster.given_up();
    println!("blocks that nodes gave up: {:?}", history.given_up);
    let report = check(&history, &cluster.endpoints().urls()).await;
    println!("{report}");
    assert!(report.violations.is_empty(), "{report}");
}

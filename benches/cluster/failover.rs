//! The time until writes succeed again after the leader was killed, the server that leads the
//! stream of the log, or both.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use alloy::primitives::TxKind;
use serde_json::json;

use super::{
    Effort,
    fixture::{Cluster, LOG, Prepared},
    shared::{
        client::Client,
        report,
        wallet::{Wallet, address_at},
    },
};

/// Sequential clients on each of the nodes that remain.
const CLIENTS: usize = 2;
/// Time of load before each kill.
const LOAD_BEFORE_KILL: Duration = Duration::from_secs(1);
/// Time in which every client's writes must succeed again.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(60);
/// Pause before a client repeats a transaction.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// What is killed at once.
struct Victims {
    name: &'static str,
    /// The node that leads.
    leader: bool,
    /// The server that leads the stream of the log.
    stream_leader: bool,
}

const VICTIMS: [Victims; 3] = [
    Victims {
        name: "leader",
        leader: true,
        stream_leader: false,
    },
    Victims {
        name: "stream's leader",
        leader: false,
        stream_leader: true,
    },
    // As if they shared a machine.
    Victims {
        name: "both",
        leader: true,
        stream_leader: true,
    },
];

/// The answers that one client received.
#[derive(Default)]
struct Seen {
    /// When its transactions were acknowledged.
    acknowledged: Vec<Instant>,
    errors: Vec<String>,
}

/// The result of one kill.
struct Failover {
    /// Time until each client had a transaction acknowledged that it sent after the kill, in
    /// milliseconds.
    writes: f64,
    /// The longest read on the nodes that remain, in milliseconds.
    read: f64,
    /// Time from the restart of the killed node, if one was, until it was ready, in milliseconds.
    restart: Option<f64>,
    errors: Vec<String>,
}

pub(crate) fn run(effort: Effort) {
    let mut cluster = Cluster::start();
    let mut senders = Prepared::on(cluster.node(cluster.leader())).senders;
    senders.truncate(CLIENTS * cluster.running().len());

    let columns = [
        "Killed",
        "times",
        "writes again after, median, ms",
        "p99, ms",
        "max, ms",
        "longest read, ms",
        "node ready again, ms",
        "errors",
    ];
    report::table("Kills under load", &columns);

    let mut errors = BTreeSet::new();
    for victims in &VICTIMS {
        let failovers: Vec<Failover> = (0..effort.kills)
            .map(|_| kill(&mut cluster, &mut senders, victims))
            .collect();

        report_kills(victims.name, &failovers);
        errors.extend(failovers.into_iter().flat_map(|failover| failover.errors));
    }
    report::end();

    for error in errors {
        println!("error: {error}");
    }

    let height = cluster.settle();
    let sent: u64 = senders.iter().map(Wallet::nonce).sum();
    println!(
        "{sent} transactions acknowledged, {} lost",
        lost(&cluster, &senders)
    );

    let heads: BTreeSet<String> = cluster
        .running()
        .into_iter()
        .map(|index| head_hash(&cluster, index))
        .collect();
    assert_eq!(
        heads.len(),
        1,
        "the nodes have different blocks at height {height}"
    );
}

/// The hash of a node's newest block.
fn head_hash(cluster: &Cluster, index: usize) -> String {
    let block = cluster
        .node(index)
        .client()
        .call("eth_getBlockByNumber", json!(["latest", false]));
    block["hash"].as_str().unwrap().to_owned()
}

fn report_kills(name: &str, failovers: &[Failover]) {
    let mut times: Vec<f64> = failovers.iter().map(|failover| failover.writes).collect();
    let mut reads: Vec<f64> = failovers.iter().map(|failover| failover.read).collect();
    let restarts: Vec<f64> = failovers
        .iter()
        .filter_map(|failover| failover.restart)
        .collect();
    let errors: usize = failovers.iter().map(|failover| failover.errors.len()).sum();

    report::row(&[
        name.to_owned(),
        failovers.len().to_string(),
        report::figure(report::quantile(&mut times, 0.5)),
        report::figure(report::quantile(&mut times, 0.99)),
        report::figure(report::quantile(&mut times, 1.0)),
        report::figure(report::quantile(&mut reads, 1.0)),
        report::spread(&restarts),
        errors.to_string(),
    ]);
}

/// The number of acknowledged transactions that a node does not have, on the node that lacks most.
fn lost(cluster: &Cluster, senders: &[Wallet]) -> u64 {
    cluster
        .running()
        .into_iter()
        .map(|index| lost_by(cluster, index, senders))
        .max()
        .unwrap_or_default()
}

/// The number of acknowledged transactions that one node does not have.
fn lost_by(cluster: &Cluster, index: usize, senders: &[Wallet]) -> u64 {
    let mut client = cluster.node(index).client();
    let mut lost = 0;

    for sender in senders {
        let included = client.number(
            "eth_getTransactionCount",
            json!([sender.address(), "latest"]),
        );
        lost += sender.nonce().saturating_sub(included);
    }
    lost
}

/// Kills a node, a server or both while clients of the nodes that remain send transactions, and
/// starts again what was killed.
fn kill(cluster: &mut Cluster, senders: &mut [Wallet], victims: &Victims) -> Failover {
    let height = cluster.settle();
    let node = victims.leader.then(|| cluster.leader());
    let server = victims
        .stream_leader
        .then(|| cluster.nats.stream_leader(LOG));
    let ports: Vec<u16> = cluster
        .running()
        .into_iter()
        .filter(|index| Some(*index) != node)
        .map(|index| cluster.node(index).port)
        .collect();

    let observed = under_load(&ports, senders, || {
        let killed = Instant::now();
        if let Some(server) = server {
            cluster.nats.kill(server);
        }
        if let Some(node) = node {
            cluster.kill(node);
        }
        killed
    });

    if let Some(server) = server {
        cluster.nats.start_again(server);
    }
    let restart = node.map(|index| milliseconds(cluster.start_node(index, height)));

    let writes = observed
        .clients
        .iter()
        .map(|client| time_to_write(client, observed.killed))
        .fold(0.0, f64::max);
    Failover {
        writes,
        read: milliseconds(observed.longest_read),
        restart,
        errors: observed
            .clients
            .into_iter()
            .flat_map(|client| client.errors)
            .collect(),
    }
}

/// What clients saw of a kill.
struct Observed {
    killed: Instant,
    clients: Vec<Seen>,
    longest_read: Duration,
}

/// Kills by `kill`, which returns when it began, while clients of the nodes at `ports` write and
/// read, and waits until each client's writes succeed again.
fn under_load(ports: &[u16], senders: &mut [Wallet], kill: impl FnOnce() -> Instant) -> Observed {
    let senders = &mut senders[..CLIENTS * ports.len()];
    let stop = AtomicBool::new(false);
    let counts: Vec<AtomicUsize> = senders.iter().map(|_| AtomicUsize::new(0)).collect();

    thread::scope(|scope| {
        let stop = &stop;
        let counts = &counts;
        let clients: Vec<_> = senders
            .iter_mut()
            .enumerate()
            .map(|(at, wallet)| {
                let port = ports[at % ports.len()];
                scope.spawn(move || send(port, wallet, &counts[at], stop))
            })
            .collect();
        let readers: Vec<_> = ports
            .iter()
            .map(|port| scope.spawn(move || read(*port, stop)))
            .collect();

        thread::sleep(LOAD_BEFORE_KILL);
        let before: Vec<usize> = counts
            .iter()
            .map(|count| count.load(Ordering::Relaxed))
            .collect();
        let killed = kill();
        while !have_recovered(counts, &before) && killed.elapsed() < RECOVERY_TIMEOUT {
            thread::sleep(Duration::from_millis(1));
        }
        let recovered = have_recovered(counts, &before);

        stop.store(true, Ordering::Relaxed);
        let clients: Vec<Seen> = clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .collect();
        let longest_read = readers
            .into_iter()
            .map(|reader| reader.join().unwrap())
            .fold(Duration::ZERO, Duration::max);

        let errors: Vec<_> = clients.iter().flat_map(|client| &client.errors).collect();
        assert!(
            recovered,
            "writes do not succeed again after {RECOVERY_TIMEOUT:?}: {errors:?}"
        );
        Observed {
            killed,
            clients,
            longest_read,
        }
    })
}

/// Whether each client had a transaction acknowledged that it sent after the counts were `before`.
fn have_recovered(counts: &[AtomicUsize], before: &[usize]) -> bool {
    // The first may have been stored before the kill, and one more may have been counted since.
    counts
        .iter()
        .zip(before)
        .all(|(count, before)| count.load(Ordering::Relaxed) >= before + 3)
}

/// The time in milliseconds until a client had a transaction acknowledged that it sent after the
/// kill.
fn time_to_write(client: &Seen, killed: Instant) -> f64 {
    // Clients are sequential: the second one was sent after the kill.
    let second = client
        .acknowledged
        .iter()
        .filter(|time| **time > killed)
        .nth(1);
    second.map_or(f64::NAN, |time| milliseconds(*time - killed))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Sends one transaction after another, each until it is acknowledged.
fn send(port: u16, wallet: &mut Wallet, count: &AtomicUsize, stop: &AtomicBool) -> Seen {
    let mut seen = Seen::default();
    let mut client = Client::connect(port).unwrap();

    while !stop.load(Ordering::Relaxed) {
        let raw = wallet.sign(TxKind::Call(address_at(0)), 1, Vec::new(), 21_000);

        while let Err(error) = client.try_call("eth_sendRawTransaction", json!([raw])) {
            seen.errors.push(error.to_string());

            // An earlier attempt may have succeeded without an answer.
            let included = client.number(
                "eth_getTransactionCount",
                json!([wallet.address(), "latest"]),
            );
            if included >= wallet.nonce() || seen.errors.len() > 10_000 {
                break;
            }

            thread::sleep(RETRY_INTERVAL);
        }

        seen.acknowledged.push(Instant::now());
        count.fetch_add(1, Ordering::Relaxed);
    }
    seen
}

/// Reads the newest block's number repeatedly. Returns the longest time of one read; a failure
/// panics.
fn read(port: u16, stop: &AtomicBool) -> Duration {
    let mut client = Client::connect(port).unwrap();
    let mut longest = Duration::ZERO;

    while !stop.load(Ordering::Relaxed) {
        let began = Instant::now();
        client.number("eth_blockNumber", json!([]));
        longest = longest.max(began.elapsed());

        thread::sleep(Duration::from_millis(1));
    }
    longest
}

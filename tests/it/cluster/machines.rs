//! Faults of three machines in a network of their own, each with a NATS server and a node, with the
//! checker: the long form of [`super::faults`].
//!
//! `cargo test --test it -- --ignored --nocapture cluster::machines` runs it as root, or where
//! users may create network namespaces. `TETRAD_FAULTS` sets the number of faults, `TETRAD_MINUTES`
//! the time after which no further one is caused, and `TETRAD_SEED` repeats a run's choices.
//! `TETRAD_OTHER` is the path of another version of the program, which the third node then runs.

use std::{
    env,
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::time::sleep;

use self::{
    MachineFault::{
        AllKilled, Deaf, Impaired, Isolated, Killed, Mute, Process, Stopped, Unplugged,
    },
    Role::{Leader, Other, StreamLeader},
};
use super::{
    LOG, POLL, WAIT_TIMEOUT,
    checker::{self, Workload, seed},
    faults::{self, Fault, PROGRESS},
    nats::NatsServers,
    network::{MACHINES, Network},
    nodes::{Cluster, Options},
    serving::ask,
};
use crate::{contracts::random::Random, support::sign::signer};

/// Clients that send transactions from separate accounts.
const CLIENTS: usize = 4;
/// Faults of a run.
const FAULTS: usize = 75;
/// Kills in a run without other faults.
const KILLS: usize = 50;
/// Durations of link failures and stopped machines: shorter than an election, about as long, and
/// longer.
const OUTAGES: [Duration; 3] = [
    Duration::from_secs(2),
    Duration::from_secs(6),
    Duration::from_secs(12),
];
/// Pause of a client after each transaction, since the checker reads every block of a long run.
const PAUSE: Duration = Duration::from_millis(100);

/// A machine by the processes on it.
#[derive(Clone, Copy, Debug)]
enum Role {
    /// The machine of the node that leads.
    Leader,
    /// The machine of the server that leads the stream of the log.
    StreamLeader,
    /// The machine with neither.
    Other,
}

#[derive(Clone, Copy, Debug)]
enum MachineFault {
    /// A fault of one process.
    Process(Fault),
    /// The link is unplugged, which the machine notices.
    Unplugged(Role),
    /// The link drops packets in both directions, which no machine notices.
    Isolated(Role),
    /// The machine receives nothing.
    Deaf(Role),
    /// The machine's packets are lost.
    Mute(Role),
    /// The link delays packets and loses some.
    Impaired(Role),
    Stopped(Role),
    Killed(Role),
    AllKilled,
}

const KINDS: [MachineFault; 31] = [
    Process(Fault::LeaderKilled),
    Unplugged(Leader),
    Isolated(StreamLeader),
    Deaf(Other),
    Mute(Leader),
    Killed(StreamLeader),
    Impaired(Leader),
    Stopped(StreamLeader),
    Process(Fault::ServersKilledInTurn),
    Process(Fault::StreamLeaderKilled),
    Unplugged(StreamLeader),
    Isolated(Other),
    Deaf(Leader),
    Mute(StreamLeader),
    Killed(Other),
    Impaired(StreamLeader),
    Stopped(Other),
    AllKilled,
    Process(Fault::LeaderStopped),
    Process(Fault::LeaderTerminated),
    Unplugged(Other),
    Isolated(Leader),
    Deaf(StreamLeader),
    Mute(Other),
    Killed(Leader),
    Impaired(Other),
    Stopped(Leader),
    Process(Fault::AllServersKilled),
    Process(Fault::StreamLeaderStopped),
    Process(Fault::FollowerKilled),
    Process(Fault::ServerKilled),
];

const KILLING: [MachineFault; 9] = [
    Process(Fault::LeaderKilled),
    Process(Fault::StreamLeaderKilled),
    Process(Fault::FollowerKilled),
    Process(Fault::ServerKilled),
    Process(Fault::AllServersKilled),
    Killed(Leader),
    Killed(StreamLeader),
    Process(Fault::ServersKilledInTurn),
    AllKilled,
];

/// The set of defaults of a cluster's nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Profile {
    Development,
    /// With a faucet, which funds the clients. A transaction waits for the block of its second.
    Production,
}

/// Three machines, and the clients of their nodes.
struct Machines {
    network: Network,
    nats: NatsServers,
    cluster: Cluster,
    workload: Workload,
    profile: Profile,
}

impl Machines {
    async fn start(network: Network, profile: Profile, seed: u64) -> Option<Self> {
        let nats = NatsServers::start_on(&network).await?;
        let profile_arguments: &[&str] = match profile {
            Profile::Development => &[],
            Profile::Production => &["--profile", "production", "--faucet", "100"],
        };
        // Restarted nodes read the entries after a checkpoint.
        let arguments = [&["--limits-checkpoint-kilobytes", "512"], profile_arguments].concat();
        let options = Options {
            arguments: arguments
                .iter()
                .map(|argument| (*argument).to_owned())
                .collect(),
            machines: (0..MACHINES).map(|index| network.machine(index)).collect(),
            other_program: env::var_os("TETRAD_OTHER").map(Into::into),
            ..Options::default()
        };
        let cluster = Cluster::start(&nats, MACHINES, options).await;
        cluster.leader().await;
        if profile == Profile::Production {
            fund(&cluster).await;
        }

        let options = checker::Options {
            clients: CLIENTS,
            transactions: 100_000,
            pause: PAUSE,
            ..checker::Options::new(seed)
        };
        let workload = Workload::start(cluster.endpoints(), options).await;
        workload.let_wait(profile == Profile::Production);
        Some(Self {
            network,
            nats,
            cluster,
            workload,
            profile,
        })
    }

    /// Causes a fault, and ends it.
    async fn cause(&mut self, fault: MachineFault, outage: Duration) {
        match fault {
            Process(fault) => {
                // In the production profile there are no development methods, and transactions
                // always wait.
                let workload = (self.profile == Profile::Development).then_some(&self.workload);
                faults::cause(fault, &mut self.nats, &mut self.cluster, workload).await;
            }
            Unplugged(role) => self.disturb(role, outage, Network::unplug).await,
            Isolated(role) => {
                self.disturb(role, outage, Network::isolate).await;
            }
            Deaf(role) => self.disturb(role, outage, Network::deafen).await,
            Mute(role) => self.disturb(role, outage, Network::mute).await,
            Impaired(role) => self.disturb(role, outage, Network::impair).await,

            Stopped(role) => {
                let machine = self.machine(role).await;
                self.nats.stop(machine);
                self.cluster.stop(machine);
                sleep(outage).await;
                self.nats.cont(machine);
                self.cluster.cont(machine);
            }

            Killed(role) => {
                let machine = self.machine(role).await;
                self.kill(machine);
                self.nats.await_stream_leader(LOG).await;
                self.cluster.leader().await;
                self.nats.start_again(machine).await;
                self.cluster.restart(machine).await;
            }

            AllKilled => {
                for machine in 0..MACHINES {
                    self.kill(machine);
                }
                for machine in 0..MACHINES {
                    self.nats.start_again(machine).await;
                }
                self.nats.await_stream_leader(LOG).await;
                for machine in 0..MACHINES {
                    self.cluster.restart(machine).await;
                }
            }
        }
    }

    /// Lets the link of a machine fail for this long.
    async fn disturb(&self, role: Role, outage: Duration, fail: impl FnOnce(&Network, usize)) {
        let machine = self.machine(role).await;
        fail(&self.network, machine);
        sleep(outage).await;
        self.network.restore(machine);
    }

    async fn machine(&self, role: Role) -> usize {
        let leader = self.cluster.leader().await;
        let stream_leader = self.nats.await_stream_leader(LOG).await;
        match role {
            Leader => leader,
            StreamLeader => stream_leader,
            Other => (0..MACHINES)
                .find(|machine| ![leader, stream_leader].contains(machine))
                .unwrap(),
        }
    }

    /// Ends the processes of a machine with SIGKILL.
    fn kill(&mut self, machine: usize) {
        self.nats.kill(machine);
        self.cluster.kill(machine);
    }
}

/// Funds the accounts of the clients from the faucet.
async fn fund(cluster: &Cluster) {
    let http = reqwest::Client::new();
    for account in (0..CLIENTS).map(|index| signer(index).address()) {
        let request = http
            .post(format!("{}/api/faucet", cluster.rest(0)))
            .json(&json!({ "address": account }));
        let response = request.send().await.unwrap();
        assert!(
            response.status().is_success(),
            "{}",
            response.text().await.unwrap()
        );
        let deadline = Instant::now() + WAIT_TIMEOUT;
        while ask(cluster.rpc(0), "eth_getBalance", json!([account, "latest"])).await == "0x0" {
            assert!(Instant::now() < deadline, "{account} has no coins");
            sleep(POLL).await;
        }
    }
}

/// Causes one fault of each kind, beginning at a random one, and then random ones. Verifies the
/// clients' history against the chain.
async fn run(test: &str, profile: Profile, kinds: &[MachineFault], count: usize) {
    let Some(network) = Network::enter(test) else {
        return;
    };
    let count = env::var("TETRAD_FAULTS")
        .ok()
        .map_or(count, |count| count.parse().unwrap());
    let longest = env::var("TETRAD_MINUTES")
        .ok()
        .map(|minutes| Duration::from_secs(60 * minutes.parse::<u64>().unwrap()));
    let seed = seed();
    let mut random = Random::new(seed);
    let Some(mut machines) = Machines::start(network, profile, seed).await else {
        return;
    };
    machines.workload.progress(PROGRESS).await;

    let began = Instant::now();
    let first = random.below(kinds.len() as u64) as usize;
    let mut caused = 0;
    while caused < count && longest.is_none_or(|longest| began.elapsed() < longest) {
        let fault = if caused < kinds.len() {
            kinds[(first + caused) % kinds.len()]
        } else {
            random.pick(kinds)
        };
        let outage = random.pick(&OUTAGES);
        println!(
            "fault {caused} after {:?}: {fault:?}, outages take {outage:?}",
            began.elapsed()
        );
        machines.cause(fault, outage).await;
        machines.workload.progress(PROGRESS).await;
        faults::await_replicas(&machines.nats).await;
        caused += 1;
    }
    println!("{caused} faults in {:?}", began.elapsed());
    faults::verify(machines.workload, &machines.cluster).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a quarter of an hour"]
async fn acknowledged_transactions_survive_faults_of_three_machines() {
    const TEST: &str =
        "cluster::machines::acknowledged_transactions_survive_faults_of_three_machines";
    run(TEST, Profile::Development, &KINDS, FAULTS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a quarter of an hour"]
async fn waiting_transactions_survive_faults_of_three_machines() {
    const TEST: &str = "cluster::machines::waiting_transactions_survive_faults_of_three_machines";
    run(TEST, Profile::Production, &KINDS, FAULTS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes"]
async fn acknowledged_transactions_survive_fifty_kills() {
    const TEST: &str = "cluster::machines::acknowledged_transactions_survive_fifty_kills";
    run(TEST, Profile::Development, &KILLING, KILLS).await;
}

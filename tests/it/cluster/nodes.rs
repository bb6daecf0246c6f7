//! Nodes of one cluster, each a process with a data directory of its own.

use std::{
    ops::RangeInclusive,
    path::PathBuf,
    process::{Command, Stdio},
    time::Instant,
};

use futures_util::future::join_all;
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use super::{
    POLL, WAIT_TIMEOUT, checker::Endpoints, nats::NatsServers, network::Machine, proxy::Proxy,
};
use crate::support::process::{PROGRAM, Running, print_log, signal};

/// Settings of the nodes of a cluster.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// Arguments for every node in addition to those of the cluster.
    pub arguments: Vec<String>,
    /// Whether every node reaches every NATS server through a separate proxy.
    pub proxied: bool,
    /// The machines of the nodes; none if they run where the test does.
    pub machines: Vec<Machine>,
    /// The program of the last node, if it differs from that of the others.
    pub other_program: Option<PathBuf>,
}

struct Member {
    program: PathBuf,
    machine: Option<Machine>,
    /// The arguments of every start.
    arguments: Vec<String>,
    log: PathBuf,
    /// One for each NATS server, if there are proxies.
    proxies: Vec<Proxy>,
    running: Option<Running>,
    stopped: bool,
}

/// The nodes of a cluster, named node-0, node-1 and so on. They are killed when dropped; after a
/// panic their logs are printed.
pub(super) struct Cluster {
    members: Vec<Member>,
    endpoints: Endpoints,
    http: reqwest::Client,
    options: Options,
    /// Dropped after the nodes, which write to it.
    directory: TempDir,
}

impl Cluster {
    /// Starts the nodes concurrently, and waits until all of them listen.
    pub(super) async fn start(nats: &NatsServers, nodes: usize, options: Options) -> Self {
        tetrad_stdx::tls::install_provider();
        let directory = tempfile::tempdir().unwrap();
        let http = reqwest::Client::builder()
            .timeout(WAIT_TIMEOUT)
            .build()
            .unwrap();
        let endpoints = Endpoints::new(vec![None; nodes]);
        let mut cluster = Self {
            members: Vec::new(),
            endpoints,
            http,
            options,
            directory,
        };

        for index in 0..nodes {
            let name = format!("node-{index}");
            let member = cluster.member(nats, &name, &name, &cluster.options).await;
            cluster.members.push(member);
        }

        if let Some(program) = cluster.options.other_program.clone() {
            cluster.members.last_mut().unwrap().program = program;
        }

        let started = join_all(cluster.members.iter().map(Member::run)).await;
        for (index, running) in started.into_iter().enumerate() {
            cluster.began(index, running);
        }

        cluster
    }

    async fn member(
        &self,
        nats: &NatsServers,
        name: &str,
        directory: &str,
        options: &Options,
    ) -> Member {
        let mut proxies = Vec::new();
        let mut urls = nats.urls();
        if options.proxied {
            for (server, url) in urls.iter_mut().enumerate() {
                let proxy = Proxy::start(nats.address(server)).await;
                *url = format!("nats://{}", proxy.address());
                proxies.push(proxy);
            }
        }

        let directory = self.directory.path().join(directory);
        let log = directory.with_extension("log");
        let machine = options.machines.get(self.members.len()).copied();
        let listen = machine.map_or_else(
            || "127.0.0.1:0".to_owned(),
            |machine| machine.address(0).to_string(),
        );

        let mut arguments: Vec<_> = [
            "--cluster",
            &urls.join(","),
            "--cluster-name",
            "test",
            "--node-name",
            name,
        ]
        .map(str::to_owned)
        .into();
        arguments.extend(["--data-dir".to_owned(), directory.display().to_string()]);
        arguments.extend(["--listen", &listen, "--ws-listen", &listen].map(str::to_owned));
        arguments.extend(options.arguments.iter().cloned());

        let program = PROGRAM.into();
        Member {
            program,
            machine,
            arguments,
            log,
            proxies,
            running: None,
            stopped: false,
        }
    }

    fn began(&mut self, index: usize, running: Running) {
        self.endpoints.set(
            index,
            Some(running.ready["rpc"].as_str().unwrap().to_owned()),
        );
        self.members[index].running = Some(running);
    }

    /// The JSON-RPC URLs of the nodes, which follow their restarts.
    pub(super) fn endpoints(&self) -> Endpoints {
        self.endpoints.clone()
    }

    /// Starts another node with an empty directory. Returns its index.
    pub(super) async fn add(&mut self, nats: &NatsServers) -> usize {
        let name = format!("node-{}", self.members.len());
        self.add_process(nats, &name).await
    }

    /// Starts another process with an empty directory as the node of this name. Returns its index.
    pub(super) async fn add_process(&mut self, nats: &NatsServers, name: &str) -> usize {
        let index = self.members.len();
        let member = self
            .member(nats, name, &format!("node-{index}"), &self.options)
            .await;
        let running = member.run().await;
        self.members.push(member);
        self.endpoints.push(None);
        self.began(index, running);
        index
    }

    /// The data directory of a node.
    pub(super) fn data_dir(&self, index: usize) -> String {
        let arguments = &self.members[index].arguments;
        let at = arguments
            .iter()
            .position(|argument| argument == "--data-dir")
            .unwrap();
        arguments[at + 1].clone()
    }

    /// The base URL of a node's REST interfaces.
    pub(super) fn rest(&self, index: usize) -> &str {
        self.running(index).ready["rest"].as_str().unwrap()
    }

    /// The JSON-RPC URL of a node.
    pub(super) fn rpc(&self, index: usize) -> &str {
        self.running(index).ready["rpc"].as_str().unwrap()
    }

    /// The proxies between a node and the NATS servers, in the order of the servers.
    pub(super) fn proxies(&self, index: usize) -> &[Proxy] {
        &self.members[index].proxies
    }

    fn running(&self, index: usize) -> &Running {
        self.members[index]
            .running
            .as_ref()
            .unwrap_or_else(|| panic!("node-{index} does not run"))
    }

    /// Ends a node with SIGKILL, stopped or not.
    pub(super) fn kill(&mut self, index: usize) {
        let member = &mut self.members[index];
        // Dropping kills the process.
        drop(member.running.take());
        member.stopped = false;
        self.endpoints.set(index, None);
    }

    /// Stops a node with SIGSTOP.
    pub(super) fn stop(&mut self, index: usize) {
        signal(self.running(index).child.id(), "-STOP");
        self.members[index].stopped = true;
    }

    /// Continues a stopped node.
    pub(super) fn cont(&mut self, index: usize) {
        signal(self.running(index).child.id(), "-CONT");
        self.members[index].stopped = false;
    }

    /// Restarts an ended node with the same directory, and waits until it listens.
    pub(super) async fn restart(&mut self, index: usize) {
        assert!(self.members[index].running.is_none(), "node-{index} runs");
        let running = self.members[index].run().await;
        self.began(index, running);
    }

    /// The ranges of blocks that nodes gave up because the servers did not have them.
    pub(super) fn given_up(&self) -> Vec<RangeInclusive<u64>> {
        self.members
            .iter()
            .flat_map(|member| {
                let log = std::fs::read_to_string(&member.log).unwrap();
                log.lines()
                    .filter(|line| line.contains("its own entries were put aside"))
                    .filter_map(given_up_blocks)
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// Restarts an ended node with the same directory and further arguments, which override its
    /// own. Resolves once it listens.
    pub(super) fn begin(
        &self,
        index: usize,
        arguments: &[&str],
    ) -> impl Future<Output = Running> + use<> {
        let member = &self.members[index];
        let mut all = member.arguments.clone();
        for pair in arguments.chunks_exact(2) {
            let at = all.iter().position(|argument| argument == pair[0]).unwrap();
            all[at + 1] = pair[1].to_owned();
        }
        let log = member.log.clone();
        let command = member.command(&all);
        let started = tokio::spawn(async move { Running::run_with_log(command, &log).await });
        async { started.await.unwrap() }
    }

    /// Ends a node with SIGTERM, and waits until it has ended.
    pub(super) async fn terminate(&mut self, index: usize) {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        signal(self.running(index).child.id(), "-TERM");
        let running = self.members[index].running.as_mut().unwrap();
        let status = loop {
            if let Some(status) = running.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "node-{index} does not end");
            sleep(POLL).await;
        };
        assert!(status.success(), "node-{index}: {status}");
        self.members[index].running = None;
        self.endpoints.set(index, None);
    }

    /// The body of a node's `/health`.
    pub(super) async fn health(&self, index: usize) -> Value {
        let url = format!(
            "{}/health",
            self.running(index).ready["rest"].as_str().unwrap()
        );
        self.http
            .get(url)
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap()
    }

    /// The leader with the highest epoch among the running nodes, once there is one.
    pub(super) async fn leader(&self) -> usize {
        let search = async {
            loop {
                let running = (0..self.members.len()).filter(|index| {
                    let member = &self.members[*index];
                    member.running.is_some() && !member.stopped
                });
                let healths =
                    join_all(running.map(|index| async move { (index, self.health(index).await) }))
                        .await;

                let leaders = healths
                    .iter()
                    .filter(|(_, health)| health["role"] == "leader");
                if let Some((index, _)) = leaders.max_by_key(|(_, health)| health["epoch"].as_u64())
                {
                    return *index;
                }
                sleep(POLL).await;
            }
        };
        timeout(WAIT_TIMEOUT, search).await.expect("a leader")
    }
}

/// The blocks that a line of a log reports as given up.
fn given_up_blocks(line: &str) -> Option<RangeInclusive<u64>> {
    let last_kept = logged(line, "last_kept_block")?;
    let last = logged(line, "last_block")?;
    Some(last_kept + 1..=last)
}

/// The number in a field of a log line. Other versions may not log it.
fn logged(line: &str, field: &str) -> Option<u64> {
    let (_, value) = line.split_once(&format!(" {field}="))?;
    value
        .split(|character: char| !character.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

impl Member {
    /// Starts the node, and waits until it listens.
    async fn run(&self) -> Running {
        let started = async {
            loop {
                match Running::try_run_with_log(self.command(&self.arguments), &self.log).await {
                    Ok(running) => return running,
                    // Machines restart their nodes: a node ends if the servers have no leader for
                    // too long.
                    Err(_) if self.machine.is_some() => {}
                    Err(error) => panic!("{error}"),
                }
            }
        };
        timeout(WAIT_TIMEOUT, started)
            .await
            .unwrap_or_else(|_| panic!("{:?} does not listen", self.arguments))
    }

    /// The node's program with these arguments, in an empty environment.
    fn command(&self, arguments: &[String]) -> Command {
        let mut command = self.machine.map_or_else(
            || Command::new(&self.program),
            |machine| machine.command(&self.program),
        );
        command.args(arguments).env_clear().stdin(Stdio::null());
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for (index, member) in self.members.iter_mut().enumerate() {
            drop(member.running.take());
            if std::thread::panicking() {
                print_log(&format!("node-{index}"), &member.log);
            }
        }
    }
}

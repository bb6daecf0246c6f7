//! The nodes that are measured, and what they need before a measurement.

use std::{
    fs,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use alloy::primitives::Address;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    nats::NatsServers,
    shared::{
        client::Request,
        contracts::{deploy_multicall, deploy_token},
        peers,
        server::Server,
        transfers::{Kind, SENDERS, fund},
        wallet::Wallet,
    },
};

/// Name of the cluster.
const NAME: &str = "bench";
/// The stream of its log.
pub(crate) const LOG: &str = "tetrad-bench";

/// Number of nodes in the cluster.
pub(crate) const NODES: usize = 3;

/// Time in which nodes must start, elect a leader or reach its height.
const CLUSTER_TIMEOUT: Duration = Duration::from_secs(120);

/// Interval at which conditions are checked.
const POLL: Duration = Duration::from_millis(2);

/// A node on its own that waits for the device once a block.
pub(crate) struct Single {
    pub server: Server,
    _directory: TempDir,
}

impl Single {
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut command = peers::tetrad().command;
        let place = directory.path().join("chain").display().to_string();
        command.extend(["--data-dir", &place, "--durability", "fsync"].map(str::to_owned));
        Self {
            server: Server::start(&command),
            _directory: directory,
        }
    }
}

/// Nodes of one chain. Ended on drop; after a panic the ends of their logs are printed.
pub(crate) struct Cluster {
    nodes: Vec<Option<Server>>,
    pub nats: NatsServers,
    directory: TempDir,
}

impl Cluster {
    /// Starts NATS servers and nodes, and waits until the nodes are ready.
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let nats = NatsServers::start(directory.path());
        let mut cluster = Self {
            nodes: Vec::new(),
            nats,
            directory,
        };
        // One after another, so that each finds the streams that the first one creates.
        for index in 0..NODES {
            cluster.start_node(index, 0);
        }
        cluster
    }

    fn place(&self, index: usize) -> PathBuf {
        self.directory.path().join(format!("node-{index}"))
    }

    fn run(&self, index: usize) -> Server {
        let place = self.place(index);
        let name = format!("node-{index}");
        // The shell is replaced by the node, which keeps its process id.
        let shell = format!(
            "exec \"$0\" \"$@\" 2>>'{}'",
            place.with_extension("log").display()
        );
        let mut command = vec!["sh".to_owned(), "-c".to_owned(), shell];
        command.extend(peers::tetrad().command);
        let urls = self.nats.urls();
        let own = [
            "--cluster",
            &urls,
            "--cluster-name",
            NAME,
            "--node-name",
            &name,
            "--data-dir",
        ];
        command.extend(own.map(str::to_owned));
        command.push(place.display().to_string());
        Server::start(&command)
    }

    /// The indexes of the nodes that run.
    pub(crate) fn running(&self) -> Vec<usize> {
        (0..self.nodes.len())
            .filter(|index| self.nodes[*index].is_some())
            .collect()
    }

    /// A node that runs.
    pub(crate) fn node(&self, index: usize) -> &Server {
        self.nodes[index].as_ref().unwrap()
    }

    /// CPU time that each node and all NATS servers together have used so far.
    pub(crate) fn cpu(&self) -> (Vec<Duration>, Duration) {
        let nodes = self
            .nodes
            .iter()
            .map(|node| node.as_ref().map_or(Duration::ZERO, Server::cpu));
        (nodes.collect(), self.nats.cpu())
    }

    /// Ends a node with SIGKILL.
    pub(crate) fn kill(&mut self, index: usize) {
        self.nodes[index] = None;
    }

    /// Starts a node again with its directory, or one after the last with an empty one. Returns the
    /// time until it was ready with a height of at least `height`.
    pub(crate) fn start_node(&mut self, index: usize, height: u64) -> Duration {
        let began = Instant::now();
        let server = self.run(index);
        match self.nodes.get_mut(index) {
            Some(node) => *node = Some(server),
            None => self.nodes.push(Some(server)),
        }
        self.await_ready(index, height);
        began.elapsed()
    }

    /// Ends the last node and deletes its directory.
    pub(crate) fn remove_last(&mut self) {
        self.nodes.pop();
        fs::remove_dir_all(self.place(self.nodes.len())).unwrap();
    }

    fn probe(&self, index: usize, path: &str) -> Value {
        self.try_probe(index, path).unwrap()
    }

    fn try_probe(&self, index: usize, path: &str) -> std::io::Result<Value> {
        let mut client = self.node(index).client();
        Ok(serde_json::from_slice(
            client.exchange(&Request::get(path))?,
        )?)
    }

    /// The number of entries of the log that a node's head includes.
    pub(crate) fn height(&self, index: usize) -> u64 {
        self.probe(index, "/health")["height"].as_u64().unwrap()
    }

    fn await_ready(&self, index: usize, height: u64) {
        let began = Instant::now();
        loop {
            // A node that starts ends the connections of its probes when it begins to serve.
            let ready = self.try_probe(index, "/ready").unwrap_or_default();
            if ready["status"] == "ready" && self.height(index) >= height {
                return;
            }
            assert!(
                began.elapsed() < CLUSTER_TIMEOUT,
                "node-{index}: {ready}, {}",
                self.probe(index, "/health")
            );
            thread::sleep(POLL);
        }
    }

    /// The node that leads with the highest epoch, once there is one.
    pub(crate) fn leader(&self) -> usize {
        let began = Instant::now();
        loop {
            let healths = self
                .running()
                .into_iter()
                .map(|index| (index, self.probe(index, "/health")));
            let leaders = healths.filter(|(_, health)| health["role"] == "leader");
            if let Some((index, _)) = leaders.max_by_key(|(_, health)| health["epoch"].as_u64()) {
                return index;
            }
            assert!(began.elapsed() < CLUSTER_TIMEOUT, "no node leads");
            thread::sleep(POLL);
        }
    }

    /// Whether a node's index of addresses, which is written in the background, has all blocks.
    fn is_indexed(&self, index: usize) -> bool {
        self.probe(index, "/api/v2/main-page/indexing-status")["finished_indexing"] == true
    }

    /// Waits until all nodes that run have indexed their blocks. On a machine of its own each would
    /// do that beside what is measured.
    pub(crate) fn await_indexes(&self) {
        let began = Instant::now();
        while !self
            .running()
            .into_iter()
            .all(|index| self.is_indexed(index))
        {
            assert!(
                began.elapsed() < CLUSTER_TIMEOUT,
                "the indexes remain behind"
            );
            thread::sleep(POLL);
        }
    }

    /// Waits until all nodes that run have the height of the leader. Returns it.
    pub(crate) fn settle(&self) -> u64 {
        let began = Instant::now();
        loop {
            let heights: Vec<_> = self
                .running()
                .into_iter()
                .map(|index| self.height(index))
                .collect();
            if heights.iter().all(|height| *height == heights[0]) {
                return heights[0];
            }
            assert!(
                began.elapsed() < CLUSTER_TIMEOUT,
                "the nodes' heights remain {heights:?}"
            );
            thread::sleep(POLL);
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        for index in 0..self.nodes.len().max(NODES) {
            let log =
                fs::read_to_string(self.place(index).with_extension("log")).unwrap_or_default();
            let lines: Vec<_> = log.lines().collect();
            eprintln!(
                "== node-{index}\n{}",
                lines[lines.len().saturating_sub(40)..].join("\n")
            );
        }
    }
}

/// Accounts and contracts on a new chain.
pub(crate) struct Prepared {
    pub funder: Wallet,
    pub multicall: Address,
    pub token: Address,
    /// Many senders.
    pub senders: Vec<Wallet>,
    /// A sender on its own.
    pub single: Wallet,
}

impl Prepared {
    pub(crate) fn on(server: &Server) -> Self {
        let mut client = server.client();
        let chain_id = client.number("eth_chainId", json!([]));
        let mut funder = Wallet::development(0, chain_id);
        let multicall = deploy_multicall(&mut client, &mut funder);
        let token = deploy_token(&mut client, &mut funder, multicall);
        let senders: Vec<Wallet> = (0..SENDERS)
            .map(|n| Wallet::numbered(n, chain_id))
            .collect();
        fund(
            &mut client,
            &mut funder,
            multicall,
            Kind::Native,
            &senders,
            false,
        );
        Self {
            funder,
            multicall,
            token,
            senders,
            single: Wallet::development(1, chain_id),
        }
    }
}

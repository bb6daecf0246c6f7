//! The states of a cluster's nodes: every node announces its own twice a second, and listens to the
//! others.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::StreamExt;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tetrad_chain::Chain;
use tokio::{
    sync::watch,
    time::{MissedTickBehavior, interval, sleep, timeout},
};

use super::{
    ClusterError,
    clock::now,
    connection::{Connection, failed},
    process::{NodeProcess, shown},
};

/// Interval between two announcements.
const ANNOUNCE_INTERVAL: Duration = Duration::from_millis(500);
/// Time after which a node that is silent counts as gone.
const GONE_AFTER: Duration = Duration::from_secs(3);
/// Time for which a new node listens for another one of its name.
const LISTEN_TIME: Duration = Duration::from_millis(1_250);
/// Time by which a node may be behind the log without being reported as not ready.
pub(super) const TOLERATED_LAG: Duration = Duration::from_secs(10);
/// Most nodes that are remembered.
const MAX_NODES: usize = 256;
/// Largest announcement in bytes.
const MAX_ANNOUNCEMENT: usize = 4_096;

/// A node's part in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// The node seals blocks.
    Leader,
    /// The node follows the log.
    Follower,
}

/// The state of a node, as it announces it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeState {
    /// Name of the node.
    pub node: String,
    /// Distinguishes the node's process from others of its name.
    pub instance: String,
    /// Version of the program.
    pub version: String,
    /// The node's part.
    pub role: Role,
    /// Number of the newest epoch in its log.
    pub epoch: u64,
    /// Number of entries of the log that its head includes.
    pub height: u64,
    /// Number of its newest block.
    pub block: u64,
    /// URL of its JSON-RPC.
    pub url: String,
    /// Time of the announcement by the node's clock, in milliseconds since the Unix epoch.
    pub time_ms: u64,
}

/// The state of a cluster, as one node knows it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterState {
    /// Name of this node.
    pub node: String,
    /// This node's part.
    pub role: Role,
    /// Name of the leader, if there is one.
    pub leader: Option<String>,
    /// Number of the newest epoch in this node's log.
    pub epoch: u64,
    /// Number of entries of the log that this node's head includes.
    pub height: u64,
    /// Number of entries by which this node is behind the leader.
    pub lag: u64,
    /// Time for which it has been behind, in seconds.
    pub lag_seconds: f64,
    /// Whether a NATS server is connected.
    pub connected: bool,
    /// All nodes that announced themselves lately, by name.
    pub nodes: Vec<NodeState>,
}

/// The states of the other nodes, as they announced them.
#[derive(Debug)]
pub(super) struct StateBoard {
    node: String,
    instance: u64,
    url: String,
    /// The holder of the lease.
    leader: watch::Receiver<Option<NodeProcess>>,
    nodes: Mutex<BTreeMap<String, (Instant, NodeState)>>,
    /// The leader's height that this node has not reached, and since when.
    behind: Mutex<Option<(u64, Instant)>>,
}

impl StateBoard {
    pub(super) fn new(
        node: String,
        instance: u64,
        url: String,
        leader: watch::Receiver<Option<NodeProcess>>,
    ) -> Self {
        Self {
            node,
            instance,
            url,
            leader,
            nodes: Mutex::default(),
            behind: Mutex::default(),
        }
    }

    /// Returns whether a node may speak for the end of the log: one that says so without the lease
    /// may not.
    fn is_leader(&self, state: &NodeState) -> bool {
        let leader = self.leader.borrow();
        state.role == Role::Leader
            && leader.as_ref().is_some_and(|leader| {
                leader.node == state.node && shown(leader.instance) == state.instance
            })
    }

    fn own(&self, chain: &Chain) -> NodeState {
        let leadership = *chain.leadership().borrow();
        NodeState {
            node: self.node.clone(),
            instance: shown(self.instance),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            role: if leadership.leads {
                Role::Leader
            } else {
                Role::Follower
            },
            epoch: leadership.epoch,
            height: chain.height(),
            block: chain.head().number(),
            url: self.url.clone(),
            time_ms: u64::try_from(now().as_millis()).unwrap_or_default(),
        }
    }

    fn note(&self, state: NodeState, chain: &Chain) {
        if self.is_leader(&state) {
            let reached = chain.height();
            let mut behind = self.behind.lock();
            *behind = match *behind {
                Some((height, since)) if height > reached && state.height >= height => {
                    Some((height, since))
                }
                _ if state.height > reached => Some((state.height, Instant::now())),
                _ => None,
            };
        }

        let mut nodes = self.nodes.lock();
        nodes.retain(|_, (seen, _)| seen.elapsed() < GONE_AFTER);
        // Announcements of made-up nodes must not fill the memory.
        if nodes.len() < MAX_NODES || nodes.contains_key(&state.node) {
            nodes.insert(state.node.clone(), (Instant::now(), state));
        }
    }

    /// Whether another node has more of the log than this one.
    pub(super) fn is_behind(&self, chain: &Chain) -> bool {
        let height = chain.height();
        let nodes = self.nodes.lock();
        let mut others = nodes
            .values()
            .filter(|(seen, state)| seen.elapsed() < GONE_AFTER && state.node != self.node);
        others.any(|(_, state)| state.height > height)
    }

    pub(super) fn state(&self, connection: &Connection, chain: &Chain) -> ClusterState {
        let own = self.own(chain);
        let leader = match own.role {
            Role::Leader => Some(self.node.clone()),
            Role::Follower => self
                .leader
                .borrow()
                .as_ref()
                .map(|leader| leader.node.clone()),
        };

        let heard: Vec<_> = self
            .nodes
            .lock()
            .values()
            .filter(|(seen, _)| seen.elapsed() < GONE_AFTER)
            .cloned()
            .collect();
        let mut nodes: Vec<_> = heard
            .into_iter()
            .map(|(_, state)| state)
            // Its own announcement is older than `own`.
            .filter(|state| state.node != own.node)
            .collect();

        let ahead = nodes
            .iter()
            .filter(|state| self.is_leader(state))
            .map(|state| state.height)
            .max();
        let lag = ahead.unwrap_or_default().saturating_sub(own.height);
        let behind = self
            .behind
            .lock()
            .filter(|(height, _)| *height > own.height);
        let lag_seconds = behind.map_or(0.0, |(_, since)| since.elapsed().as_secs_f64());

        nodes.push(own.clone());
        nodes.sort_by(|a, b| a.node.cmp(&b.node));

        ClusterState {
            node: own.node,
            role: own.role,
            leader,
            epoch: own.epoch,
            height: own.height,
            lag,
            lag_seconds,
            connected: connection.is_connected(),
            nodes,
        }
    }
}

pub(super) fn read(payload: &[u8]) -> Option<NodeState> {
    if payload.len() > MAX_ANNOUNCEMENT {
        return None;
    }
    serde_json::from_slice(payload).ok()
}

/// Starts announcing this node's state, and listening to the others.
pub(super) fn exchange(board: Arc<StateBoard>, connection: Connection, chain: Chain) {
    tokio::spawn(announce(board.clone(), connection.clone(), chain.clone()));
    tokio::spawn(hear(board, connection, chain));
}

async fn announce(board: Arc<StateBoard>, connection: Connection, chain: Chain) {
    let mut ticks = interval(ANNOUNCE_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut leadership = chain.leadership();
    loop {
        // A change of the role is announced at once.
        tokio::select! {
            _ = ticks.tick() => {}
            changed = leadership.changed() => if changed.is_err() { return },
        }

        if let Ok(payload) = serde_json::to_vec(&board.own(&chain)) {
            connection
                .announce(connection.names.states(), payload.into())
                .await;
        }
    }
}

async fn hear(board: Arc<StateBoard>, connection: Connection, chain: Chain) {
    loop {
        if let Ok(mut states) = connection.client.subscribe(connection.names.states()).await {
            while let Some(message) = states.next().await {
                if let Some(state) = read(&message.payload) {
                    board.note(state, &chain);
                }
            }
        }
        sleep(ANNOUNCE_INTERVAL).await;
    }
}

/// Listens to the announcements of all nodes for a moment.
pub(super) async fn listen(connection: &Connection) -> Result<Vec<NodeState>, ClusterError> {
    let states = connection.client.subscribe(connection.names.states()).await;
    let mut states = states.map_err(|error| failed(&error))?;

    let mut nodes = BTreeMap::new();
    let _ = timeout(LISTEN_TIME, async {
        while let Some(message) = states.next().await {
            if let Some(state) = read(&message.payload).filter(|_| nodes.len() < MAX_NODES) {
                nodes.insert((state.node.clone(), state.instance.clone()), state);
            }
        }
    })
    .await;
    Ok(nodes.into_values().collect())
}

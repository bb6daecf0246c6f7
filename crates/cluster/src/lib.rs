//! Clusters: several nodes that serve one chain.
//!
//! The log of the chain is a [stream](jetstream::JetStreamLogs) of NATS JetStream. One node leads:
//! it seals blocks and makes all other changes. The others follow the log, answer reads from their
//! own heads, and send what their clients write to the leader. A lease in a bucket says who should
//! lead. It is a hint only: what protects the chain is the sequence that each message of the log
//! expects.
//!
//! The crate knows nothing of the interfaces: it forwards transactions and changes, not requests of
//! clients.
//!
//! ```
//! use tetrad_cluster::message::{MessageError, Request};
//!
//! let request = Request::Submit { raw: vec![2, 3].into(), again: false };
//! let bytes = request.encode().expect("a short request");
//! assert!(matches!(Request::decode(&bytes)?, Request::Submit { again: false, .. }));
//! # Ok::<(), MessageError>(())
//! ```
//!
//! # The log
//!
//! Every node has a copy of the stream in its data directory, from which everything else is derived
//! as on a single node. Followers execute nothing: their writers apply the entries, and compare
//! every state root.
//!
//! Each message of the stream names the sequence after which it must come, so of two nodes that
//! append at the same time one is refused: it drops its candidate, follows, and no longer leads if
//! the other one has begun an epoch. The sequence protects the chain rather than time: a leader
//! that was suspended cannot do harm, however long it took. A publication without an answer is
//! repeated with the same expected sequence, so that it is stored once at most. If no answer comes
//! in eight seconds, the entry may still be stored, and the writer then meets it as another
//! writer's.
//!
//! Servers may lose what they acknowledged:
//!
//! - A stream that ends before a node's copy is completed from the copy. A node that is behind
//!   another one leaves the lease to it for three seconds.
//! - Entries that the stream has lost before others are taken from the copy of the node that leads
//!   (`entries.rs`). No node follows or leads past them.
//! - Each message names the hash of the entry before it, so that a node adds nothing to its copy
//!   that does not follow its own newest entry. An entry that does not follow is void for all.
//! - A node whose newest entries are others than the stream's, and still are two seconds later,
//!   gives them up: their transactions go back to those that wait, their files are put aside, and
//!   the chain goes on from the last entry that both have (`jetstream/compare.rs`).
//! - An answer that may be outdated is never final, and a consumer that says nothing is not
//!   believed for long (`jetstream/tail.rs`).
//!
//! # The leader
//!
//! A lease in a bucket says who should lead (`election.rs`). No step relies on it: it only prevents
//! two nodes from competing. It counts as lapsed after 1.5 seconds in which the bucket answered and
//! the lease was not renewed. What all nodes must agree on is in the same bucket (`bucket.rs`):
//! which chain it is, who creates it, the lease, which process has which name, and prices that are
//! held by hand. Each node announces its state twice a second on a subject without storage
//! (`state.rs`).
//!
//! A request to the leader is a NATS request to the process that holds the lease. Without an answer
//! it is sent again after a second, then less and less often, and to the next leader if the leader
//! changes. That is safe because of a transaction's hash, and of the random id of a change. A
//! request that is larger than a message of NATS is only announced, and the leader fetches it part
//! by part (`large.rs`). Requests of other nodes are checked like those of clients.
//!
//! Pending transactions are in a stream of their own, which every node mirrors in its pool and
//! compares with it (`pool.rs`): it stores again what servers lost. Messages are deleted one by
//! one, never purged: nats-server 2.9 replays a purge after a crash on what came after it.
//!
//! # A new node
//!
//! A node with an empty directory takes the newest checkpoint from an object store, to which the
//! leader copies its own, and the entries after it (`bootstrap.rs`). A node that has no checkpoint
//! before a revert waits for one after it, which the leader writes whenever a revert makes an
//! offered one useless.

mod bootstrap;
mod bucket;
mod clock;
pub mod commands;
pub mod config;
mod connection;
mod election;
mod entries;
#[doc(hidden)]
pub mod fuzzing;
mod held_prices;
mod large;
pub mod message;
mod name;
mod peers;
mod pool;
mod process;
mod replicas;
mod requester;
mod requests;
mod state;

pub mod jetstream;

use std::{io, sync::Arc, time::Duration};

use async_nats::jetstream::stream::Stream;
use k256::elliptic_curve::rand_core::{OsRng, RngCore};
use tetrad_chain::{Chain, ChangeError};
use tetrad_stdx::metrics::Counter;
use tetrad_store::{
    log::{AppendError, LogError},
    storage::Storage,
    store::{ArchiveError, ChainFileError},
};

pub use self::{
    bootstrap::Creation,
    config::{ClusterConfig, ClusterRole},
    state::{ClusterState, NodeState, Role},
};
use self::{
    bucket::ClusterBucket,
    connection::{Connection, persist},
    election::Election,
    name::NameClaim,
    peers::ClusterPeers,
    process::NodeProcess,
    requester::Requester,
    requests::Requests,
    state::StateBoard,
};

/// Longest time between two looks for entries of other nodes.
const FOLLOW: Duration = Duration::from_secs(1);

/// An error of starting or joining a cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// No server can be reached.
    #[error("{0}: {1}")]
    Connect(String, String),
    /// The file of credentials cannot be used.
    #[error("--cluster-credentials-file: {0}: {1}")]
    Credentials(String, io::Error),
    /// A file for TLS cannot be used: the setting, the file and the reason.
    #[error("{0}: {1}: {2}")]
    TlsFile(&'static str, String, String),
    /// JetStream refused a request.
    #[error("NATS JetStream: {0}")]
    JetStream(String),
    /// The node does not fit into the cluster.
    #[error("{0}")]
    Refused(String),
    /// The log cannot be used.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The log cannot be followed.
    #[error(transparent)]
    Chain(#[from] ChangeError),
    /// The chain's description cannot be used.
    #[error(transparent)]
    ChainFile(#[from] ChainFileError),
    /// A file operation failed.
    #[error("{0}: {1}")]
    Io(String, io::Error),
}

impl ClusterError {
    /// Returns the conversion of the error of an operation on a file, or with an empty name on the
    /// directory.
    fn io(storage: &dyn Storage, name: &str) -> impl Fn(io::Error) -> Self {
        move |error| Self::Io(storage.describe(name), error)
    }

    /// Returns whether the servers did not answer, so that the same may succeed later.
    fn is_temporary(&self) -> bool {
        let unavailable = matches!(
            self,
            Self::Chain(ChangeError::Append(AppendError::Unavailable(_)))
        );
        unavailable
            || matches!(
                self,
                Self::JetStream(_) | Self::Log(LogError::Unavailable(_) | LogError::Stale { .. })
            )
    }
}

impl From<ArchiveError> for ClusterError {
    fn from(error: ArchiveError) -> Self {
        Self::Refused(error.to_string())
    }
}

/// Counts of what happens in a cluster, since the start.
#[derive(Debug, Default)]
pub struct ClusterCounts {
    /// Times that this node began to lead.
    pub terms: Counter,
    /// Transactions and changes that were sent to the leader.
    pub forwarded: Counter,
    /// Requests of other nodes that this node executed as the leader.
    pub executed: Counter,
    /// Requests that were sent again, because the leader changed or did not answer.
    pub retried: Counter,
}

/// A node's membership in a cluster, before its chain is open.
pub struct Membership {
    connection: Connection,
    bucket: ClusterBucket,
    config: ClusterConfig,
    /// The node's name.
    node: String,
    /// A random number of this process.
    instance: u64,
    /// The claim on the node's name.
    name: NameClaim,
}

/// A node in a cluster. Clones share it.
#[derive(Clone)]
pub struct Cluster {
    connection: Connection,
    board: Arc<StateBoard>,
    election: Arc<Election>,
    name: Arc<NameClaim>,
    /// Counts since the start.
    pub counts: Arc<ClusterCounts>,
}

impl Membership {
    /// Connects to the cluster's servers. Refuses a clock that is wrong and a name that another
    /// node has.
    pub async fn begin(config: &ClusterConfig) -> Result<Self, ClusterError> {
        let node = config.node_name().ok_or_else(|| {
            ClusterError::Refused("the host has no name: name the node with --node-name".to_owned())
        })?;

        let connection = Connection::open(config, &node).await?;
        let bucket = ClusterBucket::open(&connection).await?;
        clock::check(&bucket, &node).await?;
        let instance = OsRng.next_u64();
        let name = NameClaim::begin(&bucket, &node, instance).await?;

        Ok(Self {
            connection,
            bucket,
            config: config.clone(),
            node,
            instance,
            name,
        })
    }

    /// Joins the cluster with an opened chain: follows the log to its end, and then takes part in
    /// everything.
    pub async fn join(
        self,
        chain: &Chain,
        storage: Arc<dyn Storage>,
        options: JoinOptions,
    ) -> Result<Cluster, ClusterError> {
        let Self {
            connection,
            bucket,
            config,
            node,
            instance,
            name,
        } = self;

        let counts = Arc::new(ClusterCounts::default());
        let election = Arc::new(Election::new(node.clone(), instance, config.role));
        let board = Arc::new(StateBoard::new(
            node.clone(),
            instance,
            options.url.clone(),
            election.leader(),
        ));
        let pool = connection.pool().await?;

        let requester = Requester {
            connection: connection.clone(),
            leader: election.leader(),
            counts: counts.clone(),
        };
        chain.join(Arc::new(ClusterPeers::new(requester)));
        // Fetches checkpoints, without which the log may not be followed, in the background.
        bootstrap::exchange_checkpoints(connection.clone(), chain.clone(), storage);
        // Before it serves requests or can lead, for which it has to know all entries.
        let height = follow_to_end(chain).await?;
        tracing::info!(cluster = config.name, node, height, "joined the cluster");

        let process = NodeProcess { node, instance };
        let cluster = Cluster {
            connection,
            board,
            election,
            name: Arc::new(name),
            counts,
        };
        cluster.serve(chain, &process, pool, options).await?;
        cluster.take_part(chain, bucket);
        commands::serve(cluster.clone(), chain.clone(), &process.node).await?;
        Ok(cluster)
    }
}

/// The parameters of joining a cluster.
pub struct JoinOptions {
    /// URL of the node's JSON-RPC.
    pub url: String,
    /// Whether other nodes may have development methods executed here.
    pub allows_changes: bool,
    /// Notified when entries of the log have arrived.
    pub arrivals: Arc<tokio::sync::Notify>,
}

/// Follows the log to its end. Returns its height.
async fn follow_to_end(chain: &Chain) -> Result<u64, ClusterError> {
    loop {
        match persist(|| async { Ok(chain.follow().await?) }).await {
            // A large checkpoint takes long.
            Err(error) if chain.needs_checkpoint_after().is_some() => {
                tracing::warn!(%error, "waiting for a checkpoint of the cluster")
            }
            followed => return followed,
        }
    }
}

impl Cluster {
    /// Starts serving the requests of other nodes.
    async fn serve(
        &self,
        chain: &Chain,
        process: &NodeProcess,
        pool: Stream<()>,
        options: JoinOptions,
    ) -> Result<(), ClusterError> {
        let connection = &self.connection;
        tokio::spawn(wake(chain.clone(), options.arrivals));

        let requests = Requests {
            connection: connection.clone(),
            chain: chain.clone(),
            counts: self.counts.clone(),
            allows_changes: options.allows_changes,
            under_way: Arc::default(),
            announced: Arc::default(),
        };
        requests.serve(process).await?;

        entries::serve(connection.clone(), chain.clone(), process).await?;
        pool::mirror(
            connection.clone(),
            pool,
            chain.clone(),
            options.allows_changes,
        );
        Ok(())
    }

    /// Starts announcing this node's state, and taking part in the election.
    fn take_part(&self, chain: &Chain, bucket: ClusterBucket) {
        let connection = &self.connection;
        state::exchange(self.board.clone(), connection.clone(), chain.clone());
        replicas::watch(connection.clone(), chain.clone());
        election::run(
            self.election.clone(),
            bucket,
            connection.clone(),
            chain.clone(),
            self.board.clone(),
            self.counts.clone(),
        );
        tokio::spawn(leave_without_name(self.clone(), chain.clone()));
    }

    /// Returns the state of the cluster, as this node knows it.
    pub fn state(&self, chain: &Chain) -> ClusterState {
        self.board.state(&self.connection, chain)
    }

    /// Returns the reason why writes cannot succeed at present, if there is one.
    pub fn obstacle(&self, chain: &Chain) -> Option<String> {
        if !self.connection.is_connected() {
            return Some("no connection to the NATS servers of the cluster".to_owned());
        }
        if let Some(reason) = self.connection.unfit_server() {
            return Some(reason);
        }
        if self.election.is_unanswered() {
            return Some("the NATS servers of the cluster do not answer".to_owned());
        }
        if self.election.has_left() {
            return Some("this node has left the cluster".to_owned());
        }
        if let Some(reason) = self.election.wrong_clock() {
            return Some(reason);
        }
        if let Some(entry) = chain.needs_checkpoint_after() {
            return Some(format!(
                "entry {entry} of the cluster's log reverts the chain to before this node's oldest \
                 checkpoint: the node waits for one of the leader"
            ));
        }

        let state = self.state(chain);
        match state.leader {
            None => Some("no node leads the cluster".to_owned()),
            Some(_) if state.lag_seconds > state::TOLERATED_LAG.as_secs_f64() => Some(format!(
                "this node is {} entries and {:.0} s behind the cluster's log",
                state.lag, state.lag_seconds
            )),
            Some(_) => None,
        }
    }

    /// Ceases to lead, so that another node can, and does not lead again for a while.
    pub(crate) async fn step_down(&self, chain: &Chain) {
        self.election.step_down(chain).await;
    }

    /// Leaves the cluster at a shutdown.
    pub async fn leave(&self, chain: &Chain) {
        self.election.leave(chain).await;
        self.name.release().await;
    }
}

/// Leaves the cluster once another process has this node's name.
async fn leave_without_name(cluster: Cluster, chain: Chain) {
    let mut is_lost = cluster.name.is_lost();
    if is_lost.wait_for(|is_lost| *is_lost).await.is_ok() {
        cluster.election.leave(&chain).await;
    }
}

/// Wakes the writer whenever entries of the log have arrived.
async fn wake(chain: Chain, arrivals: Arc<tokio::sync::Notify>) {
    loop {
        // After an error nothing arrives until the log is read again.
        let _ = tokio::time::timeout(FOLLOW, arrivals.notified()).await;
        chain.entries_arrived();
    }
}

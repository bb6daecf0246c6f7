//! The commands with which an operator administers a cluster.

use std::{sync::Arc, time::Duration};

use async_nats::{Request, RequestErrorKind};
use bytes::Bytes;
use futures_util::StreamExt;
use tetrad_chain::Chain;
use tetrad_store::{
    log::{LogError, LogStore},
    storage::Storage,
    store::ChainFile,
};
use tokio::time::sleep;

use super::{
    Cluster, ClusterConfig, ClusterError, Membership, NodeState,
    bootstrap::{OFFERED, object_name, offered},
    bucket::ClusterBucket,
    connection::{Connection, failed},
    state,
};

/// Time in which a node must carry a command out.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(15);
/// Interval at which a claim of another node is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// The name under which the command line connects.
const OPERATOR: &str = "operator";

/// A command to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeCommand {
    /// Let another node lead.
    StepDown,
    /// Let another node lead, and take no more clients.
    Leave,
}

impl NodeCommand {
    fn text(self) -> &'static str {
        match self {
            Self::StepDown => "step-down",
            Self::Leave => "leave",
        }
    }
}

/// The state of a cluster, as its servers and nodes report it.
#[derive(Debug)]
pub struct Status {
    /// Name of the cluster.
    pub cluster: String,
    /// EVM chain id, and hash of the genesis block; none before the first node has created the
    /// chain.
    pub chain: Option<(u64, String)>,
    /// Name of the node that holds the lease.
    pub leader: Option<String>,
    /// Height of the log's first entry, and of its next one.
    pub log: Option<(u64, u64)>,
    /// Size of the log in bytes.
    pub log_bytes: u64,
    /// Heights of the checkpoints for nodes that join.
    pub checkpoints: Vec<u64>,
    /// The nodes.
    pub nodes: Vec<NodeState>,
}

/// Returns the state of a cluster.
pub async fn status(config: &ClusterConfig) -> Result<Status, ClusterError> {
    let connection = Connection::open(config, OPERATOR).await?;
    let bucket = ClusterBucket::open(&connection).await?;

    let chain = bucket.chain().await?.map(|found| found.chain.identity());
    let leader = bucket
        .lease()
        .await?
        .and_then(|lease| lease.value)
        .map(|claim| claim.node);

    let mut log = None;
    let mut log_bytes = 0;
    let mut checkpoints = Vec::new();
    if chain.is_some() {
        let stream = connection.log().await?;
        log_bytes = stream.extent().await?.bytes;
        log = stream.heights().await?;
        checkpoints = offered(&connection.objects().await?).await?;
    }

    Ok(Status {
        cluster: config.name.clone(),
        chain: chain.map(|chain| (chain.chain_id, chain.genesis.to_string())),
        leader: leader.filter(|node| !node.is_empty()),
        log: log.map(|heights| (heights.start, heights.end)),
        log_bytes,
        checkpoints,
        nodes: state::listen(&connection).await?,
    })
}

/// Makes the chain in a data directory that of a cluster, which must have none. Returns the number
/// of log entries that were published.
pub async fn init(
    config: &ClusterConfig,
    directory: &std::path::Path,
    storage: Arc<dyn Storage>,
    log: Arc<dyn LogStore>,
) -> Result<u64, ClusterError> {
    let membership = Membership::begin(config).await?;
    let file = ChainFile::load(&*storage)?.ok_or_else(|| {
        ClusterError::Refused(format!("{}: there is no chain", storage.describe("")))
    })?;

    let mut rival = None;
    let _creation = loop {
        if membership.bucket.chain().await?.is_some() {
            return Err(ClusterError::Refused(format!(
                "the cluster {} has a chain already",
                config.name
            )));
        }
        match membership.claim_creation(&mut rival).await? {
            Some(creation) => break creation,
            None => sleep(POLL_INTERVAL).await,
        }
    };

    let stream = membership.log().await?;
    let reader = log.open(file.identity(), 0)?.reader();
    let own = reader.heights();

    // An interrupted command continues where it ended.
    let from = stream
        .heights()
        .await?
        .map_or(own.start, |heights| heights.end);
    if !(own.start..=own.end).contains(&from) {
        return Err(LogError::Mismatch {
            place: format!("the stream {}", stream.name()),
            what: format!(
                "it has {from} entries, but the log in the data directory is from {} to {}",
                own.start, own.end
            ),
        }
        .into());
    }

    let count = stream.append_all(reader.stream(from)?).await?;
    // Before the chain is published: nodes that join take the keys along with it.
    membership.share_keys(directory).await?;
    membership.publish_chain(&*storage).await?;
    Ok(count)
}

/// Has a node carry out a command. Returns its answer.
pub async fn ask(
    config: &ClusterConfig,
    node: &str,
    command: NodeCommand,
) -> Result<String, ClusterError> {
    let connection = Connection::open(config, OPERATOR).await?;
    let request = Request::new()
        .payload(Bytes::from_static(command.text().as_bytes()))
        .timeout(Some(COMMAND_TIMEOUT));

    let answer = connection
        .client
        .send_request(connection.names.commands(node), request)
        .await;
    let answer = answer.map_err(|error| match error.kind() {
        RequestErrorKind::NoResponders => {
            ClusterError::Refused(format!("there is no node {node} in the cluster"))
        }
        _ => failed(&error),
    })?;
    Ok(String::from_utf8_lossy(&answer.payload).into_owned())
}

/// Removes the entries of the log from which no joining node begins. Returns the height of the
/// oldest remaining entry.
pub async fn compact(config: &ClusterConfig) -> Result<u64, ClusterError> {
    let connection = Connection::open(config, OPERATOR).await?;
    let objects = connection.objects().await?;
    let checkpoints = offered(&objects).await?;
    let kept = checkpoints
        .iter()
        .rev()
        .take(OFFERED)
        .min()
        .copied()
        .ok_or_else(|| {
            ClusterError::Refused(format!("the cluster {} has no checkpoint", config.name))
        })?;

    // Before their entries, so that no checkpoint is offered whose entries are gone.
    for height in checkpoints.into_iter().filter(|height| *height < kept) {
        objects
            .delete(object_name(height))
            .await
            .map_err(|error| failed(&error))?;
    }

    let stream = connection.log().await?;
    stream
        .delete_before(stream.sequence_of(kept).await?)
        .await?;
    Ok(kept)
}

/// Carries out the commands to this node.
pub(super) async fn serve(cluster: Cluster, chain: Chain, node: &str) -> Result<(), ClusterError> {
    let connection = cluster.connection.clone();
    let commands = connection
        .client
        .subscribe(connection.names.commands(node))
        .await;
    let mut commands = commands.map_err(|error| failed(&error))?;

    tokio::spawn(async move {
        while let Some(message) = commands.next().await {
            let answer = match &message.payload[..] {
                b"step-down" => {
                    cluster.step_down(&chain).await;
                    "another node may lead now"
                }
                b"leave" => {
                    cluster.leave(&chain).await;
                    "the node does not lead any more, and is not ready for clients"
                }
                _ => "unknown command",
            };
            if let Some(reply) = message.reply {
                connection
                    .answer(reply, Bytes::from_static(answer.as_bytes()))
                    .await;
            }
        }
    });
    Ok(())
}

//! Creating a cluster's chain, and filling the directory of a node that joins.

use std::{
    collections::BTreeSet,
    io,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use async_nats::jetstream::object_store::ObjectStore;
use bytes::Bytes;
use futures_util::StreamExt;
use tetrad_chain::Chain;
use tetrad_store::{
    storage::{Storage, read_file},
    store::{self, ChainFile},
};
use tokio::{
    io::AsyncReadExt,
    task::JoinHandle,
    time::{MissedTickBehavior, interval, sleep},
};
use zeroize::Zeroizing;

use super::{
    ClusterError, Membership,
    bucket::{Claim, ClusterBucket},
    connection::{Connection, failed, persist},
    entries::LeaderCopy,
};
use crate::jetstream::{LogStream, OtherCopies};

/// Interval at which a node looks whether another one has created the chain.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Time without a renewal of its claim after which a node that creates the chain counts as dead.
const CREATION_LAPSE: Duration = Duration::from_secs(20);
/// Interval between two renewals.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(2);
/// Interval at which the leader offers new checkpoints.
const OFFER_INTERVAL: Duration = Duration::from_secs(5);
/// Number of newest checkpoints that are offered.
pub(super) const OFFERED: usize = 2;
/// The largest checkpoint that is fetched, in bytes.
const MAX_CHECKPOINT: usize = 16 << 30;
/// Most bytes of a key file.
const MAX_KEY: usize = 256;

/// Returns the name of a checkpoint among the objects.
pub(super) fn object_name(height: u64) -> String {
    format!("checkpoint-{height:020}")
}

/// Returns the heights of the checkpoints among the objects, in ascending order.
pub(super) async fn offered(objects: &ObjectStore) -> Result<Vec<u64>, ClusterError> {
    let mut heights = Vec::new();
    let mut list = objects.list().await.map_err(|error| failed(&error))?;
    while let Some(object) = list.next().await {
        let object = object.map_err(|error| failed(&error))?;
        heights.extend(
            object
                .name
                .strip_prefix("checkpoint-")
                .and_then(|height| height.parse::<u64>().ok()),
        );
    }
    heights.sort_unstable();
    Ok(heights)
}

/// A claim to create the chain that another node holds, as it was first seen.
pub(super) struct Rival {
    revision: u64,
    since: Instant,
}

/// A node's claim to create the chain, renewed until it is dropped.
pub struct Creation(JoinHandle<()>);

impl Creation {
    fn hold(bucket: ClusterBucket, claim: Claim, mut revision: u64) -> Self {
        Self(tokio::spawn(async move {
            loop {
                sleep(RENEWAL_INTERVAL).await;
                match bucket.claim_creation(Some(revision), &claim).await {
                    Ok(Some(renewed)) => revision = renewed,
                    Ok(None) => {
                        return tracing::error!(
                            "another node has taken over the creation of the chain"
                        );
                    }
                    Err(error) => {
                        tracing::debug!(%error, "failed to renew the claim to create the chain")
                    }
                }
            }
        }))
    }
}

impl Drop for Creation {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Membership {
    /// Prepares the data directory. If it and the cluster have no chain, returns the claim of this
    /// node to create it, to be held until the chain is published. Otherwise the directory has the
    /// cluster's chain afterwards, from checkpoints if it was empty.
    pub async fn prepare(
        &self,
        storage: &Arc<dyn Storage>,
    ) -> Result<Option<Creation>, ClusterError> {
        let mut rival = None;
        loop {
            let chain = persist(|| self.bucket.chain())
                .await?
                .map(|found| found.chain);

            match (chain, ChainFile::load(&**storage)?) {
                (Some(chain), Some(local)) => {
                    self.expect_same(&chain, &local, &**storage)?;
                    return Ok(None);
                }
                (Some(chain), None) => {
                    self.fetch_checkpoints(&chain, &**storage).await?;
                    return Ok(None);
                }
                (None, Some(_)) if !self.is_creator().await? => {
                    return Err(ClusterError::Refused(format!(
                        "{}: the directory has a chain, but the cluster {} has none: make it the \
                         cluster's with `tetrad cluster init`, or give the node an empty \
                         directory",
                        storage.describe(""),
                        self.config.name
                    )));
                }
                (None, _) => match self.claim_creation(&mut rival).await? {
                    Some(creation) => return Ok(Some(creation)),
                    None => sleep(POLL_INTERVAL).await,
                },
            }
        }
    }

    /// Returns whether a node of this name began to create the chain.
    async fn is_creator(&self) -> Result<bool, ClusterError> {
        let creator = persist(|| self.bucket.creator())
            .await?
            .and_then(|creator| creator.value);
        Ok(creator.is_some_and(|creator| creator.node == self.node))
    }

    /// Claims to create the chain, unless another node does. `rival` is the claim of that node, as
    /// it was first seen.
    pub(super) async fn claim_creation(
        &self,
        rival: &mut Option<Rival>,
    ) -> Result<Option<Creation>, ClusterError> {
        let creator = persist(|| self.bucket.creator()).await?;
        let revision = creator.as_ref().map(|creator| creator.revision);
        let holder = creator.and_then(|creator| creator.value);
        if let (Some(holder), Some(revision)) =
            (holder.filter(|holder| holder.node != self.node), revision)
            && !self.is_dead(&holder, revision, rival)
        {
            return Ok(None);
        }

        let claim = Claim {
            node: self.node.clone(),
            instance: self.instance,
            epoch: 0,
        };

        match self.bucket.claim_creation(revision, &claim).await {
            Ok(Some(revision)) => Ok(Some(Creation::hold(self.bucket.clone(), claim, revision))),
            // Without an answer the next look finds out.
            Ok(None) | Err(ClusterError::JetStream(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns whether a node that holds a claim has not renewed it for a while.
    fn is_dead(&self, holder: &Claim, revision: u64, rival: &mut Option<Rival>) -> bool {
        let seen = rival
            .take()
            .filter(|seen| seen.revision == revision)
            .unwrap_or_else(|| {
                tracing::info!(
                    cluster = self.config.name,
                    node = holder.node,
                    "another node creates the chain"
                );
                Rival {
                    revision,
                    since: Instant::now(),
                }
            });
        let is_dead = seen.since.elapsed() >= CREATION_LAPSE;
        *rival = Some(seen);
        is_dead
    }

    /// Refuses a directory with another chain than the cluster's.
    fn expect_same(
        &self,
        chain: &ChainFile,
        local: &ChainFile,
        storage: &dyn Storage,
    ) -> Result<(), ClusterError> {
        let expected = chain.identity();
        let found = local.identity();
        if expected == found {
            return Ok(());
        }
        Err(ClusterError::Refused(format!(
            "{}: the directory has another chain (chain id {}, genesis block {}) than the cluster \
             {} (chain id {}, genesis block {}): give the node an empty directory, or the cluster \
             another --cluster-name",
            storage.describe(""),
            found.chain_id,
            found.genesis,
            self.config.name,
            expected.chain_id,
            expected.genesis
        )))
    }

    /// Fills an empty directory with the oldest and the newest checkpoint of the cluster: the log
    /// begins at the oldest, and the state is that of the newest.
    async fn fetch_checkpoints(
        &self,
        chain: &ChainFile,
        storage: &dyn Storage,
    ) -> Result<(), ClusterError> {
        let objects = self.connection.objects().await?;
        let begins = self
            .connection
            .log()
            .await?
            .heights()
            .await?
            .map_or(0, |heights| heights.start);
        let mut heights = persist(|| offered(&objects)).await?;
        // The log lacks the entries that would bring an older state forward.
        heights.retain(|height| *height >= begins);
        let (oldest, newest) = heights.first().zip(heights.last()).ok_or_else(|| {
            ClusterError::Refused(format!(
                "the cluster {} has no checkpoint to begin with",
                self.config.name
            ))
        })?;

        let mut fetched = Vec::new();
        for height in BTreeSet::from([*oldest, *newest]) {
            fetched.push((height, fetch(&objects, height).await?));
        }
        Ok(store::begin_with(storage, chain, &fetched)?)
    }

    /// Adds the newest checkpoint of the cluster to the directory, whose own cannot be used.
    pub async fn fetch_newest(&self, storage: &dyn Storage) -> Result<(), ClusterError> {
        persist(|| fetch_newest(&self.connection, storage)).await
    }

    /// Returns the log of the cluster.
    pub async fn log(&self) -> Result<LogStream, ClusterError> {
        self.connection.create_log().await
    }

    /// Returns the leading node's copy of the log.
    pub fn leader_copy(&self) -> Arc<dyn OtherCopies> {
        Arc::new(LeaderCopy {
            connection: self.connection.clone(),
            bucket: self.bucket.clone(),
        })
    }

    /// Publishes the chain that this node has created, so that other nodes can join.
    pub async fn publish_chain(&self, storage: &dyn Storage) -> Result<(), ClusterError> {
        let missing = || ClusterError::io(storage, "")(io::ErrorKind::NotFound.into());
        let chain = ChainFile::load(storage)?.ok_or_else(missing)?;

        // Before the chain is published: a node that joins begins with a checkpoint.
        let objects = self.connection.objects().await?;
        for height in store::checkpoints(storage).map_err(ClusterError::io(storage, ""))? {
            persist(|| upload(&objects, storage, height)).await?;
        }

        if persist(|| self.bucket.create_chain(chain.clone())).await? {
            return Ok(());
        }
        // Another node was first.
        let found = persist(|| self.bucket.chain()).await?.ok_or_else(missing)?;
        self.expect_same(&found.chain, &chain, storage)
    }

    /// Returns the keys of the network's own accounts that the cluster shares, by file name, for
    /// those files that `directory` lacks.
    pub async fn missing_keys(
        &self,
        directory: &Path,
    ) -> Result<Vec<(String, Zeroizing<String>)>, ClusterError> {
        let bucket = self
            .connection
            .bucket(&self.connection.names.keys())
            .await?;

        let mut keys = Vec::new();
        for name in OWN_KEYS
            .into_iter()
            .filter(|name| !directory.join(name).exists())
        {
            let found = bucket.get(name).await.map_err(|error| failed(&error))?;
            let Some(found) = found.filter(|found| found.len() <= MAX_KEY) else {
                continue;
            };

            let text = std::str::from_utf8(&found).map_err(|error| failed(&error))?;
            keys.push((name.to_owned(), Zeroizing::new(text.to_owned())));
        }
        Ok(keys)
    }

    /// Shares the generated keys of the network's own accounts with the cluster.
    pub async fn share_keys(&self, directory: &Path) -> Result<(), ClusterError> {
        let bucket = self
            .connection
            .bucket(&self.connection.names.keys())
            .await?;
        for name in OWN_KEYS {
            let file = directory.join(name);
            if !file.exists() {
                continue;
            }
            let text = std::fs::read_to_string(&file)
                .map(Zeroizing::new)
                .map_err(|error| ClusterError::Io(file.display().to_string(), error))?;
            bucket
                .put(name, Bytes::copy_from_slice(text.as_bytes()))
                .await
                .map_err(|error| failed(&error))?;
        }
        Ok(())
    }
}

/// The files of generated keys.
const OWN_KEYS: [&str; 3] = ["treasury.key", "updater.key", "borrower.key"];

async fn fetch(objects: &ObjectStore, height: u64) -> Result<Vec<u8>, ClusterError> {
    let object = objects
        .get(object_name(height))
        .await
        .map_err(|error| failed(&error))?;
    let size = object.info().size;
    if size > MAX_CHECKPOINT {
        return Err(ClusterError::Refused(format!(
            "the checkpoint at {height} has {size} bytes"
        )));
    }

    let mut bytes = Vec::new();
    object
        .take(size as u64)
        .read_to_end(&mut bytes)
        .await
        .map_err(|error| ClusterError::Io(format!("the checkpoint at {height}"), error))?;
    tracing::info!(
        height,
        bytes = bytes.len(),
        "fetched a checkpoint of the cluster"
    );
    Ok(bytes)
}

async fn upload(
    objects: &ObjectStore,
    storage: &dyn Storage,
    height: u64,
) -> Result<(), ClusterError> {
    let name = object_name(height);
    let bytes = read_file(storage, &name).map_err(ClusterError::io(storage, &name))?;
    let Some(bytes) = bytes else {
        return Ok(());
    };

    objects
        .put(name.as_str(), &mut bytes.as_slice())
        .await
        .map(drop)
        .map_err(|error| failed(&error))
}

/// Fetches the newest checkpoint of the cluster into the directory of a node, unless it is there.
async fn fetch_newest(connection: &Connection, storage: &dyn Storage) -> Result<(), ClusterError> {
    let objects = connection.objects().await?;
    let own = store::checkpoints(storage).map_err(ClusterError::io(storage, ""))?;

    let newest = offered(&objects).await?.last().copied();
    if let Some(height) = newest.filter(|height| !own.contains(height)) {
        let bytes = fetch(&objects, height).await?;
        store::add_checkpoint(storage, height, &bytes).map_err(ClusterError::io(storage, ""))?;
    }
    Ok(())
}

/// Starts exchanging checkpoints with the other nodes: offers those of this node while it leads,
/// and fetches one if this node cannot follow the log without it.
pub(super) fn exchange_checkpoints(
    connection: Connection,
    chain: Chain,
    storage: Arc<dyn Storage>,
) {
    tokio::spawn(async move {
        let mut ticks = interval(OFFER_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;

            let leads = chain.leadership().borrow().leads;
            let exchanged = match chain.needs_checkpoint_after() {
                _ if leads => offer_new(&connection, &chain, &*storage).await,
                // With it the writer can follow the log again.
                Some(_) => fetch_newest(&connection, &*storage)
                    .await
                    .map(|()| chain.entries_arrived()),
                None => Ok(()),
            };

            if let Err(error) = exchanged {
                tracing::debug!(%error, "failed to exchange checkpoints");
            }
        }
    });
}

/// Offers the oldest and the newest usable checkpoints, and removes others. What servers lost is
/// offered again. A revert to before a checkpoint from which nodes may have begun demands another
/// one.
async fn offer_new(
    connection: &Connection,
    chain: &Chain,
    storage: &dyn Storage,
) -> Result<(), ClusterError> {
    let usable = chain.checkpoints().map_err(ClusterError::io(storage, ""))?;
    let Some(begins) = connection
        .log()
        .await?
        .heights()
        .await?
        .map(|heights| heights.start)
    else {
        return Ok(());
    };

    let usable: Vec<_> = usable
        .into_iter()
        .filter(|height| *height >= begins)
        .collect();
    let wanted: BTreeSet<u64> = usable
        .first()
        .into_iter()
        .chain(usable.iter().rev().take(OFFERED))
        .copied()
        .collect();

    let objects = connection.objects().await?;
    let present = offered(&objects).await?;

    let newest_usable = usable.last().copied();
    let is_checkpoint_due = present
        .iter()
        .any(|height| lacks_successor(chain, *height, newest_usable));
    if wanted.is_empty() || is_checkpoint_due {
        chain.demand_checkpoint();
    }
    if wanted.is_empty() {
        return Ok(());
    }

    for height in wanted.iter().filter(|height| !present.contains(height)) {
        upload(&objects, storage, *height).await?;
    }
    for height in present {
        if wanted.contains(&height) || lacks_successor(chain, height, newest_usable) {
            continue;
        }
        objects
            .delete(object_name(height))
            .await
            .map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Whether a checkpoint is useless, and there is no usable one after it. It stays until there is:
/// should this node end before, the next leader sees it.
fn lacks_successor(chain: &Chain, height: u64, newest_usable: Option<u64>) -> bool {
    !chain.is_base(height) && newest_usable.is_none_or(|newest| newest < height)
}

//! The bucket in which a cluster keeps what all nodes must agree on: which chain it has, and who
//! should lead.

use std::time::Duration;

use async_nats::jetstream::kv::{CreateErrorKind, Operation, Store, UpdateErrorKind};
use bytes::Bytes;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tetrad_store::store::ChainFile;
use tokio::time::{error::Elapsed, timeout};

use super::{
    ClusterError,
    connection::{Connection, failed, persist},
};

/// The format of the bucket's values.
const FORMAT: u32 = 1;
/// Time limit of an access to the bucket.
const ACCESS_TIMEOUT: Duration = Duration::from_secs(1);

const CHAIN: &str = "chain";
const CREATOR: &str = "creator";
const LEASE: &str = "leader";

/// The chain of a cluster.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClusterChain {
    format: u32,
    /// The description of the chain, as in a data directory.
    pub chain: ChainFile,
}

/// A claim of one node on something that only one may have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Claim {
    /// Name of the node.
    pub(super) node: String,
    /// Random number of the node's process.
    pub(super) instance: u64,
    /// Number of the epoch, for a lease.
    pub(super) epoch: u64,
}

/// A value of the bucket, and the revision to name when it is replaced.
#[derive(Clone, Debug)]
pub(super) struct Versioned<T> {
    pub(super) revision: u64,
    /// `None` if it was removed.
    pub(super) value: Option<T>,
}

/// The bucket.
#[derive(Clone, Debug)]
pub(super) struct ClusterBucket {
    bucket: Store,
}

fn json(value: &impl Serialize) -> Bytes {
    // Texts and numbers always serialise.
    serde_json::to_vec(value)
        .map(Bytes::from)
        .unwrap_or_default()
}

fn no_answer(_: Elapsed) -> ClusterError {
    ClusterError::JetStream("no answer".to_owned())
}

fn name_key(node: &str) -> String {
    format!("name.{node}")
}

impl ClusterBucket {
    /// Opens the bucket, or creates it.
    pub(super) async fn open(connection: &Connection) -> Result<Self, ClusterError> {
        Ok(Self {
            bucket: connection.bucket(&connection.names.log()).await?,
        })
    }

    async fn get<T: DeserializeOwned>(
        &self,
        key: &str,
    ) -> Result<Option<Versioned<T>>, ClusterError> {
        let Some(Versioned { revision, value }) = self.raw(key).await? else {
            return Ok(None);
        };

        let value = value
            .map(|value| serde_json::from_slice(&value))
            .transpose()
            .map_err(|error| {
                ClusterError::Refused(format!("the key {key} of the cluster's bucket: {error}"))
            })?;
        Ok(Some(Versioned { revision, value }))
    }

    /// Returns a claim. A value that cannot be read counts as none.
    async fn claim(&self, key: &str) -> Result<Option<Versioned<Claim>>, ClusterError> {
        Ok(self
            .raw(key)
            .await?
            .map(|Versioned { revision, value }| Versioned {
                revision,
                value: value.and_then(|value| serde_json::from_slice(&value).ok()),
            }))
    }

    async fn raw(&self, key: &str) -> Result<Option<Versioned<Bytes>>, ClusterError> {
        let entry = timeout(ACCESS_TIMEOUT, self.bucket.entry(key))
            .await
            .map_err(no_answer)?
            .map_err(|error| failed(&error))?;
        let Some(entry) = entry else { return Ok(None) };

        let value = match entry.operation {
            Operation::Put => Some(entry.value),
            Operation::Delete | Operation::Purge => None,
        };
        Ok(Some(Versioned {
            revision: entry.revision,
            value,
        }))
    }

    /// Writes a value if the key has this revision, or none. Returns the new revision, or `None` if
    /// another node was first.
    async fn replace(
        &self,
        key: &str,
        revision: Option<u64>,
        value: Bytes,
    ) -> Result<Option<u64>, ClusterError> {
        let Some(revision) = revision else {
            let created = timeout(ACCESS_TIMEOUT, self.bucket.create(key, value)).await;
            return match created.map_err(no_answer)? {
                Ok(revision) => Ok(Some(revision)),
                Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(None),
                Err(error) => Err(failed(&error)),
            };
        };

        let updated = timeout(ACCESS_TIMEOUT, self.bucket.update(key, value, revision)).await;
        match updated.map_err(no_answer)? {
            Ok(revision) => Ok(Some(revision)),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(None),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Returns the chain of the cluster, if it has one.
    pub(super) async fn chain(&self) -> Result<Option<ClusterChain>, ClusterError> {
        let found = self
            .get::<ClusterChain>(CHAIN)
            .await?
            .and_then(|found| found.value);
        match found {
            Some(found) if found.format > FORMAT => Err(ClusterError::Refused(format!(
                "the cluster was created by a newer version (format {}, this program knows up to \
                 {FORMAT})",
                found.format
            ))),
            found => Ok(found),
        }
    }

    /// Records the chain of the cluster. Returns whether it had none before.
    pub(super) async fn create_chain(&self, chain: ChainFile) -> Result<bool, ClusterError> {
        Ok(self
            .replace(
                CHAIN,
                None,
                json(&ClusterChain {
                    format: FORMAT,
                    chain,
                }),
            )
            .await?
            .is_some())
    }

    /// Returns who creates the chain.
    pub(super) async fn creator(&self) -> Result<Option<Versioned<Claim>>, ClusterError> {
        self.claim(CREATOR).await
    }

    /// Claims to create the chain. Returns the revision of the claim, or `None` if another node was
    /// first.
    pub(super) async fn claim_creation(
        &self,
        revision: Option<u64>,
        claim: &Claim,
    ) -> Result<Option<u64>, ClusterError> {
        self.replace(CREATOR, revision, json(claim)).await
    }

    /// Returns the lease.
    pub(super) async fn lease(&self) -> Result<Option<Versioned<Claim>>, ClusterError> {
        self.claim(LEASE).await
    }

    /// Takes or renews the lease. Returns its revision, or `None` if another node was first.
    pub(super) async fn take_lease(
        &self,
        revision: Option<u64>,
        claim: &Claim,
    ) -> Result<Option<u64>, ClusterError> {
        self.replace(LEASE, revision, json(claim)).await
    }

    /// Gives the lease up.
    pub(super) async fn release_lease(
        &self,
        revision: u64,
        claim: &Claim,
    ) -> Result<(), ClusterError> {
        // The empty name gives the lease up and keeps the number of the epoch.
        let vacant = Claim {
            node: String::new(),
            instance: 0,
            epoch: claim.epoch,
        };
        self.replace(LEASE, Some(revision), json(&vacant))
            .await
            .map(drop)
    }

    /// Returns which process has a node's name.
    pub(super) async fn name(&self, node: &str) -> Result<Option<Versioned<Claim>>, ClusterError> {
        self.claim(&name_key(node)).await
    }

    /// Takes a node's name, or renews the claim on it. Returns the revision, or `None` if another
    /// process was first.
    pub(super) async fn claim_name(
        &self,
        revision: Option<u64>,
        claim: &Claim,
    ) -> Result<Option<u64>, ClusterError> {
        self.replace(&name_key(&claim.node), revision, json(claim))
            .await
    }

    /// Gives a node's name up.
    pub(super) async fn release_name(&self, node: &str) -> Result<(), ClusterError> {
        self.bucket
            .delete(name_key(node))
            .await
            .map_err(|error| failed(&error))
    }

    /// Returns the time of the servers, since the Unix epoch.
    pub(super) async fn server_time(&self, node: &str) -> Result<Duration, ClusterError> {
        let key = format!("clock.{node}");
        // Another node may be creating the bucket, which then takes no values yet.
        persist(|| self.put_empty(&key)).await?;

        let entry = self
            .bucket
            .entry(&key)
            .await
            .map_err(|error| failed(&error))?;
        let entry =
            entry.ok_or_else(|| ClusterError::JetStream(format!("the key {key} is gone")))?;
        let nanos = entry.created.unix_timestamp_nanos();
        Ok(Duration::from_nanos(
            u64::try_from(nanos).unwrap_or_default(),
        ))
    }

    async fn put_empty(&self, key: &str) -> Result<u64, ClusterError> {
        self.bucket
            .put(key, Bytes::new())
            .await
            .map_err(|error| failed(&error))
    }
}

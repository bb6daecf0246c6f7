//! The node's place in a cluster while it starts.

use std::{path::Path, sync::Arc};

use futures_util::future::BoxFuture;
use tetrad_chain::Chain;
use tetrad_cluster::{
    Cluster, ClusterError, Creation, JoinOptions, Membership,
    jetstream::{JetStreamLogs, LogStream},
};
use tetrad_exchange::ShareHolds;
use tetrad_store::{log::LogStore, storage::Storage};
use tokio::{runtime::Handle, sync::Notify};

use super::{SpawnError, identity};
use crate::config::{Config, Profile};

/// A node that is about to join a cluster.
pub(super) struct Joining {
    membership: Membership,
    stream: LogStream,
    storage: Arc<dyn Storage>,
    /// The claim to create the cluster's chain, if this node does.
    creation: Option<Creation>,
    /// Notified when entries of the log have arrived.
    arrivals: Arc<Notify>,
}

impl Joining {
    /// Connects to the cluster that is configured, if one is, and fills an empty data directory
    /// from it.
    pub(super) async fn begin(
        config: &Config,
        storage: Option<&Arc<dyn Storage>>,
    ) -> Result<Option<Self>, SpawnError> {
        let (Some(storage), Some(directory), true) =
            (storage, &config.data_dir, config.cluster.is_enabled())
        else {
            return Ok(None);
        };

        let membership = Membership::begin(&config.cluster).await?;
        let creation = membership.prepare(storage).await?;
        // Every node has the keys of the one that created the chain: their accounts own its
        // contracts.
        if creation.is_none() && config.profile == Profile::Production {
            for (name, key) in membership.missing_keys(directory).await? {
                identity::write_key(directory, &name, &key)?;
            }
        }

        let stream = membership.log().await?;
        Ok(Some(Self {
            membership,
            stream,
            storage: storage.clone(),
            creation,
            arrivals: Arc::default(),
        }))
    }

    /// Adds the newest checkpoint of the cluster to the data directory.
    pub(super) async fn fetch_checkpoint(&self) -> Result<(), ClusterError> {
        self.membership.fetch_newest(&*self.storage).await
    }

    /// Returns the replicated log, with `copy` as this node's copy of it.
    pub(super) fn log(&self, copy: Arc<dyn LogStore>) -> Arc<dyn LogStore> {
        Arc::new(JetStreamLogs::new(
            copy,
            self.stream.clone(),
            self.membership.leader_copy(),
            Handle::current(),
            self.arrivals.clone(),
        ))
    }

    /// Offers the chain to other nodes, if this node has just created it.
    pub(super) async fn publish(&mut self, directory: &Path) -> Result<(), ClusterError> {
        if let Some(_creation) = self.creation.take() {
            self.membership.share_keys(directory).await?;
            self.membership.publish_chain(&*self.storage).await?;
        }
        Ok(())
    }

    /// Joins the cluster.
    pub(super) async fn join(
        self,
        chain: &Chain,
        config: &Config,
        url: String,
    ) -> Result<Cluster, ClusterError> {
        let options = JoinOptions {
            url,
            allows_changes: config.rpc.development,
            arrivals: self.arrivals,
        };
        self.membership.join(chain, self.storage, options).await
    }
}

/// The other nodes of the cluster, which hold the prices that are set by hand.
pub(super) struct OtherHolds(pub(super) Cluster);

impl ShareHolds for OtherHolds {
    fn share(&self, token: usize, price: Option<u64>) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            self.0
                .share_held_price(token, price)
                .await
                .map_err(|error| error.to_string())
        })
    }
}

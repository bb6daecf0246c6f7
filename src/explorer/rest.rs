//! The state of the interface, and how its routes read the index.

use std::{future::Future, pin::Pin, sync::Arc};

use axum::body::Bytes;
use tokio::sync::Semaphore;

use super::{page::PageBody, render::Render};
use crate::{
    chain::Chain,
    index::{Index, IndexError, Waiting},
    network::Network,
    sources::{KnownContracts, Verifier},
    web::{Budget, Client, ClientAddresses, Interface, NoCache, RestError},
};

/// Reads of the index that may run at once.
const MAX_READS: usize = 4;

/// Bodies with sources that are parsed at once.
const MAX_UPLOADS: usize = 4;

/// The node's JSON-RPC, for the module `proxy`: answers a request with a response.
pub type JsonRpc = dyn Fn(Client, Vec<u8>) -> Pin<Box<dyn Future<Output = Bytes> + Send>> + Send + Sync;

/// The interface. Clones share it.
#[derive(Clone)]
pub struct Explorer(pub(super) Arc<Shared>);

/// What requests share.
pub(super) struct Shared {
    pub(super) chain: Chain,
    pub(super) index: Index,
    pub(super) network: Arc<Network>,
    pub(super) known: KnownContracts,
    pub(super) verifier: Verifier,
    /// Limits the bodies with sources that are parsed at once.
    pub(super) uploads: Arc<Semaphore>,
    /// The memory for bodies with sources.
    pub(super) budget: Budget,
    pub(super) json_rpc: Arc<JsonRpc>,
    pub(super) clients: ClientAddresses,
    reads: Arc<Semaphore>,
}

/// The result of a handler.
pub(super) type Body<T> = Result<NoCache<T>, RestError>;

/// The result of a handler of a list.
pub(super) type List<T> = Result<PageBody<T>, RestError>;

impl Interface for Explorer {
    type Error = RestError;

    fn network(&self) -> &Network {
        &self.0.network
    }
}

impl From<Waiting> for RestError {
    fn from(error: Waiting) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<IndexError> for RestError {
    fn from(error: IndexError) -> Self {
        Self::Internal(error.to_string())
    }
}

impl Explorer {
    /// The interface to the index of `chain`, with the contracts whose sources are known.
    #[allow(clippy::too_many_arguments, reason = "each is a part of its own")]
    pub fn new(
        chain: Chain,
        index: Index,
        network: Arc<Network>,
        known: KnownContracts,
        verifier: Verifier,
        json_rpc: Arc<JsonRpc>,
        clients: ClientAddresses,
        budget: Budget,
    ) -> Self {
        let reads = Arc::new(Semaphore::new(MAX_READS));
        let uploads = Arc::new(Semaphore::new(MAX_UPLOADS));
        Self(Arc::new(Shared { chain, index, network, known, verifier, uploads, budget, json_rpc, clients, reads }))
    }

    /// Reads the index once it has reached the head, on a thread that may block.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared, &Render<'_>) -> Result<T, RestError> + Send + 'static,
    ) -> Result<T, RestError> {
        let reader = self.0.index.reader().await?;
        let permit = self.0.reads.clone().acquire_owned().await;
        let shared = self.0.clone();
        let run = move || {
            let _permit = permit;
            work(&shared, &Render::new(&reader, &shared.known))
        };
        tokio::task::spawn_blocking(run).await?
    }

    /// The same for a body.
    pub(super) async fn body<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared, &Render<'_>) -> Result<T, RestError> + Send + 'static,
    ) -> Body<T> {
        self.read(work).await.map(NoCache)
    }
}

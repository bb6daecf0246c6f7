//! The state of the interface, and how its routes read the index.

use std::{future::Future, pin::Pin, sync::Arc};

use serde::Serialize;
use tetrad_chain::Chain;
use tetrad_contracts::sources::{KnownContracts, Verifier};
use tetrad_network::network::Network;
use tetrad_web::{Answer, Interface, RestError, WrittenJson, in_turn};

use super::{page::PageBody, render::Render};
use crate::index::{Index, IndexError, Waiting};

/// The node's JSON-RPC, for the module `proxy`: answers a request with a response.
pub(super) type JsonRpc =
    dyn Fn(Vec<u8>) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send + Sync;

/// The interface. Clones share it.
#[derive(Clone)]
pub struct Explorer(pub(super) Arc<SharedExplorer>);

/// The parts that requests share.
pub(super) struct SharedExplorer {
    pub(super) chain: Chain,
    pub(super) index: Index,
    pub(super) network: Arc<Network>,
    pub(super) known: KnownContracts,
    pub(super) verifier: Verifier,
    pub(super) json_rpc: Arc<JsonRpc>,
}

/// The result of a handler.
pub(super) type Body<T> = Result<WrittenJson<T>, RestError>;

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
    ) -> Self {
        Self(Arc::new(SharedExplorer {
            chain,
            index,
            network,
            known,
            verifier,
            json_rpc,
        }))
    }

    /// Reads the index once it has reached the head, in the turn of the client. What `work` returns
    /// waits for the task of the request, and does not count meanwhile: it writes what is long.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SharedExplorer, &Render<'_>) -> Result<T, RestError> + Send + 'static,
    ) -> Result<T, RestError> {
        let reader = self.0.index.reader().await?;
        let shared = self.0.clone();
        in_turn(move || work(&shared, &Render::new(&reader, &shared.known))).await
    }

    /// The same for a body.
    pub(super) async fn body<T: Serialize + 'static>(
        &self,
        work: impl FnOnce(&SharedExplorer, &Render<'_>) -> Result<T, RestError> + Send + 'static,
    ) -> Body<T> {
        self.read(|shared, render| Ok(WrittenJson::new(&work(shared, render)?)?))
            .await
    }
}

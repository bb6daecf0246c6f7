//! Prices set by hand, for developers who test how their programs react to them.
//!
//! The oracle's owner signs them.

use std::sync::Arc;

use alloy_primitives::{B256, U256};
use alloy_sol_types::SolCall;
use futures_util::future::BoxFuture;
use tetrad_chain::{OutgoingCall, SendError, TransactionSender};
use tetrad_contracts::contracts::bindings::PriceOracle;
use tetrad_network::network::Network;
use tokio::sync::Mutex;

use super::feed::{Condition, SourceSet};

/// Gas limit of the transaction that sets a price.
const GAS: u64 = 150_000;

/// The other nodes of a cluster, which hold the same prices: any of them may have to update prices.
pub trait ShareHolds: Send + Sync {
    /// Has all nodes hold a token's price, or release it. The error is the reason why they could
    /// not be told.
    fn share(&self, token: usize, price: Option<u64>) -> BoxFuture<'_, Result<(), String>>;
}

/// Sets prices and holds them until they are released.
pub struct ManualPrices {
    network: Arc<Network>,
    sources: Arc<SourceSet>,
    /// The oracle's owner, who may move a price any distance; none if prices cannot be set on this
    /// node.
    owner: Option<Arc<TransactionSender>>,
    /// The other nodes of the cluster, if there is one.
    others: Option<Arc<dyn ShareHolds>>,
    /// Held while a price is set or released, so that the price that is held is the one that is put
    /// on the chain last.
    changing: Mutex<()>,
}

/// The reason why a price could not be set.
#[derive(Debug, thiserror::Error)]
pub enum ManualPriceError {
    /// The network has no such token.
    #[error("no such token")]
    NoToken,
    /// The node does not hold the key.
    #[error("prices cannot be set on this node")]
    NoKey,
    /// The other nodes of the cluster could not be told.
    #[error("the cluster cannot be reached: {0}")]
    Unshared(String),
    /// The owner's transaction was not sent.
    #[error("the chain refused the price: {0}")]
    Refused(#[from] SendError),
}

impl ManualPrices {
    /// Manual prices, which the oracle's owner signs, if the node has the key.
    pub fn new(
        network: Arc<Network>,
        sources: Arc<SourceSet>,
        owner: Option<Arc<TransactionSender>>,
        others: Option<Arc<dyn ShareHolds>>,
    ) -> Self {
        Self {
            network,
            sources,
            owner,
            others,
            changing: Mutex::default(),
        }
    }

    /// Holds a token's price, or releases it. If the other nodes cannot be told, nothing changes.
    async fn hold(&self, token: usize, price: Option<u64>) -> Result<(), ManualPriceError> {
        let manual = self.sources.manual();
        let before = manual.held(token);
        manual.hold(token, price);

        let Some(others) = &self.others else {
            return Ok(());
        };
        others.share(token, price).await.map_err(|error| {
            manual.hold(token, before);
            ManualPriceError::Unshared(error)
        })
    }

    /// Whether prices can be set on this node.
    pub fn is_open(&self) -> bool {
        self.owner.is_some()
    }

    /// The condition of each price source.
    pub fn conditions(&self) -> Vec<Condition> {
        self.sources.conditions()
    }

    /// The tokens whose prices are held, and these prices in US dollars × 10^8.
    pub fn held(&self) -> Vec<(usize, u64)> {
        let manual = self.sources.manual();
        (0..self.network.tokens.len())
            .filter_map(|token| Some((token, manual.held(token)?)))
            .collect()
    }

    /// The last price that the sources agreed on for each token.
    pub fn opinions(&self) -> Vec<Option<u64>> {
        self.sources.last()
    }

    /// Puts a token's price on the chain, however far it moves, and holds it there. Returns the
    /// transaction's hash, with instant sealing once its block is published.
    ///
    /// # Errors
    /// See [`ManualPriceError`].
    pub async fn set(&self, token: usize, price: u64) -> Result<B256, ManualPriceError> {
        let owner = self.owner.as_ref().ok_or(ManualPriceError::NoKey)?;
        let address = self
            .network
            .tokens
            .get(token)
            .ok_or(ManualPriceError::NoToken)?
            .address;

        let call = PriceOracle::setPriceCall {
            token: address,
            price: U256::from(price),
        };
        let call = OutgoingCall {
            to: self.network.contracts.oracle,
            value: U256::ZERO,
            input: call.abi_encode().into(),
            gas_limit: GAS,
            access_list: None,
        };

        let _changing = self.changing.lock().await;
        let before = self.sources.manual().held(token);
        // Held first, so that no update in between moves the price away again.
        self.hold(token, Some(price)).await?;
        match owner.send(&call).await {
            Ok(hash) => Ok(hash),
            Err(error) => {
                self.hold(token, before).await?;
                Err(error.into())
            }
        }
    }

    /// Releases a price, which the sources then move again. Returns whether it was held.
    ///
    /// # Errors
    /// [`ManualPriceError::Unshared`].
    pub async fn release(&self, token: usize) -> Result<bool, ManualPriceError> {
        let _changing = self.changing.lock().await;
        let held = self.sources.manual().held(token).is_some();
        self.hold(token, None).await?;
        Ok(held)
    }
}

//! Prices set by hand, for developers who test how their programs react to them.

use std::sync::Arc;

use alloy_primitives::{B256, U256};
use alloy_sol_types::SolCall;
use futures_util::future::BoxFuture;
use tokio::sync::Mutex;

use super::feed::{Condition, SourceSet};
use crate::{
    account::SecretKey,
    block::{GasPrice, Submission, TransactionFields},
    chain::{Chain, SubmitError, UnsignedTransaction, sign_transaction},
    contracts::bindings::PriceOracle,
    network::Network,
};

/// Gas limit of the transaction that sets a price.
const GAS: u64 = 150_000;

/// The other nodes of a cluster, which hold the same prices: any of them may have to update prices.
pub trait ShareHolds: Send + Sync {
    /// Has all nodes hold a token's price, or release it. The error is the reason why they could not be told.
    fn share(&self, token: usize, price: Option<u64>) -> BoxFuture<'_, Result<(), String>>;
}

/// Sets prices and holds them until they are released.
pub struct ManualPrices {
    chain: Chain,
    network: Arc<Network>,
    sources: Arc<SourceSet>,
    /// The key of the oracle's owner, who may move a price any distance; none if prices cannot be set on this node.
    owner: Option<SecretKey>,
    /// The other nodes of the cluster, if there is one.
    others: Option<Arc<dyn ShareHolds>>,
    /// Held from the choice of a nonce until the transaction is in the pool.
    turn: Mutex<()>,
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
    /// Signing failed.
    #[error("signing with the owner's key failed: {0}")]
    Sign(String),
    /// The other nodes of the cluster could not be told.
    #[error("the cluster cannot be reached: {0}")]
    Unshared(String),
    /// The chain refused the transaction.
    #[error("the chain refused the price: {0}")]
    Refused(#[from] SubmitError),
}

impl ManualPrices {
    /// Manual prices, signed with the owner's key if there is one.
    pub fn new(
        chain: Chain,
        network: Arc<Network>,
        sources: Arc<SourceSet>,
        owner: Option<SecretKey>,
        others: Option<Arc<dyn ShareHolds>>,
    ) -> Self {
        Self { chain, network, sources, owner, others, turn: Mutex::default() }
    }

    /// Holds a token's price, or releases it.
    async fn hold(&self, token: usize, price: Option<u64>) -> Result<(), ManualPriceError> {
        self.sources.manual().hold(token, price);
        match &self.others {
            Some(others) => others.share(token, price).await.map_err(ManualPriceError::Unshared),
            None => Ok(()),
        }
    }

    /// Whether prices can be set on this node.
    pub fn is_open(&self) -> bool {
        self.owner.is_some()
    }

    /// The condition of each price source.
    pub fn conditions(&self) -> Vec<Condition> {
        self.sources.conditions()
    }

    /// The last price that the sources agreed on for each token.
    pub fn opinions(&self) -> Vec<Option<u64>> {
        self.sources.last()
    }

    /// Puts a token's price on the chain, however far it moves, and holds it there. Returns the transaction's hash, with
    /// instant sealing once its block is published.
    ///
    /// # Errors
    /// See [`ManualPriceError`].
    pub async fn set(&self, token: usize, price: u64) -> Result<B256, ManualPriceError> {
        let key = self.owner.as_ref().ok_or(ManualPriceError::NoKey)?;
        let address = self.network.tokens.get(token).ok_or(ManualPriceError::NoToken)?.address;
        let call = PriceOracle::setPriceCall { token: address, price: U256::from(price) };
        let accepted = {
            let _turn = self.turn.lock().await;
            let transaction = sign_transaction(key, self.transaction(key, call.abi_encode())?);
            let transaction = transaction.map_err(|error| ManualPriceError::Sign(error.to_string()))?;
            // Held first, so that no update in between moves the price away again.
            self.hold(token, Some(price)).await?;
            self.chain.accept(Submission { transaction, sidecar: None })
        };
        let settled = match accepted {
            Ok(accepted) => self.chain.settled(accepted).await,
            Err(error) => Err(error),
        };
        match settled {
            Ok(hash) => Ok(hash),
            Err(error) => {
                self.hold(token, None).await?;
                Err(error.into())
            }
        }
    }

    /// Releases a price, which the sources then move again. Returns whether it was held.
    ///
    /// # Errors
    /// [`ManualPriceError::Unshared`].
    pub async fn release(&self, token: usize) -> Result<bool, ManualPriceError> {
        let held = self.sources.manual().held(token).is_some();
        self.hold(token, None).await?;
        Ok(held)
    }

    fn transaction(&self, key: &SecretKey, input: Vec<u8>) -> Result<UnsignedTransaction, SubmitError> {
        let (chain_id, from) = (self.chain.params().chain_id, key.address());
        // The pool is read before the head: a transaction that leaves the pool in between is in the head.
        let nonce = match self.chain.pool().pending_nonce(from) {
            Some(nonce) => nonce,
            None => self.chain.head().state.nonce(from)?,
        };
        let gas_price = match self.chain.next_base_fee(&self.chain.head()) {
            Some(base_fee) => GasPrice::Dynamic {
                // Twice the base fee, as wallets set it: the transaction may have to wait for a block.
                max_fee: 2 * u128::from(base_fee) + self.chain.min_tip(),
                max_tip: self.chain.min_tip(),
            },
            None => GasPrice::Fixed(self.chain.min_tip()),
        };
        let oracle = self.network.contracts.oracle;
        Ok(TransactionFields::call(chain_id, nonce, GAS, gas_price, oracle, input.into()).into())
    }
}

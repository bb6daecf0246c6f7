//! Where prices are set by hand: for those who develop against the node and want to see what happens then.

use std::sync::Arc;

use alloy_primitives::{B256, U256};
use alloy_sol_types::SolCall;
use tokio::sync::Mutex;

use super::feed::{Condition, Panel};
use crate::{
    account::SecretKey,
    block::{GasPrice, Submission, TransactionFields},
    chain::{Chain, SubmitError, UnsignedTransaction, sign_transaction},
    contracts::bindings::PriceOracle,
    network::Network,
};

/// Gas for a price.
const GAS: u64 = 150_000;

/// Sets prices and holds them there.
pub struct Desk {
    chain: Chain,
    network: Arc<Network>,
    panel: Arc<Panel>,
    /// The key of the oracle's owner, who may move a price as far as one likes; none if nobody may do that from here.
    owner: Option<SecretKey>,
    /// Held from choosing a nonce to having the transaction in the pool.
    turn: Mutex<()>,
}

/// A price could not be set.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// There is no such token.
    #[error("no such token")]
    NoToken,
    /// The node does not hold the key.
    #[error("prices cannot be set on this node")]
    NoKey,
    /// The key does not sign.
    #[error("the owner's key does not sign: {0}")]
    Sign(String),
    /// The chain does not take the transaction.
    #[error("the chain refused the price: {0}")]
    Refused(#[from] SubmitError),
}

impl Desk {
    /// A desk that signs with the owner's key, if there is one.
    pub fn new(chain: Chain, network: Arc<Network>, panel: Arc<Panel>, owner: Option<SecretKey>) -> Self {
        Self { chain, network, panel, owner, turn: Mutex::default() }
    }

    /// Whether prices may be set here.
    pub fn is_open(&self) -> bool {
        self.owner.is_some()
    }

    /// How the sources do that prices come from otherwise.
    pub fn conditions(&self) -> Vec<Condition> {
        self.panel.conditions()
    }

    /// What the sources thought of each token when they were asked last.
    pub fn opinions(&self) -> Vec<Option<u64>> {
        self.panel.last()
    }

    /// Puts a token's price on the chain, however far it moves, and holds it there. Returns the transaction's hash, with
    /// instant sealing once its block is published.
    ///
    /// # Errors
    /// See [`DeskError`].
    pub async fn set(&self, token: usize, price: u64) -> Result<B256, DeskError> {
        let key = self.owner.as_ref().ok_or(DeskError::NoKey)?;
        let address = self.network.tokens.get(token).ok_or(DeskError::NoToken)?.address;
        let call = PriceOracle::setPriceCall { token: address, price: U256::from(price) };
        let accepted = {
            let _turn = self.turn.lock().await;
            let transaction = sign_transaction(key, self.transaction(key, call.abi_encode())?);
            let transaction = transaction.map_err(|error| DeskError::Sign(error.to_string()))?;
            // First, so that no update comes in between that moves it elsewhere again.
            self.panel.manual().hold(token, Some(price));
            self.chain.accept(Submission { transaction, sidecar: None })
        };
        let settled = match accepted {
            Ok(accepted) => self.chain.settled(accepted).await,
            Err(error) => Err(error),
        };
        settled.map_err(|error| {
            self.panel.manual().hold(token, None);
            error.into()
        })
    }

    /// Lets go of a price: from here on the sources move it again. Returns whether it was held.
    pub fn release(&self, token: usize) -> bool {
        let manual = self.panel.manual();
        let held = manual.held(token).is_some();
        manual.hold(token, None);
        held
    }

    fn transaction(&self, key: &SecretKey, input: Vec<u8>) -> Result<UnsignedTransaction, SubmitError> {
        let (chain_id, from) = (self.chain.params().chain_id, key.address());
        // The pool first, then the head: what has left the pool in between is in the head.
        let nonce = match self.chain.pool().pending_nonce(from) {
            Some(nonce) => nonce,
            None => self.chain.head().state.nonce(from)?,
        };
        let gas_price = match self.chain.next_base_fee(&self.chain.head()) {
            Some(base_fee) => GasPrice::Dynamic {
                // Twice, as wallets do it: it may have to wait for a block.
                max_fee: 2 * u128::from(base_fee) + self.chain.min_tip(),
                max_tip: self.chain.min_tip(),
            },
            None => GasPrice::Fixed(self.chain.min_tip()),
        };
        let oracle = self.network.contracts.oracle;
        Ok(TransactionFields::call(chain_id, nonce, GAS, gas_price, oracle, input.into()).into())
    }
}

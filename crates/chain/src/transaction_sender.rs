//! Transactions of the accounts that the node acts for.

use std::time::Duration;

use alloy_eips::eip2930::AccessList;
use alloy_primitives::{Address, B256, Bytes, U256};
use tetrad_primitives::block::{GasPrice, Submission, TransactionFields};
use tokio::{sync::Mutex, time::sleep};

use super::{Chain, Signer, SubmitError};

/// Attempts to send a transaction: a client, or another node of the cluster, may use the same
/// account, and take the nonce first.
const ATTEMPTS: u32 = 6;
/// The pause before the third attempt and each further one: what took the nonce may be in the pool
/// of another node, which this one sees in the next block.
const PAUSE: Duration = Duration::from_millis(400);

/// The sender of transactions from one account.
pub struct TransactionSender {
    chain: Chain,
    signer: Signer,
    /// Held from the choice of a nonce until the transaction is in the pool.
    turn: Mutex<()>,
}

/// A transaction without what its sender adds.
#[derive(Clone, Debug)]
pub struct OutgoingCall {
    /// The recipient.
    pub to: Address,
    /// The value in wei.
    pub value: U256,
    /// The call data.
    pub input: Bytes,
    /// The gas limit.
    pub gas_limit: u64,
    /// The access list, if it has one.
    pub access_list: Option<AccessList>,
}

/// The reason why a transaction was not sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// Signing failed.
    #[error("signing failed: {0}")]
    Sign(String),
    /// The chain refused the transaction.
    #[error(transparent)]
    Refused(#[from] SubmitError),
}

impl TransactionSender {
    /// A sender of the transactions of `signer`.
    pub fn new(chain: Chain, signer: Signer) -> Self {
        Self {
            chain,
            signer,
            turn: Mutex::default(),
        }
    }

    /// Returns the account.
    pub fn account(&self) -> Address {
        self.signer.account()
    }

    /// Sends a transaction. Returns its hash, with instant sealing once its block is published.
    ///
    /// # Errors
    /// See [`SendError`].
    pub async fn send(&self, call: &OutgoingCall) -> Result<B256, SendError> {
        self.send_planned(|| Ok(call.clone())).await
    }

    /// Sends the transaction that `plan` returns, which is called before each attempt. Until this
    /// one is in the pool, no other transaction of this sender is planned.
    ///
    /// # Errors
    /// That of `plan`, or see [`SendError`].
    pub async fn send_planned<E: From<SendError>>(
        &self,
        plan: impl Fn() -> Result<OutgoingCall, E>,
    ) -> Result<B256, E> {
        let mut attempt = 1;
        loop {
            let accepted = {
                let _turn = self.turn.lock().await;
                let call = plan()?;
                let fields = self.fields(call).map_err(SendError::from)?;
                let signed = self.signer.sign(fields.into());
                let transaction = signed.map_err(|error| SendError::Sign(error.to_string()))?;
                self.chain.accept(Submission {
                    transaction,
                    sidecar: None,
                })
            };

            let outcome = match accepted {
                Ok(accepted) => self.chain.acknowledged(accepted).await,
                Err(error) => Err(error),
            };

            match outcome {
                // Another sender of the account was first, such as another node of the cluster.
                Err(SubmitError::NonceTooLow { .. } | SubmitError::ReplacementUnderpriced)
                    if attempt < ATTEMPTS =>
                {
                    if attempt > 1 {
                        sleep(PAUSE).await;
                    }
                    attempt += 1;
                }
                outcome => return Ok(outcome.map_err(SendError::from)?),
            }
        }
    }

    fn fields(&self, call: OutgoingCall) -> Result<TransactionFields, SubmitError> {
        let chain_id = self.chain.params().chain_id;
        let from = self.account();

        // The pool is read before the head: a transaction that leaves the pool in between is in the
        // head.
        let nonce = match self.chain.pool().pending_nonce(from) {
            Some(nonce) => nonce,
            None => self.chain.head().state.nonce(from)?,
        };

        let min_tip = self.chain.min_tip();
        let gas_price = match self.chain.next_base_fee(&self.chain.head()) {
            // Twice the base fee, as wallets set it: the transaction may have to wait for a block.
            Some(base_fee) => GasPrice::Dynamic {
                max_fee: 2 * u128::from(base_fee) + min_tip,
                max_tip: min_tip,
            },
            None => GasPrice::Fixed(min_tip),
        };

        let OutgoingCall {
            to,
            value,
            input,
            gas_limit,
            access_list,
        } = call;
        let fields = TransactionFields::call(chain_id, nonce, gas_limit, gas_price, to, input);
        Ok(TransactionFields {
            value,
            access_list,
            ..fields
        })
    }
}

impl std::fmt::Debug for TransactionSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TransactionSender")
            .field("account", &self.account())
            .finish_non_exhaustive()
    }
}

//! Transactions that clients send: checked, simulated and submitted, whichever interface they come
//! through.

use alloy_consensus::Transaction as _;
use alloy_primitives::B256;
use tetrad_chain::{Accepted, SubmitError};
use tetrad_primitives::block::{
    DecodeError, Submission, Transaction,
    cosmos::{
        CosmosError, CosmosNetwork, CosmosTransaction, DecodedTx, cosmos_hash, ethereum_tx_raw,
    },
};
use tetrad_web::{ExecutionFailed, in_turn};

use super::Gateway;

/// The outcome of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TxOutcome {
    /// The reason why it was refused, if it was.
    pub refusal: Option<CosmosError>,
    /// The gas limit.
    pub gas_wanted: u64,
    /// The gas that it needs; 0 if that is known after execution only.
    pub gas_used: u64,
    /// The Cosmos hash: SHA-256 of the transaction as blocks show it.
    pub hash: B256,
}

/// A transaction that passed all checks and is in the pool.
pub(super) struct AcceptedTx {
    pub(super) outcome: TxOutcome,
    /// The Ethereum hash.
    pub(super) ethereum_hash: B256,
    accepted: Accepted,
}

/// A decoded transaction that the pool does not have yet.
enum NewTx {
    /// A transaction of the bank module, and how it is in a block.
    Bank(Box<CosmosTransaction>, Transaction),
    Ethereum(Submission),
}

impl TxOutcome {
    fn of(raw: &[u8]) -> Self {
        Self {
            refusal: None,
            gas_wanted: 0,
            gas_used: 0,
            hash: cosmos_hash(raw),
        }
    }

    /// The code of the SDK; 0 for success.
    pub(crate) fn code(&self) -> u32 {
        self.refusal.as_ref().map_or(0, |refusal| refusal.code)
    }

    /// The codespace of the code; empty for success.
    pub(crate) fn codespace(&self) -> &str {
        self.refusal
            .as_ref()
            .map_or("", |refusal| &refusal.codespace)
    }

    /// The reason; empty for success.
    pub(crate) fn log(&self) -> &str {
        self.refusal.as_ref().map_or("", |refusal| &refusal.log)
    }

    fn refused(self, refusal: CosmosError) -> Self {
        Self {
            refusal: Some(refusal),
            ..self
        }
    }
}

impl Gateway {
    /// Checks a transaction (`TxRaw`) as if it was sent, without sending it.
    pub(crate) fn check_tx(&self, raw: &[u8]) -> TxOutcome {
        match self.decode_new(raw) {
            Ok((NewTx::Bank(tx, _), outcome)) => match self.chain.check_cosmos(&tx) {
                Ok(()) => outcome,
                Err(error) => outcome.refused(error),
            },
            Ok((NewTx::Ethereum(_), outcome)) | Err(outcome) => outcome,
        }
    }

    /// Simulates a transaction, which needs neither a signature nor a fee. Returns the gas limit
    /// that it has, and the gas that it needs.
    pub(crate) fn simulate_tx(&self, raw: &[u8]) -> Result<(u64, u64), CosmosError> {
        match DecodedTx::decode(raw)? {
            DecodedTx::Bank(tx) => Ok((signed(tx.gas_limit), self.chain.simulate_cosmos(&tx)?)),
            DecodedTx::Ethereum(_) => Err(CosmosError::invalid_request(
                "estimate the gas of an Ethereum transaction with eth_estimateGas",
            )),
        }
    }

    /// Sends a transaction, and waits as `eth_sendRawTransaction` does: with instant sealing until
    /// its block is published, otherwise until the pool has it.
    pub(crate) async fn broadcast_tx(&self, raw: &[u8]) -> TxOutcome {
        match self.accept_in_turn(raw).await {
            Ok(accepted) => self.acknowledged_tx(accepted).await,
            Err(outcome) => outcome,
        }
    }

    /// Adds a transaction to the pool in the turn of its client, since a signature takes long to
    /// verify.
    pub(super) async fn accept_in_turn(&self, raw: &[u8]) -> Result<AcceptedTx, TxOutcome> {
        let gateway = self.clone();
        let own = raw.to_vec();
        let accepted = in_turn(move || Ok::<_, ExecutionFailed>(gateway.accept_tx(&own))).await;
        accepted
            .unwrap_or_else(|failed| Err(TxOutcome::of(raw).refused(CosmosError::logic(failed))))
    }

    /// Sends a transaction without waiting for its block, and reports no refusal.
    pub(crate) async fn broadcast_tx_unchecked(&self, raw: &[u8]) -> TxOutcome {
        match self.accept_in_turn(raw).await {
            Ok(accepted) => {
                let gateway = self.clone();
                let outcome = accepted.outcome.clone();
                // The pool limits the number of such tasks.
                tokio::spawn(async move { gateway.acknowledged_tx(accepted).await });
                outcome
            }
            Err(outcome) => TxOutcome {
                refusal: None,
                ..outcome
            },
        }
    }

    /// Adds a transaction to the pool: decodes it once, and verifies its signature after everything
    /// else. This is all of the computation for a transaction that is sent, and may run on any
    /// thread.
    fn accept_tx(&self, raw: &[u8]) -> Result<AcceptedTx, TxOutcome> {
        let (new, outcome) = self.decode_new(raw)?;
        let (ethereum_hash, accepted) = match new {
            NewTx::Bank(tx, transaction) => (
                transaction.hash(),
                self.chain.accept_cosmos(&tx, transaction),
            ),
            NewTx::Ethereum(submission) => {
                (submission.transaction.hash(), self.chain.accept(submission))
            }
        };
        match accepted {
            Ok(accepted) => Ok(AcceptedTx {
                outcome,
                ethereum_hash,
                accepted,
            }),
            Err(error) => Err(outcome.refused(refusal(error))),
        }
    }

    /// Waits until an accepted transaction is acknowledged: in a block, or stored to wait for one.
    pub(super) async fn acknowledged_tx(&self, accepted: AcceptedTx) -> TxOutcome {
        let AcceptedTx {
            outcome, accepted, ..
        } = accepted;
        match self.chain.acknowledged(accepted).await {
            Ok(_) => outcome,
            Err(error) => outcome.refused(refusal(error)),
        }
    }

    fn decode_new(&self, raw: &[u8]) -> Result<(NewTx, TxOutcome), TxOutcome> {
        let outcome = TxOutcome::of(raw);
        match DecodedTx::decode(raw) {
            Ok(DecodedTx::Bank(tx)) => self.new_bank(tx, outcome),
            Ok(DecodedTx::Ethereum(raw)) => self.new_ethereum(&raw, outcome),
            Err(error) => Err(outcome.refused(error)),
        }
    }

    fn new_bank(
        &self,
        tx: Box<CosmosTransaction>,
        outcome: TxOutcome,
    ) -> Result<(NewTx, TxOutcome), TxOutcome> {
        let outcome = TxOutcome {
            gas_wanted: signed(tx.gas_limit),
            gas_used: tx.gas_needed(),
            ..outcome
        };

        let transaction = match Transaction::from_cosmos(&tx) {
            Ok(transaction) => transaction,
            Err(error) => return Err(outcome.refused(error)),
        };

        // Before the signature is verified, which takes longest.
        if self.chain.pool().get(transaction.hash()).is_some() {
            return Err(outcome.refused(refusal(SubmitError::AlreadyKnown)));
        }
        Ok((NewTx::Bank(tx, transaction), outcome))
    }

    fn new_ethereum(
        &self,
        raw: &[u8],
        outcome: TxOutcome,
    ) -> Result<(NewTx, TxOutcome), TxOutcome> {
        let submission = match Submission::decode(raw) {
            Ok(submission) => submission,
            Err(error) => return Err(outcome.refused(refusal(error.into()))),
        };

        let transaction = &submission.transaction;
        let outcome = TxOutcome {
            gas_wanted: signed(transaction.envelope.gas_limit()),
            hash: cosmos_hash(&self.raw_tx(transaction)),
            ..outcome
        };

        // Before the signature is verified, which takes longest.
        if self.chain.pool().get(transaction.hash()).is_some() {
            return Err(outcome.refused(refusal(SubmitError::AlreadyKnown)));
        }
        Ok((NewTx::Ethereum(submission), outcome))
    }

    /// A transaction as blocks show it to Cosmos clients: `TxRaw`.
    pub(super) fn raw_tx(&self, transaction: &Transaction) -> Vec<u8> {
        raw_tx(transaction, &self.node.network)
    }
}

/// A transaction as blocks show it to Cosmos clients: `TxRaw`. An Ethereum transaction is in a
/// `MsgEthereumTx`.
pub(super) fn raw_tx(transaction: &Transaction, network: &CosmosNetwork) -> Vec<u8> {
    let tx = &transaction.envelope;
    if transaction.is_cosmos() {
        // A block has it as the input of an envelope.
        return tx.input().to_vec();
    }
    ethereum_tx_raw(
        transaction.sender,
        transaction.encode(),
        tx.gas_limit(),
        tx.max_fee_per_gas(),
        network,
    )
}

/// A gas limit as messages have it, whose integers are signed. Larger ones are refused anyway.
fn signed(gas: u64) -> u64 {
    gas.min(i64::MAX as u64)
}

/// The SDK's error for a transaction that the chain refuses.
fn refusal(error: SubmitError) -> CosmosError {
    match error {
        SubmitError::Cosmos(error) => error,
        SubmitError::AlreadyKnown => CosmosError::in_mempool_cache("tx already exists in cache"),
        SubmitError::PoolFull
        | SubmitError::Outbid
        | SubmitError::FutureReplacesPending
        | SubmitError::AccountLimit { .. }
        | SubmitError::Evicted => CosmosError::mempool_full(error),
        // Clients read the expected sequence from the SDK's sentence.
        SubmitError::NonceTooLow { next, nonce } => CosmosError::wrong_sequence(format!(
            "account sequence mismatch, expected {next}, got {nonce}"
        )),
        SubmitError::ReplacementUnderpriced => CosmosError::wrong_sequence(error),
        SubmitError::InsufficientFunds { .. } => CosmosError::insufficient_funds(error),
        SubmitError::Underpriced { .. }
        | SubmitError::TipAboveFeeCap { .. }
        | SubmitError::FeeCapTooLow { .. } => CosmosError::insufficient_fee(error),
        SubmitError::Oversized { .. } => CosmosError::too_large(error),
        SubmitError::IntrinsicGas { .. } | SubmitError::FloorDataGas { .. } => {
            CosmosError::out_of_gas(error)
        }
        SubmitError::BlockGasLimit | SubmitError::TransactionGasCap { .. } => {
            CosmosError::invalid_gas_limit(error)
        }
        SubmitError::Decode(DecodeError::Signature) | SubmitError::WrongChain { .. } => {
            CosmosError::unauthorized(error)
        }
        SubmitError::Decode(_) => CosmosError::parse(error),
        error => CosmosError::logic(error),
    }
}

//! CometBFT's methods that send transactions.

use std::time::Duration;

use alloy_primitives::{B256, hex};
use serde_json::{Value, json};
use tetrad_chain::Event;
use tetrad_web::json_rpc::INTERNAL_ERROR;
use tokio::{
    sync::broadcast::error::RecvError,
    time::{Instant, timeout_at},
};

use super::{
    Gateway,
    comet_call::{CometCall, CometFailure},
    tx::TxOutcome,
    tx_result::TxResult,
};

/// The time for which `broadcast_tx_commit` waits for a block, CometBFT's default.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(10);
/// The codes of the SDK for refusals by the mempool, which are errors of CometBFT.
const MEMPOOL_CODES: [u32; 3] = [19, 20, 21];

/// `check_tx`: checks a transaction without sending it.
pub(super) fn check(call: &CometCall) -> Result<Value, CometFailure> {
    Ok(checked(&call.gateway.check_tx(&call.tx()?)))
}

/// `broadcast_tx_async`: sends a transaction without waiting for its checks.
pub(super) async fn broadcast_async(call: CometCall) -> Result<Value, CometFailure> {
    Ok(broadcast(
        &call.gateway.broadcast_tx_unchecked(&call.tx()?).await,
    ))
}

/// `broadcast_tx_sync`: sends a transaction, and waits for its checks.
pub(super) async fn broadcast_sync(call: CometCall) -> Result<Value, CometFailure> {
    let outcome = call.gateway.broadcast_tx(&call.tx()?).await;
    pooled(&outcome)?;
    Ok(broadcast(&outcome))
}

/// `broadcast_tx_commit`: sends a transaction, and waits for its block.
pub(super) async fn broadcast_commit(call: CometCall) -> Result<Value, CometFailure> {
    commit(&call.gateway, &call.tx()?).await
}

/// The error of a transaction that the mempool refuses before it is checked.
fn pooled(outcome: &TxOutcome) -> Result<(), CometFailure> {
    if MEMPOOL_CODES.contains(&outcome.code()) {
        return Err((INTERNAL_ERROR, outcome.log().to_owned()));
    }
    Ok(())
}

/// `ResultBroadcastTx`.
fn broadcast(outcome: &TxOutcome) -> Value {
    json!({
        "code": outcome.code(),
        "data": "",
        "log": outcome.log(),
        "codespace": outcome.codespace(),
        "hash": hex::encode_upper(outcome.hash),
    })
}

/// `ResponseCheckTx`.
fn checked(outcome: &TxOutcome) -> Value {
    json!({
        "code": outcome.code(),
        "data": null,
        "log": outcome.log(),
        "info": "",
        "gas_wanted": outcome.gas_wanted.to_string(),
        "gas_used": outcome.gas_used.to_string(),
        "events": [],
        "codespace": outcome.codespace(),
    })
}

/// `ResultBroadcastTxCommit`.
async fn commit(gateway: &Gateway, raw: &[u8]) -> Result<Value, CometFailure> {
    let deadline = Instant::now() + COMMIT_TIMEOUT;
    // Subscribed before the transaction is sent, so that its block is not missed.
    let mut events = gateway.chain.subscribe();

    let accepted = match gateway.accept_in_turn(raw).await {
        Ok(accepted) => accepted,
        Err(outcome) => {
            pooled(&outcome)?;
            return Ok(committed(&outcome, None));
        }
    };
    let ethereum_hash = accepted.ethereum_hash;
    let outcome = gateway.acknowledged_tx(accepted).await;
    if outcome.refusal.is_some() {
        pooled(&outcome)?;
        return Ok(committed(&outcome, None));
    }

    loop {
        if let Some((result, height)) = find(gateway, ethereum_hash) {
            return Ok(committed(&outcome, Some((result.comet(), height))));
        }
        match timeout_at(deadline, events.recv()).await {
            // Missed events do not matter: the chain itself has the answer.
            Ok(Ok(Event::Head { .. } | Event::Pending(_)) | Err(RecvError::Lagged(_))) => {}
            Ok(Err(RecvError::Closed)) => {
                return Err((INTERNAL_ERROR, "the node is shutting down".to_owned()));
            }
            Err(_) => {
                return Err((
                    INTERNAL_ERROR,
                    "timed out waiting for tx to be included in a block".to_owned(),
                ));
            }
        }
    }
}

fn committed(outcome: &TxOutcome, included: Option<(Value, u64)>) -> Value {
    // As in CometBFT, the result is empty where the check fails.
    let (result, height) = included.unwrap_or_else(|| {
        (
            json!({ "code": 0, "data": null, "log": "", "info": "",
        "gas_wanted": "0", "gas_used": "0", "events": [], "codespace": "" }),
            0,
        )
    });
    json!({
        "check_tx": checked(outcome),
        "tx_result": result,
        "hash": hex::encode_upper(outcome.hash),
        "height": height.to_string(),
    })
}

/// The result of a transaction in a block, and its height.
fn find(gateway: &Gateway, ethereum_hash: B256) -> Option<(TxResult, u64)> {
    let (block, index) = gateway
        .chain
        .transaction(&gateway.chain.head(), ethereum_hash)?;
    Some((
        TxResult::of(&block, index, &gateway.node.network)?,
        block.number(),
    ))
}

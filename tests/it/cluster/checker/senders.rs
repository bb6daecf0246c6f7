//! A client that sends one transaction after another, to one node until that fails.

use std::{sync::Arc, time::Instant};

use alloy::{
    consensus::TxEip1559,
    primitives::{B256, Bytes, TxKind, U256, keccak256},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    connection::{CallError, Connection, TIMEOUT},
    history::{Acknowledgement, OwnRead},
    workload::Run,
};
use crate::{cluster::POLL, contracts::random::Random, support::sign};

/// While transactions may wait, one out of this many is looked up.
const LOOKED_UP: u64 = 10;

pub(super) struct Sender {
    run: Arc<Run>,
    index: usize,
    nonce: u64,
    node: usize,
    connection: Option<Connection>,
    random: Random,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Receipt {
    block_number: U256,
    block_hash: B256,
}

impl Sender {
    pub(super) fn new(run: Arc<Run>, index: usize, nonce: u64) -> Self {
        let random = Random::new(run.options.seed.wrapping_add(index as u64));
        let node = index % run.endpoints.count();
        Self {
            run,
            index,
            nonce,
            node,
            connection: None,
            random,
        }
    }

    pub(super) async fn run(mut self) {
        for _ in 0..self.run.options.transactions {
            if self.run.is_stopped() {
                return;
            }
            let raw = sign::raw_of(self.transaction(), &self.run.signers[self.index]);
            if let Err(error) = self.submit(&raw).await {
                let hash = keccak256(&raw);
                self.run.record_anomaly(format!(
                    "{hash} of sender {} was never acknowledged: {error}",
                    self.index
                ));
                return;
            }
            self.nonce += 1;
            sleep(self.run.options.pause).await;
        }
    }

    /// A transfer to the next account of the ring, or a call of the counter.
    fn transaction(&mut self) -> TxEip1559 {
        let transfer = sign::transfer(self.nonce);
        if self.random.chance(50) {
            let to = TxKind::Call(self.run.counter);
            return TxEip1559 {
                to,
                value: U256::ZERO,
                gas_limit: 100_000,
                ..transfer
            };
        }
        let next = (self.index + 1) % self.run.signers.len();
        let to = TxKind::Call(self.run.signers[next].address());
        TxEip1559 {
            to,
            value: U256::from(self.random.below(1_000_000)),
            ..transfer
        }
    }

    /// Sends the same transaction until it is acknowledged. It is never replaced, since both an
    /// attempt with unknown outcome and a new one could be included.
    async fn submit(&mut self, raw: &Bytes) -> Result<(), CallError> {
        let mut is_retry = false;
        while let Err(error) = self.attempt(raw, is_retry).await {
            if self.run.is_over() {
                return Err(error);
            }
            is_retry = true;
            self.move_on();
            sleep(POLL).await;
        }
        Ok(())
    }

    /// Switches to another node, if there is one.
    fn move_on(&mut self) {
        let nodes = self.run.endpoints.count() as u64;
        if nodes > 1 {
            self.node = (self.node + 1 + self.random.below(nodes - 1) as usize) % nodes as usize;
        }
        self.connection = None;
    }

    async fn attempt(&mut self, raw: &Bytes, is_retry: bool) -> Result<(), CallError> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(self.run.endpoints.connect(self.node).await?),
        };

        let hash = keccak256(raw);
        match connection
            .call("eth_sendRawTransaction", json!([raw]))
            .await
        {
            Ok(returned) if returned == json!(hash) => {}
            Ok(returned) => self
                .run
                .record_anomaly(format!("{hash} was acknowledged as {returned}")),
            // An earlier attempt has arrived. It is acknowledged once its receipt exists.
            Err(CallError::Refused(message)) if is_known(&message) => {
                if !is_retry {
                    self.run.record_anomaly(format!(
                        "{hash} was sent for the first time, and refused: {message}"
                    ));
                }

                let deadline = Instant::now() + TIMEOUT;
                while receipt(connection, hash).await?.is_none() {
                    if Instant::now() > deadline || self.run.is_over() {
                        return Err(CallError::Refused(message));
                    }
                    sleep(POLL).await;
                }
            }
            Err(error) => return Err(error),
        }

        let at = self.run.elapsed();
        let account = self.run.signers[self.index].address();

        // Only some of the waiting transactions are looked up, since the sender waits for them.
        let is_looked_up = !self.run.may_wait() || self.nonce.is_multiple_of(LOOKED_UP);
        let own = if is_looked_up {
            own_read(&self.run, connection, hash, json!([account, "latest"]))
                .await
                .map(Some)
        } else {
            Ok(None)
        };

        let own = own.inspect_err(|error| {
            if let CallError::Refused(message) = error {
                self.run
                    .record_anomaly(format!("{hash} could not be looked up: {message}"));
            }
        });

        let connection = connection.id;
        let sender = self.index;
        let nonce = self.nonce;
        let node = self.node;
        self.run.record(Acknowledgement {
            hash,
            sender,
            nonce,
            node,
            connection,
            at,
            own: own.ok().flatten(),
        });
        Ok(())
    }
}

/// Whether an error reports that the node has the transaction, or another one with its nonce.
fn is_known(message: &str) -> bool {
    message.starts_with("already known") || message.starts_with("nonce too low")
}

async fn receipt(
    connection: &mut Connection,
    hash: B256,
) -> Result<Option<(u64, B256)>, CallError> {
    let receipt: Value = connection
        .call("eth_getTransactionReceipt", json!([hash]))
        .await?;
    let receipt: Option<Receipt> = serde_json::from_value(receipt).unwrap();
    Ok(receipt.map(|receipt| (receipt.block_number.to(), receipt.block_hash)))
}

/// The connection's view of a transaction once it is included.
async fn own_read(
    run: &Run,
    connection: &mut Connection,
    hash: B256,
    account: Value,
) -> Result<OwnRead, CallError> {
    let may_wait = run.may_wait();
    let mut block = receipt(connection, hash).await?;
    while block.is_none() && may_wait && !run.is_over() {
        sleep(POLL).await;
        block = receipt(connection, hash).await?;
    }
    let nonce: U256 =
        serde_json::from_value(connection.call("eth_getTransactionCount", account).await?).unwrap();
    Ok(OwnRead {
        block,
        nonce: nonce.to(),
    })
}

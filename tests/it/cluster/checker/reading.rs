//! The chain on the nodes after a run.

use std::time::Instant;

use alloy::primitives::{Address, B256, U256};
use futures_util::future::try_join_all;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    connection::{CallError, Connection},
    history::History,
};
use crate::cluster::{POLL, WAIT_TIMEOUT};

/// Blocks in one batch of requests.
const BATCH: u64 = 50;

/// The chain from the block in which a run began to a height that all nodes reached at the same
/// time.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChainCopy {
    /// The hashes of the blocks, from the first one, by node; none where a node does not have the
    /// block.
    pub hashes: Vec<Vec<Option<B256>>>,
    /// The transactions of the first node after the first block, in order.
    pub transactions: Vec<Included>,
    /// The counter's value for each account, by node.
    pub counters: Vec<Vec<U256>>,
    /// The balance of each account in the last block, by node.
    pub balances: Vec<Vec<U256>>,
}

/// A transaction in a block.
#[derive(Debug, Clone)]
pub(crate) struct Included {
    pub hash: B256,
    pub block: u64,
    pub from: Address,
    pub to: Option<Address>,
    pub value: U256,
    /// Gas used × price, in wei.
    pub fee: U256,
    pub succeeded: bool,
}

#[derive(Deserialize)]
struct RpcTransaction {
    hash: B256,
    from: Address,
    to: Option<Address>,
    value: U256,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RpcReceipt {
    transaction_hash: B256,
    status: U256,
    gas_used: U256,
    effective_gas_price: U256,
}

impl ChainCopy {
    /// Reads the chain from every node, once all have the same height.
    pub(crate) async fn read(history: &History, urls: &[String]) -> Result<Self, String> {
        Self::try_read(history, urls)
            .await
            .map_err(|error| error.to_string())
    }

    async fn try_read(history: &History, urls: &[String]) -> Result<Self, CallError> {
        let mut connections = try_join_all(urls.iter().map(|url| Connection::open(url))).await?;
        let height = common_height(&mut connections).await?;
        let mut copy = Self::default();
        for url in urls {
            // A connection that was opened earlier may have been idle for too long.
            let connection = &mut Connection::open(url).await?;
            copy.hashes
                .push(hashes(connection, history.base, height).await?);
            let mut counters = Vec::new();
            let mut balances = Vec::new();
            for (account, _) in &history.accounts {
                let at = U256::from(height);
                let slot = json!([history.counter, account.into_word(), at]);
                counters
                    .push(parse::<B256>(connection.call("eth_getStorageAt", slot).await?)?.into());
                balances.push(parse(
                    connection
                        .call("eth_getBalance", json!([account, at]))
                        .await?,
                )?);
            }
            copy.counters.push(counters);
            copy.balances.push(balances);
        }
        let connection = &mut Connection::open(&urls[0]).await?;
        copy.transactions = transactions(connection, history.base + 1, height).await?;
        Ok(copy)
    }
}

fn parse<T: DeserializeOwned>(value: Value) -> Result<T, CallError> {
    serde_json::from_value(value).map_err(|error| CallError::Refused(error.to_string()))
}

/// Waits until all nodes report the same height.
async fn common_height(connections: &mut [Connection]) -> Result<u64, CallError> {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    loop {
        let calls = connections
            .iter_mut()
            .map(|connection| connection.call("eth_blockNumber", json!([])));
        let heights = try_join_all(calls).await?;
        if heights.iter().all(|height| *height == heights[0]) {
            return Ok(parse::<U256>(heights[0].clone())?.to());
        }
        if Instant::now() > deadline {
            return Err(CallError::Refused(format!(
                "the nodes do not reach the same height: {heights:?}"
            )));
        }
        sleep(POLL).await;
    }
}

/// The first block of each batch, and the block after its last one.
fn batches(from: u64, to: u64) -> impl Iterator<Item = std::ops::RangeInclusive<u64>> {
    (from..=to)
        .step_by(BATCH as usize)
        .map(move |first| first..=(first + BATCH - 1).min(to))
}

async fn hashes(
    connection: &mut Connection,
    from: u64,
    to: u64,
) -> Result<Vec<Option<B256>>, CallError> {
    let mut hashes = Vec::new();
    for numbers in batches(from, to) {
        let calls =
            numbers.map(|number| ("eth_getBlockByNumber", json!([U256::from(number), false])));
        for block in connection.batch(calls.collect()).await? {
            hashes.push(if block.is_null() {
                None
            } else {
                Some(parse(block["hash"].clone())?)
            });
        }
    }
    Ok(hashes)
}

async fn transactions(
    connection: &mut Connection,
    from: u64,
    to: u64,
) -> Result<Vec<Included>, CallError> {
    let mut included = Vec::new();

    for numbers in batches(from, to) {
        let params = |number| json!([U256::from(number), true]);
        let blocks = numbers
            .clone()
            .map(|number| ("eth_getBlockByNumber", params(number)))
            .collect();
        let receipts = numbers
            .clone()
            .map(|number| ("eth_getBlockReceipts", json!([U256::from(number)])))
            .collect();

        let blocks = connection.batch(blocks).await?;
        let receipts = connection.batch(receipts).await?;

        for ((number, mut block), receipts) in numbers.zip(blocks).zip(receipts) {
            let transactions: Vec<RpcTransaction> = parse(block["transactions"].take())?;
            let receipts: Vec<RpcReceipt> = parse(receipts)?;

            if !transactions
                .iter()
                .map(|one| one.hash)
                .eq(receipts.iter().map(|receipt| receipt.transaction_hash))
            {
                return Err(CallError::Refused(format!(
                    "the receipts of block {number} are not its transactions'"
                )));
            }

            for (
                RpcTransaction {
                    hash,
                    from,
                    to,
                    value,
                },
                receipt,
            ) in transactions.into_iter().zip(receipts)
            {
                let fee = receipt.gas_used * receipt.effective_gas_price;
                let succeeded = receipt.status == U256::ONE;
                included.push(Included {
                    hash,
                    block: number,
                    from,
                    to,
                    value,
                    fee,
                    succeeded,
                });
            }
        }
    }
    Ok(included)
}

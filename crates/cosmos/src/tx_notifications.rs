//! The events of the newest transactions for subscribers, rendered once for all of them.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, OnceLock},
};

use alloy_primitives::B256;
use base64ct::{Base64, Encoding};
use parking_lot::Mutex;
use serde_json::json;
use tetrad_primitives::block::{Block, cosmos::CosmosNetwork};

use super::{event_query::EventQuery, tx_lookup::FoundTx};

/// The number of the newest blocks that are held rendered.
const RENDERED_BLOCKS: usize = 2;

/// A transaction as subscribers receive it.
#[derive(Debug)]
pub(super) struct TxNotification {
    by_key: BTreeMap<String, Vec<String>>,
    /// The events, as JSON.
    pub(super) events: String,
    /// `EventDataTx`, as JSON.
    pub(super) value: String,
}

impl TxNotification {
    fn of(found: &FoundTx) -> Self {
        let mut by_key: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (key, value) in found.events() {
            by_key.entry(key).or_default().push(value);
        }
        let value = json!({ "TxResult": {
            "height": found.block.number().to_string(),
            "index": found.index,
            "tx": Base64::encode_string(&found.raw),
            "result": found.result.comet(),
        } });
        Self {
            events: json!(by_key).to_string(),
            value: value.to_string(),
            by_key,
        }
    }

    pub(super) fn matches(&self, query: &EventQuery) -> bool {
        query.matches(|key| self.values(key))
    }

    fn values(&self, key: &str) -> Vec<&str> {
        self.by_key
            .get(key)
            .map(|all| all.iter().map(String::as_str).collect())
            .unwrap_or_default()
    }
}

type OfBlock = Arc<[OnceLock<Option<Arc<TxNotification>>>]>;

/// The transactions of the newest blocks.
#[derive(Debug, Default)]
pub(super) struct TxNotifications(Mutex<VecDeque<(B256, OfBlock)>>);

impl TxNotifications {
    /// Returns a transaction as subscribers receive it.
    pub(super) fn of(
        &self,
        block: &Arc<Block>,
        index: usize,
        network: &CosmosNetwork,
    ) -> Option<Arc<TxNotification>> {
        let of_block = {
            let mut blocks = self.0.lock();
            match blocks.iter().find(|(hash, _)| *hash == block.hash) {
                Some((_, found)) => found.clone(),
                None => {
                    let new: OfBlock = block.transactions.iter().map(|_| OnceLock::new()).collect();
                    blocks.truncate(RENDERED_BLOCKS - 1);
                    blocks.push_front((block.hash, new.clone()));
                    new
                }
            }
        };
        // Rendered outside the lock, by the first socket that needs it.
        of_block
            .get(index)?
            .get_or_init(|| {
                FoundTx::of(block, index, network).map(|found| Arc::new(TxNotification::of(&found)))
            })
            .clone()
    }
}

//! Prices that are set by hand, which every node holds: any of them may have to update prices.

use std::time::Duration;

use async_nats::jetstream::kv::Operation;
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::time::{sleep, timeout};

use super::{Cluster, ClusterError, connection::failed};

/// The beginning of the keys.
const PREFIX: &str = "price.";
/// Time in which a price must be stored.
const STORE_TIMEOUT: Duration = Duration::from_secs(8);
/// Pause before the bucket is watched again.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

impl Cluster {
    /// Has all nodes hold a token's price, or release it. Tokens are named by their position.
    pub async fn share_held_price(
        &self,
        token: usize,
        price: Option<u64>,
    ) -> Result<(), ClusterError> {
        let text = price.map(|price| price.to_string()).unwrap_or_default();
        let store = async {
            let bucket = self.connection.bucket(&self.connection.names.log()).await?;
            let stored = bucket
                .put(format!("{PREFIX}{token}"), Bytes::from(text))
                .await;
            stored.map(drop).map_err(|error| failed(&error))
        };
        timeout(STORE_TIMEOUT, store)
            .await
            .unwrap_or_else(|_| Err(ClusterError::JetStream("no answer".to_owned())))
    }

    /// Calls `apply` with each price that a node holds or releases, and first with those that are
    /// held.
    pub fn follow_held_prices(&self, apply: impl Fn(usize, Option<u64>) + Send + 'static) {
        let connection = self.connection.clone();
        tokio::spawn(async move {
            loop {
                if let Ok(bucket) = connection.bucket(&connection.names.log()).await
                    && let Ok(mut changes) = bucket.watch_with_history(format!("{PREFIX}>")).await
                {
                    while let Some(Ok(entry)) = changes.next().await {
                        let token = entry
                            .key
                            .strip_prefix(PREFIX)
                            .and_then(|token| token.parse().ok());
                        let text = std::str::from_utf8(&entry.value)
                            .ok()
                            .filter(|_| entry.operation == Operation::Put);
                        if let Some(token) = token {
                            apply(token, text.and_then(|price| price.parse().ok()));
                        }
                    }
                }
                sleep(RETRY_PAUSE).await;
            }
        });
    }
}

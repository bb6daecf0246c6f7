//! Filters that clients poll: new blocks, logs and pending transactions.
//!
//! A filter remembers its client's position in the chain, which is two numbers: from it the chain
//! derives the blocks that are new and, after a rewind, those that were removed. Identifiers are
//! random, so that clients cannot find each other's filters.
//!
//! The chain keeps recently removed blocks, so after a revert filters report the removed logs, yet
//! no filter keeps a block in memory.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_primitives::{B256, U256};
use k256::elliptic_curve::rand_core::{OsRng, RngCore};
use parking_lot::Mutex;
use tetrad_chain::{Chain, ChainPosition, ChainUpdate};
use tetrad_web::ClientKey;

use super::{RpcConfig, RpcError, eth::LogFilter};

/// The subject of a filter.
#[derive(Clone, Debug)]
pub(super) enum FilterKind {
    /// Hashes of new blocks.
    Blocks(ChainPosition),
    /// New logs.
    Logs(Arc<LogFilter>, ChainPosition),
    /// Transactions that the pool accepted: the number accepted when the client last polled, and
    /// whether it wants whole ones.
    Pending { seen: u64, full: bool },
}

#[derive(Debug)]
struct Filter {
    kind: FilterKind,
    client: ClientKey,
    used: Instant,
}

/// All filters.
#[derive(Debug)]
pub(super) struct Filters {
    limit: usize,
    client_limit: usize,
    lifetime: Duration,
    inner: Mutex<FilterTable>,
}

#[derive(Debug, Default)]
struct FilterTable {
    filters: HashMap<u128, Filter>,
    /// The time of each filter's last use; the filter that expires next is first.
    by_use: BTreeSet<(Instant, u128)>,
    /// The number of filters of each client.
    clients: HashMap<ClientKey, usize>,
    /// The number that all filters count as.
    count: usize,
}

/// The changes since a filter was last polled.
pub(super) enum FilterUpdate {
    /// Hashes of blocks or transactions.
    Hashes(Vec<B256>),
    /// Whole transactions, by their hashes.
    Transactions(Vec<B256>),
    /// Removed and new blocks, whose logs the filter selects.
    Logs(Arc<LogFilter>, ChainUpdate),
}

impl FilterKind {
    /// The number of filters that it counts as.
    fn size(&self) -> usize {
        match self {
            Self::Logs(filter, _) => filter.size(),
            Self::Blocks(_) | Self::Pending { .. } => 1,
        }
    }
}

impl Filters {
    pub(super) fn new(config: &RpcConfig) -> Self {
        Self {
            limit: config.max_filters,
            client_limit: config.max_filters_per_client,
            lifetime: config.filter_lifetime,
            inner: Mutex::default(),
        }
    }

    /// Adds a filter of a client; returns its identifier.
    pub(super) fn add(&self, client: ClientKey, kind: FilterKind) -> Result<u128, RpcError> {
        let inner = &mut *self.current();
        if inner.count + kind.size() > self.limit {
            return Err(RpcError::server(format!(
                "too many filters: at most {}",
                self.limit
            )));
        }

        let own = inner.clients.get(&client).copied().unwrap_or(0) + kind.size();
        if own > self.client_limit {
            return Err(RpcError::server(format!(
                "too many filters of this client: at most {}",
                self.client_limit
            )));
        }

        // Random, since any client that knows an identifier can poll or remove the filter.
        let mut random = [0; 16];
        OsRng
            .try_fill_bytes(&mut random)
            .map_err(|error| RpcError::internal(error.to_string()))?;
        let id = u128::from_be_bytes(random);

        let used = Instant::now();
        inner.count += kind.size();
        inner.clients.insert(client, own);
        inner.by_use.insert((used, id));
        inner.filters.insert(id, Filter { kind, client, used });
        Ok(id)
    }

    /// Removes a filter; returns whether there was one.
    pub(super) fn remove(&self, id: U256) -> bool {
        let mut inner = self.current();
        u128::try_from(id).is_ok_and(|id| inner.remove(id))
    }

    /// The log selection of the filter, if it selects logs.
    pub(super) fn log_filter(&self, id: U256) -> Result<Arc<LogFilter>, RpcError> {
        self.with(id, |kind| match kind {
            FilterKind::Logs(filter, _) => Ok(filter.clone()),
            FilterKind::Blocks(_) | FilterKind::Pending { .. } => Err(not_found()),
        })?
    }

    /// The changes since the last poll.
    pub(super) fn news(&self, id: U256, chain: &Chain) -> Result<FilterUpdate, RpcError> {
        self.with(id, |kind| {
            Ok(match kind {
                FilterKind::Pending { seen, full } => {
                    let (hashes, now) = chain.pool().arrivals_since(*seen);
                    *seen = now;
                    if *full {
                        FilterUpdate::Transactions(hashes)
                    } else {
                        FilterUpdate::Hashes(hashes)
                    }
                }
                FilterKind::Blocks(seen) => {
                    // As in geth, removed blocks are not reported.
                    let added = chain.update_since(seen)?.added;
                    FilterUpdate::Hashes(added.iter().map(|block| block.hash).collect())
                }
                FilterKind::Logs(filter, seen) => {
                    // The logs are selected later, without the lock.
                    FilterUpdate::Logs(filter.clone(), chain.update_since(seen)?)
                }
            })
        })?
    }

    /// Passes a filter to `run`, after noting that it is used now.
    fn with<R>(&self, id: U256, run: impl FnOnce(&mut FilterKind) -> R) -> Result<R, RpcError> {
        let inner = &mut *self.current();
        let id = u128::try_from(id).map_err(|_| not_found())?;
        let filter = inner.filters.get_mut(&id).ok_or_else(not_found)?;

        // The order of use leads to the filters that expire next.
        inner.by_use.remove(&(filter.used, id));
        filter.used = Instant::now();
        inner.by_use.insert((filter.used, id));

        Ok(run(&mut filter.kind))
    }

    /// The filters, after dropping expired ones.
    fn current(&self) -> parking_lot::MutexGuard<'_, FilterTable> {
        let mut inner = self.inner.lock();
        while let Some((used, id)) = inner.by_use.first().copied()
            && used.elapsed() >= self.lifetime
        {
            inner.remove(id);
        }
        inner
    }
}

impl FilterTable {
    fn remove(&mut self, id: u128) -> bool {
        let Some(Filter { kind, client, used }) = self.filters.remove(&id) else {
            return false;
        };

        self.by_use.remove(&(used, id));
        self.count -= kind.size();
        if let Some(own) = self.clients.get_mut(&client) {
            *own -= kind.size();
            // A client without filters has no entry.
            if *own == 0 {
                self.clients.remove(&client);
            }
        }
        true
    }
}

fn not_found() -> RpcError {
    RpcError::server("filter not found")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_filter_goes_when_anything_is_asked_of_filters() {
        let config = RpcConfig {
            filter_lifetime: Duration::ZERO,
            ..RpcConfig::default()
        };
        let filters = Filters::new(&config);
        for _ in 0..3 {
            let kind = FilterKind::Pending {
                seen: 0,
                full: false,
            };
            filters.add(ClientKey::default(), kind).unwrap();
            assert_eq!(filters.inner.lock().filters.len(), 1);
        }

        assert!(!filters.remove(U256::from(7)));
        let inner = filters.inner.lock();
        assert!(inner.filters.is_empty());
        assert!(inner.by_use.is_empty());
        assert!(inner.clients.is_empty());
        assert_eq!(inner.count, 0);
    }
}

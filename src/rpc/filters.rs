//! Filters that clients poll: new blocks, logs and pending transactions.
//!
//! A filter remembers how much of the chain its client has seen, which is two numbers: the chain tells what is new since
//! then and, after a rewind, what is gone. Identifiers are random, so that no client finds the filters of another one.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_primitives::{B256, U256};
use k256::elliptic_curve::rand_core::{OsRng, RngCore};
use parking_lot::Mutex;

use super::{RpcConfig, RpcError, eth::LogFilter};
use crate::{
    chain::{Chain, ChainPosition, ChainUpdate},
    web::ClientKey,
};

/// Addresses and topics for which a filter counts as one more.
const ALTERNATIVES: usize = 100;

/// What a filter tells of.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Hashes of new blocks.
    Blocks(ChainPosition),
    /// New logs.
    Logs(Arc<LogFilter>, ChainPosition),
    /// Hashes of transactions that the pool accepted; the number that had been accepted when the client last asked.
    Pending(u64),
}

#[derive(Debug)]
struct Filter {
    kind: Kind,
    client: ClientKey,
    used: Instant,
}

/// All filters.
#[derive(Debug)]
pub(super) struct Filters {
    limit: usize,
    client_limit: usize,
    lifetime: Duration,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    filters: HashMap<u128, Filter>,
    /// When each was used last, the one that expires next first.
    by_use: BTreeSet<(Instant, u128)>,
    /// How many filters each client has.
    clients: HashMap<ClientKey, usize>,
    /// How many all of them count as.
    count: usize,
}

/// What is new since a filter was last asked.
pub(super) enum FilterNews {
    /// Hashes of blocks or transactions.
    Hashes(Vec<B256>),
    /// Blocks that are gone and blocks that are new, whose logs the filter selects.
    Logs(Arc<LogFilter>, ChainUpdate),
}

impl Kind {
    /// How many filters it counts as.
    fn size(&self) -> usize {
        match self {
            Self::Logs(filter, _) => 1 + filter.alternatives() / ALTERNATIVES,
            Self::Blocks(_) | Self::Pending(_) => 1,
        }
    }
}

impl Filters {
    pub(super) fn new(config: &RpcConfig) -> Self {
        let (limit, client_limit) = (config.max_filters, config.max_filters_per_client);
        Self { limit, client_limit, lifetime: config.filter_lifetime, inner: Mutex::default() }
    }

    /// Adds a filter of a client; returns its identifier.
    pub(super) fn add(&self, client: ClientKey, kind: Kind) -> Result<u128, RpcError> {
        let mut random = [0; 16];
        let inner = &mut *self.current();
        if inner.count + kind.size() > self.limit {
            return Err(RpcError::server(format!("too many filters: at most {}", self.limit)));
        }
        let own = inner.clients.get(&client).copied().unwrap_or(0) + kind.size();
        if own > self.client_limit {
            return Err(RpcError::server(format!("too many filters of this client: at most {}", self.client_limit)));
        }
        OsRng.try_fill_bytes(&mut random).map_err(|error| RpcError::internal(error.to_string()))?;
        let (id, used) = (u128::from_be_bytes(random), Instant::now());
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

    /// What the filter selects, if it selects logs.
    pub(super) fn log_filter(&self, id: U256) -> Result<Arc<LogFilter>, RpcError> {
        self.with(id, |kind| match kind {
            Kind::Logs(filter, _) => Ok(filter.clone()),
            Kind::Blocks(_) | Kind::Pending(_) => Err(not_found()),
        })?
    }

    /// What is new since the last time.
    pub(super) fn news(&self, id: U256, chain: &Chain) -> Result<FilterNews, RpcError> {
        self.with(id, |kind| {
            Ok(match kind {
                Kind::Pending(seen) => {
                    let (hashes, now) = chain.pool().arrivals_since(*seen);
                    *seen = now;
                    FilterNews::Hashes(hashes)
                }
                Kind::Blocks(seen) => {
                    let added = chain.update_since(seen)?.added;
                    FilterNews::Hashes(added.iter().map(|block| block.hash).collect())
                }
                Kind::Logs(filter, seen) => FilterNews::Logs(filter.clone(), chain.update_since(seen)?),
            })
        })?
    }

    fn with<R>(&self, id: U256, run: impl FnOnce(&mut Kind) -> R) -> Result<R, RpcError> {
        let inner = &mut *self.current();
        let id = u128::try_from(id).map_err(|_| not_found())?;
        let filter = inner.filters.get_mut(&id).ok_or_else(not_found)?;
        inner.by_use.remove(&(filter.used, id));
        filter.used = Instant::now();
        inner.by_use.insert((filter.used, id));
        Ok(run(&mut filter.kind))
    }

    /// The filters, without those that nobody asked for as long as they are kept.
    fn current(&self) -> parking_lot::MutexGuard<'_, Inner> {
        let mut inner = self.inner.lock();
        while let Some((_, id)) = inner.by_use.first().copied().filter(|(used, _)| used.elapsed() >= self.lifetime) {
            inner.remove(id);
        }
        inner
    }
}

impl Inner {
    fn remove(&mut self, id: u128) -> bool {
        let Some(Filter { kind, client, used }) = self.filters.remove(&id) else { return false };
        self.by_use.remove(&(used, id));
        self.count -= kind.size();
        if let Some(own) = self.clients.get_mut(&client) {
            *own -= kind.size();
            // Clients without filters leave nothing behind.
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
        let config = RpcConfig { filter_lifetime: Duration::ZERO, ..RpcConfig::default() };
        let filters = Filters::new(&config);
        for _ in 0..3 {
            filters.add(ClientKey::default(), Kind::Pending(0)).unwrap();
            assert_eq!(filters.inner.lock().filters.len(), 1);
        }
        assert!(!filters.remove(U256::from(7)));
        let inner = filters.inner.lock();
        assert!(inner.filters.is_empty() && inner.by_use.is_empty() && inner.clients.is_empty() && inner.count == 0);
    }
}

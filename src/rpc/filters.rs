//! Filters that clients poll: new blocks, logs and pending transactions.
//!
//! A filter remembers the trail of blocks that its client has seen. Comparing that with the current one gives what
//! is new and, after a rewind, what is gone, without anything having to be delivered in between.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use alloy_primitives::B256;
use parking_lot::Mutex;

use super::{RpcError, eth::LogFilter};
use crate::chain::{Chain, Trail};

/// A filter that is not asked for so long is forgotten.
const LIFETIME: Duration = Duration::from_secs(5 * 60);

/// What a filter tells of.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Hashes of new blocks.
    Blocks(Trail),
    /// New logs.
    Logs(Box<LogFilter>, Trail),
    /// Hashes of transactions that the pool accepted; the number that had been accepted when the client last asked.
    Pending(u64),
}

#[derive(Debug)]
struct Filter {
    kind: Kind,
    used: Instant,
}

/// All filters.
#[derive(Debug)]
pub(super) struct Filters {
    limit: usize,
    inner: Mutex<(u64, HashMap<u64, Filter>)>,
}

/// What is new since a filter was last asked.
pub(super) enum News {
    /// Hashes of blocks or transactions.
    Hashes(Vec<B256>),
    /// Blocks that are gone and blocks that are new, whose logs the filter selects.
    Blocks(Box<LogFilter>, Vec<std::sync::Arc<crate::block::Block>>, Vec<std::sync::Arc<crate::block::Block>>),
}

impl Filters {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, inner: Mutex::new((0, HashMap::new())) }
    }

    /// Adds a filter; returns its identifier.
    pub(super) fn add(&self, kind: Kind) -> Result<u64, RpcError> {
        let mut inner = self.inner.lock();
        let (last, filters) = &mut *inner;
        if filters.len() >= self.limit {
            filters.retain(|_, filter| filter.used.elapsed() < LIFETIME);
        }
        if filters.len() >= self.limit {
            return Err(RpcError::server(format!("too many filters: at most {}", self.limit)));
        }
        *last += 1;
        filters.insert(*last, Filter { kind, used: Instant::now() });
        Ok(*last)
    }

    /// Removes a filter; returns whether there was one.
    pub(super) fn remove(&self, id: u64) -> bool {
        let removed = self.inner.lock().1.remove(&id);
        removed.is_some_and(|filter| filter.used.elapsed() < LIFETIME)
    }

    /// What the filter selects, if it selects logs.
    pub(super) fn log_filter(&self, id: u64) -> Result<LogFilter, RpcError> {
        self.with(id, |kind| match kind {
            Kind::Logs(filter, _) => Ok((**filter).clone()),
            Kind::Blocks(_) | Kind::Pending(_) => Err(RpcError::server("filter not found")),
        })?
    }

    /// What is new since the last time.
    pub(super) fn news(&self, id: u64, chain: &Chain) -> Result<News, RpcError> {
        self.with(id, |kind| match kind {
            Kind::Pending(seen) => {
                let (hashes, now) = chain.pool().arrivals_since(*seen);
                *seen = now;
                News::Hashes(hashes)
            }
            Kind::Blocks(seen) => {
                let now = chain.head().trail().clone();
                let (_, added) = std::mem::replace(seen, now.clone()).difference(&now);
                News::Hashes(added.iter().map(|block| block.hash).collect())
            }
            Kind::Logs(filter, seen) => {
                let now = chain.head().trail().clone();
                let (removed, added) = std::mem::replace(seen, now.clone()).difference(&now);
                News::Blocks(filter.clone(), removed, added)
            }
        })
    }

    fn with<R>(&self, id: u64, run: impl FnOnce(&mut Kind) -> R) -> Result<R, RpcError> {
        let mut inner = self.inner.lock();
        let filter = inner.1.get_mut(&id).filter(|filter| filter.used.elapsed() < LIFETIME);
        let filter = filter.ok_or_else(|| RpcError::server("filter not found"))?;
        filter.used = Instant::now();
        Ok(run(&mut filter.kind))
    }
}

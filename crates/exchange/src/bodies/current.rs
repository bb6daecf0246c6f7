//! Bodies that depend on the snapshot alone, each rendered by the first request for it.

use std::sync::{Arc, OnceLock, Weak};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tetrad_web::Rendered;

use super::{ByAddress, Envelope, price_entry, swap_token_entry, token_entry};
use crate::{quote::key, snapshot::Snapshot};

/// The bodies of the newest snapshot. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct BodyCache(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    newest: ArcSwap<Bodies>,
    /// Held while the bodies are replaced, so that all requests share those of one snapshot.
    replacing: Mutex<()>,
}

/// The bodies of one snapshot.
#[derive(Debug, Default)]
struct Bodies {
    /// The snapshot. Weak, so that its history does not outlive it here.
    snapshot: Weak<Snapshot>,
    prices: OnceLock<Rendered>,
    tokens: OnceLock<Rendered>,
    swap_tokens: OnceLock<Rendered>,
    /// One for each token.
    single: OnceLock<Vec<OnceLock<Rendered>>>,
}

/// A snapshot with its bodies.
pub(crate) struct CurrentBodies {
    snapshot: Arc<Snapshot>,
    bodies: Arc<Bodies>,
}

impl BodyCache {
    /// The bodies of `snapshot`, in place of those of the one before.
    pub(crate) fn of(&self, snapshot: Arc<Snapshot>) -> CurrentBodies {
        let mut bodies = self.0.newest.load_full();
        if !bodies.are_of(&snapshot) {
            bodies = self.replace(&snapshot);
        }
        CurrentBodies { snapshot, bodies }
    }

    #[cold]
    fn replace(&self, snapshot: &Arc<Snapshot>) -> Arc<Bodies> {
        let _replacing = self.0.replacing.lock();
        // Another request may have replaced them meanwhile.
        let newest = self.0.newest.load_full();
        if newest.are_of(snapshot) {
            return newest;
        }

        let bodies = Arc::new(Bodies {
            snapshot: Arc::downgrade(snapshot),
            ..Bodies::default()
        });
        self.0.newest.store(bodies.clone());
        bodies
    }
}

impl Bodies {
    /// Whether these are the bodies of `snapshot`. As long as they exist no other snapshot can be
    /// in its place.
    fn are_of(&self, snapshot: &Arc<Snapshot>) -> bool {
        std::ptr::eq(self.snapshot.as_ptr(), Arc::as_ptr(snapshot))
    }
}

impl CurrentBodies {
    /// `GET /api/prices`.
    pub(crate) fn prices(&self, now_ms: u64) -> &Rendered {
        self.bodies.prices.get_or_init(|| {
            let entries = self
                .snapshot
                .listed()
                .map(|(token, quote)| (key(token.address), price_entry(token, quote, false)));
            let data = ByAddress(entries.collect());
            let count = Some(data.0.len());
            Envelope {
                count,
                timestamp: Some(self.snapshot.time_ms()),
                ..Envelope::new(data)
            }
            .with_cached_flag(now_ms)
        })
    }

    /// `GET /api/prices/<address>` of the token at this position.
    pub(crate) fn price(&self, token: usize, now_ms: u64) -> Option<&Rendered> {
        let (info, quote) = self.snapshot.listed().nth(token)?;
        let bodies = self.bodies.single.get_or_init(|| {
            let quotes = self.snapshot.quotes.iter();
            quotes.map(|_| OnceLock::new()).collect()
        });
        Some(bodies.get(token)?.get_or_init(|| {
            let data = price_entry(info, quote, true);
            Rendered::new(
                Envelope {
                    timestamp: Some(self.snapshot.time_ms()),
                    ..Envelope::new(data)
                }
                .json(),
                now_ms,
            )
        }))
    }

    /// `GET /api/tokens`.
    pub(crate) fn tokens(&self, now_ms: u64) -> &Rendered {
        self.bodies.tokens.get_or_init(|| {
            let data: Vec<_> = self.snapshot.listed().map(token_entry).collect();
            let count = Some(data.len());
            Rendered::new(
                Envelope {
                    count,
                    timestamp: Some(self.snapshot.time_ms()),
                    ..Envelope::new(data)
                }
                .json(),
                now_ms,
            )
        })
    }

    /// `GET /api/tokens/swap`.
    pub(crate) fn swap_tokens(&self, now_ms: u64) -> &Rendered {
        self.bodies.swap_tokens.get_or_init(|| {
            let data: Vec<_> = self.snapshot.listed().map(swap_token_entry).collect();
            let count = Some(data.len());
            Envelope {
                count,
                timestamp: Some(self.snapshot.time_ms()),
                ..Envelope::new(data)
            }
            .with_cached_flag(now_ms)
        })
    }
}

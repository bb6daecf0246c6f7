//! Bodies that depend on the state of the market alone, each rendered by the first request for it.

use std::sync::{Arc, OnceLock, Weak};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tetrad_web::Rendered;

use super::{ByAddress, Envelope, price_entry, swap_token_entry, token_entry};
use crate::{market_state::MarketState, quote::key};

/// The bodies of the market's newest state. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct BodyCache(Arc<SharedBodies>);

#[derive(Debug, Default)]
struct SharedBodies {
    newest: ArcSwap<Bodies>,
    /// Held while the bodies are replaced, so that all requests share those of one state.
    replacing: Mutex<()>,
}

/// The bodies of one state.
#[derive(Debug, Default)]
struct Bodies {
    /// The state. Weak, so that its history does not outlive it here.
    state: Weak<MarketState>,
    prices: OnceLock<Rendered>,
    tokens: OnceLock<Rendered>,
    swap_tokens: OnceLock<Rendered>,
    /// One for each token.
    single: OnceLock<Vec<OnceLock<Rendered>>>,
}

/// The state of the market with its bodies.
pub(crate) struct CurrentBodies {
    state: Arc<MarketState>,
    bodies: Arc<Bodies>,
}

impl BodyCache {
    /// The bodies of `state`, in place of those of the one before.
    pub(crate) fn of(&self, state: Arc<MarketState>) -> CurrentBodies {
        let mut bodies = self.0.newest.load_full();
        if !bodies.are_of(&state) {
            bodies = self.replace(&state);
        }
        CurrentBodies { state, bodies }
    }

    #[cold]
    fn replace(&self, state: &Arc<MarketState>) -> Arc<Bodies> {
        let _replacing = self.0.replacing.lock();
        // Another request may have replaced them meanwhile.
        let newest = self.0.newest.load_full();
        if newest.are_of(state) {
            return newest;
        }

        let bodies = Arc::new(Bodies {
            state: Arc::downgrade(state),
            ..Bodies::default()
        });
        self.0.newest.store(bodies.clone());
        bodies
    }
}

impl Bodies {
    /// Whether these are the bodies of `state`. As long as they exist no other state can be
    /// in its place.
    fn are_of(&self, state: &Arc<MarketState>) -> bool {
        std::ptr::eq(self.state.as_ptr(), Arc::as_ptr(state))
    }
}

impl CurrentBodies {
    /// `GET /api/prices`.
    pub(crate) fn prices(&self, now_ms: u64) -> &Rendered {
        self.bodies.prices.get_or_init(|| {
            let entries = self
                .state
                .listed()
                .map(|(token, quote)| (key(token.address), price_entry(token, quote, false)));
            let data = ByAddress(entries.collect());
            let count = Some(data.0.len());
            Envelope {
                count,
                timestamp: Some(self.state.time_ms()),
                ..Envelope::new(data)
            }
            .with_cached_flag(now_ms)
        })
    }

    /// `GET /api/prices/<address>` of the token at this position.
    pub(crate) fn price(&self, token: usize, now_ms: u64) -> Option<&Rendered> {
        let (info, quote) = self.state.listed().nth(token)?;
        let bodies = self.bodies.single.get_or_init(|| {
            let quotes = self.state.quotes.iter();
            quotes.map(|_| OnceLock::new()).collect()
        });
        Some(bodies.get(token)?.get_or_init(|| {
            let data = price_entry(info, quote, true);
            Rendered::new(
                Envelope {
                    timestamp: Some(self.state.time_ms()),
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
            let data: Vec<_> = self.state.listed().map(token_entry).collect();
            let count = Some(data.len());
            Rendered::new(
                Envelope {
                    count,
                    timestamp: Some(self.state.time_ms()),
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
            let data: Vec<_> = self.state.listed().map(swap_token_entry).collect();
            let count = Some(data.len());
            Envelope {
                count,
                timestamp: Some(self.state.time_ms()),
                ..Envelope::new(data)
            }
            .with_cached_flag(now_ms)
        })
    }
}

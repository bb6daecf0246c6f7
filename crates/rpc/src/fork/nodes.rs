//! The nodes of a forked chain, and the choice of the next one to use.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use reqwest::Url;

/// The maximum cooldown of a node that fails.
pub(super) const MAX_COOLDOWN: Duration = Duration::from_secs(60);

/// The nodes of the other chain, which get requests in rotation.
#[derive(Debug)]
pub(super) struct Nodes {
    pub(super) all: Vec<ForkedNode>,
    /// The number of requests so far, whose remainder is the position of the next node.
    turn: AtomicUsize,
}

/// One of the nodes.
#[derive(Debug)]
pub(super) struct ForkedNode {
    pub(super) url: Url,
    /// The end of its cooldown, in which it gets no requests, since it failed.
    cooldown_until: Mutex<Option<Instant>>,
}

impl Nodes {
    pub(super) fn new(url: Url, others: &[Url]) -> Self {
        let urls = std::iter::once(url).chain(others.iter().cloned());
        Self {
            all: urls
                .map(|url| ForkedNode {
                    url,
                    cooldown_until: Mutex::default(),
                })
                .collect(),
            turn: AtomicUsize::new(0),
        }
    }

    /// The node whose turn it is: the next one that is available, or else the next one.
    pub(super) fn next(&self) -> &ForkedNode {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let at = |offset: usize| &self.all[(turn + offset) % self.all.len()];
        (0..self.all.len())
            .map(at)
            .find(|node| node.is_available())
            .unwrap_or_else(|| at(0))
    }

    /// Whether there is a node that has not failed lately.
    pub(super) fn has_available(&self) -> bool {
        self.all.iter().any(ForkedNode::is_available)
    }
}

impl ForkedNode {
    fn is_available(&self) -> bool {
        let until = *self.cooldown_until.lock();
        until.is_none_or(|until| until <= Instant::now())
    }

    /// Leaves it out for this time, or longer if its cooldown ends later already.
    pub(super) fn cool_down(&self, time: Duration) {
        let until = Some(Instant::now() + time.min(MAX_COOLDOWN));
        let mut cooldown_until = self.cooldown_until.lock();
        *cooldown_until = until.max(*cooldown_until);
    }
}

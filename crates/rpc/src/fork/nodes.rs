//! The nodes of a forked chain, and the choice of the next one to ask.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use reqwest::Url;

/// The longest rest of a node that fails.
pub(super) const MAX_REST: Duration = Duration::from_secs(60);

/// The nodes of the other chain, which are asked in turns.
#[derive(Debug)]
pub(super) struct Nodes {
    pub(super) all: Vec<ForkedNode>,
    turn: AtomicUsize,
}

/// One of the nodes.
#[derive(Debug)]
pub(super) struct ForkedNode {
    pub(super) url: Url,
    /// The time until which it is not asked, since it failed.
    rests_until: Mutex<Option<Instant>>,
}

impl Nodes {
    pub(super) fn new(url: Url, others: &[Url]) -> Self {
        let urls = std::iter::once(url).chain(others.iter().cloned());
        Self {
            all: urls
                .map(|url| ForkedNode {
                    url,
                    rests_until: Mutex::default(),
                })
                .collect(),
            turn: AtomicUsize::new(0),
        }
    }

    /// The node whose turn it is: the next one that is fit, or else the next one.
    pub(super) fn next(&self) -> &ForkedNode {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let at = |offset: usize| &self.all[(turn + offset) % self.all.len()];
        (0..self.all.len())
            .map(at)
            .find(|node| node.is_fit())
            .unwrap_or_else(|| at(0))
    }

    /// Whether there is a node that has not failed lately.
    pub(super) fn has_fit(&self) -> bool {
        self.all.iter().any(ForkedNode::is_fit)
    }
}

impl ForkedNode {
    fn is_fit(&self) -> bool {
        let until = *self.rests_until.lock();
        until.is_none_or(|until| until <= Instant::now())
    }

    /// Leaves it out for this time, or longer if it rests already.
    pub(super) fn rest(&self, time: Duration) {
        let until = Some(Instant::now() + time.min(MAX_REST));
        let mut rests_until = self.rests_until.lock();
        *rests_until = until.max(*rests_until);
    }
}

//! The room for a long result, which is asked for as the result grows.

use super::{Context, RpcError};
use crate::web::{Budget, Held};

/// Bytes that are asked for ahead of what is written.
const STEP: usize = 64 << 10;

/// A limit of bytes, and the memory of the node for results in transit.
#[derive(Debug)]
pub(crate) struct Room {
    max: usize,
    budget: Budget,
    held: Held,
    /// The length up to which there is room for certain.
    granted: usize,
    /// Whether the node had no memory left.
    is_refused: bool,
}

impl Room {
    /// Room for a result of at most `max` bytes.
    pub(crate) fn new(context: &Context, max: usize) -> Self {
        Self::within(context.config.budget.clone(), max)
    }

    fn within(budget: Budget, max: usize) -> Self {
        Self { max, budget, held: Held::default(), granted: 0, is_refused: false }
    }

    /// The largest length.
    pub(crate) fn max(&self) -> usize {
        self.max
    }

    /// Whether the result may have this length.
    pub(crate) fn fits(&mut self, length: usize) -> bool {
        if length > self.max {
            return false;
        }
        if length > self.granted {
            let ahead = (length + STEP).min(self.max);
            if !self.budget.try_grow(&mut self.held, ahead) {
                self.is_refused = true;
                return false;
            }
            self.granted = ahead;
        }
        true
    }

    /// The error for a result that did not fit; `advice` says how to request less.
    pub(crate) fn error(&self, advice: &str) -> RpcError {
        if self.is_refused { RpcError::no_room() } else { RpcError::exceeds(self.max, advice) }
    }

    /// Whether the result did not fit because the node had no memory left.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_stops_growing_when_the_memory_is_used_up() {
        let budget = Budget::new(1 << 20);
        let mut first = Room::within(budget.clone(), 64 << 20);
        assert!(first.fits(100) && first.fits(700_000));
        let mut second = Room::within(budget.clone(), 64 << 20);
        assert!(!second.fits(700_000));
        assert_eq!(second.error("").code, RpcError::no_room().code);
        assert_eq!(second.error(""), RpcError::no_room());
        drop(first);
        assert!(second.fits(700_000));

        let mut short = Room::within(budget, 1_000);
        assert!(short.fits(1_000) && !short.fits(1_001) && !short.is_refused());
        assert_eq!(short.error("ask for less"), RpcError::exceeds(1_000, "ask for less"));
    }
}

//! How fast the other node is asked, where its operator limits or bills calls.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The compute units of a call: what providers that bill by them charge for most methods.
const USUAL_UNITS: u32 = 20;
/// Methods that cost something else.
const UNITS: [(&str, u32); 5] = [
    ("eth_chainId", 0),
    ("eth_blockNumber", 10),
    ("eth_getLogs", 60),
    ("debug_traceCall", 40),
    ("debug_traceTransaction", 40),
];

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkPace {
    /// Calls per second; each call of a batch counts.
    Calls(u32),
    /// Compute units per second.
    Units(u32),
}

impl ForkPace {
    /// What a call of a method takes of it.
    fn cost(self, method: &str) -> u32 {
        match self {
            Self::Calls(_) => 1,
            Self::Units(_) => UNITS
                .iter()
                .find(|(name, _)| *name == method)
                .map_or(USUAL_UNITS, |(_, units)| *units),
        }
    }

    fn per_second(self) -> u32 {
        match self {
            Self::Calls(limit) | Self::Units(limit) => limit,
        }
    }
}

/// Spreads calls over time. What was not used for a second may be used at once.
#[derive(Debug)]
pub(super) struct Pacer {
    pace: Option<ForkPace>,
    /// When all that was taken so far is used up.
    until: Mutex<Instant>,
}

impl Pacer {
    pub(super) fn new(pace: Option<ForkPace>) -> Self {
        Self {
            pace,
            until: Mutex::new(Instant::now()),
        }
    }

    /// The most calls of a method whose turn comes within a second.
    pub(super) fn calls_at_once(&self, method: &str) -> usize {
        let calls = self
            .pace
            .and_then(|pace| pace.per_second().checked_div(pace.cost(method)));
        calls.map_or(usize::MAX, |calls| calls.max(1) as usize)
    }

    /// Takes the turns of these calls, and returns how long it is until they come.
    pub(super) fn take<'m>(&self, methods: impl IntoIterator<Item = &'m str>) -> Duration {
        let Some(pace) = self.pace else {
            return Duration::ZERO;
        };

        let cost: u32 = methods.into_iter().map(|method| pace.cost(method)).sum();
        let takes = Duration::from_secs(1) * cost / pace.per_second().max(1);
        let now = Instant::now();
        let mut until = self.until.lock();
        let comes = (*until).max(now.checked_sub(Duration::from_secs(1)).unwrap_or(now));
        *until = comes + takes;
        // Those of the last second may be used now.
        until.saturating_duration_since(now + Duration::from_secs(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_of_calls_goes_at_once_and_the_others_follow_in_time() {
        let pacer = Pacer::new(Some(ForkPace::Calls(10)));
        // A new one has nothing saved.
        let waits: Vec<_> = (0..30).map(|_| pacer.take(["eth_call"])).collect();
        assert_eq!(waits[0], Duration::ZERO);
        let last = waits[29].as_secs_f64();
        assert!((1.5..=2.0).contains(&last), "{last}");
        assert!(waits.is_sorted());
    }

    #[test]
    fn units_are_counted_by_method() {
        let pacer = Pacer::new(Some(ForkPace::Units(100)));
        assert_eq!(pacer.calls_at_once("eth_getBalance"), 5);
        assert_eq!(pacer.calls_at_once("eth_chainId"), usize::MAX);
        assert_eq!(pacer.take(["eth_chainId"; 1_000]), Duration::ZERO);
    }
}

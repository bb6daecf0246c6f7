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

/// Calls whose turn would come later than this are refused.
const LONGEST_QUEUE: Duration = Duration::from_secs(300);

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

    /// How long these calls use all of it.
    fn duration<'m>(self, methods: impl IntoIterator<Item = &'m str>) -> Duration {
        let cost: u32 = methods.into_iter().map(|method| self.cost(method)).sum();
        Duration::from_secs(1) * cost / self.per_second().max(1)
    }
}

/// Spreads calls over time.
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

    /// Takes the turns of these calls, and returns when they come; nothing if that is too late. Up to
    /// a second's worth goes at once.
    pub(super) fn take<'m>(
        &self,
        methods: impl IntoIterator<Item = &'m str>,
        now: Instant,
    ) -> Option<Instant> {
        let Some(pace) = self.pace else {
            return Some(now);
        };

        let takes = pace.duration(methods);
        let mut until = self.until.lock();
        let used_up = (*until).max(now) + takes;
        if used_up > now + LONGEST_QUEUE {
            return None;
        }
        *until = used_up;
        Some(
            used_up
                .checked_sub(Duration::from_secs(1))
                .unwrap_or(now)
                .max(now),
        )
    }

    /// Gives the turns of these calls back, if they have not come: nobody wants the answers any more.
    /// Those who took theirs later keep them.
    pub(super) fn give_back<'m>(
        &self,
        methods: impl IntoIterator<Item = &'m str>,
        turn: Instant,
        now: Instant,
    ) {
        let Some(pace) = self.pace.filter(|_| turn > now) else {
            return;
        };

        let takes = pace.duration(methods);
        let mut until = self.until.lock();
        *until = until.checked_sub(takes).unwrap_or(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_of_calls_goes_at_once_and_the_others_follow_in_time() {
        let pacer = Pacer::new(Some(ForkPace::Calls(10)));
        let began = Instant::now();
        // Also after a pause.
        for now in [began, began + Duration::from_secs(60)] {
            let turns: Vec<_> = (0..30)
                .filter_map(|_| pacer.take(["eth_call"], now))
                .map(|turn| turn - now)
                .collect();
            assert_eq!(turns[..10], [Duration::ZERO; 10]);
            assert_eq!(turns[10], Duration::from_millis(100));
            assert_eq!(turns[29], Duration::from_secs(2));
        }
    }

    #[test]
    fn nobody_waits_for_longer_than_the_longest_queue() {
        let pacer = Pacer::new(Some(ForkPace::Calls(1)));
        let now = Instant::now();
        let turns = (0..1_000).filter(|_| pacer.take(["eth_call"], now).is_some());
        assert_eq!(turns.count(), 300);
    }

    #[test]
    fn turns_that_are_given_back_are_free_again() {
        let pacer = Pacer::new(Some(ForkPace::Calls(1)));
        let now = Instant::now();
        let mut turn = || pacer.take(["eth_call"], now);
        let turns: Vec<_> = std::iter::from_fn(&mut turn).collect();
        assert_eq!(turns.len(), 300);

        // The first one has come, and is used.
        pacer.give_back(["eth_call"], turns[0], now);
        assert_eq!(turn(), None);
        for turn in &turns[200..] {
            pacer.give_back(["eth_call"], *turn, now);
        }
        assert_eq!(std::iter::from_fn(turn).count(), 100);
    }

    #[test]
    fn units_are_counted_by_method() {
        let pacer = Pacer::new(Some(ForkPace::Units(100)));
        assert_eq!(pacer.calls_at_once("eth_getBalance"), 5);
        assert_eq!(pacer.calls_at_once("eth_chainId"), usize::MAX);
        let now = Instant::now();
        assert_eq!(pacer.take(["eth_chainId"; 1_000], now), Some(now));
    }
}

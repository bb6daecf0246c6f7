//! How fast the other node is asked, where its operator limits or bills calls.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::time::sleep_until;

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
}

/// Spreads calls over time.
#[derive(Debug)]
pub(super) struct Pacer {
    pace: Option<ForkPace>,
    /// When all that was taken so far is used up.
    until: Arc<Mutex<Instant>>,
}

/// The turn of some calls. If it is dropped before it comes, others may have it.
#[derive(Debug)]
pub(super) struct Turn {
    /// When it comes.
    pub(super) at: Instant,
    /// How long the calls use all of the pace.
    takes: Duration,
    until: Arc<Mutex<Instant>>,
}

impl Turn {
    /// Waits until it comes.
    pub(super) async fn come(self) {
        sleep_until(self.at.into()).await;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let now = Instant::now();
        if self.at > now {
            // Those who took theirs later keep them.
            let mut until = self.until.lock();
            *until = until.checked_sub(self.takes).unwrap_or(now);
        }
    }
}

impl Pacer {
    pub(super) fn new(pace: Option<ForkPace>) -> Self {
        Self {
            pace,
            until: Arc::new(Mutex::new(Instant::now())),
        }
    }

    /// The most calls of a method whose turn comes within a second.
    pub(super) fn calls_at_once(&self, method: &str) -> usize {
        let calls = self
            .pace
            .and_then(|pace| pace.per_second().checked_div(pace.cost(method)));
        calls.map_or(usize::MAX, |calls| calls.max(1) as usize)
    }

    /// Takes the turn of these calls; nothing if it would come too late. Up to a second's worth goes
    /// at once.
    pub(super) fn take<'m>(
        &self,
        methods: impl IntoIterator<Item = &'m str>,
        now: Instant,
    ) -> Option<Turn> {
        let turn = |at, takes| Turn {
            at,
            takes,
            until: self.until.clone(),
        };
        let Some(pace) = self.pace else {
            return Some(turn(now, Duration::ZERO));
        };

        let cost: u32 = methods.into_iter().map(|method| pace.cost(method)).sum();
        let takes = Duration::from_secs(1) * cost / pace.per_second().max(1);
        let mut until = self.until.lock();
        let used_up = (*until).max(now) + takes;
        if used_up > now + LONGEST_QUEUE {
            return None;
        }
        *until = used_up;
        let at = used_up.checked_sub(Duration::from_secs(1)).unwrap_or(now);
        Some(turn(at.max(now), takes))
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
                .collect();
            let times: Vec<_> = turns.iter().map(|turn| turn.at - now).collect();
            assert_eq!(times[..10], [Duration::ZERO; 10]);
            assert_eq!(times[10], Duration::from_millis(100));
            assert_eq!(times[29], Duration::from_secs(2));
            // They are used.
            turns.into_iter().for_each(std::mem::forget);
        }
    }

    #[test]
    fn nobody_waits_for_longer_than_the_longest_queue() {
        let pacer = Pacer::new(Some(ForkPace::Calls(1)));
        let now = Instant::now();
        let turns: Vec<_> = (0..1_000)
            .filter_map(|_| pacer.take(["eth_call"], now))
            .collect();
        assert_eq!(turns.len(), 300);
    }

    #[test]
    fn a_turn_that_is_given_up_before_it_comes_is_free_again() {
        let pacer = Pacer::new(Some(ForkPace::Calls(1)));
        let now = Instant::now();
        let all = || std::iter::from_fn(|| pacer.take(["eth_call"], now)).collect::<Vec<_>>();
        let mut turns = all();
        assert_eq!(turns.len(), 300);

        // The first one has come.
        drop(turns.remove(0));
        assert_eq!(all().len(), 0);
        turns.truncate(199);
        assert_eq!(all().len(), 100);
    }

    #[test]
    fn units_are_counted_by_method() {
        let pacer = Pacer::new(Some(ForkPace::Units(100)));
        assert_eq!(pacer.calls_at_once("eth_getBalance"), 5);
        assert_eq!(pacer.calls_at_once("eth_chainId"), usize::MAX);
        let now = Instant::now();
        let free = pacer.take(["eth_chainId"; 1_000], now);
        assert_eq!(free.map(|turn| turn.at), Some(now));
    }
}

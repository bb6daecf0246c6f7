//! An exact rate limit: a maximum of requests within any window, wherever it begins.
//!
//! A token bucket admits one more request as soon as a fraction of the window has passed, and a
//! window with fixed edges admits twice as many across an edge. This one records when each request
//! was admitted. `governor`, which serves for less important limits, has rates but no windows.

use std::collections::{BTreeMap, HashMap, VecDeque};

use alloy_primitives::map::DefaultHashBuilder;

use super::ClientKey;

/// Admissions of many clients. Times are milliseconds of any clock; a clock that goes back is taken
/// to have stood still.
#[derive(Debug)]
pub struct SlidingWindow {
    limit: usize,
    window_ms: u64,
    capacity: usize,
    clients: HashMap<ClientKey, ClientWindow, DefaultHashBuilder>,
    /// Clients by the time they were last seen.
    order: BTreeMap<u64, ClientKey>,
    turns: u64,
    clock: Steady,
}

/// One client.
#[derive(Debug, Default)]
struct ClientWindow {
    /// Times of admitted requests within the window, oldest first.
    admitted: VecDeque<u64>,
    seen: u64,
    turn: u64,
}

/// The decision on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateDecision {
    /// Whether it is admitted.
    pub admitted: bool,
    /// Number of further requests that would be admitted now.
    pub remaining: usize,
    /// Milliseconds until the oldest request leaves the window and the next one is admitted.
    pub reset_ms: u64,
}

impl SlidingWindow {
    /// Admits `limit` requests of a client within any `window_ms`, and tracks at most `capacity`
    /// clients. Beyond that the least recently seen one is dropped.
    pub fn new(limit: usize, window_ms: u64, capacity: usize) -> Self {
        Self {
            limit,
            window_ms,
            capacity: capacity.max(1),
            clients: HashMap::default(),
            order: BTreeMap::new(),
            turns: 0,
            clock: Steady::default(),
        }
    }

    /// Decides on a request of `key` at `now_ms`. Rejected requests do not count.
    pub fn admit(&mut self, key: ClientKey, now_ms: u64) -> RateDecision {
        let now = self.clock.read(now_ms);
        self.forget_idle(now);

        if !self.clients.contains_key(&key) && self.clients.len() >= self.capacity {
            self.forget_oldest();
        }

        self.turns += 1;
        let client = self.clients.entry(key).or_default();
        // A new client has turn 0, which was never given out.
        self.order.remove(&client.turn);
        self.order.insert(self.turns, key);
        client.turn = self.turns;
        client.seen = now;

        while client
            .admitted
            .front()
            .is_some_and(|at| now - at >= self.window_ms)
        {
            client.admitted.pop_front();
        }

        let admitted = client.admitted.len() < self.limit;
        if admitted {
            client.admitted.push_back(now);
        }

        let oldest = client.admitted.front().map_or(0, |at| now - at);
        RateDecision {
            admitted,
            remaining: self.limit - client.admitted.len(),
            reset_ms: self.window_ms - oldest,
        }
    }

    /// The number of clients that are tracked.
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    /// Drops clients without requests within the window.
    fn forget_idle(&mut self, now: u64) {
        while let Some((_, key)) = self.order.first_key_value() {
            if self
                .clients
                .get(key)
                .is_some_and(|client| now - client.seen < self.window_ms)
            {
                return;
            }
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, key)) = self.order.pop_first() {
            self.clients.remove(&key);
        }
    }
}

/// A monotonic clock on top of one that may go back.
#[derive(Debug, Default)]
struct Steady {
    last: u64,
    /// The time by which the clock has gone back so far.
    lost: u64,
}

impl Steady {
    fn read(&mut self, now: u64) -> u64 {
        self.lost += self.last.saturating_sub(now);
        self.last = now;
        now + self.lost
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn key(n: u32) -> ClientKey {
        IpAddr::from(n.to_be_bytes()).into()
    }

    #[test]
    fn the_window_slides() {
        let mut window = SlidingWindow::new(2, 60_000, 10);
        assert_eq!(
            window.admit(key(1), 0),
            RateDecision {
                admitted: true,
                remaining: 1,
                reset_ms: 60_000
            }
        );
        assert_eq!(
            window.admit(key(1), 59_000),
            RateDecision {
                admitted: true,
                remaining: 0,
                reset_ms: 1_000
            }
        );
        assert_eq!(
            window.admit(key(1), 59_999),
            RateDecision {
                admitted: false,
                remaining: 0,
                reset_ms: 1
            }
        );

        assert!(window.admit(key(2), 59_999).admitted, "another client");

        assert!(window.admit(key(1), 60_000).admitted, "the first has left");
        assert!(
            !window.admit(key(1), 60_001).admitted,
            "no edge lets more through"
        );
    }

    #[test]
    fn the_table_is_bounded_and_forgets_the_idle() {
        let mut window = SlidingWindow::new(1, 60_000, 3);
        (0..10).for_each(|n| assert!(window.admit(key(n), u64::from(n)).admitted));
        assert_eq!(window.clients(), 3);

        assert!(
            !window.admit(key(9), 20).admitted,
            "the newest are remembered"
        );
        assert!(
            window.admit(key(0), 21).admitted,
            "the oldest was forgotten"
        );

        assert!(window.admit(key(99), 100_000).admitted);
        assert_eq!(
            window.clients(),
            1,
            "those who were silent for a window are gone"
        );
    }

    #[test]
    fn a_clock_that_goes_back_locks_nobody_out() {
        let mut window = SlidingWindow::new(1, 60_000, 3);
        assert!(window.admit(key(1), 3_600_000).admitted);
        assert!(!window.admit(key(1), 0).admitted);
        assert!(!window.admit(key(1), 59_999).admitted);
        assert!(window.admit(key(1), 60_000).admitted);
    }
}

//! The queue of callers for the tokens of a bucket.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use super::{BURST, ForkPace, MAX_QUEUE_TIME};

/// Callers that share a pace.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) pace: ForkPace,
    pub(super) state: Mutex<QueueState>,
}

#[derive(Debug)]
pub(super) struct QueueState {
    /// The time at which the tokens that were taken have been replaced. The bucket is full if that
    /// is past, and empty if it is [`BURST`] ahead.
    used_until: Instant,
    /// The time for which all queued calls use the pace.
    pub(super) queued: Duration,
    last_ticket: u64,
    /// Wakes the callers that wait for a turn, by their tickets: the lowest is the next.
    pub(super) waiting: BTreeMap<u64, Arc<Notify>>,
}

/// How far a caller is from its turn.
enum TurnStatus {
    /// Its turn has come, and the tokens are taken.
    Taken,
    /// It is the next, and the bucket has enough tokens at this time.
    ReadyAt(Instant),
    /// Other callers precede it.
    Behind,
}

impl Queue {
    pub(super) fn new(pace: ForkPace) -> Self {
        Self {
            pace,
            state: Mutex::new(QueueState {
                used_until: Instant::now(),
                queued: Duration::ZERO,
                last_ticket: 0,
                waiting: BTreeMap::new(),
            }),
        }
    }

    /// Waits for the turn of a batch that uses the pace for this long.
    pub(super) async fn wait_for_turn(&self, duration: Duration) {
        if duration.is_zero() {
            return;
        }

        let place = QueuePlace::at_the_end_of(self);
        loop {
            let status = self
                .state
                .lock()
                .take_turn(place.ticket, duration, Instant::now());
            match status {
                TurnStatus::Taken => return,
                TurnStatus::ReadyAt(time) => sleep_until(time).await,
                TurnStatus::Behind => place.is_next.notified().await,
            }
        }
    }
}

impl QueueState {
    /// Adds calls to the queued ones. None if there are too many.
    pub(super) fn admit(&mut self, duration: Duration, now: Instant) -> Option<()> {
        let queued = self.queued + duration;
        let used = self.used_until.saturating_duration_since(now);
        if used + queued > MAX_QUEUE_TIME {
            return None;
        }
        self.queued = queued;
        Some(())
    }

    /// Takes the tokens for the batch of a ticket, if its turn has come.
    fn take_turn(&mut self, ticket: u64, duration: Duration, now: Instant) -> TurnStatus {
        if self.next_ticket() != Some(ticket) {
            return TurnStatus::Behind;
        }

        // A batch that costs more than the bucket holds needs a full one, and the next waits
        // longer.
        let full_at = self.used_until + duration.min(BURST);
        let missing = full_at.saturating_duration_since(now + BURST);
        if !missing.is_zero() {
            return TurnStatus::ReadyAt(now + missing);
        }

        self.used_until = self.used_until.max(now) + duration;
        self.queued -= duration;
        TurnStatus::Taken
    }

    fn next_ticket(&self) -> Option<u64> {
        self.waiting.first_key_value().map(|(ticket, _)| *ticket)
    }
}

/// The place of a caller in the queue. When the caller leaves it, whether its turn has come or not,
/// the next one is woken.
struct QueuePlace<'q> {
    queue: &'q Queue,
    ticket: u64,
    is_next: Arc<Notify>,
}

impl<'q> QueuePlace<'q> {
    fn at_the_end_of(queue: &'q Queue) -> Self {
        let is_next = Arc::new(Notify::new());
        let mut state = queue.state.lock();
        state.last_ticket += 1;
        let ticket = state.last_ticket;
        state.waiting.insert(ticket, is_next.clone());
        Self {
            queue,
            ticket,
            is_next,
        }
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock();
        let was_next = state.next_ticket() == Some(self.ticket);
        state.waiting.remove(&self.ticket);
        if was_next && let Some((_, is_next)) = state.waiting.first_key_value() {
            is_next.notify_one();
        }
    }
}

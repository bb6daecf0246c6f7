//! The pace of calls to the other node, where its operator limits or bills them.
//!
//! The pace is a token bucket that holds a second's worth. What it gives is handed out when it is
//! there, to one caller after the other: a caller with many calls takes part in it with one batch at
//! a time, and lines up again behind the others for its next one.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until, timeout_at},
};

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

/// The capacity of the bucket, as the time in which it fills up.
const BURST: Duration = Duration::from_secs(1);
/// Calls whose turn would come later than this are refused.
const LONGEST_QUEUE: Duration = Duration::from_secs(300);

/// The limit on calls to the other node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkPace {
    /// Calls per second; each call of a batch counts.
    Calls(u32),
    /// Compute units per second.
    Units(u32),
}

impl ForkPace {
    /// The cost of a call, in the unit of the limit.
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

    /// The time for which calls use the whole pace.
    fn time_of<'m>(self, methods: impl IntoIterator<Item = &'m str>) -> Duration {
        let cost: u32 = methods.into_iter().map(|method| self.cost(method)).sum();
        BURST * cost / self.per_second().max(1)
    }
}

/// Spreads calls over time, fairly between callers.
#[derive(Debug)]
pub(super) struct Pacer {
    /// None without a pace: then nothing waits, and nothing is counted.
    queue: Option<Arc<Queue>>,
}

impl Pacer {
    pub(super) fn new(pace: Option<ForkPace>) -> Self {
        let queue = pace.map(|pace| {
            Arc::new(Queue {
                pace,
                state: Mutex::new(QueueState {
                    used_until: Instant::now(),
                    wanted: Duration::ZERO,
                    last_ticket: 0,
                    waiting: BTreeMap::new(),
                }),
            })
        });
        Self { queue }
    }

    /// The longest that the turn of a caller may take to come.
    pub(super) fn longest_wait(&self) -> Duration {
        match self.queue {
            Some(_) => LONGEST_QUEUE,
            None => Duration::ZERO,
        }
    }

    /// The number of these calls, counted from the first, that are worth a second of the pace at
    /// most. One is taken whatever it costs.
    pub(super) fn calls_at_once<'m>(&self, methods: impl IntoIterator<Item = &'m str>) -> usize {
        let Some(queue) = &self.queue else {
            return methods.into_iter().count();
        };

        let mut left = queue.pace.per_second();
        let mut calls = 0;
        for method in methods {
            match left.checked_sub(queue.pace.cost(method)) {
                Some(rest) => left = rest,
                None if calls == 0 => left = 0,
                None => break,
            }
            calls += 1;
        }
        calls
    }

    /// Lines up a caller, whose calls are sent in these parts; nothing if all that waits, with these
    /// calls, would take longer than [`LONGEST_QUEUE`].
    pub(super) fn line_up<'m, P>(&self, parts: impl IntoIterator<Item = P>) -> Option<Turns>
    where
        P: IntoIterator<Item = &'m str>,
    {
        let now = Instant::now();
        let mut turns = Turns {
            queue: self.queue.clone(),
            left: VecDeque::new(),
            give_up_at: now + LONGEST_QUEUE,
        };

        if let Some(queue) = &self.queue {
            let times = parts.into_iter().map(|part| queue.pace.time_of(part));
            let left: VecDeque<_> = times.collect();
            queue.state.lock().admit(left.iter().sum(), now)?;
            turns.left = left;
        }
        Some(turns)
    }
}

/// The turns of a caller, one for each part of its calls. What is left of them when they are dropped
/// is free for others.
#[derive(Debug)]
pub(super) struct Turns {
    queue: Option<Arc<Queue>>,
    /// The time for which each part whose turn has not come uses the whole pace.
    left: VecDeque<Duration>,
    give_up_at: Instant,
}

/// Others had so many calls that a turn did not come within [`LONGEST_QUEUE`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Crowded;

impl Turns {
    /// Waits until the turn of the next part has come.
    pub(super) async fn come(&mut self) -> Result<(), Crowded> {
        let (Some(queue), Some(takes)) = (&self.queue, self.left.front()) else {
            return Ok(());
        };

        timeout_at(self.give_up_at, queue.turn(*takes))
            .await
            .map_err(|_| Crowded)?;
        self.left.pop_front();
        Ok(())
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        if let Some(queue) = &self.queue {
            queue.state.lock().wanted -= self.left.iter().sum::<Duration>();
        }
    }
}

/// Callers that share a pace.
#[derive(Debug)]
struct Queue {
    pace: ForkPace,
    state: Mutex<QueueState>,
}

#[derive(Debug)]
struct QueueState {
    /// When the pace has made up for all that was handed out. The bucket is full if that is past, and
    /// empty if it is [`BURST`] ahead.
    used_until: Instant,
    /// The time for which all queued calls use the pace.
    wanted: Duration,
    last_ticket: u64,
    /// Wakes the callers that wait for a turn, by their tickets: the lowest is the next.
    waiting: BTreeMap<u64, Arc<Notify>>,
}

/// What a caller has to wait for.
enum Outlook {
    /// Nothing: its turn has come.
    Come,
    /// It is the next, as soon as there is enough for it.
    At(Instant),
    /// Others.
    Later,
}

impl Queue {
    /// Waits until it is the turn of what uses the pace for this long.
    async fn turn(&self, takes: Duration) {
        if takes.is_zero() {
            return;
        }

        let place = Place::at_the_end_of(self);
        loop {
            let outlook = self
                .state
                .lock()
                .outlook(place.ticket, takes, Instant::now());
            match outlook {
                Outlook::Come => return,
                Outlook::At(time) => sleep_until(time).await,
                Outlook::Later => place.is_next.notified().await,
            }
        }
    }
}

impl QueueState {
    /// Counts what is lined up; nothing if there is too much.
    fn admit(&mut self, takes: Duration, now: Instant) -> Option<()> {
        let wanted = self.wanted + takes;
        let used = self.used_until.saturating_duration_since(now);
        if used + wanted > LONGEST_QUEUE {
            return None;
        }
        self.wanted = wanted;
        Some(())
    }

    /// Looks whether the turn of a ticket has come, and hands it out if it has.
    fn outlook(&mut self, ticket: u64, takes: Duration, now: Instant) -> Outlook {
        if self.next_ticket() != Some(ticket) {
            return Outlook::Later;
        }

        // What takes more than the bucket holds needs a full one, and the next has to wait longer.
        let full_at = self.used_until + takes.min(BURST);
        let missing = full_at.saturating_duration_since(now + BURST);
        if !missing.is_zero() {
            return Outlook::At(now + missing);
        }

        self.used_until = self.used_until.max(now) + takes;
        self.wanted -= takes;
        Outlook::Come
    }

    fn next_ticket(&self) -> Option<u64> {
        self.waiting.first_key_value().map(|(ticket, _)| *ticket)
    }
}

/// The place of a caller that waits. When it leaves, whether its turn has come or not, the next one
/// looks.
struct Place<'q> {
    queue: &'q Queue,
    ticket: u64,
    is_next: Arc<Notify>,
}

impl<'q> Place<'q> {
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

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock();
        let was_next = state.next_ticket() == Some(self.ticket);
        state.waiting.remove(&self.ticket);
        if was_next && let Some((_, is_next)) = state.waiting.first_key_value() {
            is_next.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::iter::repeat_n;

    use futures_util::FutureExt;
    use tokio::{task::JoinHandle, time::sleep};

    use super::*;

    const CALL: [&str; 1] = ["eth_call"];

    fn of_calls(per_second: u32) -> Pacer {
        Pacer::new(Some(ForkPace::Calls(per_second)))
    }

    /// Lines up a caller with parts of this many calls each, whose task returns when their turns came,
    /// in milliseconds.
    fn caller(pacer: &Pacer, parts: usize, calls: usize) -> JoinHandle<Vec<u128>> {
        let began = Instant::now();
        let mut turns = pacer
            .line_up(repeat_n(repeat_n("eth_call", calls), parts))
            .expect("room");
        tokio::spawn(async move {
            let mut came = Vec::new();
            while !turns.left.is_empty() {
                turns.come().await.expect("a turn");
                came.push(began.elapsed().as_millis());
            }
            came
        })
    }

    /// When the turns of callers with one call each come, in milliseconds.
    async fn turns_of(callers: Vec<JoinHandle<Vec<u128>>>) -> Vec<u128> {
        let mut came = Vec::new();
        for caller in callers {
            came.extend(caller.await.expect("no panic"));
        }
        came
    }

    #[tokio::test(start_paused = true)]
    async fn a_second_of_calls_goes_at_once_and_the_others_follow_in_time() {
        let pacer = of_calls(10);
        // Also after a pause.
        for _ in 0..2 {
            let callers = (0..30).map(|_| caller(&pacer, 1, 1)).collect();
            let came = turns_of(callers).await;
            assert_eq!(came[..10], [0; 10]);
            let later: Vec<_> = (1..=20).map(|tenths| tenths * 100).collect();
            assert_eq!(came[10..], later);
            sleep(Duration::from_secs(60)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_with_many_calls_delays_others_by_one_part_at_most() {
        let pacer = of_calls(10);
        let many = caller(&pacer, 40, 10);
        sleep(Duration::from_millis(1)).await;

        // The second part of the first caller is the next, when there is a second's worth again.
        let few = (0..3).map(|_| caller(&pacer, 1, 1)).collect();
        assert_eq!(turns_of(few).await, [1_099, 1_199, 1_299]);

        let came = many.await.expect("no panic");
        assert_eq!(came[..3], [0, 1_000, 2_300]);
        assert_eq!(came[39], 39_300);
    }

    #[tokio::test(start_paused = true)]
    async fn callers_with_many_calls_alternate() {
        let pacer = of_calls(10);
        let callers = [caller(&pacer, 3, 10), caller(&pacer, 3, 10)];
        let [first, second] = callers.map(async |caller| caller.await.expect("no panic"));
        assert_eq!(first.await, [0, 1_000, 3_000]);
        assert_eq!(second.await, [2_000, 4_000, 5_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_is_given_back_is_used_by_those_who_wait_already() {
        let pacer = of_calls(1);
        caller(&pacer, 1, 1).await.expect("no panic");
        let leaving = caller(&pacer, 100, 1);
        let waiting: Vec<_> = (0..2).map(|_| caller(&pacer, 1, 1)).collect();
        let behind = caller(&pacer, 3, 1);
        sleep(Duration::from_millis(500)).await;

        // It is the next, then one between others leaves as well.
        leaving.abort();
        let [first, second] = <[_; 2]>::try_from(waiting).expect("two");
        assert_eq!(first.await.expect("no panic"), [1_000]);
        second.abort();
        assert_eq!(behind.await.expect("no panic"), [2_000, 3_000, 4_000]);

        let queue = pacer.queue.as_ref().expect("a pace");
        assert_eq!(queue.state.lock().wanted, Duration::ZERO);
        assert!(queue.state.lock().waiting.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_order_stays_when_the_next_one_leaves_at_the_moment_of_its_turn() {
        let pacer = of_calls(1);
        caller(&pacer, 1, 1).await.expect("no panic");
        let mut leaving = pacer.line_up([CALL]).expect("room");
        let mut coming = Box::pin(leaving.come());
        assert!(coming.as_mut().now_or_never().is_none());
        let others: Vec<_> = (0..2).map(|_| caller(&pacer, 1, 1)).collect();

        sleep(Duration::from_secs(1)).await;
        drop(coming);
        drop(leaving);
        assert_eq!(turns_of(others).await, [1_000, 2_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_longer_than_the_longest_queue() {
        let pacer = of_calls(1);
        let turns = || std::iter::from_fn(|| pacer.line_up([CALL])).collect::<Vec<_>>();
        let mut all = turns();
        assert_eq!(all.len(), 300);
        assert!(pacer.line_up([CALL; 2]).is_none());

        // What is given back is free again, what was used is not.
        all[0].come().await.expect("a turn");
        all.remove(0);
        assert_eq!(turns().len(), 0);
        all.truncate(199);
        assert_eq!(turns().len(), 100);
        drop(all);
        assert!(pacer.line_up(repeat_n(CALL, 300)).is_none());
        assert!(pacer.line_up(repeat_n(CALL, 299)).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_whose_turn_others_delay_for_too_long_gives_up() {
        let pacer = of_calls(1);
        let mut many = pacer.line_up(repeat_n(CALL, 300)).expect("room");
        let busy = async {
            loop {
                let mut other = pacer.line_up([CALL]);
                match &mut other {
                    Some(turns) => turns.come().await.expect("a turn"),
                    None => sleep(Duration::from_secs(1)).await,
                }
            }
        };

        let began = Instant::now();
        let end = async { while many.come().await.is_ok() {} };
        tokio::select! {
            () = end => {}
            () = busy => {}
        }
        assert_eq!(began.elapsed().as_secs(), LONGEST_QUEUE.as_secs());
        // Every second turn was another's.
        assert!((145..155).contains(&many.left.len()));
    }

    #[tokio::test(start_paused = true)]
    async fn units_are_counted_by_method() {
        let pacer = Pacer::new(Some(ForkPace::Units(100)));
        assert_eq!(pacer.calls_at_once(["eth_getBalance"; 10]), 5);
        assert_eq!(pacer.calls_at_once(["eth_chainId"; 1_000]), 1_000);
        assert_eq!(
            pacer.calls_at_once(["eth_chainId", "eth_getLogs", "eth_getLogs"]),
            2
        );
        let slow = Pacer::new(Some(ForkPace::Units(10)));
        assert_eq!(slow.calls_at_once(["eth_getLogs"; 2]), 1);

        // It needs a full bucket, and six seconds to fill it again.
        let logs: Vec<_> = (0..3)
            .map(|_| slow.line_up([["eth_getLogs"]]).expect("room"))
            .collect();
        let began = Instant::now();
        for (mut turns, seconds) in logs.into_iter().zip([0, 6, 12]) {
            turns.come().await.expect("a turn");
            assert_eq!(began.elapsed().as_secs(), seconds);
        }
        // Calls that cost nothing overtake.
        let mut free = slow.line_up([["eth_chainId"; 1_000]]).expect("room");
        assert_eq!(free.come().now_or_never(), Some(Ok(())));
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_waits_without_a_pace() {
        let pacer = Pacer::new(None);
        assert_eq!(pacer.calls_at_once(["eth_getLogs"; 1_000]), 1_000);
        let mut turns = pacer.line_up(repeat_n(CALL, 1_000_000)).expect("room");
        assert!(turns.left.is_empty());
        assert_eq!(turns.come().now_or_never(), Some(Ok(())));
    }
}

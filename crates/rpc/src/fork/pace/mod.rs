//! The pace of calls to the other node, where its operator limits or bills them.
//!
//! The pace is a token bucket that holds a second's worth. Callers queue for its tokens: one with
//! many calls takes tokens for one batch at a time, and queues again behind the others for its next
//! batch. The length of the queue is measured as the time in which the bucket gains as many tokens.

mod queue;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::time::{Instant, timeout_at};

use self::queue::Queue;

/// The compute units that providers which bill by them charge for most methods.
const DEFAULT_UNITS: u32 = 20;
/// The compute units of the other methods.
const UNITS: [(&str, u32); 5] = [
    ("eth_chainId", 0),
    ("eth_blockNumber", 10),
    ("eth_getLogs", 60),
    ("debug_traceCall", 40),
    ("debug_traceTransaction", 40),
];

/// The capacity of the bucket, as the time in which it fills up.
const BURST: Duration = Duration::from_secs(1);
/// The longest time for which calls queue. Those that would queue for longer are rejected.
const MAX_QUEUE_TIME: Duration = Duration::from_secs(300);

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
                .map_or(DEFAULT_UNITS, |(_, units)| *units),
        }
    }

    fn per_second(self) -> u32 {
        match self {
            Self::Calls(limit) | Self::Units(limit) => limit,
        }
    }

    /// The time for which calls use the whole pace.
    fn duration<'m>(self, methods: impl IntoIterator<Item = &'m str>) -> Duration {
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
        let queue = pace.map(|pace| Arc::new(Queue::new(pace)));
        Self { queue }
    }

    /// The longest that the turn of a caller may take to come.
    pub(super) fn longest_wait(&self) -> Duration {
        match self.queue {
            Some(_) => MAX_QUEUE_TIME,
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

    /// Lines up a caller, whose calls are sent in these batches. None if all queued calls, these
    /// included, would take longer than [`MAX_QUEUE_TIME`].
    pub(super) fn line_up<'m, B>(&self, batches: impl IntoIterator<Item = B>) -> Option<Turns>
    where
        B: IntoIterator<Item = &'m str>,
    {
        let now = Instant::now();
        let mut turns = Turns {
            queue: self.queue.clone(),
            left: VecDeque::new(),
            give_up_at: now + MAX_QUEUE_TIME,
        };

        if let Some(queue) = &self.queue {
            let times = batches.into_iter().map(|batch| queue.pace.duration(batch));
            let left: VecDeque<_> = times.collect();
            queue.state.lock().admit(left.iter().sum(), now)?;
            turns.left = left;
        }
        Some(turns)
    }
}

/// The turns of a caller, one for each batch of its calls. Turns that are left when this is dropped
/// are free for others.
#[derive(Debug)]
pub(super) struct Turns {
    queue: Option<Arc<Queue>>,
    /// The time for which each batch whose turn has not come uses the whole pace.
    left: VecDeque<Duration>,
    give_up_at: Instant,
}

/// Other callers had so many calls that a turn did not come within [`MAX_QUEUE_TIME`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct QueueTimeout;

impl Turns {
    /// Waits for the turn of the next batch.
    pub(super) async fn next(&mut self) -> Result<(), QueueTimeout> {
        let (Some(queue), Some(duration)) = (&self.queue, self.left.front()) else {
            return Ok(());
        };

        timeout_at(self.give_up_at, queue.wait_for_turn(*duration))
            .await
            .map_err(|_| QueueTimeout)?;
        self.left.pop_front();
        Ok(())
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        if let Some(queue) = &self.queue {
            queue.state.lock().queued -= self.left.iter().sum::<Duration>();
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

    fn calls_per_second(per_second: u32) -> Pacer {
        Pacer::new(Some(ForkPace::Calls(per_second)))
    }

    /// Lines up a caller with batches of this many calls each, whose task returns when their turns
    /// came, in milliseconds.
    fn caller(pacer: &Pacer, batches: usize, calls: usize) -> JoinHandle<Vec<u128>> {
        let began = Instant::now();
        let mut turns = pacer
            .line_up(repeat_n(repeat_n("eth_call", calls), batches))
            .expect("room");
        tokio::spawn(async move {
            let mut came_ms = Vec::new();
            while !turns.left.is_empty() {
                turns.next().await.expect("a turn");
                came_ms.push(began.elapsed().as_millis());
            }
            came_ms
        })
    }

    /// The milliseconds until the turns of callers with one call each come.
    async fn turns_of(callers: Vec<JoinHandle<Vec<u128>>>) -> Vec<u128> {
        let mut came_ms = Vec::new();
        for caller in callers {
            came_ms.extend(caller.await.expect("no panic"));
        }
        came_ms
    }

    #[tokio::test(start_paused = true)]
    async fn a_second_of_calls_goes_at_once_and_the_others_follow_in_time() {
        let pacer = calls_per_second(10);
        // Also after a pause.
        for _ in 0..2 {
            let callers = (0..30).map(|_| caller(&pacer, 1, 1)).collect();
            let came_ms = turns_of(callers).await;
            assert_eq!(came_ms[..10], [0; 10]);
            let later: Vec<_> = (1..=20).map(|tenths| tenths * 100).collect();
            assert_eq!(came_ms[10..], later);
            sleep(Duration::from_secs(60)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_with_many_calls_delays_others_by_one_batch_at_most() {
        let pacer = calls_per_second(10);
        let many = caller(&pacer, 40, 10);
        sleep(Duration::from_millis(1)).await;

        // The second batch of the first caller is the next, when there is a second's worth again.
        let few = (0..3).map(|_| caller(&pacer, 1, 1)).collect();
        assert_eq!(turns_of(few).await, [1_099, 1_199, 1_299]);

        let came = many.await.expect("no panic");
        assert_eq!(came[..3], [0, 1_000, 2_300]);
        assert_eq!(came[39], 39_300);
    }

    #[tokio::test(start_paused = true)]
    async fn callers_with_many_calls_alternate() {
        let pacer = calls_per_second(10);
        let callers = [caller(&pacer, 3, 10), caller(&pacer, 3, 10)];
        let [first, second] = callers.map(async |caller| caller.await.expect("no panic"));
        assert_eq!(first.await, [0, 1_000, 3_000]);
        assert_eq!(second.await, [2_000, 4_000, 5_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_is_given_back_is_used_by_those_who_wait_already() {
        let pacer = calls_per_second(1);
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
        assert_eq!(queue.state.lock().queued, Duration::ZERO);
        assert!(queue.state.lock().waiting.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_order_stays_when_the_next_one_leaves_at_the_moment_of_its_turn() {
        let pacer = calls_per_second(1);
        caller(&pacer, 1, 1).await.expect("no panic");
        let mut leaving = pacer.line_up([CALL]).expect("room");
        let mut coming = Box::pin(leaving.next());
        assert!(coming.as_mut().now_or_never().is_none());
        let others: Vec<_> = (0..2).map(|_| caller(&pacer, 1, 1)).collect();

        sleep(Duration::from_secs(1)).await;
        drop(coming);
        drop(leaving);
        assert_eq!(turns_of(others).await, [1_000, 2_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn no_caller_waits_for_longer_than_the_maximum() {
        let pacer = calls_per_second(1);
        let turns = || std::iter::from_fn(|| pacer.line_up([CALL])).collect::<Vec<_>>();
        let mut all = turns();
        assert_eq!(all.len(), 300);
        assert!(pacer.line_up([CALL; 2]).is_none());

        // What is given back is free again, what was used is not.
        all[0].next().await.expect("a turn");
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
        let pacer = calls_per_second(1);
        let mut many = pacer.line_up(repeat_n(CALL, 300)).expect("room");
        let busy = async {
            loop {
                let mut other = pacer.line_up([CALL]);
                match &mut other {
                    Some(turns) => turns.next().await.expect("a turn"),
                    None => sleep(Duration::from_secs(1)).await,
                }
            }
        };

        let began = Instant::now();
        let end = async { while many.next().await.is_ok() {} };
        tokio::select! {
            () = end => {}
            () = busy => {}
        }
        assert_eq!(began.elapsed().as_secs(), MAX_QUEUE_TIME.as_secs());
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
            turns.next().await.expect("a turn");
            assert_eq!(began.elapsed().as_secs(), seconds);
        }
        // Calls that cost nothing overtake.
        let mut free = slow.line_up([["eth_chainId"; 1_000]]).expect("room");
        assert_eq!(free.next().now_or_never(), Some(Ok(())));
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_waits_without_a_pace() {
        let pacer = Pacer::new(None);
        assert_eq!(pacer.calls_at_once(["eth_getLogs"; 1_000]), 1_000);
        let mut turns = pacer.line_up(repeat_n(CALL, 1_000_000)).expect("room");
        assert!(turns.left.is_empty());
        assert_eq!(turns.next().now_or_never(), Some(Ok(())));
    }
}

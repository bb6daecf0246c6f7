//! Work that is divided among the processors, on threads that end with it.

use std::{num::NonZero, sync::LazyLock, thread};

use parking_lot::Mutex;
use tokio::sync::Semaphore;

/// More threads than this gain little: what they share is copied between more caches.
const MAX_THREADS: usize = 8;

/// Determined once: the system reads files to determine it.
static PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));

/// Returns the number of processors that this process may use.
pub fn processors() -> usize {
    *PROCESSORS
}

/// The right to run helper threads. There is one fewer than processors, whatever the number of
/// callers: otherwise the executions of one client would crowd out those of others.
static HELPERS: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(processors() - 1));

/// Calls `work` once for each item, on several threads with a scratch value each. The result must
/// not depend on their number, which may be one. Starting a thread takes tens of microseconds, so
/// callers divide only work that takes longer.
pub fn for_each<T: Send, S: Default>(
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(T, &mut S) + Sync,
) {
    let threads = processors()
        .min(MAX_THREADS)
        .min(items.size_hint().1.unwrap_or(MAX_THREADS));

    let items = Mutex::new(items);
    // The lock is released before the item is worked on.
    let next = || items.lock().next();
    let run = &|| {
        let mut scratch = S::default();
        while let Some(item) = next() {
            work(item, &mut scratch);
        }
    };

    thread::scope(|scope| {
        for _ in 1..threads {
            let Ok(right) = HELPERS.try_acquire() else {
                break;
            };
            // Without the thread, the others do its part.
            let _ = thread::Builder::new()
                .name("parallel".to_owned())
                .spawn_scoped(scope, move || {
                    let _right = right;
                    run();
                });
        }
        run();
    });
}

/// Calls both functions, at the same time if a processor is free.
pub fn join<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    let mut first = None;
    let mut second = None;
    let both: [Box<dyn FnOnce() + Send>; 2] = [
        Box::new(|| first = Some(one())),
        Box::new(|| second = Some(other())),
    ];

    for_each(both.into_iter(), |work, (): &mut ()| work());
    (
        first.expect("it was called"),
        second.expect("it was called"),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn each_item_is_worked_on_once() {
        let seen: Vec<AtomicUsize> = (0..1_000).map(|_| AtomicUsize::new(0)).collect();
        for_each(seen.iter(), |count, worked: &mut usize| {
            *worked += 1;
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    }

    /// Works on some items, and counts how many are worked on at the same time.
    fn count_running(running: &AtomicUsize, most: &AtomicUsize) {
        for_each(0..100, |_, (): &mut ()| {
            most.fetch_max(
                running.fetch_add(1, Ordering::Relaxed) + 1,
                Ordering::Relaxed,
            );
            thread::yield_now();
            running.fetch_sub(1, Ordering::Relaxed);
        });
    }

    #[test]
    fn the_helpers_of_all_callers_are_limited_together() {
        const CALLERS: usize = 20;
        let running = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);

        thread::scope(|scope| {
            for _ in 0..CALLERS {
                scope.spawn(|| count_running(&running, &most));
            }
        });
        assert!(most.into_inner() < CALLERS + processors());
        assert!(HELPERS.available_permits() < processors());
    }

    #[test]
    fn both_results_of_a_join_are_returned() {
        let text = "borrowed".to_owned();
        assert_eq!(join(|| text.len(), || text.as_str()), (8, "borrowed"));
    }
}

//! Counters, gauges and histograms that cost an atomic addition: no locks, and constant memory.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `count`.
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Relaxed);
    }

    /// Returns the total.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A number of things that exist at the moment.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<AtomicI64>);

/// A guard that counts as one in a gauge until it is dropped.
#[derive(Debug)]
pub struct GaugeGuard(Gauge);

impl Gauge {
    /// Increments the gauge for the lifetime of the guard.
    pub fn hold(&self) -> GaugeGuard {
        self.0.fetch_add(1, Relaxed);
        GaugeGuard(self.clone())
    }

    /// Returns the number of guards that exist.
    pub fn get(&self) -> i64 {
        self.0.load(Relaxed)
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

/// Upper bounds of a histogram's buckets, in nanoseconds: from ten microseconds, the duration of a
/// cheap read, to ten seconds, a common timeout of clients.
const BOUNDS: [u64; 19] = [
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// A histogram of durations.
#[derive(Debug, Default)]
pub struct Histogram {
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

/// The content of a histogram at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Upper bounds in seconds, each with the number of durations up to it.
    pub buckets: Vec<(f64, u64)>,
    /// The number of durations.
    pub count: u64,
    /// The sum of the durations, in seconds.
    pub sum: f64,
}

impl Histogram {
    /// Records the time that has passed since `began`.
    pub fn since(&self, began: Instant) {
        self.observe(began.elapsed());
    }

    /// Records a duration.
    pub fn observe(&self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.partition_point(|bound| *bound < nanoseconds);
        self.buckets[bucket].fetch_add(1, Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Relaxed);
    }

    /// Returns the content. With concurrent observations the buckets and the count are consistent,
    /// the sum may not be.
    pub fn distribution(&self) -> Distribution {
        let mut count = 0;
        let mut buckets = Vec::with_capacity(BOUNDS.len());
        for (at, bucket) in self.buckets.iter().enumerate() {
            count += bucket.load(Relaxed);
            if let Some(bound) = BOUNDS.get(at) {
                buckets.push((*bound as f64 / 1e9, count));
            }
        }

        Distribution {
            buckets,
            count,
            sum: self.nanoseconds.load(Relaxed) as f64 / 1e9,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_fall_into_the_first_bucket_with_a_bound_not_below_them() {
        let histogram = Histogram::default();
        for micros in [1, 10, 11, 30, 20_000_000] {
            histogram.observe(Duration::from_micros(micros));
        }

        let seen = histogram.distribution();
        assert_eq!(
            seen.buckets[..4],
            [(1e-5, 2), (2.5e-5, 3), (5e-5, 4), (1e-4, 4)]
        );
        assert_eq!((seen.buckets.last(), seen.count), (Some(&(10.0, 4)), 5));
        assert!((seen.sum - 20.000_052).abs() < 1e-9);
    }

    #[test]
    fn guards_count_until_they_are_dropped() {
        let gauge = Gauge::default();
        let first = gauge.hold();
        let second = gauge.hold();
        assert_eq!(gauge.get(), 2);

        drop(first);
        assert_eq!(gauge.get(), 1);

        drop(second);
        assert_eq!(gauge.get(), 0);
    }
}

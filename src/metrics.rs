//! Counting and timing that costs what an atomic addition costs: no locks, and nothing that grows.

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
    /// Adds to it.
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Relaxed);
    }

    /// What it has come to.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// How many of something there are right now.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<AtomicI64>);

/// One of them. It is gone when this is dropped.
#[derive(Debug)]
pub struct Held(Gauge);

impl Gauge {
    /// One more, for as long as the result exists.
    pub fn hold(&self) -> Held {
        self.0.fetch_add(1, Relaxed);
        Held(self.clone())
    }

    /// How many there are.
    pub fn get(&self) -> i64 {
        self.0.load(Relaxed)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

/// Upper ends of a histogram's buckets in nanoseconds: from ten microseconds, which a cheap read takes, to ten seconds,
/// after which somebody has given up.
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

/// How long something took, how often.
#[derive(Debug, Default)]
pub struct Histogram {
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

/// A histogram at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Upper ends in seconds, and how many took no longer than that.
    pub buckets: Vec<(f64, u64)>,
    /// How many there were.
    pub count: u64,
    /// How long they took together, in seconds.
    pub sum: f64,
}

impl Histogram {
    /// Something that began then has ended now.
    pub fn since(&self, began: Instant) {
        self.observe(began.elapsed());
    }

    /// Something took so long.
    pub fn observe(&self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.partition_point(|bound| *bound < nanoseconds);
        self.buckets[bucket].fetch_add(1, Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Relaxed);
    }

    /// What was observed so far. Others may be observing meanwhile: the parts agree with each other, if not with the sum.
    pub fn distribution(&self) -> Distribution {
        let mut count = 0;
        let mut buckets = Vec::with_capacity(BOUNDS.len());
        for (at, bucket) in self.buckets.iter().enumerate() {
            count += bucket.load(Relaxed);
            if let Some(bound) = BOUNDS.get(at) {
                buckets.push((*bound as f64 / 1e9, count));
            }
        }
        Distribution { buckets, count, sum: self.nanoseconds.load(Relaxed) as f64 / 1e9 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_fall_into_the_bucket_that_ends_with_or_above_them() {
        let histogram = Histogram::default();
        for micros in [1, 10, 11, 30, 20_000_000] {
            histogram.observe(Duration::from_micros(micros));
        }
        let seen = histogram.distribution();
        assert_eq!(seen.buckets[..4], [(1e-5, 2), (2.5e-5, 3), (5e-5, 4), (1e-4, 4)]);
        assert_eq!((seen.buckets.last(), seen.count), (Some(&(10.0, 4)), 5));
        assert!((seen.sum - 20.000_052).abs() < 1e-9);
    }

    #[test]
    fn what_is_held_counts_until_it_is_dropped() {
        let gauge = Gauge::default();
        let (first, second) = (gauge.hold(), gauge.hold());
        assert_eq!(gauge.get(), 2);
        drop(first);
        assert_eq!(gauge.get(), 1);
        drop(second);
        assert_eq!(gauge.get(), 0);
    }
}

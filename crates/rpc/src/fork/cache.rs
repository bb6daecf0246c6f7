//! A bounded cache of the other node's answers.

use std::{hash::Hash, sync::Arc};

use alloy_primitives::map::HashMap;
use parking_lot::Mutex;
use tetrad_stdx::metrics::Counter;

/// A map that evicts entries that have not been used for long: entries live in two generations, a
/// used entry moves to the younger one, and when that is full the older one is dropped.
#[derive(Debug)]
pub(super) struct Cache<K, V> {
    generations: Mutex<Generations<K, V>>,
    lookups: Arc<Lookups>,
}

/// The numbers of lookups.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    /// The value was there.
    pub(super) hits: Counter,
    /// The value was not there.
    pub(super) misses: Counter,
}

#[derive(Debug)]
struct Generations<K, V> {
    young: HashMap<K, (V, usize)>,
    old: HashMap<K, (V, usize)>,
    /// The weight of the younger generation.
    weight: usize,
    /// The maximum weight of a generation.
    limit: usize,
}

impl<K: Copy + Eq + Hash, V: Clone> Cache<K, V> {
    /// An empty cache, each of whose generations may weigh `limit`, and which counts its lookups.
    pub(super) fn new(limit: usize, lookups: &Arc<Lookups>) -> Self {
        Self {
            generations: Mutex::new(Generations {
                young: HashMap::default(),
                old: HashMap::default(),
                weight: 0,
                limit,
            }),
            lookups: lookups.clone(),
        }
    }

    /// The value under `key`. A missing value is requested without blocking other callers.
    pub(super) fn get<E>(
        &self,
        key: K,
        weigh: impl FnOnce(&V) -> usize,
        request: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        if let Some(known) = self.find(key) {
            return Ok(known);
        }

        // Without the lock: the answer may take long.
        let value = request()?;
        let weight = weigh(&value);
        self.put(key, value.clone(), weight);
        Ok(value)
    }

    /// The value under `key`, if there is one.
    pub(super) fn find(&self, key: K) -> Option<V> {
        let found = self.generations.lock().find(&key);
        let counter = match found {
            Some(_) => &self.lookups.hits,
            None => &self.lookups.misses,
        };
        counter.add(1);
        found
    }

    /// Whether there is a value under `key`. Does not count as a use of it.
    pub(super) fn has(&self, key: K) -> bool {
        let generations = self.generations.lock();
        generations.young.contains_key(&key) || generations.old.contains_key(&key)
    }

    /// Remembers a value.
    pub(super) fn put(&self, key: K, value: V, weight: usize) {
        self.generations.lock().insert(key, value, weight);
    }
}

impl<K: Copy + Eq + Hash, V: Clone> Generations<K, V> {
    fn find(&mut self, key: &K) -> Option<V> {
        if let Some((value, _)) = self.young.get(key) {
            return Some(value.clone());
        }

        // Moved to the younger generation, since it is in use.
        let (value, weight) = self.old.remove(key)?;
        self.insert(*key, value.clone(), weight);
        Some(value)
    }

    fn insert(&mut self, key: K, value: V, weight: usize) {
        if self.weight + weight > self.limit {
            self.old = std::mem::take(&mut self.young);
            self.weight = 0;
        }

        // Two callers may have requested the same value.
        if let Some((_, before)) = self.young.insert(key, (value, weight)) {
            self.weight = self.weight.saturating_sub(before);
        }
        self.weight += weight;
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn remembers_what_is_requested_and_stays_within_its_bounds() {
        let cache = Cache::<u64, u64>::new(100, &Arc::default());
        let mut requested = Vec::new();

        for round in 0..1_000u64 {
            for key in [round, 7] {
                let value = cache.get(
                    key,
                    |_| 1,
                    || {
                        Ok::<_, Infallible>({
                            requested.push(key);
                            key * 2
                        })
                    },
                );
                assert_eq!(value, Ok(key * 2));
            }
            let inner = cache.generations.lock();
            assert!(inner.young.len() <= 100 && inner.old.len() <= 100);
        }

        assert_eq!(
            requested.iter().filter(|key| **key == 7).count(),
            1,
            "a value that is in use is kept"
        );
        assert_eq!(requested.len(), 1_000);
        assert_eq!(
            cache.get(1, |_| 1, || Err("requested")),
            Err("requested"),
            "an old value is gone"
        );
    }
}

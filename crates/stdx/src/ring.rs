//! Queues that take turns: a producer that fills one delays only itself.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
};

/// A queue that a ring can take items from.
pub trait WaitQueue<T> {
    /// Takes the next item.
    fn take_next(&mut self) -> Option<T>;
    /// Whether nothing waits.
    fn is_empty(&self) -> bool;
}

/// Queues by key, which give one item each in turn.
#[derive(Debug)]
pub struct Ring<K, Q> {
    queues: BTreeMap<K, Q>,
    last: Option<K>,
}

impl<K, Q> Default for Ring<K, Q> {
    fn default() -> Self {
        Self {
            queues: BTreeMap::new(),
            last: None,
        }
    }
}

impl<K: Ord + Copy, Q: Default> Ring<K, Q> {
    /// The queue of `key`, for adding an item.
    pub fn queue(&mut self, key: K) -> &mut Q {
        self.queues.entry(key).or_default()
    }

    /// The queue of `key`, unless nothing waits in it.
    pub fn get(&self, key: K) -> Option<&Q> {
        self.queues.get(&key)
    }

    /// Takes an item from the queue whose turn it is among the `wanted` keys.
    pub fn take_where<T>(&mut self, wanted: impl Fn(&K) -> bool) -> Option<T>
    where
        Q: WaitQueue<T>,
    {
        let after = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let mut keys = self
            .queues
            .range((after, Bound::Unbounded))
            .chain(&self.queues)
            .map(|(key, _)| *key);

        let key = keys.find(wanted)?;
        self.last = Some(key);
        self.remove(key, Q::take_next)
    }

    /// Takes an item from the queue of `key`.
    pub fn remove<T>(&mut self, key: K, from: impl FnOnce(&mut Q) -> Option<T>) -> Option<T>
    where
        Q: WaitQueue<T>,
    {
        let queue = self.queues.get_mut(&key)?;
        let removed = from(queue);
        if queue.is_empty() {
            self.queues.remove(&key);
        }
        removed
    }
}

impl<K: Ord + Copy, T, Q: Default + WaitQueue<T>> WaitQueue<T> for Ring<K, Q> {
    fn take_next(&mut self) -> Option<T> {
        self.take_where(|_| true)
    }

    fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }
}

impl<T> WaitQueue<T> for VecDeque<T> {
    fn take_next(&mut self) -> Option<T> {
        self.pop_front()
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_gives_one_in_turn_however_much_waits() {
        let mut ring = Ring::<u32, Ring<u32, VecDeque<&str>>>::default();
        for (outer, inner, what) in [
            (1, 1, "a"),
            (1, 1, "b"),
            (1, 1, "c"),
            (1, 2, "d"),
            (2, 1, "e"),
            (2, 1, "f"),
            (3, 9, "g"),
        ] {
            ring.queue(outer).queue(inner).push_back(what);
        }

        assert_eq!(ring.take_next(), Some("a"));
        ring.queue(0).queue(0).push_back("late");

        let order: Vec<_> = std::iter::from_fn(|| ring.take_next()).collect();
        assert_eq!(order, ["e", "g", "late", "d", "f", "b", "c"]);
        assert!(ring.is_empty());
    }

    #[test]
    fn removing_leaves_nothing_behind() {
        let mut ring = Ring::<u32, Ring<u32, VecDeque<u32>>>::default();
        ring.queue(1).queue(2).push_back(7);

        assert_eq!(
            ring.remove(1, |inner| inner.remove(3, VecDeque::take_next)),
            None
        );
        assert_eq!(
            ring.remove(1, |inner| inner.remove(2, VecDeque::take_next)),
            Some(7)
        );
        assert!(ring.is_empty());
    }
}

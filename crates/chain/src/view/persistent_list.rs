//! A persistent list: cheap to clone, to append to, and to truncate at either end.
//!
//! Holds the recent blocks of every published head. A clone copies one pointer; an append copies
//! one path of a radix tree with 32 children per node, whatever the length.

use std::sync::Arc;

const BITS: u32 = 5;
const WIDTH: usize = 1 << BITS;

/// A list of the items `first..next`, addressed by absolute position.
#[derive(Clone, Debug)]
pub(super) struct PersistentList<T> {
    /// Position of the tree's leftmost slot.
    base: u64,
    first: u64,
    next: u64,
    /// Number of levels below the root.
    height: u32,
    root: Option<Arc<Node<T>>>,
}

#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "leaves are the larger ones, and most nodes are leaves"
)]
enum Node<T> {
    Inner([Option<Arc<Node<T>>>; WIDTH]),
    Leaf([Option<T>; WIDTH]),
}

impl<T: Clone> PersistentList<T> {
    /// Returns an empty list whose first item will have this position.
    pub(super) fn starting_at(position: u64) -> Self {
        Self {
            base: position,
            first: position,
            next: position,
            height: 0,
            root: None,
        }
    }

    /// Returns the position of the next item.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the position of the oldest item.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// Returns the item at this position.
    pub(crate) fn get(&self, position: u64) -> Option<&T> {
        if !(self.first..self.next).contains(&position) {
            return None;
        }

        let offset = position - self.base;
        let mut node = self.root.as_deref()?;
        for level in (0..=self.height).rev() {
            let slot = slot(offset, level);
            match node {
                Node::Leaf(items) => return items[slot].as_ref(),
                Node::Inner(children) => node = children[slot].as_deref()?,
            }
        }
        None
    }

    /// Appends an item.
    pub(crate) fn push(&mut self, item: T) {
        let offset = self.next - self.base;

        // The tree is full: it becomes the first child of a new root.
        while offset >> (BITS * (self.height + 1)) > 0 {
            let mut children = [const { None }; WIDTH];
            children[0] = self.root.take();
            self.root = Some(Arc::new(Node::Inner(children)));
            self.height += 1;
        }

        set(&mut self.root, self.height, offset, Some(item));
        self.next += 1;
    }

    /// Replaces the item at this position, if it exists.
    pub(crate) fn replace(&mut self, position: u64, item: T) {
        if (self.first..self.next).contains(&position) {
            set(
                &mut self.root,
                self.height,
                position - self.base,
                Some(item),
            );
        }
    }

    /// Removes the items before `first`.
    pub(super) fn drop_before(&mut self, first: u64) {
        while self.first < first.min(self.next) {
            set(&mut self.root, self.height, self.first - self.base, None);
            self.first += 1;
        }
    }

    /// Removes the items from `next` on.
    pub(super) fn truncate(&mut self, next: u64) {
        while self.next > next.max(self.first) {
            self.next -= 1;
            set(&mut self.root, self.height, self.next - self.base, None);
        }
    }

    /// Iterates over the items from `position` on, oldest first.
    pub(super) fn iter_from(&self, position: u64) -> impl DoubleEndedIterator<Item = &T> {
        (position.max(self.first)..self.next).filter_map(|at| self.get(at))
    }
}

fn slot(offset: u64, level: u32) -> usize {
    (offset >> (BITS * level)) as usize % WIDTH
}

/// Sets or clears a slot and removes nodes that become empty.
fn set<T: Clone>(link: &mut Option<Arc<Node<T>>>, level: u32, offset: u64, item: Option<T>) {
    if link.is_none() && item.is_none() {
        return;
    }

    let node = link.get_or_insert_with(|| {
        Arc::new(if level == 0 {
            Node::Leaf([const { None }; WIDTH])
        } else {
            Node::Inner([const { None }; WIDTH])
        })
    });

    // Copies a node only if another list shares it.
    let emptied = match Arc::make_mut(node) {
        Node::Leaf(items) => {
            items[slot(offset, 0)] = item;
            items.iter().all(Option::is_none)
        }
        Node::Inner(children) => {
            set(&mut children[slot(offset, level)], level - 1, offset, item);
            children.iter().all(Option::is_none)
        }
    };

    if emptied {
        *link = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaves_like_a_range_of_a_vector() {
        let mut list = PersistentList::starting_at(7);
        let mut clones = Vec::new();
        for n in 7..5_000u64 {
            list.push(n);
            if n % 500 == 0 {
                clones.push((n, list.clone()));
            }
            list.drop_before((n + 1).saturating_sub(100));
        }

        assert_eq!((list.first(), list.next), (4_900, 5_000));
        assert_eq!(
            list.iter_from(0).copied().collect::<Vec<_>>(),
            (4_900..5_000).collect::<Vec<_>>()
        );
        assert_eq!(
            (list.get(4_899), list.get(4_900), list.get(5_000)),
            (None, Some(&4_900), None)
        );

        list.push(1);
        list.replace(4_999, 2);
        assert_eq!(
            list.iter_from(4_998).copied().collect::<Vec<_>>(),
            [4_998, 2, 1]
        );

        list.truncate(4_999);
        assert_eq!(
            list.iter_from(4_997).copied().collect::<Vec<_>>(),
            [4_997, 4_998]
        );

        list.push(7);
        assert_eq!((list.get(4_999), list.get(5_000)), (Some(&7), None));

        for (n, clone) in clones {
            assert_eq!(
                clone.iter_from(n).copied().collect::<Vec<_>>(),
                [n],
                "a clone changed"
            );
        }
    }

    #[test]
    fn stays_usable_after_all_items_are_removed() {
        let mut list = PersistentList::starting_at(0);
        (0..100).for_each(|n| list.push(n));
        list.drop_before(100);
        assert!(list.root.is_none());

        list.push(100);
        assert_eq!(list.iter_from(0).collect::<Vec<_>>(), [&100]);
    }
}

//! A persistent sequence: cheap to clone, to append to, to cut at the old end.
//!
//! Holds the recent blocks of every published head. A clone is one pointer, an append copies one path of a radix
//! tree with 32 children per node, whatever the length.

use std::sync::Arc;

const BITS: u32 = 5;
const WIDTH: usize = 1 << BITS;

/// Items `first..next`, addressed by their absolute position.
#[derive(Clone, Debug)]
pub(super) struct Spine<T> {
    /// Position of the tree's leftmost slot.
    base: u64,
    first: u64,
    next: u64,
    /// Levels below the root.
    height: u32,
    root: Option<Arc<SpineNode<T>>>,
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "leaves are the larger ones, and most nodes are leaves")]
enum SpineNode<T> {
    Inner([Option<Arc<SpineNode<T>>>; WIDTH]),
    Leaf([Option<T>; WIDTH]),
}

impl<T: Clone> Spine<T> {
    /// An empty sequence whose first item will have this position.
    pub(super) fn starting_at(position: u64) -> Self {
        Self { base: position, first: position, next: position, height: 0, root: None }
    }

    /// Position that the next item will get.
    pub(in crate::chain) fn next(&self) -> u64 {
        self.next
    }

    /// Position of the oldest item.
    pub(in crate::chain) fn first(&self) -> u64 {
        self.first
    }

    /// The item at this position.
    pub(in crate::chain) fn get(&self, position: u64) -> Option<&T> {
        if !(self.first..self.next).contains(&position) {
            return None;
        }
        let offset = position - self.base;
        let mut node = self.root.as_deref()?;
        for level in (0..=self.height).rev() {
            let slot = slot(offset, level);
            match node {
                SpineNode::Leaf(items) => return items[slot].as_ref(),
                SpineNode::Inner(children) => node = children[slot].as_deref()?,
            }
        }
        None
    }

    /// Appends an item.
    pub(in crate::chain) fn push(&mut self, item: T) {
        let offset = self.next - self.base;
        while offset >> (BITS * (self.height + 1)) > 0 {
            let mut children = [const { None }; WIDTH];
            children[0] = self.root.take();
            self.root = Some(Arc::new(SpineNode::Inner(children)));
            self.height += 1;
        }
        set(&mut self.root, self.height, offset, Some(item));
        self.next += 1;
    }

    /// Replaces the item at this position, if there is one.
    pub(in crate::chain) fn replace(&mut self, position: u64, item: T) {
        if (self.first..self.next).contains(&position) {
            set(&mut self.root, self.height, position - self.base, Some(item));
        }
    }

    /// Drops the items before `first`.
    pub(super) fn drop_before(&mut self, first: u64) {
        while self.first < first.min(self.next) {
            set(&mut self.root, self.height, self.first - self.base, None);
            self.first += 1;
        }
    }

    /// Drops the items from `next` on.
    pub(super) fn truncate(&mut self, next: u64) {
        while self.next > next.max(self.first) {
            self.next -= 1;
            set(&mut self.root, self.height, self.next - self.base, None);
        }
    }

    /// The items from `position` on, oldest first.
    pub(super) fn iter_from(&self, position: u64) -> impl DoubleEndedIterator<Item = &T> {
        (position.max(self.first)..self.next).filter_map(|at| self.get(at))
    }
}

fn slot(offset: u64, level: u32) -> usize {
    (offset >> (BITS * level)) as usize % WIDTH
}

/// Sets or clears a slot; a node that becomes empty goes, too.
fn set<T: Clone>(link: &mut Option<Arc<SpineNode<T>>>, level: u32, offset: u64, item: Option<T>) {
    if link.is_none() && item.is_none() {
        return;
    }
    let node = link.get_or_insert_with(|| {
        Arc::new(if level == 0 {
            SpineNode::Leaf([const { None }; WIDTH])
        } else {
            SpineNode::Inner([const { None }; WIDTH])
        })
    });
    let emptied = match Arc::make_mut(node) {
        SpineNode::Leaf(items) => {
            items[slot(offset, 0)] = item;
            items.iter().all(Option::is_none)
        }
        SpineNode::Inner(children) => {
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
        let mut spine = Spine::starting_at(7);
        let mut clones = Vec::new();
        for n in 7..5_000u64 {
            spine.push(n);
            if n % 500 == 0 {
                clones.push((n, spine.clone()));
            }
            spine.drop_before((n + 1).saturating_sub(100));
        }
        assert_eq!((spine.first(), spine.next), (4_900, 5_000));
        assert_eq!(spine.iter_from(0).copied().collect::<Vec<_>>(), (4_900..5_000).collect::<Vec<_>>());
        assert_eq!((spine.get(4_899), spine.get(4_900), spine.get(5_000)), (None, Some(&4_900), None));

        spine.push(1);
        spine.replace(4_999, 2);
        assert_eq!(spine.iter_from(4_998).copied().collect::<Vec<_>>(), [4_998, 2, 1]);
        spine.truncate(4_999);
        assert_eq!(spine.iter_from(4_997).copied().collect::<Vec<_>>(), [4_997, 4_998]);
        spine.push(7);
        assert_eq!((spine.get(4_999), spine.get(5_000)), (Some(&7), None));
        for (n, clone) in clones {
            assert_eq!(clone.iter_from(n).copied().collect::<Vec<_>>(), [n], "a clone changed");
        }
    }

    #[test]
    fn survives_losing_all_items() {
        let mut spine = Spine::starting_at(0);
        (0..100).for_each(|n| spine.push(n));
        spine.drop_before(100);
        assert!(spine.root.is_none());
        spine.push(100);
        assert_eq!(spine.iter_from(0).collect::<Vec<_>>(), [&100]);
    }
}

//! A persistent Merkle-Patricia trie over 32-byte keys.
//!
//! One structure serves reads, the root hash, proofs and snapshots: nodes are shared through [`Arc`], a clone is
//! one pointer, and an edit copies only the path from the root to the changed leaf (and nothing at all where no
//! clone shares it). Every node caches its hash, so a root costs as much as what changed since the last one.
//!
//! Take the root *before* cloning: nodes whose hash is not known yet would be copied again to store it.
//!
//! The encoding is the Yellow Paper's appendix D ("modified Merkle Patricia tree"). An extension is not a node of
//! its own but the `prefix` of the branch below it. Keys are expected to be hashes (the "secure" trie); only their
//! length is relied upon.

use std::sync::Arc;

use alloy_primitives::B256;

use super::node::{CachedReference, Node, Prefix, Scratch, nibble};

/// What a leaf stores, and how the Merkle trie sees it.
pub trait Value: Clone {
    /// Appends the leaf's payload: the bytes that the Merkle trie stores under the key.
    fn encode(&self, out: &mut Vec<u8>);
}

pub(super) type Link<V> = Option<Arc<Node<V>>>;

/// A persistent map from 32-byte keys to `V` with a Merkle root.
#[derive(Clone, Debug)]
pub struct Trie<V> {
    pub(super) root: Link<V>,
    len: usize,
}

impl<V> Default for Trie<V> {
    fn default() -> Self {
        Self { root: None, len: 0 }
    }
}

impl<V: Value> Trie<V> {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value under `key`.
    pub fn get(&self, key: &B256) -> Option<&V> {
        let mut link = &self.root;
        let mut depth = 0;
        loop {
            match &**link.as_ref()? {
                Node::Leaf { key: stored, value, .. } => return (stored == key).then_some(value),
                Node::Branch { prefix, children, .. } => {
                    if prefix.common(key, depth) < prefix.len() {
                        return None;
                    }
                    depth += prefix.len();
                    link = &children[nibble(key, depth)];
                    depth += 1;
                }
            }
        }
    }

    /// Sets the value under `key`; returns the one it replaces.
    pub fn insert(&mut self, key: B256, value: V) -> Option<V> {
        let replaced = insert(&mut self.root, key, 0, value);
        self.len += usize::from(replaced.is_none());
        replaced
    }

    /// Removes the value under `key` and returns it. A missing key copies nothing.
    pub fn remove(&mut self, key: &B256) -> Option<V> {
        self.get(key)?;
        self.len -= 1;
        remove(&mut self.root, key, 0)
    }

    /// The Merkle root. Hashes what changed since the last call, and remembers it.
    pub fn root(&mut self) -> B256 {
        match &mut self.root {
            None => alloy_consensus::constants::EMPTY_ROOT_HASH,
            Some(node) => {
                let scratch = &mut Scratch::default();
                Node::settle(node, 0, scratch);
                node.hash(0, scratch)
            }
        }
    }

    /// All entries in the order of their keys.
    pub fn iter(&self) -> Iter<'_, V> {
        Iter { stack: self.root.as_deref().into_iter().map(|node| (node, 0)).collect() }
    }
}

fn insert<V: Value>(link: &mut Link<V>, key: B256, depth: usize, value: V) -> Option<V> {
    let Some(arc) = link else {
        *link = Some(Arc::new(Node::Leaf { key, value, cached: CachedReference::Dirty }));
        return None;
    };
    let node = Arc::make_mut(arc);
    node.touch();
    let split = match node {
        Node::Leaf { key: stored, value: old, .. } if *stored == key => return Some(std::mem::replace(old, value)),
        Node::Leaf { key: stored, .. } => {
            let at = (depth..64).find(|&i| nibble(stored, i) != nibble(&key, i)).expect("the keys differ");
            (at, nibble(stored, at))
        }
        Node::Branch { prefix, children, .. } => {
            let common = prefix.common(&key, depth);
            let at = depth + common;
            if common == prefix.len() {
                return insert(&mut children[nibble(&key, at)], key, at + 1, value);
            }
            let own = prefix.nibble(common);
            prefix.drop_front(common + 1);
            (at, own)
        }
    };
    // The node stays as it is, one branch deeper; the new leaf becomes its sibling.
    let (at, own) = split;
    let mut children = <[Link<V>; 16]>::default();
    children[own] = link.take();
    children[nibble(&key, at)] = Some(Arc::new(Node::Leaf { key, value, cached: CachedReference::Dirty }));
    *link =
        Some(Arc::new(Node::Branch { prefix: Prefix::of(&key, depth, at), children, cached: CachedReference::Dirty }));
    None
}

/// The key is known to be there.
fn remove<V: Value>(link: &mut Link<V>, key: &B256, depth: usize) -> Option<V> {
    let node = Arc::make_mut(link.as_mut()?);
    node.touch();
    let Node::Branch { prefix, children, .. } = node else {
        return match Arc::try_unwrap(link.take()?) {
            Ok(Node::Leaf { value, .. }) => Some(value),
            _ => None,
        };
    };
    let at = depth + prefix.len();
    let removed = remove(&mut children[nibble(key, at)], key, at + 1);

    let mut left = children.iter_mut().enumerate().filter(|(_, child)| child.is_some());
    let (Some((index, child)), None) = (left.next(), left.next()) else { return removed };
    // A branch with one child does not exist: the child takes its place and, if a branch, its path.
    let mut child = child.take();
    if let Some(arc) = &mut child {
        let only = Arc::make_mut(arc);
        only.touch();
        if let Node::Branch { prefix: below, .. } = only {
            below.push_front(prefix, index);
        }
    }
    *link = child;
    removed
}

/// Entries in key order, see [`Trie::iter`].
#[derive(Debug)]
pub struct Iter<'a, V> {
    /// Nodes on the way down, each with the next child to visit.
    stack: Vec<(&'a Node<V>, usize)>,
}

impl<'a, V> Iterator for Iter<'a, V> {
    type Item = (&'a B256, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (node, next) = self.stack.last_mut()?;
            match node {
                Node::Leaf { key, value, .. } => {
                    self.stack.pop();
                    return Some((key, value));
                }
                Node::Branch { children, .. } => match children[*next..].iter().position(Option::is_some) {
                    None => {
                        self.stack.pop();
                    }
                    Some(skip) => {
                        let index = *next + skip;
                        *next = index + 1;
                        if let Some(child) = children[index].as_deref() {
                            self.stack.push((child, 0));
                        }
                    }
                },
            }
        }
    }
}

//! A persistent Merkle-Patricia trie over 32-byte keys.
//!
//! One structure serves reads, the root hash, proofs and snapshots: nodes are shared through
//! [`Arc`], a clone is one pointer, and an edit copies only the path from the root to the changed
//! leaf, or nothing if no clone shares it. Every node keeps its hash, so that the cost of a root
//! depends on the changes since the last one only. Nodes at the same distance from the root are
//! hashed together, see [`keccak`](tetrad_stdx::keccak).
//!
//! The encoding is that of the Yellow Paper, appendix D ("modified Merkle Patricia tree"). An
//! extension is not a node of its own but the `prefix` of the branch below it. Keys are expected to
//! be hashes (the "secure" trie), but only their length matters.

use std::sync::Arc;

use alloy_primitives::B256;

use super::node::{Link, NodeHash, Prefix, Scratch, TrieNode, Value, nibble};

/// A persistent map from 32-byte keys to `V` with a Merkle root.
#[derive(Clone, Debug)]
pub struct Trie<V> {
    pub(super) root: Link<V>,
    len: usize,
    /// The number of edits since the last root.
    edits: usize,
}

/// From this number of edits on, hashing them takes longer than starting threads.
const PARALLEL_FROM: usize = 500;

impl<V> Default for Trie<V> {
    fn default() -> Self {
        Self {
            root: None,
            len: 0,
            edits: 0,
        }
    }
}

impl<V: Value> Trie<V> {
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the trie is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the value under `key`.
    pub fn get(&self, key: &B256) -> Option<&V> {
        let mut link = &self.root;
        let mut depth = 0;
        loop {
            match &**link.as_ref()? {
                TrieNode::Leaf {
                    key: stored, value, ..
                } => return (stored == key).then_some(value),
                TrieNode::Branch {
                    prefix, children, ..
                } => {
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

    /// Sets the value under `key` and returns the one that it replaces.
    pub fn insert(&mut self, key: B256, value: V) -> Option<V> {
        let replaced = insert(&mut self.root, key, 0, value);
        self.len += usize::from(replaced.is_none());
        self.edits += 1;
        replaced
    }

    /// Moves the entries of `other` here. Subtrees that only one of them has remain as they are,
    /// with their hashes. If both have a key, either value remains.
    pub fn merge(&mut self, other: Self) {
        let in_both = merge(&mut self.root, other.root, 0);
        self.len = self.len + other.len - in_both;
        self.edits += other.edits;
    }

    /// Removes the value under `key` and returns it. If the key is missing, nothing is copied.
    pub fn remove(&mut self, key: &B256) -> Option<V> {
        self.get(key)?;
        self.len -= 1;
        self.edits += 1;
        remove(&mut self.root, key, 0)
    }

    /// Returns the Merkle root. Hashes the nodes that changed since the last call.
    pub fn root(&mut self) -> B256 {
        let edits = std::mem::take(&mut self.edits);
        match &self.root {
            None => alloy_consensus::constants::EMPTY_ROOT_HASH,
            Some(node) => {
                if edits >= PARALLEL_FROM {
                    node.hash_children();
                }
                node.hash_all(0, &mut Scratch::default());
                node.root()
            }
        }
    }

    /// Iterates over all entries in the order of their keys.
    pub fn iter(&self) -> Iter<'_, V> {
        Iter {
            stack: self
                .root
                .as_deref()
                .into_iter()
                .map(|node| (node, 0))
                .collect(),
        }
    }
}

/// Collects entries into a trie, of equal keys the last one. It is fastest if they are in the order
/// of their keys, without duplicates: each node is then created once.
impl<V: Value> FromIterator<(B256, V)> for Trie<V> {
    fn from_iter<I: IntoIterator<Item = (B256, V)>>(entries: I) -> Self {
        let mut keys = Vec::new();
        let mut values = Vec::new();
        let mut entries = entries.into_iter().peekable();
        while let Some((key, value)) =
            entries.next_if(|(key, _)| keys.last().is_none_or(|last| last < key))
        {
            keys.push(key);
            values.push(value);
        }

        let len = keys.len();
        let root = (len > 0).then(|| build(&keys, &mut values.into_iter(), 0));
        let mut trie = Self {
            root: root.flatten(),
            len,
            edits: len,
        };

        // The rest, from the first entry that is out of order.
        for (key, value) in entries {
            trie.insert(key, value);
        }
        trie
    }
}

/// Builds the node at `depth` above the entries with these keys, which are in ascending order.
fn build<V: Value>(keys: &[B256], values: &mut impl Iterator<Item = V>, depth: usize) -> Link<V> {
    let first = keys.first()?;
    let last = keys.last()?;
    let Some(at) = (depth..64).find(|&i| nibble(first, i) != nibble(last, i)) else {
        let leaf = TrieNode::Leaf {
            key: *first,
            value: values.next()?,
            hash: NodeHash::default(),
        };
        return Some(Arc::new(leaf));
    };

    let mut children = <[Link<V>; 16]>::default();
    for below in keys.chunk_by(|a, b| nibble(a, at) == nibble(b, at)) {
        children[nibble(&below[0], at)] = build(below, values, at + 1);
    }
    Some(Arc::new(TrieNode::Branch {
        prefix: Prefix::of(first, depth, at),
        children,
        hash: NodeHash::default(),
    }))
}

fn insert<V: Value>(link: &mut Link<V>, key: B256, depth: usize, value: V) -> Option<V> {
    let Some(arc) = link else {
        *link = Some(Arc::new(TrieNode::Leaf {
            key,
            value,
            hash: NodeHash::default(),
        }));
        return None;
    };

    let node = Arc::make_mut(arc);
    node.touch();
    let split = match node {
        TrieNode::Leaf {
            key: stored,
            value: old,
            ..
        } if *stored == key => return Some(std::mem::replace(old, value)),
        TrieNode::Leaf { key: stored, .. } => {
            let at = (depth..64)
                .find(|&i| nibble(stored, i) != nibble(&key, i))
                .expect("the keys differ");
            (at, nibble(stored, at))
        }
        TrieNode::Branch {
            prefix, children, ..
        } => {
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

    // The existing node moves below a new branch, with the new leaf as its sibling.
    let (at, own) = split;
    let mut children = <[Link<V>; 16]>::default();
    children[own] = link.take();
    children[nibble(&key, at)] = Some(Arc::new(TrieNode::Leaf {
        key,
        value,
        hash: NodeHash::default(),
    }));
    *link = Some(Arc::new(TrieNode::Branch {
        prefix: Prefix::of(&key, depth, at),
        children,
        hash: NodeHash::default(),
    }));
    None
}

/// Moves the entries of another node at the same depth below `link`, and returns the number of keys
/// that both have.
fn merge<V: Value>(link: &mut Link<V>, other: Link<V>, depth: usize) -> usize {
    let Some(other) = other else { return 0 };
    let Some(own) = link.take() else {
        *link = Some(other);
        return 0;
    };

    let common = match (&*own, &*other) {
        (TrieNode::Branch { prefix, .. }, TrieNode::Branch { prefix: theirs, .. }) => {
            prefix.common_with(theirs)
        }
        (TrieNode::Leaf { .. }, _) => return insert_leaf(link, own, other, depth),
        (_, TrieNode::Leaf { .. }) => return insert_leaf(link, other, own, depth),
    };

    let (prefix, mut children) = split(own, common);
    let (_, theirs) = split(other, common);
    let below = depth + common + 1;
    let in_both = children
        .iter_mut()
        .zip(theirs)
        .map(|(child, their)| merge(child, their, below))
        .sum();
    *link = Some(Arc::new(TrieNode::Branch {
        prefix,
        children,
        hash: NodeHash::default(),
    }));
    in_both
}

/// Sets `link` to a node with the entry of a leaf, and returns the number of equal keys.
fn insert_leaf<V: Value>(
    link: &mut Link<V>,
    leaf: Arc<TrieNode<V>>,
    node: Arc<TrieNode<V>>,
    depth: usize,
) -> usize {
    *link = Some(node);
    let TrieNode::Leaf { key, value, .. } = Arc::unwrap_or_clone(leaf) else {
        return 0;
    };
    usize::from(insert(link, key, depth, value).is_some())
}

/// Returns the first nibbles of a branch's prefix and its children. If the prefix is longer, the
/// rest of the branch is the only child.
fn split<V: Value>(branch: Arc<TrieNode<V>>, length: usize) -> (Prefix, [Link<V>; 16]) {
    let mut node = Arc::unwrap_or_clone(branch);
    let TrieNode::Branch {
        prefix,
        children,
        hash,
    } = &mut node
    else {
        return Default::default();
    };

    let first = prefix.first(length);
    if length == prefix.len() {
        return (first, std::mem::take(children));
    }

    let index = prefix.nibble(length);
    prefix.drop_front(length + 1);
    // A shorter prefix changes the encoding.
    *hash = NodeHash::default();
    let mut only = <[Link<V>; 16]>::default();
    only[index] = Some(Arc::new(node));
    (first, only)
}

/// Removes a key, which must exist.
fn remove<V: Value>(link: &mut Link<V>, key: &B256, depth: usize) -> Option<V> {
    let node = Arc::make_mut(link.as_mut()?);
    node.touch();
    let TrieNode::Branch {
        prefix, children, ..
    } = node
    else {
        return match Arc::try_unwrap(link.take()?) {
            Ok(TrieNode::Leaf { value, .. }) => Some(value),
            _ => None,
        };
    };

    let at = depth + prefix.len();
    let removed = remove(&mut children[nibble(key, at)], key, at + 1);

    let mut left = children
        .iter_mut()
        .enumerate()
        .filter(|(_, child)| child.is_some());
    let (Some((index, child)), None) = (left.next(), left.next()) else {
        return removed;
    };

    // A branch must have several children: a single child takes its place and, if it is a branch,
    // its prefix.
    let mut child = child.take();
    if let Some(arc) = &mut child {
        let only = Arc::make_mut(arc);
        // Its depth or its prefix changes, and with it its encoding.
        only.touch();
        if let TrieNode::Branch { prefix: below, .. } = only {
            below.push_front(prefix, index);
        }
    }
    *link = child;
    removed
}

/// An iterator over entries in key order, see [`Trie::iter`].
#[derive(Debug)]
pub struct Iter<'a, V> {
    /// The path to the current node, each with the next child to visit.
    stack: Vec<(&'a TrieNode<V>, usize)>,
}

impl<'a, V> Iterator for Iter<'a, V> {
    type Item = (&'a B256, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (node, next) = self.stack.last_mut()?;
            match node {
                TrieNode::Leaf { key, value, .. } => {
                    self.stack.pop();
                    return Some((key, value));
                }
                TrieNode::Branch { children, .. } => {
                    match children[*next..].iter().position(Option::is_some) {
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
                    }
                }
            }
        }
    }
}

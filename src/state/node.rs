//! Nodes of the trie: their layout, their Merkle encoding and the cache of their hashes.

use std::sync::Arc;

use alloy_primitives::{B256, keccak256};

use crate::parallel;

/// A value of a trie, with its encoding.
pub trait Value: Clone + Send + Sync {
    /// Appends the value's encoding, which the Merkle trie stores under the key.
    fn encode(&self, out: &mut Vec<u8>);
}

pub(super) type Link<V> = Option<Arc<TrieNode<V>>>;

/// Returns a nibble of a key; `index` counts from the most significant one.
pub(super) fn nibble(key: &B256, index: usize) -> usize {
    let byte = key[index / 2];
    usize::from(if index.is_multiple_of(2) { byte >> 4 } else { byte & 0xf })
}

/// The cached reference of a node, which its parent stores.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cached {
    /// Changed since the last hash.
    Dirty,
    /// The encoding is 32 bytes or longer; this is its hash.
    Hash(B256),
    /// The encoding is shorter than a hash and is embedded in the parent. It is cheap enough to build again.
    Inline,
}

/// A node. Both variants take no more than 176 bytes, so that with the `Arc`'s counters an allocation is 192.
#[derive(Clone, Debug)]
pub(super) enum TrieNode<V> {
    Leaf { key: B256, value: V, cached: Cached },
    Branch { prefix: Prefix, children: [Link<V>; 16], cached: Cached },
}

/// Buffers that a hashing pass reuses for all nodes.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    encoded: Vec<u8>,
    value: Vec<u8>,
}

impl<V: Value> TrieNode<V> {
    /// Invalidates the cached reference before the node, its depth or a descendant changes.
    pub(super) fn touch(&mut self) {
        match self {
            Self::Leaf { cached, .. } | Self::Branch { cached, .. } => *cached = Cached::Dirty,
        }
    }

    fn cached(&self) -> Cached {
        match self {
            Self::Leaf { cached, .. } | Self::Branch { cached, .. } => *cached,
        }
    }

    /// Fills the caches of all descendants of the root node, in parallel.
    pub(super) fn settle_children(root: &mut Arc<Self>) {
        if let Self::Branch { prefix, children, .. } = Arc::make_mut(root) {
            let depth = prefix.len() + 1;
            parallel::for_each(children.iter_mut().flatten(), |child, scratch| Self::settle(child, depth, scratch));
        }
    }

    /// Fills the caches of this node and of all its descendants.
    pub(super) fn settle(arc: &mut Arc<Self>, depth: usize, scratch: &mut Scratch) {
        if !matches!(arc.cached(), Cached::Dirty) {
            return;
        }
        let node = Arc::make_mut(arc);
        if let Self::Branch { prefix, children, .. } = node {
            let below = depth + prefix.len() + 1;
            for child in children.iter_mut().flatten() {
                Self::settle(child, below, scratch);
            }
        }
        let mut encoded = std::mem::take(&mut scratch.encoded);
        encoded.clear();
        node.encode(depth, &mut encoded, scratch);
        let reference = if encoded.len() < 32 { Cached::Inline } else { Cached::Hash(keccak256(&encoded)) };
        scratch.encoded = encoded;
        match node {
            Self::Leaf { cached, .. } | Self::Branch { cached, .. } => *cached = reference,
        }
    }

    /// Returns the hash of a settled root node, of which even a short encoding is hashed.
    pub(super) fn hash(&self, depth: usize, scratch: &mut Scratch) -> B256 {
        match self.cached() {
            Cached::Hash(hash) => hash,
            _ => {
                let mut encoded = Vec::new();
                self.encode(depth, &mut encoded, scratch);
                keccak256(encoded)
            }
        }
    }

    /// Appends the node's encoding. All descendants must be settled.
    fn encode(&self, depth: usize, out: &mut Vec<u8>, scratch: &mut Scratch) {
        match self {
            Self::Leaf { .. } => self.encode_leaf(depth, out, scratch),
            Self::Branch { prefix, .. } if prefix.len() == 0 => self.encode_branch(depth, out, scratch),
            Self::Branch { prefix, .. } => {
                let mut branch = Vec::with_capacity(532);
                self.encode_branch(depth, &mut branch, scratch);
                encode_extension(prefix, &branch, out);
            }
        }
    }

    /// Appends this node's part of a proof: its extension, if it has one, and the branch or leaf, if the key goes
    /// `through` it. Encodings shorter than a hash are embedded in the parent instead.
    pub(super) fn proof(&self, depth: usize, through: bool, proof: &mut Vec<Vec<u8>>) {
        let scratch = &mut Scratch::default();
        let mut push = |encoded: Vec<u8>| {
            if encoded.len() >= 32 || proof.is_empty() {
                proof.push(encoded);
            }
        };
        let mut own = Vec::new();
        match self {
            Self::Leaf { .. } => self.encode_leaf(depth, &mut own, scratch),
            Self::Branch { prefix, .. } => {
                self.encode_branch(depth, &mut own, scratch);
                if prefix.len() > 0 {
                    let mut extension = Vec::new();
                    encode_extension(prefix, &own, &mut extension);
                    push(extension);
                }
            }
        }
        if through {
            push(own);
        }
    }

    fn encode_leaf(&self, depth: usize, out: &mut Vec<u8>, scratch: &mut Scratch) {
        let Self::Leaf { key, value, .. } = self else { return };
        let mut path = [0u8; 64];
        for (at, slot) in path.iter_mut().enumerate().skip(depth) {
            *slot = nibble(key, at) as u8;
        }
        scratch.value.clear();
        value.encode(&mut scratch.value);
        list(out, |out| {
            compact(&path[depth..], true, out);
            string(&scratch.value, out);
        });
    }

    fn encode_branch(&self, depth: usize, out: &mut Vec<u8>, scratch: &mut Scratch) {
        let Self::Branch { prefix, children, .. } = self else { return };
        let below = depth + prefix.len() + 1;
        list(out, |out| {
            for child in children {
                match child.as_deref().map(|node| (node, node.cached())) {
                    None => out.push(0x80),
                    Some((_, Cached::Hash(hash))) => string(hash.as_slice(), out),
                    Some((node, _)) => node.encode(below, out, scratch),
                }
            }
            out.push(0x80);
        });
    }
}

fn encode_extension(prefix: &Prefix, branch: &[u8], out: &mut Vec<u8>) {
    list(out, |out| {
        compact(prefix.nibbles(), false, out);
        match branch.len() {
            0..32 => out.extend_from_slice(branch),
            _ => string(keccak256(branch).as_slice(), out),
        }
    });
}

/// Appends the hex-prefix encoding of nibbles (Yellow Paper, appendix C) as an RLP string.
fn compact(nibbles: &[u8], leaf: bool, out: &mut Vec<u8>) {
    let mut bytes = [0u8; 33];
    let odd = nibbles.len() % 2;
    bytes[0] = ((leaf as u8) << 5) | ((odd as u8) << 4) | if odd == 1 { nibbles[0] } else { 0 };
    for (byte, pair) in bytes[1..].iter_mut().zip(nibbles[odd..].chunks_exact(2)) {
        *byte = (pair[0] << 4) | pair[1];
    }
    string(&bytes[..1 + nibbles.len() / 2], out);
}

fn string(bytes: &[u8], out: &mut Vec<u8>) {
    alloy_rlp::Encodable::encode(bytes, out);
}

/// Appends an RLP list. Its payload is written first, after space for the longest header that a node can need.
fn list(out: &mut Vec<u8>, payload: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 3]);
    payload(out);
    let length = out.len() - start - 3;
    let (header, size) = match length {
        0..=55 => ([0xc0 + length as u8, 0, 0], 1),
        56..=255 => ([0xf8, length as u8, 0], 2),
        _ => ([0xf9, (length >> 8) as u8, length as u8], 3),
    };
    out[start + 3 - size..start + 3].copy_from_slice(&header[..size]);
    out.drain(start..start + 3 - size);
}

/// The nibbles between a branch and its parent. They are almost always empty, which takes 8 bytes and no allocation.
#[derive(Clone, Debug, Default)]
#[expect(clippy::box_collection, reason = "a thin pointer keeps the node within its size class")]
pub(super) struct Prefix(Option<Box<Vec<u8>>>);

impl Prefix {
    /// Returns nibbles `from..to` of `key`.
    pub(super) fn of(key: &B256, from: usize, to: usize) -> Self {
        Self::from((from..to).map(|at| nibble(key, at) as u8).collect::<Vec<_>>())
    }

    fn from(nibbles: Vec<u8>) -> Self {
        Self((!nibbles.is_empty()).then(|| Box::new(nibbles)))
    }

    fn nibbles(&self) -> &[u8] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }

    pub(super) fn len(&self) -> usize {
        self.nibbles().len()
    }

    pub(super) fn nibble(&self, index: usize) -> usize {
        usize::from(self.nibbles()[index])
    }

    /// Returns the number of nibbles that agree with `key` from `depth` on.
    pub(super) fn common(&self, key: &B256, depth: usize) -> usize {
        self.nibbles().iter().enumerate().take_while(|&(i, &own)| usize::from(own) == nibble(key, depth + i)).count()
    }

    /// Returns the number of nibbles that agree with those of another prefix.
    pub(super) fn common_with(&self, other: &Self) -> usize {
        self.nibbles().iter().zip(other.nibbles()).take_while(|(own, theirs)| own == theirs).count()
    }

    pub(super) fn first(&self, count: usize) -> Self {
        Self::from(self.nibbles()[..count].to_vec())
    }

    pub(super) fn drop_front(&mut self, count: usize) {
        *self = Self::from(self.nibbles()[count..].to_vec());
    }

    /// Prepends `parent` and the index of its child.
    pub(super) fn push_front(&mut self, parent: &Self, index: usize) {
        *self = Self::from([parent.nibbles(), &[index as u8], self.nibbles()].concat());
    }
}

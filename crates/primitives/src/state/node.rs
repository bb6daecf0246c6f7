//! Nodes of the trie: their layout, their Merkle encoding and their hashes.

use std::sync::Arc;

use alloy_primitives::{B256, keccak256};
use once_cell::sync::OnceCell;
use tetrad_stdx::{keccak::Messages, parallel};

/// A value of a trie, with its encoding.
pub trait Value: Clone + Send + Sync {
    /// Appends the value's encoding, which the Merkle trie stores under the key.
    fn encode(&self, out: &mut Vec<u8>);
}

pub(super) type Link<V> = Option<Arc<TrieNode<V>>>;

/// Returns a nibble of a key; `index` counts from the most significant one.
pub(super) fn nibble(key: &B256, index: usize) -> usize {
    let byte = key[index / 2];
    usize::from(if index.is_multiple_of(2) {
        byte >> 4
    } else {
        byte & 0xf
    })
}

/// The hash of a node's encoding, by which its parent refers to it, once it is computed. An
/// encoding that is shorter than a hash is embedded in the parent instead, and is cheap enough to
/// build again.
///
/// A copy of a node is made to change it: it has no hash. A cell of the standard library would take
/// up to six bytes more, depending on the system.
#[derive(Debug, Default)]
pub(super) struct NodeHash(OnceCell<B256>);

impl NodeHash {
    /// Stands for a short encoding. No encoding has this hash.
    const EMBEDDED: B256 = B256::ZERO;

    fn is_known(&self) -> bool {
        self.0.get().is_some()
    }

    /// Returns the hash, unless it is unknown or the encoding is short.
    fn get(&self) -> Option<&B256> {
        self.0.get().filter(|hash| **hash != Self::EMBEDDED)
    }

    /// Sets the hash of an encoding. Another thread may have set it, as nodes are shared.
    fn set(&self, encoded: &[u8], hash: B256) {
        let _ = self.0.set(if encoded.len() < 32 {
            Self::EMBEDDED
        } else {
            hash
        });
    }
}

impl Clone for NodeHash {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// A node. Both variants take no more than 176 bytes, so that with the `Arc`'s counters an
/// allocation is 192.
#[derive(Clone, Debug)]
pub(super) enum TrieNode<V> {
    Leaf {
        key: B256,
        value: V,
        hash: NodeHash,
    },
    Branch {
        prefix: Prefix,
        children: [Link<V>; 16],
        hash: NodeHash,
    },
}

/// Buffers that a hashing pass reuses for all nodes.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    nodes: Messages,
    value: Vec<u8>,
}

impl<V: Value> TrieNode<V> {
    /// Forgets the hash before the node, its depth or a descendant changes.
    pub(super) fn touch(&mut self) {
        match self {
            Self::Leaf { hash, .. } | Self::Branch { hash, .. } => *hash = NodeHash::default(),
        }
    }

    fn hash(&self) -> &NodeHash {
        match self {
            Self::Leaf { hash, .. } | Self::Branch { hash, .. } => hash,
        }
    }

    /// Computes the missing hashes of all descendants of a root node, in parallel.
    pub(super) fn hash_children(&self) {
        if let Self::Branch {
            prefix, children, ..
        } = self
        {
            let depth = prefix.len() + 1;
            parallel::for_each(children.iter().flatten(), |child, scratch| {
                child.hash_all(depth, scratch)
            });
        }
    }

    /// Computes the missing hashes of this node and of all its descendants, those furthest from
    /// this node first.
    pub(super) fn hash_all(&self, depth: usize, Scratch { nodes, value }: &mut Scratch) {
        let mut levels = Vec::new();
        self.collect_unhashed(depth, 0, &mut levels);
        for level in levels.iter().rev() {
            let encode =
                |(node, depth): &(&Self, usize), out: &mut Vec<u8>| node.encode(*depth, out, value);
            nodes.hash(level, encode, |(node, _), encoded, hash| {
                node.hash().set(encoded, hash)
            });
        }
    }

    /// Adds the nodes without a hash and their depths to `levels`, by the number of branches above
    /// them. A node without a hash has only such nodes above it.
    fn collect_unhashed<'a>(
        &'a self,
        depth: usize,
        level: usize,
        levels: &mut Vec<Vec<(&'a Self, usize)>>,
    ) {
        if self.hash().is_known() {
            return;
        }
        if levels.len() == level {
            levels.push(Vec::new());
        }

        levels[level].push((self, depth));

        if let Self::Branch {
            prefix, children, ..
        } = self
        {
            let below = depth + prefix.len() + 1;
            for child in children.iter().flatten() {
                child.collect_unhashed(below, level + 1, levels);
            }
        }
    }

    /// Returns the hash of a root node, of which even a short encoding is hashed. All nodes must
    /// have their hashes.
    pub(super) fn root(&self) -> B256 {
        self.hash().get().copied().unwrap_or_else(|| {
            let mut encoded = Vec::new();
            self.encode(0, &mut encoded, &mut Vec::new());
            keccak256(encoded)
        })
    }

    /// Appends the node's encoding. All descendants must have their hashes. `value` is a buffer.
    fn encode(&self, depth: usize, out: &mut Vec<u8>, value: &mut Vec<u8>) {
        match self {
            Self::Leaf { .. } => self.encode_leaf(depth, out, value),
            Self::Branch { prefix, .. } if prefix.len() == 0 => {
                self.encode_branch(depth, out, value)
            }
            Self::Branch { prefix, .. } => {
                // The longest branch: 16 hashes of 33 bytes, the empty value and the list's header.
                let mut branch = Vec::with_capacity(532);
                self.encode_branch(depth, &mut branch, value);
                encode_extension(prefix, &branch, out);
            }
        }
    }

    /// Appends this node's part of a proof: its extension, if it has one, and the branch or leaf,
    /// if the key goes `through` it. Encodings shorter than a hash are embedded in the parent
    /// instead.
    pub(super) fn proof(&self, depth: usize, through: bool, proof: &mut Vec<Vec<u8>>) {
        let buffer = &mut Vec::new();
        let mut own = Vec::new();
        match self {
            Self::Leaf { .. } => self.encode_leaf(depth, &mut own, buffer),
            Self::Branch { prefix, .. } => {
                self.encode_branch(depth, &mut own, buffer);
                if prefix.len() > 0 {
                    let mut extension = Vec::new();
                    encode_extension(prefix, &own, &mut extension);
                    push_to_proof(proof, extension);
                }
            }
        }

        if through {
            push_to_proof(proof, own);
        }
    }

    fn encode_leaf(&self, depth: usize, out: &mut Vec<u8>, value: &mut Vec<u8>) {
        let Self::Leaf {
            key, value: stored, ..
        } = self
        else {
            return;
        };

        let mut path = [0u8; 64];
        for (at, slot) in path.iter_mut().enumerate().skip(depth) {
            *slot = nibble(key, at) as u8;
        }

        value.clear();
        stored.encode(value);
        list(out, |out| {
            compact(&path[depth..], true, out);
            string(value, out);
        });
    }

    fn encode_branch(&self, depth: usize, out: &mut Vec<u8>, value: &mut Vec<u8>) {
        let Self::Branch {
            prefix, children, ..
        } = self
        else {
            return;
        };
        let below = depth + prefix.len() + 1;
        list(out, |out| {
            for child in children {
                match child.as_deref().map(|node| (node, node.hash().get())) {
                    None => out.push(0x80),
                    Some((_, Some(hash))) => string(hash.as_slice(), out),
                    Some((node, None)) => node.encode(below, out, value),
                }
            }
            out.push(0x80);
        });
    }
}

/// Appends a node to a proof, unless it is embedded in its parent.
fn push_to_proof(proof: &mut Vec<Vec<u8>>, encoded: Vec<u8>) {
    if encoded.len() >= 32 || proof.is_empty() {
        proof.push(encoded);
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

/// Appends an RLP list. Its payload is written first, after space for the longest header that a
/// node can need.
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

/// The nibbles between a branch and its parent. They are almost always empty, which takes 8 bytes
/// and no allocation.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::box_collection,
    reason = "a thin pointer keeps the node within its size class"
)]
pub(super) struct Prefix(Option<Box<Vec<u8>>>);

impl Prefix {
    /// Returns nibbles `from..to` of `key`.
    pub(super) fn of(key: &B256, from: usize, to: usize) -> Self {
        Self::from(
            (from..to)
                .map(|at| nibble(key, at) as u8)
                .collect::<Vec<_>>(),
        )
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
        self.nibbles()
            .iter()
            .enumerate()
            .take_while(|&(i, &own)| usize::from(own) == nibble(key, depth + i))
            .count()
    }

    /// Returns the number of nibbles that agree with those of another prefix.
    pub(super) fn common_with(&self, other: &Self) -> usize {
        self.nibbles()
            .iter()
            .zip(other.nibbles())
            .take_while(|(own, theirs)| own == theirs)
            .count()
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

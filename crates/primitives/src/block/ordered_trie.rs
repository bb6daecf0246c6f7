//! The tries of a block's transactions and receipts, of which only the roots are needed. The keys
//! are the RLP encodings of the indexes (Yellow Paper, 4.4.3).

use alloy_consensus::constants::EMPTY_ROOT_HASH;
use alloy_primitives::{B256, keccak256};
use alloy_rlp::Encodable;
use alloy_trie::{
    Nibbles, TrieMask,
    nodes::{BranchNodeRef, ExtensionNodeRef, LeafNodeRef, RlpNode},
};
use tetrad_stdx::keccak::Messages;

/// Returns the root of the trie of `count` values. `encode_value` appends the value of an index.
pub(super) fn ordered_root(count: usize, encode_value: impl Fn(usize, &mut Vec<u8>)) -> B256 {
    let mut entries: Vec<_> = (0..count)
        .map(|index| (Nibbles::unpack(alloy_rlp::encode(index)), index))
        .collect();
    // RLP orders index 0, which is 0x80, after index 127.
    entries.sort_unstable();

    let mut levels = Vec::new();
    let Some(root) = build(&entries, 0, 0, &mut levels) else {
        return EMPTY_ROOT_HASH;
    };

    let mut messages = Messages::default();
    let mut value = Vec::new();
    // How parents refer to the nodes of the level below.
    let mut references = Vec::new();
    for level in levels.iter().rev() {
        let mut found = vec![RlpNode::default(); level.len()];
        messages.hash(
            level,
            |node, out| match &node.content {
                Content::Value(index) => {
                    value.clear();
                    encode_value(*index, &mut value);
                    LeafNodeRef::new(&node.path, &value).encode(out);
                }
                Content::Children { first, mask } => {
                    let children = &references[*first..first + mask.count_ones() as usize];
                    encode_branch(&node.path, BranchNodeRef::new(children, *mask), out);
                }
            },
            |node, encoded, hash| found[node.position] = reference(encoded, &hash),
        );

        references = found;
    }

    references[root]
        .as_hash()
        .unwrap_or_else(|| keccak256(&references[root]))
}

/// How a parent refers to a node: by its hash, or by the node itself if that is shorter.
fn reference(encoded: &[u8], hash: &B256) -> RlpNode {
    let short = if encoded.len() < 32 {
        RlpNode::from_raw(encoded)
    } else {
        None
    };
    short.unwrap_or_else(|| RlpNode::word_rlp(hash))
}

struct Node {
    /// The nibbles from the parent to the value or to the branch.
    path: Nibbles,
    content: Content,
    /// The index in the level.
    position: usize,
}

enum Content {
    /// The index of a value.
    Value(usize),
    /// The position of the first child in the level below, and the nibbles of the children.
    Children { first: usize, mask: TrieMask },
}

/// Builds the node above entries, whose keys are in order and none of which is the beginning of
/// another, and adds it to its level. Returns its position there.
fn build(
    entries: &[(Nibbles, usize)],
    depth: usize,
    level: usize,
    levels: &mut Vec<Vec<Node>>,
) -> Option<usize> {
    let (key, index) = entries.first()?;
    let (last, _) = entries.last()?;
    if levels.len() == level {
        levels.push(Vec::new());
    }

    let (path, content) = if entries.len() == 1 {
        (key.slice(depth..), Content::Value(*index))
    } else {
        // In sorted keys, what the first and the last have in common, all have.
        let at = key.common_prefix_length(last);
        let first = levels.get(level + 1).map_or(0, Vec::len);
        let mut mask = TrieMask::default();
        for below in entries.chunk_by(|(a, _), (b, _)| a.get(at) == b.get(at)) {
            mask.set_bit(below[0].0.get(at)?);
            build(below, at + 1, level + 1, levels)?;
        }
        (key.slice(depth..at), Content::Children { first, mask })
    };

    let position = levels[level].len();
    levels[level].push(Node {
        path,
        content,
        position,
    });
    Some(position)
}

/// Encodes a branch, below an extension if it has a path.
fn encode_branch(path: &Nibbles, branch: BranchNodeRef<'_>, out: &mut Vec<u8>) {
    if path.is_empty() {
        branch.encode(out);
    } else {
        let branch = branch.rlp(&mut Vec::new());
        ExtensionNodeRef::new(path, &branch).encode(out);
    }
}

#[cfg(test)]
mod tests {
    use alloy_consensus::proofs::ordered_trie_root_with_encoder;
    use alloy_rlp::BufMut;

    use super::*;

    /// Encodes a value of up to 60 bytes, so that some nodes are embedded.
    fn encode_value(index: usize, out: &mut Vec<u8>) {
        out.extend(std::iter::repeat_n(index as u8, index * 7 % 61));
    }

    #[test]
    fn roots_are_those_of_another_implementation() {
        for count in (0..300).chain([4_096, 65_536, 65_537]) {
            let indexes: Vec<usize> = (0..count).collect();
            let expected = ordered_trie_root_with_encoder(&indexes, |index, out| {
                let mut value = Vec::new();
                encode_value(*index, &mut value);
                out.put_slice(&value);
            });
            assert_eq!(
                ordered_root(count, encode_value),
                expected,
                "{count} values"
            );
        }
    }
}

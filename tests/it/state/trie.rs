//! The persistent trie against a sorted map and against another implementation's roots and proofs.

use std::collections::BTreeMap;

use alloy_primitives::{B256, U256, keccak256};
use alloy_trie::{Nibbles, proof::verify_proof, root::storage_root};
use proptest::prelude::*;
use tetrad_primitives::state::{Slot, Trie};

type Model = BTreeMap<B256, U256>;

fn root_of(model: &Model) -> B256 {
    storage_root(model.iter().map(|(key, value)| (*key, *value)))
}

fn slot(value: U256) -> Slot {
    Slot {
        index: U256::ZERO,
        value,
    }
}

/// Keys that share long prefixes, so that extensions, inline nodes and collapses all occur, beside
/// hashed ones.
fn key() -> impl Strategy<Value = B256> {
    let crowded = prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(0x10)], 32)
        .prop_map(|bytes| B256::from_slice(&bytes));
    let late = (0u8..8, 0usize..32).prop_map(|(byte, at)| {
        let mut key = B256::ZERO;
        key[at] = byte;
        key
    });
    let hashed = (0u16..500).prop_map(|n| keccak256(n.to_be_bytes()));
    prop_oneof![crowded, late, hashed]
}

#[derive(Clone, Debug)]
enum Step {
    Insert(B256, U256),
    Remove(B256),
    /// Removes the n-th existing key.
    RemoveNth(usize),
    Root,
    Snapshot,
    Rewind(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let value = prop_oneof![
        (1u64..300).prop_map(U256::from),
        any::<[u8; 32]>().prop_map(|b| U256::from_be_bytes(b) | U256::ONE)
    ];
    prop_oneof![
        8 => (key(), value).prop_map(|(key, value)| Step::Insert(key, value)),
        2 => key().prop_map(Step::Remove),
        4 => any::<usize>().prop_map(Step::RemoveNth),
        2 => Just(Step::Root),
        1 => Just(Step::Snapshot),
        1 => any::<usize>().prop_map(Step::Rewind),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_trie_matches_a_map_and_its_root(steps in prop::collection::vec(step(), 1..120)) {
        assert_behaves_like_a_map(steps)?;
    }

    #[test]
    fn merged_tries_have_the_entries_and_the_root_of_both(
        one in prop::collection::btree_map(key(), 1u64..1_000, 0..60),
        other in prop::collection::btree_map(key(), 1u64..1_000, 0..60),
        hashed in any::<bool>(),
    ) {
        assert_merged(&one, &other, hashed)?;
    }

    #[test]
    fn a_trie_collects_entries_in_any_order(
        entries in prop::collection::vec((key(), 1u64..1_000), 0..60),
        ascending in 0usize..60,
    ) {
        let mut entries: Vec<_> = entries
            .into_iter()
            .map(|(key, value)| (key, U256::from(value)))
            .collect();
        let ascending = ascending.min(entries.len());
        entries[..ascending].sort_by_key(|(key, _)| *key);
        let model: Model = entries.iter().copied().collect();
        let mut trie: Trie<Slot> = entries
            .into_iter()
            .map(|(key, value)| (key, slot(value)))
            .collect();

        prop_assert_eq!(trie.len(), model.len());
        prop_assert_eq!(trie.root(), root_of(&model));
    }

    #[test]
    fn a_trie_proves_presence_and_absence(
        entries in prop::collection::btree_map(key(), 1u64..1_000, 0..60),
        asked in prop::collection::vec(key(), 10),
    ) {
        let mut trie = Trie::<Slot>::default();
        for (key, value) in &entries {
            trie.insert(*key, slot(U256::from(*value)));
        }
        let root = trie.root();
        for key in asked.iter().chain(entries.keys()) {
            let expected = entries.get(key).map(|value| alloy_rlp::encode(*value));
            let proof = trie.proof(key);
            prop_assert!(
                verify_proof(root, Nibbles::unpack(key), expected, &proof).is_ok(),
                "{key} {proof:?}"
            );
        }
    }
}

fn model_of(entries: &BTreeMap<B256, u64>) -> Model {
    entries
        .iter()
        .map(|(key, value)| (*key, U256::from(*value)))
        .collect()
}

fn assert_merged(
    one: &BTreeMap<B256, u64>,
    other: &BTreeMap<B256, u64>,
    hashed: bool,
) -> Result<(), TestCaseError> {
    let mut model = model_of(one);
    let mut trie: Trie<Slot> = model
        .iter()
        .map(|(key, value)| (*key, slot(*value)))
        .collect();

    // Of equal keys, either value may remain.
    let added: Model = model_of(other)
        .into_iter()
        .map(|(key, value)| (key, *model.get(&key).unwrap_or(&value)))
        .collect();
    let mut theirs: Trie<Slot> = added
        .iter()
        .map(|(key, value)| (*key, slot(*value)))
        .collect();
    model.extend(added);

    if hashed {
        trie.root();
        theirs.root();
    }

    trie.merge(theirs);
    prop_assert_eq!(trie.len(), model.len());
    prop_assert_eq!(trie.root(), root_of(&model));
    let entries: Vec<_> = trie.iter().map(|(key, slot)| (*key, slot.value)).collect();
    prop_assert_eq!(entries, model.into_iter().collect::<Vec<_>>());
    Ok(())
}

fn assert_behaves_like_a_map(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut trie = Trie::<Slot>::default();
    let mut model = Model::new();
    let mut snapshots: Vec<(Trie<Slot>, Model)> = Vec::new();

    for step in steps {
        match step {
            Step::Insert(key, value) => {
                prop_assert_eq!(
                    trie.insert(key, slot(value)).map(|old| old.value),
                    model.insert(key, value)
                );
            }
            Step::Remove(key) => {
                prop_assert_eq!(trie.remove(&key).map(|old| old.value), model.remove(&key))
            }
            Step::RemoveNth(n) => {
                if let Some(key) = model
                    .keys()
                    .nth(n.checked_rem(model.len()).unwrap_or(0))
                    .copied()
                {
                    prop_assert_eq!(trie.remove(&key).map(|old| old.value), model.remove(&key));
                }
            }
            Step::Root => prop_assert_eq!(trie.root(), root_of(&model)),
            Step::Snapshot => snapshots.push((trie.clone(), model.clone())),
            Step::Rewind(n) => {
                if let Some(snapshot) = snapshots.get(n.checked_rem(snapshots.len()).unwrap_or(0)) {
                    (trie, model) = snapshot.clone();
                }
            }
        }

        prop_assert_eq!(trie.len(), model.len());
    }

    // Nor did a snapshot change with the trie it was taken of.
    snapshots.push((trie, model));
    for (mut trie, model) in snapshots {
        prop_assert_eq!(trie.root(), root_of(&model));
        let entries: Vec<_> = trie.iter().map(|(key, slot)| (*key, slot.value)).collect();
        prop_assert_eq!(entries, model.into_iter().collect::<Vec<_>>());
    }
    Ok(())
}

/// Enough edits that they are hashed on several threads.
#[test]
fn many_edits_have_the_same_root_as_few() {
    let key = |n: u64| keccak256(n.to_be_bytes());
    let mut trie = Trie::default();
    let mut model = Model::new();
    for edits in [3_000u64, 10, 2_000] {
        for n in 0..edits {
            trie.insert(key(n), slot(U256::from(edits + n)));
            model.insert(key(n), U256::from(edits + n));
        }
        for n in (0..edits).step_by(3) {
            trie.remove(&key(n));
            model.remove(&key(n));
        }
        assert_eq!(trie.root(), root_of(&model), "{edits} edits");
    }
}

#[test]
fn a_snapshot_costs_no_copy_and_sees_no_later_change() {
    let mut trie = Trie::<Slot>::default();
    for n in 0..1_000u64 {
        trie.insert(keccak256(n.to_be_bytes()), slot(U256::from(n + 1)));
    }
    let root = trie.root();
    let mut snapshot = trie.clone();
    for n in 0..1_000u64 {
        trie.remove(&keccak256(n.to_be_bytes()));
    }
    assert!(trie.is_empty());
    assert_eq!(trie.root(), alloy_trie::EMPTY_ROOT_HASH);
    assert_eq!(snapshot.root(), root);
    assert_eq!(
        snapshot.get(&keccak256(7u64.to_be_bytes())),
        Some(&slot(U256::from(8)))
    );
}

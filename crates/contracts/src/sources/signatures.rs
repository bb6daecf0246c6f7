//! Functions, events and errors by their selectors and topics.

use std::{collections::HashMap, sync::Arc};

use alloy_json_abi::{Error, Event, Function, JsonAbi};
use alloy_primitives::{B256, Selector};

/// The most entries of each kind.
const MAX_ENTRIES: usize = 1 << 17;

/// Functions, events and errors. Of several with the same selector the first counts.
#[derive(Clone, Debug, Default)]
pub struct Signatures {
    functions: HashMap<Selector, Arc<Function>>,
    errors: HashMap<Selector, Arc<Error>>,
    /// By topic and number of indexed parameters, which distinguishes the `Transfer` of ERC-20 and
    /// ERC-721.
    events: HashMap<(B256, usize), Arc<Event>>,
}

impl From<&JsonAbi> for Signatures {
    fn from(abi: &JsonAbi) -> Self {
        let mut signatures = Self::default();
        signatures.learn(abi);
        signatures
    }
}

impl Signatures {
    /// Adds those of an ABI.
    pub fn learn(&mut self, abi: &JsonAbi) {
        for function in abi.functions() {
            insert(&mut self.functions, function.selector(), || {
                Arc::new(function.clone())
            });
        }
        for error in abi.errors() {
            insert(&mut self.errors, error.selector(), || {
                Arc::new(error.clone())
            });
        }
        for event in abi.events() {
            // Events of one signature differ in what they index, such as `Transfer` of ERC-20 and
            // ERC-721.
            let indexed = event.inputs.iter().filter(|input| input.indexed).count();
            insert(&mut self.events, (event.selector(), indexed), || {
                Arc::new(event.clone())
            });
        }
    }

    /// Adds all of another set.
    pub(super) fn extend(&mut self, other: &Self) {
        other
            .functions
            .iter()
            .for_each(|(key, value)| insert(&mut self.functions, *key, || value.clone()));
        other
            .errors
            .iter()
            .for_each(|(key, value)| insert(&mut self.errors, *key, || value.clone()));
        other
            .events
            .iter()
            .for_each(|(key, value)| insert(&mut self.events, *key, || value.clone()));
    }

    /// Returns the function that call data selects.
    pub fn function(&self, data: &[u8]) -> Option<&Arc<Function>> {
        self.functions
            .get(&Selector::from(*data.first_chunk::<4>()?))
    }

    /// Returns the error that the data of a revert selects.
    pub fn error(&self, data: &[u8]) -> Option<&Arc<Error>> {
        self.errors.get(&Selector::from(*data.first_chunk::<4>()?))
    }

    /// Returns the event of a log with these topics.
    pub fn event(&self, topics: &[B256]) -> Option<&Arc<Event>> {
        let (first, indexed) = topics.split_first()?;
        self.events.get(&(*first, indexed.len()))
    }
}

fn insert<K: std::hash::Hash + Eq, V>(map: &mut HashMap<K, V>, key: K, value: impl FnOnce() -> V) {
    if map.len() < MAX_ENTRIES {
        map.entry(key).or_insert_with(value);
    }
}

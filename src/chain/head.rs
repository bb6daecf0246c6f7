//! What a reader sees: the newest block, the state after it, and the recent past. Immutable.

use std::sync::Arc;

use alloy_primitives::{B256, keccak256};

use super::{fees, spine::Spine};
use crate::{
    block::Block,
    evm::{BlockHashes, ChainParams, Environment, Fork, Rules},
    state::{Changes, State},
};

/// States of so many newest blocks are held as they are.
const RECENT_STATES: u64 = 128;
/// Of older ones every so many-th is held; the others are built from it when asked for.
const STATE_INTERVAL: u64 = 64;

/// One version of the chain.
#[derive(Clone, Debug)]
pub struct Head {
    /// What holds for every block.
    pub params: Arc<ChainParams>,
    /// The first block.
    pub genesis: Arc<Block>,
    /// The newest block.
    pub block: Arc<Block>,
    /// The state now: after the newest block, and what development methods changed since.
    pub state: State,
    /// The changes of development methods since the newest block.
    edits: Vec<Arc<Changes>>,
    trail: Trail,
    past: Spine<Past>,
    /// Rough size of the history in memory.
    bytes: usize,
}

/// The state side of one block of the history.
#[derive(Clone, Debug)]
struct Past {
    /// What leads from the state after the block before to the one after this.
    changes: Vec<Arc<Changes>>,
    /// The state after this block, if it is one of those that are held.
    state: Option<State>,
    /// Roughly the memory that the block takes with its receipts and changes.
    weight: usize,
}

/// The recent blocks of a head, without their states: what is worth keeping of a head that was seen before.
#[derive(Clone, Debug)]
pub struct Trail(Spine<Arc<Block>>);

impl Trail {
    /// What leads from this trail to `newer`: its own blocks that are gone and the other's that are new, both oldest
    /// first.
    pub fn difference(&self, newer: &Self) -> (Vec<Arc<Block>>, Vec<Arc<Block>>) {
        let shared = |at: &u64| self.0.get(*at).map(|block| block.hash) == newer.0.get(*at).map(|block| block.hash);
        let (first, next) = (newer.0.first(), self.0.next().min(newer.0.next()));
        let after = (first..next).rev().find(shared).map_or(first, |at| at + 1);
        let from = |trail: &Self| trail.0.iter_from(after).cloned().collect();
        (from(self), from(newer))
    }
}

/// How much of the past a head holds.
#[derive(Clone, Copy, Debug)]
pub struct HistoryLimits {
    /// Blocks with their receipts and states.
    pub blocks: u64,
    /// Rough size in bytes.
    pub bytes: usize,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self { blocks: 100_000, bytes: 256 << 20 }
    }
}

/// A block's state is older than what is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("state of block {0} is not available")]
pub struct Pruned(pub u64);

impl Head {
    /// A chain of one block.
    pub fn genesis(params: Arc<ChainParams>, block: Arc<Block>, state: State) -> Self {
        let mut trail = Spine::starting_at(block.number());
        let mut past = trail.empty();
        trail.push(block.clone());
        past.push(Past { changes: Vec::new(), state: Some(state.clone()), weight: 0 });
        Self { params, genesis: block.clone(), block, state, edits: Vec::new(), trail: Trail(trail), past, bytes: 0 }
    }

    /// A chain that goes on after `block`, with the `recent` blocks before it, oldest first.
    pub fn resumed(
        params: Arc<ChainParams>,
        genesis: Arc<Block>,
        recent: Vec<Arc<Block>>,
        block: Arc<Block>,
        state: State,
    ) -> Self {
        let mut trail = Spine::starting_at(recent.first().unwrap_or(&block).number());
        let mut past = Spine::starting_at(block.number());
        recent.into_iter().chain([block.clone()]).for_each(|block| trail.push(block));
        past.push(Past { changes: Vec::new(), state: Some(state.clone()), weight: 0 });
        Self { params, genesis, block, state, edits: Vec::new(), trail: Trail(trail), past, bytes: 0 }
    }

    /// The newest block's height.
    pub fn number(&self) -> u64 {
        self.block.number()
    }

    /// The oldest block that is held besides the first one.
    pub fn oldest(&self) -> u64 {
        self.trail.0.first()
    }

    /// The recent blocks.
    pub fn trail(&self) -> &Trail {
        &self.trail
    }

    /// The block with this number.
    pub fn block(&self, number: u64) -> Option<&Arc<Block>> {
        self.trail.0.get(number).or_else(|| Some(&self.genesis).filter(|genesis| genesis.number() == number))
    }

    /// The blocks from `number` on, oldest first.
    pub fn blocks_from(&self, number: u64) -> impl DoubleEndedIterator<Item = &Arc<Block>> {
        self.trail.0.iter_from(number)
    }

    /// The state after the block with this number. One that is not held is built, at the cost of up to 63 blocks'
    /// changes.
    pub fn state_after(&self, number: u64) -> Result<State, Pruned> {
        if number == self.number() {
            return Ok(self.state.clone());
        }
        let mut at = number;
        let mut state = loop {
            let past = self.past.get(at).ok_or(Pruned(number))?;
            match &past.state {
                Some(state) => break state.clone(),
                None => at = at.checked_sub(1).ok_or(Pruned(number))?,
            }
        };
        for past in self.past.iter_from(at + 1).take((number - at) as usize) {
            past.changes.iter().for_each(|changes| {
                state.apply(changes);
            });
        }
        Ok(state)
    }

    /// The rules of the block with this number and time.
    pub fn rules(&self, number: u64, timestamp: u64) -> Rules {
        self.params.forks.at(number, timestamp)
    }

    /// The circumstances under which the newest block ran, and in which a call at `latest` sees itself.
    pub fn environment(&self) -> Environment {
        self.environment_of(&self.block)
    }

    /// The circumstances under which `block` ran.
    pub fn environment_of(&self, block: &Block) -> Environment {
        Environment::of(&block.header, self.rules(block.number(), block.header.timestamp))
    }

    /// The circumstances of the next block, if it gets this time. The caller fills in who seals it and with how much
    /// gas.
    pub fn next_environment(&self, timestamp: u64) -> Environment {
        let parent = &self.block.header;
        let rules = self.rules(parent.number + 1, timestamp);
        let entropy = keccak256([self.block.hash.as_slice(), &timestamp.to_be_bytes()].concat());
        Environment {
            rules,
            number: parent.number + 1,
            timestamp,
            beneficiary: parent.beneficiary,
            gas_limit: parent.gas_limit,
            base_fee: fees::next_base_fee(parent, rules),
            difficulty: if rules.has(Fork::Paris) { alloy_primitives::U256::ZERO } else { parent.difficulty },
            mix_hash: entropy,
            excess_blob_gas: fees::next_excess_blob_gas(parent, rules),
            parent_hash: self.block.hash,
            parent_beacon_block_root: rules.has(Fork::Cancun).then_some(B256::ZERO),
            extra_data: Default::default(),
        }
    }

    /// The chain with another block on top: `changes` lead from this head's state to `state`.
    pub fn extended(
        &self,
        block: Arc<Block>,
        changes: impl Into<Arc<Changes>>,
        state: State,
        limits: HistoryLimits,
    ) -> (Self, Vec<Arc<Block>>) {
        let mut next = self.clone();
        let mut all = std::mem::take(&mut next.edits);
        all.push(changes.into());
        let weight = weight(&block, &all);
        next.bytes += weight;
        next.past.push(Past { changes: all, state: Some(state.clone()), weight });
        next.trail.0.push(block.clone());
        (next.block, next.state) = (block, state);
        next.thin();
        let dropped = next.prune(limits);
        (next, dropped)
    }

    /// The same chain with another state, which `changes` lead to: what a development method makes of it.
    pub fn edited(&self, changes: Arc<Changes>, state: State) -> Self {
        let mut next = self.clone();
        next.state = state;
        next.edits.push(changes);
        next
    }

    /// Lets go of the one state that is no longer among the newest.
    fn thin(&mut self) {
        let Some(old) =
            self.number().checked_sub(RECENT_STATES).filter(|number| !number.is_multiple_of(STATE_INTERVAL))
        else {
            return;
        };
        // The oldest state is what the next ones are built from.
        if old > self.past.first()
            && let Some(past) = self.past.get(old)
        {
            self.past.replace(old, Past { state: None, ..past.clone() });
        }
    }

    /// Drops the oldest blocks over the limits and returns them.
    fn prune(&mut self, limits: HistoryLimits) -> Vec<Arc<Block>> {
        let mut dropped = Vec::new();
        let mut first = self.oldest();
        while first < self.number() && (self.number() - first >= limits.blocks.max(1) || self.bytes > limits.bytes) {
            self.bytes -= self.past.get(first).map_or(0, |past| past.weight);
            dropped.extend(self.trail.0.get(first).cloned());
            first += 1;
        }
        self.trail.0.drop_before(first);
        self.past.drop_before(first);
        dropped
    }
}

/// Roughly the memory that a block takes with its receipts and changes.
fn weight(block: &Block, changes: &[Arc<Changes>]) -> usize {
    let logs: usize = block.logs().map(|at| 160 + 32 * at.log.topics().len() + at.log.data.data.len()).sum();
    let changes: usize =
        changes.iter().flat_map(|changes| &changes.0).map(|change| 256 + 64 * change.storage.len()).sum();
    2_048 + 2 * block.size() + 128 * block.receipts.len() + logs + changes
}

impl BlockHashes for Head {
    fn block_hash(&self, number: u64) -> Option<B256> {
        self.block(number).map(|block| block.hash)
    }
}

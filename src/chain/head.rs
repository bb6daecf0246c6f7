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
    history: Spine<Record>,
    /// Rough size of the history in memory.
    bytes: usize,
}

/// One block of the history.
#[derive(Clone, Debug)]
struct Record {
    block: Arc<Block>,
    /// What leads from the state after the block before to the one after this.
    changes: Vec<Arc<Changes>>,
    /// The state after this block, if it is one of those that are held.
    state: Option<State>,
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
        let mut history = Spine::starting_at(block.number());
        history.push(Record { block: block.clone(), changes: Vec::new(), state: Some(state.clone()) });
        Self { params, genesis: block.clone(), block, state, edits: Vec::new(), history, bytes: 0 }
    }

    /// The newest block's height.
    pub fn number(&self) -> u64 {
        self.block.number()
    }

    /// The oldest block that is held besides the first one.
    pub fn oldest(&self) -> u64 {
        self.history.first()
    }

    /// The block with this number.
    pub fn block(&self, number: u64) -> Option<&Arc<Block>> {
        match self.history.get(number) {
            Some(record) => Some(&record.block),
            None => Some(&self.genesis).filter(|genesis| genesis.number() == number),
        }
    }

    /// The blocks from `number` on, oldest first.
    pub fn blocks_from(&self, number: u64) -> impl DoubleEndedIterator<Item = &Arc<Block>> {
        self.history.iter_from(number).map(|record| &record.block)
    }

    /// The state after the block with this number. One that is not held is built, at the cost of up to 63 blocks'
    /// changes.
    pub fn state_after(&self, number: u64) -> Result<State, Pruned> {
        if number == self.number() {
            return Ok(self.state.clone());
        }
        let mut at = number;
        let mut state = loop {
            let record = self.history.get(at).ok_or(Pruned(number))?;
            match &record.state {
                Some(state) => break state.clone(),
                None => at = at.checked_sub(1).ok_or(Pruned(number))?,
            }
        };
        for record in self.history.iter_from(at + 1).take((number - at) as usize) {
            record.changes.iter().for_each(|changes| {
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
        changes: Changes,
        state: State,
        limits: HistoryLimits,
    ) -> (Self, Vec<Arc<Block>>) {
        let mut next = self.clone();
        let mut all = std::mem::take(&mut next.edits);
        all.push(Arc::new(changes));
        let record = Record { block: block.clone(), changes: all, state: Some(state.clone()) };
        next.bytes += record.weight();
        (next.block, next.state) = (block, state);
        next.history.push(record);
        next.thin();
        let dropped = next.prune(limits);
        (next, dropped)
    }

    /// The same chain with another state: what a development method makes of it.
    pub fn edited(&self, changes: Changes) -> Self {
        let mut next = self.clone();
        next.state.apply(&changes);
        next.edits.push(Arc::new(changes));
        next
    }

    /// Lets go of the one state that is no longer among the newest.
    fn thin(&mut self) {
        let Some(old) =
            self.number().checked_sub(RECENT_STATES).filter(|number| !number.is_multiple_of(STATE_INTERVAL))
        else {
            return;
        };
        // The oldest record's state is what the next ones are built from.
        if old > self.history.first()
            && let Some(record) = self.history.get(old)
        {
            self.history.replace(old, Record { state: None, ..record.clone() });
        }
    }

    /// Drops the oldest blocks over the limits and returns them.
    fn prune(&mut self, limits: HistoryLimits) -> Vec<Arc<Block>> {
        let mut dropped = Vec::new();
        let mut first = self.history.first();
        while first < self.number() && (self.number() - first >= limits.blocks.max(1) || self.bytes > limits.bytes) {
            if let Some(record) = self.history.get(first) {
                self.bytes = self.bytes.saturating_sub(record.weight());
                dropped.push(record.block.clone());
            }
            first += 1;
        }
        self.history.drop_before(first);
        dropped
    }
}

impl Record {
    /// Roughly the memory that a block with its receipts and changes takes.
    fn weight(&self) -> usize {
        let logs: usize = self.block.logs().map(|at| 160 + 32 * at.log.topics().len() + at.log.data.data.len()).sum();
        let changes: usize =
            self.changes.iter().flat_map(|changes| &changes.0).map(|change| 256 + 64 * change.storage.len()).sum();
        2_048 + 2 * self.block.size() + 128 * self.block.receipts.len() + logs + changes
    }
}

impl BlockHashes for Head {
    fn block_hash(&self, number: u64) -> Option<B256> {
        self.block(number).map(|block| block.hash)
    }
}

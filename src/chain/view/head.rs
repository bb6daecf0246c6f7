//! What a reader sees: the newest block, the state after it, and the recent past. Immutable.

use std::sync::Arc;

use alloy_consensus::Header;
use alloy_primitives::{B256, U256, keccak256};

use super::{built_states::BuiltStates, spine::Spine, trail::Trail};
use crate::{
    block::Block,
    chain::block::{fees, header},
    evm::{BlockHashes, ChainParams, Environment, Fork, Rules},
    state::{Changes, ReadError, State},
    store::{History, LogKey, OldState, OldStateError},
};

/// States of so many newest blocks are held as they are, as long as these changed no more than the second number of
/// accounts and slots.
const RECENT_STATES: u64 = 128;
const RECENT_CHANGES: usize = 1 << 15;
/// Of older states one is held for every so many changes; the others are built from it when asked for.
const STATE_INTERVAL: usize = 1 << 12;

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
    past: Spine<PastBlock>,
    recent: Recent,
    /// States that were built lately, of this head and of others.
    built: Arc<BuiltStates>,
    /// Rough size of the history in memory.
    bytes: usize,
    /// What is older, on a chain that is on disk.
    archive: Option<Arc<History>>,
    /// How many heads were published before this one.
    version: u64,
}

/// The newest blocks, whose states are all held.
#[derive(Clone, Copy, Debug)]
struct Recent {
    first: u64,
    /// Accounts and slots that these blocks changed.
    changed: usize,
    /// Accounts and slots that changed between the newest state that is held of those before, and `first`.
    since_held: usize,
}

/// The state side of one block of the history.
#[derive(Clone, Debug)]
struct PastBlock {
    /// What leads from the state after the block before to the one after this.
    changes: Vec<Arc<Changes>>,
    /// The state after this block, if it is one of those that are held.
    state: Option<State>,
    /// How many accounts and slots the block changed.
    changed: usize,
    /// Roughly the memory that the block takes with its receipts and changes.
    weight: usize,
    /// Whether development methods had changed the state by then.
    edited: bool,
    /// What held for the block: development methods change that as well.
    params: Arc<ChainParams>,
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
        Self { blocks: 100_000, bytes: 128 << 20 }
    }
}

/// A block's state is older than what is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("state of block {0} is not available")]
pub struct Pruned(pub u64);

impl Head {
    /// A chain of one block.
    pub fn genesis(params: Arc<ChainParams>, block: Arc<Block>, state: State) -> Self {
        let mut trail = Trail::starting_at(block.number());
        let mut past = Spine::starting_at(block.number());
        trail.push(block.clone());
        let (held, own) = (Some(state.clone()), params.clone());
        past.push(PastBlock { changes: Vec::new(), state: held, changed: 0, weight: 0, edited: false, params: own });
        let recent = Recent { first: block.number(), changed: 0, since_held: STATE_INTERVAL };
        let (genesis, edits, built) = (block.clone(), Vec::new(), Arc::default());
        Self { params, genesis, block, state, edits, trail, past, recent, built, bytes: 0, archive: None, version: 0 }
    }

    /// A chain that goes on after `block`, with the newest blocks before it, oldest first. Of their states nothing is
    /// known.
    pub fn resumed(
        params: Arc<ChainParams>,
        genesis: Arc<Block>,
        before: Vec<Arc<Block>>,
        block: Arc<Block>,
        state: State,
    ) -> Self {
        let mut head = Self::genesis(params, block.clone(), state);
        let mut trail = Trail::starting_at(before.first().unwrap_or(&block).number());
        before.into_iter().chain([block]).for_each(|block| trail.push(block));
        (head.genesis, head.trail) = (genesis, trail);
        head
    }

    /// The same, where development methods changed the state since the newest block, and nobody knows how: of that block
    /// this is not the state.
    pub(in crate::chain) fn with_unknown_edits(mut self) -> Self {
        let number = self.number();
        if let Some(past) = self.past.get(number).cloned() {
            self.past.replace(number, PastBlock { edited: true, ..past });
        }
        self
    }

    /// Rough size in memory of the blocks that are held, with their receipts and what they changed, in bytes.
    pub fn held_bytes(&self) -> usize {
        self.bytes
    }

    /// The same chain, with a history to look up what memory does not hold.
    pub(in crate::chain) fn with_archive(self, archive: Arc<History>) -> Self {
        Self { archive: Some(archive), ..self }
    }

    /// The newest block's height.
    pub fn number(&self) -> u64 {
        self.block.number()
    }

    /// The oldest block that is held besides the first one.
    pub fn oldest(&self) -> u64 {
        self.trail.first()
    }

    /// What led to each block from `number` on: what development methods did since the block before, then the block.
    pub fn changes_from(&self, number: u64) -> impl Iterator<Item = &[Arc<Changes>]> {
        self.past.iter_from(number).map(|past| past.changes.as_slice())
    }

    /// What development methods did since the newest block.
    pub fn edits(&self) -> &[Arc<Changes>] {
        &self.edits
    }

    /// How many heads were published before this one: of two heads the one with the larger number is the later one,
    /// whatever blocks they have.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The same, published after `before`.
    pub(in crate::chain) fn after(mut self, before: &Self) -> Self {
        self.version = before.version + 1;
        self
    }

    /// The recent blocks.
    pub fn trail(&self) -> &Trail {
        &self.trail
    }

    /// The block with this number.
    pub fn block(&self, number: u64) -> Option<&Arc<Block>> {
        self.trail.get(number).or_else(|| Some(&self.genesis).filter(|genesis| genesis.number() == number))
    }

    /// The same, also of blocks that memory no longer holds, on a chain that is on disk.
    pub(in crate::chain) fn any_block(&self, number: u64) -> Option<Arc<Block>> {
        self.block(number).cloned().or_else(|| self.archive.as_ref()?.block(number))
    }

    /// The blocks from `number` on, oldest first.
    pub fn blocks_from(&self, number: u64) -> impl DoubleEndedIterator<Item = &Arc<Block>> {
        self.trail.from(number)
    }

    /// Those of the blocks from `from` to `to` that may have logs under at least one key of each of `wanted`, oldest
    /// first.
    pub fn candidates(&self, from: u64, to: u64, wanted: &[Vec<LogKey>]) -> impl Iterator<Item = &Arc<Block>> {
        self.trail.candidates(from, to, wanted)
    }

    /// The state after the block with this number. One that is not held is built, at the cost of a few thousand changes
    /// beyond those of the block itself; one that is older than what memory holds is read from disk piece by piece, and
    /// has no roots.
    pub fn state_after(&self, number: u64) -> Result<State, Pruned> {
        let edited = number < self.number() && self.past.get(number).is_some_and(|past| past.edited);
        let held = if edited { Err(Pruned(number)) } else { self.held_after(number) };
        held.or_else(|pruned| self.archived(pruned, |archive| OldState::after(archive, number)))
    }

    /// The state on which the block with this number ran: the one after the block before, and what development
    /// methods made of it in between. With the same costs.
    pub fn state_before(&self, number: u64) -> Result<State, Pruned> {
        self.held_before(number).or_else(|pruned| self.archived(pruned, |archive| OldState::before(archive, number)))
    }

    /// Whether the state after the block with this number is held as it is.
    pub fn holds_state(&self, number: u64) -> bool {
        number == self.number() || self.past.get(number).is_some_and(|past| past.state.is_some())
    }

    /// The state after a block that is held in memory.
    fn held_after(&self, number: u64) -> Result<State, Pruned> {
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
        if at == number {
            return Ok(state);
        }
        let known = |number, hash| self.block(number).is_some_and(|block| block.hash == hash);
        if let Some((nearer, built)) = self.built.newest(at + 1, number, known) {
            (at, state) = (nearer, built);
        }
        if at < number {
            let missing = self.past.iter_from(at + 1).take((number - at) as usize);
            state.replay(missing.flat_map(|past| &past.changes).map(|changes| &**changes));
            if let Some(block) = self.block(number) {
                self.built.insert(number, block.hash, state.clone());
            }
        }
        Ok(state)
    }

    fn held_before(&self, number: u64) -> Result<State, Pruned> {
        let before = number.checked_sub(1).ok_or(Pruned(number))?;
        let past = self.past.get(number).ok_or(Pruned(before))?;
        let mut state = self.held_after(before)?;
        if let Some((_, edits)) = past.changes.split_last() {
            edits.iter().for_each(|changes| {
                state.apply(changes);
            });
        }
        Ok(state)
    }

    fn archived(
        &self,
        pruned: Pruned,
        find: impl FnOnce(Arc<History>) -> Result<Option<OldState>, OldStateError>,
    ) -> Result<State, Pruned> {
        let archive = self.archive.clone().filter(|_| pruned.0 < self.number()).ok_or(pruned)?;
        match find(archive) {
            Ok(past) => past.map(|past| State::forked(Arc::new(past))).ok_or(pruned),
            Err(error) => {
                tracing::error!(%error, block = pruned.0, "could not read an old state");
                Err(pruned)
            }
        }
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
            difficulty: self.next_difficulty(parent, timestamp, rules),
            mix_hash: entropy,
            excess_blob_gas: fees::next_excess_blob_gas(parent, rules),
            pretended_blob_base_fee: None,
            parent_hash: self.block.hash,
            parent_beacon_block_root: rules.has(Fork::Cancun).then_some(B256::ZERO),
            extra_data: header::dao_extra_data(&self.params, parent.number + 1).unwrap_or_default().into(),
        }
    }

    /// The difficulty of a block after `parent`. Nobody mines the network's own chain or a fork: theirs stays as it is.
    pub(in crate::chain) fn next_difficulty(&self, parent: &Header, timestamp: u64, rules: Rules) -> U256 {
        match self.params.standard || rules.has(Fork::Paris) {
            true => header::next_difficulty(parent, timestamp, rules),
            false => parent.difficulty,
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
        let changed = all.iter().flat_map(|changes| &changes.0).map(|change| 1 + change.storage.len()).sum();
        let weight = weight(&block, changed);
        next.bytes += weight;
        let (held, params) = (Some(state.clone()), self.params.clone());
        next.past.push(PastBlock { changes: all, state: held, changed, weight, edited: false, params });
        next.recent.changed += changed;
        next.trail.push(block.clone());
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

    /// What development methods changed since `before`, a head with the same newest block.
    pub(in crate::chain) fn edits_since(&self, before: &Self) -> Changes {
        let new = self.edits.iter().skip(before.edits.len());
        Changes(new.flat_map(|changes| changes.0.iter().cloned()).collect())
    }

    /// The chain as it was when the block with this number was its newest.
    pub fn rewound(&self, number: u64) -> Result<Self, Pruned> {
        if number == self.number() {
            return Ok(self.clone());
        }
        let block = self.block(number).filter(|_| number <= self.number()).ok_or(Pruned(number))?.clone();
        let state = self.held_after(number)?;
        let past = self.past.get(number).ok_or(Pruned(number))?;
        let mut next = self.clone();
        next.bytes -= self.past.iter_from(number + 1).map(|past| past.weight).sum::<usize>();
        next.trail.truncate(number + 1);
        next.past.truncate(number + 1);
        next.past.replace(number, PastBlock { state: Some(state.clone()), ..past.clone() });
        next.recent = if number < self.recent.first {
            Recent { first: number, changed: past.changed, since_held: STATE_INTERVAL }
        } else {
            let changed = next.past.iter_from(self.recent.first).map(|past| past.changed).sum();
            Recent { changed, ..self.recent }
        };
        next.edits.clear();
        next.params = past.params.clone();
        (next.block, next.state) = (block, state);
        Ok(next)
    }

    /// Lets go of states that are no longer among the newest, but for those that the others are built from.
    fn thin(&mut self) {
        while self.number() - self.recent.first >= RECENT_STATES
            || (self.recent.changed > RECENT_CHANGES && self.recent.first < self.number())
        {
            let at = self.recent.first;
            self.recent.first += 1;
            let Some(past) = self.past.get(at) else { continue };
            self.recent.changed -= past.changed;
            self.recent.since_held += past.changed;
            if self.recent.since_held >= STATE_INTERVAL {
                self.recent.since_held = 0;
            } else {
                self.past.replace(at, PastBlock { state: None, ..past.clone() });
            }
        }
    }

    /// Drops the oldest blocks over the limits and returns them.
    fn prune(&mut self, limits: HistoryLimits) -> Vec<Arc<Block>> {
        let mut dropped = Vec::new();
        let mut first = self.oldest();
        while first < self.number() && (self.number() - first >= limits.blocks.max(1) || self.bytes > limits.bytes) {
            let (changed, weight) = self.past.get(first).map_or((0, 0), |past| (past.changed, past.weight));
            self.bytes -= weight;
            if first == self.recent.first {
                let changed = self.recent.changed - changed;
                self.recent = Recent { first: first + 1, changed, since_held: STATE_INTERVAL };
            }
            dropped.extend(self.trail.get(first).cloned());
            first += 1;
        }
        self.trail.drop_before(first);
        self.past.drop_before(first);
        dropped
    }
}

/// Roughly the memory that a block takes with its receipts and changes, and with the trie's nodes that only older states
/// still need. As measured while a million accounts appeared.
pub(super) fn weight(block: &Block, changed: usize) -> usize {
    let logs: usize = block.logs().map(|at| 240 + 32 * at.log.topics().len() + at.log.data.data.len()).sum();
    2_048 + 2 * block.size() + 128 * block.receipts.len() + logs + 896 * changed
}

impl BlockHashes for Head {
    fn block_hash(&self, number: u64) -> Result<Option<B256>, ReadError> {
        match (self.block(number), self.state.base(), &self.archive) {
            (Some(block), ..) => Ok(Some(block.hash)),
            (None, Some(base), _) if number < self.genesis.number() => base.block_hash(number),
            (None, _, Some(archive)) => Ok(archive.block(number).map(|block| block.hash)),
            (None, ..) => Ok(None),
        }
    }
}

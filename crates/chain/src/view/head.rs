//! The head that readers see: the newest block, the state after it, and recent history. Immutable.

use std::{cmp::Ordering, sync::Arc};

use alloy_consensus::Header;
use alloy_primitives::{B256, U256, keccak256};
use tetrad_evm::{BlockHashes, ChainParams, Environment, Fork, Rules};
use tetrad_primitives::{
    block::Block,
    state::{Changes, ReadError, State},
};
use tetrad_store::{
    log::EditableParams,
    store::{DiskHistory, LogKey, OldState, OldStateError},
};

use super::{
    deferred_states::DeferredStates, held_blocks::HeldBlocks, persistent_list::PersistentList,
};
use crate::block::{fees, header};

/// The number of newest blocks whose states are held unchanged, as long as these blocks changed no
/// more than `RECENT_CHANGES` accounts and slots.
const RECENT_STATES: u64 = 128;
const RECENT_CHANGES: usize = 1 << 15;
/// The number of changes between two older states that are held. States in between are an older
/// state and the changes since.
const STATE_INTERVAL: usize = 1 << 12;

/// One version of the chain.
#[derive(Clone, Debug)]
pub struct Head {
    /// The parameters of the chain.
    pub params: Arc<ChainParams>,
    /// The genesis block.
    pub genesis: Arc<Block>,
    /// The newest block.
    pub block: Arc<Block>,
    /// The current state: the one after the newest block, with later edits by development methods.
    pub state: State,
    /// Edits by development methods since the newest block.
    edits: Vec<Arc<Changes>>,
    blocks: HeldBlocks,
    records: PersistentList<StateRecord>,
    recent: RecentStates,
    /// States in use that are not held, shared by all heads.
    deferred: Arc<DeferredStates>,
    /// Rough size of the history in memory.
    bytes: usize,
    /// Older history, on a chain with a data directory.
    disk_history: Option<Arc<DiskHistory>>,
    /// Block number and log height of the checkpoint from which the chain was replayed.
    base: Option<(u64, u64)>,
    /// Number of heads that were published before this one.
    version: u64,
}

/// The range of newest blocks whose states are all held.
#[derive(Clone, Copy, Debug)]
struct RecentStates {
    first: u64,
    /// Number of accounts and slots that these blocks changed.
    changed: usize,
    /// Number of accounts and slots that changed between the newest older state that is held and
    /// `first`.
    since_held: usize,
}

/// The state changes of one block of the history.
#[derive(Clone, Debug)]
struct StateRecord {
    /// The changes from the state after the parent to the state after this block.
    changes: Vec<Arc<Changes>>,
    /// The state after this block, if it is held.
    state: Option<State>,
    /// The state on which the next block ran, if it is held and differs by edits of development
    /// methods.
    edited: Option<State>,
    /// Number of accounts and slots that the block changed.
    changed: usize,
    /// Approximate size in memory of the block with its receipts and changes, in bytes.
    weight: usize,
    /// The chain's parameters at this block: development methods can change them.
    params: Arc<ChainParams>,
}

/// Limits of the history that a head holds in memory.
#[derive(Clone, Copy, Debug)]
pub struct HistoryLimits {
    /// Number of blocks with their receipts and states.
    pub blocks: u64,
    /// Approximate size in bytes.
    pub bytes: usize,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self {
            blocks: 100_000,
            bytes: 128 << 20,
        }
    }
}

/// The error for a block whose state is older than the history that is held.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, thiserror::Error,
)]
#[error("state of block {0} is not available")]
pub struct Pruned(pub u64);

impl From<&Head> for EditableParams {
    fn from(head: &Head) -> Self {
        let signers = head
            .params
            .signers
            .iter()
            .map(|(signature, signer)| (*signature, *signer))
            .collect();
        Self {
            chain_id: head.params.chain_id,
            signers,
        }
    }
}

impl Head {
    /// Returns the head of a chain of one block.
    pub fn genesis(params: Arc<ChainParams>, block: Arc<Block>, state: State) -> Self {
        let mut blocks = HeldBlocks::starting_at(block.number());
        let mut records = PersistentList::starting_at(block.number());
        blocks.push(block.clone());
        records.push(StateRecord {
            changes: Vec::new(),
            state: Some(state.clone()),
            edited: None,
            changed: 0,
            weight: 0,
            params: params.clone(),
        });
        let recent = RecentStates {
            first: block.number(),
            changed: 0,
            since_held: STATE_INTERVAL,
        };

        Self {
            params,
            genesis: block.clone(),
            block,
            state,
            edits: Vec::new(),
            blocks,
            records,
            recent,
            deferred: Arc::default(),
            bytes: 0,
            disk_history: None,
            base: None,
            version: 0,
        }
    }

    /// Sets the parameters that development methods may change.
    pub(crate) fn set_params(&mut self, editable: EditableParams) {
        let params = Arc::make_mut(&mut self.params);
        params.chain_id = editable.chain_id;
        params.signers = Arc::new(editable.signers.into_iter().collect());
    }

    /// Returns a head at `block`, with the newest blocks `before` it, oldest first. The states of
    /// those are not known.
    pub fn resumed(
        params: Arc<ChainParams>,
        genesis: Arc<Block>,
        before: Vec<Arc<Block>>,
        block: Arc<Block>,
        state: State,
    ) -> Self {
        let mut head = Self::genesis(params, block.clone(), state);
        let mut blocks = HeldBlocks::starting_at(before.first().unwrap_or(&block).number());
        before
            .into_iter()
            .chain([block])
            .for_each(|block| blocks.push(block));

        head.genesis = genesis;
        head.blocks = blocks;
        head
    }

    /// Returns the approximate size of the blocks that are held, with their receipts and changes,
    /// in bytes.
    pub fn held_bytes(&self) -> usize {
        self.bytes
    }

    /// Attaches the history on disk, which serves what memory does not hold, to the head of a
    /// checkpoint at this log height.
    pub(crate) fn with_disk_history(self, history: Arc<DiskHistory>, height: u64) -> Self {
        Self {
            disk_history: Some(history),
            base: Some((self.number(), height)),
            ..self
        }
    }

    /// Returns the log height of the checkpoint from which the chain was replayed, if the block
    /// with this number was the newest there. Memory holds no other state of that block.
    pub(crate) fn base_height(&self, number: u64) -> Option<u64> {
        self.base
            .filter(|(block, _)| *block == number)
            .map(|(_, height)| height)
    }

    /// Returns the number of the newest block.
    pub fn number(&self) -> u64 {
        self.block.number()
    }

    /// Returns the number of the oldest block that is held in memory, apart from the genesis block.
    pub fn oldest(&self) -> u64 {
        self.blocks.first()
    }

    /// Iterates over the changes of each block from `number` on: edits since the parent first, then
    /// the block's own.
    pub fn changes_from(&self, number: u64) -> impl Iterator<Item = &[Arc<Changes>]> {
        self.records
            .iter_from(number)
            .map(|record| record.changes.as_slice())
    }

    /// Iterates over the changes of the blocks after `first` up to `last`. Returns `None` if memory
    /// does not hold all of them.
    pub fn changes_between(
        &self,
        first: u64,
        last: u64,
    ) -> Option<impl Iterator<Item = &Arc<Changes>>> {
        // The oldest record may be that of a checkpoint, whose changes are not known.
        self.records.get(first)?;
        let count = usize::try_from(last.checked_sub(first)?).ok()?;

        Some(
            self.records
                .iter_from(first.checked_add(1)?)
                .take(count)
                .flat_map(|record| &record.changes),
        )
    }

    /// Returns the edits by development methods since the newest block.
    pub fn edits(&self) -> &[Arc<Changes>] {
        &self.edits
    }

    /// Returns the number of heads that were published before this one. Of two heads the one with
    /// the larger version is the later one, whatever its blocks are.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Gives the head the version that follows `before`.
    pub(crate) fn after(mut self, before: &Self) -> Self {
        self.version = before.version + 1;
        self
    }

    /// Returns the blocks that are held in memory.
    pub fn held_blocks(&self) -> &HeldBlocks {
        &self.blocks
    }

    /// Returns the block with this number, if memory holds it.
    pub fn block(&self, number: u64) -> Option<&Arc<Block>> {
        self.blocks
            .get(number)
            .or_else(|| Some(&self.genesis).filter(|genesis| genesis.number() == number))
    }

    /// Returns the block with this number, from memory or else from disk.
    pub(crate) fn any_block(&self, number: u64) -> Option<Arc<Block>> {
        self.block(number)
            .cloned()
            .or_else(|| self.disk_history.as_ref()?.block(number))
    }

    /// Iterates over the blocks from `number` on, oldest first.
    pub fn blocks_from(&self, number: u64) -> impl DoubleEndedIterator<Item = &Arc<Block>> {
        self.blocks.from(number)
    }

    /// Iterates over the blocks from `from` to `to` that may have logs under at least one key of
    /// each of `wanted`, oldest first.
    pub fn candidates(
        &self,
        from: u64,
        to: u64,
        wanted: &[Vec<LogKey>],
    ) -> impl Iterator<Item = &Arc<Block>> {
        self.blocks.candidates(from, to, wanted)
    }

    /// Returns the state at the block with this number: the one after it, with the edits of
    /// development methods up to the next block. Of a state that is not held, accounts and slots
    /// are searched in a few thousand changes. A state older than the history in memory is read
    /// from disk on demand and has no roots.
    pub fn state_after(&self, number: u64) -> Result<State, Pruned> {
        match number.cmp(&self.number()) {
            Ordering::Less => self.state_before(number + 1),
            Ordering::Equal => Ok(self.state.clone()),
            Ordering::Greater => Err(Pruned(number)),
        }
    }

    /// Returns the state on which the block with this number ran: the one after its parent, with
    /// the edits of development methods in between. The costs are those of
    /// [`state_after`](Self::state_after).
    pub fn state_before(&self, number: u64) -> Result<State, Pruned> {
        self.held_before(number)
            .or_else(|pruned| self.old_state(pruned, |history| OldState::before(history, number)))
    }

    /// Returns whether memory has the state after the block with this number.
    pub(crate) fn holds_state(&self, number: u64) -> bool {
        self.records.get(number).is_some()
    }

    /// Returns the state after a block that is held in memory, without later edits by development
    /// methods.
    pub(crate) fn held_after(&self, number: u64) -> Result<State, Pruned> {
        let record = self.records.get(number).ok_or(Pruned(number))?;
        if let Some(state) = &record.state {
            return Ok(state.clone());
        }

        let Some(block) = self.block(number) else {
            return Err(Pruned(number));
        };

        self.deferred.get_or(block.hash, || {
            let mut missing = Vec::new();
            let mut at = number;
            loop {
                let record = self.records.get(at).ok_or(Pruned(number))?;
                if let Some(state) = &record.state {
                    missing.reverse();
                    return Ok(State::deferred(state.clone(), missing));
                }
                missing.extend(record.changes.iter().rev().cloned());
                at = at.checked_sub(1).ok_or(Pruned(number))?;
            }
        })
    }

    fn held_before(&self, number: u64) -> Result<State, Pruned> {
        let before = number.checked_sub(1).ok_or(Pruned(number))?;
        let record = self.records.get(number).ok_or(Pruned(before))?;

        if let Some(edited) = self
            .records
            .get(before)
            .and_then(|parent| parent.edited.as_ref())
        {
            return Ok(edited.clone());
        }

        let state = self.held_after(before)?;

        // The last changes are the block's own; those before are edits.
        match record.changes.split_last() {
            Some((_, edits)) if !edits.is_empty() => Ok(State::deferred(state, edits.to_vec())),
            _ => Ok(state),
        }
    }

    fn old_state(
        &self,
        pruned: Pruned,
        find: impl FnOnce(Arc<DiskHistory>) -> Result<Option<OldState>, OldStateError>,
    ) -> Result<State, Pruned> {
        let history = self
            .disk_history
            .clone()
            .filter(|_| pruned.0 < self.number())
            .ok_or(pruned)?;

        match find(history) {
            Ok(old) => old.map(|old| State::forked(Arc::new(old))).ok_or(pruned),
            Err(error) => {
                tracing::error!(%error, block = pruned.0, "failed to read a historical state");
                Err(pruned)
            }
        }
    }

    /// Returns the rules of the block with this number and time.
    pub fn rules(&self, number: u64, timestamp: u64) -> Rules {
        self.params.forks.at(number, timestamp)
    }

    /// Returns the environment of the newest block, in which calls at `latest` run.
    pub fn environment(&self) -> Environment {
        self.environment_of(&self.block)
    }

    /// Returns the environment of `block`.
    pub fn environment_of(&self, block: &Block) -> Environment {
        Environment::of(
            &block.header,
            self.rules(block.number(), block.header.timestamp),
        )
    }

    /// Returns the environment of a next block with this timestamp. The caller sets the beneficiary
    /// and the gas limit.
    pub fn next_environment(&self, timestamp: u64) -> Environment {
        let parent = &self.block.header;
        let rules = self.rules(parent.number + 1, timestamp);
        // There is no beacon chain whose randomness the block could have.
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
            extra_data: header::dao_extra_data(&self.params, parent.number + 1)
                .unwrap_or_default()
                .into(),
        }
    }

    /// Returns the difficulty of a block after `parent`. The network's own chain and forks are not
    /// mined, so there the parent's difficulty stays.
    pub(crate) fn next_difficulty(&self, parent: &Header, timestamp: u64, rules: Rules) -> U256 {
        if self.params.standard || rules.has(Fork::Paris) {
            header::next_difficulty(parent, timestamp, rules)
        } else {
            parent.difficulty
        }
    }

    /// Returns the head with `block` appended, and the blocks that were pruned. `changes` lead from
    /// this head's state to `state`.
    pub fn extended(
        &self,
        block: Arc<Block>,
        changes: impl Into<Arc<Changes>>,
        state: State,
        limits: HistoryLimits,
    ) -> (Self, Vec<Arc<Block>>) {
        let mut next = self.clone();
        if !next.edits.is_empty()
            && let Some(record) = next.records.get(self.number()).cloned()
        {
            next.records.replace(
                self.number(),
                StateRecord {
                    edited: Some(self.state.clone()),
                    ..record
                },
            );
        }

        let mut all = std::mem::take(&mut next.edits);
        all.push(changes.into());
        let changed = all
            .iter()
            .flat_map(|changes| &changes.0)
            .map(|change| 1 + change.storage.len())
            .sum();

        let weight = weight(&block, changed);
        next.bytes += weight;
        next.records.push(StateRecord {
            changes: all,
            state: Some(state.clone()),
            edited: None,
            changed,
            weight,
            params: self.params.clone(),
        });
        next.recent.changed += changed;
        next.blocks.push(block.clone());
        next.block = block;
        next.state = state;

        next.thin();
        let dropped = next.prune(limits);
        (next, dropped)
    }

    /// Returns the head with an edit by a development method: `changes` lead to `state`.
    pub fn edited(&self, changes: Arc<Changes>, state: State) -> Self {
        let mut next = self.clone();
        next.state = state;
        next.edits.push(changes);
        next
    }

    /// Returns the head without its edits, as if its state were that after the newest block.
    pub(crate) fn without_edits(self) -> Self {
        Self {
            edits: Vec::new(),
            ..self
        }
    }

    /// Returns the edits since `before`, a head with the same newest block.
    pub(crate) fn edits_since(&self, before: &Self) -> Changes {
        let new = self.edits.iter().skip(before.edits.len());
        Changes(new.flat_map(|changes| changes.0.iter().cloned()).collect())
    }

    /// Returns the head as it was when the block with this number was the newest.
    pub fn rewound(&self, number: u64) -> Result<Self, Pruned> {
        if number == self.number() {
            return Ok(self.clone());
        }

        let block = self
            .block(number)
            .filter(|_| number <= self.number())
            .ok_or(Pruned(number))?
            .clone();
        let state = self.held_after(number)?.into_whole();
        let record = self.records.get(number).ok_or(Pruned(number))?;

        let mut next = self.clone();
        next.bytes -= self
            .records
            .iter_from(number + 1)
            .map(|record| record.weight)
            .sum::<usize>();
        next.blocks.truncate(number + 1);
        next.records.truncate(number + 1);
        next.records.replace(
            number,
            StateRecord {
                state: Some(state.clone()),
                edited: None,
                ..record.clone()
            },
        );

        next.recent = if number < self.recent.first {
            RecentStates {
                first: number,
                changed: record.changed,
                since_held: STATE_INTERVAL,
            }
        } else {
            let changed = next
                .records
                .iter_from(self.recent.first)
                .map(|record| record.changed)
                .sum();
            RecentStates {
                changed,
                ..self.recent
            }
        };

        next.edits.clear();
        next.params = record.params.clone();
        next.block = block;
        next.state = state;
        Ok(next)
    }

    /// Drops states that are no longer recent, except for those from which the others are rebuilt.
    fn thin(&mut self) {
        while self.number() - self.recent.first >= RECENT_STATES
            || (self.recent.changed > RECENT_CHANGES && self.recent.first < self.number())
        {
            let at = self.recent.first;
            self.recent.first += 1;
            let Some(record) = self.records.get(at) else {
                continue;
            };

            self.recent.changed -= record.changed;
            self.recent.since_held += record.changed;

            // One state in so many changes stays: those between are derived from it.
            if self.recent.since_held >= STATE_INTERVAL {
                self.recent.since_held = 0;
            } else {
                self.records.replace(
                    at,
                    StateRecord {
                        state: None,
                        edited: None,
                        ..record.clone()
                    },
                );
            }
        }
    }

    /// Removes the oldest blocks over the limits and returns them.
    fn prune(&mut self, limits: HistoryLimits) -> Vec<Arc<Block>> {
        let mut dropped = Vec::new();
        let mut first = self.oldest();
        while first < self.number()
            && (self.number() - first >= limits.blocks.max(1) || self.bytes > limits.bytes)
        {
            let (changed, weight) = self
                .records
                .get(first)
                .map_or((0, 0), |record| (record.changed, record.weight));

            self.bytes -= weight;
            if first == self.recent.first {
                let changed = self.recent.changed - changed;
                self.recent = RecentStates {
                    first: first + 1,
                    changed,
                    since_held: STATE_INTERVAL,
                };
            }

            dropped.extend(self.blocks.get(first).cloned());
            first += 1;
        }

        self.blocks.drop_before(first);
        self.records.drop_before(first);
        dropped
    }
}

/// Returns the approximate size in memory of a block with its receipts and changes, including the
/// trie nodes that only older states still reference, in bytes. The factors were measured while
/// creating a million accounts.
pub(super) fn weight(block: &Block, changed: usize) -> usize {
    let logs: usize = block
        .logs()
        .map(|at| 240 + 32 * at.log.topics().len() + at.log.data.data.len())
        .sum();
    2_048 + 2 * block.size() + 128 * block.receipts.len() + logs + 896 * changed
}

impl BlockHashes for Head {
    fn block_hash(&self, number: u64) -> Result<Option<B256>, ReadError> {
        match (self.block(number), self.state.base(), &self.disk_history) {
            (Some(block), ..) => Ok(Some(block.hash)),
            (None, Some(base), _) if number < self.genesis.number() => base.block_hash(number),
            (None, _, Some(history)) => Ok(history.block(number).map(|block| block.hash)),
            (None, ..) => Ok(None),
        }
    }

    fn block_hash_at_hand(&self, number: u64) -> Result<Option<Option<B256>>, ReadError> {
        match (self.block(number), self.state.base()) {
            (None, Some(base)) if number < self.genesis.number() => base.block_hash_at_hand(number),
            _ => self.block_hash(number).map(Some),
        }
    }
}

//! Scans for a page of records, newest first.
//!
//! A page may be short although there is a next one: a request reads a bounded number of blocks
//! from disk.

use std::{fmt, str::FromStr};

use alloy_primitives::{Address, B256, Bloom};
use alloy_sol_types::SolEvent;
use tetrad_chain::{Chain, Head};
use tetrad_contracts::contracts::bindings::{LendingPool, Vault};
use tetrad_network::network::Network;
use tetrad_primitives::block::Block;
use tetrad_store::store::LogKey;

use super::record::{Action, ActivityRecord};

/// The position of a record. A page continues before one of these, so blocks sealed in the meantime
/// do not shift it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordPosition {
    pub(super) block: u64,
    pub(super) log_index: u64,
}

impl fmt::Display for RecordPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.block, self.log_index)
    }
}

impl FromStr for RecordPosition {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (block, log_index) = text.split_once('-').ok_or(())?;
        Ok(Self {
            block: block.parse().map_err(|_| ())?,
            log_index: log_index.parse().map_err(|_| ())?,
        })
    }
}

/// The records that a request is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum RecordFilter {
    /// Swaps, if given only of this user and with this token on either side.
    Swaps {
        user: Option<Address>,
        token: Option<Address>,
    },
    /// All actions that this user took part in.
    User(Address),
}

/// Bits that a block's bloom filter must have for the block to be read: all of one of these.
struct Marks(Vec<Bloom>);

impl Marks {
    fn may_be_in(&self, block: &Block) -> bool {
        self.0
            .iter()
            .any(|mark| block.header.logs_bloom.contains(mark))
    }
}

/// The bits of a log of `contract` with these topics.
fn mark(contract: Address, topics: &[B256]) -> Bloom {
    let mut bloom = Bloom::ZERO;
    bloom.accrue_raw_log(contract, topics);
    bloom
}

/// The key of logs that have an address as the topic at `position`.
fn topic(position: usize, address: &Address) -> LogKey {
    LogKey::topic(position, &address.into_word())
}

impl RecordFilter {
    fn marks(&self, network: &Network) -> Marks {
        let vault = network.contracts.vault;
        let pool = network.contracts.lending_pool;

        match self {
            Self::Swaps { user, token } => {
                let topics: Vec<B256> = [
                    Some(Vault::Swap::SIGNATURE_HASH),
                    user.map(|user| user.into_word()),
                    token.map(|token| token.into_word()),
                ]
                .into_iter()
                .flatten()
                .collect();
                Marks(vec![mark(vault, &topics)])
            }
            // The liquidator is not an indexed topic of the event.
            Self::User(user) => Marks(vec![
                mark(vault, &[user.into_word()]),
                mark(pool, &[user.into_word()]),
                mark(pool, &[LendingPool::Liquidation::SIGNATURE_HASH]),
            ]),
        }
    }

    /// The same for the index of blocks that memory no longer holds: one key of each list.
    fn keys(&self, network: &Network) -> Vec<Vec<LogKey>> {
        let vault = network.contracts.vault;
        let pool = network.contracts.lending_pool;

        match self {
            Self::Swaps { user, token } => {
                let swap = LogKey::topic(0, &Vault::Swap::SIGNATURE_HASH);
                let mut keys = vec![vec![LogKey::address(&vault)], vec![swap]];
                if let Some(user) = user {
                    keys.push(vec![topic(1, user)]);
                }
                if let Some(token) = token {
                    keys.push(vec![topic(2, token), topic(3, token)]);
                }
                keys
            }
            Self::User(user) => {
                let mut parts: Vec<_> = (1..=3).map(|position| topic(position, user)).collect();
                // The liquidator is not an indexed topic of the event.
                parts.push(LogKey::topic(0, &LendingPool::Liquidation::SIGNATURE_HASH));
                vec![vec![LogKey::address(&vault), LogKey::address(&pool)], parts]
            }
        }
    }

    fn includes(&self, action: &Action) -> bool {
        match (self, action) {
            (Self::Swaps { user, token }, Action::Swap(swap)) => {
                user.is_none_or(|user| swap.event.user == user)
                    && token.is_none_or(|token| {
                        swap.event.tokenIn == token || swap.event.tokenOut == token
                    })
            }
            (Self::Swaps { .. }, _) => false,
            (Self::User(user), action) => action.concerns(*user),
        }
    }
}

/// Most blocks on disk that are read for one page.
const MAX_READS: usize = 2_000;

/// A page of records.
pub(super) struct Page {
    pub(super) records: Vec<ActivityRecord>,
    /// The start of the next page, if there may be one.
    pub(super) next: Option<RecordPosition>,
}

/// The state of a scan.
struct Search<'a> {
    network: &'a Network,
    wanted: RecordFilter,
    before: Option<RecordPosition>,
    limit: usize,
    found: Vec<ActivityRecord>,
}

impl Search<'_> {
    /// Takes records from the blocks in memory, whose bloom filters tell which to read. Returns the
    /// start of the next page once this one is full.
    fn take_held(&mut self, head: &Head) -> Option<RecordPosition> {
        let before = self.before;
        let marks = self.wanted.marks(self.network);
        head.blocks_from(0)
            .rev()
            .filter(|block| before.is_none_or(|before| block.number() <= before.block))
            .filter(|block| marks.may_be_in(block))
            .find_map(|block| self.take(block))
    }

    /// Takes records from the blocks on disk. Returns the start of the next page once this one is
    /// full, or once too many blocks were read.
    fn take_old(&mut self, chain: &Chain, head: &Head) -> Option<RecordPosition> {
        let end = self
            .before
            .map_or(u64::MAX, |before| before.block.saturating_add(1));
        let keys = self.wanted.keys(self.network);

        for (read, block) in chain.old_blocks_before(head, end, &keys).enumerate() {
            // The next page begins with this block.
            if read == MAX_READS {
                return Some(RecordPosition {
                    block: block.number() + 1,
                    log_index: 0,
                });
            }
            let next = self.take(&block);
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// Takes the records of a block, newest first. Returns the start of the next page once this one
    /// is full.
    fn take(&mut self, block: &Block) -> Option<RecordPosition> {
        for record in ActivityRecord::of_block(block, self.network)
            .into_iter()
            .rev()
        {
            let position = RecordPosition {
                block: record.block,
                log_index: record.log_index,
            };
            if self.before.is_some_and(|before| position >= before)
                || !self.wanted.includes(&record.action)
            {
                continue;
            }

            if self.found.len() == self.limit {
                return self.found.last().map(|last| RecordPosition {
                    block: last.block,
                    log_index: last.log_index,
                });
            }
            self.found.push(record);
        }
        None
    }
}

/// Returns the newest `limit` records before `before`, from the blocks in memory, then from those
/// on disk. A page may be short or even empty and yet have a next one, if too many blocks were read
/// in vain.
pub(super) fn scan(
    chain: &Chain,
    head: &Head,
    network: &Network,
    wanted: RecordFilter,
    before: Option<RecordPosition>,
    limit: usize,
) -> Page {
    let mut search = Search {
        network,
        wanted,
        before,
        limit,
        found: Vec::new(),
    };

    let next = search
        .take_held(head)
        .or_else(|| search.take_old(chain, head));
    Page {
        records: search.found,
        next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_is_written() {
        let position = RecordPosition {
            block: 12,
            log_index: 3,
        };
        assert_eq!(position.to_string().parse(), Ok(position));
        for text in [
            "",
            "1",
            "-",
            "1-",
            "-1",
            "a-b",
            "1-2-3",
            "99999999999999999999999-1",
        ] {
            assert_eq!(text.parse::<RecordPosition>(), Err(()), "{text}");
        }
    }
}

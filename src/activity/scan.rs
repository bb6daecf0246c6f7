//! Finding a page of records, newest first.

use std::{fmt, str::FromStr};

use alloy_primitives::{Address, B256, Bloom};
use alloy_sol_types::SolEvent;

use super::record::{Deed, Record};
use crate::{
    chain::Head,
    contracts::events::{PoolEvents, VaultEvents},
    network::Network,
};

/// Where a record stands. Pages continue before one of these, so what is sealed meanwhile shifts nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) block: u64,
    pub(super) log_index: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.block, self.log_index)
    }
}

impl FromStr for Position {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (block, log_index) = text.split_once('-').ok_or(())?;
        Ok(Self { block: block.parse().map_err(|_| ())?, log_index: log_index.parse().map_err(|_| ())? })
    }
}

/// Which records are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted {
    /// Swaps, of this user and with this token on either side, if any.
    Swaps { user: Option<Address>, token: Option<Address> },
    /// Whatever this user had a part in.
    User(Address),
}

/// What a block's filter must hold for the block to be worth opening: all of one of these.
struct Marks(Vec<Bloom>);

impl Wanted {
    fn marks(&self, network: &Network) -> Marks {
        let (vault, pool) = (network.contracts.vault, network.contracts.lending_pool);
        let word = |address: Address| address.into_word();
        let mark = |contract: Address, topics: &[B256]| {
            let mut bloom = Bloom::ZERO;
            bloom.accrue_raw_log(contract, topics);
            bloom
        };
        match self {
            Self::Swaps { user, token } => {
                let topics = [Some(VaultEvents::Swap::SIGNATURE_HASH), user.map(word), token.map(word)];
                Marks(vec![mark(vault, &topics.into_iter().flatten().collect::<Vec<_>>())])
            }
            // A liquidator is no topic of a liquidation.
            Self::User(user) => Marks(vec![
                mark(vault, &[user.into_word()]),
                mark(pool, &[user.into_word()]),
                mark(pool, &[PoolEvents::Liquidation::SIGNATURE_HASH]),
            ]),
        }
    }

    fn includes(&self, deed: &Deed) -> bool {
        match (self, deed) {
            (Self::Swaps { user, token }, Deed::Swap(swap)) => {
                user.is_none_or(|user| swap.event.user == user)
                    && token.is_none_or(|token| swap.event.tokenIn == token || swap.event.tokenOut == token)
            }
            (Self::Swaps { .. }, _) => false,
            (Self::User(user), deed) => deed.concerns(*user),
        }
    }
}

/// A page of records.
pub(super) struct Page {
    pub(super) records: Vec<Record>,
    /// Where the next page begins, if there is one.
    pub(super) next: Option<Position>,
}

/// The newest `limit` records before `before`.
pub(super) fn scan(head: &Head, network: &Network, wanted: Wanted, before: Option<Position>, limit: usize) -> Page {
    let marks = wanted.marks(network);
    let mut page = Page { records: Vec::new(), next: None };
    for block in head.blocks_from(0).rev() {
        let may_hold = marks.0.iter().any(|mark| block.header.logs_bloom.contains(mark));
        if !may_hold || before.is_some_and(|before| block.number() > before.block) {
            continue;
        }
        for record in Record::of_block(block, network).into_iter().rev() {
            let position = Position { block: record.block, log_index: record.log_index };
            if before.is_some_and(|before| position >= before) || !wanted.includes(&record.deed) {
                continue;
            }
            if page.records.len() == limit {
                page.next = page.records.last().map(|last| Position { block: last.block, log_index: last.log_index });
                return page;
            }
            page.records.push(record);
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_is_written() {
        let position = Position { block: 12, log_index: 3 };
        assert_eq!(position.to_string().parse(), Ok(position));
        for text in ["", "1", "-", "1-", "-1", "a-b", "1-2-3", "99999999999999999999999-1"] {
            assert_eq!(text.parse::<Position>(), Err(()), "{text}");
        }
    }
}

//! Logs, through the chain's own index of them.

use std::sync::Arc;

use alloy_primitives::{Address, B256};

use crate::{
    block::{Block, LogPosition},
    index::{IndexReader, Position},
    store::LogKey,
};

/// The most blocks on disk that are read for one page.
const MAX_READS: usize = 2_000;

/// A log: its block, and its index there.
pub(super) type FoundLog = (Arc<Block>, u64);

/// Returns the newest logs of a contract before a position, and the position of the last one if there may be more.
pub(super) fn of_address(
    reader: &IndexReader,
    address: Address,
    before: Option<Position>,
    limit: usize,
) -> (Vec<FoundLog>, Option<Position>) {
    let keys = [vec![LogKey::address(&address)]];
    let mut found: Vec<FoundLog> = Vec::new();
    for (read, block) in reader.blocks_with_logs(before.map(|before| before.block), &keys).enumerate() {
        let is_before = |at: &LogPosition<'_>| {
            before.is_none_or(|before| (block.number(), at.log_index) < (before.block, u64::from(before.index)))
        };
        let own: Vec<_> = block.logs().filter(|at| at.log.address == address && is_before(at)).collect();
        for at in own.into_iter().rev() {
            if found.len() == limit {
                let next = found.last().map(|(block, index)| Position {
                    block: block.number(),
                    index: *index as u32,
                    part: 0,
                });
                return (found, next);
            }
            found.push((block.clone(), at.log_index));
        }
        if read == MAX_READS {
            return (found, Some(Position { block: block.number(), index: 0, part: 0 }));
        }
    }
    (found, None)
}

/// A query for logs.
pub(super) struct LogQuery {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) address: Option<Address>,
    /// The topic at each position, if it matters.
    pub(super) topics: [Option<B256>; 4],
    /// Whether one matching topic is enough.
    pub(super) any_topic: bool,
}

impl LogQuery {
    fn includes(&self, at: &LogPosition<'_>) -> bool {
        let topics = at.log.data.topics();
        let mut wanted = self.topics.iter().enumerate().filter_map(|(place, topic)| Some((place, topic.as_ref()?)));
        let matches = |(place, topic): (usize, &B256)| topics.get(place) == Some(topic);
        let has_topics = match self.any_topic && self.topics.iter().any(Option::is_some) {
            true => wanted.any(matches),
            false => wanted.all(matches),
        };
        self.address.is_none_or(|address| at.log.address == address) && has_topics
    }

    fn keys(&self) -> Vec<Vec<LogKey>> {
        let address = self.address.iter().map(|address| vec![LogKey::address(address)]);
        let topics =
            self.topics.iter().enumerate().filter_map(|(place, topic)| Some(LogKey::topic(place, topic.as_ref()?)));
        match self.any_topic {
            true => {
                let topics: Vec<_> = topics.collect();
                address.chain((!topics.is_empty()).then_some(topics)).collect()
            }
            false => address.chain(topics.map(|topic| vec![topic])).collect(),
        }
    }

    /// Returns the oldest matching logs, without the first `skip`.
    pub(super) fn run(&self, reader: &IndexReader, skip: usize, limit: usize) -> Vec<FoundLog> {
        let mut found = Vec::new();
        let mut skipped = 0;
        for block in reader.candidates(self.from, self.to, &self.keys()) {
            for at in block.logs().filter(|at| self.includes(at)) {
                if skipped < skip {
                    skipped += 1;
                } else if found.len() == limit {
                    return found;
                } else {
                    found.push((block.clone(), at.log_index));
                }
            }
        }
        found
    }
}

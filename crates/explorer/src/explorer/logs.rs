//! Logs, through the chain's own index of them.

use std::ops::ControlFlow;

use alloy_primitives::{Address, B256};
use tetrad_primitives::block::{Block, LogPosition};
use tetrad_store::store::LogKey;
use tetrad_web::RestError;

use crate::index::{IndexReader, Position};

/// The most blocks on disk that are read for one page.
const MAX_READS: usize = 2_000;

/// Visits the logs of a contract before a position, newest first, until `visit` breaks: those with
/// a topic, if one is given. Returns the position that was reached if there may be more, but too
/// many blocks were read.
pub(super) fn visit_contract(
    reader: &IndexReader,
    address: Address,
    topic: Option<B256>,
    before: Option<Position>,
    mut visit: impl FnMut(Position, &Block, &LogPosition<'_>) -> Result<ControlFlow<()>, RestError>,
) -> Result<Option<Position>, RestError> {
    let mut keys = vec![vec![LogKey::address(&address)]];
    keys.extend(topic.map(|topic| (0..4).map(|place| LogKey::topic(place, &topic)).collect()));

    for (read, block) in reader
        .blocks_with_logs(before.map(|before| before.block), &keys)
        .enumerate()
    {
        let own: Vec<_> = block
            .logs()
            .filter(|at| {
                at.log.address == address
                    && topic.is_none_or(|topic| at.log.data.topics().contains(&topic))
            })
            .filter(|at| {
                before.is_none_or(|before| position_of(&block, at) < Position { part: 0, ..before })
            })
            .collect();
        for at in own.iter().rev() {
            if visit(position_of(&block, at), &block, at)?.is_break() {
                return Ok(None);
            }
        }

        // All logs of this block were visited: the next page begins with the block below.
        if read == MAX_READS {
            return Ok(Some(Position {
                block: block.number(),
                index: 0,
                part: 0,
            }));
        }
    }
    Ok(None)
}

fn position_of(block: &Block, at: &LogPosition<'_>) -> Position {
    Position {
        block: block.number(),
        index: at.log_index as u32,
        part: 0,
    }
}

/// Returns the number of a contract's logs, up to `most`.
pub(super) fn count_of_contract(
    reader: &IndexReader,
    address: Address,
    most: usize,
) -> Result<usize, RestError> {
    let mut count = 0;
    visit_contract(reader, address, None, None, |_, _, _| {
        count += 1;
        Ok(if count < most {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    })?;
    Ok(count)
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
        let mut wanted = self
            .topics
            .iter()
            .enumerate()
            .filter_map(|(place, topic)| Some((place, topic.as_ref()?)));

        let matches = |(place, topic): (usize, &B256)| topics.get(place) == Some(topic);
        let has_topics = if self.any_topic && self.topics.iter().any(Option::is_some) {
            wanted.any(matches)
        } else {
            wanted.all(matches)
        };

        self.address.is_none_or(|address| at.log.address == address) && has_topics
    }

    fn keys(&self) -> Vec<Vec<LogKey>> {
        let address = self
            .address
            .iter()
            .map(|address| vec![LogKey::address(address)]);
        let topics = self
            .topics
            .iter()
            .enumerate()
            .filter_map(|(place, topic)| Some(LogKey::topic(place, topic.as_ref()?)));

        if self.any_topic {
            let topics: Vec<_> = topics.collect();
            address
                .chain((!topics.is_empty()).then_some(topics))
                .collect()
        } else {
            address.chain(topics.map(|topic| vec![topic])).collect()
        }
    }

    /// Visits the matching logs, oldest first, until `visit` breaks.
    pub(super) fn run(
        &self,
        reader: &IndexReader,
        mut visit: impl FnMut(&Block, &LogPosition<'_>) -> Result<ControlFlow<()>, RestError>,
    ) -> Result<(), RestError> {
        for block in reader.candidates(self.from, self.to, &self.keys()) {
            for at in block.logs().filter(|at| self.includes(at)) {
                if visit(&block, &at)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

//! The filter that selects event logs.

use alloy_primitives::{Address, B256, Bloom, BloomInput, Log, keccak256};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::{BlockId, Chain};
use tetrad_primitives::block::{Block, LogPosition};
use tetrad_store::store::LogKey;

use crate::rpc::{
    params::{self, Param, ParamRules, Reach, Reference},
    schema,
};

/// The maximum number of addresses in one filter, as in geth.
const MAX_ADDRESSES: usize = 1_000;
/// The maximum number of topics of a log.
const MAX_TOPICS: usize = 4;
/// The maximum number of alternatives for one topic position, as in geth.
const MAX_ALTERNATIVES: usize = 1_000;

/// The number of addresses and topics for which a kept filter counts as one more.
const ALTERNATIVES: usize = 20;

/// The number of blocks all of whose logs may be returned on the task that received the request.
const FEW: u64 = 16;

/// A selection of logs.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogFilter {
    /// The blocks.
    pub range: Range,
    /// The contracts.
    addresses: Alternatives<Address>,
    /// The alternatives for the topic in each position. A log with fewer topics than positions does
    /// not match.
    topics: Vec<Alternatives<B256>>,
}

/// Alternatives in order, each with its hash for bloom filters. An empty list matches anything.
#[derive(Clone, Debug, Default)]
struct Alternatives<T>(Vec<(T, B256)>);

impl<T: AsRef<[u8]> + Ord> Alternatives<T> {
    fn new(mut alternatives: Vec<T>) -> Self {
        alternatives.sort_unstable();
        alternatives.dedup();
        let hashed = |value: T| {
            let hash = keccak256(&value);
            (value, hash)
        };
        Self(alternatives.into_iter().map(hashed).collect())
    }

    fn matches(&self, value: &T) -> bool {
        self.0.is_empty()
            || self
                .0
                .binary_search_by(|(wanted, _)| wanted.cmp(value))
                .is_ok()
    }

    fn may_be_in(&self, bloom: &Bloom) -> bool {
        self.0.is_empty()
            || self
                .0
                .iter()
                .any(|(_, hash)| bloom.contains_input(BloomInput::Hash(*hash)))
    }
}

/// The blocks of a log filter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Range {
    /// One block.
    Block(B256),
    /// A range of blocks.
    Between(BlockId, BlockId),
}

impl Range {
    /// Whether a block is within the bounds. Tags other than `earliest` move with the chain, so
    /// they bound nothing.
    fn contains(self, block: &Block) -> bool {
        let (from, to) = match self {
            Self::Block(hash) => return block.hash == hash,
            Self::Between(from, to) => (from, to),
        };
        let is_after_start = fixed_number(from).is_none_or(|from| from <= block.number());
        is_after_start && fixed_number(to).is_none_or(|to| block.number() <= to)
    }
}

/// The number of a bound that does not move with the chain.
pub(super) fn fixed_number(id: BlockId) -> Option<u64> {
    match id {
        BlockId::Number(number) => Some(number),
        BlockId::Earliest => Some(0),
        BlockId::Latest
        | BlockId::Pending
        | BlockId::Safe
        | BlockId::Finalized
        | BlockId::Hash(_) => None,
    }
}

impl Default for Range {
    fn default() -> Self {
        Self::Between(BlockId::Latest, BlockId::Latest)
    }
}

/// One value or several.
struct OneOrMany<P>(Vec<P>);

impl<P: Param> Param for OneOrMany<P> {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        if json.starts_with('[') {
            Vec::read(json, rules).map(Self)
        } else {
            P::read(json, rules).map(|one| Self(vec![one]))
        }
    }

    fn schema() -> Value {
        json!({"anyOf": [P::schema(), <Vec<P> as Param>::schema()]})
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawLogFilter<'a> {
    #[serde(borrow)]
    from_block: Option<&'a RawValue>,
    to_block: Option<&'a RawValue>,
    block_hash: Option<&'a RawValue>,
    address: Option<&'a RawValue>,
    topics: Option<&'a RawValue>,
}

impl Param for LogFilter {
    const REFERS_TO: Option<Reference> = Some(Reference::Range);

    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let raw: RawLogFilter<'_> = serde_json::from_str(json)
            .map_err(|_| format!("expected a filter object, got {}", params::kind(json)))?;
        let named = |name: &'static str| move |what: String| format!("{name}: {what}");
        let block = |name, raw: Option<&RawValue>| match raw {
            Some(raw) => BlockId::read(raw.get(), rules).map_err(named(name)),
            None => Ok(BlockId::Latest),
        };
        let range = match raw.block_hash {
            Some(_) if raw.from_block.is_some() || raw.to_block.is_some() => {
                return Err(
                    "cannot specify both blockHash and fromBlock/toBlock, choose one or the other"
                        .to_owned(),
                );
            }
            Some(hash) => Range::Block(B256::read(hash.get(), rules).map_err(named("blockHash"))?),
            None => Range::Between(
                block("fromBlock", raw.from_block)?,
                block("toBlock", raw.to_block)?,
            ),
        };
        let addresses = match raw.address {
            Some(raw) => {
                OneOrMany::read(raw.get(), rules)
                    .map_err(named("address"))?
                    .0
            }
            None => Vec::new(),
        };
        let positions: Vec<Option<OneOrMany<Option<B256>>>> = match raw.topics {
            Some(raw) => Vec::read(raw.get(), rules).map_err(named("topics"))?,
            None => Vec::new(),
        };
        let topics: Vec<Vec<B256>> = positions
            .into_iter()
            // A null among the alternatives is a wildcard as well.
            .map(|position| {
                position
                    .and_then(|all| all.0.into_iter().collect())
                    .unwrap_or_default()
            })
            .collect();
        Self::new(range, addresses, topics)
    }

    fn schema() -> Value {
        json!({"type": "object", "properties": {
            "fromBlock": schema::or_null(BlockId::schema()), "toBlock": schema::or_null(BlockId::schema()), "blockHash": schema::or_null(<B256 as Param>::schema()),
            "address": <OneOrMany<Address> as Param>::schema(),
            "topics": {"type": "array", "maxItems": MAX_TOPICS, "items": schema::or_null(<OneOrMany<Option<B256>> as Param>::schema())},
        }})
    }

    fn is_far(&self, chain: &Chain, _: Reach) -> bool {
        let (from, to) = match self.range {
            Range::Block(hash) => return !chain.is_at_hand(BlockId::Hash(hash), false),
            Range::Between(from, to) => (from, to),
        };
        if !chain.is_at_hand(from, false) {
            return true;
        }
        if self.alternatives() > 0 {
            return false;
        }
        // Without a selection no index helps: every block is searched.
        let head = chain.head();
        let number = |id| chain.number(&head, id).unwrap_or(0);
        number(to).saturating_sub(number(from)) > FEW
    }
}

impl LogFilter {
    /// A filter for logs of these contracts, with one of the alternatives for the topic in each
    /// position. Empty lists match anything.
    pub(crate) fn new(
        range: Range,
        addresses: Vec<Address>,
        topics: Vec<Vec<B256>>,
    ) -> Result<Self, String> {
        if addresses.len() > MAX_ADDRESSES {
            return Err(format!(
                "address: at most {MAX_ADDRESSES}, got {}",
                addresses.len()
            ));
        }
        if topics.len() > MAX_TOPICS {
            return Err(format!(
                "topics: at most {MAX_TOPICS} positions, got {}",
                topics.len()
            ));
        }
        if topics
            .iter()
            .any(|alternatives| alternatives.len() > MAX_ALTERNATIVES)
        {
            return Err(format!(
                "topics: at most {MAX_ALTERNATIVES} alternatives in a position"
            ));
        }
        Ok(Self {
            range,
            addresses: Alternatives::new(addresses),
            topics: topics.into_iter().map(Alternatives::new).collect(),
        })
    }

    /// Whether the filter selects this log.
    fn matches(&self, log: &Log) -> bool {
        self.addresses.matches(&log.address)
            && self.topics.len() <= log.topics().len()
            && self
                .topics
                .iter()
                .zip(log.topics())
                .all(|(wanted, topic)| wanted.matches(topic))
    }

    /// Whether the block may have matching logs, judging by its number and its bloom filter.
    fn may_match(&self, block: &Block) -> bool {
        let bloom = &block.header.logs_bloom;
        self.range.contains(block)
            && self.addresses.may_be_in(bloom)
            && self.topics.iter().all(|wanted| wanted.may_be_in(bloom))
    }

    /// The number that a client's filter or subscription counts as.
    pub(in crate::rpc) fn size(&self) -> usize {
        1 + self.alternatives() / ALTERNATIVES
    }

    /// The number of addresses and topics in the filter.
    pub(crate) fn alternatives(&self) -> usize {
        self.addresses.0.len()
            + self
                .topics
                .iter()
                .map(|wanted| wanted.0.len())
                .sum::<usize>()
    }

    /// The selected logs of one block.
    pub(super) fn matching<'a>(
        &'a self,
        block: &'a Block,
    ) -> impl Iterator<Item = LogPosition<'a>> + 'a {
        let candidates = self.may_match(block).then(|| block.logs());
        candidates
            .into_iter()
            .flatten()
            .filter(|at| self.matches(at.log))
    }

    /// The filter without its blocks, as a parameter for another node.
    pub(super) fn to_json(&self) -> Value {
        let addresses: Vec<_> = self
            .addresses
            .0
            .iter()
            .map(|(address, _)| address)
            .collect();
        let topics: Vec<Option<Vec<_>>> = self
            .topics
            .iter()
            .map(|wanted| {
                Some(wanted.0.iter().map(|(topic, _)| topic).collect())
                    .filter(|all: &Vec<_>| !all.is_empty())
            })
            .collect();
        let mut filter = json!({"topics": topics});
        if !addresses.is_empty() {
            filter["address"] = json!(addresses);
        }
        filter
    }

    /// The index keys of matching logs: at least one key of each list.
    pub(super) fn keys(&self) -> Vec<Vec<LogKey>> {
        let topics = self.topics.iter().enumerate().map(|(position, wanted)| {
            wanted
                .0
                .iter()
                .map(|(topic, _)| LogKey::topic(position, topic))
                .collect()
        });
        let addresses = self
            .addresses
            .0
            .iter()
            .map(|(address, _)| LogKey::address(address))
            .collect();
        std::iter::once(addresses)
            .chain(topics)
            .filter(|keys: &Vec<_>| !keys.is_empty())
            .collect()
    }
}

//! The filter that selects event logs.

use alloy_primitives::{Address, B256, Bloom, BloomInput, Log, keccak256};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::{BlockId, Chain};
use tetrad_primitives::block::{Block, LogPosition};
use tetrad_store::store::LogKey;

use super::request::field;
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
const FEW_BLOCKS: u64 = 16;

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

        let mut hashed = Vec::with_capacity(alternatives.len());
        for value in alternatives {
            let hash = keccak256(&value);
            hashed.push((value, hash));
        }
        Self(hashed)
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

impl RawLogFilter<'_> {
    /// The blocks: one by its hash, or a range, which by default is the newest block.
    fn range(&self, rules: ParamRules) -> Result<Range, String> {
        if self.block_hash.is_some() && (self.from_block.is_some() || self.to_block.is_some()) {
            return Err(
                "cannot specify both blockHash and fromBlock/toBlock, choose one or the other"
                    .to_owned(),
            );
        }
        if let Some(hash) = field("blockHash", self.block_hash, rules)? {
            return Ok(Range::Block(hash));
        }

        let from = field("fromBlock", self.from_block, rules)?;
        let to = field("toBlock", self.to_block, rules)?;
        Ok(Range::Between(
            from.unwrap_or(BlockId::Latest),
            to.unwrap_or(BlockId::Latest),
        ))
    }
}

impl Param for LogFilter {
    const REFERS_TO: Option<Reference> = Some(Reference::Range);

    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let raw: RawLogFilter<'_> = serde_json::from_str(json)
            .map_err(|_| format!("expected a filter object, got {}", params::kind(json)))?;

        let range = raw.range(rules)?;
        let addresses: Option<OneOrMany<Address>> = field("address", raw.address, rules)?;
        let addresses = addresses.map_or_else(Vec::new, |addresses| addresses.0);

        let positions: Option<Vec<Option<OneOrMany<Option<B256>>>>> =
            field("topics", raw.topics, rules)?;
        let topics: Vec<Vec<B256>> = positions
            .unwrap_or_default()
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
            "fromBlock": schema::or_null(BlockId::schema()),
            "toBlock": schema::or_null(BlockId::schema()),
            "blockHash": schema::or_null(<B256 as Param>::schema()),
            "address": <OneOrMany<Address> as Param>::schema(),
            "topics": {
                "type": "array",
                "maxItems": MAX_TOPICS,
                "items": schema::or_null(<OneOrMany<Option<B256>> as Param>::schema()),
            },
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
        number(to).saturating_sub(number(from)) > FEW_BLOCKS
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
        let has_too_many = topics
            .iter()
            .any(|alternatives| alternatives.len() > MAX_ALTERNATIVES);
        if has_too_many {
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
        // A log needs as many topics as there are positions, even where any topic matches.
        if !self.addresses.matches(&log.address) || self.topics.len() > log.topics().len() {
            return false;
        }
        self.topics
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
        let topics: usize = self.topics.iter().map(|wanted| wanted.0.len()).sum();
        self.addresses.0.len() + topics
    }

    /// The selected logs of one block.
    pub(super) fn matching<'a>(
        &'a self,
        block: &'a Block,
    ) -> impl Iterator<Item = LogPosition<'a>> + 'a {
        // The bloom filter of the header rules out most blocks without reading their logs.
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

        let mut topics: Vec<Option<Vec<_>>> = Vec::with_capacity(self.topics.len());
        for Alternatives(wanted) in &self.topics {
            let alternatives: Vec<_> = wanted.iter().map(|(topic, _)| topic).collect();
            // Null matches any topic.
            topics.push((!alternatives.is_empty()).then_some(alternatives));
        }

        let mut filter = json!({"topics": topics});
        if !addresses.is_empty() {
            filter["address"] = json!(addresses);
        }
        filter
    }

    /// The index keys of matching logs: at least one key of each list.
    pub(super) fn keys(&self) -> Vec<Vec<LogKey>> {
        let addresses = self
            .addresses
            .0
            .iter()
            .map(|(address, _)| LogKey::address(address))
            .collect();
        let mut lists: Vec<Vec<_>> = vec![addresses];
        for (position, Alternatives(wanted)) in self.topics.iter().enumerate() {
            let keys = wanted
                .iter()
                .map(|(topic, _)| LogKey::topic(position, topic))
                .collect();
            lists.push(keys);
        }

        // An empty list matches anything, so it narrows nothing.
        lists.retain(|keys| !keys.is_empty());
        lists
    }
}

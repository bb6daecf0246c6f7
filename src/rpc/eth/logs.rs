//! Event logs and what selects them.

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bloom, BloomInput, Log, keccak256};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::render::{log_schema, write_log};
use crate::{
    block::{Block, LogPosition},
    chain::{BlockId, Chain, Head, LogKey},
    fork::Fork,
    rpc::{
        Context, OnFork, RpcConfig, RpcError, Table, forked,
        json::{Json, Written, array_within},
        params::{self, Param, Reach, Reference},
        schema,
    },
};

pub(super) fn methods(table: &mut Table) {
    table.execute("eth_getLogs", logs, OnFork::Joined).describe(
        ["filter"],
        "The logs that a filter selects. Null stands for any topic; a log with fewer topics than positions \
         does not match.",
    );
}

/// Addresses that one filter may name, as in geth.
const MAX_ADDRESSES: usize = 1_000;
/// Topics of a log.
const MAX_TOPICS: usize = 4;
/// Alternatives that one topic position may name, as in geth.
const MAX_ALTERNATIVES: usize = 1_000;

/// Blocks all of whose logs may be told at once, on the task that brought the request.
const FEW: u64 = 16;

/// Bytes of logs that are written between two looks at the time.
const BETWEEN_LOOKS: usize = 64 << 10;
/// Room for what stands around a result in a response.
const ENVELOPE: usize = 256;

/// Which logs are wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogFilter {
    /// Of which blocks.
    pub(crate) range: Range,
    /// Of these contracts.
    addresses: Wanted<Address>,
    /// With one of these topics in each position. A log with fewer topics than positions does not match.
    topics: Vec<Wanted<B256>>,
}

/// Alternatives, each with the hash that bloom filters know it by. None at all stand for anything.
#[derive(Clone, Debug, Default)]
struct Wanted<T>(Vec<(T, B256)>);

impl<T: AsRef<[u8]> + PartialEq> Wanted<T> {
    fn new(alternatives: Vec<T>) -> Self {
        let hashed = |value: T| {
            let hash = keccak256(&value);
            (value, hash)
        };
        Self(alternatives.into_iter().map(hashed).collect())
    }

    fn matches(&self, value: &T) -> bool {
        self.0.is_empty() || self.0.iter().any(|(wanted, _)| wanted == value)
    }

    fn may_be_in(&self, bloom: &Bloom) -> bool {
        self.0.is_empty() || self.0.iter().any(|(_, hash)| bloom.contains_input(BloomInput::Hash(*hash)))
    }
}

/// The blocks of a log filter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Range {
    /// One block.
    Block(B256),
    /// From one to another.
    Between(BlockId, BlockId),
}

impl Default for Range {
    fn default() -> Self {
        Self::Between(BlockId::Latest, BlockId::Latest)
    }
}

/// One value or several.
struct OneOrMany<P>(Vec<P>);

impl<P: Param> Param for OneOrMany<P> {
    fn read(json: &str) -> Result<Self, String> {
        if json.starts_with('[') { Vec::read(json).map(Self) } else { P::read(json).map(|one| Self(vec![one])) }
    }

    fn schema() -> Value {
        json!({"anyOf": [P::schema(), <Vec<P> as Param>::schema()]})
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw<'a> {
    #[serde(borrow)]
    from_block: Option<&'a RawValue>,
    to_block: Option<&'a RawValue>,
    block_hash: Option<&'a RawValue>,
    address: Option<&'a RawValue>,
    topics: Option<&'a RawValue>,
}

impl Param for LogFilter {
    const REFERS_TO: Option<Reference> = Some(Reference::Range);

    fn read(json: &str) -> Result<Self, String> {
        let raw: Raw<'_> =
            serde_json::from_str(json).map_err(|_| format!("expected a filter object, got {}", params::kind(json)))?;
        let named = |name: &'static str| move |what: String| format!("{name}: {what}");
        let block = |name, raw: Option<&RawValue>| match raw {
            Some(raw) => BlockId::read(raw.get()).map_err(named(name)),
            None => Ok(BlockId::Latest),
        };
        let range = match raw.block_hash {
            Some(_) if raw.from_block.is_some() || raw.to_block.is_some() => {
                return Err("cannot specify both blockHash and fromBlock/toBlock, choose one or the other".to_owned());
            }
            Some(hash) => Range::Block(B256::read(hash.get()).map_err(named("blockHash"))?),
            None => Range::Between(block("fromBlock", raw.from_block)?, block("toBlock", raw.to_block)?),
        };
        let addresses = match raw.address {
            Some(raw) => OneOrMany::read(raw.get()).map_err(named("address"))?.0,
            None => Vec::new(),
        };
        if addresses.len() > MAX_ADDRESSES {
            return Err(format!("address: at most {MAX_ADDRESSES}, got {}", addresses.len()));
        }
        let positions: Vec<Option<OneOrMany<Option<B256>>>> = match raw.topics {
            Some(raw) => Vec::read(raw.get()).map_err(named("topics"))?,
            None => Vec::new(),
        };
        if positions.len() > MAX_TOPICS {
            return Err(format!("topics: at most {MAX_TOPICS} positions, got {}", positions.len()));
        }
        let topics: Vec<Vec<B256>> = positions
            .into_iter()
            // A null among the alternatives is a wildcard, too.
            .map(|position| position.and_then(|all| all.0.into_iter().collect()).unwrap_or_default())
            .collect();
        if topics.iter().any(|alternatives| alternatives.len() > MAX_ALTERNATIVES) {
            return Err(format!("topics: at most {MAX_ALTERNATIVES} alternatives in a position"));
        }
        Ok(Self { range, addresses: Wanted::new(addresses), topics: topics.into_iter().map(Wanted::new).collect() })
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
        // Logs that nothing selects are found in no index: each block is looked at.
        let head = chain.head();
        let number = |id| chain.number(&head, id).unwrap_or(0);
        number(to).saturating_sub(number(from)) > FEW
    }
}

impl LogFilter {
    /// Whether the filter selects this log.
    fn matches(&self, log: &Log) -> bool {
        self.addresses.matches(&log.address)
            && self.topics.len() <= log.topics().len()
            && self.topics.iter().zip(log.topics()).all(|(wanted, topic)| wanted.matches(topic))
    }

    /// Whether the block can have such logs, as far as its bloom filter tells.
    fn may_match(&self, block: &Block) -> bool {
        let bloom = &block.header.logs_bloom;
        self.addresses.may_be_in(bloom) && self.topics.iter().all(|wanted| wanted.may_be_in(bloom))
    }

    /// How many addresses and topics it names.
    pub(crate) fn alternatives(&self) -> usize {
        self.addresses.0.len() + self.topics.iter().map(|wanted| wanted.0.len()).sum::<usize>()
    }

    /// The selected logs of blocks that are gone, then of blocks that are new, as a JSON array; none if there are more
    /// than `max_logs`, or they take more than `max_bytes`.
    pub(crate) fn select_all(
        &self,
        removed: &[Arc<Block>],
        added: &[Arc<Block>],
        max_logs: usize,
        max_bytes: usize,
    ) -> Option<Written> {
        let gone = removed.iter().map(|block| (block, true));
        let each = gone.chain(added.iter().map(|block| (block, false)));
        let logs = each.flat_map(|(block, removed)| self.select(block, removed));
        let (mut out, mut count) = (Vec::new(), 0);
        let whole = array_within(&mut out, max_bytes, logs.take(max_logs + 1), |log, out| {
            count += 1;
            log.write(out);
        });
        (whole && count <= max_logs).then_some(Written(out))
    }

    /// The selected logs of one block, each as JSON.
    pub(crate) fn select<'a>(&'a self, block: &'a Block, removed: bool) -> impl Iterator<Item = Written> + 'a {
        self.matching(block).map(move |at| {
            let mut json = Vec::new();
            write_log(block, at, removed, &mut json);
            Written(json)
        })
    }

    /// The selected logs of the filter's blocks, as a JSON array.
    pub(crate) fn query(&self, context: &Context) -> Result<Written, RpcError> {
        let head = context.chain.head();
        let mut answer = Answer::begin(context);
        let blocks = match context.fork() {
            Some(fork) => self.on_fork(context, &head, &fork, &mut answer)?,
            None => self.blocks(context, &head, self.range)?,
        };
        let is_over = context.time_limit();
        // One after another, so that no more than one of them is held.
        for number in blocks.old {
            if is_over() {
                return Err(out_of_time(number));
            }
            let Some(block) = context.chain.old_block(&head, number) else { continue };
            for at in self.matching(&block) {
                answer.count(written_size(at.log), number)?;
                answer.write(|out| write_log(&block, at, false, out));
            }
        }
        let (mut found, before) = (Vec::new(), answer.size);
        for block in &blocks.held {
            let counted = answer.size;
            for at in self.matching(block) {
                answer.count(written_size(at.log), block.number())?;
                found.push((block, at));
            }
            if answer.size > counted && is_over() {
                return Err(out_of_time(block.number()));
            }
        }
        // Room for everything at once: the answer may be long, and growing it step by step costs as much as writing it.
        answer.out.reserve_exact(answer.size - before + ENVELOPE);
        let mut looked = 0;
        for (block, at) in found {
            answer.write(|out| write_log(block, at, false, out));
            if answer.out.len() - looked > BETWEEN_LOOKS {
                looked = answer.out.len();
                if is_over() {
                    return Err(out_of_time(block.number()));
                }
            }
        }
        Ok(answer.end())
    }

    /// The selected logs of one block.
    fn matching<'a>(&'a self, block: &'a Block) -> impl Iterator<Item = LogPosition<'a>> + 'a {
        let candidates = self.may_match(block).then(|| block.logs());
        candidates.into_iter().flatten().filter(|at| self.matches(at.log))
    }

    /// Writes the logs of the other chain, and finds the own blocks that may have others.
    fn on_fork(
        &self,
        context: &Context,
        head: &Arc<Head>,
        fork: &Fork,
        answer: &mut Answer<'_>,
    ) -> Result<Blocks, RpcError> {
        let (from, to) = match self.range {
            Range::Between(from, to) => {
                let number = |id| match id {
                    BlockId::Earliest => Some(0),
                    BlockId::Hash(_) | BlockId::Pending => None,
                    id => context.chain.number(head, id),
                };
                match (number(from), number(to)) {
                    (Some(from), Some(to)) if from <= to && to <= head.number() => (from, to),
                    // Wrong in some way that is told of below.
                    _ => return self.blocks(context, head, self.range),
                }
            }
            Range::Block(hash) => {
                let known = context.chain.number(head, BlockId::Hash(hash));
                let number = known.map_or_else(|| forked::block_number(fork, hash), |number| Ok(Some(number)))?;
                let number = number.ok_or_else(|| RpcError::server("unknown block"))?;
                (number, number)
            }
        };
        if from <= fork.number {
            let until = to.min(fork.number);
            for log in forked::logs(fork, self.to_json(), from, until)? {
                answer.count(log.get().len(), until)?;
                answer.write(|out| out.extend_from_slice(log.get().as_bytes()));
            }
        }
        if to <= fork.number {
            return Ok(Blocks::default());
        }
        let from = from.max(fork.number + 1);
        self.blocks(context, head, Range::Between(BlockId::Number(from), BlockId::Number(to)))
    }

    /// What is wanted, without the blocks, as another node reads it.
    fn to_json(&self) -> Value {
        let addresses: Vec<_> = self.addresses.0.iter().map(|(address, _)| address).collect();
        let topics: Vec<Option<Vec<_>>> = self
            .topics
            .iter()
            .map(|wanted| {
                Some(wanted.0.iter().map(|(topic, _)| topic).collect()).filter(|all: &Vec<_>| !all.is_empty())
            })
            .collect();
        let mut filter = json!({"topics": topics});
        if !addresses.is_empty() {
            filter["address"] = json!(addresses);
        }
        filter
    }

    fn blocks(&self, context: &Context, head: &Arc<Head>, range: Range) -> Result<Blocks, RpcError> {
        let (from, to) = match range {
            Range::Block(hash) => {
                let block = context.chain.block(head, BlockId::Hash(hash))?;
                let block = block.ok_or_else(|| RpcError::server("unknown block"))?;
                return Ok(Blocks { old: Vec::new(), held: vec![block] });
            }
            Range::Between(from, to) => (from, to),
        };
        if from == BlockId::Pending || to == BlockId::Pending {
            return Err(RpcError::invalid_params("pending logs are not supported"));
        }
        let number = |id| context.chain.number(head, id).ok_or_else(|| RpcError::server("unknown block"));
        let (from, to) = (number(from)?, number(to)?);
        if from > to {
            return Err(RpcError::invalid_params("invalid block range params"));
        }
        if to > head.number() {
            return Err(RpcError::invalid_params("block range extends beyond current head block"));
        }
        let oldest = context.chain.oldest(head);
        // The first block has no logs, wherever it is.
        if from < oldest && oldest > head.genesis.number() + 1 {
            let message = format!("history before block {oldest} is not available");
            return Err(RpcError::history_pruned(message));
        }
        let wanted = self.keys();
        Ok(Blocks {
            old: context.chain.old_candidates(head, from, to, &wanted),
            held: head.candidates(from, to, &wanted).cloned().collect(),
        })
    }

    /// What the logs are found by: at least one key of each of these.
    fn keys(&self) -> Vec<Vec<LogKey>> {
        let topics = self
            .topics
            .iter()
            .enumerate()
            .map(|(position, wanted)| wanted.0.iter().map(|(topic, _)| LogKey::topic(position, topic)).collect());
        let addresses = self.addresses.0.iter().map(|(address, _)| LogKey::address(address)).collect();
        std::iter::once(addresses).chain(topics).filter(|keys: &Vec<_>| !keys.is_empty()).collect()
    }
}

/// Blocks that may have logs that are wanted, oldest first.
#[derive(Default)]
struct Blocks {
    /// Numbers of those that memory no longer holds.
    old: Vec<u64>,
    /// The others, which come after them.
    held: Vec<Arc<Block>>,
}

/// The answer to a query, within its limits.
struct Answer<'c> {
    config: &'c RpcConfig,
    out: Vec<u8>,
    logs: usize,
    /// About how many bytes these logs have.
    size: usize,
}

impl<'c> Answer<'c> {
    fn begin(context: &'c Context) -> Self {
        Self { config: &context.config, out: vec![b'['], logs: 0, size: 0 }
    }

    /// Counts a log of so many bytes from a block, or refuses to tell of so much.
    fn count(&mut self, size: usize, block: u64) -> Result<(), RpcError> {
        self.logs += 1;
        self.size += size;
        let (max_logs, max_bytes) = (self.config.max_logs, self.config.max_batch_response);
        if self.logs <= max_logs && self.size <= max_bytes {
            return Ok(());
        }
        Err(RpcError::invalid_params(match self.logs > max_logs {
            true => format!("query returned more than {max_logs} results; narrow the range (up to block {block})"),
            false => format!(
                "query returned more than {max_bytes} bytes; narrow the range (up to block {block}), or add an address \
                 or topics"
            ),
        }))
    }

    /// Writes a log that was counted.
    fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        write(&mut self.out);
    }

    fn end(mut self) -> Written {
        self.out.push(b']');
        Written(self.out)
    }
}

fn out_of_time(block: u64) -> RpcError {
    RpcError::timeout(format!("execution timeout; narrow the range (up to block {block})"))
}

/// About how long a log is as JSON.
fn written_size(log: &Log) -> usize {
    460 + 69 * log.topics().len() + 2 * log.data.data.len()
}

/// Logs, as JSON.
pub(super) struct Logs(pub(super) Written);

impl Json for Logs {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }

    fn into_json(self) -> Vec<u8> {
        self.0.into_json()
    }

    fn schema(_: Option<&Value>) -> Value {
        schema::array(log_schema())
    }
}

/// The logs that a filter selects.
fn logs(context: &Context, (filter,): (LogFilter,)) -> Result<Logs, RpcError> {
    filter.query(context).map(Logs)
}

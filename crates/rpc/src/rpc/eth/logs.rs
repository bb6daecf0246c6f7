//! Queries for event logs.
//!
//! A query that reaches beyond the node's history is refused (code 4444) rather than answered in
//! part.

use std::sync::Arc;

use alloy_primitives::Log;
use serde_json::Value;
use tetrad_chain::{BlockId, Head};
use tetrad_primitives::block::{Block, LogPosition};
use tetrad_web::AnswerError;

use super::{
    log_filter::{LogFilter, Range, fixed_number},
    render::{log_schema, write_log},
};
use crate::{
    fork::ChainFork,
    rpc::{
        Context, OnFork, RpcConfig, RpcError, Table, forked,
        json::{Json, JsonWriter, Written, WrittenAs, array},
    },
};

pub(super) fn methods(table: &mut Table) {
    table.execute("eth_getLogs", logs, OnFork::Joined).describe(
        ["filter"],
        "The logs that a filter selects. Null matches any topic; a log with fewer topics than \
         positions does not match.",
    );
}

/// The number of bytes of logs that are written between two checks of the time limit.
const BYTES_PER_CHECK: usize = 64 << 10;
/// The size of a response without its result.
const ENVELOPE: usize = 256;

impl LogFilter {
    /// The selected logs of removed blocks, then of new blocks, as a JSON array; none if there are
    /// more than `max_logs`.
    pub(crate) fn select_all(
        &self,
        removed: &[Arc<Block>],
        added: &[Arc<Block>],
        max_logs: usize,
        mut out: JsonWriter,
    ) -> Result<Option<Written>, AnswerError> {
        let removed = removed.iter().flat_map(|block| self.select(block, true));
        let added = added.iter().flat_map(|block| self.select(block, false));
        let logs = removed.chain(added);

        // One log more shows that there are too many.
        let mut count = 0;
        array(&mut out, logs.take(max_logs + 1), |log, out| {
            count += 1;
            log.write(out);
        });

        let written = out.finish()?;
        Ok((count <= max_logs).then_some(written))
    }

    /// The selected logs of one block.
    pub(crate) fn select<'a>(
        &'a self,
        block: &'a Block,
        removed: bool,
    ) -> impl Iterator<Item = SelectedLog<'a>> + 'a {
        self.matching(block)
            .map(move |at| SelectedLog { block, at, removed })
    }

    /// The filter for logs that are still to come. As in [`query`](Self::query), a range that can
    /// never match is an error; unlike there, it may end or even begin after the newest block.
    pub(crate) fn of_future_logs(mut self, context: &Context) -> Result<Self, RpcError> {
        let head = context.chain.head();
        let (from, to) = match self.range {
            // Whether the forked chain has the block is not asked for here.
            Range::Block(hash) => {
                let is_known = context.fork().is_some()
                    || context.chain.number(&head, BlockId::Hash(hash)).is_some();
                return if is_known {
                    Ok(self)
                } else {
                    Err(unknown_block())
                };
            }
            Range::Between(from, to) => (from, to),
        };
        if from == BlockId::Pending || to == BlockId::Pending {
            return Err(pending_logs());
        }

        let from = without_hash(context, &head, from)?;
        let to = without_hash(context, &head, to)?;
        let first = fixed_number(from).unwrap_or_else(|| head.number());
        if fixed_number(to).is_some_and(|last| last < first) {
            return Err(invalid_range());
        }

        self.range = Range::Between(from, to);
        Ok(self)
    }

    /// The selected logs of those blocks of the filter that exist so far, as a JSON array.
    pub(crate) fn query_so_far(&self, context: &Context) -> Result<Logs, RpcError> {
        let Range::Between(from, to) = self.range else {
            return self.query(context);
        };

        let head = context.chain.head();
        let newest = head.number();
        let first = fixed_number(from).unwrap_or(newest);
        let last = fixed_number(to).map_or(newest, |to| to.min(newest));
        if first > last {
            return LogResponse::begin(context).end();
        }

        let range = Range::Between(BlockId::Number(first), BlockId::Number(last));
        self.query_in(context, &head, range)
    }

    /// The selected logs of the filter's blocks, as a JSON array.
    pub(crate) fn query(&self, context: &Context) -> Result<Logs, RpcError> {
        self.query_in(context, &context.chain.head(), self.range)
    }

    fn query_in(
        &self,
        context: &Context,
        head: &Arc<Head>,
        range: Range,
    ) -> Result<Logs, RpcError> {
        let mut answer = LogResponse::begin(context);
        let blocks = match context.fork() {
            Some(fork) => self.on_fork(context, head, &fork, range, &mut answer)?,
            None => self.blocks(context, head, range)?,
        };

        let out_of_time = context.time_check();
        self.write_old(context, head, &blocks.old, &out_of_time, &mut answer)?;
        self.write_held(&blocks.held, &out_of_time, &mut answer)?;
        answer.end()
    }

    /// Writes the selected logs of blocks that are no longer in memory.
    fn write_old(
        &self,
        context: &Context,
        head: &Head,
        numbers: &[u64],
        out_of_time: &impl Fn() -> bool,
        answer: &mut LogResponse<'_>,
    ) -> Result<(), RpcError> {
        // One after another, so that only one of them is in memory.
        for &number in numbers {
            if out_of_time() {
                return Err(timed_out(number));
            }
            let Some(block) = context.chain.old_block(head, number) else {
                continue;
            };
            for at in self.matching(&block) {
                answer.count(written_size(at.log), number)?;
                answer.write(|out| write_log(&block, at, false, out));
            }
        }
        Ok(())
    }

    /// Writes the selected logs of blocks in memory.
    fn write_held(
        &self,
        blocks: &[Arc<Block>],
        out_of_time: &impl Fn() -> bool,
        answer: &mut LogResponse<'_>,
    ) -> Result<(), RpcError> {
        // Counted before anything is written, so that too large a response is refused early.
        let before = answer.size;
        let mut found = Vec::new();
        for block in blocks {
            if out_of_time() {
                return Err(timed_out(block.number()));
            }

            for at in self.matching(block) {
                answer.count(written_size(at.log), block.number())?;
                found.push((block, at));
            }
        }

        // Allocated at once: the response may be long, and growing it step by step costs as much as
        // writing it.
        answer.out.reserve(answer.size - before + ENVELOPE);
        answer.check()?;

        let mut checked = 0;
        for (block, at) in found {
            answer.write(|out| write_log(block, at, false, out));
            if answer.out.len() - checked > BYTES_PER_CHECK {
                checked = answer.out.len();
                if out_of_time() {
                    return Err(timed_out(block.number()));
                }
            }
        }
        Ok(())
    }

    /// The selected logs of the filter's blocks, at most `most`: each as its block, the index of
    /// its transaction, and its index among the transaction's logs. Logs of a forked chain are not
    /// among them.
    pub(in crate::rpc) fn find(
        &self,
        context: &Context,
        most: usize,
    ) -> Result<Vec<(Arc<Block>, usize, usize)>, RpcError> {
        let head = context.chain.head();
        if let (Some(fork), Range::Between(from, _)) = (context.fork(), self.range)
            && context
                .chain
                .number(&head, from)
                .is_some_and(|from| from <= fork.number)
        {
            let message = format!(
                "blocks up to {} are on the forked chain, which only JSON-RPC reads",
                fork.number
            );
            return Err(RpcError::server(message));
        }

        let Blocks { old, held } = self.blocks(context, &head, self.range)?;
        let out_of_time = context.time_check();
        let mut found = Vec::new();
        let old = old
            .into_iter()
            .filter_map(|number| context.chain.old_block(&head, number));
        for block in old.chain(held) {
            for at in self.matching(&block) {
                let index = at.transaction_index as usize;
                // Logs are numbered within the block, but addressed within their transaction here.
                let first = block.receipts[index].first_log_index;
                found.push((block.clone(), index, (at.log_index - first) as usize));
            }

            if found.len() > most {
                return Err(RpcError::server(format!(
                    "query returned more than {most} results; narrow the range"
                )));
            }
            if out_of_time() {
                return Err(timed_out(block.number()));
            }
        }
        Ok(found)
    }

    /// Writes the logs of the other chain, and returns the own blocks that may have more.
    fn on_fork(
        &self,
        context: &Context,
        head: &Arc<Head>,
        fork: &ChainFork,
        range: Range,
        answer: &mut LogResponse<'_>,
    ) -> Result<Blocks, RpcError> {
        let (from, to) = match range {
            Range::Between(from, to) => {
                let from = number_on_fork(context, head, from);
                let to = number_on_fork(context, head, to);
                match (from, to) {
                    (Some(from), Some(to)) if from <= to && to <= head.number() => (from, to),
                    // An invalid range, which is reported below.
                    _ => return self.blocks(context, head, range),
                }
            }
            Range::Block(hash) => {
                let number = match context.chain.number(head, BlockId::Hash(hash)) {
                    Some(number) => number,
                    None => forked::block_number(fork, hash)?.ok_or_else(unknown_block)?,
                };
                (number, number)
            }
        };

        if from <= fork.number {
            let until = to.min(fork.number);
            forked::logs(fork, self.to_json(), from, until, |log| {
                answer.count(log.len(), until)?;
                answer.write(|out| out.extend_from_slice(log.as_bytes()));
                Ok(())
            })?;
        }

        if to <= fork.number {
            return Ok(Blocks::default());
        }
        let first_own = BlockId::Number(from.max(fork.number + 1));
        let range = Range::Between(first_own, BlockId::Number(to));
        self.blocks(context, head, range)
    }

    /// The own blocks in the range that may have matching logs.
    fn blocks(
        &self,
        context: &Context,
        head: &Arc<Head>,
        range: Range,
    ) -> Result<Blocks, RpcError> {
        let (from, to) = match range {
            Range::Block(hash) => {
                let block = context.chain.block(head, BlockId::Hash(hash))?;
                let block = block.ok_or_else(unknown_block)?;
                return Ok(Blocks {
                    old: Vec::new(),
                    held: vec![block],
                });
            }
            Range::Between(from, to) => (from, to),
        };
        if from == BlockId::Pending || to == BlockId::Pending {
            return Err(pending_logs());
        }

        let from = known_number(context, head, from)?;
        let to = known_number(context, head, to)?;
        if from > to {
            return Err(invalid_range());
        }
        if to > head.number() {
            return Err(RpcError::invalid_params(
                "block range extends beyond current head block",
            ));
        }

        let oldest = context.chain.oldest(head);
        // The genesis block has no logs.
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
}

/// The number of a block, or the error that there is none.
fn known_number(context: &Context, head: &Head, id: BlockId) -> Result<u64, RpcError> {
    context.chain.number(head, id).ok_or_else(unknown_block)
}

/// A bound of a range, by its number if it is given by a hash.
fn without_hash(context: &Context, head: &Head, id: BlockId) -> Result<BlockId, RpcError> {
    if matches!(id, BlockId::Hash(_)) {
        known_number(context, head, id).map(BlockId::Number)
    } else {
        Ok(id)
    }
}

/// The number of a bound of a range that may begin on the forked chain.
fn number_on_fork(context: &Context, head: &Head, id: BlockId) -> Option<u64> {
    match id {
        BlockId::Earliest => Some(0),
        BlockId::Hash(_) | BlockId::Pending => None,
        id => context.chain.number(head, id),
    }
}

/// Blocks that may have matching logs, oldest first.
#[derive(Default)]
struct Blocks {
    /// The numbers of blocks that are no longer in memory.
    old: Vec<u64>,
    /// The blocks in memory, which come after them.
    held: Vec<Arc<Block>>,
}

/// The response to a query, within its limits.
struct LogResponse<'c> {
    config: &'c RpcConfig,
    out: JsonWriter,
    logs: usize,
    /// The approximate size of these logs in bytes.
    size: usize,
}

impl<'c> LogResponse<'c> {
    fn begin(context: &'c Context) -> Self {
        // The size of logs is known before they are written.
        let mut out = context.writer(usize::MAX);
        out.push(b'[');
        Self {
            config: &context.config,
            out,
            logs: 0,
            size: 0,
        }
    }

    /// Counts a log of `size` bytes, or refuses a response that is too large.
    fn count(&mut self, size: usize, block: u64) -> Result<(), RpcError> {
        self.logs += 1;
        self.size += size;

        let max_logs = self.config.max_logs;
        if self.logs > max_logs {
            return Err(RpcError::invalid_params(format!(
                "query returned more than {max_logs} results; narrow the range (up to block \
                 {block})"
            )));
        }

        let max_bytes = self.config.max_batch_response;
        if self.size > max_bytes {
            return Err(RpcError::invalid_params(format!(
                "query returned more than {max_bytes} bytes; narrow the range (up to block \
                 {block}), or add an address or topics"
            )));
        }

        self.check()
    }

    /// The error for a response for which there is no memory.
    fn check(&self) -> Result<(), RpcError> {
        self.out
            .check()
            .map_err(|error| RpcError::does_not_fit(error, "narrow the range"))
    }

    /// Writes a counted log.
    fn write(&mut self, write: impl FnOnce(&mut JsonWriter)) {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        write(&mut self.out);
    }

    fn end(mut self) -> Result<Logs, RpcError> {
        self.out.push(b']');
        let written = self
            .out
            .finish()
            .map_err(|error| RpcError::does_not_fit(error, "narrow the range"))?;
        Ok(written.into())
    }
}

fn unknown_block() -> RpcError {
    RpcError::server("unknown block")
}

fn pending_logs() -> RpcError {
    RpcError::invalid_params("pending logs are not supported")
}

fn invalid_range() -> RpcError {
    RpcError::invalid_params("invalid block range params")
}

fn timed_out(block: u64) -> RpcError {
    RpcError::timeout(format!(
        "execution timeout; narrow the range (up to block {block})"
    ))
}

/// The approximate length of a log as JSON.
pub(super) fn written_size(log: &Log) -> usize {
    460 + 69 * log.topics().len() + 2 * log.data.data.len()
}

/// A log that a filter selected.
pub(crate) struct SelectedLog<'a> {
    block: &'a Block,
    at: LogPosition<'a>,
    removed: bool,
}

impl Json for SelectedLog<'_> {
    fn write(&self, out: &mut JsonWriter) {
        write_log(self.block, self.at, self.removed, out);
    }

    fn schema(_: Option<&Value>) -> Value {
        log_schema()
    }
}

/// Logs, as JSON.
pub(super) type Logs = WrittenAs<Vec<SelectedLog<'static>>>;

/// The logs that a filter selects.
fn logs(context: &Context, (filter,): (LogFilter,)) -> Result<Logs, RpcError> {
    filter.query(context)
}

//! Routes about transactions.

use std::{cmp::Reverse, sync::Arc};

use axum::extract::State;
use tetrad_primitives::block::Block;
use tetrad_web::{Api, Path, Query, RestError};

use super::{
    bodies::{InternalBody, LogBody, NextPage, TransactionBody, TransferBody},
    filters::{
        InternalQuery, KindQuery, LimitQuery, TransactionFilter, TransactionQuery, TransactionState,
    },
    index_pages,
    page::{Filters, PAGE, Page},
    parameters::{InternalPageQuery, PageQuery, TransactionPath},
    render::Render,
    rest::{Body, Explorer, List, SharedExplorer},
};
use crate::index::{CallFilter, IndexPage, Order, Position, PositionRange, TransferRole};

pub(super) fn routes(api: Api<Explorer>) -> Api<Explorer> {
    api.get(
        "/api/v2/transactions",
        transactions,
        "Transactions, newest first: of blocks, or waiting for one.",
    )
    .get(
        "/api/v2/transactions/{hash}",
        transaction,
        "A transaction, in a block or waiting for one.",
    )
    .get(
        "/api/v2/transactions/{hash}/token-transfers",
        transfers,
        "The token transfers of a transaction.",
    )
    .get(
        "/api/v2/transactions/{hash}/internal-transactions",
        internal,
        "The calls that contracts made in a transaction, in order.",
    )
    .get(
        "/api/v2/transactions/{hash}/logs",
        logs,
        "The logs of a transaction.",
    )
    .get(
        "/api/v2/token-transfers",
        all_transfers,
        "Token transfers, newest first.",
    )
    .named("getExplorerAllTokenTransfers")
    .get(
        "/api/v2/internal-transactions",
        all_internal,
        "Calls that contracts made, newest first.",
    )
}

/// The most blocks and transactions that are examined for one page.
const MAX_BLOCKS: usize = 2_000;
const MAX_EXAMINED: usize = 20_000;

/// Blocks with transactions that are looked up at once.
const BLOCKS_AT_ONCE: usize = 64;

/// Adds the newest transactions before a position that a filter includes.
pub(super) fn newest(
    render: &Render<'_>,
    before: Option<Position>,
    filter: &TransactionFilter,
    page: &mut Page<Position>,
) -> Result<(), RestError> {
    // The block of the position may have more transactions before it.
    let mut end = before.map(|before| Position {
        block: before.block.saturating_add(1),
        index: 0,
        part: 0,
    });

    let mut blocks = 0;
    let mut examined = 0;
    loop {
        let filled = render
            .reader
            .filled_blocks(&PositionRange::before(end, BLOCKS_AT_ONCE))?;
        for number in filled.items {
            let Some(block) = render.reader.block(number) else {
                continue;
            };
            for index in (0..block.transactions.len()).rev() {
                let position = Position {
                    block: number,
                    index: index as u32,
                    part: 0,
                };
                if before.is_some_and(|before| position >= before) {
                    continue;
                }
                if page
                    .push(position, || listed(render, &block, index, filter))?
                    .is_break()
                {
                    return Ok(());
                }
            }

            blocks += 1;
            examined += block.transactions.len();
            // A filter may leave out all of them: the page then ends early, and the next one goes on
            // from here.
            if blocks >= MAX_BLOCKS || examined >= MAX_EXAMINED {
                page.suspend(Position {
                    block: number,
                    index: 0,
                    part: 0,
                });
                return Ok(());
            }
        }

        match filled.next {
            Some(next) => end = Some(next),
            None => return Ok(()),
        }
    }
}

/// Renders a transaction of a block if a filter includes it.
pub(super) fn listed(
    render: &Render<'_>,
    block: &Block,
    index: usize,
    filter: &TransactionFilter,
) -> Result<Option<TransactionBody>, RestError> {
    let is_included = render.is_included(filter, block, index)?;
    Ok(is_included
        .then(|| render.transaction(block, index, false))
        .transpose()?)
}

/// Adds the transactions that wait for a block, the newest first, from before an arrival on.
fn waiting(
    shared: &SharedExplorer,
    render: &Render<'_>,
    before: Option<u64>,
    filter: &TransactionFilter,
    page: &mut Page<u64>,
) -> Result<(), RestError> {
    let mut all: Vec<_> = shared
        .chain
        .pool()
        .content()
        .into_iter()
        .map(|(pooled, _)| pooled)
        .collect();
    all.retain(|pooled| before.is_none_or(|before| pooled.arrival() < before));
    all.sort_by_key(|pooled| Reverse(pooled.arrival()));

    for pooled in all {
        let transaction = &pooled.transaction;
        let added = page.push(pooled.arrival(), || {
            let is_included = render.is_waiting_included(filter, transaction)?;
            Ok::<_, RestError>(is_included.then(|| render.waiting(transaction, false)))
        })?;
        if added.is_break() {
            break;
        }
    }
    Ok(())
}

async fn transactions(
    State(explorer): State<Explorer>,
    Query(position): Query<PageQuery>,
    Query(query): Query<TransactionQuery>,
    filters: Filters,
) -> List<TransactionBody> {
    let state = query.state.0;
    let filter = query.filter();
    explorer
        .read(move |shared, render| match state {
            TransactionState::Validated => {
                let mut page = Page::new(PAGE);
                newest(render, position.position(), &filter, &mut page)?;
                page.finish(filters, NextPage::after)
            }
            TransactionState::Pending => {
                let mut page = Page::new(PAGE);
                waiting(shared, render, position.arrival(), &filter, &mut page)?;
                page.finish(filters, |arrival| NextPage {
                    index: Some(arrival),
                    ..NextPage::default()
                })
            }
        })
        .await
}

/// Returns the block of a transaction, and its index there.
fn find(render: &Render<'_>, path: &TransactionPath) -> Result<(Arc<Block>, usize), RestError> {
    let hash = path.hash.0;
    render
        .reader
        .transaction(hash)
        .ok_or_else(|| RestError::NotFound(format!("no transaction {hash}")))
}

async fn transaction(
    State(explorer): State<Explorer>,
    Path(path): Path<TransactionPath>,
) -> Body<TransactionBody> {
    explorer
        .body(move |shared, render| {
            // A transaction that is in a block may still be in the pool.
            let found = find(render, &path);
            let waiting = shared.chain.pool().get(path.hash.0);
            match (found, waiting) {
                (Err(RestError::NotFound(_)), Some(waiting)) => {
                    Ok(render.waiting(&waiting.transaction, true))
                }
                (found, _) => {
                    let (block, index) = found?;
                    Ok(render.transaction(&block, index, true)?)
                }
            }
        })
        .await
}

async fn transfers(
    State(explorer): State<Explorer>,
    Path(path): Path<TransactionPath>,
    Query(position): Query<PageQuery>,
    Query(query): Query<KindQuery>,
    filters: Filters,
) -> List<TransferBody> {
    explorer
        .read(move |_, render| {
            let (block, index) = find(render, &path)?;
            let wanted = query.kinds.0;
            let all = render.transfers_of(&block, index);
            let all = all
                .iter()
                .filter(|(_, transfer)| wanted.is_empty() || wanted.contains(&transfer.kind));

            let mut page = Page::new(PAGE);
            page.fill_from(position.offset(), all, |(at, transfer)| {
                render.transfer(&block, at, transfer)
            })?;
            page.finish(filters, |count| after_items(&block, count))
        })
        .await
}

async fn logs(
    State(explorer): State<Explorer>,
    Path(path): Path<TransactionPath>,
    Query(position): Query<PageQuery>,
    filters: Filters,
) -> List<LogBody> {
    explorer
        .read(move |_, render| {
            let (block, index) = find(render, &path)?;
            let all = block
                .logs()
                .filter(|at| at.transaction_index == index as u64);

            let mut page = Page::new(PAGE);
            page.fill_from(position.offset(), all, |at| {
                Ok::<_, RestError>(render.log(&block, &at))
            })?;
            page.finish(filters, |count| after_items(&block, count))
        })
        .await
}

/// The page after the first `count` items of a transaction.
fn after_items(block: &Block, count: u64) -> NextPage {
    NextPage {
        block_number: Some(block.number()),
        index: Some(count),
        ..NextPage::default()
    }
}

/// Lists the internal calls of one transaction, or of a block, in order.
pub(super) fn internal_within(
    render: &Render<'_>,
    block: &Block,
    index: Option<usize>,
    filter: &CallFilter,
    position: &InternalPageQuery,
    filters: Filters,
) -> List<InternalBody> {
    let own = PositionRange::of_transactions(block.number(), index, Order::OldestFirst, PAGE);
    let from = position
        .position()
        .map_or(own.from, |after| after.successor().max(own.from));
    let found = render
        .reader
        .internal_calls(None, filter, &PositionRange { from, ..own })?;

    index_pages::internal_calls(render, found, PAGE, filters)
}

async fn internal(
    State(explorer): State<Explorer>,
    Path(path): Path<TransactionPath>,
    Query(position): Query<InternalPageQuery>,
    filters: Filters,
) -> List<InternalBody> {
    explorer
        .read(move |_, render| {
            let (block, index) = find(render, &path)?;
            internal_within(
                render,
                &block,
                Some(index),
                &CallFilter::default(),
                &position,
                filters,
            )
        })
        .await
}

async fn all_transfers(
    State(explorer): State<Explorer>,
    Query(position): Query<PageQuery>,
    Query(query): Query<KindQuery>,
    Query(size): Query<LimitQuery>,
    filters: Filters,
) -> List<TransferBody> {
    let role = TransferRole {
        kinds: query.kinds.0,
        ..TransferRole::default()
    };
    let limit = size.limit.0;

    explorer
        .read(move |_, render| {
            let found = render
                .reader
                .transfers(None, &role, &position.range(limit))?;
            index_pages::transfers(render, found, limit, filters)
        })
        .await
}

async fn all_internal(
    State(explorer): State<Explorer>,
    Query(position): Query<InternalPageQuery>,
    Query(query): Query<InternalQuery>,
    Query(size): Query<LimitQuery>,
    filters: Filters,
) -> List<InternalBody> {
    let limit = size.limit.0;
    explorer
        .read(move |_, render| {
            let before = PositionRange::before(position.position(), limit);
            let range = match query.transaction.0 {
                None => Some(before),
                Some(hash) => render.reader.transaction(hash).map(|(block, index)| {
                    let own = PositionRange::of_transactions(
                        block.number(),
                        Some(index),
                        Order::NewestFirst,
                        limit,
                    );
                    PositionRange {
                        before: own.before.min(before.before),
                        ..own
                    }
                }),
            };

            let found = match range {
                Some(range) => {
                    render
                        .reader
                        .internal_calls(None, &CallFilter::default(), &range)?
                }
                None => IndexPage {
                    items: Vec::new(),
                    next: None,
                },
            };
            index_pages::internal_calls(render, found, limit, filters)
        })
        .await
}

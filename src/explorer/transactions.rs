//! Routes about transactions.

use std::sync::Arc;

use axum::extract::State;

use super::{
    bodies::{InternalBody, ListBody, LogBody, NextPage, TransactionBody, TransferBody},
    parameters::{InternalPageQuery, KindQuery, PAGE, PageQuery, TransactionPath},
    render::Render,
    rest::{Body, Explorer},
};
use crate::{
    block::Block,
    index::{IndexPage, Order, Position, PositionRange, TransferRole},
    web::{Api, Path, Query, RestError},
};

pub(super) fn routes(api: Api<Explorer>) -> Api<Explorer> {
    api.get("/api/v2/transactions", transactions, "Transactions, newest first.")
        .get("/api/v2/transactions/{hash}", transaction, "A transaction; 404 if it is in no block.")
        .get("/api/v2/transactions/{hash}/token-transfers", transfers, "The token transfers of a transaction.")
        .get(
            "/api/v2/transactions/{hash}/internal-transactions",
            internal,
            "The calls that contracts made in a transaction, in order.",
        )
        .get("/api/v2/transactions/{hash}/logs", logs, "The logs of a transaction.")
        .get("/api/v2/token-transfers", all_transfers, "Token transfers, newest first.")
        .named("getExplorerAllTokenTransfers")
        .get("/api/v2/internal-transactions", all_internal, "Calls that contracts made, newest first.")
}

/// Returns a page of all transactions, newest first.
pub(super) fn newest(
    render: &Render<'_>,
    before: Option<Position>,
    limit: usize,
) -> Result<IndexPage<Position>, RestError> {
    let mut page = IndexPage { items: Vec::new(), next: None };
    // The block of the position may have more transactions before it.
    let end = before.map(|before| Position { block: before.block.saturating_add(1), index: 0, part: 0 });
    let filled = render.reader.filled_blocks(&PositionRange::before(end, limit + 1))?;
    for number in filled.items {
        let Some(block) = render.reader.block(number) else { continue };
        for index in (0..block.transactions.len() as u32).rev() {
            let position = Position { block: number, index, part: 0 };
            if before.is_some_and(|before| position >= before) {
                continue;
            }
            if page.items.len() == limit {
                page.next = page.items.last().copied();
                return Ok(page);
            }
            page.items.push(position);
        }
    }
    page.next = filled.next.and_then(|_| page.items.last().copied());
    Ok(page)
}

async fn transactions(
    State(explorer): State<Explorer>,
    Query(page): Query<PageQuery>,
) -> Body<ListBody<TransactionBody>> {
    explorer
        .body(move |_, render| {
            let page = newest(render, page.position(), PAGE)?;
            let items = render.transactions(&page)?;
            Ok(ListBody { next_page_params: NextPage::after(page.next, items.len()), items })
        })
        .await
}

/// Returns the block of a transaction, and its index there.
fn find(render: &Render<'_>, path: &TransactionPath) -> Result<(Arc<Block>, usize), RestError> {
    let hash = path.hash.0;
    render.reader.transaction(hash).ok_or_else(|| RestError::NotFound(format!("no transaction {hash}")))
}

async fn transaction(State(explorer): State<Explorer>, Path(path): Path<TransactionPath>) -> Body<TransactionBody> {
    explorer
        .body(move |_, render| {
            let (block, index) = find(render, &path)?;
            Ok(render.transaction(&block, index, true)?)
        })
        .await
}

/// Returns a part of a list that is at hand as a whole.
fn cut<T>(items: Vec<T>, after: Option<usize>, next: impl FnOnce(usize) -> NextPage) -> (Vec<T>, Option<NextPage>) {
    let skip = after.unwrap_or_default();
    let more = items.len() > skip.saturating_add(PAGE);
    let page: Vec<_> = items.into_iter().skip(skip).take(PAGE).collect();
    (page, more.then(|| next(skip + PAGE)))
}

async fn transfers(
    State(explorer): State<Explorer>,
    Path(path): Path<TransactionPath>,
    Query(page): Query<PageQuery>,
    Query(query): Query<KindQuery>,
) -> Body<ListBody<TransferBody>> {
    explorer
        .body(move |_, render| {
            let (block, index) = find(render, &path)?;
            let wanted = query.kinds.0;
            let all = render.transfers_of(&block, index);
            let all = all.into_iter().filter(|(_, transfer)| wanted.is_empty() || wanted.contains(&transfer.kind));
            let (page, next_page_params) = cut(all.collect(), offset(&page), |index| next_offset(&block, index));
            let items = page.iter().map(|(at, transfer)| render.transfer(&block, at, transfer));
            Ok(ListBody { items: items.collect::<Result<_, _>>()?, next_page_params })
        })
        .await
}

async fn logs(
    State(explorer): State<Explorer>,
    Path(path): Path<TransactionPath>,
    Query(page): Query<PageQuery>,
) -> Body<ListBody<LogBody>> {
    explorer
        .body(move |_, render| {
            let (block, index) = find(render, &path)?;
            let all = block.logs().filter(|at| at.transaction_index == index as u64).collect();
            let (page, next_page_params) = cut(all, offset(&page), |index| next_offset(&block, index));
            Ok(ListBody { items: page.iter().map(|at| render.log(&block, at)).collect(), next_page_params })
        })
        .await
}

/// The number of items of a transaction before a page.
fn offset(page: &PageQuery) -> Option<usize> {
    page.index.map(|index| usize::try_from(index.0).unwrap_or(usize::MAX))
}

fn next_offset(block: &Block, offset: usize) -> NextPage {
    NextPage {
        block_number: Some(block.number()),
        index: Some(offset as u32),
        items_count: PAGE,
        ..NextPage::default()
    }
}

/// Returns a page of the internal calls of one transaction, or of a block, in order.
pub(super) fn internal_within(
    render: &Render<'_>,
    block: &Block,
    index: Option<usize>,
    page: &InternalPageQuery,
) -> Result<ListBody<InternalBody>, RestError> {
    let start =
        |index: u64| Position { block: block.number(), index: u32::try_from(index).unwrap_or(u32::MAX), part: 0 };
    let (from, before) = match index {
        Some(index) => (start(index as u64), start(index as u64 + 1)),
        None => (start(0), Position { block: block.number() + 1, ..Position::default() }),
    };
    let after = page.block.map(|_| {
        let given = page.range().before;
        Position { part: given.part.saturating_add(1), ..given }
    });
    let from = after.map_or(from, |after| after.max(from));
    let range = PositionRange { from, before, order: Order::OldestFirst, skip: 0, limit: PAGE };
    let page = render.reader.internal_calls(None, &range)?;
    let items: Vec<_> = page.items.iter().filter_map(|found| render.internal(found)).collect();
    Ok(ListBody { next_page_params: NextPage::after_internal(page.next, items.len()), items })
}

async fn internal(
    State(explorer): State<Explorer>,
    Path(path): Path<TransactionPath>,
    Query(page): Query<InternalPageQuery>,
) -> Body<ListBody<InternalBody>> {
    explorer
        .body(move |_, render| {
            let (block, index) = find(render, &path)?;
            internal_within(render, &block, Some(index), &page)
        })
        .await
}

async fn all_transfers(
    State(explorer): State<Explorer>,
    Query(page): Query<PageQuery>,
) -> Body<ListBody<TransferBody>> {
    explorer
        .body(move |_, render| {
            let page = render.reader.transfers(None, &TransferRole::default(), &page.range())?;
            let items = render.transfers(&page)?;
            Ok(ListBody { next_page_params: NextPage::after(page.next, items.len()), items })
        })
        .await
}

async fn all_internal(
    State(explorer): State<Explorer>,
    Query(page): Query<InternalPageQuery>,
) -> Body<ListBody<InternalBody>> {
    explorer
        .body(move |_, render| {
            let page = render.reader.internal_calls(None, &page.range())?;
            let items: Vec<_> = page.items.iter().filter_map(|found| render.internal(found)).collect();
            Ok(ListBody { next_page_params: NextPage::after_internal(page.next, items.len()), items })
        })
        .await
}

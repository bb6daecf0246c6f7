//! Routes about blocks.

use std::sync::Arc;

use axum::extract::State;

use super::{
    bodies::{BlockBody, InternalBody, ListBody, NextPage, TransactionBody},
    parameters::{BlockName, BlockPath, InternalPageQuery, PAGE, PageQuery},
    render::Render,
    rest::{Body, Explorer},
    transactions::internal_within,
};
use crate::{
    block::Block,
    index::Position,
    web::{Api, Path, Query, RestError},
};

pub(super) fn routes(api: Api<Explorer>) -> Api<Explorer> {
    api.get("/api/v2/blocks", blocks, "Blocks, newest first.")
        .get("/api/v2/blocks/{block}", block, "A block by its number or hash.")
        .get("/api/v2/blocks/{block}/transactions", transactions, "The transactions of a block, last first.")
        .get(
            "/api/v2/blocks/{block}/internal-transactions",
            internal,
            "The calls that contracts made in a block, in order.",
        )
        .get("/api/v2/main-page/blocks", newest_blocks, "The four newest blocks.")
        .get("/api/v2/main-page/transactions", newest_transactions, "The six newest transactions.")
}

/// Returns the newest blocks before a number.
fn newest(render: &Render<'_>, before: u64, count: usize) -> Vec<Arc<Block>> {
    let reader = render.reader;
    let first = reader.oldest().min(reader.head.number());
    let numbers = (first..before.min(reader.head.number() + 1)).rev();
    // The genesis block is there, whatever the node has dropped.
    let genesis = reader.head.genesis.number();
    let all = numbers.chain((genesis < first && genesis < before).then_some(genesis));
    all.filter_map(|number| reader.block(number)).take(count).collect()
}

async fn blocks(State(explorer): State<Explorer>, Query(page): Query<PageQuery>) -> Body<ListBody<BlockBody>> {
    explorer
        .body(move |_, render| {
            let before = page.block.map_or(u64::MAX, |block| block.0);
            let mut found = newest(render, before, PAGE + 1);
            let more = found.len() > PAGE;
            found.truncate(PAGE);
            let next_page_params = found.last().filter(|_| more).map(|last| NextPage {
                block_number: Some(last.number()),
                items_count: found.len(),
                ..NextPage::default()
            });
            Ok(ListBody { items: found.iter().map(|block| render.block(block)).collect(), next_page_params })
        })
        .await
}

/// Returns the block that a path names.
fn find(render: &Render<'_>, path: &BlockPath) -> Result<Arc<Block>, RestError> {
    let found = match path.block {
        BlockName::Number(number) => render.reader.block(number),
        BlockName::Hash(hash) => render.reader.block_by_hash(hash),
    };
    found.ok_or_else(|| match path.block {
        BlockName::Number(number) => RestError::NotFound(format!("no block {number}")),
        BlockName::Hash(hash) => RestError::NotFound(format!("no block {hash}")),
    })
}

async fn block(State(explorer): State<Explorer>, Path(path): Path<BlockPath>) -> Body<BlockBody> {
    explorer.body(move |_, render| Ok(render.block(&*find(render, &path)?))).await
}

async fn transactions(
    State(explorer): State<Explorer>,
    Path(path): Path<BlockPath>,
    Query(page): Query<PageQuery>,
) -> Body<ListBody<TransactionBody>> {
    explorer
        .body(move |_, render| {
            let block = find(render, &path)?;
            let before = page.index.map_or(usize::MAX, |index| usize::try_from(index.0).unwrap_or(usize::MAX));
            let all = (0..block.transactions.len().min(before)).rev();
            let wanted: Vec<_> = all.take(PAGE).collect();
            let last = wanted.last().copied().filter(|last| *last > 0);
            let items = wanted.iter().map(|index| render.transaction(&block, *index, false));
            let items: Vec<_> = items.collect::<Result<_, _>>()?;
            let position = last.map(|index| Position { block: block.number(), index: index as u32, part: 0 });
            Ok(ListBody { next_page_params: NextPage::after(position, items.len()), items })
        })
        .await
}

async fn internal(
    State(explorer): State<Explorer>,
    Path(path): Path<BlockPath>,
    Query(page): Query<InternalPageQuery>,
) -> Body<ListBody<InternalBody>> {
    explorer
        .body(move |_, render| {
            let block = find(render, &path)?;
            internal_within(render, &block, None, &page)
        })
        .await
}

async fn newest_blocks(State(explorer): State<Explorer>) -> Body<Vec<BlockBody>> {
    explorer.body(|_, render| Ok(newest(render, u64::MAX, 4).iter().map(|block| render.block(block)).collect())).await
}

async fn newest_transactions(State(explorer): State<Explorer>) -> Body<Vec<TransactionBody>> {
    explorer
        .body(|_, render| {
            let page = super::transactions::newest(render, None, 6)?;
            Ok(render.transactions(&page)?)
        })
        .await
}

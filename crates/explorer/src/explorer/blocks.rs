//! Routes about blocks.

use std::sync::Arc;

use axum::extract::State;
use tetrad_primitives::block::Block;
use tetrad_web::{Api, Path, Query, RestError};

use super::{
    bodies::{BlockBody, InternalBody, NextPage, TransactionBody},
    filters::{
        BlockInternalQuery, BlockKind, BlockQuery, BlockTransactionQuery, TransactionFilter,
    },
    page::{ArrayBody, Filters, PAGE, Page},
    parameters::{BlockName, BlockPath, InternalPageQuery, PageQuery},
    render::Render,
    rest::{Body, Explorer, List},
    transactions::{internal_within, listed},
};
use crate::index::Position;

pub(super) fn routes(api: Api<Explorer>) -> Api<Explorer> {
    api.get("/api/v2/blocks", blocks, "Blocks, newest first.")
        .get(
            "/api/v2/blocks/{block}",
            block,
            "A block by its number or hash.",
        )
        .get(
            "/api/v2/blocks/{block}/transactions",
            transactions,
            "The transactions of a block, last first.",
        )
        .get(
            "/api/v2/blocks/{block}/internal-transactions",
            internal,
            "The calls that contracts made in a block, in order.",
        )
        .get(
            "/api/v2/main-page/blocks",
            newest_blocks,
            "The four newest blocks.",
        )
        .get(
            "/api/v2/main-page/transactions",
            newest_transactions,
            "The six newest transactions.",
        )
}

/// The newest blocks before a number.
fn newest<'a>(render: &'a Render<'_>, before: u64) -> impl Iterator<Item = Arc<Block>> + 'a {
    let reader = render.reader;
    let first = reader.oldest().min(reader.head.number());
    let numbers = (first..before.min(reader.head.number() + 1)).rev();

    // The genesis block is there, whatever the node has dropped.
    let genesis = reader.head.genesis.number();
    let all = numbers.chain((genesis < first && genesis < before).then_some(genesis));
    all.filter_map(|number| reader.block(number))
}

/// Adds the newest blocks before a number.
fn fill(render: &Render<'_>, before: u64, page: &mut Page<u64>) -> Result<(), RestError> {
    for block in newest(render, before) {
        if page
            .push(block.number(), || {
                Ok::<_, RestError>(Some(render.block(&block)))
            })?
            .is_break()
        {
            break;
        }
    }
    Ok(())
}

async fn blocks(
    State(explorer): State<Explorer>,
    Query(position): Query<PageQuery>,
    Query(query): Query<BlockQuery>,
    filters: Filters,
) -> List<BlockBody> {
    explorer
        .read(move |_, render| {
            let mut page = Page::new(PAGE);
            if query.kind == BlockKind::Block {
                fill(
                    render,
                    position.block.map_or(u64::MAX, |block| block.0),
                    &mut page,
                )?;
            }
            page.finish(filters, |number| NextPage {
                block_number: Some(number),
                ..NextPage::default()
            })
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
    explorer
        .body(move |_, render| Ok(render.block(&*find(render, &path)?)))
        .await
}

async fn transactions(
    State(explorer): State<Explorer>,
    Path(path): Path<BlockPath>,
    Query(position): Query<PageQuery>,
    Query(query): Query<BlockTransactionQuery>,
    filters: Filters,
) -> List<TransactionBody> {
    let filter = TransactionFilter::of_types(query.types);
    explorer
        .read(move |_, render| {
            let block = find(render, &path)?;
            let before = position.index.map_or(usize::MAX, |index| {
                usize::try_from(index.0).unwrap_or(usize::MAX)
            });

            let mut page = Page::new(PAGE);
            for index in (0..block.transactions.len().min(before)).rev() {
                let position = Position {
                    block: block.number(),
                    index: index as u32,
                    part: 0,
                };
                if page
                    .push(position, || listed(render, &block, index, &filter))?
                    .is_break()
                {
                    break;
                }
            }

            page.finish(filters, NextPage::after)
        })
        .await
}

async fn internal(
    State(explorer): State<Explorer>,
    Path(path): Path<BlockPath>,
    Query(position): Query<InternalPageQuery>,
    Query(query): Query<BlockInternalQuery>,
    filters: Filters,
) -> List<InternalBody> {
    explorer
        .read(move |_, render| {
            let block = find(render, &path)?;
            internal_within(render, &block, None, &query.filter(), &position, filters)
        })
        .await
}

async fn newest_blocks(
    State(explorer): State<Explorer>,
) -> Result<ArrayBody<BlockBody>, RestError> {
    explorer
        .read(|_, render| {
            let mut page = Page::array(4);
            fill(render, u64::MAX, &mut page)?;
            page.into_array()
        })
        .await
}

async fn newest_transactions(
    State(explorer): State<Explorer>,
) -> Result<ArrayBody<TransactionBody>, RestError> {
    explorer
        .read(|_, render| {
            let mut page = Page::array(6);
            super::transactions::newest(render, None, &TransactionFilter::none(), &mut page)?;
            page.into_array()
        })
        .await
}

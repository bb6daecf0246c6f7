//! The roots of the schema: what can be asked, and sending transactions.

use std::sync::Arc;

use alloy_primitives::U256;
use async_graphql::{Object, Result, SimpleObject};
use tetrad_chain::BlockId;

use super::{
    objects::{self, FilterCriteria, GraphBlock, GraphLog, GraphPending, GraphTransaction},
    scalars::{BigIntScalar, Bytes32Scalar, BytesScalar, LongScalar},
};
use crate::rpc::{Context, eth};

/// The maximum number of blocks of one range.
const MAX_BLOCKS: u64 = 1_000;

/// Queries.
pub(super) struct QueryRoot;

/// Changes.
pub(super) struct MutationRoot;

/// The progress of a node that catches up.
#[derive(SimpleObject)]
#[graphql(name = "SyncState")]
pub(super) struct GraphSyncState {
    /// The first block.
    starting_block: LongScalar,
    /// The newest block that the node has.
    current_block: LongScalar,
    /// The newest block that is known.
    highest_block: LongScalar,
}

/// The state that all fields share.
fn node<'c>(fields: &async_graphql::Context<'c>) -> Result<&'c Arc<Context>> {
    fields.data::<Arc<Context>>()
}

/// Refuses blocks that only the other node of a fork has.
fn check_own(context: &Context, number: u64) -> Result<()> {
    match context.fork() {
        Some(fork) if number <= fork.number => {
            Err(format!("block {number} is on the forked chain, which only JSON-RPC reads").into())
        }
        _ => Ok(()),
    }
}

/// Queries.
#[Object(name = "Query")]
impl QueryRoot {
    /// The block with a number or a hash, by default the newest; null if there is none.
    async fn block(
        &self,
        fields: &async_graphql::Context<'_>,
        number: Option<LongScalar>,
        hash: Option<Bytes32Scalar>,
    ) -> Result<Option<GraphBlock>> {
        let context = node(fields)?;
        let id = match (number, hash) {
            (Some(_), Some(_)) => return Err("only one of number or hash must be specified".into()),
            (Some(number), None) => {
                // No block has a negative number.
                let Some(number) = number.unsigned() else {
                    return Ok(None);
                };
                check_own(context, number)?;
                BlockId::Number(number)
            }
            (None, Some(hash)) => BlockId::Hash(hash.0),
            (None, None) => BlockId::Latest,
        };

        objects::block(context, id)
    }

    /// The blocks of a range, by default up to the newest.
    async fn blocks(
        &self,
        fields: &async_graphql::Context<'_>,
        from: Option<LongScalar>,
        to: Option<LongScalar>,
    ) -> Result<Vec<GraphBlock>> {
        let context = node(fields)?;
        let head = context.chain.head();

        let from = from.ok_or("from block number must be specified")?;
        let to = to.unwrap_or_else(|| head.number().into());
        if to.0 < from.0 {
            return Err("invalid from and to block combination: from > to".into());
        }
        let Some((from, to)) = from.unsigned().zip(to.unsigned()) else {
            return Err("from and to must be block numbers".into());
        };

        check_own(context, from)?;
        let to = to.min(head.number());
        if to.saturating_sub(from) >= MAX_BLOCKS {
            return Err(format!("at most {MAX_BLOCKS} blocks in a range").into());
        }

        let out_of_time = context.time_check();
        let mut blocks = Vec::new();
        for number in from..=to {
            if out_of_time() {
                return Err("execution timeout".into());
            }
            // The chain may have become shorter in the meantime.
            let Some(block) = objects::block(context, BlockId::Number(number))? else {
                break;
            };
            blocks.push(block);
        }

        Ok(blocks)
    }

    /// The pool and the block that would be sealed next.
    async fn pending(&self, fields: &async_graphql::Context<'_>) -> Result<GraphPending> {
        node(fields).map(|context| GraphPending(context.clone()))
    }

    /// The transaction with a hash, in the chain or the pool; null if it is in neither.
    async fn transaction(
        &self,
        fields: &async_graphql::Context<'_>,
        hash: Bytes32Scalar,
    ) -> Result<Option<GraphTransaction>> {
        Ok(objects::transaction(node(fields)?, hash.0))
    }

    /// The selected logs.
    async fn logs(
        &self,
        fields: &async_graphql::Context<'_>,
        filter: FilterCriteria,
    ) -> Result<Vec<GraphLog>> {
        filter.logs(node(fields)?)
    }

    /// The suggested gas price of a legacy transaction, in wei.
    async fn gas_price(&self, fields: &async_graphql::Context<'_>) -> Result<BigIntScalar> {
        let context = node(fields)?;
        let head = context.chain.head();
        let base_fee = context.chain.next_base_fee(&head).unwrap_or(0);
        Ok((eth::suggested_tip(&head) + u128::from(base_fee)).into())
    }

    /// The suggested tip per gas, in wei.
    async fn max_priority_fee_per_gas(
        &self,
        fields: &async_graphql::Context<'_>,
    ) -> Result<BigIntScalar> {
        Ok(eth::suggested_tip(&node(fields)?.chain.head()).into())
    }

    /// The progress of a node that catches up: null, since this one builds the chain itself.
    async fn syncing(&self) -> Option<GraphSyncState> {
        None
    }

    /// The chain id that transactions are signed for (EIP-155).
    #[graphql(name = "chainID")]
    async fn chain_id(&self, fields: &async_graphql::Context<'_>) -> Result<BigIntScalar> {
        Ok(BigIntScalar(U256::from(
            node(fields)?.chain.params().chain_id,
        )))
    }
}

/// Changes.
#[Object(name = "Mutation")]
impl MutationRoot {
    /// Submits a signed transaction and returns its hash.
    async fn send_raw_transaction(
        &self,
        fields: &async_graphql::Context<'_>,
        data: BytesScalar,
    ) -> Result<Bytes32Scalar> {
        let sent = eth::send_raw_transaction(node(fields)?.clone(), (data.0,)).await;
        sent.map(Bytes32Scalar)
            .map_err(|error| async_graphql::Error::new(error.message))
    }
}

//! Undoing blocks: going back, taking another way, and starting anew.

use std::{collections::HashMap, sync::Arc};

use alloy_primitives::{Address, Bytes};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::number::SmallNumber;
use crate::{
    block::{Submission, Transaction},
    chain::{BlockId, ReorgError, SubmitError},
    rpc::{
        Context, RpcError, Table,
        error::{Dialect, INVALID_PARAMS},
        eth::{TransactionRequest, estimate_apart, fill},
        params::{self, Param, Params, Shape},
    },
};

pub(super) fn methods(table: &mut Table) {
    table.wait("anvil_rollback", rollback);
    table.wait("anvil_reorg", reorg);
    for name in ["anvil_reset", "hardhat_reset"] {
        table.wait(name, reset);
    }
}

fn check_depth(context: &Context, what: &str, depth: u64) -> Result<(), RpcError> {
    let head = context.chain.head();
    let height = head.number() - head.genesis.number();
    if depth <= height {
        return Ok(());
    }
    let message = format!("{what} depth must not exceed current chain height: current height {height}, depth {depth}");
    Err(RpcError::new(INVALID_PARAMS, message))
}

/// Goes back by so many blocks, by default one. What was in them is gone.
async fn rollback(context: Arc<Context>, (depth,): (Option<SmallNumber>,)) -> Result<(), RpcError> {
    let depth = depth.map_or(1, |depth| depth.0);
    check_depth(&context, "Rollback", depth)?;
    let gone = context.chain.change(move |executor| executor.rollback(depth)).await?;
    gone.map_err(|error| RpcError::server(error.to_string()))
}

/// How many blocks to replace, and what the new ones hold: each transaction with the position of its block.
#[derive(Debug)]
struct ReorgOptions {
    depth: u64,
    transactions: Vec<(ReorgTransaction, u64)>,
}

#[derive(Debug)]
enum ReorgTransaction {
    Raw(Bytes),
    Request(Box<TransactionRequest>),
}

impl Params for ReorgOptions {
    /// In order, or, as one client library has it, by name.
    fn read(json: Option<&RawValue>, dialect: Dialect) -> Result<Self, RpcError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Named<'a> {
            #[serde(borrow)]
            depth: &'a RawValue,
            #[serde(default, alias = "tx_block_pairs")]
            tx_block_pairs: Option<&'a RawValue>,
        }
        let invalid = |what: String| RpcError::invalid_params(what);
        if let Some(json) = json.filter(|json| json.get().starts_with('{')) {
            let named: Named<'_> = serde_json::from_str(json.get()).map_err(|error| invalid(error.to_string()))?;
            let SmallNumber(depth) =
                Param::read(named.depth.get()).map_err(|what| invalid(format!("depth: {what}")))?;
            let pairs = named.tx_block_pairs.map(|pairs| Pairs::read(pairs.get())).transpose();
            let pairs = pairs.map_err(|what| invalid(format!("txBlockPairs: {what}")))?;
            return Ok(Self { depth, transactions: pairs.unwrap_or_default().0 });
        }
        let (depth, pairs) = <(SmallNumber, Option<Pairs>)>::read(json, dialect)?;
        Ok(Self { depth: depth.0, transactions: pairs.unwrap_or_default().0 })
    }

    fn shapes(dialect: Dialect) -> Vec<Shape> {
        <(SmallNumber, Option<Pairs>)>::shapes(dialect)
    }
}

#[derive(Debug, Default)]
struct Pairs(Vec<(ReorgTransaction, u64)>);

impl Param for Pairs {
    fn read(json: &str) -> Result<Self, String> {
        let pairs: Vec<(&RawValue, u64)> = serde_json::from_str(json)
            .map_err(|_| "expected an array of pairs of a transaction and the position of its block".to_owned())?;
        let read = |(transaction, block): (&RawValue, u64)| {
            Ok(match transaction.get() {
                text if text.starts_with('"') => (ReorgTransaction::Raw(Param::read(text)?), block),
                text if text.starts_with('{') => (ReorgTransaction::Request(Box::new(Param::read(text)?)), block),
                text => return Err(format!("expected a transaction, got {}", params::kind(text))),
            })
        };
        pairs.into_iter().map(read).collect::<Result<_, String>>().map(Self)
    }
}

/// Replaces the newest blocks by as many others that hold the given transactions.
async fn reorg(context: Arc<Context>, options: ReorgOptions) -> Result<(), RpcError> {
    let depth = options.depth;
    check_depth(&context, "Reorg", depth)?;
    let base = context.chain.head().number() - depth;
    let mut blocks: Vec<Vec<Transaction>> = Vec::new();
    blocks.resize_with(depth as usize, Vec::new);
    let mut nonces: HashMap<Address, u64> = HashMap::new();
    for (transaction, at) in options.transactions {
        let Some(block) = usize::try_from(at).ok().and_then(|at| blocks.get_mut(at)) else {
            let message = format!(
                "Block number for reorg tx will exceed the reorged chain height. Block number: {}",
                base.saturating_add(at).saturating_add(1)
            );
            return Err(RpcError::new(INVALID_PARAMS, message));
        };
        block.push(match transaction {
            ReorgTransaction::Raw(raw) => Submission::decode(&raw).map_err(SubmitError::from)?.transaction,
            ReorgTransaction::Request(request) => sign(&context, *request, base, &mut nonces).await?,
        });
    }
    let done = context.chain.change(move |executor| executor.reorg(blocks)).await?;
    done.map_err(|error| match error {
        ReorgError::Block(error) => error.into(),
        error @ (ReorgError::Pruned(_) | ReorgError::Transaction(_) | ReorgError::Append(_)) => {
            RpcError::server(error.to_string())
        }
    })
}

/// Fills in and signs a transaction as it could follow block `base`. Nonces go on from one request to the next.
async fn sign(
    context: &Arc<Context>,
    mut request: TransactionRequest,
    base: u64,
    nonces: &mut HashMap<Address, u64>,
) -> Result<Transaction, RpcError> {
    let from = request.from.ok_or_else(|| RpcError::invalid_params("params[1]: from: missing"))?;
    let block = BlockId::Number(base);
    let state_nonce = context.chain.view(block)?.state.get(from).map_or(0, |account| account.nonce);
    let next = nonces.entry(from).or_insert(state_nonce);
    request.nonce.get_or_insert(*next);
    *next = request.nonce.map_or(0, |nonce| nonce.saturating_add(1));
    let gas = match request.gas {
        Some(gas) => gas,
        None => estimate_apart(context.clone(), request.clone(), Some(block)).await?,
    };
    Ok(context.keyring.sign(from, fill(context, request, from, gas)?)?)
}

/// What `anvil_reset` takes: nothing, or what to fork from.
#[derive(Debug, Default)]
struct ResetOptions {
    forks: bool,
}

impl Param for ResetOptions {
    const DEFAULT: Option<fn() -> Self> = Some(Self::default);

    fn read(json: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Object<'a> {
            #[serde(borrow)]
            forking: Option<&'a RawValue>,
        }
        let object: Object<'_> = params::shape(json)?;
        // Clients that mean no fork still send an object, with nothing in it.
        let members: serde_json::Map<String, serde_json::Value> =
            object.forking.map_or(Ok(None), |forking| params::shape(forking.get()))?.unwrap_or_default();
        Ok(Self { forks: members.values().any(|value| !value.is_null()) })
    }
}

/// Starts anew with the first block: without transactions, snapshots, impersonation and everything that development
/// methods decided.
async fn reset(context: Arc<Context>, (options,): (ResetOptions,)) -> Result<(), RpcError> {
    if options.forks {
        return Err(RpcError::server("a running node cannot begin to fork another chain; start it with --fork-url"));
    }
    context.keyring.clear_impersonated();
    Ok(context.chain.change(|executor| executor.reset()).await??)
}

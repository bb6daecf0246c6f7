//! Rollbacks, reorganisations and resets of the chain.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
};

use alloy_primitives::{Address, Bytes};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::{BlockId, Change, Head, SubmitError};
use tetrad_primitives::block::{Submission, Transaction};

use super::number::SmallNumber;
use crate::{
    fork::{ChainFork, ChainForks, ForkBlock},
    rpc::{
        Context, OnFork, RpcError, Table,
        error::{Dialect, INVALID_PARAMS},
        eth::{TransactionRequest, estimate_apart, fill, sender_of, take_sidecar},
        params::{self, Param, ParamReader, ParamRules, ParamShape, Params, Reference},
        schema,
    },
};

pub(super) fn methods(table: &mut Table) {
    table
        .change("anvil_rollback", rollback, OnFork::Node)
        .describe(
            ["blocks"],
            "Removes the newest blocks, by default one, with their transactions.",
        );

    table
        .change("debug_setHead", set_head, OnFork::Node)
        .describe(
            ["number"],
            "Removes the blocks after the one with this number, with their transactions.",
        );

    table.change("anvil_reorg", reorg, OnFork::Node).describe(
        ["depth", "transactions"],
        "Replaces the newest blocks by as many new ones with the given transactions, each \
         with the position of its block.",
    );

    table
        .change("anvil_reset", reset, OnFork::Node)
        .aliases(&["hardhat_reset"])
        .describe(
            ["options"],
            "Resets the chain to its first block or, with `{\"forking\": {\"jsonRpcUrl\": …, \
             \"blockNumber\": …}}`, with a block of another node's chain.",
        );

    table
        .read("anvil_setRpcUrl", set_rpc_url, OnFork::Node)
        .changes_state()
        .describe(
            ["url"],
            "Changes the URL of the forked node; has no effect without a fork.",
        );
}

/// The number of the block below the newest `depth` ones.
fn below(head: &Head, what: &str, depth: u64) -> Result<u64, RpcError> {
    let height = head.number() - head.genesis.number();
    if depth <= height {
        return Ok(head.number() - depth);
    }

    let message = format!(
        "{what} depth must not exceed current chain height: current height {height}, depth {depth}"
    );
    Err(RpcError::new(INVALID_PARAMS, message))
}

/// Removes the newest blocks, by default one, with their transactions.
async fn rollback(context: Arc<Context>, (depth,): (Option<SmallNumber>,)) -> Result<(), RpcError> {
    let depth = depth.map_or(1, |depth| depth.0);
    below(&context.chain.head(), "Rollback", depth)?;
    context.chain.change(Change::Rollback { depth }).await?;
    Ok(())
}

/// Removes the blocks after the one with this number.
async fn set_head(context: Arc<Context>, (number,): (SmallNumber,)) -> Result<(), RpcError> {
    let head = context.chain.head();
    let depth = head
        .number()
        .checked_sub(number.0)
        .filter(|depth| *depth > 0)
        .ok_or_else(|| RpcError::server("not allowed to rewind to a future block"))?;
    below(&head, "Rollback", depth)?;

    // By number, not by depth: another block may be sealed in the meantime.
    context.chain.change(Change::Rewind(number.0)).await?;
    Ok(())
}

/// The number of blocks to replace and the transactions of the new ones, each with the position of
/// its block.
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

impl ReorgTransaction {
    /// Reads a signed transaction, or a request to sign one.
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        if json.starts_with('"') {
            Ok(Self::Raw(Param::read(json, rules)?))
        } else if json.starts_with('{') {
            Ok(Self::Request(Box::new(Param::read(json, rules)?)))
        } else {
            Err(format!(
                "expected a transaction, got {}",
                params::kind(json)
            ))
        }
    }
}

/// The parameters of `anvil_reorg` by name.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamedParams<'a> {
    #[serde(borrow)]
    depth: &'a RawValue,
    #[serde(default, alias = "tx_block_pairs")]
    tx_block_pairs: Option<&'a RawValue>,
}

impl ReorgOptions {
    fn read_named(json: &RawValue, rules: ParamRules) -> Result<Self, RpcError> {
        let named: NamedParams<'_> = serde_json::from_str(json.get())
            .map_err(|error| RpcError::invalid_params(error.to_string()))?;

        let SmallNumber(depth) = Param::read(named.depth.get(), rules)
            .map_err(|what| RpcError::invalid_params(format!("depth: {what}")))?;
        let pairs = named
            .tx_block_pairs
            .map(|pairs| Pairs::read(pairs.get(), rules))
            .transpose()
            .map_err(|what| RpcError::invalid_params(format!("txBlockPairs: {what}")))?;

        Ok(Self {
            depth,
            transactions: pairs.unwrap_or_default().0,
        })
    }
}

impl Params for ReorgOptions {
    type Names = <(SmallNumber, Option<Pairs>) as Params>::Names;

    /// Parameters by position or, as one client library sends them, by name.
    fn read(json: Option<&RawValue>, rules: ParamRules) -> Result<Self, RpcError> {
        if let Some(json) = json.filter(|json| json.get().starts_with('{')) {
            return Self::read_named(json, rules);
        }

        let (depth, pairs) = <(SmallNumber, Option<Pairs>)>::read(json, rules)?;
        Ok(Self {
            depth: depth.0,
            transactions: pairs.unwrap_or_default().0,
        })
    }

    fn shapes(dialect: Dialect) -> Vec<ParamShape> {
        <(SmallNumber, Option<Pairs>)>::shapes(dialect)
    }

    fn references() -> Vec<Option<Reference>> {
        <(SmallNumber, Option<Pairs>)>::references()
    }

    fn readers() -> Vec<ParamReader> {
        let mut readers = <(SmallNumber, Option<Pairs>)>::readers();
        readers.push(ParamReader::of_all::<Self>());
        readers
    }
}

#[derive(Debug, Default)]
struct Pairs(Vec<(ReorgTransaction, u64)>);

impl Param for Pairs {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let pairs: Vec<(&RawValue, u64)> = serde_json::from_str(json).map_err(|_| {
            "expected an array of pairs of a transaction and the position of its block".to_owned()
        })?;

        pairs
            .into_iter()
            .map(|(json, block)| Ok((ReorgTransaction::read(json.get(), rules)?, block)))
            .collect::<Result<_, String>>()
            .map(Self)
    }

    fn schema() -> Value {
        let transaction = json!({"anyOf": [Bytes::schema(), TransactionRequest::schema()]});
        let block = json!({"type": "integer", "minimum": 0});
        let pair = json!({
            "type": "array",
            "prefixItems": [transaction, block],
            "minItems": 2,
            "maxItems": 2,
        });
        schema::array(pair)
    }
}

/// Replaces the newest blocks by as many new ones with the given transactions.
async fn reorg(context: Arc<Context>, options: ReorgOptions) -> Result<(), RpcError> {
    let depth = options.depth;
    let base = below(&context.chain.head(), "Reorg", depth)?;

    let mut blocks: Vec<Vec<Transaction>> = Vec::new();
    // `below` has checked that the depth is at most the height.
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
            ReorgTransaction::Raw(raw) => {
                Submission::decode(&raw)
                    .map_err(SubmitError::from)?
                    .transaction
            }
            ReorgTransaction::Request(request) => {
                sign(&context, *request, base, &mut nonces).await?
            }
        });
    }

    context.chain.change(Change::Reorg { blocks }).await?;
    Ok(())
}

/// Fills in and signs a transaction that can follow block `base`. Nonces continue from one request
/// to the next.
async fn sign(
    context: &Arc<Context>,
    mut request: TransactionRequest,
    base: u64,
    nonces: &mut HashMap<Address, u64>,
) -> Result<Transaction, RpcError> {
    let from = sender_of(context, &mut request)
        .ok_or_else(|| RpcError::invalid_params("params[1]: from: missing"))?;
    let block = BlockId::Number(base);

    let state_nonce = context.chain.view(block)?.state.nonce(from)?;
    let next = nonces.entry(from).or_insert(state_nonce);
    request.nonce.get_or_insert(*next);
    *next = request.nonce.map_or(0, |nonce| nonce.saturating_add(1));

    // Blocks do not hold blobs.
    take_sidecar(context, &mut request).await?;
    let gas = match request.gas {
        Some(gas) => gas,
        None => estimate_apart(context.clone(), request.clone(), Some(block)).await?,
    };

    Ok(context
        .keyring
        .sign(from, fill(context, request, from, gas)?)?)
}

/// The parameter of `anvil_reset`: nothing, or the chain to fork.
#[derive(Debug, Default)]
struct ResetOptions {
    forking: Option<Forking>,
}

/// The chain to fork: by default the newest block of the current fork's.
#[derive(Debug)]
struct Forking {
    url: Option<reqwest::Url>,
    block: Option<u64>,
}

#[derive(Deserialize)]
struct ResetObject<'a> {
    #[serde(borrow)]
    forking: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ForkingObject<'a> {
    #[serde(borrow)]
    json_rpc_url: Option<&'a RawValue>,
    block_number: Option<&'a RawValue>,
}

impl Param for ResetOptions {
    const DEFAULT: Option<fn() -> Self> = Some(Self::default);

    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let object: ResetObject<'_> = params::shape(json)?;
        let Some(fork) = object
            .forking
            .map(|forking| params::fields::<ForkingObject<'_>>(forking.get()))
            .transpose()?
        else {
            return Ok(Self::default());
        };

        let url = fork
            .json_rpc_url
            .map(|url| read_url(url.get()))
            .transpose()
            .map_err(|what| format!("forking.jsonRpcUrl: {what}"))?;
        let block = fork
            .block_number
            .map(|number| SmallNumber::read(number.get(), rules))
            .transpose()
            .map_err(|what| format!("forking.blockNumber: {what}"))?
            .map(|number| number.0);

        Ok(Self {
            forking: Some(Forking { url, block }),
        })
    }

    fn schema() -> Value {
        let fork = schema::options([
            ("jsonRpcUrl", RpcUrl::schema()),
            ("blockNumber", SmallNumber::schema()),
        ]);
        schema::options([("forking", fork)])
    }
}

/// Parses the HTTP URL of a node.
fn read_url(json: &str) -> Result<reqwest::Url, String> {
    let url: reqwest::Url = params::string(json)?
        .parse()
        .map_err(|error| format!("expected a URL ({error})"))?;

    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(format!(
            "expected a URL that begins with http:// or https://, got {other}://"
        )),
    }
}

/// A URL parameter.
struct RpcUrl(reqwest::Url);

impl Param for RpcUrl {
    fn read(json: &str, _: ParamRules) -> Result<Self, String> {
        read_url(json).map(Self)
    }

    fn schema() -> Value {
        json!({"type": "string"})
    }
}

/// Changes the URL of the forked node. Has no effect without a fork.
fn set_rpc_url(context: &Context, (url,): (RpcUrl,)) -> Result<(), RpcError> {
    if let Some(fork) = context.fork() {
        fork.client.set_url(url.0);
    }
    Ok(())
}

/// The head of a chain that a reset begins with.
struct FirstHead {
    head: Head,
    gas_limit: u64,
    fork: Option<Arc<ChainFork>>,
}

impl FirstHead {
    /// The head of a fork. Blocks until the other node has answered.
    fn forked(forks: &ChainForks, Forking { url, block }: Forking) -> Result<Self, RpcError> {
        let block = block.map_or(ForkBlock::Latest, ForkBlock::Number);
        let (head, fork) = forks
            .begin(url, block)
            .map_err(|error| RpcError::server(error.to_string()))?;
        Ok(Self {
            head,
            gas_limit: fork.gas_limit,
            fork: Some(fork),
        })
    }

    /// The head of the node's own chain.
    fn own(forks: &ChainForks, gas_limit: u64) -> Result<Self, RpcError> {
        Ok(Self {
            head: forks.own().map_err(RpcError::internal)?,
            gas_limit,
            fork: None,
        })
    }
}

/// Resets the chain to its first block, without transactions, snapshots, impersonation and other
/// effects of development methods. The first block is the forked one, or else the node's own.
async fn reset(context: Arc<Context>, (options,): (ResetOptions,)) -> Result<(), RpcError> {
    begin_again(&context, options).await?;
    context.resets.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

async fn begin_again(context: &Context, options: ResetOptions) -> Result<(), RpcError> {
    let Some(forks) = context.forks.clone() else {
        return start_anew(context).await;
    };

    // Some clients send an empty object for no fork.
    let names_fork = options
        .forking
        .as_ref()
        .is_some_and(|forking| forking.url.is_some() || forking.block.is_some());
    if !names_fork && forks.current().is_none() {
        return start_anew(context).await;
    }

    let begin = {
        let forks = forks.clone();
        let own_gas_limit = context.config.gas_limit;
        move || match options.forking {
            Some(forking) => FirstHead::forked(&forks, forking),
            None => FirstHead::own(&forks, own_gas_limit),
        }
    };
    let FirstHead {
        head,
        gas_limit,
        fork,
    } = context.apart_for_caller(begin).await?;

    let chain = context.chain.clone();
    // The reset completes even if the connection closes: chain and fork have to change together.
    let restart = tokio::spawn(async move {
        let restarted = chain
            .change(Change::Restart {
                head: Box::new(head),
                gas_limit,
            })
            .await;
        restarted.map(|_| forks.set(fork))
    });

    Ok(restart
        .await
        .map_err(|error| RpcError::internal(error.to_string()))??)
}

async fn start_anew(context: &Context) -> Result<(), RpcError> {
    context.chain.change(Change::Reset).await?;
    Ok(())
}

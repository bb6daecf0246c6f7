//! Forwarding on a fork: requests about the other chain's blocks go to the other node.
//!
//! The blocks up to the forked one are the other chain's, with everything that was ever in them;
//! this node has none of it. Requests about them are forwarded unchanged, except that tags become
//! numbers, and the answer is returned as it is. The other chain's later blocks are not part of
//! this one.

use std::{fmt, sync::Arc};

use alloy_primitives::{B256, U64, U128};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error, SeqAccess, Visitor},
};
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::{BlockId, Head};
use tetrad_web::Answer;

use super::{
    Context, RpcError,
    params::{Param, ParamRules, Reference},
};
use crate::fork::{ChainFork, ForkAnswer};

/// The routing of a method's requests on a fork.
///
/// Other methods than the forwarded ones are answered by the fork itself, and their registration
/// gives the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnFork {
    /// Forwards requests about a block up to the forked one.
    Block,
    /// Forwards requests about the state after a block before the forked one.
    State,
    /// Forwards requests about a transaction in a block up to the forked one.
    Transaction,
    /// Forwards requests about a range of blocks up to the forked one.
    Range,
    /// Answered here: the handler requests the other node's part and joins both.
    Joined,
    /// Answered here: the method is about the node, its keys, its newest state or its next block,
    /// or it changes them.
    Node,
    /// Answered here: the method is about data that the node holds outside of the chain, such as
    /// the pool and blobs.
    Kept,
    /// Answered here: the method searches or extends the blocks that the node holds, and has no
    /// block parameter that divides its answer between two nodes.
    OwnBlocks,
}

impl OnFork {
    /// How requests are forwarded whose parameters refer to these things; none if they are not
    /// forwarded.
    pub(super) fn forward(self, references: &[Option<Reference>]) -> Option<Forward> {
        let at = match self {
            // Methods that take a block by hash only have no other reference to it.
            Self::Block => position(references, Reference::Block)
                .or_else(|| position(references, Reference::Hash)),
            Self::State => position(references, Reference::Block),
            Self::Transaction => position(references, Reference::Hash),
            Self::Range => position(references, Reference::Range),
            Self::Joined | Self::Node | Self::Kept | Self::OwnBlocks => None,
        };
        at.map(|at| Forward { subject: self, at })
    }
}

/// The position of the first parameter with this reference.
fn position(references: &[Option<Reference>], wanted: Reference) -> Option<usize> {
    references
        .iter()
        .position(|reference| *reference == Some(wanted))
}

/// The subject of forwarded requests, and the position of the parameter that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Forward {
    subject: OnFork,
    at: usize,
}

/// The other node's answer, if the request is about its chain. Blocks until it is there.
pub(super) fn answer(
    context: &Context,
    fork: &ChainFork,
    method: &str,
    Forward { subject, at }: Forward,
    rules: ParamRules,
    params: Option<&RawValue>,
) -> Result<Option<Answer>, RpcError> {
    // Invalid parameters are refused by the method itself.
    let Some(Ok(mut params)) =
        params.map(|params| serde_json::from_str::<Vec<Value>>(params.get()))
    else {
        return Ok(None);
    };

    let forwarder = Forwarder {
        context,
        fork,
        head: context.chain.head(),
        rules,
    };
    let is_there = match subject {
        OnFork::Block => forwarder.place_block(&mut params, at, |number| number <= fork.number)?,
        // This node has the state after the forked block itself.
        OnFork::State => forwarder.place_block(&mut params, at, |number| number < fork.number)?,
        OnFork::Transaction => forwarder.has_transaction(params.get(at))?,
        OnFork::Range => forwarder.has_range(params.get_mut(at))?,
        OnFork::Joined | OnFork::Node | OnFork::Kept | OnFork::OwnBlocks => false,
    };
    if !is_there {
        return Ok(None);
    }

    let answer = call(fork, method, &Value::Array(params))?;
    Ok(Some(answer.into_answer()))
}

/// Calls `take` with the logs of the other chain's blocks from `from` to `to` that match a filter,
/// as JSON objects in order.
pub(super) fn logs(
    fork: &ChainFork,
    mut filter: Value,
    from: u64,
    to: u64,
    take: impl FnMut(&str) -> Result<(), RpcError>,
) -> Result<(), RpcError> {
    filter["fromBlock"] = json!(U64::from(from));
    filter["toBlock"] = json!(U64::from(to));
    let answer = call(fork, "eth_getLogs", &json!([filter]))?;

    let mut items = Items {
        take,
        refused: None,
    };
    let read = serde_json::Deserializer::from_slice(answer.json()).deserialize_seq(&mut items);

    // First, because a refusal also makes reading fail.
    if let Some(error) = items.refused {
        return Err(error);
    }
    read.map_err(|_| RpcError::server("the forked node's result of eth_getLogs is not an array"))
}

/// Takes the items of an array one by one: all of them together would take far more memory than
/// their JSON.
struct Items<F> {
    take: F,
    /// The error that ended it.
    refused: Option<RpcError>,
}

impl<'de, F: FnMut(&str) -> Result<(), RpcError>> Visitor<'de> for &mut Items<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<&RawValue>()? {
            (self.take)(item.get()).map_err(|error| {
                let shown = A::Error::custom(&error.message);
                self.refused = Some(error);
                shown
            })?;
        }
        Ok(())
    }
}

/// The other node's part of a fee history. All lists have an element for each of its blocks, those
/// of fees one more.
pub(super) struct ForkedFeeHistory {
    pub(super) oldest_block: u64,
    pub(super) reward: Option<Vec<Vec<u128>>>,
    pub(super) base_fee_per_gas: Vec<u128>,
    pub(super) gas_used_ratio: Vec<f64>,
    pub(super) base_fee_per_blob_gas: Vec<u128>,
    pub(super) blob_gas_used_ratio: Vec<f64>,
}

/// The fee history of the other chain's `count` blocks up to `newest`, or of the newest of them if
/// the other node has no older ones.
pub(super) fn fee_history(
    fork: &ChainFork,
    count: u64,
    newest: u64,
    percentiles: &[f64],
) -> Result<ForkedFeeHistory, RpcError> {
    let params = json!([U64::from(count), U64::from(newest), percentiles]);
    let answer = call(fork, "eth_feeHistory", &params)?;

    let raw: RawFeeHistory = answer.read().map_err(|_| wrong_fee_history())?;
    let has_rewards = !percentiles.is_empty();
    let history = ForkedFeeHistory::of(raw, has_rewards);
    if !history.is_whole(count, newest, has_rewards) {
        return Err(wrong_fee_history());
    }
    Ok(history)
}

fn wrong_fee_history() -> RpcError {
    RpcError::server(
        "the forked node's result of eth_feeHistory is not one of the blocks asked for",
    )
}

/// The result of `eth_feeHistory`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawFeeHistory {
    oldest_block: U64,
    reward: Option<Vec<Vec<U128>>>,
    base_fee_per_gas: Vec<U128>,
    gas_used_ratio: Vec<f64>,
    base_fee_per_blob_gas: Option<Vec<U128>>,
    blob_gas_used_ratio: Option<Vec<f64>>,
}

impl ForkedFeeHistory {
    fn of(raw: RawFeeHistory, has_rewards: bool) -> Self {
        let blocks = raw.gas_used_ratio.len();
        Self {
            oldest_block: raw.oldest_block.to(),
            reward: raw
                .reward
                .filter(|_| has_rewards)
                .map(|blocks| blocks.into_iter().map(numbers).collect()),
            base_fee_per_gas: numbers(raw.base_fee_per_gas),
            gas_used_ratio: raw.gas_used_ratio,
            // Nodes of chains without blobs leave these out.
            base_fee_per_blob_gas: raw
                .base_fee_per_blob_gas
                .map_or_else(|| vec![0; blocks + 1], numbers),
            blob_gas_used_ratio: raw.blob_gas_used_ratio.unwrap_or_else(|| vec![0.0; blocks]),
        }
    }

    /// Whether it is one of at most `count` blocks up to `newest`, with a value in every list for
    /// each of them.
    fn is_whole(&self, count: u64, newest: u64, has_rewards: bool) -> bool {
        let blocks = self.gas_used_ratio.len();
        (1..=count).contains(&(blocks as u64))
            && self.oldest_block == newest + 1 - blocks as u64
            && self.reward.as_ref().map(Vec::len) == has_rewards.then_some(blocks)
            && self.base_fee_per_gas.len() == blocks + 1
            && self.base_fee_per_blob_gas.len() == blocks + 1
            && self.blob_gas_used_ratio.len() == blocks
    }
}

fn numbers(numbers: Vec<U128>) -> Vec<u128> {
    numbers.into_iter().map(|number| number.to()).collect()
}

/// The number of a block of the other chain, by its hash; none if this chain does not have it.
pub(super) fn block_number(fork: &ChainFork, hash: B256) -> Result<Option<u64>, RpcError> {
    #[derive(Deserialize)]
    struct Numbered {
        number: Option<U64>,
    }

    let method = "eth_getBlockByHash";
    let found: Option<Numbered> = read(&call(fork, method, &json!([hash, false]))?, method)?;
    Ok(own_number(fork, found.and_then(|block| block.number)))
}

/// The number of the other chain's block that a transaction is in; none if this chain does not have
/// that block.
fn block_of_transaction(fork: &ChainFork, hash: B256) -> Result<Option<u64>, RpcError> {
    #[derive(Deserialize)]
    struct Included {
        #[serde(rename = "blockNumber")]
        block_number: Option<U64>,
    }

    let method = "eth_getTransactionByHash";
    let found: Option<Included> = read(&call(fork, method, &json!([hash]))?, method)?;
    let number = found.and_then(|transaction| transaction.block_number);
    Ok(own_number(fork, number))
}

/// The number of a block, if it is one of this chain.
fn own_number(fork: &ChainFork, number: Option<U64>) -> Option<u64> {
    number
        .map(|number| number.to())
        .filter(|number| *number <= fork.number)
}

fn call(fork: &ChainFork, method: &str, params: &Value) -> Result<ForkAnswer, RpcError> {
    Ok(fork.call(method, params)?)
}

fn read<T: DeserializeOwned>(answer: &ForkAnswer, method: &str) -> Result<T, RpcError> {
    answer
        .read()
        .map_err(|error| RpcError::server(format!("the forked node's result of {method}: {error}")))
}

struct Forwarder<'a> {
    context: &'a Context,
    fork: &'a ChainFork,
    head: Arc<Head>,
    rules: ParamRules,
}

impl Forwarder<'_> {
    /// Whether the block that a parameter names belongs to the other chain. A tag that means
    /// another block there, or a JSON integer, is replaced by the quantity.
    fn place_block(
        &self,
        params: &mut [Value],
        at: usize,
        is_there: impl Fn(u64) -> bool,
    ) -> Result<bool, RpcError> {
        let Some(param) = params.get_mut(at) else {
            return Ok(false);
        };
        let Ok(id) = BlockId::read(&param.to_string(), self.rules) else {
            return Ok(false);
        };

        let number = match id {
            // The pending block is this node's own.
            BlockId::Pending => return Ok(false),
            BlockId::Earliest => 0,
            BlockId::Number(number) => number,
            BlockId::Latest | BlockId::Safe | BlockId::Finalized => self.tagged(id),
            BlockId::Hash(hash) => match self.context.chain.number(&self.head, id) {
                Some(number) => number,
                None => match block_number(self.fork, hash)? {
                    Some(number) => number,
                    None => return Ok(false),
                },
            },
        };

        if param.is_number() || matches!(id, BlockId::Latest | BlockId::Safe | BlockId::Finalized) {
            *param = json!(U64::from(number));
        }
        Ok(is_there(number))
    }

    /// The number of the block with a tag, which depends on this node's own blocks.
    fn tagged(&self, id: BlockId) -> u64 {
        let number = self.context.chain.number(&self.head, id);
        number.unwrap_or(self.head.number())
    }

    /// Whether a transaction is in a block of the other chain.
    fn has_transaction(&self, hash: Option<&Value>) -> Result<bool, RpcError> {
        let Some(Ok(hash)) = hash.map(|hash| B256::read(&hash.to_string(), self.rules)) else {
            return Ok(false);
        };
        let chain = &self.context.chain;
        // A transaction of this node needs no request to the other one.
        if chain.pool().get(hash).is_some() || chain.transaction(&self.head, hash).is_some() {
            return Ok(false);
        }
        Ok(block_of_transaction(self.fork, hash)?.is_some())
    }

    /// Whether a range of blocks is the other chain's.
    fn has_range(&self, filter: Option<&mut Value>) -> Result<bool, RpcError> {
        let Some(filter) = filter.and_then(Value::as_object_mut) else {
            return Ok(false);
        };

        let mut numbers = [self.head.number(); 2];
        for (name, number) in ["fromBlock", "toBlock"].into_iter().zip(&mut numbers) {
            let id = filter
                .get(name)
                .filter(|id| !id.is_null())
                .map(|id| BlockId::read(&id.to_string(), self.rules));
            *number = match id {
                Some(Ok(BlockId::Number(number))) => number,
                Some(Ok(BlockId::Earliest)) => 0,
                None => self.head.number(),
                Some(Ok(id @ (BlockId::Latest | BlockId::Safe | BlockId::Finalized))) => {
                    self.tagged(id)
                }
                _ => return Ok(false),
            };
            // A tag would mean another block to the other node.
            filter.insert(name.to_owned(), json!(U64::from(*number)));
        }

        let [from, to] = numbers;
        let forked = self.fork.number;
        if to <= forked {
            Ok(true)
        } else if from > forked {
            Ok(false)
        } else {
            Err(RpcError::invalid_params(format!(
                "ask about the blocks up to {forked}, which is forked, apart from those after it"
            )))
        }
    }
}

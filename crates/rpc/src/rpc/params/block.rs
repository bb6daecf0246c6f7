//! Parameters that name a block.

use alloy_primitives::B256;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::{BlockId, Chain};

use super::{Param, ParamRules, Reach, Reference, shape, string};
use crate::rpc::{error::Dialect, hex};

/// A block parameter that clients of the network have to give (see the book, "JSON-RPC") and
/// clients of go-ethereum may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateBlock(pub BlockId);

impl Param for StateBlock {
    const DEFAULT: Option<fn() -> Self> = Some(|| Self(BlockId::Latest));
    const REFERS_TO: Option<Reference> = Some(Reference::Block);

    fn optional(dialect: Dialect) -> bool {
        dialect == Dialect::Ethereum
    }

    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        BlockId::read(json, rules).map(Self)
    }

    fn schema() -> Value {
        BlockId::schema()
    }

    fn is_far(&self, chain: &Chain, _: Reach) -> bool {
        self.0.is_far(chain, Reach::State)
    }
}

/// A [`StateBlock`] of a method that asks the pool itself for the pending state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NonceBlock(pub BlockId);

impl Param for NonceBlock {
    const DEFAULT: Option<fn() -> Self> = Some(|| Self(BlockId::Latest));
    const REFERS_TO: Option<Reference> = Some(Reference::Block);

    fn optional(dialect: Dialect) -> bool {
        StateBlock::optional(dialect)
    }

    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        BlockId::read(json, rules).map(Self)
    }

    fn schema() -> Value {
        BlockId::schema()
    }

    fn is_far(&self, chain: &Chain, _: Reach) -> bool {
        self.0 != BlockId::Pending && self.0.is_far(chain, Reach::State)
    }
}

impl Param for BlockId {
    const REFERS_TO: Option<Reference> = Some(Reference::Block);

    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        if json.starts_with('{') {
            return read_block_object(json, rules);
        }
        if rules.integer(json).is_some() {
            return u64::read(json, rules).map(Self::Number);
        }

        match &*string(json)? {
            "latest" => Ok(Self::Latest),
            "earliest" => Ok(Self::Earliest),
            "pending" => Ok(Self::Pending),
            "safe" => Ok(Self::Safe),
            "finalized" => Ok(Self::Finalized),
            // A hash in place of a number, as go-ethereum accepts it.
            text if text.len() == 66 => {
                hex::fixed_data(text, "a block hash").map(|hash| Self::Hash(hash.into()))
            }
            text => hex::quantity_u64(text).map(Self::Number).map_err(|what| {
                format!("{what}, or one of latest, earliest, pending, safe, finalized")
            }),
        }
    }

    fn schema() -> Value {
        json!({"oneOf": [
            {"enum": ["latest", "earliest", "pending", "safe", "finalized"]},
            u64::schema(),
            B256::schema(),
            {"type": "object", "properties": {
                "blockNumber": u64::schema(),
                "blockHash": B256::schema(),
                "requireCanonical": {"type": "boolean"},
            }},
        ]})
    }

    fn is_far(&self, chain: &Chain, reach: Reach) -> bool {
        !chain.is_at_hand(*self, reach == Reach::State)
    }
}

/// `{"blockNumber": …}` or `{"blockHash": …, "requireCanonical": …}` (EIP-1898).
fn read_block_object(json: &str, rules: ParamRules) -> Result<BlockId, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct BlockObject<'a> {
        #[serde(borrow)]
        block_number: Option<&'a RawValue>,
        block_hash: Option<String>,
        // Hashes find only blocks that are in the chain, so this has no effect.
        #[serde(rename = "requireCanonical")]
        _require_canonical: Option<bool>,
    }

    let object: BlockObject<'_> = shape(json)?;
    match (object.block_number, object.block_hash) {
        (Some(number), None) => BlockId::read(number.get(), rules),
        (None, Some(hash)) => {
            hex::fixed_data(&hash, "a 32-byte block hash").map(|hash| BlockId::Hash(hash.into()))
        }
        (Some(_), Some(_)) => Err("expected blockNumber or blockHash, got both".to_owned()),
        (None, None) => Err("expected an object with blockNumber or blockHash".to_owned()),
    }
}

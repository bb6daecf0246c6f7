//! Quotes of tokens, and their JSON.

use std::borrow::Cow;

use alloy_primitives::{Address, U256, hex};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer, ser::Error};
use serde_json::value::RawValue;
use tetrad_network::network::USD_DECIMALS;
use tetrad_stdx::decimal::{hundredths, shortest};

/// Everything about one token at one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    /// US dollars × 10^8 for a whole token.
    pub price: u64,
    /// When the price was set, in seconds since the Unix epoch.
    pub updated_at: u64,
    /// Whether the token is halted.
    pub halted: bool,
    /// The price's change within a day, in hundredths of a per cent.
    pub change_24h: i128,
    /// Volume of its swaps within a day, in US dollars × 10^8.
    pub volume_24h: u128,
    /// The vault's reserve of it, in its smallest unit.
    pub reserve: U256,
    /// The value of the reserve, in US dollars × 10^8.
    pub liquidity: U256,
}

/// A JSON number given as text, so that it is exact.
#[derive(Clone, Debug)]
pub(super) struct Number(String);

impl Number {
    pub(super) fn usd(usd_e8: U256) -> Self {
        Self(shortest(usd_e8, USD_DECIMALS))
    }

    pub(super) fn price(price: u64) -> Self {
        Self::usd(U256::from(price))
    }

    /// A price × 10^12, which is a whole number.
    pub(super) fn adjusted_price(price: u64) -> Self {
        Self((u128::from(price) * 10_000).to_string())
    }

    pub(super) fn percent(change: i128) -> Self {
        Self(hundredths(change))
    }
}

impl JsonSchema for Number {
    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// An address in lower case, as clients use it for a key.
pub(super) fn key(address: Address) -> String {
    hex::encode_prefixed(address)
}

/// Whether a flag is left out of the JSON: clients take a missing one for false.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub(super) fn is_false(flag: &bool) -> bool {
    !flag
}

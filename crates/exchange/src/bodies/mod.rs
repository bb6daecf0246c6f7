//! The JSON of the REST interface, in the shape that the live network's clients read.

mod current;
mod history;

use std::borrow::Cow;

use alloy_primitives::U256;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use tetrad_network::network::Token;
use tetrad_web::Rendered;

pub(super) use self::{
    current::{BodyCache, CurrentBodies},
    history::{HistoryShape, PriceHistory},
};
use super::{
    history::Bar,
    market_state::MarketState,
    query::CandleLength,
    quote::{Number, Quote, is_false, key},
};

/// A token's price.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Price")]
pub(super) struct PriceEntry<'a> {
    address: String,
    symbol: &'a str,
    name: &'a str,
    decimals: u8,
    /// US dollars.
    price: Number,
    /// Per cent.
    change24h: Number,
    /// Volume of its swaps within a day, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    volume24h: Option<Number>,
    /// When the price was set, in milliseconds since the Unix epoch.
    timestamp: u64,
    /// The price × 10^12, a whole number.
    #[serde(rename = "adjustedPrice")]
    adjusted_price: Number,
    /// When the price was set, in seconds since the Unix epoch.
    #[serde(rename = "lastUpdated")]
    last_updated: u64,
    /// Whether the token is halted: swaps of it revert until its price has caught up with its
    /// source. Left out if false.
    #[serde(skip_serializing_if = "is_false")]
    halted: bool,
}

/// A token.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Token")]
pub(super) struct TokenEntry<'a> {
    address: String,
    symbol: &'a str,
    name: &'a str,
    decimals: u8,
    coin_gecko_id: &'a str,
}

/// A token with what a swap form shows.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SwapToken")]
pub(super) struct SwapTokenEntry<'a> {
    address: String,
    symbol: &'a str,
    name: &'a str,
    decimals: u8,
    price: Number,
    #[serde(rename = "priceChange24h")]
    change: Number,
    /// The vault's reserve of it, in US dollars.
    liquidity: Number,
    volume24h: Number,
    /// Whether the token is halted. Left out if false.
    #[serde(skip_serializing_if = "is_false")]
    halted: bool,
}

/// Opening, highest, lowest and closing price of an interval.
#[derive(Serialize, JsonSchema)]
pub(super) struct Candle {
    /// Start of the interval, in milliseconds since the Unix epoch.
    timestamp: u64,
    open: Number,
    high: Number,
    low: Number,
    /// The last price within it; the current one if it has not ended.
    close: Number,
    /// Volume of the swaps of the token, in US dollars.
    volume: Number,
}

impl Candle {
    /// The candle of an interval that starts at `time`, in seconds.
    fn new(time: u64, bar: Bar, volume_usd_e8: u128) -> Self {
        Self {
            timestamp: time.saturating_mul(1_000),
            open: Number::price(bar.open),
            high: Number::price(bar.high),
            low: Number::price(bar.low),
            close: Number::price(bar.close),
            volume: Number::usd(U256::from(volume_usd_e8)),
        }
    }
}

/// The token that an answer is about.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum TokenReference {
    /// Its address.
    Address(String),
    /// Its address and names.
    Named {
        address: String,
        symbol: String,
        name: String,
    },
}

/// The envelope of every response. Members that a route does not have are left out.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "{T}Response")]
pub(super) struct Envelope<T> {
    pub(super) success: bool,
    pub(super) data: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cached: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timeframe: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) interval: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<TokenReference>,
}

impl<T: Serialize> Envelope<T> {
    pub(super) fn new(data: T) -> Self {
        Self {
            success: true,
            data,
            count: None,
            timestamp: None,
            cached: None,
            timeframe: None,
            interval: None,
            token: None,
        }
    }

    fn json(&self) -> String {
        // Nothing in it can fail to become JSON.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Renders the body with `cached` false in the first response and true in all others.
    fn with_cached_flag(mut self, now_ms: u64) -> Rendered {
        self.cached = Some(false);
        let first = self.json();
        self.cached = Some(true);
        Rendered::with_repeat(first, self.json(), now_ms)
    }
}

/// An object with a member for each token, by its address, in the order of the network's list.
pub(super) struct ByAddress<T>(Vec<(String, T)>);

impl<T: JsonSchema> JsonSchema for ByAddress<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}ByAddress", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<T>() })
    }
}

impl<T: Serialize> Serialize for ByAddress<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl MarketState {
    /// `GET /api/prices/<address>/candles` of the token at this position: the newest `count` of
    /// this length.
    pub(super) fn candles_body(
        &self,
        token: usize,
        length: CandleLength,
        count: u64,
        now_ms: u64,
    ) -> Option<Rendered> {
        let (info, _) = self.listed().nth(token)?;

        let data: Vec<_> = self
            .history
            .candles(token, self.time, length.seconds, count)
            .into_iter()
            .map(|(time, bar, volume)| Candle::new(time, bar, volume))
            .collect();

        let answer = Envelope {
            count: Some(data.len()),
            interval: Some(length.name),
            token: Some(TokenReference::Address(key(info.address))),
            ..Envelope::new(data)
        };
        Some(Rendered::for_one(answer.json(), now_ms))
    }

    fn listed(&self) -> impl Iterator<Item = (&Token, &Quote)> {
        self.network.tokens.iter().zip(&self.quotes)
    }

    fn time_ms(&self) -> u64 {
        self.time.saturating_mul(1_000)
    }
}

fn price_entry<'a>(token: &'a Token, quote: &Quote, with_volume: bool) -> PriceEntry<'a> {
    PriceEntry {
        address: key(token.address),
        symbol: &token.symbol,
        name: &token.name,
        decimals: token.decimals,
        price: Number::price(quote.price),
        change24h: Number::percent(quote.change_24h),
        volume24h: with_volume.then(|| Number::usd(U256::from(quote.volume_24h))),
        timestamp: quote.updated_at.saturating_mul(1_000),
        adjusted_price: Number::adjusted_price(quote.price),
        last_updated: quote.updated_at,
        halted: quote.halted,
    }
}

fn token_entry<'a>((token, _): (&'a Token, &'a Quote)) -> TokenEntry<'a> {
    TokenEntry {
        address: key(token.address),
        symbol: &token.symbol,
        name: &token.name,
        decimals: token.decimals,
        coin_gecko_id: &token.coin_gecko_id,
    }
}

fn swap_token_entry<'a>((token, quote): (&'a Token, &'a Quote)) -> SwapTokenEntry<'a> {
    SwapTokenEntry {
        address: key(token.address),
        symbol: &token.symbol,
        name: &token.name,
        decimals: token.decimals,
        price: Number::price(quote.price),
        change: Number::percent(quote.change_24h),
        liquidity: Number::usd(quote.liquidity),
        volume24h: Number::usd(U256::from(quote.volume_24h)),
        halted: quote.halted,
    }
}

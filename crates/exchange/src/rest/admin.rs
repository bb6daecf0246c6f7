//! Prices set by hand, in the development profile.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use tetrad_chain::SendError;
use tetrad_web::{Api, JsonBody, NoStore, Path, RequestBody, RestError};

use super::Exchange;
use crate::{
    bodies::Envelope,
    feed::usd_e8,
    manual_prices::ManualPriceError,
    query::TokenPath,
    quote::{Number, key},
};

/// The body that sets a price.
#[derive(JsonSchema)]
pub(super) struct ManualPrice {
    /// US dollars for a whole token, as a number or as text.
    #[schemars(with = "Number", range(min = 0.000_000_01, max = 92_233_720_368.0))]
    price: u64,
}

impl RequestBody for ManualPrice {
    fn parse(json: &[u8]) -> Result<Self, RestError> {
        let malformed = || RestError::parameter("price", r#"expected {"price": 3512.35}, above 0"#);
        // The number is read from its text: no price passes through a float.
        let members: HashMap<Cow<'_, str>, &RawValue> =
            serde_json::from_slice(json).map_err(|_| malformed())?;
        let price = members
            .get("price")
            .and_then(|price| usd_e8(price.get().trim_matches('"')));
        Ok(Self {
            price: price.ok_or_else(malformed)?,
        })
    }
}

/// A price that is held.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HeldPrice {
    address: String,
    price: Number,
    transaction_hash: String,
}

/// The prices that are held, by token.
#[derive(Serialize, JsonSchema)]
pub(super) struct HeldPrices {
    prices: BTreeMap<String, Number>,
}

/// The result of releasing a price.
#[derive(Serialize, JsonSchema)]
pub(super) struct Released {
    address: String,
    /// Whether the price was held until now.
    released: bool,
}

/// Adds the routes.
pub(super) fn routes(api: Api<Exchange>) -> Api<Exchange> {
    api.tag("Development")
        .get(
            "/api/admin/prices",
            held,
            "The prices that were set and are held, by the address of the token.",
        )
        .named("heldPrices")
        .post(
            "/api/admin/prices/{address}",
            set,
            "Sets a price and holds it, without the limit on price moves.",
        )
        .named("setPrice")
        .delete(
            "/api/admin/prices/{address}",
            release,
            "Releases a price that was set.",
        )
        .named("releasePrice")
}

impl From<ManualPriceError> for RestError {
    fn from(error: ManualPriceError) -> Self {
        match error {
            ManualPriceError::NoToken => Self::NotFound(error.to_string()),
            ManualPriceError::Refused(SendError::Sign(_)) => Self::Internal(error.to_string()),
            ManualPriceError::NoKey
            | ManualPriceError::Refused(_)
            | ManualPriceError::Unshared(_) => Self::Unavailable(error.to_string()),
        }
    }
}

async fn held(State(exchange): State<Exchange>) -> NoStore<Envelope<HeldPrices>> {
    let held = exchange.manual_prices.held().into_iter();
    let prices = held.map(|(token, price)| (exchange.address(token), Number::price(price)));
    NoStore(Envelope::new(HeldPrices {
        prices: prices.collect(),
    }))
}

async fn set(
    State(exchange): State<Exchange>,
    Path(path): Path<TokenPath>,
    JsonBody(ManualPrice { price }): JsonBody<ManualPrice>,
) -> Result<NoStore<Envelope<HeldPrice>>, RestError> {
    let hash = exchange.manual_prices.set(path.token.0, price).await?;
    let address = exchange.address(path.token.0);
    Ok(NoStore(Envelope::new(HeldPrice {
        address,
        price: Number::price(price),
        transaction_hash: hash.to_string(),
    })))
}

async fn release(
    State(exchange): State<Exchange>,
    Path(path): Path<TokenPath>,
) -> Result<NoStore<Envelope<Released>>, RestError> {
    let released = exchange.manual_prices.release(path.token.0).await?;
    Ok(NoStore(Envelope::new(Released {
        address: exchange.address(path.token.0),
        released,
    })))
}

impl Exchange {
    fn address(&self, token: usize) -> String {
        self.market
            .network()
            .tokens
            .get(token)
            .map(|token| key(token.address))
            .unwrap_or_default()
    }
}

//! Setting prices by hand, in the development profile.

use std::{borrow::Cow, collections::HashMap};

use axum::{
    Json,
    body::Bytes,
    extract::{
        Path, State,
        rejection::{BytesRejection, PathRejection},
    },
    http::header,
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Exchange;
use crate::{
    exchange::{
        bodies::Answer,
        desk::DeskError,
        feed::usd_e8,
        quote::{Number, key},
    },
    web::{Api, Operation, RestError, parameters::TokenAddress},
};

/// A price that somebody decides about.
#[derive(JsonSchema)]
#[schemars(rename = "ManualPrice")]
#[expect(dead_code, reason = "describes what is read by name")]
struct Decision {
    /// US dollars for a whole token, as a number or as text.
    #[schemars(range(min = 0.000_000_01, max = 92_233_720_368.0))]
    price: Number,
}

/// A price that is held.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Held {
    address: String,
    price: Number,
    transaction_hash: String,
}

/// Whether a price was held until now.
#[derive(Serialize, JsonSchema)]
struct Released {
    address: String,
    released: bool,
}

/// Adds the routes.
pub(super) fn routes(api: Api<Exchange>) -> Api<Exchange> {
    let about = |summary| {
        let example = "0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7";
        Operation::new("Development", summary)
            .path::<TokenAddress>("address", "The token's address in any case.", example)
            .fails(&[400, 404, 500, 503])
    };
    api.post(
        "/api/admin/prices/{address}",
        set,
        about("Puts a price on the chain, however far it moves, and holds it there.")
            .body::<Decision>()
            .returns::<Answer<Held>>(),
    )
    .delete(
        "/api/admin/prices/{address}",
        release,
        about("Lets the price sources move a price again.").returns::<Answer<Released>>(),
    )
}

impl From<DeskError> for RestError {
    fn from(error: DeskError) -> Self {
        match error {
            DeskError::NoToken => Self::NotFound(error.to_string()),
            DeskError::NoKey | DeskError::Refused(_) => Self::Unavailable(error.to_string()),
            DeskError::Sign(_) => Self::Internal(error.to_string()),
        }
    }
}

async fn set(
    State(exchange): State<Exchange>,
    path: Result<Path<String>, PathRejection>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, RestError> {
    let (token, body) = (exchange.token(&path?.0)?, body?);
    let wrong = || RestError::parameter("price", r#"expected {"price": 3512.35}, above 0"#);
    // Read as it is written: no price passes through a float.
    let members: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_slice(&body).map_err(|_| wrong())?;
    let price = members.get("price").and_then(|price| usd_e8(price.get().trim_matches('"'))).ok_or_else(wrong)?;
    let hash = exchange.desk.set(token, price).await?;
    let address = exchange.market.network().tokens.get(token).map(|token| key(token.address)).unwrap_or_default();
    Ok(answer(Held { address, price: Number::price(price), transaction_hash: hash.to_string() }))
}

async fn release(
    State(exchange): State<Exchange>,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, RestError> {
    let token = exchange.token(&path?.0)?;
    let released = exchange.desk.release(token);
    let address = exchange.market.network().tokens.get(token).map(|token| key(token.address)).unwrap_or_default();
    Ok(answer(Released { address, released }))
}

fn answer(data: impl Serialize) -> Response {
    ([(header::CACHE_CONTROL, "no-store")], Json(Answer::new(data))).into_response()
}

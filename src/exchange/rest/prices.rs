//! Prices, tokens and what prices were.

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::HeaderMap,
    response::Response,
};

use super::Exchange;
use crate::web::{Queries, RestError};

/// Prices or candles, if nobody says how many, and at most: a day by the minute.
const DEFAULT_LIMIT: u64 = 100;
const MAX_LIMIT: u64 = 1_440;
/// Lengths of candles in seconds.
const INTERVALS: [(&str, u64); 4] = [("1m", 60), ("5m", 300), ("1h", 3_600), ("1d", 86_400)];

pub(super) async fn prices(State(exchange): State<Exchange>, headers: HeaderMap) -> Result<Response, RestError> {
    let snapshot = exchange.market.current().await?;
    Ok(exchange.respond(&headers, snapshot.prices_body(exchange.clock.now_ms())))
}

pub(super) async fn tokens(State(exchange): State<Exchange>, headers: HeaderMap) -> Result<Response, RestError> {
    let snapshot = exchange.market.current().await?;
    Ok(exchange.respond(&headers, snapshot.tokens_body(exchange.clock.now_ms())))
}

pub(super) async fn swap_tokens(State(exchange): State<Exchange>, headers: HeaderMap) -> Result<Response, RestError> {
    let snapshot = exchange.market.current().await?;
    Ok(exchange.respond(&headers, snapshot.swap_tokens_body(exchange.clock.now_ms())))
}

pub(super) async fn price(
    State(exchange): State<Exchange>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, RestError> {
    let token = exchange.token(&path?.0)?;
    let snapshot = exchange.market.current().await?;
    let body = snapshot.price_body(token, exchange.clock.now_ms());
    body.map(|body| exchange.respond(&headers, body)).ok_or_else(no_quote)
}

pub(super) async fn history(
    State(exchange): State<Exchange>,
    path: Result<Path<String>, PathRejection>,
    query: Queries,
    headers: HeaderMap,
) -> Result<Response, RestError> {
    let token = exchange.token(&path?.0)?;
    let (timeframe, count) = (query.timeframe()?, query.number("limit", 1..=MAX_LIMIT, DEFAULT_LIMIT)?);
    let snapshot = exchange.market.current().await?;
    let body = snapshot.history_body(token, timeframe, count, exchange.clock.now_ms());
    body.map(|body| exchange.respond(&headers, &body)).ok_or_else(no_quote)
}

pub(super) async fn candles(
    State(exchange): State<Exchange>,
    path: Result<Path<String>, PathRejection>,
    query: Queries,
    headers: HeaderMap,
) -> Result<Response, RestError> {
    let token = exchange.token(&path?.0)?;
    let interval = query.choice("interval", &INTERVALS)?.unwrap_or(INTERVALS[0]);
    let count = query.number("limit", 1..=MAX_LIMIT, DEFAULT_LIMIT)?;
    let snapshot = exchange.market.current().await?;
    let body = snapshot.candles_body(token, interval, count, exchange.clock.now_ms());
    body.map(|body| exchange.respond(&headers, &body)).ok_or_else(no_quote)
}

fn no_quote() -> RestError {
    RestError::Internal("a token without a quote".to_owned())
}

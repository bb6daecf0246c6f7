//! Prices, their history, and tokens.

use axum::{extract::State, http::HeaderMap};
use tetrad_web::{
    Cached, Path, Query, RestError,
    parameters::{Limit, Timeframe, parameters},
};

use super::Exchange;
use crate::{
    bodies::{
        ByAddress, Candle, Envelope, HistoryShape, PriceEntry, PriceHistory, SwapTokenEntry,
        TokenEntry,
    },
    query::{CandleLength, TokenPath},
};

/// Most prices or candles of an answer, a day by the minute, and how many it has by default.
type Count = Limit<1_440, 100>;

parameters! {
    /// The query of a price's history.
    pub(super) struct HistoryQuery {
        /// How far back; 24h by default.
        #[param("period", example = "24h")]
        period: Option<Timeframe>,
        /// The same, for an answer whose `data` is the list itself.
        #[param("timeframe", example = "24h")]
        timeframe: Option<Timeframe>,
        /// Prices at most.
        #[param("limit")]
        limit: Count,
    }
}

parameters! {
    /// The query of candles.
    pub(super) struct CandlesQuery {
        /// Length of a candle.
        #[param("interval")]
        length: CandleLength,
        /// Candles at most, the newest.
        #[param("limit")]
        limit: Count,
    }
}

impl HistoryQuery {
    /// The timeframe, and the shape that the client expects.
    fn range(&self) -> Result<(Timeframe, HistoryShape), RestError> {
        match (self.period, self.timeframe) {
            (Some(period), Some(timeframe)) if period != timeframe => Err(RestError::parameter(
                "timeframe",
                "differs from period, which means the same",
            )),
            (None, Some(timeframe)) => Ok((timeframe, HistoryShape::List)),
            (Some(period), _) => Ok((period, HistoryShape::Object)),
            (None, None) => Ok((Timeframe::DAY, HistoryShape::Object)),
        }
    }
}

/// A cached answer.
type Body<T> = Result<Cached<Envelope<T>>, RestError>;

pub(super) async fn prices(
    State(exchange): State<Exchange>,
    headers: HeaderMap,
) -> Body<ByAddress<PriceEntry<'static>>> {
    let bodies = exchange.current_bodies().await?;
    Ok(exchange.respond(&headers, bodies.prices(exchange.clock.now_ms())))
}

pub(super) async fn tokens(
    State(exchange): State<Exchange>,
    headers: HeaderMap,
) -> Body<Vec<TokenEntry<'static>>> {
    let bodies = exchange.current_bodies().await?;
    Ok(exchange.respond(&headers, bodies.tokens(exchange.clock.now_ms())))
}

pub(super) async fn swap_tokens(
    State(exchange): State<Exchange>,
    headers: HeaderMap,
) -> Body<Vec<SwapTokenEntry<'static>>> {
    let bodies = exchange.current_bodies().await?;
    Ok(exchange.respond(&headers, bodies.swap_tokens(exchange.clock.now_ms())))
}

pub(super) async fn price(
    State(exchange): State<Exchange>,
    Path(path): Path<TokenPath>,
    headers: HeaderMap,
) -> Body<PriceEntry<'static>> {
    let bodies = exchange.current_bodies().await?;
    let body = bodies.price(path.token.0, exchange.clock.now_ms());
    body.map(|body| exchange.respond(&headers, body))
        .ok_or_else(no_quote)
}

pub(super) async fn history(
    State(exchange): State<Exchange>,
    Path(path): Path<TokenPath>,
    Query(query): Query<HistoryQuery>,
    headers: HeaderMap,
) -> Body<PriceHistory> {
    let range = query.range()?;
    let state = exchange.market.current().await?;
    let body = state.history_body(path.token.0, range, query.limit.0, exchange.clock.now_ms());
    body.map(|body| exchange.respond(&headers, &body))
        .ok_or_else(no_quote)
}

pub(super) async fn candles(
    State(exchange): State<Exchange>,
    Path(path): Path<TokenPath>,
    Query(query): Query<CandlesQuery>,
    headers: HeaderMap,
) -> Body<Vec<Candle>> {
    let state = exchange.market.current().await?;
    let body = state.candles_body(
        path.token.0,
        query.length,
        query.limit.0,
        exchange.clock.now_ms(),
    );
    body.map(|body| exchange.respond(&headers, &body))
        .ok_or_else(no_quote)
}

fn no_quote() -> RestError {
    RestError::Internal("a token without a quote".to_owned())
}

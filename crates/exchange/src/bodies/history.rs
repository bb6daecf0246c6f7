//! Past prices, in the two shapes that published clients read.

use schemars::JsonSchema;
use serde::Serialize;
use tetrad_web::{Rendered, parameters::Timeframe};

use super::{Envelope, TokenReference};
use crate::{
    market_state::MarketState,
    quote::{Number, key},
};

/// The shape of a history. Clients choose it by the parameter that they name the timeframe with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HistoryShape {
    /// An object with a list of prices, for `period`.
    Object,
    /// The list itself, for `timeframe`. The network's wallet calls `.map` on it.
    List,
}

/// Past prices, oldest first.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PriceHistory {
    /// With `period`, or with neither parameter.
    Object { prices: Vec<PricePoint> },
    /// With `timeframe`.
    List(Vec<AdjustedPoint>),
}

/// A price at one time.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Point")]
pub(crate) struct PricePoint {
    /// Milliseconds since the Unix epoch.
    timestamp: u64,
    price: Number,
}

impl PricePoint {
    fn new(timestamp: u64, price_usd_e8: u64) -> Self {
        Self {
            timestamp,
            price: Number::price(price_usd_e8),
        }
    }
}

/// A price at one time, also as a whole number.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AdjustedPoint {
    /// Milliseconds since the Unix epoch.
    timestamp: u64,
    price: Number,
    /// The price × 10^12.
    adjusted_price: Number,
}

impl AdjustedPoint {
    fn new(timestamp: u64, price_usd_e8: u64) -> Self {
        Self {
            timestamp,
            price: Number::price(price_usd_e8),
            adjusted_price: Number::adjusted_price(price_usd_e8),
        }
    }
}

impl MarketState {
    /// `GET /api/prices/<address>/history` of the token at this position: at most `count` prices of
    /// the timeframe.
    pub(crate) fn history_body(
        &self,
        token: usize,
        (timeframe, shape): (Timeframe, HistoryShape),
        count: u64,
        now_ms: u64,
    ) -> Option<Rendered> {
        let (info, quote) = self.listed().nth(token)?;
        let series = self
            .history
            .series(token, quote.price, self.time, timeframe.seconds, count);
        let count = Some(series.len());
        let address = key(info.address);

        let points = series
            .into_iter()
            .map(|(time, price)| (time.saturating_mul(1_000), price));
        let (data, token) = match shape {
            HistoryShape::Object => {
                let prices = points
                    .map(|(timestamp, price)| PricePoint::new(timestamp, price))
                    .collect();
                (
                    PriceHistory::Object { prices },
                    TokenReference::Address(address),
                )
            }
            HistoryShape::List => {
                let prices = points
                    .map(|(timestamp, price)| AdjustedPoint::new(timestamp, price))
                    .collect();
                (
                    PriceHistory::List(prices),
                    TokenReference::Named {
                        address,
                        symbol: info.symbol.clone(),
                        name: info.name.clone(),
                    },
                )
            }
        };

        let answer = Envelope {
            count,
            timeframe: Some(timeframe.name),
            token: Some(token),
            ..Envelope::new(data)
        };
        Some(Rendered::for_one(answer.json(), now_ms))
    }
}

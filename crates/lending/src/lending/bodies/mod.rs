//! The JSON of the REST interface. Bodies that clients of the live network read keep its shape; the
//! others have all of what the contracts' views return.

mod pool;
mod user;

use alloy_primitives::U256;
use serde::Serialize;
use tetrad_network::network::USD_DECIMALS;
use tetrad_stdx::decimal::{hundredths, with_point};

pub(super) use pool::{PoolBody, PoolDetails, PoolHistory, PoolSample, history, pool, pools};
pub(super) use user::{PositionsBody, ScoreBody, UserBody, positions, score, user};

/// Milliseconds since the Unix epoch; none if there is no such time.
fn time_ms(seconds: U256) -> Option<u64> {
    Some(seconds.saturating_to::<u64>().saturating_mul(1_000)).filter(|time| *time > 0)
}

/// US dollars.
fn usd(amount: U256) -> String {
    with_point(amount, USD_DECIMALS)
}

/// Basis points as per cent.
fn percent(bps: impl Into<i128>) -> String {
    hundredths(bps.into())
}

fn json(body: &impl Serialize) -> String {
    // Nothing in it can fail to become JSON.
    serde_json::to_string(body).unwrap_or_default()
}

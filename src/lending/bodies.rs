//! The JSON of the REST interface, in the shape that the live network's clients read.

use alloy_primitives::{Address, U256};
use serde::Serialize;

use super::{
    apy::yearly_percent,
    contract::{AccountView, PoolView, ScoreView},
};
use crate::decimal::with_point;

/// Decimals of dollars on chain.
const USD_DECIMALS: u8 = 8;
/// Where every score begins.
const LOWEST_SCORE: u64 = 300;

/// A pool (specification, 2.6). Addresses carry the checksum of EIP-55, amounts are whole tokens, yields per cent.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Pool {
    asset_address: String,
    p_token_address: String,
    symbol: String,
    decimals: u8,
    total_supplied: String,
    supply_apy: String,
    borrow_apy: String,
}

/// A user (specification, 2.7). Amounts are US dollars.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct User {
    address: String,
    credit_score: u64,
    borrowing_power: String,
    amount_borrowed: String,
    available_to_borrow: String,
}

/// A credit score and what it is made of.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Score {
    address: String,
    credit_score: u64,
    band: u64,
    components: Components,
    /// None without debt.
    health_factor: Option<String>,
    /// Milliseconds since the Unix epoch, here and below; none if there is no such time.
    next_due_date: Option<u64>,
    late: bool,
    last_borrow_at: Option<u64>,
    last_payment_at: Option<u64>,
}

/// What points come from: the score is `base` and the points of the first four less those of the last two, within its
/// range.
#[derive(Serialize)]
struct Components {
    base: u64,
    deposits: Timed,
    payments: Counted,
    health: Points,
    history: Timed,
    penalty: Points,
    overdue: Points,
}

#[derive(Serialize)]
struct Points {
    points: u64,
}

#[derive(Serialize)]
struct Timed {
    points: u64,
    seconds: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Counted {
    points: u64,
    on_time: u64,
}

/// `GET /api/pools`.
pub(super) fn pools(views: &[PoolView]) -> String {
    let pool = |view: &PoolView| Pool {
        asset_address: view.asset.to_checksum(None),
        p_token_address: view.pToken.to_checksum(None),
        symbol: view.symbol.clone(),
        decimals: view.decimals,
        total_supplied: with_point(view.totalSupplied, view.decimals),
        supply_apy: yearly_percent(view.supplyRate),
        borrow_apy: yearly_percent(view.borrowRates[0]),
    };
    json(&views.iter().map(pool).collect::<Vec<_>>())
}

/// `GET /api/user/<address>`.
pub(super) fn user(address: Address, view: &AccountView) -> String {
    let usd = |amount| with_point(amount, USD_DECIMALS);
    json(&User {
        address: address.to_checksum(None),
        credit_score: view.score.saturating_to(),
        borrowing_power: usd(view.borrowingPowerUsd),
        amount_borrowed: usd(view.debtUsd),
        available_to_borrow: usd(view.availableUsd),
    })
}

/// `GET /api/user/<address>/score`.
pub(super) fn score(address: Address, view: &ScoreView) -> String {
    let number = |value: U256| value.saturating_to::<u64>();
    let points = |value| Points { points: number(value) };
    let time = |seconds: U256| Some(number(seconds).saturating_mul(1_000)).filter(|time| *time > 0);
    json(&Score {
        address: address.to_checksum(None),
        credit_score: number(view.score),
        band: number(view.band),
        components: Components {
            base: LOWEST_SCORE,
            deposits: Timed { points: number(view.depositPoints), seconds: number(view.depositSeconds) },
            payments: Counted { points: number(view.paymentPoints), on_time: number(view.onTimePayments) },
            health: points(view.healthPoints),
            history: Timed { points: number(view.historyPoints), seconds: number(view.healthySeconds) },
            penalty: points(view.penaltyPoints),
            overdue: points(view.overduePoints),
        },
        health_factor: Some(view.healthFactorBps)
            .filter(|factor| *factor != U256::MAX)
            .map(|factor| with_point(factor, 4)),
        next_due_date: time(view.dueAt),
        late: view.late,
        last_borrow_at: time(view.lastBorrowAt),
        last_payment_at: time(view.lastPaymentAt),
    })
}

fn json(body: &impl Serialize) -> String {
    // Nothing in it can fail to become JSON.
    serde_json::to_string(body).unwrap_or_default()
}

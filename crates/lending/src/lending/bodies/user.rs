//! Users.

use alloy_primitives::{Address, U256};
use schemars::JsonSchema;
use serde::Serialize;
use tetrad_contracts::contracts::bindings::{
    AccountView, LiquidationSide, PositionView, ScoreView,
};
use tetrad_stdx::decimal::with_point;

use super::{json, percent, time_ms, usd};
use crate::lending::apy::yearly_percent;

/// The score of a user without history.
const LOWEST_SCORE: u64 = 300;
/// Decimals of a health factor on chain.
const HEALTH_DECIMALS: u8 = 4;

/// A user. Amounts are US dollars.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "User")]
pub(crate) struct UserBody {
    address: String,
    credit_score: u64,
    borrowing_power: String,
    amount_borrowed: String,
    available_to_borrow: String,
}

/// A user with everything that is supplied and owed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Positions")]
pub(crate) struct PositionsBody {
    #[serde(flatten)]
    user: UserBody,
    /// Credit band, 0 to 4; a higher one borrows for less.
    band: u64,
    /// US dollars.
    amount_supplied: String,
    /// Below 1 the user may be liquidated. None without debt.
    health_factor: Option<String>,
    /// Milliseconds since the Unix epoch; none without debt.
    next_due_date: Option<u64>,
    positions: Vec<Position>,
}

/// A user's part of an asset.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Position {
    asset_address: String,
    symbol: String,
    decimals: u8,
    /// Whole tokens, rounded down.
    supplied: String,
    /// Whole tokens, rounded up.
    borrowed: String,
    /// US dollars.
    supplied_usd: String,
    borrowed_usd: String,
    price: String,
    /// Whether the price is recent enough to be valid.
    price_fresh: bool,
    /// Whether the user's supply is collateral. What others send is not, until the user enables it.
    collateral: bool,
    /// Per cent.
    supply_apy: String,
    /// At the user's credit band, in per cent.
    borrow_apy: String,
    /// At the user's score, in per cent; 0 if the supply is not collateral, or its price is stale
    /// or halted.
    loan_to_value: String,
    liquidation_threshold: String,
    /// The price at which the user can be liquidated, all other prices being equal; none if there
    /// is no such price.
    liquidation_price: Option<String>,
    /// The side of that price on which the user can be liquidated.
    liquidation_side: Option<LiquidationSideBody>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "LiquidationSide")]
enum LiquidationSideBody {
    Below,
    Above,
}

/// A credit score and its components.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Score")]
pub(crate) struct ScoreBody {
    address: String,
    credit_score: u64,
    /// Credit band, 0 to 4; a higher one borrows for less.
    band: u64,
    components: ScoreComponents,
    /// Below 1 the user may be liquidated. None without debt.
    health_factor: Option<String>,
    /// Milliseconds since the Unix epoch, here and below; none if there is no such time.
    next_due_date: Option<u64>,
    /// Whether the current payment term has been missed.
    late: bool,
    last_borrow_at: Option<u64>,
    last_payment_at: Option<u64>,
}

/// The components of a score: `base` plus the points of the first four, less those of the last two,
/// limited to the range of scores.
#[derive(Serialize, JsonSchema)]
struct ScoreComponents {
    base: u64,
    deposits: TimedPoints,
    payments: CountedPoints,
    health: Points,
    history: TimedPoints,
    penalty: PenaltyPoints,
    overdue: Points,
}

#[derive(Serialize, JsonSchema)]
struct Points {
    points: u64,
}

#[derive(Serialize, JsonSchema)]
struct TimedPoints {
    points: u64,
    /// Seconds that counted so far.
    seconds: u64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CountedPoints {
    points: u64,
    /// Payments that counted so far.
    on_time: u64,
}

#[derive(Serialize, JsonSchema)]
struct PenaltyPoints {
    points: u64,
    /// The penalty at `since`, from which on it fades.
    initial: u64,
    since: Option<u64>,
}

/// `GET /api/user/<address>`.
pub(crate) fn user(address: Address, view: &AccountView) -> String {
    json(&body(address, view))
}

fn body(address: Address, view: &AccountView) -> UserBody {
    UserBody {
        address: address.to_checksum(None),
        credit_score: view.score.saturating_to(),
        borrowing_power: usd(view.borrowingPowerUsd),
        amount_borrowed: usd(view.debtUsd),
        available_to_borrow: usd(view.availableUsd),
    }
}

/// `GET /api/user/<address>/positions`. Without a list of `collateral`, the pool takes every supply
/// as such.
pub(crate) fn positions(
    address: Address,
    view: &AccountView,
    collateral: Option<&[Address]>,
) -> String {
    let is_collateral = |asset: &Address| collateral.is_none_or(|assets| assets.contains(asset));

    json(&PositionsBody {
        user: body(address, view),
        band: view.band.saturating_to(),
        amount_supplied: usd(view.suppliedUsd),
        health_factor: health_factor(view.healthFactorBps),
        next_due_date: time_ms(view.dueAt),
        positions: view
            .positions
            .iter()
            .map(|view| Position::new(view, is_collateral(&view.asset)))
            .collect(),
    })
}

impl Position {
    fn new(view: &PositionView, collateral: bool) -> Self {
        // The contract keeps these values far below anything that could overflow here.
        let bps = |value: U256| percent(value.saturating_to::<u64>());
        let side = match view.liquidationSide {
            LiquidationSide::Below => Some(LiquidationSideBody::Below),
            LiquidationSide::Above => Some(LiquidationSideBody::Above),
            LiquidationSide::None | LiquidationSide::__Invalid => None,
        };

        Self {
            asset_address: view.asset.to_checksum(None),
            symbol: view.symbol.clone(),
            decimals: view.decimals,
            supplied: with_point(view.supplied, view.decimals),
            borrowed: with_point(view.debt, view.decimals),
            supplied_usd: usd(view.suppliedUsd),
            borrowed_usd: usd(view.debtUsd),
            price: usd(view.price),
            price_fresh: view.priceFresh,
            collateral,
            supply_apy: yearly_percent(view.supplyRate),
            borrow_apy: yearly_percent(view.borrowRate),
            loan_to_value: bps(view.loanToValueBps),
            liquidation_threshold: bps(view.liquidationThresholdBps),
            liquidation_price: side.is_some().then(|| usd(view.liquidationPrice)),
            liquidation_side: side,
        }
    }
}

/// `GET /api/user/<address>/score`.
pub(crate) fn score(address: Address, view: &ScoreView) -> String {
    json(&ScoreBody {
        address: address.to_checksum(None),
        credit_score: number(view.score),
        band: number(view.band),
        components: ScoreComponents {
            base: LOWEST_SCORE,
            deposits: TimedPoints {
                points: number(view.depositPoints),
                seconds: number(view.depositSeconds),
            },
            payments: CountedPoints {
                points: number(view.paymentPoints),
                on_time: number(view.onTimePayments),
            },
            health: Points {
                points: number(view.healthPoints),
            },
            history: TimedPoints {
                points: number(view.historyPoints),
                seconds: number(view.healthySeconds),
            },
            penalty: PenaltyPoints {
                points: number(view.penaltyPoints),
                initial: number(view.penalty),
                since: time_ms(view.penaltyAt),
            },
            overdue: Points {
                points: number(view.overduePoints),
            },
        },
        health_factor: health_factor(view.healthFactorBps),
        next_due_date: time_ms(view.dueAt),
        late: view.late,
        last_borrow_at: time_ms(view.lastBorrowAt),
        last_payment_at: time_ms(view.lastPaymentAt),
    })
}

fn number(value: U256) -> u64 {
    value.saturating_to()
}

/// The contract reports the largest number for a user without debt.
fn health_factor(bps: U256) -> Option<String> {
    (bps != U256::MAX).then(|| with_point(bps, HEALTH_DECIMALS))
}

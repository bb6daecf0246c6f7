//! Pools.

use alloy_primitives::U256;
use schemars::JsonSchema;
use serde::Serialize;
use tetrad_contracts::contracts::bindings::{LimitsView, PoolView};
use tetrad_primitives::block::Block;
use tetrad_stdx::decimal::{hundredths, with_point};

use super::{json, percent, usd};
use crate::lending::apy::{RAY, yearly_percent};

/// Decimals of a ray.
const RAY_DECIMALS: u8 = 27;

/// A pool. Addresses carry the checksum of EIP-55, amounts are whole tokens, yields per cent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Pool")]
pub(crate) struct PoolBody {
    asset_address: String,
    p_token_address: String,
    symbol: String,
    decimals: u8,
    total_supplied: String,
    supply_apy: String,
    borrow_apy: String,
}

/// Everything about a pool at one block.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PoolDetails {
    #[serde(flatten)]
    pool: PoolBody,
    block_number: u64,
    /// The block's time in milliseconds since the Unix epoch.
    timestamp: u64,
    paused: bool,
    total_borrowed: String,
    /// The amount that can be borrowed or withdrawn now.
    available_liquidity: String,
    /// Income of the treasury that has not been collected.
    treasury: String,
    /// Bad debt that later income pays back.
    deficit: String,
    /// Per cent.
    utilisation: String,
    /// Yearly cost of a loan by credit band, the lowest first, in per cent.
    borrow_apy_by_band: Vec<String>,
    /// The value of one unit supplied at the beginning.
    liquidity_index: String,
    /// None if there is no limit.
    supply_cap: Option<String>,
    /// None if there is no limit.
    borrow_cap: Option<String>,
    /// The least value of a debt after borrowing, in US dollars. None if there is no limit.
    least_loan: Option<String>,
    /// US dollars.
    price: String,
    /// Whether the price is recent enough to be valid.
    price_fresh: bool,
    /// Whether the price is known to be behind its source. No loan rests on such a price.
    price_halted: bool,
    parameters: PoolParameters,
}

/// How an asset earns and how much may be borrowed against it, in per cent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PoolParameters {
    base_rate: String,
    slope1: String,
    slope2: String,
    kink: String,
    reserve_factor: String,
    min_loan_to_value: String,
    max_loan_to_value: String,
    liquidation_threshold: String,
    liquidation_bonus: String,
}

/// The history of a pool.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PoolHistory {
    asset_address: String,
    symbol: String,
    timeframe: &'static str,
    count: usize,
    /// Oldest first. The past begins with the oldest block that the node keeps.
    history: Vec<PoolSample>,
}

/// A pool at one block.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PoolSample {
    block_number: u64,
    /// The block's time in milliseconds since the Unix epoch.
    timestamp: u64,
    /// Per cent.
    utilisation: String,
    supply_apy: String,
    borrow_apy: String,
    total_supplied: String,
    total_borrowed: String,
}

/// `GET /api/pools`.
pub(crate) fn pools(views: &[PoolView]) -> String {
    json(&views.iter().map(PoolBody::from).collect::<Vec<_>>())
}

/// `GET /api/pools/<asset>`. A lens without limits belongs to a pool without a least loan and an
/// oracle without halts.
pub(crate) fn pool(view: &PoolView, limits: Option<&LimitsView>, block: &Block) -> String {
    let whole = |amount| with_point(amount, view.decimals);
    let cap = |cap: U256| (!cap.is_zero()).then(|| whole(cap));

    json(&PoolDetails {
        pool: view.into(),
        block_number: block.number(),
        timestamp: time_of(block),
        paused: view.paused,
        total_borrowed: whole(view.totalDebt),
        available_liquidity: whole(view.cash),
        treasury: whole(view.treasury),
        deficit: whole(view.deficit),
        utilisation: share(view.utilisation),
        borrow_apy_by_band: view
            .borrowRates
            .iter()
            .map(|rate| yearly_percent(*rate))
            .collect(),
        liquidity_index: with_point(view.liquidityIndex, RAY_DECIMALS),
        supply_cap: cap(view.supplyCap),
        borrow_cap: cap(view.borrowCap),
        least_loan: limits
            .map(|limits| limits.leastLoanUsd)
            .filter(|least| !least.is_zero())
            .map(usd),
        price: usd(view.price),
        price_fresh: view.priceFresh,
        price_halted: limits.is_some_and(|limits| limits.priceHalted),
        parameters: PoolParameters {
            base_rate: percent(view.parameters.baseRateBps),
            slope1: percent(view.parameters.slope1Bps),
            slope2: percent(view.parameters.slope2Bps),
            kink: percent(view.parameters.kinkBps),
            reserve_factor: percent(view.parameters.reserveFactorBps),
            min_loan_to_value: percent(view.parameters.minLtvBps),
            max_loan_to_value: percent(view.parameters.maxLtvBps),
            liquidation_threshold: percent(view.parameters.liquidationThresholdBps),
            liquidation_bonus: percent(view.parameters.liquidationBonusBps),
        },
    })
}

/// `GET /api/pools/<asset>/history`.
pub(crate) fn history(
    view: &PoolView,
    timeframe: &'static str,
    history: Vec<PoolSample>,
) -> String {
    json(&PoolHistory {
        asset_address: view.asset.to_checksum(None),
        symbol: view.symbol.clone(),
        timeframe,
        count: history.len(),
        history,
    })
}

impl From<&PoolView> for PoolBody {
    fn from(view: &PoolView) -> Self {
        Self {
            asset_address: view.asset.to_checksum(None),
            p_token_address: view.pToken.to_checksum(None),
            symbol: view.symbol.clone(),
            decimals: view.decimals,
            total_supplied: with_point(view.totalSupplied, view.decimals),
            supply_apy: yearly_percent(view.supplyRate),
            borrow_apy: yearly_percent(view.borrowRates[0]),
        }
    }
}

impl PoolSample {
    /// A sample from the lens's view of a pool at `block`.
    pub(crate) fn new(view: &PoolView, block: &Block) -> Self {
        Self {
            block_number: block.number(),
            timestamp: time_of(block),
            utilisation: share(view.utilisation),
            supply_apy: yearly_percent(view.supplyRate),
            borrow_apy: yearly_percent(view.borrowRates[0]),
            total_supplied: with_point(view.totalSupplied, view.decimals),
            total_borrowed: with_point(view.totalDebt, view.decimals),
        }
    }
}

fn time_of(block: &Block) -> u64 {
    block.header.timestamp.saturating_mul(1_000)
}

/// A ray as per cent with two decimals, halves rounded up.
fn share(ray: U256) -> String {
    // Utilisation is at most one, so nothing overflows.
    let rounded = (ray.saturating_mul(U256::from(20_000)) + RAY) / (RAY * U256::from(2));
    hundredths(rounded.saturating_to())
}

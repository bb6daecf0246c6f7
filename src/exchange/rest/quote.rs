//! What a swap would bring.

use alloy_primitives::U256;
use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::Exchange;
use crate::{
    chain::View,
    contracts::{
        bindings::{self, Vault},
        read,
    },
    decimal::with_point,
    exchange::{
        bodies::Answer,
        quote::{Number, key},
    },
    network::Token,
    web::{Queries, RestError},
};

/// How much less than quoted is accepted if nobody says: what the published client takes.
const DEFAULT_SLIPPAGE_BPS: u64 = 50;
const BPS: u64 = 10_000;

/// A swap before it happens. Amounts are in the tokens' smallest units unless they say otherwise.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SwapQuote {
    token_in: Side,
    token_out: Side,
    amount_in: String,
    /// The same in whole tokens.
    amount_in_whole: String,
    /// What would be paid out, the fee taken off.
    amount_out: String,
    amount_out_whole: String,
    /// In the token to receive.
    fee: String,
    /// What to pass as the least amount, at the slippage that was asked for.
    min_amount_out: String,
    slippage_bps: u64,
    /// The share of the reserve that would be taken, in basis points.
    price_impact_bps: u64,
    status: SwapStatus,
    /// Whether the swap would go through, allowance and balance permitting.
    executable: bool,
    /// The block that this is the answer of. The next one may begin with other prices.
    block_number: u64,
}

/// One of the two tokens.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "QuoteToken")]
struct Side {
    address: String,
    symbol: String,
    decimals: u8,
    price: Number,
}

/// The vault's word on a swap, the first of its checks that fails.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum SwapStatus {
    Ok,
    Paused,
    SameToken,
    UnsupportedToken,
    ZeroAmount,
    AmountTooLarge,
    StalePrice,
    ZeroOutput,
    InsufficientOutputAmount,
    InsufficientLiquidity,
    PriceImpactTooHigh,
    ImpactWindowExceeded,
}

impl SwapStatus {
    fn new(status: bindings::SwapStatus) -> Option<Self> {
        use bindings::SwapStatus as Vault;
        Some(match status {
            Vault::Ok => Self::Ok,
            Vault::Paused => Self::Paused,
            Vault::SameToken => Self::SameToken,
            Vault::UnsupportedToken => Self::UnsupportedToken,
            Vault::ZeroAmount => Self::ZeroAmount,
            Vault::AmountTooLarge => Self::AmountTooLarge,
            Vault::StalePrice => Self::StalePrice,
            Vault::ZeroOutput => Self::ZeroOutput,
            Vault::InsufficientOutputAmount => Self::InsufficientOutputAmount,
            Vault::InsufficientLiquidity => Self::InsufficientLiquidity,
            Vault::PriceImpactTooHigh => Self::PriceImpactTooHigh,
            Vault::ImpactWindowExceeded => Self::ImpactWindowExceeded,
            Vault::__Invalid => return None,
        })
    }
}

/// `GET /api/quote`.
pub(super) async fn quote(State(exchange): State<Exchange>, query: Queries) -> Result<Response, RestError> {
    let network = exchange.market.network();
    let token = |name| {
        let text = query.required(name)?;
        let found = network.token(text);
        found.ok_or_else(|| {
            RestError::NotFound(format!("{name}: no token {:?}", text.chars().take(50).collect::<String>()))
        })
    };
    let (token_in, token_out) = (token("tokenIn")?.clone(), token("tokenOut")?.clone());
    let amount_in = amount(query.required("amountIn")?)?;
    let slippage_bps = query.number("slippageBps", 0..=BPS, DEFAULT_SLIPPAGE_BPS)?;

    let permit = exchange.quotes.clone().acquire_owned().await;
    let (head, vault) = (exchange.market.chain().head(), network.contracts.vault);
    let call = Vault::quoteSwapCall { tokenIn: token_in.address, tokenOut: token_out.address, amountIn: amount_in };
    let ask = move || {
        let _permit = permit;
        let view = View::newest(head);
        read(&view, vault, &call).map(|answer| (answer, view))
    };
    let snapshot = exchange.market.current().await?;
    let answer = tokio::task::spawn_blocking(ask).await.map_err(|error| RestError::Internal(error.to_string()))?;
    let (answer, view) =
        answer.map_err(|error| RestError::Unavailable(format!("the vault cannot be read: {error}")))?;
    let status = SwapStatus::new(answer.status)
        .ok_or_else(|| RestError::Unavailable("the vault returned an unknown status".to_owned()))?;

    let side = |token: &Token| {
        let position = network.tokens.iter().position(|listed| listed.address == token.address);
        let price = position.and_then(|position| snapshot.quotes.get(position)).map_or(0, |quote| quote.price);
        Side {
            address: key(token.address),
            symbol: token.symbol.clone(),
            decimals: token.decimals,
            price: Number::price(price),
        }
    };
    let keep = U256::from(BPS - slippage_bps);
    // An output is below 2^128, so nothing overflows.
    let min_amount_out = answer.amountOut.saturating_mul(keep) / U256::from(BPS);
    let data = SwapQuote {
        token_in: side(&token_in),
        token_out: side(&token_out),
        amount_in: amount_in.to_string(),
        amount_in_whole: with_point(amount_in, token_in.decimals),
        amount_out: answer.amountOut.to_string(),
        amount_out_whole: with_point(answer.amountOut, token_out.decimals),
        fee: answer.fee.to_string(),
        min_amount_out: min_amount_out.to_string(),
        slippage_bps,
        price_impact_bps: answer.impactBps.saturating_to(),
        status,
        executable: status == SwapStatus::Ok,
        block_number: view.block.number(),
    };
    let timestamp = Some(view.block.header.timestamp.saturating_mul(1_000));
    let body = Answer { timestamp, ..Answer::new(data) };
    Ok(([(header::CACHE_CONTROL, "no-cache")], Json(body)).into_response())
}

fn amount(text: &str) -> Result<U256, RestError> {
    let digits = Some(text).filter(|text| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()));
    let number = digits.and_then(|digits| U256::from_str_radix(digits, 10).ok());
    number.ok_or_else(|| {
        RestError::parameter("amountIn", "expected a whole number of the token's smallest unit, below 2^256")
    })
}

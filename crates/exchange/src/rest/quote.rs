//! Quotes of swaps.
//!
//! A swap that the vault would refuse is quoted with status 200 and the reason, like the vault's
//! own `quoteSwap`.

use alloy_primitives::U256;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use tetrad_chain::View;
use tetrad_contracts::contracts::{
    bindings::{self, Vault},
    read,
};
use tetrad_network::network::{Network, Token};
use tetrad_stdx::decimal::with_point;
use tetrad_web::{
    NoCache, Query, RestError, in_turn,
    parameters::{Amount, NamedToken, Number as NumberParam, parameters},
};

use super::Exchange;
use crate::{
    bodies::Envelope,
    market_state::MarketState,
    quote::{Number, key},
};

/// Basis points in a whole.
const BPS: u64 = 10_000;

parameters! {
    /// The query of `GET /api/quote`.
    pub(super) struct QuoteQuery {
        /// Address or symbol of the token to pay with.
        #[param("tokenIn", example = "WETH")]
        token_in: NamedToken,
        /// Address or symbol of the token to receive.
        #[param("tokenOut", example = "USDC")]
        token_out: NamedToken,
        /// How much to pay, in the token's smallest unit.
        #[param("amountIn", example = "1000000000000000000")]
        amount_in: Amount,
        /// How much less than quoted to accept, in basis points.
        #[param("slippageBps")]
        slippage: NumberParam<0, BPS, 50>,
    }
}

/// A swap before it happens. Amounts are in the tokens' smallest units unless they say otherwise.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SwapQuote {
    token_in: QuoteToken,
    token_out: QuoteToken,
    amount_in: String,
    /// The same in whole tokens.
    amount_in_whole: String,
    /// The amount paid out, after the fee.
    amount_out: String,
    amount_out_whole: String,
    /// In the token to receive.
    fee: String,
    /// The minimum output to pass to the vault, at the requested slippage.
    min_amount_out: String,
    slippage_bps: u64,
    /// The share of the reserve that the swap takes, in basis points.
    price_impact_bps: u64,
    status: SwapStatus,
    /// Whether the swap would go through, allowance and balance permitting.
    executable: bool,
    /// The block that the quote is for. The next one may begin with other prices.
    block_number: u64,
}

/// One of the two tokens.
#[derive(Serialize, JsonSchema)]
struct QuoteToken {
    address: String,
    symbol: String,
    decimals: u8,
    price: Number,
}

impl QuoteToken {
    /// A token with its price in `state`; 0 if it has none.
    fn new(token: &Token, state: &MarketState, network: &Network) -> Self {
        let position = network
            .tokens
            .iter()
            .position(|listed| listed.address == token.address);
        let price = position
            .and_then(|position| state.quotes.get(position))
            .map_or(0, |quote| quote.price);
        Self {
            address: key(token.address),
            symbol: token.symbol.clone(),
            decimals: token.decimals,
            price: Number::price(price),
        }
    }
}

/// The vault's verdict on a swap: the first of its checks that fails.
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
    Halted,
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
            Vault::Halted => Self::Halted,
            Vault::__Invalid => return None,
        })
    }
}

/// `GET /api/quote`.
pub(super) async fn quote(
    State(exchange): State<Exchange>,
    Query(query): Query<QuoteQuery>,
) -> Result<NoCache<Envelope<SwapQuote>>, RestError> {
    let network = exchange.market.network();
    let QuoteQuery {
        token_in: NamedToken(token_in),
        token_out: NamedToken(token_out),
        ..
    } = query;
    let amount_in = query.amount_in.0;
    let slippage_bps = query.slippage.0;

    let head = exchange.market.chain().head();
    let vault = network.contracts.vault;
    let call = Vault::quoteSwapCall {
        tokenIn: token_in.address,
        tokenOut: token_out.address,
        amountIn: amount_in,
    };

    let state = exchange.market.current().await?;
    let (answer, view) = in_turn(move || {
        let view = View::newest(head);
        let answer = read(&view, vault, &call);
        let answer = answer.map_err(|error| {
            RestError::Unavailable(format!("the vault cannot be read: {error}"))
        })?;
        Ok::<_, RestError>((answer, view))
    })
    .await?;
    let status = SwapStatus::new(answer.status)
        .ok_or_else(|| RestError::Unavailable("the vault returned an unknown status".to_owned()))?;

    let keep = U256::from(BPS - slippage_bps);
    // An output is below 2^128, so nothing overflows.
    let min_amount_out = answer.amountOut.saturating_mul(keep) / U256::from(BPS);

    let data = SwapQuote {
        token_in: QuoteToken::new(&token_in, &state, network),
        token_out: QuoteToken::new(&token_out, &state, network),
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
    Ok(NoCache(Envelope {
        timestamp,
        ..Envelope::new(data)
    }))
}

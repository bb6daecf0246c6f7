//! The REST interface (specification, 4.2, and what the live network's clients call besides).

mod admin;
mod health;
mod prices;
mod quote;

use axum::{Router, http::HeaderMap, response::Response, routing::any};

use self::{health::Status, quote::SwapQuote};
use super::{
    Exchange, MarketError,
    bodies::{Answer, Candle, Object, Points, PriceEntry, SwapTokenEntry, TokenEntry},
    query::address,
};
use crate::web::{
    Api, Keep, Operation, Rendered, RestError, method_not_allowed, not_found,
    parameters::{Amount, BasisPoints, CandleLength, Limit, Timeframe, TokenAddress, TokenText},
};

/// Routes under `/api`, the answer to whatever else is asked for there, and what there is to say about them.
pub(super) fn router(exchange: Exchange) -> (Router, Vec<Operation>) {
    let about = |summary| Operation::new("Exchange", summary).fails(&[500, 503]);
    let token = |summary| {
        let example = "0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7";
        about(summary)
            .path::<TokenAddress>("address", "The token's address in any case.", example)
            .cached()
            .fails(&[400, 404])
    };
    let span = |operation: Operation| {
        operation
            .query::<Timeframe>("period", "How far back: 1h, 24h, 7d or 30d.", "24h")
            .query::<Timeframe>("timeframe", "Another name for `period`.", "24h")
            .query::<Limit<1_440>>("limit", "Prices at most, 1 to 1440.", "100")
    };
    let api = Api::default()
        .get("/api/health", health::health, health::health_operation())
        .get(
            "/api/status",
            health::status,
            Operation::new("Exchange", "How the parts are.").returns::<Answer<Status>>(),
        )
        .get(
            "/api/prices",
            prices::prices,
            about("Prices of all tokens.").cached().returns::<Answer<Object<PriceEntry<'_>>>>(),
        )
        .get("/api/prices/{address}", prices::price, token("A token's price.").returns::<Answer<PriceEntry<'_>>>())
        .get(
            "/api/prices/{address}/history",
            prices::history,
            span(token("What a price was.")).returns::<Answer<Points>>(),
        )
        .get(
            "/api/prices/{address}/candles",
            prices::candles,
            token("Opening, highest, lowest and closing prices.")
                .query::<CandleLength>("interval", "Length of a candle: 1m, 5m, 1h or 1d.", "1m")
                .query::<Limit<1_440>>("limit", "Candles at most, 1 to 1440; the newest.", "100")
                .returns::<Answer<Vec<Candle>>>(),
        )
        .get("/api/tokens", prices::tokens, about("All tokens.").cached().returns::<Answer<Vec<TokenEntry<'_>>>>())
        .get(
            "/api/tokens/swap",
            prices::swap_tokens,
            about("All tokens with what a swap form shows.").cached().returns::<Answer<Vec<SwapTokenEntry<'_>>>>(),
        )
        .get(
            "/api/quote",
            quote::quote,
            about("What a swap would bring: the vault's own answer at the newest block.")
                .required::<TokenText>("tokenIn", "Address or symbol of the token to pay with.", "WETH")
                .required::<TokenText>("tokenOut", "Address or symbol of the token to receive.", "USDC")
                .required::<Amount>("amountIn", "How much to pay, in the token's smallest unit.", "1000000000000000000")
                .query::<BasisPoints>("slippageBps", "How much less to accept, in basis points, 0 to 10000.", "50")
                .fails(&[400, 404])
                .returns::<Answer<SwapQuote>>(),
        );
    let api = if exchange.desk.is_open() { admin::routes(api) } else { api };
    api.and(|router| {
        router
            .method_not_allowed_fallback(method_not_allowed)
            .route("/api", any(not_found))
            .route("/api/", any(not_found))
            .route("/api/{*rest}", any(not_found))
    })
    .with_state(exchange)
}

impl From<MarketError> for RestError {
    fn from(error: MarketError) -> Self {
        match error {
            MarketError::Contract(error) => Self::Unavailable(format!("the contracts cannot be read: {error}")),
            MarketError::Interrupted(what) => Self::Internal(what),
        }
    }
}

impl Exchange {
    fn respond(&self, request: &HeaderMap, body: &Rendered) -> Response {
        // Prices that stand still tell nothing about how long the rest holds.
        let keep = self.tick.map_or(Keep::Seconds(0), |tick| Keep::Seconds(tick.as_secs()));
        body.respond(request, keep, self.clock.now_ms())
    }

    fn token(&self, text: &str) -> Result<usize, RestError> {
        let wanted = address(text)?;
        let found = self.market.network().tokens.iter().position(|token| token.address == wanted);
        found.ok_or_else(|| RestError::NotFound(format!("no token {wanted}")))
    }
}

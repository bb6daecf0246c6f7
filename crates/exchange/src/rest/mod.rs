//! The REST interface (see the book, "Exchange").

mod admin;
mod health;
mod prices;
mod quote;

use axum::{Router, http::HeaderMap, routing::any};
use tetrad_network::network::Network;
use tetrad_web::{
    Api, CachePolicy, Cached, Interface, Operation, Rendered, RestError, method_not_allowed,
    not_found,
};

use super::{Exchange, MarketError, bodies::CurrentBodies};

/// The routes under `/api` with their description, and 404 for every other path below it.
pub(super) fn router(exchange: Exchange) -> (Router, Vec<Operation>) {
    let api = Api::new("Exchange")
        .get(
            "/api/health",
            health::health,
            "Health of the exchange: 503 if prices are stale.",
        )
        .named("getExchangeHealth")
        .get(
            "/api/status",
            health::status,
            "The state of the node's services.",
        )
        .named("getExchangeStatus")
        .get("/api/prices", prices::prices, "Prices of all tokens.")
        .get("/api/prices/{address}", prices::price, "A token's price.")
        .get(
            "/api/prices/{address}/history",
            prices::history,
            "Past prices of a token.",
        )
        .get(
            "/api/prices/{address}/candles",
            prices::candles,
            "Opening, highest, lowest and closing prices.",
        )
        .get("/api/tokens", prices::tokens, "All tokens.")
        .get(
            "/api/tokens/swap",
            prices::swap_tokens,
            "All tokens with price, liquidity and volume.",
        )
        .named("getSwapTokens")
        .get(
            "/api/quote",
            quote::quote,
            "A quote for a swap, from the vault at the newest block.",
        );
    let api = if exchange.manual_prices.is_open() {
        admin::routes(api)
    } else {
        api
    };
    api.and(|router| {
        router
            .method_not_allowed_fallback(method_not_allowed)
            .route("/api/", any(not_found))
            .route("/api/{*rest}", any(not_found))
    })
    .with_state(exchange)
}

impl From<MarketError> for RestError {
    fn from(error: MarketError) -> Self {
        match error {
            MarketError::Contract(error) => {
                Self::Unavailable(format!("the contracts cannot be read: {error}"))
            }
            MarketError::Interrupted(what) => Self::Internal(what),
        }
    }
}

impl Interface for Exchange {
    type Error = RestError;

    fn network(&self) -> &Network {
        self.market.network()
    }
}

impl Exchange {
    /// The bodies as of the newest head.
    async fn current_bodies(&self) -> Result<CurrentBodies, MarketError> {
        let state = self.market.current().await?;
        Ok(self.bodies.of(state))
    }

    fn respond<T>(&self, request: &HeaderMap, body: &Rendered) -> Cached<T> {
        // Without updates at a fixed interval, a body has no known lifetime.
        let policy = self.tick.map_or(CachePolicy::MaxAge(0), |tick| {
            CachePolicy::MaxAge(tick.as_secs())
        });
        Cached::new(body, request, policy, self.clock.now_ms())
    }
}

//! The REST interface (specification, 4.5): view calls of the lens, so that it says what contracts say.

use std::sync::Arc;

use alloy_primitives::Address;
use axum::{
    Router,
    extract::{Path, State, rejection::PathRejection},
    http::HeaderMap,
    response::Response,
};

use super::{
    bodies::{PoolBody, PoolDetails, PoolHistory, PositionsBody, ScoreBody, UserBody},
    reader::{Reader, Topic},
};
use crate::{
    chain::{Chain, Clock},
    network::Network,
    web::{
        Api, Keep, Operation, Queries, Rendered, RestError, method_not_allowed,
        parameters::{AccountText, Limit, Timeframe, TokenText},
        user_address,
    },
};

/// Samples of a pool's history, if nobody says how many, and at most.
const DEFAULT_SAMPLES: u64 = 100;
const MAX_SAMPLES: u64 = 500;

/// The interface. Clones share it.
#[derive(Clone)]
pub struct Lending(Arc<Shared>);

struct Shared {
    network: Arc<Network>,
    clock: Arc<dyn Clock>,
    reader: Reader,
}

impl Lending {
    /// The interface to the lending pool of `network` on `chain`.
    pub fn new(chain: Chain, network: Arc<Network>, clock: Arc<dyn Clock>) -> Self {
        let reader = Reader::new(chain, &network, clock.clone());
        Self(Arc::new(Shared { network, clock, reader }))
    }

    /// Routes under `/api`, and what there is to say about them.
    pub fn router(&self) -> (Router, Vec<Operation>) {
        let about = |summary| Operation::new("Lending", summary).cached();
        let pool = |summary| {
            let asset = "The asset's address in any case, or its symbol.";
            about(summary).path::<TokenText>("asset", asset, "WETH").fails(&[400, 404])
        };
        let user = |summary| {
            let address = "The user's address: hex in any case, or bech32.";
            let example = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
            about(summary).path::<AccountText>("address", address, example).fails(&[400])
        };
        Api::default()
            .get("/api/pools", pools, about("All pools.").returns::<Vec<PoolBody>>())
            .get("/api/pools/{asset}", one_pool, pool("Everything about a pool.").returns::<PoolDetails>())
            .get(
                "/api/pools/{asset}/history",
                history,
                pool("A pool's utilisation and rates.")
                    .query::<Timeframe>("period", "How far back: 1h, 24h, 7d or 30d.", "24h")
                    .query::<Timeframe>("timeframe", "Another name for `period`.", "24h")
                    .query::<Limit<MAX_SAMPLES>>("limit", "Samples at most, 1 to 500.", "100")
                    .returns::<PoolHistory>(),
            )
            .get("/api/user/{address}", account, user("A user in short.").returns::<UserBody>())
            .get(
                "/api/user/{address}/positions",
                positions,
                user("What a user has supplied and owes.").returns::<PositionsBody>(),
            )
            .get("/api/user/{address}/score", score, user("A credit score explained.").returns::<ScoreBody>())
            .each(|operation| operation.fails(&[500, 503]))
            .and(|router| router.method_not_allowed_fallback(method_not_allowed))
            .with_state(self.clone())
    }

    fn respond(&self, request: &HeaderMap, body: &Rendered) -> Response {
        // A deposit has to be in the very next answer, so nobody may keep one without asking.
        body.respond(request, Keep::Revalidate, self.0.clock.now_ms())
    }

    async fn about(&self, topic: Topic, request: &HeaderMap) -> Result<Response, RestError> {
        self.0.reader.about(topic, |body| self.respond(request, body)).await
    }

    fn user(&self, path: AddressPath) -> Result<Address, RestError> {
        user_address("address", &path?.0, &self.0.network.hrp)
    }

    fn asset(&self, path: AddressPath) -> Result<Address, RestError> {
        let text = path?.0;
        self.0.network.token(&text).map(|token| token.address).ok_or_else(|| {
            RestError::NotFound(format!("no pool of asset {:?}", text.chars().take(50).collect::<String>()))
        })
    }
}

type AddressPath = Result<Path<String>, PathRejection>;

async fn pools(State(lending): State<Lending>, headers: HeaderMap) -> Result<Response, RestError> {
    let body = lending.0.reader.pools().await?;
    Ok(lending.respond(&headers, &body))
}

async fn one_pool(
    State(lending): State<Lending>,
    path: AddressPath,
    headers: HeaderMap,
) -> Result<Response, RestError> {
    lending.about(Topic::Pool(lending.asset(path)?), &headers).await
}

async fn history(
    State(lending): State<Lending>,
    path: AddressPath,
    query: Queries,
    headers: HeaderMap,
) -> Result<Response, RestError> {
    let asset = lending.asset(path)?;
    let (timeframe, count) = (query.timeframe()?, query.number("limit", 1..=MAX_SAMPLES, DEFAULT_SAMPLES)?);
    let body = lending.0.reader.history(asset, timeframe, count).await?;
    Ok(lending.respond(&headers, &body))
}

async fn account(State(lending): State<Lending>, path: AddressPath, headers: HeaderMap) -> Result<Response, RestError> {
    lending.about(Topic::User(lending.user(path)?), &headers).await
}

async fn positions(
    State(lending): State<Lending>,
    path: AddressPath,
    headers: HeaderMap,
) -> Result<Response, RestError> {
    lending.about(Topic::Positions(lending.user(path)?), &headers).await
}

async fn score(State(lending): State<Lending>, path: AddressPath, headers: HeaderMap) -> Result<Response, RestError> {
    lending.about(Topic::Score(lending.user(path)?), &headers).await
}

//! The REST interface (see the book, "Lending"): view calls of the lens, so that it agrees with the
//! contracts.

use std::sync::Arc;

use alloy_primitives::Address;
use axum::{Router, extract::State, http::HeaderMap};
use schemars::Schema;
use tetrad_chain::Chain;
use tetrad_network::network::Network;
use tetrad_stdx::clock::Clock;
use tetrad_web::{
    Api, CachePolicy, Cached, Interface, Operation, Path, Query, Rendered, RestError,
    method_not_allowed,
    parameters::{
        Limit, NamedToken, ParameterError, ParameterPlace, ParameterValue, Timeframe, UserAddress,
        ValueError, parameters,
    },
};

use super::{
    bodies::{PoolBody, PoolDetails, PoolHistory, PositionsBody, ScoreBody, UserBody},
    reader::{LensReader, Topic},
};

/// The interface. Clones share it.
#[derive(Clone)]
pub struct Lending(Arc<SharedLending>);

struct SharedLending {
    network: Arc<Network>,
    clock: Arc<dyn Clock>,
    reader: LensReader,
}

/// The asset of a pool, by its address or symbol.
enum PoolAsset {
    /// A token of the network.
    Token(Address),
    /// Another asset, which the pool may have been given later.
    Named(String),
}

impl ParameterValue for PoolAsset {
    const MAY_BE_UNKNOWN: bool = true;

    fn schema() -> Schema {
        NamedToken::schema()
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ValueError> {
        Ok(match network.token(text) {
            Some(token) => Self::Token(token.address),
            None => Self::Named(text.to_owned()),
        })
    }
}

parameters! {
    /// The path of a route about one pool.
    struct PoolPath {
        /// The asset's address in any case, or its symbol.
        #[param("asset", example = "WETH")]
        asset: PoolAsset,
    }
}

parameters! {
    /// The path of a route about one user.
    struct UserPath {
        /// The user's address: hex in any case, or bech32.
        #[param("address", example = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266")]
        user: UserAddress,
    }
}

parameters! {
    /// The query of a pool's history.
    struct HistoryQuery {
        /// How far back.
        #[param("period" | "timeframe")]
        timeframe: Timeframe,
        /// Samples at most.
        #[param("limit")]
        limit: Limit<500, 100>,
    }
}

impl Interface for Lending {
    type Error = RestError;

    fn network(&self) -> &Network {
        &self.0.network
    }
}

impl Lending {
    /// The interface to the lending pool of `network` on `chain`.
    pub fn new(chain: Chain, network: Arc<Network>, clock: Arc<dyn Clock>) -> Self {
        let reader = LensReader::new(chain, &network, clock.clone());
        Self(Arc::new(SharedLending {
            network,
            clock,
            reader,
        }))
    }

    /// The routes under `/api` and their description.
    pub fn router(&self) -> (Router, Vec<Operation>) {
        Api::new("Lending")
            .get("/api/pools", pools, "All pools.")
            .get("/api/pools/{asset}", one_pool, "Details of a pool.")
            .get(
                "/api/pools/{asset}/history",
                history,
                "A pool's utilisation and rates.",
            )
            .get("/api/user/{address}", account, "Summary of a user.")
            .get(
                "/api/user/{address}/positions",
                positions,
                "A user's deposits and loans.",
            )
            .get(
                "/api/user/{address}/score",
                score,
                "Components of a credit score.",
            )
            .and(|router| router.method_not_allowed_fallback(method_not_allowed))
            .with_state(self.clone())
    }

    fn respond<T>(&self, request: &HeaderMap, body: &Rendered) -> Cached<T> {
        // A deposit has to be in the very next answer, so caches must revalidate each time.
        Cached::new(
            body,
            request,
            CachePolicy::Revalidate,
            self.0.clock.now_ms(),
        )
    }

    /// Returns the address of an asset, which a pool exists for.
    async fn asset(&self, asset: PoolAsset) -> Result<Address, RestError> {
        match asset {
            PoolAsset::Token(address) => Ok(address),
            PoolAsset::Named(name) => match self.0.reader.pools().await?.find(&name) {
                Some(address) => Ok(address),
                None => Err(ParameterError {
                    name: "asset",
                    place: ParameterPlace::Path,
                    error: ValueError::unknown("pool of asset", &name),
                }
                .into()),
            },
        }
    }

    async fn single<T>(&self, topic: Topic, request: &HeaderMap) -> Body<T> {
        self.0
            .reader
            .single(topic, |body| self.respond(request, body))
            .await
    }
}

/// A cached answer.
type Body<T> = Result<Cached<T>, RestError>;

async fn pools(State(lending): State<Lending>, headers: HeaderMap) -> Body<Vec<PoolBody>> {
    let pools = lending.0.reader.pools().await?;
    Ok(lending.respond(&headers, &pools.body))
}

async fn one_pool(
    State(lending): State<Lending>,
    Path(path): Path<PoolPath>,
    headers: HeaderMap,
) -> Body<PoolDetails> {
    lending
        .single(Topic::Pool(lending.asset(path.asset).await?), &headers)
        .await
}

async fn history(
    State(lending): State<Lending>,
    Path(path): Path<PoolPath>,
    Query(query): Query<HistoryQuery>,
    headers: HeaderMap,
) -> Body<PoolHistory> {
    let asset = lending.asset(path.asset).await?;
    let body = lending
        .0
        .reader
        .history(asset, query.timeframe, query.limit.0)
        .await?;
    Ok(lending.respond(&headers, &body))
}

async fn account(
    State(lending): State<Lending>,
    Path(path): Path<UserPath>,
    headers: HeaderMap,
) -> Body<UserBody> {
    lending.single(Topic::User(path.user.0), &headers).await
}

async fn positions(
    State(lending): State<Lending>,
    Path(path): Path<UserPath>,
    headers: HeaderMap,
) -> Body<PositionsBody> {
    lending
        .single(Topic::Positions(path.user.0), &headers)
        .await
}

async fn score(
    State(lending): State<Lending>,
    Path(path): Path<UserPath>,
    headers: HeaderMap,
) -> Body<ScoreBody> {
    lending.single(Topic::Score(path.user.0), &headers).await
}

//! The REST interface (specification, 4.5): view calls of the lens at the newest block, one for everybody who asks.

use std::{collections::HashMap, sync::Arc};

use alloy_primitives::{Address, map::DefaultHashBuilder};
use alloy_sol_types::SolCall;
use axum::{
    Router,
    extract::{Path, State, rejection::PathRejection},
    http::HeaderMap,
    response::Response,
    routing::get,
};
use parking_lot::Mutex;
use tokio::sync::{OnceCell, Semaphore};

use super::{bodies, contract::LendingLens};
use crate::{
    account::{Hrp, address_from_hex, parse_account_address},
    chain::{Chain, Clock, Head, View},
    contracts::read,
    network::Network,
    web::{Keep, PerHead, Rendered, RestError, method_not_allowed},
};

/// View calls that run at a time.
const MAX_EXECUTIONS: usize = 32;
/// Users whose bodies are held for one head.
const MAX_USERS: usize = 10_000;

/// The interface. Clones share it.
#[derive(Clone)]
pub struct Lending(Arc<Shared>);

struct Shared {
    chain: Chain,
    network: Arc<Network>,
    clock: Arc<dyn Clock>,
    pools: PerHead<Rendered>,
    users: PerHead<Users>,
    executions: Arc<Semaphore>,
}

/// What is told about a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Topic {
    Account,
    Score,
}

/// A body that is rendered once, whoever and how many ask for it.
type Shelf = Arc<OnceCell<Rendered>>;

/// Bodies about users at one head.
#[derive(Default)]
struct Users(Mutex<HashMap<(Address, Topic), Shelf, DefaultHashBuilder>>);

impl Lending {
    /// The interface to the lending pool of `network` on `chain`.
    pub fn new(chain: Chain, network: Arc<Network>, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Shared {
            chain,
            network,
            clock,
            pools: PerHead::default(),
            users: PerHead::default(),
            executions: Arc::new(Semaphore::new(MAX_EXECUTIONS)),
        }))
    }

    /// Routes under `/api`.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/api/pools", get(pools))
            .route("/api/user/{address}", get(account))
            .route("/api/user/{address}/score", get(score))
            .method_not_allowed_fallback(method_not_allowed)
            .with_state(self.clone())
    }

    /// Asks the lens as of `head` and renders what it says.
    async fn ask<C>(
        &self,
        head: Arc<Head>,
        call: C,
        render: impl FnOnce(C::Return) -> String + Send + 'static,
    ) -> Result<Rendered, RestError>
    where
        C: SolCall + Send + 'static,
    {
        let permit = self.0.executions.clone().acquire_owned().await;
        let lens = self.0.network.contracts.lending_lens;
        let run = move || {
            let _permit = permit;
            read(&View::newest(head), lens, &call).map(render)
        };
        let body = tokio::task::spawn_blocking(run).await.map_err(|error| RestError::Internal(error.to_string()))?;
        let body = body.map_err(|error| RestError::Unavailable(format!("the pool cannot be read: {error}")))?;
        Ok(Rendered::new(body, self.0.clock.now_ms()))
    }

    fn respond(&self, request: &HeaderMap, body: &Rendered) -> Response {
        // A deposit has to be in the very next answer, so nobody may keep one without asking.
        body.respond(request, Keep::Revalidate, self.0.clock.now_ms())
    }

    async fn about_user(&self, text: &str, topic: Topic, request: &HeaderMap) -> Result<Response, RestError> {
        let address = user_address(text, &self.0.network.hrp)?;
        let empty = |_| async { Ok::<_, RestError>(Users::default()) };
        let (head, users) = self.0.users.get(&self.0.chain, empty).await?;
        let body = users.body(address, topic);
        let body = body.get_or_try_init(|| async {
            match topic {
                Topic::Account => {
                    let call = LendingLens::getAccountCall { user: address };
                    self.ask(head, call, move |view| bodies::user(address, &view)).await
                }
                Topic::Score => {
                    let call = LendingLens::getScoreCall { user: address };
                    self.ask(head, call, move |view| bodies::score(address, &view)).await
                }
            }
        });
        Ok(self.respond(request, body.await?))
    }
}

impl Users {
    /// The place of a body. Beyond the limit it is nobody else's.
    fn body(&self, address: Address, topic: Topic) -> Shelf {
        let mut users = self.0.lock();
        if users.len() >= MAX_USERS && !users.contains_key(&(address, topic)) {
            return Arc::default();
        }
        users.entry((address, topic)).or_default().clone()
    }
}

async fn pools(State(lending): State<Lending>, headers: HeaderMap) -> Result<Response, RestError> {
    let make = |head| lending.ask(head, LendingLens::getPoolsCall {}, |views| bodies::pools(&views));
    let (_, body) = lending.0.pools.get(&lending.0.chain, make).await?;
    Ok(lending.respond(&headers, &body))
}

type AddressPath = Result<Path<String>, PathRejection>;

async fn account(State(lending): State<Lending>, path: AddressPath, headers: HeaderMap) -> Result<Response, RestError> {
    lending.about_user(&path?.0, Topic::Account, &headers).await
}

async fn score(State(lending): State<Lending>, path: AddressPath, headers: HeaderMap) -> Result<Response, RestError> {
    lending.about_user(&path?.0, Topic::Score, &headers).await
}

/// Hex in any case, or bech32 of an account.
fn user_address(text: &str, hrp: &Hrp) -> Result<Address, RestError> {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let parsed = if is_hex { address_from_hex(&text.to_ascii_lowercase()) } else { parse_account_address(text, hrp) };
    parsed.map_err(|error| RestError::parameter("address", error.to_string()))
}

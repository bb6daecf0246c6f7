//! The REST interface.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, State, rejection::PathRejection},
    http::header,
    response::{IntoResponse, Response},
};
use tokio::sync::Semaphore;

use super::{
    bodies::PageBody,
    scan::{Position, Wanted, scan},
};
use crate::{
    chain::Chain,
    network::Network,
    web::{
        Api, Operation, Queries, RestError, method_not_allowed,
        parameters::{AccountText, Limit, PageStart, TokenText},
        user_address,
    },
};

/// Entries of a page, if nobody says how many, and at most.
const DEFAULT_LIMIT: u64 = 50;
const MAX_LIMIT: u64 = 200;
/// Walks over the blocks at a time.
const MAX_SCANS: usize = 4;

/// The interface. Clones share it.
#[derive(Clone)]
pub struct Activity {
    chain: Chain,
    network: Arc<Network>,
    scans: Arc<Semaphore>,
}

impl Activity {
    /// The interface to what happened on `chain`.
    pub fn new(chain: Chain, network: Arc<Network>) -> Self {
        Self { chain, network, scans: Arc::new(Semaphore::new(MAX_SCANS)) }
    }

    /// Routes under `/api`, and what there is to say about them.
    pub fn router(&self) -> (Router, Vec<Operation>) {
        let page = |summary| {
            Operation::new("Activity", summary)
                .query::<Limit<MAX_LIMIT>>("limit", "Entries at most, 1 to 200.", "50")
                .query::<PageStart>("before", "The `next` of the page before.", "12-3")
                .returns::<PageBody>()
                .fails(&[400, 500])
        };
        let user = "The user's address: hex in any case, or bech32.";
        let example = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
        Api::default()
            .get(
                "/api/swaps",
                swaps,
                page("Swaps, newest first, as far back as the node keeps blocks.")
                    .query::<AccountText>("user", user, example)
                    .query::<TokenText>("token", "Address or symbol of a token on either side.", "WETH")
                    .fails(&[404]),
            )
            .get(
                "/api/user/{address}/history",
                history,
                page("What a user did on the exchange and in the lending pool, newest first.")
                    .path::<AccountText>("address", user, example),
            )
            .and(|router| router.method_not_allowed_fallback(method_not_allowed))
            .with_state(self.clone())
    }

    async fn page(&self, wanted: Wanted, query: &Queries) -> Result<Response, RestError> {
        let limit = query.number("limit", 1..=MAX_LIMIT, DEFAULT_LIMIT)? as usize;
        let before = query.get("before").map(|text| {
            text.parse::<Position>().map_err(|()| RestError::parameter("before", "expected the `next` of another page"))
        });
        let before = before.transpose()?;
        let permit = self.scans.clone().acquire_owned().await;
        let (chain, network) = (self.chain.clone(), self.network.clone());
        let walk = move || {
            let _permit = permit;
            let page = scan(&chain, &chain.head(), &network, wanted, before, limit);
            PageBody::new(&page, &network)
        };
        let body = tokio::task::spawn_blocking(walk).await.map_err(|error| RestError::Internal(error.to_string()))?;
        Ok(([(header::CACHE_CONTROL, "no-cache")], Json(body)).into_response())
    }
}

async fn swaps(State(activity): State<Activity>, query: Queries) -> Result<Response, RestError> {
    let user = query.get("user").map(|text| user_address("user", text, &activity.network.hrp)).transpose()?;
    let token = query.get("token").map(|text| {
        let found = activity.network.token(text).map(|token| token.address);
        found.ok_or_else(|| RestError::NotFound(format!("no token {:?}", text.chars().take(50).collect::<String>())))
    });
    activity.page(Wanted::Swaps { user, token: token.transpose()? }, &query).await
}

async fn history(
    State(activity): State<Activity>,
    path: Result<Path<String>, PathRejection>,
    query: Queries,
) -> Result<Response, RestError> {
    let user = user_address("address", &path?.0, &activity.network.hrp)?;
    activity.page(Wanted::User(user), &query).await
}

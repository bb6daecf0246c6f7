//! The REST interface.

use std::sync::Arc;

use axum::{Router, extract::State};
use schemars::{Schema, json_schema};
use tetrad_chain::Chain;
use tetrad_network::network::Network;
use tetrad_web::{
    Api, Interface, Operation, Path, Query, RestError, WrittenJson, in_long_turn,
    method_not_allowed,
    parameters::{Limit, NamedToken, ParameterValue, UserAddress, ValueError, parameters},
};

use super::{
    bodies::PageBody,
    scan::{RecordFilter, RecordPosition, scan},
};

/// The interface. Clones share it.
#[derive(Clone)]
pub struct Activity {
    chain: Chain,
    network: Arc<Network>,
}

impl ParameterValue for RecordPosition {
    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]{1,19}-[0-9]{1,19}$" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        text.parse()
            .map_err(|()| ValueError::malformed("expected the `next` of another page"))
    }
}

parameters! {
    /// The part of a list that is wanted.
    struct PageQuery {
        /// Entries at most.
        #[param("limit")]
        limit: Limit<200, 50>,
        /// The `next` of the previous page.
        #[param("before", example = "12-3")]
        before: Option<RecordPosition>,
    }
}

parameters! {
    /// The swaps that are wanted.
    struct SwapQuery {
        /// The user's address: hex in any case, or bech32.
        #[param("user", example = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266")]
        user: Option<UserAddress>,
        /// Address or symbol of a token on either side.
        #[param("token", example = "WETH")]
        token: Option<NamedToken>,
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

impl Interface for Activity {
    type Error = RestError;

    fn network(&self) -> &Network {
        &self.network
    }
}

impl Activity {
    /// The interface to the activity on `chain`.
    pub fn new(chain: Chain, network: Arc<Network>) -> Self {
        Self { chain, network }
    }

    /// The routes under `/api` and their description.
    pub fn router(&self) -> (Router, Vec<Operation>) {
        Api::new("Activity")
            .get(
                "/api/swaps",
                swaps,
                "Swaps, newest first, as far back as the node keeps blocks.",
            )
            .get(
                "/api/user/{address}/history",
                history,
                "A user's actions on the exchange and in the lending pool, newest first.",
            )
            .and(|router| router.method_not_allowed_fallback(method_not_allowed))
            .with_state(self.clone())
    }

    async fn page(
        &self,
        wanted: RecordFilter,
        page: PageQuery,
    ) -> Result<WrittenJson<PageBody>, RestError> {
        let chain = self.chain.clone();
        let network = self.network.clone();
        in_long_turn(move || {
            let page = scan(
                &chain,
                &chain.head(),
                &network,
                wanted,
                page.before,
                page.limit.0 as usize,
            );
            Ok(WrittenJson::new(&PageBody::new(&page, &network))?)
        })
        .await
    }
}

async fn swaps(
    State(activity): State<Activity>,
    Query(page): Query<PageQuery>,
    Query(query): Query<SwapQuery>,
) -> Result<WrittenJson<PageBody>, RestError> {
    let user = query.user.map(|UserAddress(user)| user);
    let token = query.token.map(|NamedToken(token)| token.address);
    activity
        .page(RecordFilter::Swaps { user, token }, page)
        .await
}

async fn history(
    State(activity): State<Activity>,
    Path(path): Path<UserPath>,
    Query(page): Query<PageQuery>,
) -> Result<WrittenJson<PageBody>, RestError> {
    activity.page(RecordFilter::User(path.user.0), page).await
}

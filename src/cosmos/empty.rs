//! What a Cosmos network has and this one has not: staking, rewards, inflation, governance. Wallets ask for it all the
//! same and want to hear that there is nothing, in the right shape.

use axum::{
    extract::{Path, State, rejection::PathRejection},
    response::Response,
};
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{
    Gateway,
    error::GatewayError,
    rest::{GatewayApi, about, answer, fails, of_address},
};
use crate::{
    account::{Kind, address_from_bech32, address_to_bech32, parse_account_address},
    web::{Operation, parameters::OperatorText},
};

/// Nothing, as a decimal of the SDK.
const ZERO: &str = "0.000000000000000000";

type Text = Result<Path<String>, PathRejection>;
type Answer = Result<Response, GatewayError>;

/// A list that is complete, under its name.
pub(super) fn page(name: &str, items: Vec<Value>) -> Value {
    let total = items.len().to_string();
    json!({ name: items, "pagination": { "next_key": null, "total": total } })
}

/// Adds which parameters of governance are meant.
fn kind(operation: Operation) -> Operation {
    fails(operation.path::<GovParams>("kind", "Which parameters.", "voting"), 400)
}

/// Adds the routes.
pub(super) fn routes(api: GatewayApi) -> GatewayApi {
    let api = api
        .get("/cosmos/staking/v1beta1/params", staking_params, about("How staking works."))
        .get("/cosmos/distribution/v1beta1/params", distribution_params, about("How rewards are distributed."))
        .get("/cosmos/mint/v1beta1/params", mint_params, about("How coins are minted."))
        .get(
            "/cosmos/staking/v1beta1/validators/{address}",
            validator,
            fails(fails(about("A validator, of which there is none."), 400), 404).path::<OperatorText>(
                "address",
                "An operator's address.",
                "paxvaloper17w0adeg64ky0daxwd2ugyuneellmjgnx5lw7at",
            ),
        )
        .get("/cosmos/gov/v1/params/{kind}", gov_params, kind(about("How proposals are decided.")))
        .get("/cosmos/gov/v1beta1/params/{kind}", gov_params, kind(about("How proposals are decided.")))
        .get(
            "/cosmos/distribution/v1beta1/delegators/{address}/withdraw_address",
            withdraw_address,
            of_address(about("Where rewards would go.")),
        );
    let fixed: [(&'static str, Value); 7] = [
        ("/cosmos/staking/v1beta1/pool", json!({ "pool": { "not_bonded_tokens": "0", "bonded_tokens": "0" } })),
        ("/cosmos/staking/v1beta1/validators", page("validators", Vec::new())),
        ("/cosmos/distribution/v1beta1/community_pool", json!({ "pool": [] })),
        ("/cosmos/mint/v1beta1/inflation", json!({ "inflation": ZERO })),
        ("/cosmos/mint/v1beta1/annual_provisions", json!({ "annual_provisions": ZERO })),
        ("/cosmos/gov/v1/proposals", page("proposals", Vec::new())),
        ("/cosmos/gov/v1beta1/proposals", page("proposals", Vec::new())),
    ];
    let api = fixed.into_iter().fold(api, |api, (path, body)| {
        let handler = move || async move { answer(body) };
        api.get(path, handler, about("Nothing: the network has no staking, inflation or governance."))
    });
    let of_accounts = [
        ("/cosmos/staking/v1beta1/delegations/{address}", "delegation_responses"),
        ("/cosmos/staking/v1beta1/delegators/{address}/unbonding_delegations", "unbonding_responses"),
        ("/cosmos/staking/v1beta1/delegators/{address}/redelegations", "redelegation_responses"),
        ("/cosmos/staking/v1beta1/delegators/{address}/validators", "validators"),
        ("/cosmos/distribution/v1beta1/delegators/{address}/rewards", "rewards"),
        ("/cosmos/authz/v1beta1/grants/granter/{address}", "grants"),
        ("/cosmos/authz/v1beta1/grants/grantee/{address}", "grants"),
        ("/cosmos/feegrant/v1beta1/allowances/{address}", "allowances"),
    ];
    of_accounts.into_iter().fold(api, |api, (path, name)| {
        let handler = move |State(gateway): State<Gateway>, path: Text| async move {
            parse_account_address(&path?.0, &gateway.network.hrp)?;
            let body = match name {
                "rewards" => json!({ "rewards": [], "total": [] }),
                name => page(name, Vec::new()),
            };
            Ok::<_, GatewayError>(answer(body))
        };
        api.get(path, handler, of_address(about("Nothing: the network has no staking and no grants.")))
    })
}

async fn staking_params(State(gateway): State<Gateway>) -> Response {
    answer(json!({ "params": {
        "unbonding_time": "1814400s",
        "max_validators": 100,
        "max_entries": 7,
        "historical_entries": 10_000,
        "bond_denom": gateway.network.denomination,
        "min_commission_rate": ZERO,
    } }))
}

async fn distribution_params() -> Response {
    answer(json!({ "params": {
        "community_tax": ZERO,
        "base_proposer_reward": ZERO,
        "bonus_proposer_reward": ZERO,
        "withdraw_addr_enabled": true,
    } }))
}

async fn mint_params(State(gateway): State<Gateway>) -> Response {
    answer(json!({ "params": {
        "mint_denom": gateway.network.denomination,
        "inflation_rate_change": ZERO,
        "inflation_max": ZERO,
        "inflation_min": ZERO,
        "goal_bonded": ZERO,
        "blocks_per_year": "0",
    } }))
}

/// The groups of parameters that governance has.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "for the schema only")]
enum GovParams {
    Voting,
    Tallying,
    Deposit,
}

async fn gov_params(path: Text) -> Answer {
    let (name, params) = match path?.0.as_str() {
        "voting" => ("voting_params", json!({ "voting_period": "0s" })),
        "tallying" => ("tally_params", json!({ "quorum": ZERO, "threshold": ZERO, "veto_threshold": ZERO })),
        "deposit" => ("deposit_params", json!({ "min_deposit": [], "max_deposit_period": "0s" })),
        _ => return Err(GatewayError::InvalidArgument("expected voting, tallying or deposit".to_owned())),
    };
    Ok(answer(json!({ name: params })))
}

async fn validator(State(gateway): State<Gateway>, path: Text) -> Result<(), GatewayError> {
    let Path(text) = path?;
    address_from_bech32(&text, &gateway.network.hrp, Kind::ValidatorOperator)?;
    Err(GatewayError::NotFound(format!("validator {text} not found")))
}

async fn withdraw_address(State(gateway): State<Gateway>, path: Text) -> Answer {
    let address = parse_account_address(&path?.0, &gateway.network.hrp)?;
    let address = address_to_bech32(&address, &gateway.network.hrp, Kind::Account);
    Ok(answer(json!({ "withdraw_address": address })))
}

//! Modules of Cosmos networks that this one lacks: staking, rewards, inflation, governance. Wallets query them all the
//! same and expect empty results in the right shape.

use std::convert::Infallible;

use axum::extract::State;
use serde_json::{Value, json};

use super::{
    Gateway,
    error::NotFound,
    parameters::{AccountPath, GovernancePath, ValidatorPath, ZERO},
    rest::{SdkReply, answer},
};
use crate::{
    account::{Kind, address_to_bech32},
    web::{Api, Path},
};

/// A list with all of its items, under its name.
pub(super) fn page(name: &str, items: Vec<Value>) -> Value {
    let total = items.len().to_string();
    json!({ name: items, "pagination": { "next_key": null, "total": total } })
}

/// Adds the routes.
pub(super) fn routes(api: Api<Gateway>) -> Api<Gateway> {
    let api = api
        .get("/cosmos/staking/v1beta1/params", staking_params, "Parameters of the staking module.")
        .get("/cosmos/distribution/v1beta1/params", distribution_params, "Parameters of the distribution module.")
        .get("/cosmos/mint/v1beta1/params", mint_params, "Parameters of the mint module.")
        .get(
            "/cosmos/staking/v1beta1/validators/{address}",
            validator,
            "Always 404: there are no validators to delegate to.",
        )
        .get("/cosmos/gov/v1/params/{kind}", governance_params, "Parameters of the governance module.")
        .get("/cosmos/gov/v1beta1/params/{kind}", governance_params, "Parameters of the governance module.")
        .get(
            "/cosmos/distribution/v1beta1/delegators/{address}/withdraw_address",
            withdraw_address,
            "The withdraw address of rewards: the account itself.",
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
        api.get(path, handler, "Always empty: the network has no staking, inflation or governance.")
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
        // The path is read for the sake of malformed addresses, which are refused.
        let handler = move |_: Path<AccountPath>| async move {
            answer(match name {
                "rewards" => json!({ "rewards": [], "total": [] }),
                name => page(name, Vec::new()),
            })
        };
        api.get(path, handler, "Always empty: the network has no staking and no grants.")
    })
}

async fn staking_params(State(gateway): State<Gateway>) -> SdkReply {
    answer(json!({ "params": {
        "unbonding_time": "1814400s",
        "max_validators": 100,
        "max_entries": 7,
        "historical_entries": 10_000,
        "bond_denom": gateway.network.denomination,
        "min_commission_rate": ZERO,
    } }))
}

async fn distribution_params() -> SdkReply {
    answer(json!({ "params": {
        "community_tax": ZERO,
        "base_proposer_reward": ZERO,
        "bonus_proposer_reward": ZERO,
        "withdraw_addr_enabled": true,
    } }))
}

async fn mint_params(State(gateway): State<Gateway>) -> SdkReply {
    answer(json!({ "params": {
        "mint_denom": gateway.network.denomination,
        "inflation_rate_change": ZERO,
        "inflation_max": ZERO,
        "inflation_min": ZERO,
        "goal_bonded": ZERO,
        "blocks_per_year": "0",
    } }))
}

async fn governance_params(Path(path): Path<GovernancePath>) -> SdkReply {
    answer(path.params.body())
}

async fn validator(Path(path): Path<ValidatorPath>) -> Result<Infallible, NotFound> {
    Err(NotFound(format!("validator {} not found", path.operator.0)))
}

async fn withdraw_address(State(gateway): State<Gateway>, Path(path): Path<AccountPath>) -> SdkReply {
    let address = address_to_bech32(&path.account.address, &gateway.network.hrp, Kind::Account);
    answer(json!({ "withdraw_address": address }))
}

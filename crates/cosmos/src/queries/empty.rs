//! Modules that the network lacks: staking, rewards, inflation, grants, upgrades, IBC. Wallets
//! query them all the same and expect empty results in the right shape.

use serde_json::{Value, json};
use tetrad_network::account::{Kind, address_to_bech32};

use super::{Call, Query, query};
use crate::error::GatewayError;

const NO_STAKING: &str = "Always empty: the network has no staking.";
const NO_VALIDATOR: &str = "Always 404: there are no validators to delegate to.";
const NO_GRANTS: &str = "Always empty: the network has no grants.";
const NO_IBC: &str = "Always empty: the network has no IBC.";

pub(super) const QUERIES: &[Query] = &[
    query(
        "cosmos.authz.v1beta1.Query/GranteeGrants",
        of_account,
        NO_GRANTS,
    ),
    query(
        "cosmos.authz.v1beta1.Query/GranterGrants",
        of_account,
        NO_GRANTS,
    ),
    query("cosmos.authz.v1beta1.Query/Grants", nothing, NO_GRANTS),
    query(
        "cosmos.distribution.v1beta1.Query/CommunityPool",
        nothing,
        NO_STAKING,
    ),
    query(
        "cosmos.distribution.v1beta1.Query/DelegationRewards",
        of_account,
        NO_STAKING,
    ),
    query(
        "cosmos.distribution.v1beta1.Query/DelegationTotalRewards",
        of_account,
        NO_STAKING,
    ),
    query(
        "cosmos.distribution.v1beta1.Query/DelegatorValidators",
        of_account,
        NO_STAKING,
    ),
    query(
        "cosmos.distribution.v1beta1.Query/DelegatorWithdrawAddress",
        withdraw_address,
        "The withdraw address of rewards: the account itself.",
    ),
    query(
        "cosmos.distribution.v1beta1.Query/Params",
        distribution_params,
        "Parameters of the distribution module.",
    ),
    query(
        "cosmos.distribution.v1beta1.Query/ValidatorCommission",
        validator,
        NO_VALIDATOR,
    ),
    query(
        "cosmos.distribution.v1beta1.Query/ValidatorOutstandingRewards",
        validator,
        NO_VALIDATOR,
    ),
    query(
        "cosmos.distribution.v1beta1.Query/ValidatorSlashes",
        validator,
        NO_VALIDATOR,
    ),
    query(
        "cosmos.evidence.v1beta1.Query/AllEvidence",
        nothing,
        "Always empty: there is no consensus to break.",
    ),
    query(
        "cosmos.feegrant.v1beta1.Query/Allowance",
        no_allowance,
        "Always 404: the network has no grants.",
    ),
    query(
        "cosmos.feegrant.v1beta1.Query/Allowances",
        of_account,
        NO_GRANTS,
    ),
    query(
        "cosmos.feegrant.v1beta1.Query/AllowancesByGranter",
        of_account,
        NO_GRANTS,
    ),
    query(
        "cosmos.mint.v1beta1.Query/AnnualProvisions",
        no_provisions,
        "Always zero: the network has no inflation.",
    ),
    query(
        "cosmos.mint.v1beta1.Query/Inflation",
        no_inflation,
        "Always zero: the network has no inflation.",
    ),
    query(
        "cosmos.mint.v1beta1.Query/Params",
        mint_params,
        "Parameters of the mint module.",
    ),
    query(
        "cosmos.slashing.v1beta1.Query/Params",
        slashing_params,
        "Parameters of the slashing module.",
    ),
    query(
        "cosmos.slashing.v1beta1.Query/SigningInfo",
        no_signing_info,
        "Always 404: there are no validators.",
    ),
    query(
        "cosmos.slashing.v1beta1.Query/SigningInfos",
        nothing,
        NO_STAKING,
    ),
    query(
        "cosmos.staking.v1beta1.Query/Delegation",
        no_delegation,
        NO_VALIDATOR,
    ),
    query(
        "cosmos.staking.v1beta1.Query/DelegatorDelegations",
        of_account,
        NO_STAKING,
    ),
    query(
        "cosmos.staking.v1beta1.Query/DelegatorUnbondingDelegations",
        of_account,
        NO_STAKING,
    ),
    query(
        "cosmos.staking.v1beta1.Query/DelegatorValidator",
        no_delegation,
        NO_VALIDATOR,
    ),
    query(
        "cosmos.staking.v1beta1.Query/DelegatorValidators",
        of_account,
        NO_STAKING,
    ),
    query(
        "cosmos.staking.v1beta1.Query/HistoricalInfo",
        no_history,
        "Always 404: there are no validators.",
    ),
    query(
        "cosmos.staking.v1beta1.Query/Params",
        staking_params,
        "Parameters of the staking module.",
    ),
    query("cosmos.staking.v1beta1.Query/Pool", pool, NO_STAKING),
    query(
        "cosmos.staking.v1beta1.Query/Redelegations",
        of_account,
        NO_STAKING,
    ),
    query(
        "cosmos.staking.v1beta1.Query/UnbondingDelegation",
        no_delegation,
        NO_VALIDATOR,
    ),
    query(
        "cosmos.staking.v1beta1.Query/Validator",
        validator,
        NO_VALIDATOR,
    ),
    query(
        "cosmos.staking.v1beta1.Query/ValidatorDelegations",
        validator,
        NO_VALIDATOR,
    ),
    query(
        "cosmos.staking.v1beta1.Query/ValidatorUnbondingDelegations",
        validator,
        NO_VALIDATOR,
    ),
    query(
        "cosmos.staking.v1beta1.Query/Validators",
        nothing,
        NO_STAKING,
    ),
    query(
        "cosmos.upgrade.v1beta1.Query/AppliedPlan",
        nothing,
        "Always 0: the network has no upgrades.",
    ),
    query(
        "cosmos.upgrade.v1beta1.Query/CurrentPlan",
        nothing,
        "Always null: the network has no upgrades.",
    ),
    query(
        "cosmos.upgrade.v1beta1.Query/ModuleVersions",
        nothing,
        "Always empty: the network has no upgrades.",
    ),
    query(
        "ibc.applications.transfer.v1.Query/Denom",
        no_trace,
        "Always not found: the network has no IBC.",
    ),
    query(
        "ibc.applications.transfer.v1.Query/DenomTrace",
        no_trace,
        "Always not found: the network has no IBC.",
    ),
    query(
        "ibc.applications.transfer.v1.Query/DenomTraces",
        nothing,
        NO_IBC,
    ),
    query("ibc.applications.transfer.v1.Query/Denoms", nothing, NO_IBC),
    query(
        "ibc.applications.transfer.v1.Query/Params",
        no_params,
        NO_IBC,
    ),
    query(
        "ibc.core.channel.v1.Query/Channel",
        no_ibc,
        "Always not found: the network has no IBC.",
    ),
    query("ibc.core.channel.v1.Query/Channels", nothing, NO_IBC),
    query(
        "ibc.core.channel.v1.Query/ConnectionChannels",
        nothing,
        NO_IBC,
    ),
    query("ibc.core.client.v1.Query/ClientParams", no_params, NO_IBC),
    query(
        "ibc.core.client.v1.Query/ClientState",
        no_ibc,
        "Always not found: the network has no IBC.",
    ),
    query("ibc.core.client.v1.Query/ClientStates", nothing, NO_IBC),
    query(
        "ibc.core.connection.v1.Query/Connection",
        no_ibc,
        "Always not found: the network has no IBC.",
    ),
    query(
        "ibc.core.connection.v1.Query/ConnectionParams",
        no_params,
        NO_IBC,
    ),
    query("ibc.core.connection.v1.Query/Connections", nothing, NO_IBC),
];

/// No items, on a page if the response has pages.
fn nothing(call: &Call<'_>) -> Result<Value, GatewayError> {
    let output = call.method.descriptor.output();
    Ok(if output.get_field_by_name("pagination").is_some() {
        json!({ "pagination": {} })
    } else {
        json!({})
    })
}

/// No items of an account, which has to be named.
fn of_account(call: &Call<'_>) -> Result<Value, GatewayError> {
    call.check_accounts()?;
    nothing(call)
}

/// Empty parameters.
fn no_params(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "params": {} }))
}

fn validator(call: &Call<'_>) -> Result<Value, GatewayError> {
    let operator = match call.text("validator_addr") {
        empty if empty.is_empty() => call.text("validator_address"),
        operator => operator,
    };
    Err(GatewayError::NotFound(format!(
        "validator {operator} not found"
    )))
}

fn no_delegation(call: &Call<'_>) -> Result<Value, GatewayError> {
    let delegator = call.text("delegator_addr");
    let operator = call.text("validator_addr");
    Err(GatewayError::NotFound(format!(
        "delegation with delegator {delegator} not found for validator {operator}"
    )))
}

fn no_allowance(call: &Call<'_>) -> Result<Value, GatewayError> {
    call.check_accounts()?;
    Err(GatewayError::NotFound("fee-grant not found".to_owned()))
}

fn no_signing_info(call: &Call<'_>) -> Result<Value, GatewayError> {
    Err(GatewayError::NotFound(format!(
        "SigningInfo not found for validator {}",
        call.text("cons_address")
    )))
}

fn no_trace(call: &Call<'_>) -> Result<Value, GatewayError> {
    Err(GatewayError::NotFound(format!(
        "denomination trace {} not found",
        call.text("hash")
    )))
}

fn no_ibc(_: &Call<'_>) -> Result<Value, GatewayError> {
    Err(GatewayError::NotFound(
        "not found: the network has no IBC".to_owned(),
    ))
}

fn no_history(call: &Call<'_>) -> Result<Value, GatewayError> {
    Err(GatewayError::NotFound(format!(
        "historical info for height {} not found",
        call.number("height")
    )))
}

fn withdraw_address(call: &Call<'_>) -> Result<Value, GatewayError> {
    let account = call.account("delegator_address")?;
    Ok(
        json!({ "withdraw_address": address_to_bech32(&account, &call.gateway.network.hrp, Kind::Account) }),
    )
}

fn staking_params(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "params": {
        "unbonding_time": "1814400s",
        "max_validators": 100,
        "max_entries": 7,
        "historical_entries": 10_000,
        "bond_denom": call.gateway.network.denomination,
        "min_commission_rate": "0",
    } }))
}

fn pool(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "pool": { "not_bonded_tokens": "0", "bonded_tokens": "0" } }))
}

fn distribution_params(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "params": {
        "community_tax": "0",
        "base_proposer_reward": "0",
        "bonus_proposer_reward": "0",
        "withdraw_addr_enabled": true,
    } }))
}

fn mint_params(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "params": {
        "mint_denom": call.gateway.network.denomination,
        "inflation_rate_change": "0",
        "inflation_max": "0",
        "inflation_min": "0",
        "goal_bonded": "0",
    } }))
}

/// Decimals in bytes hold the text of the integer.
pub(super) const ZERO_BYTES: &str = "MA==";

fn no_inflation(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "inflation": ZERO_BYTES }))
}

fn no_provisions(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "annual_provisions": ZERO_BYTES }))
}

fn slashing_params(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "params": {
        "min_signed_per_window": ZERO_BYTES,
        "downtime_jail_duration": "0s",
        "slash_fraction_double_sign": ZERO_BYTES,
        "slash_fraction_downtime": ZERO_BYTES,
    } }))
}

//! Governance, which the network lacks: parameters are zero, and there are no proposals.

use serde_json::{Value, json};
use tetrad_stdx::text::excerpt;

use super::{Call, Query, empty::ZERO_BYTES, page::page, query};
use crate::error::GatewayError;

const PARAMS: &str = "Parameters of the governance module: voting, tallying or deposit.";
const NO_PROPOSALS: &str = "Always empty: the network has no governance.";
const NO_PROPOSAL: &str = "Always 404: the network has no governance.";

pub(super) const QUERIES: &[Query] = &[
    query(
        "cosmos.gov.v1.Query/Constitution",
        constitution,
        NO_PROPOSALS,
    ),
    query("cosmos.gov.v1.Query/Deposit", no_proposal, NO_PROPOSAL),
    query("cosmos.gov.v1.Query/Deposits", deposits, NO_PROPOSALS),
    query("cosmos.gov.v1.Query/Params", params, PARAMS),
    query("cosmos.gov.v1.Query/Proposal", no_proposal, NO_PROPOSAL),
    query("cosmos.gov.v1.Query/Proposals", proposals, NO_PROPOSALS),
    query("cosmos.gov.v1.Query/TallyResult", no_proposal, NO_PROPOSAL),
    query("cosmos.gov.v1.Query/Vote", no_proposal, NO_PROPOSAL),
    query("cosmos.gov.v1.Query/Votes", votes, NO_PROPOSALS),
    query("cosmos.gov.v1beta1.Query/Deposit", no_proposal, NO_PROPOSAL),
    query("cosmos.gov.v1beta1.Query/Deposits", deposits, NO_PROPOSALS),
    query("cosmos.gov.v1beta1.Query/Params", legacy_params, PARAMS),
    query(
        "cosmos.gov.v1beta1.Query/Proposal",
        no_proposal,
        NO_PROPOSAL,
    ),
    query(
        "cosmos.gov.v1beta1.Query/Proposals",
        proposals,
        NO_PROPOSALS,
    ),
    query(
        "cosmos.gov.v1beta1.Query/TallyResult",
        no_proposal,
        NO_PROPOSAL,
    ),
    query("cosmos.gov.v1beta1.Query/Vote", no_proposal, NO_PROPOSAL),
    query("cosmos.gov.v1beta1.Query/Votes", votes, NO_PROPOSALS),
];

/// Nothing, in the plain text that this module's decimals are.
const ZERO: &str = "0.000000000000000000";

/// The group of parameters that the request names, with `zero` as its decimals.
fn group(call: &Call<'_>, zero: &str) -> Result<Value, GatewayError> {
    let kind = call.text("params_type");
    Ok(match kind.as_str() {
        "voting" => json!({ "voting_params": { "voting_period": "0s" } }),
        "tallying" => {
            json!({ "tally_params": { "quorum": zero, "threshold": zero, "veto_threshold": zero } })
        }
        "deposit" => json!({ "deposit_params": { "max_deposit_period": "0s" } }),
        _ => {
            let kind = excerpt(&kind, 50);
            let what = format!(
                "{kind:?} is not a valid parameter type: expected voting, tallying or deposit"
            );
            return Err(GatewayError::InvalidArgument(what));
        }
    })
}

fn params(call: &Call<'_>) -> Result<Value, GatewayError> {
    let mut body = group(call, ZERO)?;
    body["params"] = json!({
        "max_deposit_period": "0s",
        "voting_period": "0s",
        "quorum": ZERO,
        "threshold": ZERO,
        "veto_threshold": ZERO,
        "min_initial_deposit_ratio": ZERO,
        "proposal_cancel_ratio": ZERO,
        "expedited_voting_period": "0s",
        "expedited_threshold": ZERO,
        "min_deposit_ratio": ZERO,
    });
    Ok(body)
}

/// The whole response of this version has all groups, of which only the one that was asked for has
/// values.
fn legacy_params(call: &Call<'_>) -> Result<Value, GatewayError> {
    group(call, ZERO_BYTES)
}

fn proposals(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(page("proposals", Vec::new()))
}

fn votes(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(page("votes", Vec::new()))
}

fn deposits(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(page("deposits", Vec::new()))
}

fn no_proposal(call: &Call<'_>) -> Result<Value, GatewayError> {
    Err(GatewayError::NotFound(format!(
        "proposal {} doesn't exist",
        call.number("proposal_id")
    )))
}

fn constitution(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({}))
}

//! Balances of the native coin. Tokens are contracts, which `eth_call` reads.

use alloy_primitives::{B256, U256};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tetrad_network::network::Network;
use tetrad_stdx::text::excerpt;

use super::{Call, Query, page::page, query};
use crate::error::GatewayError;

/// Decimals of the native coin.
const DECIMALS: u8 = 18;

pub(super) const QUERIES: &[Query] = &[
    query(
        "cosmos.bank.v1beta1.Query/AllBalances",
        balances,
        "An account's balances.",
    ),
    query(
        "cosmos.bank.v1beta1.Query/Balance",
        balance,
        "An account's balance of a coin.",
    ),
    query(
        "cosmos.bank.v1beta1.Query/DenomMetadata",
        metadata,
        "A coin.",
    ),
    query(
        "cosmos.bank.v1beta1.Query/DenomMetadataByQueryString",
        metadata,
        "A coin.",
    ),
    query(
        "cosmos.bank.v1beta1.Query/DenomsMetadata",
        all_metadata,
        "All coins.",
    ),
    query(
        "cosmos.bank.v1beta1.Query/Params",
        params,
        "Parameters of the bank module.",
    ),
    query(
        "cosmos.bank.v1beta1.Query/SendEnabled",
        send_enabled,
        "Always empty: every coin can be sent.",
    ),
    query(
        "cosmos.bank.v1beta1.Query/SpendableBalanceByDenom",
        balance,
        "An account's spendable balance of a coin.",
    ),
    query(
        "cosmos.bank.v1beta1.Query/SpendableBalances",
        balances,
        "An account's spendable balances.",
    ),
    query(
        "cosmos.bank.v1beta1.Query/SupplyOf",
        supply_of,
        "The supply of a coin.",
    ),
    query(
        "cosmos.bank.v1beta1.Query/TotalSupply",
        total_supply,
        "The supply of all coins.",
    ),
];

/// The supply in the newest state that was asked for. Counting it visits every account.
#[derive(Debug, Default)]
pub(crate) struct SupplyCache(Mutex<Option<(B256, U256)>>);

impl SupplyCache {
    /// The supply in the state with this root. Concurrent requests wait for one to count.
    fn get(&self, root: B256, count: impl FnOnce() -> U256) -> U256 {
        let mut counted = self.0.lock();
        match &*counted {
            Some((of, supply)) if *of == root => *supply,
            _ => counted.insert((root, count())).1,
        }
    }
}

fn coin(denom: &str, amount: U256) -> Value {
    json!({ "denom": denom, "amount": amount.to_string() })
}

/// The coins that an amount of the native coin makes: none if it is zero.
fn coins(network: &Network, amount: U256) -> Vec<Value> {
    if amount.is_zero() {
        Vec::new()
    } else {
        vec![coin(&network.denomination, amount)]
    }
}

/// The denomination that the request names: a letter, then 2 to 127 of the characters that the SDK
/// allows (`types/coin.go`).
fn denomination(call: &Call<'_>) -> Result<String, GatewayError> {
    let denom = call.text("denom");
    let mut bytes = denom.bytes();
    let is_valid = bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && (2..=127).contains(&bytes.len())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"/:._-".contains(&byte));
    match denom.as_str() {
        "" => Err(GatewayError::InvalidArgument("empty denom".to_owned())),
        _ if is_valid => Ok(denom),
        _ => {
            let denom = excerpt(&denom, 130);
            Err(GatewayError::InvalidArgument(format!(
                "invalid denom: {denom}"
            )))
        }
    }
}

fn balances(call: &Call<'_>) -> Result<Value, GatewayError> {
    let amount = call.balance(call.account("address")?)?;
    Ok(page("balances", coins(&call.gateway.network, amount)))
}

fn balance(call: &Call<'_>) -> Result<Value, GatewayError> {
    let address = call.account("address")?;
    let denom = denomination(call)?;
    let amount = if denom == call.gateway.network.denomination {
        call.balance(address)?
    } else {
        U256::ZERO
    };
    Ok(json!({ "balance": coin(&denom, amount) }))
}

/// The sum of all balances. A fork does not know the accounts of the chain beneath it.
fn supply(call: &Call<'_>) -> Result<U256, GatewayError> {
    let state = &call.view.state;
    if state.base().is_some() {
        return Err(GatewayError::Unimplemented(
            "the supply of a forked chain is not known",
        ));
    }
    // Counting visits every account, so its result is kept for the state.
    Ok(call.gateway.supply.get(state.root(), || {
        state.accounts().fold(U256::ZERO, |sum, account| {
            sum.saturating_add(account.balance)
        })
    }))
}

fn total_supply(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(page("supply", coins(&call.gateway.network, supply(call)?)))
}

fn supply_of(call: &Call<'_>) -> Result<Value, GatewayError> {
    let denom = denomination(call)?;
    let amount = if denom == call.gateway.network.denomination {
        supply(call)?
    } else {
        U256::ZERO
    };
    Ok(json!({ "amount": coin(&denom, amount) }))
}

fn native(network: &Network) -> Value {
    let denom = &network.denomination;
    let coin = &network.coin;
    json!({
        "description": format!("The native coin of {}", network.cosmos_chain_id),
        "denom_units": [{ "denom": denom, "exponent": 0 }, { "denom": coin, "exponent": DECIMALS }],
        "base": denom,
        "display": coin,
        "name": coin,
        "symbol": coin,
    })
}

fn all_metadata(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(page("metadatas", vec![native(&call.gateway.network)]))
}

fn metadata(call: &Call<'_>) -> Result<Value, GatewayError> {
    let denom = call.text("denom");
    if denom != call.gateway.network.denomination {
        return Err(GatewayError::NotFound(format!(
            "client metadata for denom {denom}"
        )));
    }
    Ok(json!({ "metadata": native(&call.gateway.network) }))
}

fn params(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "params": { "default_send_enabled": true } }))
}

fn send_enabled(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(page("send_enabled", Vec::new()))
}

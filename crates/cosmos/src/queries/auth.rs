//! Accounts. Their state is that of the EVM.

use alloy_primitives::{B256, hex, keccak256};
use base64ct::{Base64, Encoding};
use serde_json::{Value, json};
use tetrad_network::{
    account::{Kind, address_from_bech32, address_to_bech32},
    network::Network,
};
use tetrad_primitives::state::Account;

use super::{Call, Query, page::PageRequest, query};
use crate::{error::GatewayError, protobuf::BASE_ACCOUNT};

pub(super) const QUERIES: &[Query] = &[
    query("cosmos.auth.v1beta1.Query/Account", account, "An account.").deviating(flatten_account),
    query(
        "cosmos.auth.v1beta1.Query/AccountInfo",
        account_info,
        "Summary of an account.",
    ),
    query(
        "cosmos.auth.v1beta1.Query/Accounts",
        accounts,
        "All accounts, in the order of their hashed addresses.",
    )
    .deviating(flatten_accounts),
    query(
        "cosmos.auth.v1beta1.Query/AccountAddressByID",
        address_by_id,
        "The account with a number.",
    ),
    query(
        "cosmos.auth.v1beta1.Query/AddressBytesToString",
        to_text,
        "The bech32 form of an address.",
    ),
    query(
        "cosmos.auth.v1beta1.Query/AddressStringToBytes",
        to_bytes,
        "The bytes of a bech32 address.",
    ),
    query(
        "cosmos.auth.v1beta1.Query/Bech32Prefix",
        prefix,
        "The prefix of addresses.",
    ),
    query(
        "cosmos.auth.v1beta1.Query/ModuleAccounts",
        module_accounts,
        "Always empty: modules have no accounts.",
    ),
    query(
        "cosmos.auth.v1beta1.Query/ModuleAccountByName",
        module_account,
        "Always 404: modules have no accounts.",
    ),
    query(
        "cosmos.auth.v1beta1.Query/Params",
        params,
        "Parameters of the auth module.",
    ),
];

/// Repeats the base account beside the fields of the network's own account.
fn flatten_account(body: &mut Value) {
    flatten(&mut body["account"]);
}

/// Does so for each account of a list.
fn flatten_accounts(body: &mut Value) {
    body["accounts"]
        .as_array_mut()
        .into_iter()
        .flatten()
        .for_each(flatten);
}

fn flatten(account: &mut Value) {
    let base = account
        .get("base_account")
        .and_then(Value::as_object)
        .cloned();
    if let (Some(base), Some(members)) = (base, account.as_object_mut()) {
        members.extend(base);
    }
}

/// The base account. The public key is absent before the first signed transaction.
fn base_account(account: &Account, network: &Network) -> Value {
    let key = account.public_key.as_ref();
    let key = key.map(
        |key| json!({ "@type": network.key_type, "key": Base64::encode_string(key.as_slice()) }),
    );
    json!({
        "address": address_to_bech32(&account.address, &network.hrp, Kind::Account),
        "pub_key": key,
        "account_number": account.shown_number().to_string(),
        "sequence": account.nonce.to_string(),
    })
}

/// The account in the type that the network names: `BaseAccount`, or one with the shape of
/// Ethermint's.
fn typed_account(account: &Account, network: &Network) -> Value {
    let mut base = base_account(account, network);
    if network.account_type == BASE_ACCOUNT {
        base["@type"] = BASE_ACCOUNT.into();
        return base;
    }
    let code_hash = hex::encode_prefixed(account.code_hash());
    json!({ "@type": network.account_type, "base_account": base, "code_hash": code_hash })
}

fn existing(call: &Call<'_>) -> Result<Account, GatewayError> {
    let account = call.state_of(call.account("address")?)?;
    account.ok_or_else(|| {
        GatewayError::NotFound(format!("account {} not found", call.text("address")))
    })
}

fn account(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "account": typed_account(&existing(call)?, &call.gateway.network) }))
}

fn account_info(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "info": base_account(&existing(call)?, &call.gateway.network) }))
}

fn accounts(call: &Call<'_>) -> Result<Value, GatewayError> {
    let PageRequest { key, offset, limit } = PageRequest::of(&call.request);
    let state = &call.view.state;

    let first = match key.as_slice() {
        [] => B256::ZERO,
        key => B256::try_from(key)
            .map_err(|_| GatewayError::InvalidArgument("invalid pagination key".to_owned()))?,
    };
    let all = state
        .accounts()
        .skip_while(|account| !key.is_empty() && keccak256(account.address) < first);
    let mut rest = all.skip(usize::try_from(offset).unwrap_or(usize::MAX));

    let network = &call.gateway.network;
    let listed: Vec<_> = rest
        .by_ref()
        .take(limit as usize)
        .map(|account| typed_account(account, network))
        .collect();

    // The key of a page is that of its first account.
    let next = rest
        .next()
        .map(|account| Base64::encode_string(keccak256(account.address).as_slice()));
    // The count is at hand, so it is reported even if the request does not ask for it.
    Ok(
        json!({ "accounts": listed, "pagination": { "next_key": next, "total": state.len().to_string() } }),
    )
}

fn address_by_id(call: &Call<'_>) -> Result<Value, GatewayError> {
    // The field `id` was renamed to `account_id` in the SDK, which reads both.
    let number = match call.number("account_id") {
        0 => call.number("id"),
        number => number,
    };
    let found = call
        .view
        .state
        .accounts()
        .find(|account| u64::from(account.number) == number);
    let account = found.ok_or_else(|| {
        GatewayError::NotFound(format!(
            "account address not found with account number {number}"
        ))
    })?;
    let address = address_to_bech32(&account.address, &call.gateway.network.hrp, Kind::Account);
    Ok(json!({ "account_address": address }))
}

fn to_text(call: &Call<'_>) -> Result<Value, GatewayError> {
    let bytes = call
        .request
        .get_field_by_name("address_bytes")
        .and_then(|value| value.as_bytes().cloned());
    let bytes = bytes.unwrap_or_default();
    let address = <[u8; 20]>::try_from(bytes.as_ref());
    let address = address.map_err(|_| {
        GatewayError::InvalidArgument(format!("expected 20 bytes, got {}", bytes.len()))
    })?;
    Ok(
        json!({ "address_string": address_to_bech32(&address.into(), &call.gateway.network.hrp, Kind::Account) }),
    )
}

fn to_bytes(call: &Call<'_>) -> Result<Value, GatewayError> {
    let address = address_from_bech32(
        &call.text("address_string"),
        &call.gateway.network.hrp,
        Kind::Account,
    )?;
    Ok(json!({ "address_bytes": Base64::encode_string(address.as_slice()) }))
}

fn prefix(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "bech32_prefix": call.gateway.network.hrp.as_str() }))
}

fn module_accounts(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({}))
}

fn module_account(call: &Call<'_>) -> Result<Value, GatewayError> {
    Err(GatewayError::NotFound(format!(
        "account {} not found",
        call.text("name")
    )))
}

/// The SDK's defaults, with which clients estimate sizes and gas.
fn params(_: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "params": {
        "max_memo_characters": "256",
        "tx_sig_limit": "7",
        "tx_size_cost_per_byte": "10",
        "sig_verify_cost_ed25519": "590",
        "sig_verify_cost_secp256k1": "1000",
    } }))
}

//! The EVM's modules, under the names of cosmos/evm and under Ethermint's: accounts, storage, code
//! and fees.

use alloy_primitives::{B256, U256, hex};
use base64ct::{Base64, Encoding};
use serde_json::{Value, json};
use tetrad_network::account::{Kind, address_to_bech32};
use tetrad_stdx::{digits, text::excerpt};

use super::{Call, Query, query};
use crate::error::GatewayError;

pub(super) const QUERIES: &[Query] = &[
    query(
        "cosmos.evm.feemarket.v1.Query/BaseFee",
        decimal_base_fee,
        BASE_FEE,
    )
    .deviating(cut_base_fee),
    query(
        "cosmos.evm.feemarket.v1.Query/BlockGas",
        block_gas,
        BLOCK_GAS,
    ),
    query(
        "cosmos.evm.feemarket.v1.Query/Params",
        decimal_fee_params,
        FEE_PARAMS,
    ),
    query("cosmos.evm.vm.v1.Query/Account", account, ACCOUNT),
    query("cosmos.evm.vm.v1.Query/Balance", balance, BALANCE),
    query("cosmos.evm.vm.v1.Query/BaseFee", base_fee, BASE_FEE),
    query("cosmos.evm.vm.v1.Query/Code", code, CODE),
    query(
        "cosmos.evm.vm.v1.Query/CosmosAccount",
        cosmos_account,
        COSMOS_ACCOUNT,
    ),
    query("cosmos.evm.vm.v1.Query/Params", params, PARAMS),
    query("cosmos.evm.vm.v1.Query/Storage", storage, STORAGE),
    query("ethermint.evm.v1.Query/Account", account, ACCOUNT),
    query("ethermint.evm.v1.Query/Balance", balance, BALANCE),
    query("ethermint.evm.v1.Query/BaseFee", base_fee, BASE_FEE),
    query("ethermint.evm.v1.Query/Code", code, CODE),
    query(
        "ethermint.evm.v1.Query/CosmosAccount",
        cosmos_account,
        COSMOS_ACCOUNT,
    ),
    query("ethermint.evm.v1.Query/Params", ethermint_params, PARAMS),
    query("ethermint.evm.v1.Query/Storage", storage, STORAGE),
    query("ethermint.feemarket.v1.Query/BaseFee", base_fee, BASE_FEE),
    query(
        "ethermint.feemarket.v1.Query/BlockGas",
        block_gas,
        BLOCK_GAS,
    ),
    query(
        "ethermint.feemarket.v1.Query/Params",
        fee_params,
        FEE_PARAMS,
    ),
];

const ACCOUNT: &str = "An account's balance, nonce and code hash.";
const BALANCE: &str = "An account's balance.";
const BASE_FEE: &str = "The base fee of the next block.";
const BLOCK_GAS: &str = "The gas that the newest block used.";
const CODE: &str = "A contract's code.";
const COSMOS_ACCOUNT: &str = "The bech32 address, number and sequence of an account.";
const FEE_PARAMS: &str = "Parameters of the fee market.";
const PARAMS: &str = "Parameters of the EVM.";
const STORAGE: &str = "A slot of a contract's storage.";

/// One, as a decimal of the SDK.
const ONE: u64 = 1_000_000_000_000_000_000;
/// Change of the base fee from block to block, and the share of the gas limit that is its target
/// (EIP-1559).
const BASE_FEE_CHANGE_DENOMINATOR: u32 = 8;
const ELASTICITY_MULTIPLIER: u32 = 2;
/// Blocks whose hashes the chain serves to contracts (EIP-2935).
const HISTORY_SERVE_WINDOW: u64 = 8_191;
/// The network's own precompile: bech32 conversion.
const BECH32_PRECOMPILE: &str = "0x0000000000000000000000000000000000000400";

fn account(call: &Call<'_>) -> Result<Value, GatewayError> {
    let account = call.state_of(call.account("address")?)?;
    let code_hash = account
        .as_ref()
        .map_or(alloy_primitives::KECCAK256_EMPTY, |account| {
            account.code_hash()
        });
    let (balance, nonce) =
        account.map_or((U256::ZERO, 0), |account| (account.balance, account.nonce));
    Ok(json!({
        "balance": balance.to_string(), "code_hash": hex::encode_prefixed(code_hash), "nonce": nonce.to_string(),
    }))
}

fn balance(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "balance": call.balance(call.account("address")?)?.to_string() }))
}

fn cosmos_account(call: &Call<'_>) -> Result<Value, GatewayError> {
    let address = call.account("address")?;
    let account = call
        .state_of(address)?
        .filter(|account| !account.is_beneath());
    let (number, sequence) = account.map_or((0, 0), |account| (account.number, account.nonce));
    Ok(json!({
        "cosmos_address": address_to_bech32(&address, &call.gateway.network.hrp, Kind::Account),
        "sequence": sequence.to_string(),
        "account_number": number.to_string(),
    }))
}

fn code(call: &Call<'_>) -> Result<Value, GatewayError> {
    let account = call.state_of(call.account("address")?)?;
    let code = account
        .map(|account| account.code().original_bytes())
        .unwrap_or_default();
    Ok(json!({ "code": Base64::encode_string(&code) }))
}

fn storage(call: &Call<'_>) -> Result<Value, GatewayError> {
    let address = call.account("address")?;
    let key = call.text("key");
    let slot = digits::hex(key.strip_prefix("0x").unwrap_or(&key)).ok_or_else(|| {
        let key = excerpt(&key, 70);
        GatewayError::InvalidArgument(format!("key: expected up to 64 hex digits, got {key:?}"))
    })?;
    let value = call.view.state.storage(address, slot)?;
    Ok(json!({ "value": B256::from(value).to_string() }))
}

fn params(call: &Call<'_>) -> Result<Value, GatewayError> {
    let own = call.view.head.params.network_precompiles;
    let everybody = json!({ "access_type": "ACCESS_TYPE_PERMISSIONLESS" });
    Ok(json!({ "params": {
        "evm_denom": call.gateway.network.denomination,
        "access_control": { "create": everybody, "call": everybody },
        "active_static_precompiles": Some(BECH32_PRECOMPILE).filter(|_| own).into_iter().collect::<Vec<_>>(),
        "history_serve_window": HISTORY_SERVE_WINDOW.to_string(),
    } }))
}

fn ethermint_params(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "params": {
        "evm_denom": call.gateway.network.denomination,
        "enable_create": true,
        "enable_call": true,
        "allow_unprotected_txs": true,
    } }))
}

/// The base fee of the block after the one that the state is of; 0 before London.
fn next_base_fee(call: &Call<'_>) -> Result<u64, GatewayError> {
    let head = &call.view.head;
    let number = call.view.block.number();
    if number == head.number() {
        return Ok(call.gateway.chain.next_base_fee(head).unwrap_or(0));
    }
    Ok(call.block(number + 1)?.header.base_fee_per_gas.unwrap_or(0))
}

/// Wei as a decimal of the SDK, which is an integer with 18 decimals.
fn decimal(wei: u64) -> String {
    (u128::from(wei) * u128::from(ONE)).to_string()
}

fn base_fee(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "base_fee": next_base_fee(call)?.to_string() }))
}

fn decimal_base_fee(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "base_fee": decimal(next_base_fee(call)?) }))
}

/// Shows the base fee in whole wei.
fn cut_base_fee(body: &mut Value) {
    let whole = body["base_fee"]
        .as_str()
        .and_then(|text| text.split('.').next())
        .map(str::to_owned);
    body["base_fee"] = whole.into();
}

fn block_gas(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "gas": call.view.block.header.gas_used.to_string() }))
}

fn fee_params(call: &Call<'_>) -> Result<Value, GatewayError> {
    Ok(json!({ "params": {
        "no_base_fee": call.view.block.header.base_fee_per_gas.is_none(),
        "base_fee_change_denominator": BASE_FEE_CHANGE_DENOMINATOR,
        "elasticity_multiplier": ELASTICITY_MULTIPLIER,
        "base_fee": next_base_fee(call)?.to_string(),
        "min_gas_price": (call.gateway.chain.min_tip().saturating_mul(ONE.into())).to_string(),
        "min_gas_multiplier": "0",
    } }))
}

fn decimal_fee_params(call: &Call<'_>) -> Result<Value, GatewayError> {
    let mut body = fee_params(call)?;
    body["params"]["base_fee"] = decimal(next_base_fee(call)?).into();
    Ok(body)
}

//! State and block overrides of calls, as geth takes them.

use std::collections::BTreeMap;

use alloy_eips::eip4895::Withdrawal;
use alloy_primitives::{Address, B256, Bytes, U256};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::{BlockPlan, PlannedCall};
use tetrad_evm::{AccountOverride, Environment, StateOverrides};

use super::request::field;
use crate::rpc::{
    RpcError,
    params::{self, Param, ParamRules},
    schema,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawAccount<'a> {
    #[serde(borrow)]
    balance: Option<&'a RawValue>,
    nonce: Option<&'a RawValue>,
    code: Option<&'a RawValue>,
    state: Option<BTreeMap<B256, B256>>,
    state_diff: Option<BTreeMap<B256, B256>>,
    move_precompile_to_address: Option<&'a RawValue>,
}

impl Param for StateOverrides {
    const DEFAULT: Option<fn() -> Self> = Some(Self::new);

    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let accounts: BTreeMap<Address, &RawValue> = serde_json::from_str(json)
            .map_err(|_| format!("expected an object by address, got {}", params::kind(json)))?;
        accounts
            .into_iter()
            .map(|(address, raw)| {
                account(raw.get(), rules)
                    .map(|account| (address, account))
                    .map_err(|what| format!("{address}: {what}"))
            })
            .collect()
    }

    fn schema() -> Value {
        let words = json!({"type": "object", "additionalProperties": B256::schema()});
        let account = schema::options([
            ("balance", U256::schema()),
            ("nonce", u64::schema()),
            ("code", Bytes::schema()),
            ("state", words.clone()),
            ("stateDiff", words),
            ("movePrecompileToAddress", Address::schema()),
        ]);
        json!({
            "type": "object",
            "propertyNames": Address::schema(),
            "additionalProperties": account,
        })
    }
}

fn account(json: &str, rules: ParamRules) -> Result<AccountOverride, String> {
    let raw: RawAccount<'_> = params::fields(json)?;
    if raw.state.is_some() && raw.state_diff.is_some() {
        return Err("has both 'state' and 'stateDiff'".to_owned());
    }

    Ok(AccountOverride {
        balance: field("balance", raw.balance, rules)?,
        nonce: field("nonce", raw.nonce, rules)?,
        code: field::<Bytes>("code", raw.code, rules)?,
        state: raw.state.map(slots),
        state_diff: raw.state_diff.map(slots).unwrap_or_default(),
        move_precompile_to: field(
            "movePrecompileToAddress",
            raw.move_precompile_to_address,
            rules,
        )?,
    })
}

fn slots(words: BTreeMap<B256, B256>) -> BTreeMap<U256, U256> {
    words
        .into_iter()
        .map(|(slot, value)| (slot.into(), value.into()))
        .collect()
}

/// The block overrides of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockOverrides {
    number: Option<u64>,
    time: Option<u64>,
    gas_limit: Option<u64>,
    fee_recipient: Option<Address>,
    prev_randao: Option<B256>,
    base_fee_per_gas: Option<U256>,
    blob_base_fee: Option<u128>,
    difficulty: Option<U256>,
    beacon_root: Option<B256>,
    withdrawals: Option<Vec<Withdrawal>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawBlockOverrides<'a> {
    #[serde(borrow)]
    number: Option<&'a RawValue>,
    time: Option<&'a RawValue>,
    gas_limit: Option<&'a RawValue>,
    #[serde(alias = "coinbase")]
    fee_recipient: Option<&'a RawValue>,
    #[serde(alias = "random")]
    prev_randao: Option<&'a RawValue>,
    #[serde(alias = "baseFee")]
    base_fee_per_gas: Option<&'a RawValue>,
    blob_base_fee: Option<&'a RawValue>,
    difficulty: Option<&'a RawValue>,
    beacon_root: Option<&'a RawValue>,
    withdrawals: Option<&'a RawValue>,
}

impl Param for BlockOverrides {
    const DEFAULT: Option<fn() -> Self> = Some(Self::default);

    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let raw: RawBlockOverrides<'_> = params::fields(json)?;
        // Clients may send any number of 256 bits; no chain gets beyond 64 bits.
        let number =
            field::<U256>("number", raw.number, rules)?.map(|number| number.saturating_to());
        Ok(Self {
            number,
            time: field("time", raw.time, rules)?,
            gas_limit: field("gasLimit", raw.gas_limit, rules)?,
            fee_recipient: field("feeRecipient", raw.fee_recipient, rules)?,
            prev_randao: field("prevRandao", raw.prev_randao, rules)?,
            base_fee_per_gas: field("baseFeePerGas", raw.base_fee_per_gas, rules)?,
            blob_base_fee: field("blobBaseFee", raw.blob_base_fee, rules)?,
            difficulty: field("difficulty", raw.difficulty, rules)?,
            beacon_root: field("beaconRoot", raw.beacon_root, rules)?,
            withdrawals: raw
                .withdrawals
                .map(|raw| params::shape(raw.get()))
                .transpose()?,
        })
    }

    fn schema() -> Value {
        schema::options([
            ("number", U256::schema()),
            ("time", u64::schema()),
            ("gasLimit", u64::schema()),
            ("feeRecipient", Address::schema()),
            ("prevRandao", B256::schema()),
            ("baseFeePerGas", u64::schema()),
            ("blobBaseFee", u128::schema()),
            ("difficulty", U256::schema()),
            ("beaconRoot", B256::schema()),
            ("withdrawals", json!({"type": "array"})),
        ])
    }
}

impl BlockOverrides {
    /// Applies the overrides to the environment of the call.
    pub(crate) fn apply(&self, environment: &mut Environment) -> Result<(), RpcError> {
        // Only a whole block has these, as in `eth_simulateV1`.
        for (name, given) in [
            ("beaconRoot", self.beacon_root.is_some()),
            ("withdrawals", self.withdrawals.is_some()),
        ] {
            if given {
                let message =
                    format!("block override \"{name}\" is not supported for this RPC method");
                return Err(RpcError::server(message));
            }
        }

        environment.number = self.number.unwrap_or(environment.number);
        environment.timestamp = self.time.unwrap_or(environment.timestamp);
        environment.gas_limit = self.gas_limit.unwrap_or(environment.gas_limit);
        environment.beneficiary = self.fee_recipient.unwrap_or(environment.beneficiary);
        environment.mix_hash = self.prev_randao.unwrap_or(environment.mix_hash);
        environment.difficulty = self.difficulty.unwrap_or(environment.difficulty);
        environment.base_fee = self.base_fee().or(environment.base_fee);
        environment.pretended_blob_base_fee = self.blob_base_fee;
        Ok(())
    }

    /// A block of a simulation with these overrides.
    pub(crate) fn into_plan(self, overrides: StateOverrides, calls: Vec<PlannedCall>) -> BlockPlan {
        BlockPlan {
            number: self.number,
            time: self.time,
            gas_limit: self.gas_limit,
            fee_recipient: self.fee_recipient,
            prev_randao: self.prev_randao,
            base_fee: self.base_fee(),
            blob_base_fee: self.blob_base_fee,
            difficulty: self.difficulty,
            beacon_root: self.beacon_root,
            withdrawals: self.withdrawals.unwrap_or_default(),
            overrides,
            calls,
        }
    }

    fn base_fee(&self) -> Option<u64> {
        self.base_fee_per_gas.map(|fee| fee.saturating_to())
    }
}

//! State and block overrides of calls, as geth takes them.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, Bytes, U256};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    evm::{AccountOverride, Environment, StateOverrides},
    rpc::params::{self, Param},
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
}

impl Param for StateOverrides {
    const DEFAULT: Option<fn() -> Self> = Some(Self::new);

    fn read(json: &str) -> Result<Self, String> {
        let accounts: BTreeMap<Address, &RawValue> = serde_json::from_str(json)
            .map_err(|_| format!("expected an object by address, got {}", params::kind(json)))?;
        accounts
            .into_iter()
            .map(|(address, raw)| {
                account(raw.get()).map(|account| (address, account)).map_err(|what| format!("{address}: {what}"))
            })
            .collect()
    }
}

fn account(json: &str) -> Result<AccountOverride, String> {
    let raw: RawAccount<'_> = serde_json::from_str(json).map_err(|error| error.to_string())?;
    if raw.state.is_some() && raw.state_diff.is_some() {
        return Err("has both 'state' and 'stateDiff'".to_owned());
    }
    let slots =
        |slots: BTreeMap<B256, B256>| slots.into_iter().map(|(slot, value)| (slot.into(), value.into())).collect();
    Ok(AccountOverride {
        balance: raw.balance.map(|raw| U256::read(raw.get())).transpose()?,
        nonce: raw.nonce.map(|raw| u64::read(raw.get())).transpose()?,
        code: raw.code.map(|raw| Bytes::read(raw.get())).transpose()?,
        state: raw.state.map(slots),
        state_diff: raw.state_diff.map(slots).unwrap_or_default(),
    })
}

/// What a call may pretend about its block.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BlockOverrides {
    number: Option<U256>,
    time: Option<U256>,
    gas_limit: Option<U256>,
    fee_recipient: Option<Address>,
    prev_randao: Option<B256>,
    base_fee_per_gas: Option<U256>,
    difficulty: Option<U256>,
}

impl Param for BlockOverrides {
    const DEFAULT: Option<fn() -> Self> = Some(Self::default);

    fn read(json: &str) -> Result<Self, String> {
        params::shape(json)
    }
}

impl BlockOverrides {
    /// Applies the overrides to the block that the call sees itself in.
    pub fn apply(&self, environment: &mut Environment) {
        let number = |value: Option<U256>, field: &mut u64| {
            if let Some(value) = value {
                *field = value.saturating_to();
            }
        };
        number(self.number, &mut environment.number);
        number(self.time, &mut environment.timestamp);
        number(self.gas_limit, &mut environment.gas_limit);
        environment.beneficiary = self.fee_recipient.unwrap_or(environment.beneficiary);
        environment.mix_hash = self.prev_randao.unwrap_or(environment.mix_hash);
        environment.difficulty = self.difficulty.unwrap_or(environment.difficulty);
        environment.base_fee = self.base_fee_per_gas.map(|fee| fee.saturating_to()).or(environment.base_fee);
    }
}

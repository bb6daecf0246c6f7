//! `abci_query`: queries of the gateway's modules in protocol buffers, as CosmJS asks them.

use alloy_primitives::{Address, U256, hex};
use base64ct::{Base64, Encoding};
use serde_json::{Value, json};

use super::{
    Gateway,
    proto::{Malformed, Message, text},
    rest::NO_BROADCAST,
};
use crate::{
    account::{AddressError, Kind, address_to_bech32, parse_account_address},
    chain::Head,
    state::{Account, ReadError},
};

/// Why a query has no answer: the SDK's codes (`types/errors/errors.go`) with the text that clients match on.
#[derive(Debug)]
struct Refusal {
    code: u32,
    log: String,
}

impl Refusal {
    fn unknown_path(path: &str) -> Self {
        let path: String = path.chars().take(100).collect();
        Self { code: 6, log: format!("unknown query path {path:?}: unknown request") }
    }

    fn invalid(what: impl std::fmt::Display) -> Self {
        Self { code: 18, log: format!("rpc error: code = InvalidArgument desc = {what}: invalid request") }
    }

    fn not_found(what: impl std::fmt::Display) -> Self {
        Self { code: 22, log: format!("rpc error: code = NotFound desc = {what}: key not found") }
    }
}

impl From<Malformed> for Refusal {
    fn from(_: Malformed) -> Self {
        Self::invalid("data is no message of this query")
    }
}

impl From<AddressError> for Refusal {
    fn from(error: AddressError) -> Self {
        Self::invalid(format!("invalid address: {error}"))
    }
}

impl From<ReadError> for Refusal {
    fn from(error: ReadError) -> Self {
        // What lies beneath a fork could not be read.
        Self { code: 1, log: format!("rpc error: code = Unavailable desc = {error}: internal error") }
    }
}

/// The `response` of CometBFT. `data` is the query in hex.
pub(super) fn answer(gateway: &Gateway, path: &str, data: &str) -> Value {
    let head = gateway.chain.head();
    let height = head.number().to_string();
    let data = hex::decode(data).map_err(|_| Refusal::invalid("data is not hex"));
    let (code, log, value) = match data.and_then(|data| query(gateway, &head, path, &data)) {
        Ok(message) => (0, String::new(), Some(Base64::encode_string(message.as_ref()))),
        Err(refusal) => (refusal.code, refusal.log, None),
    };
    let codespace = if code == 0 { "" } else { "sdk" };
    json!({
        "code": code, "log": log, "info": "", "index": "0", "key": null, "value": value, "proofOps": null,
        "height": height, "codespace": codespace,
    })
}

fn query(gateway: &Gateway, head: &Head, path: &str, data: &[u8]) -> Result<Message, Refusal> {
    let network = &gateway.network;
    let address = || -> Result<Address, Refusal> { Ok(parse_account_address(text(data, 1)?, &network.hrp)?) };
    let balance = |address| -> Result<U256, Refusal> {
        Ok(head.state.get(address)?.map_or(U256::ZERO, |account| account.balance))
    };
    let coin = |denomination: &str, amount: U256| Message::default().with(1, denomination).with(2, amount.to_string());
    Ok(match path {
        "/cosmos.auth.v1beta1.Query/Account" => {
            let account = head.state.get(address()?)?.ok_or_else(|| not_found(data))?;
            Message::default().with_message(1, &eth_account(gateway, &account))
        }
        "/cosmos.auth.v1beta1.Query/Bech32Prefix" => Message::default().with(1, network.hrp.as_str()),
        "/cosmos.bank.v1beta1.Query/Balance" | "/cosmos.bank.v1beta1.Query/SpendableBalanceByDenom" => {
            let (address, denomination) = (address()?, text(data, 2)?);
            if denomination.is_empty() {
                return Err(Refusal::invalid("empty denom"));
            }
            let amount = if denomination == network.denomination { balance(address)? } else { U256::ZERO };
            Message::default().with_message(1, &coin(denomination, amount))
        }
        "/cosmos.bank.v1beta1.Query/AllBalances" | "/cosmos.bank.v1beta1.Query/SpendableBalances" => {
            let amount = balance(address()?)?;
            let coins = Some(coin(&network.denomination, amount)).filter(|_| !amount.is_zero());
            page(coins.as_ref())
        }
        // There is no staking, so nobody has staked.
        "/cosmos.staking.v1beta1.Query/DelegatorDelegations"
        | "/cosmos.staking.v1beta1.Query/DelegatorUnbondingDelegations" => {
            address()?;
            page(None)
        }
        "/cosmos.tx.v1beta1.Service/Simulate" | "/cosmos.tx.v1beta1.Service/BroadcastTx" => {
            return Err(Refusal { code: 29, log: format!("{NO_BROADCAST}: feature not supported") });
        }
        other => return Err(Refusal::unknown_path(other)),
    })
}

/// A list of at most one, all of it.
fn page(item: Option<&Message>) -> Message {
    let total = Message::default().with_number(2, item.is_some().into());
    item.into_iter().fold(Message::default(), |page, item| page.with_message(1, item)).with_message(2, &total)
}

fn not_found(data: &[u8]) -> Refusal {
    Refusal::not_found(format!("account {} not found", text(data, 1).unwrap_or_default()))
}

/// `EthAccount` in an `Any`: what Ethermint's chains answer.
fn eth_account(gateway: &Gateway, account: &Account) -> Message {
    let network = &gateway.network;
    let any = |kind: &str, value: &Message| Message::default().with(1, kind).with(2, value);
    let mut base = Message::default().with(1, address_to_bech32(&account.address, &network.hrp, Kind::Account));
    if let Some(key) = &account.public_key {
        base = base.with_message(2, &any(&network.key_type, &Message::default().with(1, key.as_slice())));
    }
    let base = base.with_number(3, account.number.into()).with_number(4, account.nonce);
    let code_hash = hex::encode_prefixed(account.code_hash());
    any(&network.account_type, &Message::default().with_message(1, &base).with(2, code_hash))
}

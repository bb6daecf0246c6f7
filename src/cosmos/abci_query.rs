//! `abci_query`: the protobuf queries of the gateway's modules that CosmJS sends.

use alloy_primitives::{Address, U256, hex};
use base64ct::{Base64, Encoding};
use prost::{DecodeError, Message};
use serde_json::{Value, json};

use super::{
    Gateway,
    proto::{self, AddressRequest, Any, Coin},
    rest::NO_BROADCAST,
};
use crate::{
    account::{AddressError, Kind, address_to_bech32, parse_account_address},
    chain::Head,
    state::{Account, ReadError},
};

/// A failed query: the SDK's code (`types/errors/errors.go`) with the text that clients match on.
#[derive(Debug)]
struct QueryFailure {
    code: u32,
    log: String,
}

impl QueryFailure {
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

impl From<DecodeError> for QueryFailure {
    fn from(_: DecodeError) -> Self {
        Self::invalid("data is no message of this query")
    }
}

impl From<AddressError> for QueryFailure {
    fn from(error: AddressError) -> Self {
        Self::invalid(format!("invalid address: {error}"))
    }
}

impl From<ReadError> for QueryFailure {
    fn from(error: ReadError) -> Self {
        // The state of the forked node could not be read.
        Self { code: 1, log: format!("rpc error: code = Unavailable desc = {error}: internal error") }
    }
}

/// The `response` of CometBFT to a query whose message is `data`, in hex.
pub(super) fn answer(gateway: &Gateway, path: &str, data: &str) -> Value {
    let head = gateway.chain.head();
    let height = head.number().to_string();
    let data = hex::decode(data).map_err(|_| QueryFailure::invalid("data is not hex"));
    let (code, log, value) = match data.and_then(|data| query(gateway, &head, path, &data)) {
        Ok(message) => (0, String::new(), Some(Base64::encode_string(&message))),
        Err(refusal) => (refusal.code, refusal.log, None),
    };
    let codespace = if code == 0 { "" } else { "sdk" };
    json!({
        "code": code, "log": log, "info": "", "index": "0", "key": null, "value": value, "proofOps": null,
        "height": height, "codespace": codespace,
    })
}

/// The encoded response.
fn query(gateway: &Gateway, head: &Head, path: &str, data: &[u8]) -> Result<Vec<u8>, QueryFailure> {
    let network = &gateway.network;
    let parsed = |text: &str| parse_account_address(text, &network.hrp);
    let address = || -> Result<Address, QueryFailure> { Ok(parsed(&AddressRequest::decode(data)?.address)?) };
    let balance = |address| -> Result<U256, QueryFailure> {
        Ok(head.state.get(address)?.map_or(U256::ZERO, |account| account.balance))
    };
    let coin = |denom: &str, amount: U256| Coin { denom: denom.to_owned(), amount: amount.to_string() };
    Ok(match path {
        "/cosmos.auth.v1beta1.Query/Account" => {
            let text = AddressRequest::decode(data)?.address;
            let account = head.state.get(parsed(&text)?)?;
            let account = account.ok_or_else(|| QueryFailure::not_found(format!("account {text} not found")))?;
            proto::QueryAccountResponse { account: Some(eth_account(gateway, &account)) }.encode_to_vec()
        }
        "/cosmos.auth.v1beta1.Query/Bech32Prefix" => {
            proto::Bech32PrefixResponse { bech32_prefix: network.hrp.as_str().to_owned() }.encode_to_vec()
        }
        "/cosmos.bank.v1beta1.Query/Balance" | "/cosmos.bank.v1beta1.Query/SpendableBalanceByDenom" => {
            let proto::QueryBalanceRequest { address, denom } = proto::QueryBalanceRequest::decode(data)?;
            let address = parsed(&address)?;
            if denom.is_empty() {
                return Err(QueryFailure::invalid("empty denom"));
            }
            let amount = if denom == network.denomination { balance(address)? } else { U256::ZERO };
            proto::QueryBalanceResponse { balance: Some(coin(&denom, amount)) }.encode_to_vec()
        }
        "/cosmos.bank.v1beta1.Query/AllBalances" | "/cosmos.bank.v1beta1.Query/SpendableBalances" => {
            let amount = balance(address()?)?;
            page(Some(coin(&network.denomination, amount)).filter(|_| !amount.is_zero()))
        }
        // There is no staking, so these lists are empty.
        "/cosmos.staking.v1beta1.Query/DelegatorDelegations"
        | "/cosmos.staking.v1beta1.Query/DelegatorUnbondingDelegations" => {
            address()?;
            page(None)
        }
        "/cosmos.tx.v1beta1.Service/Simulate" | "/cosmos.tx.v1beta1.Service/BroadcastTx" => {
            return Err(QueryFailure { code: 29, log: format!("{NO_BROADCAST}: feature not supported") });
        }
        other => return Err(QueryFailure::unknown_path(other)),
    })
}

/// The only page of a list of at most one coin.
fn page(coin: Option<Coin>) -> Vec<u8> {
    let pagination = Some(proto::PageResponse { total: coin.is_some().into() });
    proto::QueryAllBalancesResponse { balances: coin.into_iter().collect(), pagination }.encode_to_vec()
}

/// `EthAccount` in an `Any`, the account type of Ethermint's chains.
fn eth_account(gateway: &Gateway, account: &Account) -> Any {
    let network = &gateway.network;
    let key = account.public_key.as_ref().map(|key| proto::PubKey { key: key.as_slice().to_vec() });
    let base_account = proto::BaseAccount {
        address: address_to_bech32(&account.address, &network.hrp, Kind::Account),
        pub_key: key.map(|key| Any::new(&network.key_type, &key)),
        account_number: account.number.into(),
        sequence: account.nonce,
    };
    let code_hash = hex::encode_prefixed(account.code_hash());
    Any::new(&network.account_type, &proto::EthAccount { base_account: Some(base_account), code_hash })
}

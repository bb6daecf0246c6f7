//! Accounts as a Cosmos gateway renders them, in both shapes that clients read.

use alloy_primitives::hex;
use base64ct::{Base64, Encoding};
use serde::Serialize;

use crate::{
    account::{Kind, ProtoPublicKey, address_to_bech32},
    network::Network,
    state::Account,
};

/// The response to an account query.
#[derive(Debug, Serialize)]
pub(super) struct AccountResponse {
    account: EthAccountBody,
}

/// The fields of the network's own account type, and the base account as Ethermint nests it.
#[derive(Debug, Serialize)]
struct EthAccountBody {
    #[serde(rename = "@type")]
    account_type: String,
    #[serde(flatten)]
    base: BaseAccountBody,
    code_hash: String,
    base_account: BaseAccountBody,
}

/// The fields of every account of a Cosmos chain.
#[derive(Clone, Debug, Serialize)]
pub(super) struct BaseAccountBody {
    address: String,
    /// None before the first signed transaction.
    pub_key: Option<ProtoPublicKey>,
    account_number: String,
    sequence: String,
}

impl BaseAccountBody {
    pub(super) fn new(account: &Account, network: &Network) -> Self {
        let key = account.public_key.as_ref().map(|key| ProtoPublicKey {
            type_url: network.key_type.clone(),
            key: Base64::encode_string(key.as_slice()),
        });
        Self {
            address: address_to_bech32(&account.address, &network.hrp, Kind::Account),
            pub_key: key,
            // An account that only the forked chain has loaded has no number here.
            account_number: if account.is_beneath() { 0 } else { account.number }.to_string(),
            sequence: account.nonce.to_string(),
        }
    }
}

impl AccountResponse {
    /// Renders an account of `network`.
    pub(super) fn new(account: &Account, network: &Network) -> Self {
        let base = BaseAccountBody::new(account, network);
        let code_hash = hex::encode_prefixed(account.code_hash());
        let account_type = network.account_type.clone();
        Self { account: EthAccountBody { account_type, base: base.clone(), code_hash, base_account: base } }
    }
}

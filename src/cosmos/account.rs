//! An account as a Cosmos gateway shows it, in both shapes that clients read.

use alloy_primitives::hex;
use base64ct::{Base64, Encoding};
use serde::Serialize;

use crate::{
    account::{Kind, ProtoPublicKey, address_to_bech32},
    network::Network,
    state::Account,
};

/// The answer to an account query.
#[derive(Debug, Serialize)]
pub(super) struct AccountResponse<'a> {
    account: EthAccount<'a>,
}

/// The specification's fields, and the base account of Ethermint's shape besides.
#[derive(Debug, Serialize)]
struct EthAccount<'a> {
    #[serde(rename = "@type")]
    account_type: &'a str,
    #[serde(flatten)]
    base: BaseAccount,
    code_hash: String,
    base_account: BaseAccount,
}

/// What every account of a Cosmos chain has.
#[derive(Clone, Debug, Serialize)]
pub(super) struct BaseAccount {
    address: String,
    /// None before the first signed transaction.
    pub_key: Option<ProtoPublicKey>,
    account_number: String,
    sequence: String,
}

impl BaseAccount {
    pub(super) fn new(account: &Account, network: &Network) -> Self {
        let key = account.public_key.as_ref().map(|key| ProtoPublicKey {
            type_url: network.key_type.clone(),
            key: Base64::encode_string(key.as_slice()),
        });
        Self {
            address: address_to_bech32(&account.address, &network.hrp, Kind::Account),
            pub_key: key,
            // Nobody knows the number of an account that a fork has only heard of.
            account_number: if account.is_beneath() { 0 } else { account.number }.to_string(),
            sequence: account.nonce.to_string(),
        }
    }
}

impl<'a> AccountResponse<'a> {
    /// Shows an account of `network`.
    pub(super) fn new(account: &Account, network: &'a Network) -> Self {
        let base = BaseAccount::new(account, network);
        let code_hash = hex::encode_prefixed(account.code_hash());
        let account_type = network.account_type.as_str();
        Self { account: EthAccount { account_type, base: base.clone(), code_hash, base_account: base } }
    }
}

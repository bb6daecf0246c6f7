//! Keys that the node holds and signs with.

use alloy_consensus::{EthereumTypedTransaction, SignableTransaction, TxEip4844};
use alloy_primitives::Address;

use super::SubmitError;
use crate::{
    account::{KeyError, SecretKey},
    block::{CompressedKey, Envelope, Transaction},
};

/// A transaction of any type without its signature.
pub type UnsignedTransaction = EthereumTypedTransaction<TxEip4844>;

/// Accounts whose keys the node holds: the development accounts, or none.
#[derive(Debug, Default)]
pub struct Keyring(Vec<(Address, SecretKey)>);

impl Keyring {
    /// A keyring of these keys, in this order.
    pub fn new(keys: impl IntoIterator<Item = SecretKey>) -> Self {
        Self(keys.into_iter().map(|key| (key.address(), key)).collect())
    }

    /// The accounts, in order.
    pub fn addresses(&self) -> Vec<Address> {
        self.0.iter().map(|(address, _)| *address).collect()
    }

    /// The key of an account.
    pub fn get(&self, address: Address) -> Option<&SecretKey> {
        self.0.iter().find(|(own, _)| *own == address).map(|(_, key)| key)
    }

    /// Signs with the key of `from`.
    pub fn sign(&self, from: Address, transaction: UnsignedTransaction) -> Result<Transaction, SubmitError> {
        let key = self.get(from).ok_or(SubmitError::UnknownAccount)?;
        sign_transaction(key, transaction).map_err(|error| SubmitError::Dropped(error.to_string()))
    }
}

/// Signs a transaction. The sender is known, so nothing has to be recovered.
pub fn sign_transaction(key: &SecretKey, transaction: UnsignedTransaction) -> Result<Transaction, KeyError> {
    let signature = key.sign_prehash(&transaction.signature_hash())?;
    let public_key = CompressedKey::new(key.public_key().compressed());
    let envelope = Envelope::from(transaction.into_signed(signature));
    Ok(Transaction { envelope, sender: key.address(), public_key: Some(public_key) })
}

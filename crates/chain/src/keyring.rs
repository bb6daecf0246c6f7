//! The accounts for which the node signs transactions: those whose keys it holds, and impersonated
//! ones.

use std::sync::Arc;

use alloy_consensus::SignableTransaction;
use alloy_primitives::Address;
use parking_lot::RwLock;
use tetrad_network::account::{KeyError, SecretKey};
pub use tetrad_primitives::block::UnsignedTransaction;
use tetrad_primitives::block::{CompressedKey, Envelope, Impersonated, Transaction};

use super::SubmitError;

/// The keys that the node holds, and the accounts that development methods impersonate.
#[derive(Debug, Default)]
pub struct Keyring {
    keys: Vec<(Address, SecretKey)>,
    impersonated: Arc<RwLock<Impersonated>>,
    /// Whether all accounts are impersonated until a development method says otherwise.
    impersonates_all: bool,
}

impl Keyring {
    /// Returns a keyring with these keys, in this order, and the accounts that development methods
    /// impersonate.
    pub fn new(
        keys: impl IntoIterator<Item = SecretKey>,
        impersonated: Arc<RwLock<Impersonated>>,
    ) -> Self {
        let keys = keys.into_iter().map(|key| (key.address(), key)).collect();
        Self {
            keys,
            impersonated,
            impersonates_all: false,
        }
    }

    /// Returns the keyring with all accounts impersonated, or none, until a development method says
    /// otherwise.
    pub fn impersonating_all(self, on: bool) -> Self {
        Self {
            impersonates_all: on,
            ..self
        }
    }

    /// Returns the accounts with keys, in order, and those that are impersonated individually.
    pub fn addresses(&self) -> Vec<Address> {
        let own = self.keys.iter().map(|(address, _)| *address);
        let impersonated = self.impersonated.read();
        let others = impersonated
            .accounts
            .iter()
            .copied()
            .filter(|address| self.get(*address).is_none());
        own.chain(others).collect()
    }

    /// Returns the key of an account.
    pub fn get(&self, address: Address) -> Option<&SecretKey> {
        self.keys
            .iter()
            .find(|(own, _)| *own == address)
            .map(|(_, key)| key)
    }

    /// Returns whether [`sign`](Self::sign) accepts this account.
    pub fn can_sign(&self, address: Address) -> bool {
        self.get(address).is_some() || self.is_impersonated(address)
    }

    /// Signs with the key of `from`, or marks the transaction as that of an impersonated account.
    pub fn sign(
        &self,
        from: Address,
        transaction: UnsignedTransaction,
    ) -> Result<Transaction, SubmitError> {
        match self.get(from) {
            Some(key) => sign_transaction(key, transaction)
                .map_err(|error| SubmitError::Dropped(error.to_string())),
            None if self.is_impersonated(from) => Ok(Transaction::impersonated(transaction, from)),
            None => Err(SubmitError::UnknownAccount),
        }
    }

    fn is_impersonated(&self, address: Address) -> bool {
        self.impersonated
            .read()
            .includes(address, self.impersonates_all)
    }
}

/// An account for which the node sends transactions of its own.
#[derive(Clone, Debug)]
pub enum Signer {
    /// One whose key it has.
    Key(SecretKey),
    /// One without a key, as on a fork of a chain where the account belongs to others.
    Impersonated(Address),
}

impl Signer {
    /// Returns the account.
    pub fn account(&self) -> Address {
        match self {
            Self::Key(key) => key.address(),
            Self::Impersonated(address) => *address,
        }
    }

    /// Signs with the key, or marks the transaction as that of an impersonated account.
    ///
    /// # Errors
    /// If signing fails.
    pub fn sign(&self, transaction: UnsignedTransaction) -> Result<Transaction, KeyError> {
        match self {
            Self::Key(key) => sign_transaction(key, transaction),
            Self::Impersonated(address) => Ok(Transaction::impersonated(transaction, *address)),
        }
    }
}

/// Signs a transaction. Its sender is known from the key and not recovered.
pub fn sign_transaction(
    key: &SecretKey,
    transaction: UnsignedTransaction,
) -> Result<Transaction, KeyError> {
    let signature = key.sign_prehash(&transaction.signature_hash())?;
    let public_key = CompressedKey::new(key.public_key().compressed());
    let envelope = Envelope::from(transaction.into_signed(signature));
    Ok(Transaction {
        envelope,
        sender: key.address(),
        public_key: Some(public_key),
    })
}

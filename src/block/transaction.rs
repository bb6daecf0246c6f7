//! Transactions with their senders.

use alloy_consensus::{
    EthereumTxEnvelope, EthereumTypedTransaction, SignableTransaction, Signed, Transaction as _, TxEip4844,
    TxEip4844WithSidecar, TxLegacy, crypto::SECP256K1N_HALF, transaction::RlpEcdsaDecodableTx,
};
use alloy_eips::{
    eip2718::{Decodable2718, Eip2718Error, Encodable2718},
    eip7594::BlobTransactionSidecarVariant,
    eip7702::{RecoveredAuthority, RecoveredAuthorization, SignedAuthorization},
};
use alloy_primitives::{Address, B256, FixedBytes, Signature, U256, keccak256};
use secp256k1::{Message, SECP256K1, ecdsa};

/// A signed transaction of any type that a block can contain: legacy, EIP-2930, 1559, 4844 (without sidecar), 7702.
pub type Envelope = EthereumTxEnvelope<TxEip4844>;

/// A transaction of any type without its signature.
pub type UnsignedTransaction = EthereumTypedTransaction<TxEip4844>;

/// A signed transaction in its network form: with the sidecar, which has EIP-4844 blob proofs or EIP-7594 cell proofs.
type NetworkEnvelope = EthereumTxEnvelope<TxEip4844WithSidecar<BlobTransactionSidecarVariant>>;

/// A compressed secp256k1 public key.
pub type CompressedKey = FixedBytes<33>;

/// A transaction and its sender.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// The signed transaction.
    pub envelope: Envelope,
    /// The sender's address.
    pub sender: Address,
    /// The public key of the signature; `None` for an impersonated account.
    pub public_key: Option<CompressedKey>,
}

/// A transaction as clients submit it: an EIP-4844 transaction carries its blobs.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The transaction as it goes into a block.
    pub transaction: Transaction,
    /// The blobs of an EIP-4844 transaction, verified against its versioned hashes.
    pub sidecar: Option<Box<BlobTransactionSidecarVariant>>,
}

/// The reason why raw bytes are not a valid transaction.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, thiserror::Error)]
pub enum DecodeError {
    /// The bytes are not the encoding of a transaction.
    #[error("{0}")]
    Malformed(String),
    /// The signature is invalid, or has a high `s` value (EIP-2).
    #[error("invalid transaction v, r, s values")]
    Signature,
    /// A blob transaction has no sidecar.
    #[error("missing sidecar in blob transaction")]
    MissingSidecar,
    /// The sidecar does not match the versioned hashes.
    #[error("invalid blob sidecar: {0}")]
    Sidecar(String),
}

/// Returns the error for bytes that could not be decoded.
fn malformed(raw: &[u8], error: &Eip2718Error) -> DecodeError {
    let rlp = |error: &alloy_rlp::Error| DecodeError::Malformed(format!("rlp: {error}"));
    match (raw.first(), error) {
        (Some(0x00 | 0x05..=0x7f), _) => DecodeError::Malformed("transaction type not supported".to_owned()),
        (_, Eip2718Error::RlpError(error)) => rlp(error),
        // The envelope's decoder reports an unexpected type only; the one for legacy transactions gives the reason.
        (_, Eip2718Error::UnexpectedType(_)) => match TxLegacy::rlp_decode_signed(&mut { raw }) {
            Err(error) => rlp(&error),
            Ok(_) => rlp(&alloy_rlp::Error::UnexpectedLength),
        },
        (_, error) => DecodeError::Malformed(error.to_string()),
    }
}

impl Transaction {
    /// Recovers the sender. `strict` rejects signatures with a high `s` value (EIP-2), as all rules since Homestead do.
    pub fn recover(envelope: Envelope, strict: bool) -> Result<Self, DecodeError> {
        let signature = envelope.signature();
        if strict && signature.s() > SECP256K1N_HALF {
            return Err(DecodeError::Signature);
        }
        let (sender, key) = recover(signature, envelope.signature_hash()).ok_or(DecodeError::Signature)?;
        Ok(Self { envelope, sender, public_key: Some(key) })
    }

    /// Returns a transaction of an impersonated account. Its signature has `r = sender` and `s = 0`: no valid signature
    /// has an `s` of zero, and transactions of different senders get different hashes.
    pub fn impersonated(unsigned: UnsignedTransaction, sender: Address) -> Self {
        let signature = Signature::new(sender.into_word().into(), U256::ZERO, false);
        Self { envelope: Envelope::from(unsigned.into_signed(signature)), sender, public_key: None }
    }

    /// Returns whether the sender is impersonated.
    pub fn is_impersonated(&self) -> bool {
        self.public_key.is_none()
    }

    /// Returns the transaction's hash.
    pub fn hash(&self) -> B256 {
        *self.envelope.tx_hash()
    }

    /// Returns the address of the contract that this transaction creates if it succeeds.
    pub fn creates(&self) -> Option<Address> {
        self.envelope.kind().is_create().then(|| self.sender.create(self.envelope.nonce()))
    }

    /// Returns the gas price in a block with this base fee, in wei (EIP-1559).
    pub fn effective_gas_price(&self, base_fee: Option<u64>) -> u128 {
        self.envelope.effective_gas_price(base_fee)
    }
}

impl Submission {
    /// Decodes the parameter of `eth_sendRawTransaction` (EIP-2718; EIP-4844 in its network form with the sidecar),
    /// recovers the sender and verifies blobs. This is the expensive part of accepting a transaction. It needs no state
    /// and belongs on the caller's thread.
    pub fn decode(raw: &[u8]) -> Result<Self, DecodeError> {
        let pooled = NetworkEnvelope::decode_2718_exact(raw).map_err(|error| {
            let bare_blob = raw.first() == Some(&3) && Envelope::decode_2718_exact(raw).is_ok();
            if bare_blob { DecodeError::MissingSidecar } else { malformed(raw, &error) }
        })?;
        let mut sidecar = None;
        let envelope = match pooled {
            NetworkEnvelope::Legacy(tx) => Envelope::Legacy(tx),
            NetworkEnvelope::Eip2930(tx) => Envelope::Eip2930(tx),
            NetworkEnvelope::Eip1559(tx) => Envelope::Eip1559(tx),
            NetworkEnvelope::Eip7702(tx) => Envelope::Eip7702(tx),
            NetworkEnvelope::Eip4844(signed) => {
                let settings = alloy_eips::eip4844::env_settings::EnvKzgSettings::Default;
                let (tx, signature, hash) = signed.into_parts();
                tx.validate_blob(settings.get()).map_err(|error| DecodeError::Sidecar(error.to_string()))?;
                sidecar = Some(Box::new(tx.sidecar));
                Envelope::Eip4844(Signed::new_unchecked(tx.tx, signature, hash))
            }
        };
        Ok(Self { transaction: Transaction::recover(envelope, true)?, sidecar })
    }

    /// Encodes the transaction with its blobs as [`decode`](Self::decode) reads it.
    pub fn encode(&self) -> Vec<u8> {
        match (&self.transaction.envelope, &self.sidecar) {
            (Envelope::Eip4844(signed), Some(sidecar)) => {
                let tx = TxEip4844WithSidecar::from_tx_and_sidecar(signed.tx().clone(), (**sidecar).clone());
                NetworkEnvelope::Eip4844(Signed::new_unchecked(tx, *signed.signature(), *signed.hash())).encoded_2718()
            }
            (envelope, _) => envelope.encoded_2718(),
        }
    }
}

/// Recovers the address and the compressed public key of a signature over `hash`. Uses libsecp256k1, which takes a
/// sixth of the time of a portable implementation, as recovery is most of the cost of accepting a transaction.
pub fn recover(signature: &Signature, hash: B256) -> Option<(Address, CompressedKey)> {
    let mut compact = [0u8; 64];
    compact[..32].copy_from_slice(&signature.r().to_be_bytes::<32>());
    compact[32..].copy_from_slice(&signature.s().to_be_bytes::<32>());
    let id = ecdsa::RecoveryId::from_u8_masked(u8::from(signature.v()));
    let signature = ecdsa::RecoverableSignature::from_compact(&compact, id).ok()?;
    let key = SECP256K1.recover_ecdsa(Message::from_digest(hash.0), &signature).ok()?;
    let address = Address::from_slice(&keccak256(&key.serialize_uncompressed()[1..])[12..]);
    Some((address, CompressedKey::new(key.serialize())))
}

/// Recovers the authority of an EIP-7702 authorization, or marks it invalid.
pub fn recover_authority(authorization: &SignedAuthorization) -> RecoveredAuthorization {
    let authority = match authorization.signature() {
        Ok(signature) if signature.s() <= SECP256K1N_HALF => {
            recover(&signature, authorization.signature_hash()).map(|(address, _)| address)
        }
        _ => None,
    };
    let authority = authority.map_or(RecoveredAuthority::Invalid, RecoveredAuthority::Valid);
    RecoveredAuthorization::new_unchecked(authorization.inner().clone(), authority)
}

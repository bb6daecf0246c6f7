//! Transactions with their senders.

use alloy_consensus::{
    EthereumTxEnvelope, SignableTransaction, Signed, Transaction as _, TxEip4844WithSidecar,
    TxLegacy, crypto::SECP256K1N_HALF, transaction::RlpEcdsaDecodableTx,
};
use alloy_eips::{
    eip2718::{Decodable2718, Eip2718Error, Encodable2718},
    eip7594::BlobTransactionSidecarVariant,
};
use alloy_primitives::{Address, B256, Signature, U256};

use super::{
    cosmos::{CosmosError, CosmosTransaction, DecodedTx, cosmos_hash},
    encoding::{
        self, Envelope, UnsignedTransaction, decode_unsigned, is_unsigned_legacy, without_signature,
    },
    recovery::{CompressedKey, recover},
    sidecar::{InvalidBlobs, trusted_setup},
};

/// A signed transaction in its network form: with the sidecar, which has EIP-4844 blob proofs or
/// EIP-7594 cell proofs.
type NetworkEnvelope = EthereumTxEnvelope<TxEip4844WithSidecar<BlobTransactionSidecarVariant>>;

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
    #[error(transparent)]
    Sidecar(#[from] InvalidBlobs),
}

/// Returns the error for bytes that could not be decoded.
fn malformed(raw: &[u8], error: &Eip2718Error) -> DecodeError {
    let rlp = |error: &alloy_rlp::Error| DecodeError::Malformed(format!("rlp: {error}"));
    match (raw.first(), error) {
        (Some(0x00 | 0x05..=0x7f), _) => {
            DecodeError::Malformed("transaction type not supported".to_owned())
        }
        (_, Eip2718Error::RlpError(error)) => rlp(error),
        // The envelope's decoder reports an unexpected type only; the one for legacy transactions
        // gives the reason.
        (_, Eip2718Error::UnexpectedType(_)) => match TxLegacy::rlp_decode_signed(&mut { raw }) {
            Err(error) => rlp(&error),
            Ok(_) => rlp(&alloy_rlp::Error::UnexpectedLength),
        },
        (_, error) => DecodeError::Malformed(error.to_string()),
    }
}

impl Transaction {
    /// Recovers the sender. `strict` rejects signatures with a high `s` value (EIP-2), as all rules
    /// since Homestead do.
    pub fn recover(envelope: Envelope, strict: bool) -> Result<Self, DecodeError> {
        // Cosmos transactions are legacy transactions without a signature.
        if is_unsigned_legacy(&envelope) {
            return Self::recover_cosmos(&envelope);
        }

        let signature = envelope.signature();
        if strict && signature.s() > SECP256K1N_HALF {
            return Err(DecodeError::Signature);
        }
        let (sender, key) =
            recover(signature, envelope.signature_hash()).ok_or(DecodeError::Signature)?;

        Ok(Self {
            envelope,
            sender,
            public_key: Some(key),
        })
    }

    /// Recovers the Cosmos transaction in the input of `envelope`, whose other fields must be those
    /// that follow from it. The signature is verified when the transaction is executed, as it
    /// depends on the state.
    fn recover_cosmos(envelope: &Envelope) -> Result<Self, DecodeError> {
        let decoded = match DecodedTx::decode(envelope.input()) {
            Ok(DecodedTx::Bank(tx)) => {
                Self::from_cosmos(&tx).map_err(|_| DecodeError::Signature)?
            }
            _ => return Err(DecodeError::Signature),
        };

        let is_same =
            decoded.envelope.as_legacy().map(Signed::tx) == envelope.as_legacy().map(Signed::tx);
        if is_same {
            Ok(decoded)
        } else {
            Err(DecodeError::Signature)
        }
    }

    /// Returns a Cosmos transaction as it is in a block. Its signature is not verified.
    pub fn from_cosmos(tx: &CosmosTransaction) -> Result<Self, CosmosError> {
        let envelope = without_signature(tx.to_legacy()?.into());
        Ok(Self {
            envelope,
            sender: tx.sender,
            public_key: Some(tx.public_key.clone()?),
        })
    }

    /// Returns whether this is a Cosmos transaction.
    pub fn is_cosmos(&self) -> bool {
        // A simulated transaction has neither a signature nor a key.
        is_unsigned_legacy(&self.envelope) && self.public_key.is_some()
    }

    /// Returns the hash by which Cosmos clients know a Cosmos transaction.
    pub fn cosmos_hash(&self) -> Option<B256> {
        self.is_cosmos().then(|| cosmos_hash(self.envelope.input()))
    }

    /// Returns whether the transaction has this hash, in Ethereum or, if it is a Cosmos
    /// transaction, in Cosmos.
    pub fn has_hash(&self, hash: B256) -> bool {
        self.hash() == hash || self.cosmos_hash() == Some(hash)
    }

    /// Decodes the Cosmos transaction, if this is one.
    pub fn cosmos(&self) -> Option<Box<CosmosTransaction>> {
        if !self.is_cosmos() {
            return None;
        }
        match DecodedTx::decode(self.envelope.input()) {
            Ok(DecodedTx::Bank(tx)) => Some(tx),
            _ => None,
        }
    }

    /// Returns the encoding (EIP-2718), without the blobs.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.envelope.encode_2718_len());
        encoding::encode(&self.envelope, &mut out);
        out
    }

    /// Returns a transaction of an impersonated account. Its signature has `r = sender` and
    /// `s = 0`: no valid signature has an `s` of zero, and transactions of different senders get
    /// different hashes. Zeros for both are those of transactions without a signature, so that the
    /// zero address has the first number that is not an address.
    pub fn impersonated(unsigned: UnsignedTransaction, sender: Address) -> Self {
        let r = if sender.is_zero() {
            U256::ONE << 160
        } else {
            sender.into_word().into()
        };

        let signature = Signature::new(r, U256::ZERO, false);
        Self {
            envelope: Envelope::from(unsigned.into_signed(signature)),
            sender,
            public_key: None,
        }
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
        self.envelope
            .kind()
            .is_create()
            .then(|| self.sender.create(self.envelope.nonce()))
    }

    /// Returns the gas price in a block with this base fee, in wei (EIP-1559).
    pub fn effective_gas_price(&self, base_fee: Option<u64>) -> u128 {
        self.envelope.effective_gas_price(base_fee)
    }
}

impl Submission {
    /// Decodes the parameter of `eth_sendRawTransaction` (EIP-2718; EIP-4844 in its network form
    /// with the sidecar), recovers the sender and verifies blobs. This is the expensive part of
    /// accepting a transaction. It needs no state and belongs on the caller's thread.
    pub fn decode(raw: &[u8]) -> Result<Self, DecodeError> {
        let pooled = match NetworkEnvelope::decode_2718_exact(raw) {
            Ok(pooled) => pooled,
            Err(error) => match decode_unsigned(raw) {
                Some(envelope) => {
                    return Ok(Self {
                        transaction: Transaction::recover(envelope, true)?,
                        sidecar: None,
                    });
                }
                None if raw.first() == Some(&3) && Envelope::decode_2718_exact(raw).is_ok() => {
                    return Err(DecodeError::MissingSidecar);
                }
                None => return Err(malformed(raw, &error)),
            },
        };

        let mut sidecar = None;
        let envelope = match pooled {
            NetworkEnvelope::Legacy(tx) => Envelope::Legacy(tx),
            NetworkEnvelope::Eip2930(tx) => Envelope::Eip2930(tx),
            NetworkEnvelope::Eip1559(tx) => Envelope::Eip1559(tx),
            NetworkEnvelope::Eip7702(tx) => Envelope::Eip7702(tx),
            NetworkEnvelope::Eip4844(signed) => {
                let (tx, signature, hash) = signed.into_parts();
                tx.validate_blob(trusted_setup())
                    .map_err(InvalidBlobs::new)?;
                sidecar = Some(Box::new(tx.sidecar));
                Envelope::Eip4844(Signed::new_unchecked(tx.tx, signature, hash))
            }
        };

        // One with zeros for `v` as well was decoded above.
        if is_unsigned_legacy(&envelope) {
            return Err(DecodeError::Signature);
        }

        Ok(Self {
            transaction: Transaction::recover(envelope, true)?,
            sidecar,
        })
    }

    /// Encodes the transaction with its blobs as [`decode`](Self::decode) reads it.
    pub fn encode(&self) -> Vec<u8> {
        match (&self.transaction.envelope, &self.sidecar) {
            (Envelope::Eip4844(signed), Some(sidecar)) => {
                let tx = TxEip4844WithSidecar::from_tx_and_sidecar(
                    signed.tx().clone(),
                    (**sidecar).clone(),
                );
                NetworkEnvelope::Eip4844(Signed::new_unchecked(
                    tx,
                    *signed.signature(),
                    *signed.hash(),
                ))
                .encoded_2718()
            }
            _ => self.transaction.encode(),
        }
    }
}

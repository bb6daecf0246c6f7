//! Recovery of signers from their signatures.

use alloy_consensus::crypto::SECP256K1N_HALF;
use alloy_eips::eip7702::{RecoveredAuthority, RecoveredAuthorization, SignedAuthorization};
use alloy_primitives::{Address, B256, FixedBytes, Signature, keccak256};
use secp256k1::{Message, SECP256K1, ecdsa};

/// A compressed secp256k1 public key.
pub type CompressedKey = FixedBytes<33>;

/// Recovers the address and the compressed public key of a signature over `hash`. Uses
/// libsecp256k1, which takes a sixth of the time of a portable implementation, as recovery is most
/// of the cost of accepting a transaction.
pub fn recover(signature: &Signature, hash: B256) -> Option<(Address, CompressedKey)> {
    let mut compact = [0u8; 64];
    compact[..32].copy_from_slice(&signature.r().to_be_bytes::<32>());
    compact[32..].copy_from_slice(&signature.s().to_be_bytes::<32>());

    let id = ecdsa::RecoveryId::from_u8_masked(u8::from(signature.v()));
    let signature = ecdsa::RecoverableSignature::from_compact(&compact, id).ok()?;
    let key = SECP256K1
        .recover_ecdsa(Message::from_digest(hash.0), &signature)
        .ok()?;

    let address = Address::from_slice(&keccak256(&key.serialize_uncompressed()[1..])[12..]);
    Some((address, CompressedKey::new(key.serialize())))
}

/// Recovers the authority of an EIP-7702 authorization, or marks it invalid.
pub fn recover_authority(authorization: &SignedAuthorization) -> RecoveredAuthorization {
    let authority = match authorization.signature() {
        // EIP-7702 demands the lower half for `s`.
        Ok(signature) if signature.s() <= SECP256K1N_HALF => {
            recover(&signature, authorization.signature_hash()).map(|(address, _)| address)
        }
        _ => None,
    };
    let authority = authority.map_or(RecoveredAuthority::Invalid, RecoveredAuthority::Valid);
    RecoveredAuthorization::new_unchecked(authorization.inner().clone(), authority)
}

//! Signatures in the encodings that wallets write.
//!
//! Of `r || s` with a recovery id only one last byte is accepted: the hash of a transaction covers
//! it, and only the signer may give a transaction another hash.
//!
//! Cosmos EVM ignores that byte. Blocks may have any, since they may be older than the rule. Amino
//! and typed data do not sign the encoding, so in these modes others can still encode the same
//! content differently, as on every chain of the SDK.

use alloy_primitives::B256;
use secp256k1::{Message, PublicKey, SECP256K1, ecdsa};

use super::CosmosError;

/// Bytes of a signature without a recovery id.
pub(super) const SIGNATURE_SIZE: usize = 64;

/// The content that a wallet has signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignedContent {
    /// A sign document. Keyrings of Cosmos EVM append the recovery id as go-ethereum's
    /// `crypto.Sign` does: 0 or 1.
    SignDoc,
    /// Typed data. Wallets append the recovery id as `eth_signTypedData_v4` does: 27 or 28.
    TypedData,
}

/// The rule for the parts of a transaction that a signature does not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignatureRule {
    /// Of a transaction that is sent: they are what they have to be.
    Sent,
    /// Of a transaction in a block: they may be anything, as in Cosmos EVM, since blocks may be
    /// older than the rule above.
    InBlock,
}

/// A signature, with the recovery id after it unless that does not matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalletSignature {
    signature: ecdsa::Signature,
    recovery_byte: Option<u8>,
}

impl SignedContent {
    /// The byte for the recovery id 0.
    fn first_recovery_byte(self) -> u8 {
        match self {
            Self::SignDoc => 0,
            Self::TypedData => 27,
        }
    }
}

impl WalletSignature {
    /// Reads 64 bytes, or 65 of which the last one is a recovery id.
    pub(super) fn read(bytes: &[u8], rule: SignatureRule) -> Result<Self, CosmosError> {
        let refused = |what: &str| Err(CosmosError::unauthorized(format!("signature: {what}")));
        let (compact, recovery_byte) = match bytes.split_at_checked(SIGNATURE_SIZE) {
            Some((compact, [])) => (compact, None),
            Some((compact, [byte])) => (compact, Some(*byte)),
            _ => {
                return refused(&format!(
                    "{} bytes instead of 64, or of 65 with a recovery id",
                    bytes.len()
                ));
            }
        };

        let recovery_byte = recovery_byte.filter(|_| rule == SignatureRule::Sent);
        if let Some(byte) = recovery_byte.filter(|byte| !matches!(byte, 0 | 1 | 27 | 28)) {
            return refused(&format!(
                "its last byte is {byte}, but a recovery id is 0 or 1 for a sign document, and 27 or 28 for typed data"
            ));
        }

        let Ok(signature) = ecdsa::Signature::from_compact(compact) else {
            return refused("r or s exceeds the order of the curve");
        };

        // Anyone can derive the high `s` from the low one, and with it another hash.
        let mut low = signature;
        low.normalize_s();
        if low != signature {
            return refused("s is in the upper half of the curve's order");
        }

        Ok(Self {
            signature,
            recovery_byte,
        })
    }

    /// Returns whether this is the signature of a hash. If it is, but has another recovery id than
    /// that of the key, the error names the expected one.
    pub(super) fn verify(
        &self,
        hash: B256,
        content: SignedContent,
        key: &PublicKey,
    ) -> Result<bool, CosmosError> {
        if SECP256K1
            .verify_ecdsa(Message::from_digest(hash.0), &self.signature, key)
            .is_err()
        {
            return Ok(false);
        }

        let Some(byte) = self.recovery_byte else {
            return Ok(true);
        };

        let expected = content.first_recovery_byte() + self.recovery_id(hash, key);
        if byte != expected {
            let what =
                format!("signature: its last byte is {byte}, but the recovery id is {expected}");
            return Err(CosmosError::unauthorized(what));
        }
        Ok(true)
    }

    /// The recovery id of a valid signature: 0 or 1, since no signature is known whose `r` exceeds
    /// the order of the curve.
    fn recovery_id(&self, hash: B256, key: &PublicKey) -> u8 {
        let compact = self.signature.serialize_compact();
        let recoverable = ecdsa::RecoverableSignature::from_compact(
            &compact,
            ecdsa::RecoveryId::from_u8_masked(0),
        );
        let recovered = recoverable.and_then(|signature| {
            SECP256K1.recover_ecdsa(Message::from_digest(hash.0), &signature)
        });
        u8::from(recovered.as_ref() != Ok(key))
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{U256, keccak256, uint};
    use secp256k1::SecretKey;

    use super::*;

    /// The order of the curve.
    const ORDER: U256 =
        uint!(0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141_U256);

    fn signed(text: &str) -> (B256, PublicKey, [u8; 64], u8) {
        let hash = keccak256(text);
        let secret = SecretKey::from_byte_array([7; 32]).expect("a key");
        let signature = SECP256K1.sign_ecdsa_recoverable(Message::from_digest(hash.0), &secret);
        let (id, compact) = signature.serialize_compact();
        (
            hash,
            PublicKey::from_secret_key(SECP256K1, &secret),
            compact,
            u8::try_from(i32::from(id)).expect("0 or 1"),
        )
    }

    fn verify_sent(
        bytes: &[u8],
        hash: B256,
        content: SignedContent,
        key: &PublicKey,
    ) -> Result<bool, CosmosError> {
        WalletSignature::read(bytes, SignatureRule::Sent)?.verify(hash, content, key)
    }

    fn read_with_s(
        compact: &[u8; 64],
        s: U256,
        rule: SignatureRule,
    ) -> Result<WalletSignature, CosmosError> {
        WalletSignature::read(&[&compact[..32], &s.to_be_bytes::<32>()].concat(), rule)
    }

    #[test]
    fn exactly_one_last_byte_is_valid() {
        for text in ["a", "b", "c", "d", "e", "f"] {
            let (hash, key, compact, id) = signed(text);
            for (content, first) in [(SignedContent::SignDoc, 0), (SignedContent::TypedData, 27)] {
                assert_eq!(verify_sent(&compact, hash, content, &key), Ok(true));
                for byte in 0..=u8::MAX {
                    let bytes = [compact.as_slice(), &[byte]].concat();
                    let verified = verify_sent(&bytes, hash, content, &key);
                    if byte == first + id {
                        assert_eq!(verified, Ok(true));
                    } else {
                        let error = verified.expect_err("another byte");
                        assert!(
                            error.log.contains(&format!("last byte is {byte}, ")),
                            "{error}"
                        );
                    }

                    let in_block =
                        WalletSignature::read(&bytes, SignatureRule::InBlock).expect("65 bytes");
                    assert_eq!(in_block.verify(hash, content, &key), Ok(true));
                }
            }
        }
    }

    #[test]
    fn signatures_that_others_can_derive_are_refused() {
        let (_, _, compact, _) = signed("a");
        let s = U256::from_be_slice(&compact[32..]);
        for rule in [SignatureRule::Sent, SignatureRule::InBlock] {
            assert!(read_with_s(&compact, s, rule).is_ok());
            let high = read_with_s(&compact, ORDER - s, rule).expect_err("a high s");
            assert!(high.log.contains("upper half"), "{high}");
            assert!(read_with_s(&compact, ORDER, rule).is_err());

            for length in [0, 1, 63, 66] {
                let error =
                    WalletSignature::read(&vec![1; length], rule).expect_err("another length");
                assert!(
                    error.log.contains(&format!("{length} bytes instead of 64")),
                    "{error}"
                );
            }
        }
    }
}

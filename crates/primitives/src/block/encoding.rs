//! The encodings of signed transactions, and of those without a signature, whose `v`, `r` and `s`
//! are zero.
//!
//! No valid signature has these values, which therefore mark simulated transactions and those of
//! Cosmos, which carry a signature of their own. Ethereum's clients decode such a transaction;
//! alloy's encoding would set its `v` to 27.

use alloy_consensus::{
    EthereumTxEnvelope, EthereumTypedTransaction, SignableTransaction, Signed, TxEip4844, TxLegacy,
};
use alloy_eips::eip2718::{Decodable2718, Eip2718Error, Encodable2718};
use alloy_primitives::{Signature, U256, keccak256};
use alloy_rlp::{BufMut, Decodable, Encodable};

/// A signed transaction of any type that a block can contain: legacy, EIP-2930, 1559, 4844 (without
/// sidecar), 7702.
pub type Envelope = EthereumTxEnvelope<TxEip4844>;

/// A transaction of any type without its signature.
pub type UnsignedTransaction = EthereumTypedTransaction<TxEip4844>;

/// The RLP of three zeros.
const ZEROS: [u8; 3] = [alloy_rlp::EMPTY_STRING_CODE; 3];

/// A transaction in the RLP of a block.
#[derive(Clone, Debug)]
pub struct ListedEnvelope(pub Envelope);

/// Returns the transaction with an empty signature.
pub fn without_signature(unsigned: UnsignedTransaction) -> Envelope {
    let empty = Signature::new(U256::ZERO, U256::ZERO, false);
    match unsigned {
        EthereumTypedTransaction::Legacy(tx) => {
            let hash = keccak256(legacy_encoding(&tx));
            Envelope::Legacy(Signed::new_unchecked(tx, empty, hash))
        }
        typed => Envelope::from(typed.into_signed(empty)),
    }
}

/// Returns whether a legacy transaction has no signature.
pub(super) fn is_unsigned_legacy(envelope: &Envelope) -> bool {
    let Envelope::Legacy(signed) = envelope else {
        return false;
    };
    let signature = signed.signature();
    signature.r().is_zero() && signature.s().is_zero()
}

/// Appends the encoding of EIP-2718, whose trie is the block's transactions root.
pub(super) fn encode(envelope: &Envelope, out: &mut dyn BufMut) {
    match envelope {
        Envelope::Legacy(signed) if is_unsigned_legacy(envelope) => {
            out.put_slice(&legacy_encoding(signed.tx()))
        }
        envelope => envelope.encode_2718(out),
    }
}

/// Appends the encoding in the RLP of a block.
pub(super) fn encode_listed(envelope: &Envelope, out: &mut dyn BufMut) {
    match envelope {
        Envelope::Legacy(_) => encode(envelope, out),
        typed => typed.network_encode(out),
    }
}

/// Decodes what `encode` writes.
pub fn decode_envelope(raw: &[u8]) -> Result<Envelope, Eip2718Error> {
    Envelope::decode_2718_exact(raw)
        .and_then(signed)
        .or_else(|error| decode_unsigned(raw).ok_or(error))
}

/// Refuses a legacy transaction that has a `v` but zeros for `r` and `s`: it would be encoded
/// without the `v`.
fn signed(envelope: Envelope) -> Result<Envelope, Eip2718Error> {
    if is_unsigned_legacy(&envelope) {
        return Err(alloy_rlp::Error::Custom("a signature of zeros").into());
    }
    Ok(envelope)
}

/// Decodes a legacy transaction without a signature.
pub(super) fn decode_unsigned(raw: &[u8]) -> Option<Envelope> {
    let fields = raw
        .strip_suffix(&ZEROS)
        .filter(|_| raw.first().is_some_and(|first| *first >= 0xc0))?;
    // alloy decodes no `v` but those of signatures.
    let signed = [fields, &[27], &ZEROS[1..]].concat();
    let Envelope::Legacy(signed) = Envelope::decode_2718_exact(&signed).ok()? else {
        return None;
    };

    let tx = signed.strip_signature();
    // The first of the zeros may have been the end of a longer `v`.
    (legacy_encoding(&tx) == raw).then(|| without_signature(tx.into()))
}

/// Encodes a legacy transaction with zeros for `v`, `r` and `s`.
fn legacy_encoding(tx: &TxLegacy) -> Vec<u8> {
    let mut payload = Vec::new();
    tx.nonce.encode(&mut payload);
    tx.gas_price.encode(&mut payload);
    tx.gas_limit.encode(&mut payload);
    tx.to.encode(&mut payload);
    tx.value.encode(&mut payload);
    tx.input.encode(&mut payload);
    payload.extend_from_slice(&ZEROS);

    let mut out = Vec::with_capacity(payload.len() + 9);
    alloy_rlp::Header {
        list: true,
        payload_length: payload.len(),
    }
    .encode(&mut out);
    out.extend_from_slice(&payload);
    out
}

impl Encodable for ListedEnvelope {
    fn encode(&self, out: &mut dyn BufMut) {
        encode_listed(&self.0, out);
    }

    fn length(&self) -> usize {
        self.0.network_len()
    }
}

impl Decodable for ListedEnvelope {
    fn decode(bytes: &mut &[u8]) -> alloy_rlp::Result<Self> {
        let mut content = *bytes;
        let header = alloy_rlp::Header::decode(&mut content)?;
        if header.list {
            let end = bytes.len() - content.len() + header.payload_length;
            if let Some(envelope) = bytes.get(..end).and_then(decode_unsigned) {
                *bytes = &bytes[end..];
                return Ok(Self(envelope));
            }
        }

        Envelope::network_decode(bytes)
            .and_then(signed)
            .map(Self)
            .map_err(|error| match error {
                Eip2718Error::RlpError(error) => error,
                _ => alloy_rlp::Error::Custom("unexpected transaction type"),
            })
    }
}

#[cfg(test)]
mod tests {
    use alloy_consensus::Transaction as _;
    use alloy_primitives::Address;

    use super::*;
    use crate::block::Transaction;

    fn unsigned_hash(tx: &TxLegacy) -> alloy_primitives::B256 {
        keccak256(legacy_encoding(tx))
    }

    #[test]
    fn transactions_without_a_signature_round_trip() {
        let tx = TxLegacy {
            nonce: 7,
            gas_limit: 21_000,
            input: vec![1, 2, 0x80, 0x80].into(),
            ..TxLegacy::default()
        };

        let envelope = without_signature(tx.clone().into());

        let mut raw = Vec::new();
        encode(&envelope, &mut raw);
        assert_eq!(raw.len(), envelope.encode_2718_len());

        let decoded = decode_envelope(&raw).unwrap();
        assert!(is_unsigned_legacy(&decoded));
        assert_eq!(
            (*decoded.tx_hash(), keccak256(&raw)),
            (unsigned_hash(&tx), unsigned_hash(&tx))
        );

        let list = alloy_rlp::encode(vec![
            ListedEnvelope(envelope.clone()),
            ListedEnvelope(envelope),
        ]);
        let listed = Vec::<ListedEnvelope>::decode(&mut list.as_slice()).unwrap();
        assert!(
            listed
                .iter()
                .all(|one| *one.0.tx_hash() == unsigned_hash(&tx))
        );

        for end in 0..raw.len() {
            assert!(decode_envelope(&raw[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn a_transaction_of_the_impersonated_zero_address_keeps_its_hash_and_its_chain() {
        let tx = TxLegacy {
            chain_id: Some(5),
            ..TxLegacy::default()
        };
        let impersonated = Transaction::impersonated(tx.into(), Address::ZERO);
        let again = decode_envelope(&impersonated.encode()).unwrap();
        assert_eq!(
            (*again.tx_hash(), again.chain_id()),
            (impersonated.hash(), Some(5))
        );
    }

    #[test]
    fn a_recovery_id_that_ends_like_zeros_is_not_a_missing_signature() {
        let mut fields = Vec::new();
        encode(
            &without_signature(
                TxLegacy {
                    nonce: 3,
                    ..TxLegacy::default()
                }
                .into(),
            ),
            &mut fields,
        );

        let fields = &fields[1..fields.len() - ZEROS.len()];

        let v = [0x85, 0x0b, 0x38, 0x80, 0x80, 0x80];
        let payload = [fields, &v, &ZEROS[1..]].concat();
        let raw = [&[0xc0 + payload.len() as u8], &payload[..]].concat();
        assert!(decode_envelope(&raw).is_err());
    }

    #[test]
    fn a_signature_of_zeros_has_no_recovery_id() {
        let mut raw = Vec::new();
        encode(&without_signature(TxLegacy::default().into()), &mut raw);
        let v = raw.len() - ZEROS.len();
        for recovery_id in [27, 28, 35, 39] {
            raw[v] = recovery_id;
            assert!(decode_envelope(&raw).is_err(), "{recovery_id}");
            assert!(
                ListedEnvelope::decode(&mut raw.as_slice()).is_err(),
                "{recovery_id}"
            );
        }

        raw[v] = ZEROS[0];
        assert!(
            decode_envelope(&raw).is_ok() && ListedEnvelope::decode(&mut raw.as_slice()).is_ok()
        );
    }
}

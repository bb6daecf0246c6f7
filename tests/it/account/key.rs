//! Secret keys of both curves, and signatures.

use alloy_primitives::{B256, Signature, U256, keccak256};
use k256::elliptic_curve::rand_core::{CryptoRng, Error, OsRng, RngCore};
use sha2::{Digest, Sha256};
use tetrad::account::{
    ConsensusKey, ConsensusKeyError, KeyError, PublicKey, PublicKeyError, RandomError, SecretKey,
};

/// The order of secp256k1.
const ORDER: &str = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";

fn order() -> U256 {
    U256::from_str_radix(ORDER, 16).expect("the order")
}

/// A well-known vector of RFC 6979 on secp256k1: key 1, SHA-256 of a name.
#[test]
fn signatures_are_deterministic() {
    let key = SecretKey::from_hex(&format!("{:064x}", 1)).unwrap();
    let hash = B256::from_slice(&Sha256::digest(b"Satoshi Nakamoto"));
    let signature = key.sign_prehash(&hash).unwrap();
    assert_eq!(
        format!("{:064x}{:064x}", signature.r(), signature.s()),
        "934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8\
         2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5"
    );
    assert_eq!(PublicKey::recover(&hash, &signature), Ok(key.public_key()));
}

#[test]
fn signatures_are_low_and_recover_to_the_signer() {
    for number in 1..=64 {
        let key = SecretKey::from_hex(&format!("{number:064x}")).unwrap();
        let hash = keccak256([number]);
        let signature = key.sign_prehash(&hash).unwrap();
        assert!(signature.s() <= order() >> 1);
        assert_eq!(PublicKey::recover(&hash, &signature), Ok(key.public_key()));
        assert_ne!(
            PublicKey::recover(&hash, &signature.with_parity(!signature.v())),
            Ok(key.public_key())
        );
    }
}

#[test]
fn high_and_out_of_range_scalars_are_rejected() {
    let key = SecretKey::random(&mut OsRng).unwrap();
    let hash = keccak256(b"hash");
    let low = key.sign_prehash(&hash).unwrap();
    let high = Signature::new(low.r(), order() - low.s(), !low.v());
    assert_eq!(PublicKey::recover(&hash, &high), Err(PublicKeyError::HighS));
    for (r, s) in [
        (U256::ZERO, low.s()),
        (low.r(), U256::ZERO),
        (order(), low.s()),
        (low.r(), order()),
        (U256::MAX, low.s()),
    ] {
        assert_eq!(
            PublicKey::recover(&hash, &Signature::new(r, s, false)),
            Err(PublicKeyError::Signature)
        );
    }
}

#[test]
fn zero_and_the_order_are_rejected() {
    for text in [&"0".repeat(64), ORDER, &"f".repeat(64)] {
        assert_eq!(SecretKey::from_hex(text).unwrap_err(), KeyError::OutOfRange);
    }
}

#[test]
fn errors_of_hex_give_the_position_but_no_digits() {
    let error = |text: &str| SecretKey::from_hex(text).unwrap_err();
    assert_eq!(error(""), KeyError::HexLength { digits: 0 });
    assert_eq!(error("0x"), KeyError::HexLength { digits: 0 });
    assert_eq!(error(&"1".repeat(63)), KeyError::HexLength { digits: 63 });
    assert_eq!(
        error(&format!("0x{}", "1".repeat(66))),
        KeyError::HexLength { digits: 66 }
    );
    let wrong = error(&format!("0x{}z{}", "5".repeat(9), "5".repeat(54)));
    assert_eq!(wrong, KeyError::HexDigit { position: 12 });
    assert!(!wrong.to_string().contains('z'), "{wrong}");
    assert_eq!(error("é"), KeyError::HexDigit { position: 1 });
}

#[test]
fn debug_output_holds_no_secret() {
    let text = format!("{:064x}", 0x00ab_cdef_u64);
    let shown = format!(
        "{:?} {:#?}",
        SecretKey::from_hex(&text).unwrap(),
        ConsensusKey::from_hex(&text).unwrap()
    );
    assert_eq!(shown, "SecretKey(..) ConsensusKey(..)");
}

#[test]
fn random_keys_differ() {
    let key = || SecretKey::random(&mut OsRng).unwrap().address();
    assert_ne!(key(), key());
}

/// A source of random numbers that always fails.
struct FailingRandom;

impl RngCore for FailingRandom {
    fn next_u32(&mut self) -> u32 {
        unreachable!("only whole buffers are asked for")
    }

    fn next_u64(&mut self) -> u64 {
        unreachable!("only whole buffers are asked for")
    }

    fn fill_bytes(&mut self, _: &mut [u8]) {
        unreachable!("a failure must not panic")
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Error> {
        Err(Error::new("dry"))
    }
}

impl CryptoRng for FailingRandom {}

#[test]
fn a_failing_source_of_random_numbers_is_an_error() {
    assert_eq!(
        SecretKey::random(&mut FailingRandom).unwrap_err(),
        KeyError::Random(RandomError)
    );
}

/// A validator file as CometBFT writes it, for the first seed of the golden vectors.
const VALIDATOR_FILE: &str = r#"{
  "address": "39F713D0A644253F04529421B9F51B9B08979D08",
  "pub_key": { "type": "tendermint/PubKeyEd25519", "value": "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=" },
  "priv_key": {
    "type": "tendermint/PrivKeyEd25519",
    "value": "TM0Imyj/ltqdtsNGwRTg9bijGfNauiTajPbtT7im+z1AF8PoQ4lakrcKp00bfrycmCzPLsSWjMDNVfEq9GYM"
  }
}"#;

#[test]
fn validator_files_are_read_and_checked_for_consistency() {
    let value =
        "TM0Imyj/ltqdtsNGwRTg9bijGfNauiTajPbtT7im+z1AF8PoQ4lakrcKp00bfrycmCzPLsSWjMDNVfEq9GYM";
    let seed = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
    let file = VALIDATOR_FILE.replace(value, &pair_base64(seed));
    let key = ConsensusKey::from_validator_json(&file).unwrap();
    assert_eq!(
        key.public_key(),
        ConsensusKey::from_hex(seed).unwrap().public_key()
    );

    let error = |text: &str| ConsensusKey::from_validator_json(text).unwrap_err();
    assert_eq!(
        error(&file.replace("39F7", "39F8")),
        ConsensusKeyError::Mismatch { field: "address" }
    );
    assert_eq!(
        error(&file.replace("PUAX", "PUAY")),
        ConsensusKeyError::Mismatch { field: "pub_key" }
    );
    assert_eq!(
        error(&file.replace("TM0I", "TM0J")),
        ConsensusKeyError::PrivateKey
    );
    assert_eq!(
        error(&file.replace(&pair_base64(seed), "TM0I")),
        ConsensusKeyError::PrivateKey
    );
    let other_type = error(&file.replace("PrivKeyEd25519", "PrivKeySecp256k1"));
    assert_eq!(
        other_type,
        ConsensusKeyError::KeyType {
            got: "tendermint/PrivKeySecp256k1".into()
        }
    );
    assert_eq!(error("{}"), ConsensusKeyError::Json { line: 1, column: 2 });
    assert_eq!(
        error("secret"),
        ConsensusKeyError::Json { line: 1, column: 1 }
    );
}

/// Returns seed and public key in base64, as CometBFT stores them.
fn pair_base64(seed: &str) -> String {
    use base64ct::{Base64, Encoding};
    let seed: [u8; 32] = super::vectors::bytes(seed).try_into().expect("32 bytes");
    let public_key = ConsensusKey::from_seed(&seed).public_key();
    Base64::encode_string(&[seed.as_slice(), public_key.as_bytes()].concat())
}

//! Parsing of public keys, and the errors for invalid ones.

use alloy_primitives::hex;
use tetrad::account::{
    AminoName, AnyPublicKey, ConsensusKey, ConsensusPublicKey, DEFAULT_PUBLIC_KEY_TYPE, Kind,
    ProtoPublicKey, PublicKey, PublicKeyError, PublicKeyForms, SecretKey, amino_prefix,
    encode_bech32,
};

use super::vectors::hrp;

fn key() -> PublicKey {
    SecretKey::from_hex(&format!("{:064x}", 7))
        .expect("a key")
        .public_key()
}

fn consensus_key() -> ConsensusPublicKey {
    ConsensusKey::from_seed(&[7; 32]).public_key()
}

fn error(text: &str) -> PublicKeyError {
    AnyPublicKey::parse(text, &hrp("pax")).expect_err(text)
}

/// Encodes a legacy key with any content after the prefix.
fn legacy(prefix: &str, name: &str, length: u8, key: &[u8]) -> String {
    encode_bech32(
        prefix,
        &[amino_prefix(name).as_slice(), &[length], key].concat(),
    )
    .expect("short enough")
}

#[test]
fn every_form_that_names_its_curve_is_parsed() {
    let expected = AnyPublicKey::EthSecp256k1(key());
    let uncompressed = hex::encode(key().uncompressed());

    let forms = PublicKeyForms::of_account(
        &key(),
        &hrp("pax"),
        Kind::ValidatorOperator,
        DEFAULT_PUBLIC_KEY_TYPE,
    );
    let proto = forms.proto.to_json();

    let mut texts = vec![
        forms.hex.clone(),
        format!("0x{}", forms.hex),
        uncompressed.clone(),
        forms.base64,
        proto,
    ];
    texts.push(uncompressed[2..].to_owned());

    texts.extend(
        forms
            .legacy_bech32
            .into_iter()
            .flat_map(|legacy| [legacy.text.to_uppercase(), legacy.text]),
    );

    for text in texts {
        assert_eq!(
            AnyPublicKey::parse(&text, &hrp("pax")),
            Ok(expected),
            "{text}"
        );
    }

    let expected = AnyPublicKey::Ed25519(consensus_key());
    for text in [
        consensus_key().to_proto_json().to_json(),
        consensus_key().to_legacy_bech32(&hrp("pax")),
    ] {
        assert_eq!(
            AnyPublicKey::parse(&text, &hrp("pax")),
            Ok(expected),
            "{text}"
        );
    }
    assert_eq!(expected.address(), consensus_key().address());
}

#[test]
fn thirty_two_bytes_alone_are_never_parsed_as_a_public_key() {
    for text in [
        hex::encode(consensus_key().as_bytes()),
        consensus_key().to_base64(),
    ] {
        assert!(AnyPublicKey::parse(&text, &hrp("pax")).is_err(), "{text}");
    }
}

#[test]
fn bytes_that_are_not_a_point_are_rejected() {
    let not_on_curve = PublicKeyError::NotOnCurve {
        curve: "eth_secp256k1",
    };

    for first in [0, 1, 4, 5, 6, 0xff] {
        let mut bytes = key().compressed();
        bytes[0] = first;
        assert_eq!(
            PublicKey::from_bytes(&bytes),
            Err(not_on_curve.clone()),
            "{first}"
        );
    }

    for first in [0, 2, 3, 5, 6, 7] {
        let mut bytes = key().uncompressed();
        bytes[0] = first;
        assert_eq!(
            PublicKey::from_bytes(&bytes),
            Err(not_on_curve.clone()),
            "{first}"
        );
    }

    let mut bytes = key().uncompressed();
    bytes[64] ^= 1;
    assert_eq!(PublicKey::from_bytes(&bytes), Err(not_on_curve));

    for got in [0, 1, 32, 34, 63, 66] {
        let expected = PublicKeyError::Length {
            curve: "eth_secp256k1",
            expected: "33, 64 or 65",
            got,
        };
        assert_eq!(PublicKey::from_bytes(&vec![2; got]), Err(expected));
    }

    assert_eq!(
        ConsensusPublicKey::from_bytes(&[1; 33]),
        Err(PublicKeyError::Length {
            curve: "ed25519",
            expected: "32",
            got: 33
        })
    );

    let off_curve = (0..=u8::MAX)
        .filter(|byte| ConsensusPublicKey::from_bytes(&[*byte; 32]).is_err())
        .count();
    assert!(
        off_curve > 64,
        "about half of all bytes are not a point, got {off_curve} of 256"
    );

    assert_eq!(PublicKey::from_hex("0xzz"), Err(PublicKeyError::Hex));
    assert_eq!(PublicKey::from_base64("***"), Err(PublicKeyError::Base64));
}

#[test]
fn each_defect_of_a_legacy_key_has_its_own_error() {
    let compressed = key().compressed();
    let name = AminoName::Ethermint.as_str();
    let cosmos = legacy("paxpub", "tendermint/PubKeySecp256k1", 33, &compressed);
    assert_eq!(error(&cosmos), PublicKeyError::CosmosSecp256k1);

    assert_eq!(
        error(&legacy("paxpub", name, 32, &compressed)),
        PublicKeyError::AminoLength {
            stated: 32,
            got: 33
        }
    );

    let uncompressed = legacy("paxpub", name, 65, &key().uncompressed());
    assert_eq!(
        error(&uncompressed),
        PublicKeyError::Length {
            curve: "eth_secp256k1",
            expected: "33",
            got: 65
        }
    );

    assert_eq!(
        error(&encode_bech32("paxpub", &[1, 2, 3, 4]).unwrap()),
        PublicKeyError::AminoShort { got: 4 }
    );

    let unknown = amino_prefix("tetrad/Unknown");
    assert_eq!(
        error(&legacy("paxpub", "tetrad/Unknown", 33, &compressed)),
        PublicKeyError::AminoType { got: unknown }
    );

    let got = "cosmospub".to_owned();
    let expected = "\"paxpub\" or \"paxvaloperpub\" or \"paxvalconspub\"".to_owned();
    assert_eq!(
        error(&legacy("cosmospub", name, 33, &compressed)),
        PublicKeyError::WrongPrefix { expected, got }
    );
}

#[test]
fn a_prefix_takes_keys_of_its_own_curve_only() {
    let on_consensus = legacy(
        "paxvalconspub",
        AminoName::CosmosEvm.as_str(),
        33,
        &key().compressed(),
    );
    let prefix = "paxvalconspub".to_owned();
    assert_eq!(
        error(&on_consensus),
        PublicKeyError::Curve {
            prefix,
            expected: "ed25519",
            got: "eth_secp256k1"
        }
    );

    let on_account = legacy(
        "paxpub",
        "tendermint/PubKeyEd25519",
        32,
        consensus_key().as_bytes(),
    );
    let prefix = "paxpub".to_owned();
    assert_eq!(
        error(&on_account),
        PublicKeyError::Curve {
            prefix,
            expected: "eth_secp256k1",
            got: "ed25519"
        }
    );
}

#[test]
fn proto_json_of_every_ethermint_like_network_is_understood() {
    for type_url in [
        DEFAULT_PUBLIC_KEY_TYPE,
        "/ethermint.crypto.v1.ethsecp256k1.PubKey",
        "/cosmos.evm.crypto.v1.ethsecp256k1.PubKey",
        "/injective.crypto.v1beta1.ethsecp256k1.PubKey",
    ] {
        let json = key().to_proto_json(type_url);
        assert_eq!(
            AnyPublicKey::from_proto_json(&json),
            Ok(AnyPublicKey::EthSecp256k1(key()))
        );
        assert_eq!(
            serde_json::from_str::<ProtoPublicKey>(&json.to_json()).unwrap(),
            json
        );
        assert_eq!(serde_json::to_value(&json).unwrap()["@type"], type_url);
    }

    let cosmos = key().to_proto_json("/cosmos.crypto.secp256k1.PubKey");
    assert_eq!(
        AnyPublicKey::from_proto_json(&cosmos),
        Err(PublicKeyError::CosmosSecp256k1)
    );

    let unknown = key().to_proto_json("/x.notethsecp256k1.PubKey");
    let got = "/x.notethsecp256k1.PubKey".to_owned();
    assert_eq!(
        AnyPublicKey::from_proto_json(&unknown),
        Err(PublicKeyError::ProtoType { got })
    );

    assert_eq!(error("{\"key\":1}"), PublicKeyError::Unrecognised);
    assert_eq!(error("neither"), PublicKeyError::Unrecognised);
}

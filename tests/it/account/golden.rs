//! Every address, public key and transaction of the golden vectors.

use alloy_primitives::{Signature, U256};
use serde_json::Value;
use tetrad::account::{
    AddressError, AddressForms, AminoName, AnyPublicKey, Bech32Error, ConsensusKey,
    ConsensusPublicKey, Form, Kind, ProtoPublicKey, PublicKey, address_from_bech32,
    address_from_hex, address_to_bech32, amino_prefix, create_address, parse_account_address,
    parse_address,
};

use super::vectors::{address, bytes, golden, hash, hrp, list, pairs, text};

/// The public key of an account.
fn public_key(account: &Value) -> PublicKey {
    PublicKey::from_hex(text(account, "pubkey_compressed_hex")).expect("a public key")
}

#[test]
fn public_keys_of_accounts_convert_between_their_forms_and_give_the_address() {
    let golden = golden();
    for account in list(&golden, "accounts") {
        let key = public_key(account);
        assert_eq!(
            key,
            PublicKey::from_hex(text(account, "pubkey_uncompressed_hex")).unwrap()
        );
        assert_eq!(
            key,
            PublicKey::from_base64(text(account, "pubkey_base64")).unwrap()
        );
        assert_eq!(
            key.compressed().as_slice(),
            bytes(text(account, "pubkey_compressed_hex"))
        );
        assert_eq!(
            key.uncompressed().as_slice(),
            bytes(text(account, "pubkey_uncompressed_hex"))
        );
        assert_eq!(key.to_base64(), text(account, "pubkey_base64"));
        assert_eq!(key.address(), address(text(account, "hex_lower")));
    }
}

#[test]
fn every_form_of_an_account_is_written_and_read_back() {
    let golden = golden();
    for account in list(&golden, "accounts") {
        let expected = address(text(account, "hex_lower"));
        for (prefix, account_text) in pairs(account, "bech32") {
            let hrp = hrp(prefix);
            let operator = text(&account["valoper"], prefix);
            let forms = AddressForms::new(&expected, &hrp);
            assert_eq!(forms.hex, text(account, "hex_lower"));
            assert_eq!(forms.eip55, text(account, "eip55"));
            assert_eq!(forms.account, account_text);
            assert_eq!(forms.validator_operator, operator);
            for (written, form) in [
                (forms.hex.as_str(), Form::Hex),
                (&forms.eip55, Form::Hex),
                (account_text, Form::Bech32(Kind::Account)),
                (operator, Form::Bech32(Kind::ValidatorOperator)),
                (&forms.consensus, Form::Bech32(Kind::Consensus)),
            ] {
                let parsed = parse_address(written, &hrp).unwrap();
                assert_eq!((parsed.address, parsed.form), (expected, form), "{written}");
            }
        }
    }
}

#[test]
fn address_pairs_agree_for_every_prefix_and_kind() {
    let golden = golden();
    for pair in list(&golden, "address_pairs") {
        let expected = address(text(pair, "hex"));
        assert_eq!(expected.to_checksum(None), text(pair, "eip55"));
        for (prefix, kind_prefix) in pair.as_object().unwrap().keys().filter_map(|name| {
            let prefix = name
                .strip_suffix("valoper")
                .or(name.strip_suffix("valcons"))
                .unwrap_or(name);
            (!matches!(prefix, "hex" | "eip55")).then_some((prefix, name))
        }) {
            let hrp = hrp(prefix);
            let kind = Kind::ALL
                .into_iter()
                .find(|kind| hrp.address_prefix(*kind) == *kind_prefix)
                .unwrap();
            let written = text(pair, kind_prefix);
            assert_eq!(address_to_bech32(&expected, &hrp, kind), written);
            assert_eq!(address_from_bech32(written, &hrp, kind), Ok(expected));
        }
    }
}

#[test]
fn legacy_public_keys_carry_the_amino_prefix_and_the_length() {
    let golden = golden();
    let sets = [
        (
            "legacy_bech32_pub_ethermint_amino",
            Kind::Account,
            AminoName::Ethermint,
        ),
        (
            "legacy_bech32_valoperpub_ethermint_amino",
            Kind::ValidatorOperator,
            AminoName::Ethermint,
        ),
        (
            "legacy_bech32_pub_cosmosevm_amino",
            Kind::Account,
            AminoName::CosmosEvm,
        ),
    ];

    let mut checked = 0;
    for account in list(&golden, "accounts") {
        for (member, kind, name) in sets.iter().filter(|set| account.get(set.0).is_some()) {
            for (prefix, written) in pairs(account, member) {
                let hrp = hrp(prefix);
                assert_eq!(
                    public_key(account).to_legacy_bech32(&hrp, *kind, *name),
                    written
                );

                let read = AnyPublicKey::from_legacy_bech32(written, &hrp);
                assert_eq!(read, Ok(AnyPublicKey::EthSecp256k1(public_key(account))));
                checked += 1;
            }
        }
    }

    assert!(checked >= 100, "only {checked} legacy forms in the vectors");
}

#[test]
fn amino_prefixes_follow_from_the_registered_names() {
    let golden = golden();
    for (name, prefix) in pairs(&golden, "amino_prefixes") {
        assert_eq!(amino_prefix(name).as_slice(), bytes(prefix), "{name}");
    }
}

#[test]
fn consensus_keys_have_all_their_forms() {
    let golden = golden();
    for node in list(&golden, "consensus") {
        let key = ConsensusKey::from_hex(text(node, "ed25519_seed"))
            .unwrap()
            .public_key();

        assert_eq!(
            key,
            ConsensusPublicKey::from_hex(text(node, "pubkey_hex")).unwrap()
        );
        assert_eq!(key.to_base64(), text(node, "pubkey_base64"));

        let proto: ProtoPublicKey = serde_json::from_value(node["proto_json"].clone()).unwrap();
        assert_eq!(key.to_proto_json(), proto);
        assert_eq!(
            AnyPublicKey::from_proto_json(&proto),
            Ok(AnyPublicKey::Ed25519(key))
        );

        for (prefix, written) in pairs(node, "valcons") {
            let hrp = hrp(prefix);
            let forms = AddressForms::new(&key.address(), &hrp);
            assert_eq!(forms.hex_upper, text(node, "address_hex_upper"));
            assert_eq!(forms.consensus, written);
            assert_eq!(
                parse_address(&forms.hex_upper, &hrp).unwrap().address,
                key.address()
            );

            let legacy = text(&node["legacy_valconspub_amino"], prefix);
            assert_eq!(key.to_legacy_bech32(&hrp), legacy);
            assert_eq!(
                AnyPublicKey::from_legacy_bech32(legacy, &hrp),
                Ok(AnyPublicKey::Ed25519(key))
            );
        }
    }
}

#[test]
fn the_address_of_a_key_is_never_the_cosmos_derivation() {
    let golden = golden();
    let trap = &golden["wrong_derivation_trap"];
    let key = PublicKey::from_base64(text(trap, "pubkey_base64")).unwrap();
    let written = address_to_bech32(&key.address(), &hrp("evmos"), Kind::Account);
    assert_eq!(written, text(trap, "eth_secp256k1_address_is"));
    assert_ne!(written, text(trap, "must_not_be_ripemd160_sha256"));
}

#[test]
fn errors_of_bech32_name_the_defect() {
    let golden = golden();
    let mut seen = 0;
    for case in list(&golden, "invalid_bech32") {
        let written = text(case, "s");
        let why = text(case, "why");
        let hrp = hrp(if written.trim_start().starts_with("cosmos") {
            "cosmos"
        } else {
            "evmos"
        });

        let error = address_from_bech32(written, &hrp, Kind::Account).unwrap_err();
        let expected = match why {
            "bech32m checksum" => AddressError::Bech32(Bech32Error::Bech32m),
            "21 bytes" => AddressError::WrongLength { got: 21 },
            "operator hrp where account expected" => AddressError::WrongPrefix {
                expected: "\"evmos\"".into(),
                got: "evmosvaloper".into(),
            },
            "'b' is not in the charset" => {
                let position = written.rfind('b').unwrap() + 1;
                AddressError::Bech32(Bech32Error::Character {
                    character: 'b',
                    position,
                })
            }
            "leading space" => AddressError::Whitespace { position: 1 },
            "empty" => AddressError::Empty,
            why if why.starts_with("bad checksum") => AddressError::Bech32(Bech32Error::Checksum),
            other => panic!("a new kind of invalid bech32: {other}"),
        };

        assert_eq!(error, expected, "{why}");
        assert_eq!(
            parse_account_address(written, &hrp).unwrap_err(),
            expected,
            "{why}"
        );
        seen += 1;
    }
    assert_eq!(seen, 7);
}

#[test]
fn errors_of_hex_name_the_defect() {
    let golden = golden();
    for case in list(&golden, "invalid_hex") {
        let written = text(case, "s");
        let expected = match text(case, "why") {
            "39 digits" => AddressError::HexLength { digits: 39 },
            "non-hex" => AddressError::HexDigit {
                character: 'g',
                position: 3,
            },
            why if why.starts_with("mixed case") => AddressError::Eip55 { position: 3 },
            other => panic!("a new kind of invalid hex: {other}"),
        };
        assert_eq!(address_from_hex(written), Err(expected.clone()));
        assert_eq!(parse_address(written, &hrp("pax")), Err(expected));
    }
}

#[test]
fn upper_case_bech32_is_valid_and_encoded_in_lower_case() {
    let golden = golden();
    let case = &golden["valid_bech32_uppercase"];
    let parsed = parse_address(text(case, "s"), &hrp("evmos")).unwrap();
    assert_eq!(parsed.address, address(text(case, "decodes_to")));
    assert_eq!(
        AddressForms::new(&parsed.address, &hrp("evmos")).account,
        text(case, "s").to_lowercase()
    );
}

#[test]
fn the_sender_and_its_public_key_are_recovered_from_a_signature() {
    let golden = golden();
    for transaction in list(&golden, "signed_txs") {
        let number = |member| U256::from_be_slice(&bytes(text(transaction, member)));
        let signature = Signature::new(number("r"), number("s"), transaction["y_parity"] == 1);
        let key = PublicKey::recover(&hash(text(transaction, "signing_hash")), &signature).unwrap();
        assert_eq!(key.address().to_checksum(None), text(transaction, "sender"));
        assert_eq!(
            key.to_base64(),
            text(transaction, "recovered_pubkey_base64")
        );

        let other = PublicKey::recover(&hash(text(transaction, "tx_hash")), &signature);
        assert_ne!(other, Ok(key), "another hash must lead to another key");
    }
}

#[test]
fn contract_addresses_follow_from_deployer_and_nonce() {
    let golden = golden();
    for case in list(&golden, "create_addresses") {
        let created = create_address(
            &address(text(case, "deployer")),
            case["nonce"].as_u64().unwrap(),
        );
        assert_eq!(created.to_checksum(None), text(case, "address"));
    }
}

//! `tetrad address`.

use serde_json::Value;
use tetrad::{
    account::{AddressError, Bech32Error, PublicKeyError},
    cli::{self, address},
};

use super::{
    cli::run,
    vectors::{golden, list, pairs, text},
};

#[test]
fn every_form_of_every_golden_address_prints_the_same_table() {
    let golden = golden();
    for account in list(&golden, "accounts") {
        for (prefix, bech32) in pairs(account, "bech32") {
            let operator = text(&account["valoper"], prefix);
            let table =
                run(&["address", text(account, "eip55"), "--bech32-prefix", prefix]).unwrap();
            for line in [
                text(account, "hex_lower"),
                text(account, "eip55"),
                bech32,
                operator,
            ] {
                assert!(table.contains(line), "{line} is not in\n{table}");
            }
            for form in [
                text(account, "hex_lower"),
                bech32,
                operator,
                &bech32.to_uppercase(),
            ] {
                assert_eq!(
                    run(&["address", form, "--bech32-prefix", prefix]).unwrap(),
                    table
                );
            }
        }
    }
}

#[test]
fn a_public_key_is_accepted_for_its_address() {
    let golden = golden();
    for account in list(&golden, "accounts") {
        let table = run(&["address", text(account, "eip55")]).unwrap();
        for member in [
            "pubkey_compressed_hex",
            "pubkey_uncompressed_hex",
            "pubkey_base64",
        ] {
            assert_eq!(
                run(&["address", text(account, member)]).unwrap(),
                table,
                "{member}"
            );
        }
        if let Some(legacy) = account.get("legacy_bech32_pub_ethermint_amino") {
            assert_eq!(run(&["address", text(legacy, "pax")]).unwrap(), table);
        }
    }
    for node in list(&golden, "consensus") {
        let table = run(&["address", text(node, "address_hex_upper")]).unwrap();
        assert_eq!(
            run(&["address", &node["proto_json"].to_string()]).unwrap(),
            table
        );
        assert!(table.contains(text(&node["valcons"], "pax")));
    }
}

#[test]
fn json_has_every_form_under_its_name() {
    let printed = run(&[
        "address",
        "0xdeadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
        "--json",
    ])
    .unwrap();
    let json: Value = serde_json::from_str(&printed).unwrap();

    let mut members: Vec<_> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    members.sort_unstable();
    assert_eq!(
        members,
        [
            "account",
            "bytes",
            "consensus",
            "eip55",
            "hex",
            "hex_upper",
            "validator_operator"
        ]
    );

    assert_eq!(
        json["account"],
        "pax1m6kmam774klwlh4dhmhaatd7al02m0h0aajl2k"
    );

    assert_eq!(
        run(&["address", &json["bytes"].to_string(), "--json"]).unwrap(),
        printed
    );
}

fn address_error(text: &str) -> AddressError {
    match run(&["address", text]) {
        Err(cli::Error::Address(address::Error::Address(error))) => error,
        other => panic!("{text}: {other:?}"),
    }
}

fn public_key_error(text: &str) -> PublicKeyError {
    match run(&["address", text]) {
        Err(cli::Error::Address(address::Error::PublicKey(error))) => error,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn an_invalid_address_is_rejected_with_the_reason() {
    assert_eq!(address_error(""), AddressError::Empty);
    assert_eq!(
        address_error(&"5".repeat(64)),
        AddressError::HexLength { digits: 64 }
    );
    assert_eq!(
        address_error("pax1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq0va855"),
        AddressError::Bech32(Bech32Error::Checksum)
    );

    let cosmos = address_error("cosmos1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqnrql8a");
    assert!(
        matches!(&cosmos, AddressError::WrongPrefix { got, .. } if got == "cosmos"),
        "{cosmos}"
    );
}

#[test]
fn an_invalid_public_key_is_rejected_as_a_public_key() {
    let not_on_curve = PublicKeyError::NotOnCurve {
        curve: "eth_secp256k1",
    };

    assert_eq!(
        public_key_error(&format!("02{}", "ff".repeat(32))),
        not_on_curve
    );
    assert_eq!(public_key_error(&"A".repeat(44)), not_on_curve);

    let cosmos = r#"{"@type":"/cosmos.crypto.secp256k1.PubKey","key":""}"#;
    assert_eq!(public_key_error(cosmos), PublicKeyError::CosmosSecp256k1);

    let other = public_key_error(
        "cosmospub17weu6qepqgmmpwm6s2yd8rk5nffykhwf3nlnadw2sfxfl8wqmldnm8xkqrefj0jlc93",
    );
    assert!(
        matches!(&other, PublicKeyError::WrongPrefix { got, .. } if got == "cosmospub"),
        "{other}"
    );
}

/// An output that accepts nothing, such as a closed pipe.
struct Closed;

impl std::io::Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_failing_output_is_an_error() {
    let prefix = address::PrefixArgs {
        bech32_prefix: Default::default(),
    };
    let mut args = address::AddressArgs {
        text: format!("0x{}", "00".repeat(20)),
        prefix,
        json: false,
    };
    assert!(matches!(
        args.run(&mut Closed),
        Err(address::Error::Output(_))
    ));
    args.json = true;
    assert!(matches!(
        args.run(&mut Closed),
        Err(address::Error::Output(_))
    ));
}

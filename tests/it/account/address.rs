//! Parsing of addresses, and the errors for invalid ones.

use alloy_primitives::{Address, B256, address as literal, hex, keccak256};
use tetrad::account::{
    AddressError, AddressForms, Bech32Error, Form, Hrp, HrpError, Kind, address_from_bech32,
    address_from_hex, address_to_bech32, create2_address, create2_address_from_code, decode_bech32,
    encode_bech32, parse_account_address, parse_address,
};

use super::vectors::hrp;

const EIP55: &str = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";

fn error(text: &str) -> AddressError {
    parse_address(text, &hrp("pax")).expect_err(text)
}

#[test]
fn hex_is_read_in_every_usual_spelling() {
    let lower = EIP55.to_lowercase();
    let upper = lower[2..].to_uppercase();
    for text in [
        EIP55,
        &lower,
        &format!("0x{upper}"),
        &format!("0X{upper}"),
        &upper,
        &lower[2..],
        &EIP55[2..],
    ] {
        let parsed = parse_address(text, &hrp("pax")).expect(text);
        assert_eq!(
            (parsed.address.to_checksum(None).as_str(), parsed.form),
            (EIP55, Form::Hex),
            "{text}"
        );
    }
}

#[test]
fn lists_of_bytes_are_read_as_cosmos_tools_print_them() {
    let expected: Address = EIP55.parse().unwrap();
    let bytes: Vec<_> = expected.iter().map(u8::to_string).collect();
    for text in [
        format!("[{}]", bytes.join(" ")),
        format!("[{}]", bytes.join(", ")),
        format!("[{}]", bytes.join(",")),
    ] {
        let parsed = parse_address(&text, &hrp("pax")).unwrap();
        assert_eq!((parsed.address, parsed.form), (expected, Form::Bytes));
    }
    assert_eq!(error("[]"), AddressError::WrongLength { got: 0 });
    assert_eq!(error("[1 2 3]"), AddressError::WrongLength { got: 3 });
    assert_eq!(error("[1 2"), AddressError::ListEnd);
    assert_eq!(
        error("[1 256]"),
        AddressError::ListItem {
            item: "256".into(),
            position: 2
        }
    );
    assert_eq!(
        error("[0x1]"),
        AddressError::ListItem {
            item: "0x1".into(),
            position: 1
        }
    );
}

#[test]
fn mixed_case_must_match_the_checksum_with_and_without_0x() {
    for (index, letter) in EIP55
        .char_indices()
        .skip(2)
        .filter(|(_, c)| c.is_ascii_alphabetic())
    {
        let mut wrong = EIP55.to_owned();
        let flipped = if letter.is_ascii_lowercase() {
            letter.to_ascii_uppercase()
        } else {
            letter.to_ascii_lowercase()
        };
        wrong.replace_range(index..=index, &flipped.to_string());
        assert_eq!(
            error(&wrong),
            AddressError::Eip55 {
                position: index + 1
            }
        );
        assert_eq!(
            error(&wrong[2..]),
            AddressError::Eip55 {
                position: index - 1
            }
        );
    }
}

#[test]
fn an_eip_55_error_does_not_reveal_the_right_spelling() {
    let mistyped = EIP55.replace('6', "5");
    let message = error(&mistyped).to_string();
    assert!(!message.contains(&mistyped[30..]), "{message}");
}

#[test]
fn errors_of_hex_name_the_length_digit_or_white_space() {
    assert_eq!(error(""), AddressError::Empty);
    assert_eq!(error("0x"), AddressError::HexLength { digits: 0 });
    assert_eq!(error(&EIP55[..41]), AddressError::HexLength { digits: 39 });
    assert_eq!(
        error(&format!("{EIP55}00")),
        AddressError::HexLength { digits: 42 }
    );
    assert_eq!(error("abcdef"), AddressError::HexLength { digits: 6 });
    assert_eq!(
        error(&EIP55.replace('9', "é")),
        AddressError::HexDigit {
            character: 'é',
            position: 6
        }
    );
    assert_eq!(
        error(&format!("{EIP55}\n")),
        AddressError::Whitespace { position: 43 }
    );
    assert_eq!(error("0x 1"), AddressError::Whitespace { position: 3 });
    assert_eq!(
        address_from_hex(" 0x"),
        Err(AddressError::Whitespace { position: 1 })
    );
}

#[test]
fn each_defect_of_bech32_has_its_own_error() {
    let good = address_to_bech32(&EIP55.parse().unwrap(), &hrp("pax"), Kind::Account);
    let bech32 = |error| AddressError::Bech32(error);
    let position = good.len();

    assert_eq!(
        error(&format!("P{}", &good[1..])),
        bech32(Bech32Error::MixedCase)
    );
    assert_eq!(
        error(&good.replace("pax1", "pax1i")),
        bech32(Bech32Error::Character {
            character: 'i',
            position: 5
        })
    );
    assert_eq!(
        error(&format!("{}b", &good[..position - 1])),
        bech32(Bech32Error::Character {
            character: 'b',
            position
        })
    );

    assert_eq!(error(&good[..position - 1]), bech32(Bech32Error::Checksum));
    assert_eq!(error("pax1"), bech32(Bech32Error::NoChecksum));
    assert_eq!(error("pax1qqqqq"), bech32(Bech32Error::NoChecksum));
    assert_eq!(error(&good[3..]), bech32(Bech32Error::Prefix));

    assert_eq!(
        error(&"pax1q".repeat(1000)),
        bech32(Bech32Error::TooLong { length: 5000 })
    );

    assert!(matches!(error("hello"), AddressError::Unrecognised { .. }));
}

fn wrong_prefix(expected: &str, got: &str) -> AddressError {
    AddressError::WrongPrefix {
        expected: expected.into(),
        got: got.into(),
    }
}

#[test]
fn prefixes_of_other_networks_and_kinds_are_rejected() {
    let address = Address::repeat_byte(7);
    let cosmos = address_to_bech32(&address, &hrp("cosmos"), Kind::Account);
    let operator = address_to_bech32(&address, &hrp("pax"), Kind::ValidatorOperator);

    assert_eq!(
        error(&cosmos),
        wrong_prefix(r#""pax", "paxvaloper" or "paxvalcons""#, "cosmos")
    );
    assert_eq!(
        parse_account_address(&operator, &hrp("pax")),
        Err(wrong_prefix(r#""pax""#, "paxvaloper"))
    );
    assert_eq!(
        address_from_bech32(&operator, &hrp("pax"), Kind::Consensus),
        Err(wrong_prefix(r#""paxvalcons""#, "paxvaloper"))
    );

    assert_eq!(
        address_from_bech32(&operator, &hrp("pax"), Kind::ValidatorOperator),
        Ok(address)
    );
    assert_eq!(
        parse_address(&operator.to_uppercase(), &hrp("pax"))
            .unwrap()
            .address,
        address
    );
}

#[test]
fn a_payload_of_another_length_is_rejected() {
    for length in [0, 1, 19, 21, 32, 64] {
        let text = encode_bech32("pax", &vec![1; length]).unwrap();
        assert_eq!(error(&text), AddressError::WrongLength { got: length });
    }
}

/// bech32 does not notice a `q` slipped in before a final `p` (see BIP-350); the length does.
#[test]
fn the_length_check_catches_the_known_weakness_of_bech32() {
    let ends_in_p = (0..1000u16)
        .map(|number| Address::left_padding_from(&number.to_be_bytes()))
        .map(|address| address_to_bech32(&address, &hrp("pax"), Kind::Account))
        .find(|text| text.ends_with('p'))
        .expect("one in 32 ends in p");
    let mut found_by_length = 0;
    for extra in 1..=16 {
        let text = format!(
            "{}{}p",
            &ends_in_p[..ends_in_p.len() - 1],
            "q".repeat(extra)
        );
        let error = error(&text);
        assert_ne!(
            error,
            AddressError::Bech32(Bech32Error::Checksum),
            "bech32 no longer has this weakness: remove the test"
        );
        found_by_length += usize::from(matches!(error, AddressError::WrongLength { .. }));
    }
    assert!(found_by_length > 0);
}

#[test]
fn padding_must_be_short_and_zero() {
    assert_eq!(
        decode_bech32(&with_checksum("pax", &[0, 1])),
        Err(Bech32Error::Padding),
        "two bits of padding, one of them set"
    );
    assert_eq!(
        decode_bech32(&with_checksum("pax", &[0])),
        Err(Bech32Error::Padding),
        "five bits of padding"
    );
    assert_eq!(
        decode_bech32(&with_checksum("pax", &[0, 0])).unwrap().data,
        [0]
    );
}

/// Encodes 5-bit groups in bech32 unchanged, including their padding.
fn with_checksum(prefix: &str, groups: &[u8]) -> String {
    use bech32::{Bech32, Fe32, primitives::iter::Fe32IterExt};
    let prefix = bech32::Hrp::parse(prefix).expect("a prefix");
    let groups = groups
        .iter()
        .map(|group| Fe32::try_from(*group).expect("five bits"));
    groups.with_checksum::<Bech32>(&prefix).chars().collect()
}

/// With a one-letter prefix, bech32 of 20 bytes has 40 characters, which are sometimes all hex
/// digits.
#[test]
fn text_that_is_both_hex_and_bech32_is_refused() {
    let hex_digits: Vec<u8> = "023456789acdef"
        .chars()
        .map(|c| bech32::Fe32::from_char(c).unwrap().to_u8())
        .collect();
    let ambiguous = (0u32..)
        .map(|number| {
            let groups: Vec<u8> = (0..32)
                .map(|i| hex_digits[(number >> (4 * (i % 8))) as usize % 14])
                .collect();
            with_checksum("a", &groups)
        })
        .find(|text| text.chars().all(|c| c.is_ascii_hexdigit()))
        .unwrap();
    assert_eq!(ambiguous.len(), 40);
    assert_eq!(
        parse_address(&ambiguous, &hrp("a")),
        Err(AddressError::Ambiguous)
    );
    assert_eq!(
        parse_address(&format!("0x{ambiguous}"), &hrp("a"))
            .unwrap()
            .form,
        Form::Hex
    );
    assert_eq!(
        parse_address(&ambiguous, &hrp("pax")).unwrap().form,
        Form::Hex
    );
    assert!(address_from_bech32(&ambiguous, &hrp("a"), Kind::Account).is_ok());
}

#[test]
fn configured_prefixes_are_validated() {
    for good in [
        "pax",
        "cosmos",
        "a",
        "n1",
        "osmo2test",
        &"x".repeat(Hrp::MAX_LENGTH),
    ] {
        assert_eq!(Hrp::new(good).unwrap().as_str(), good);
    }

    assert_eq!(Hrp::new(""), Err(HrpError::Empty));
    assert_eq!(
        Hrp::new("Pax"),
        Err(HrpError::Character {
            character: 'P',
            position: 1
        })
    );
    assert_eq!(
        Hrp::new("pa x"),
        Err(HrpError::Character {
            character: ' ',
            position: 3
        })
    );

    assert_eq!(Hrp::new("0x"), Err(HrpError::DigitFirst));
    assert_eq!(
        Hrp::new(&"x".repeat(45)),
        Err(HrpError::TooLong { length: 45 })
    );

    assert!(serde_json::from_str::<Hrp>("\"Pax\"").is_err());
    assert_eq!(
        serde_json::from_str::<Hrp>("\"pax\"").unwrap(),
        Hrp::default()
    );
}

#[test]
fn the_longest_prefix_leaves_every_address_within_ninety_characters() {
    let longest = hrp(&"x".repeat(Hrp::MAX_LENGTH));
    for kind in Kind::ALL {
        assert!(address_to_bech32(&Address::ZERO, &longest, kind).len() <= 90);
    }
}

#[test]
fn every_prefix_of_bip_173_is_encoded_and_an_invalid_one_is_an_error() {
    assert_eq!(
        decode_bech32(&encode_bech32("?!", &[1, 2]).unwrap())
            .unwrap()
            .prefix,
        "?!"
    );
    assert_eq!(encode_bech32("", &[]), Err(Bech32Error::Prefix));
    assert_eq!(encode_bech32("pax valoper", &[]), Err(Bech32Error::Prefix));
    assert_eq!(
        encode_bech32(&"x".repeat(84), &[]),
        Err(Bech32Error::Prefix)
    );
    assert!(encode_bech32("pax", &[0; 633]).is_ok());
    assert_eq!(
        encode_bech32("pax", &[0; 634]),
        Err(Bech32Error::TooLong { length: 1025 })
    );
}

#[test]
fn forms_print_as_an_aligned_table_and_as_json() {
    let forms = AddressForms::new(&EIP55.parse().unwrap(), &hrp("pax"));
    let table = forms.to_string();
    let expected = "\
bytes               [251 105 22 9 92 161 223 96 187 121 206 146 206 62 167 76 55 197 211 89]
hex                 0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359
hex, upper case     FB6916095CA1DF60BB79CE92CE3EA74C37C5D359
EIP-55              0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359
account             pax1ld53vz2u580kpwmee6fvu048fsmut56er84cjq
validator operator  paxvaloper1ld53vz2u580kpwmee6fvu048fsmut56eg2avhr
consensus           paxvalcons1ld53vz2u580kpwmee6fvu048fsmut56euewsmz";
    assert_eq!(table, expected);
    let json = serde_json::to_value(&forms).unwrap();
    assert_eq!(json["eip55"], EIP55);
    assert_eq!(json["bytes"].as_array().unwrap().len(), 20);
    for line in table.lines().skip(1) {
        let value = line.split_whitespace().last().unwrap();
        assert!(
            json.as_object()
                .unwrap()
                .values()
                .any(|member| member == value),
            "{value} is not in the JSON"
        );
    }
}

/// The examples of EIP-1014.
#[test]
fn create2_addresses_match_the_examples_of_eip_1014() {
    let deployer = literal!("00000000000000000000000000000000deadbeef");
    let salt = B256::left_padding_from(&hex!("cafebabe"));
    let expected = literal!("60f3f640a8508fC6a86d45DF051962668E1e8AC7");
    let code = hex!("deadbeef");
    assert_eq!(create2_address_from_code(&deployer, &salt, &code), expected);
    assert_eq!(
        create2_address(&deployer, &salt, &keccak256(code)),
        expected
    );
    let empty = create2_address_from_code(&Address::ZERO, &B256::ZERO, &[]);
    assert_eq!(empty, literal!("E33C0C7F7df4809055C3ebA6c09CFe4BaF1BD9e0"));
}

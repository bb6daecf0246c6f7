//! Properties of every form, for arbitrary bytes and arbitrary text.

use alloy_primitives::{Address, B256};
use k256::elliptic_curve::rand_core::OsRng;
use proptest::{collection::vec, prelude::*};
use tetrad::account::{
    AddressForms, AminoName, AnyPublicKey, ConsensusKey, DerivationPath, Hrp, Kdf, Keystore, Kind,
    Mnemonic, ProtoPublicKey, PublicKey, SecretKey, address_from_bech32, address_from_hex,
    address_to_bech32, decode_bech32, encode_bech32, parse_address,
};

fn addresses() -> impl Strategy<Value = Address> {
    any::<[u8; 20]>().prop_map(Address::from)
}

fn prefixes() -> impl Strategy<Value = Hrp> {
    "[a-z][a-z0-9]{0,11}"
        .prop_map(|prefix| Hrp::new(&prefix).expect("letters and digits, a letter first"))
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(Kind::ALL.as_slice())
}

/// Secret keys; the few invalid numbers are too rare to occur.
fn keys() -> impl Strategy<Value = SecretKey> {
    any::<[u8; 32]>().prop_filter_map("not a key", |bytes| SecretKey::from_bytes(&bytes).ok())
}

/// Arbitrary text, and text that parsers reject late.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "(0x|0X|pax1|paxpub1|PAX1|\\[|\\{|m/)?[0-9a-zA-Z',/ \\]\\[:\"{}-]{0,100}",
        "pax(valoper|valcons)?(pub)?1[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{0,90}",
        "\\{\"(crypto|version|@type|key|priv_key)\":[0-9a-z{}\":]{0,40}\\}",
        vec(
            prop::sample::select(&["abandon", "zoo", "art", "about", "word"][..]),
            0..30
        )
        .prop_map(|w| w.join(" ")),
    ]
}

proptest! {
    #[test]
    fn every_form_of_an_address_parses_to_the_address(address in addresses(), hrp in prefixes()) {
        let forms = AddressForms::new(&address, &hrp);
        let list = format!("{:?}", forms.bytes);
        for text in [
            &forms.hex,
            &forms.hex_upper,
            &forms.eip55,
            &forms.account,
            &forms.validator_operator,
            &forms.consensus,
            &list,
        ] {
            let parsed = parse_address(text, &hrp).map(|parsed| parsed.address);
            prop_assert_eq!(parsed, Ok(address), "{}", text);
        }

        for kind in Kind::ALL {
            let upper = forms.bech32(kind).to_uppercase();
            prop_assert_eq!(address_from_bech32(&upper, &hrp, kind), Ok(address));
        }
    }

    #[test]
    fn bech32_with_one_changed_character_never_decodes(
        address in addresses(),
        kind in kinds(),
        position in any::<prop::sample::Index>(),
        replacement in "[!-~]",
    ) {
        let hrp = Hrp::default();
        let good = address_to_bech32(&address, &hrp, kind);
        let index = position.index(good.len());
        prop_assume!(good[index..=index] != replacement);

        let mut changed = good;
        changed.replace_range(index..=index, &replacement);
        prop_assert!(decode_bech32(&changed).is_err(), "{}", changed);
        prop_assert!(parse_address(&changed, &hrp).is_err(), "{}", changed);
    }

    #[test]
    fn a_mixed_case_address_with_a_flipped_letter_is_rejected(address in addresses()) {
        let text = address.to_checksum(None);
        let letters = text.char_indices().skip(2).filter(|(_, c)| c.is_ascii_alphabetic());
        for (index, letter) in letters {
            let other = if letter.is_ascii_lowercase() {
                letter.to_ascii_uppercase()
            } else {
                letter.to_ascii_lowercase()
            };
            let mut flipped = text.clone();
            flipped.replace_range(index..=index, &other.to_string());

            let digits = &flipped[2..];
            let mixed = digits != digits.to_lowercase() && digits != digits.to_uppercase();
            prop_assert_eq!(address_from_hex(&flipped).is_err(), mixed, "{}", flipped);
        }
    }

    #[test]
    fn bech32_carries_any_bytes(prefix in "[a-z]{1,20}", data in vec(any::<u8>(), 0..100)) {
        let decoded = decode_bech32(&encode_bech32(&prefix, &data).unwrap()).unwrap();
        prop_assert_eq!((decoded.prefix, decoded.data), (prefix, data));
    }

    #[test]
    fn every_form_of_a_public_key_parses_to_the_key(
        key in keys(),
        hrp in prefixes(),
        kind in kinds(),
    ) {
        assert_public_key_reads_back(&key, &hrp, kind)?;
    }

    #[test]
    fn the_signer_is_recovered(key in keys(), hash in any::<[u8; 32]>().prop_map(B256::from)) {
        let signature = key.sign_prehash(&hash).unwrap();
        prop_assert!(signature.normalize_s().is_none());
        prop_assert_eq!(PublicKey::recover(&hash, &signature), Ok(key.public_key()));
    }

    #[test]
    fn entropy_and_phrase_convert_to_each_other(entropy in any::<[u8; 32]>(), words in 4usize..=8) {
        let mnemonic = Mnemonic::from_entropy(&entropy[..4 * words]).unwrap();
        prop_assert_eq!(mnemonic.phrase().split(' ').count(), 3 * words);
        let read = Mnemonic::from_phrase(mnemonic.phrase()).unwrap();
        prop_assert_eq!(read.phrase(), mnemonic.phrase());
    }

    #[test]
    fn written_paths_parse_to_the_same_path(steps in vec((0u32..1 << 31, any::<bool>()), 0..20)) {
        let steps: Vec<_> = steps
            .iter()
            .map(|(n, hard)| format!("/{n}{}", if *hard { "'" } else { "" }))
            .collect();
        let text = format!("m{}", steps.concat());
        prop_assert_eq!(text.parse::<DerivationPath>().unwrap().to_string(), text);
    }

    #[test]
    fn keystores_open_with_their_password_only(
        key in keys(),
        password in vec(any::<u8>(), 0..40),
        other in vec(any::<u8>(), 0..40),
    ) {
        let kdf = Kdf::Scrypt { n: 2, r: 1, p: 1 };
        let keystore = Keystore::encrypt(&key, &password, kdf, &mut OsRng).unwrap();
        let read = Keystore::from_json(&keystore.to_json()).unwrap();
        prop_assert_eq!(read.decrypt(&password).unwrap().to_bytes(), key.to_bytes());
        prop_assert_eq!(read.decrypt(&other).is_ok(), password == other);
    }
}

fn assert_public_key_reads_back(
    key: &SecretKey,
    hrp: &Hrp,
    kind: Kind,
) -> Result<(), TestCaseError> {
    let public_key = key.public_key();
    prop_assert_eq!(
        PublicKey::from_bytes(&public_key.compressed()),
        Ok(public_key)
    );
    prop_assert_eq!(
        PublicKey::from_bytes(&public_key.uncompressed()),
        Ok(public_key)
    );
    prop_assert_eq!(
        PublicKey::from_bytes(&public_key.uncompressed()[1..]),
        Ok(public_key)
    );
    prop_assert_eq!(
        PublicKey::from_base64(&public_key.to_base64()),
        Ok(public_key)
    );

    if kind != Kind::Consensus {
        for name in AminoName::ALL {
            let text = public_key.to_legacy_bech32(hrp, kind, name);
            prop_assert_eq!(
                AnyPublicKey::parse(&text, hrp),
                Ok(AnyPublicKey::EthSecp256k1(public_key))
            );
        }
    }

    let consensus = ConsensusKey::from_seed(&key.to_bytes()).public_key();
    prop_assert_eq!(
        AnyPublicKey::parse(&consensus.to_legacy_bech32(hrp), hrp),
        Ok(AnyPublicKey::Ed25519(consensus))
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// No text that a user can paste makes a parser panic, and no error is empty.
    #[test]
    fn arbitrary_text_never_panics(text in texts()) {
        prop_assert!(refusals(&text).iter().all(|message| !message.is_empty()));
    }

    #[test]
    fn arbitrary_payloads_with_valid_checksums_never_panic(
        data in vec(any::<u8>(), 0..60),
        kind in kinds(),
    ) {
        let hrp = Hrp::default();
        for prefix in [hrp.address_prefix(kind), hrp.public_key_prefix(kind)] {
            let text = encode_bech32(&prefix, &data).unwrap();
            let _ = (parse_address(&text, &hrp), AnyPublicKey::parse(&text, &hrp));
        }
    }
}

/// The errors of the parsers that reject a text.
fn refusals(text: &str) -> Vec<String> {
    fn refusal<T, E: ToString>(result: Result<T, E>) -> Option<String> {
        result.err().map(|error| error.to_string())
    }

    // Its errors come from serde_json.
    let _ = serde_json::from_str::<ProtoPublicKey>(text);

    let hrp = Hrp::default();
    let parsers = [
        refusal(parse_address(text, &hrp)),
        refusal(address_from_hex(text)),
        refusal(decode_bech32(text)),
        refusal(AnyPublicKey::parse(text, &hrp)),
        refusal(PublicKey::from_hex(text)),
        refusal(PublicKey::from_base64(text)),
        refusal(SecretKey::from_hex(text)),
        refusal(ConsensusKey::from_validator_json(text)),
        refusal(Mnemonic::from_phrase(text)),
        refusal(text.parse::<DerivationPath>()),
        refusal(text.parse::<Hrp>()),
        refusal(Keystore::from_json(text)),
    ];
    parsers.into_iter().flatten().collect()
}

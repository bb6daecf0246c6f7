//! BIP-32 derivation and the paths of BIP-44.

use tetrad::account::{DerivationPath, PathError, Seed};

use super::vectors::bytes;

fn private_key(seed: &str, path: &str) -> String {
    let seed = Seed::from_bytes(&bytes(seed).try_into().expect("64 bytes"));
    seed.derive(&path.parse().expect("a path"))
        .expect("a key")
        .to_hex()[2..]
        .to_owned()
}

/// The second test vector of BIP-32: plain and hardened steps, and the highest index.
#[test]
fn plain_and_hardened_steps_derive_the_keys_of_bip_32() {
    let seed = "fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a2\
                9f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542";

    for (path, key) in [
        (
            "m",
            "4b03d6fc340455b363f51020ad3ecca4f0850280cf436c70c727923f6db46c3e",
        ),
        (
            "m/0",
            "abe74a98f6c7eabee0428f53798f0ab8aa1bd37873999041703c742f15ac7e1e",
        ),
        (
            "m/0/2147483647'",
            "877c779ad9687164e9c2f4f0f4ff0340814392330693ce95a58fe18fd52e6e93",
        ),
        (
            "m/0/2147483647'/1",
            "704addf544a06e5ee4bea37098463c23613da32020d604506da8c0518e1da4b7",
        ),
        (
            "m/0/2147483647'/1/2147483646'",
            "f1c7c871a54a804afe328b4c83a1c33b8e5ff48f5087273f04efa83b247d6a2d",
        ),
        (
            "m/0/2147483647'/1/2147483646'/2",
            "bb7d39bdb83ecf58f2fd82b6d918341cbef428661ef01ab97c28a4842125ac23",
        ),
    ] {
        assert_eq!(private_key(seed, path), key, "{path}");
    }
}

/// The third test vector of BIP-32, made for implementations that lost leading zeros.
#[test]
fn leading_zeros_of_a_key_are_kept() {
    let seed = "4b381541583be4423346c643850da4b320e46a87ae3d2a4e6da11eba819cd4ac\
                ba45d239319ac14f863b8d5ab5a0d0c64d2e8a1e7d1457df2e5a3c51c73235be";
    assert_eq!(
        private_key(seed, "m"),
        "00ddb80b067e0d4993197fe10f2657a844a384589847602d56f0c629c81aae32"
    );
    assert_eq!(
        private_key(seed, "m/0'"),
        "491f7a2eebc7b57028e0d3faa0acda02e75c33b03c48fb288c41e2ea44e1daef"
    );
}

#[test]
fn paths_are_parsed_with_every_hardening_mark_and_written_with_one() {
    let expected = "m/44'/60'/0'/0/3".parse::<DerivationPath>().unwrap();
    for text in [
        "m/44h/60h/0h/0/3",
        "m/44H/60H/0H/0/3",
        "m/44'/60h/0H/0/3",
        "m/044'/60'/00'/0/3",
    ] {
        assert_eq!(text.parse(), Ok(expected.clone()));
    }
    assert_eq!(expected.to_string(), "m/44'/60'/0'/0/3");
    assert_eq!(DerivationPath::ethereum(3), Ok(expected));
    assert_eq!("m".parse::<DerivationPath>().unwrap().to_string(), "m");
}

#[test]
fn errors_of_paths_name_the_step() {
    let error = |text: &str| text.parse::<DerivationPath>().unwrap_err();
    for text in ["", "44'/60'", "M/0", "/m/0", "m0", " m/0"] {
        assert_eq!(error(text), PathError::Root, "{text:?}");
    }
    for (text, step) in [
        ("m/", 1),
        ("m//0", 1),
        ("m/0/", 2),
        ("m/0/'", 2),
        ("m/0/+1", 2),
        ("m/0/-1", 2),
        ("m/0''", 1),
        ("m/0/1 ", 2),
    ] {
        assert_eq!(error(text), PathError::Number { step }, "{text:?}");
    }
    assert_eq!(error("m/0/2147483648"), PathError::TooBig { step: 2 });
    assert_eq!(
        error("m/99999999999999999999999999'"),
        PathError::TooBig { step: 1 }
    );
    assert_eq!(
        DerivationPath::ethereum(1 << 31),
        Err(PathError::TooBig { step: 5 })
    );
    let deepest = format!("m{}", "/0".repeat(DerivationPath::MAX_DEPTH));
    assert!(deepest.parse::<DerivationPath>().is_ok());
    assert_eq!(error(&format!("{deepest}/0")), PathError::TooDeep);
}

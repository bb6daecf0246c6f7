//! Web3 secret storage: files of other tools, damaged files and hostile ones.

use std::time::{Duration, Instant};

use k256::elliptic_curve::rand_core::OsRng;
use serde_json::{Value, json};
use tetrad::account::{Kdf, KdfError, KeyError, Keystore, KeystoreError, SecretKey};

use super::vectors::bytes;

const PASSWORD: &[u8] = b"correct horse";

fn key() -> SecretKey {
    SecretKey::from_hex(&format!("{:064x}", 0x1234_5678_9abc_u64)).expect("a key")
}

/// The cheapest keystore file, as JSON that a test can damage.
fn file() -> Value {
    let keystore = Keystore::encrypt(
        &key(),
        PASSWORD,
        Kdf::Scrypt { n: 2, r: 1, p: 1 },
        &mut OsRng,
    )
    .expect("a keystore");
    serde_json::from_str(&keystore.to_json()).expect("JSON")
}

fn read(file: &Value) -> Result<Keystore, KeystoreError> {
    Keystore::from_json(&file.to_string())
}

/// The error for a file with one changed member; `None` removes it.
fn error_with(pointer: &str, value: Option<Value>) -> KeystoreError {
    let mut file = file();
    let (parent, member) = pointer.rsplit_once('/').expect("a pointer");
    let parent = file
        .pointer_mut(parent)
        .and_then(Value::as_object_mut)
        .expect("an object");
    match value {
        Some(value) => parent.insert(member.to_owned(), value),
        None => parent.remove(member),
    };
    read(&file).expect_err("a damaged file")
}

fn scrypt_file(
    iv: &str,
    ciphertext: &str,
    salt: &str,
    mac: &str,
    (n, r, p): (u64, u64, u64),
) -> Value {
    json!({
        "crypto": {
            "cipher": "aes-128-ctr", "cipherparams": { "iv": iv }, "ciphertext": ciphertext, "kdf": "scrypt",
            "kdfparams": { "dklen": 32, "n": n, "r": r, "p": p, "salt": salt }, "mac": mac
        },
        "version": 3
    })
}

/// The scrypt example of the format's definition. eth-account writes these `n` and `r`, which RFC
/// 7914 forbids.
#[test]
fn the_scrypt_example_of_the_definition_opens() {
    let file = scrypt_file(
        "83dbcc02d8ccb40e466191a123791e0e",
        "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c",
        "ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19",
        "2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097",
        (262_144, 1, 8),
    );
    let key = read(&file).unwrap().decrypt(b"testpassword").unwrap();
    assert_eq!(
        key.to_hex().as_str(),
        "0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d"
    );
}

/// Two vectors of go-ethereum whose keys lack their leading zero bytes.
#[test]
fn short_keys_are_padded_with_leading_zeros() {
    let thirty_one = scrypt_file(
        "e0c41130a323adc1446fc82f724bca2f",
        "9517cd5bdbe69076f9bf5057248c6c050141e970efa36ce53692d5d59a3984",
        "711f816911c92d649fb4c84b047915679933555030b3552c1212609b38208c63",
        "d5e116151c6aa71470e67a7d42c9620c75c4d23229847dcc127794f0732b0db5",
        (2, 8, 1),
    );
    let thirty = scrypt_file(
        "3ca92af36ad7c2cd92454c59cea5ef00",
        "108b7d34f3442fc26ab1ab90ca91476ba6bfa8c00975a49ef9051dc675aa",
        "d0769e608fb86cda848065642a9c6fa046845c928175662b8e356c77f914cd3b",
        "75d0e6759f7b3cefa319c3be41680ab6beea7d8328653474bd06706d4cc67420",
        (2, 8, 1),
    );

    for (file, key) in [
        (
            thirty_one,
            "00fa7b3db73dc7dfdf8c5fbdb796d741e4488628c41fc4febd9160a866ba0f35",
        ),
        (
            thirty,
            "000081c29e8142bb6a81bef5a92bda7a8328a5c85bb2f9542e76f9b0f94fc018",
        ),
    ] {
        assert_eq!(
            read(&file)
                .unwrap()
                .decrypt(b"foo")
                .unwrap()
                .to_bytes()
                .as_slice(),
            bytes(key)
        );
    }
}

#[test]
fn spellings_of_other_tools_are_accepted() {
    let mut file = file();
    let crypto = file.as_object_mut().unwrap().remove("crypto").unwrap();
    file["Crypto"] = crypto;
    file.as_object_mut().unwrap().remove("id");
    file["address"] = json!(format!(
        "0x{}",
        file["address"].as_str().unwrap().to_uppercase()
    ));
    for pointer in [
        "/Crypto/ciphertext",
        "/Crypto/mac",
        "/Crypto/cipherparams/iv",
        "/Crypto/kdfparams/salt",
    ] {
        let value = file.pointer_mut(pointer).unwrap();
        *value = json!(format!("0x{}", value.as_str().unwrap()));
    }
    file["Crypto"]["kdfparams"]["dklen"] = json!(64);
    file["x-ethers"] = json!({ "client": "ethers" });
    let keystore = read(&file).unwrap();
    assert_eq!(keystore.address(), Some(key().address()));
    assert_eq!(
        keystore.decrypt(PASSWORD).unwrap().to_bytes(),
        key().to_bytes()
    );

    file.as_object_mut().unwrap().remove("address");
    assert_eq!(read(&file).unwrap().address(), None);
    assert!(read(&file).unwrap().decrypt(PASSWORD).is_ok());
}

/// eth-keyfile treats the counter as a number and drops its leading zero bytes.
#[test]
fn a_counter_without_its_leading_zeros_is_the_same_counter() {
    let file = loop {
        let file = file();
        if file["crypto"]["cipherparams"]["iv"]
            .as_str()
            .unwrap()
            .starts_with("00")
        {
            break file;
        }
    };
    let mut short = file.clone();
    short["crypto"]["cipherparams"]["iv"] =
        json!(file["crypto"]["cipherparams"]["iv"].as_str().unwrap()[2..]);
    assert_eq!(read(&short).unwrap(), read(&file).unwrap());
    assert!(read(&short).unwrap().decrypt(PASSWORD).is_ok());
}

#[test]
fn every_damage_to_checked_fields_is_detected() {
    for member in ["ciphertext", "mac", "salt"] {
        for index in 0..32 {
            let mut file = file();
            let pointer = if member == "salt" {
                "/crypto/kdfparams/salt".into()
            } else {
                format!("/crypto/{member}")
            };
            let value = file.pointer_mut(&pointer).unwrap();
            let mut damaged = bytes(value.as_str().unwrap());
            damaged[index] ^= 1;
            *value = json!(alloy_primitives::hex::encode(damaged));
            assert_eq!(
                read(&file).unwrap().decrypt(PASSWORD).unwrap_err(),
                KeystoreError::WrongPassword
            );
        }
    }
}

/// The MAC does not cover the counter. A changed counter decrypts to another key, which the address
/// reveals.
#[test]
fn a_key_of_another_address_is_refused() {
    let mut file = file();
    file["crypto"]["cipherparams"]["iv"] = json!("00".repeat(16));
    let error = read(&file).unwrap().decrypt(PASSWORD).unwrap_err();
    assert!(
        matches!(error, KeystoreError::AddressMismatch { stated, .. } if stated == key().address()),
        "{error}"
    );
}

#[test]
fn a_file_that_decrypts_to_an_invalid_key_is_rejected() {
    let mut file = file();
    // The keystream is ciphertext xor key; written as ciphertext, it decrypts to zero.
    let ciphertext = bytes(file["crypto"]["ciphertext"].as_str().unwrap());
    let keystream: Vec<u8> = ciphertext
        .iter()
        .zip(key().to_bytes().iter())
        .map(|(a, b)| a ^ b)
        .collect();
    file["crypto"]["ciphertext"] = json!(alloy_primitives::hex::encode(&keystream));

    let salt = bytes(file["crypto"]["kdfparams"]["salt"].as_str().unwrap());
    let mut derived = [0; 32];
    scrypt::scrypt(
        PASSWORD,
        &salt,
        &scrypt::Params::new(1, 1, 1).unwrap(),
        &mut derived,
    )
    .unwrap();
    let mac = alloy_primitives::keccak256([&derived[16..], &keystream].concat());
    file["crypto"]["mac"] = json!(alloy_primitives::hex::encode(mac));

    let error = read(&file).unwrap().decrypt(PASSWORD).unwrap_err();
    assert_eq!(error, KeystoreError::Key(KeyError::OutOfRange));
}

fn wrong_length(field: &'static str, expected: &'static str, got: usize) -> KeystoreError {
    KeystoreError::Length {
        field,
        expected,
        got,
    }
}

#[test]
fn errors_of_invalid_files_name_the_reason() {
    assert_eq!(
        Keystore::from_json("").unwrap_err(),
        KeystoreError::NotAnObject
    );

    let secret = format!("\"{}\"", "5".repeat(64));
    assert_eq!(
        Keystore::from_json(&secret).unwrap_err(),
        KeystoreError::NotAnObject
    );

    let long = format!("{{{}", " ".repeat(Keystore::MAX_JSON_BYTES));
    assert_eq!(
        Keystore::from_json(&long).unwrap_err(),
        KeystoreError::TooLong { bytes: long.len() }
    );

    for (pointer, name) in [
        ("/crypto", "crypto"),
        ("/version", "version"),
        ("/crypto/mac", "mac"),
        ("/crypto/kdf", "kdf"),
    ] {
        let error = error_with(pointer, None).to_string();
        assert!(
            error.contains(&format!("missing field `{name}`")),
            "{error}"
        );
    }

    assert_eq!(
        error_with("/version", Some(json!(1))),
        KeystoreError::Version { got: 1 }
    );
    assert_eq!(
        error_with("/crypto/cipher", Some(json!("aes-128-cbc"))),
        KeystoreError::Cipher {
            got: "aes-128-cbc".into()
        }
    );
    assert_eq!(
        error_with("/crypto/mac", Some(json!("zz"))),
        KeystoreError::Hex { field: "mac" }
    );

    assert_eq!(
        error_with("/crypto/mac", Some(json!("00"))),
        wrong_length("mac", "32", 1)
    );
    assert_eq!(
        error_with("/address", Some(json!("00"))),
        wrong_length("address", "20", 1)
    );
    assert_eq!(
        error_with("/crypto/ciphertext", Some(json!(""))),
        wrong_length("ciphertext", "1 to 32", 0)
    );
    assert_eq!(
        error_with("/crypto/ciphertext", Some(json!("00".repeat(33)))),
        wrong_length("ciphertext", "1 to 32", 33)
    );
    assert_eq!(
        error_with("/crypto/cipherparams/iv", Some(json!("00".repeat(17)))),
        wrong_length("iv", "at most 16", 17)
    );
}

#[test]
fn unknown_and_incomplete_functions_are_named() {
    let kdf = |value: &str| error_with("/crypto/kdf", Some(json!(value)));
    assert_eq!(
        kdf("argon2id"),
        KdfError::Function {
            got: "argon2id".into()
        }
        .into()
    );
    assert_eq!(kdf("pbkdf2"), KdfError::Missing { name: "prf" }.into());

    for name in ["n", "r", "p", "dklen", "salt"] {
        assert_eq!(
            error_with(&format!("/crypto/kdfparams/{name}"), None),
            KdfError::Missing { name }.into()
        );
    }

    let mut file = file();
    file["crypto"]["kdf"] = json!("pbkdf2");
    file["crypto"]["kdfparams"] =
        json!({ "dklen": 32, "c": 1, "prf": "hmac-sha512", "salt": "00" });
    assert_eq!(
        read(&file).unwrap_err(),
        KdfError::Prf {
            got: "hmac-sha512".into()
        }
        .into()
    );

    let short = error_with("/crypto/kdfparams/dklen", Some(json!(16)));
    assert_eq!(
        short,
        KdfError::Parameter {
            name: "dklen",
            expected: "32 or more"
        }
        .into()
    );
}

#[test]
fn excessive_costs_are_rejected_at_once() {
    let start = Instant::now();
    let max = u64::MAX;

    for (n, r, p) in [
        (1 << 40, 8, 1),
        (1 << 63, max, max),
        (2, 1 << 32, 1),
        (2, 1, 1 << 33),
        (2, max, max),
        (1 << 18, 8, 5),
        (1 << 19, 8, 1),
        (1 << 12, 8, 1 << 20),
        (2, 1 << 20, 4),
    ] {
        let mut file = file();
        file["crypto"]["kdfparams"] = json!({ "dklen": max, "n": n, "r": r, "p": p, "salt": "00" });
        let error = read(&file).unwrap_err();
        assert!(
            matches!(
                error,
                KeystoreError::Kdf(KdfError::Memory { .. } | KdfError::Work { .. })
            ),
            "n {n}, r {r}, p {p}: {error}"
        );
        assert!(Keystore::encrypt(&key(), PASSWORD, Kdf::Scrypt { n, r, p }, &mut OsRng).is_err());
    }

    for (n, r, p) in [
        (0, 8, 1),
        (1, 8, 1),
        (3, 8, 1),
        (max, 8, 1),
        (2, 0, 1),
        (2, 1, 0),
    ] {
        let error = Kdf::Scrypt { n, r, p }.check().unwrap_err();
        assert!(
            matches!(error, KdfError::Parameter { .. }),
            "n {n}, r {r}, p {p}: {error}"
        );
    }

    for iterations in [0, Kdf::MAX_PBKDF2_ITERATIONS + 1, 1 << 32, max] {
        assert!(Kdf::Pbkdf2 { iterations }.check().is_err(), "{iterations}");
    }

    assert!(
        start.elapsed() < Duration::from_secs(1),
        "a rejected cost must not be spent"
    );
}

#[test]
fn costs_of_known_tools_are_accepted() {
    for (n, r, p) in [
        (262_144, 8, 1),
        (4096, 8, 6),
        (131_072, 8, 1),
        (8192, 8, 1),
        (262_144, 1, 8),
        (16_384, 8, 1),
    ] {
        assert_eq!(Kdf::Scrypt { n, r, p }.check(), Ok(()));
    }
    for iterations in [10_240, 262_144, 1_000_000] {
        assert_eq!(Kdf::Pbkdf2 { iterations }.check(), Ok(()));
    }
}

#[test]
fn written_files_have_random_salts_and_do_not_reveal_the_key() {
    let first = file();
    let second = file();
    for pointer in [
        "/id",
        "/crypto/cipherparams/iv",
        "/crypto/kdfparams/salt",
        "/crypto/ciphertext",
        "/crypto/mac",
    ] {
        assert_ne!(first.pointer(pointer), second.pointer(pointer), "{pointer}");
    }
    let id = first["id"].as_str().unwrap();
    assert_eq!((id.len(), &id[14..15]), (36, "4"), "a UUID of version 4");
    assert!(matches!(&id[19..20], "8" | "9" | "a" | "b"));
    assert!(!first.to_string().contains("123456789abc"));
    assert_eq!(first["version"], 3);
    assert_eq!(
        first["address"],
        alloy_primitives::hex::encode(key().address())
    );
    let shown = format!("{:?}", read(&first).unwrap());
    assert!(
        !shown.contains(first["crypto"]["ciphertext"].as_str().unwrap()),
        "{shown}"
    );
}

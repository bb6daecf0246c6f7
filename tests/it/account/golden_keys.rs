//! Every mnemonic, private key and keystore of the golden vectors.

use k256::elliptic_curve::rand_core::OsRng;
use tetrad::account::{DerivationPath, Kdf, Keystore, KeystoreError, Mnemonic, SecretKey};

use super::vectors::{address, bytes, golden, list, text};

#[test]
fn private_keys_are_derived_from_mnemonics_and_paths() {
    let golden = golden();
    for account in list(&golden, "accounts")
        .iter()
        .filter(|account| account["mnemonic"].is_string())
    {
        let mnemonic =
            Mnemonic::from_phrase(text(&golden["mnemonics"], text(account, "mnemonic"))).unwrap();
        let path: DerivationPath = text(account, "path").parse().unwrap();
        let key = mnemonic.to_seed("").derive(&path).unwrap();
        assert_eq!(key.to_hex().as_str(), text(account, "private_key"));
        assert_eq!(path.to_string(), text(account, "path"));
    }
}

#[test]
fn public_keys_and_addresses_follow_from_private_keys() {
    let golden = golden();
    for account in list(&golden, "accounts") {
        let key = SecretKey::from_hex(text(account, "private_key")).unwrap();
        assert_eq!(key.public_key().to_base64(), text(account, "pubkey_base64"));
        assert_eq!(key.address(), address(text(account, "hex_lower")));
    }
}

#[test]
fn keystores_of_other_tools_decrypt_to_the_key() {
    let golden = golden();
    for case in list(&golden, "keystores") {
        let keystore = Keystore::from_json(&case["json"].to_string()).unwrap();
        let password = text(case, "password").as_bytes();
        let key = keystore.decrypt(password).unwrap();
        assert_eq!(key.to_bytes().as_slice(), bytes(text(case, "private_key")));
        if let Some(stated) = case["json"]["address"].as_str() {
            assert_eq!(keystore.address(), Some(address(stated)));
        }
        assert_eq!(
            keystore.decrypt(b"another password").unwrap_err(),
            KeystoreError::WrongPassword
        );
    }
}

#[test]
fn keystores_with_either_function_decrypt_after_they_are_written() {
    let golden = golden();
    let kdfs = [
        Kdf::Scrypt { n: 4, r: 1, p: 1 },
        Kdf::Pbkdf2 { iterations: 2 },
    ];
    for case in list(&golden, "keystores") {
        let key = SecretKey::from_hex(text(case, "private_key")).unwrap();
        let password = text(case, "password").as_bytes();
        for kdf in kdfs {
            let written = Keystore::encrypt(&key, password, kdf, &mut OsRng).unwrap();
            let read = Keystore::from_json(&written.to_json()).unwrap();
            assert_eq!(read, written);
            assert_eq!(read.kdf(), kdf);
            assert_eq!(read.address(), Some(key.address()));
            assert_eq!(read.decrypt(password).unwrap().to_bytes(), key.to_bytes());
            assert_eq!(read.decrypt(b"").unwrap_err(), KeystoreError::WrongPassword);
        }
    }
}

//! A node that signs for the accounts of a keystore directory.

use std::fs;

use alloy_primitives::{Address, Signature, eip191_hash_message, hex};
use k256::elliptic_curve::rand_core::OsRng;
use serde_json::json;
use tetrad::{
    Config, Node,
    account::{Kdf, Keystore, SecretKey},
    config::Profile,
};

use crate::support::node_with;

fn keep(folder: &std::path::Path, name: &str, password: &str) -> Address {
    let key = SecretKey::random(&mut OsRng).unwrap();
    let keystore = Keystore::encrypt(&key, password.as_bytes(), Kdf::LIGHT, &mut OsRng).unwrap();
    fs::write(folder.join(name), keystore.to_json()).unwrap();
    key.address()
}

fn production(config: &mut Config) {
    config.profile = Profile::Production;
    config.accounts = 0;
}

#[tokio::test]
async fn a_production_node_signs_for_the_accounts_of_its_keystore_only() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("keystore");
    fs::create_dir(&directory).unwrap();
    let password = folder.path().join("password");
    fs::write(&password, "correct horse\n").unwrap();

    let second = keep(&directory, "b.json", "correct horse");
    let first = keep(&directory, "a.json", "correct horse");
    fs::write(directory.join(".hidden"), "not looked at").unwrap();

    let node = node_with(|config| {
        production(config);
        (config.keystore, config.password_file) = (Some(directory), Some(password));
    })
    .await;

    let listed = node.rpc("eth_accounts", json!([])).await;
    assert_eq!(
        listed,
        json!([
            first.to_string().to_lowercase(),
            second.to_string().to_lowercase()
        ])
    );
    assert!(
        node.development_accounts().is_empty(),
        "these keys are never printed"
    );

    let signature = node.rpc("eth_sign", json!([first, "0x1234"])).await;
    let signature: Signature = signature.as_str().unwrap().parse().unwrap();
    let hash = eip191_hash_message(hex!("1234"));
    assert_eq!(
        signature.recover_address_from_prehash(&hash).unwrap(),
        first
    );

    // The test checks the balance, not for a missing key.
    let error = node
        .rpc_error(
            "eth_sendTransaction",
            json!([{ "from": second, "to": first, "value": "0x1" }]),
        )
        .await;
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("insufficient funds"),
        "{error}"
    );

    let stranger = Address::repeat_byte(9);
    let error = node
        .rpc_error(
            "eth_sendTransaction",
            json!([{ "from": stranger, "to": first, "value": "0x1" }]),
        )
        .await;
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("unknown account"),
        "{error}"
    );
    node.end().await;
}

#[tokio::test]
async fn a_node_does_not_start_if_its_keystore_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("keystore");
    fs::create_dir(&directory).unwrap();
    keep(&directory, "mine.json", "right");
    let password = folder.path().join("password");
    fs::write(&password, "wrong").unwrap();
    let gone = folder.path().join("gone");
    for (keystore, password, expected) in [
        (&directory, Some(&password), "mine.json"),
        (&directory, Some(&gone), "keys.password-file"),
        (&directory, None, "keys.password-file is missing"),
        (&gone, Some(&password), "gone"),
    ] {
        let mut config = Config::test();
        production(&mut config);
        (config.keystore, config.password_file) = (Some(keystore.clone()), password.cloned());
        let error = Node::spawn(config).await.err().unwrap().to_string();
        assert!(
            error.contains(expected) && error.contains("keys."),
            "{error}"
        );
    }
}

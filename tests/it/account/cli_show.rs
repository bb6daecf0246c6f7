//! `tetrad keys show` and `tetrad keys list`.

use std::fs;

use serde_json::Value;
use tetrad::{
    account::DEFAULT_PUBLIC_KEY_TYPE,
    cli::{self, keys},
};

use super::{
    cli::{User, Workspace, error, run},
    vectors::{golden, list, pairs, text},
};

fn json(result: Result<String, cli::Error>) -> Value {
    serde_json::from_str(&result.expect("success")).expect("JSON")
}

#[test]
fn accounts_and_operators_are_shown_as_in_the_golden_vectors() {
    let golden = golden();
    let workspace = Workspace::new();
    for account in list(&golden, "accounts") {
        let key = workspace.file("key", text(account, "private_key"));
        for (prefix, bech32) in pairs(account, "bech32") {
            let show = [
                "keys",
                "show",
                "--private-key-file",
                &key,
                "--bech32-prefix",
                prefix,
                "--json",
            ];

            let shown = json(run(&show));
            assert_eq!(shown["kind"], "account");
            assert_eq!(shown["address"], bech32);
            assert_eq!(shown["addresses"]["eip55"], account["eip55"]);

            assert_eq!(shown["public_key"]["hex"], account["pubkey_compressed_hex"]);
            assert_eq!(
                shown["public_key"]["hex_uncompressed"],
                account["pubkey_uncompressed_hex"]
            );
            assert_eq!(
                shown["public_key"]["proto"]["key"],
                account["pubkey_base64"]
            );
            assert_eq!(
                shown["public_key"]["proto"]["@type"],
                DEFAULT_PUBLIC_KEY_TYPE
            );

            for (index, member) in [
                "legacy_bech32_pub_ethermint_amino",
                "legacy_bech32_pub_cosmosevm_amino",
            ]
            .iter()
            .enumerate()
            {
                if let Some(legacy) = account.get(member) {
                    assert_eq!(
                        shown["public_key"]["legacy_bech32"][index]["text"],
                        legacy[prefix]
                    );
                }
            }

            let shown = json(run(&[
                &show[..],
                &["--bech", "val", "--public-key-type", "/x.PubKey"],
            ]
            .concat()));
            assert_eq!(shown["kind"], "validator_operator");
            assert_eq!(shown["address"], account["valoper"][prefix]);
            assert_eq!(shown["public_key"]["proto"]["@type"], "/x.PubKey");

            if let Some(legacy) = account.get("legacy_bech32_valoperpub_ethermint_amino") {
                assert_eq!(
                    shown["public_key"]["legacy_bech32"][0]["text"],
                    legacy[prefix]
                );
            }
        }
    }
}

#[test]
fn consensus_nodes_are_shown_as_in_the_golden_vectors() {
    let golden = golden();
    for node in list(&golden, "consensus") {
        for (prefix, valcons) in pairs(node, "valcons") {
            let arguments = [
                "keys",
                "show",
                "--consensus-key-file",
                "-",
                "--bech32-prefix",
                prefix,
                "--json",
            ];
            let shown = json(User::piping(text(node, "ed25519_seed")).run(&arguments));
            assert_eq!(shown["kind"], "consensus");
            assert_eq!(shown["address"], valcons);
            assert_eq!(shown["addresses"]["hex_upper"], node["address_hex_upper"]);
            assert_eq!(shown["public_key"]["proto"], node["proto_json"]);
            assert_eq!(
                shown["public_key"]["legacy_bech32"][0]["text"],
                node["legacy_valconspub_amino"][prefix]
            );
            assert!(shown["public_key"].get("hex_uncompressed").is_none());
        }
    }
}

#[test]
fn consensus_keys_are_read_from_files_only() {
    let workspace = Workspace::new();
    let seed = workspace.file("seed", &"01".repeat(32));

    let needed = error(User::typing(&["01"]).run(&["keys", "show", "--bech", "cons"]));
    assert!(
        matches!(needed, keys::Error::ConsensusKeyNeeded),
        "{needed}"
    );

    for bech in ["acc", "val"] {
        let only = error(run(&[
            "keys",
            "show",
            "--consensus-key-file",
            &seed,
            "--bech",
            bech,
        ]));
        assert!(matches!(only, keys::Error::ConsensusKeyOnly), "{only}");
    }

    let table = run(&[
        "keys",
        "show",
        "--consensus-key-file",
        &seed,
        "--bech",
        "cons",
    ])
    .unwrap();
    assert!(table.starts_with("paxvalcons1"), "{table}");

    let bad = workspace.file("bad", "{\"priv_key\":{}}");
    let bad = error(run(&["keys", "show", "--consensus-key-file", &bad]));
    assert!(matches!(bad, keys::Error::ConsensusKey(_)), "{bad}");
}

#[test]
fn stored_keys_are_listed_and_shown_by_any_form_of_their_address() {
    let workspace = Workspace::new();
    let directory = workspace.argument("keys");
    let empty = run(&["keys", "list", "--keystore", &directory]).unwrap();
    assert_eq!(empty, "", "a directory that does not exist has no keys");

    let golden = golden();
    let account = &golden["accounts"][0];
    let mut user = User::typing(&[text(account, "private_key"), "secret", "secret"]);
    user.run(&["keys", "import", "--keystore", &directory, "--light-kdf"])
        .unwrap();
    let other = &golden["keystores"][0]["json"];
    fs::write(
        workspace.path("keys/UTC--without-address"),
        other.to_string(),
    )
    .unwrap();
    fs::write(workspace.path("keys/README"), "not a key").unwrap();
    fs::write(workspace.path("keys/.hidden"), "not a key").unwrap();
    fs::create_dir(workspace.path("keys/directory")).unwrap();

    let listed = json(run(&["keys", "list", "--keystore", &directory, "--json"]));
    let addresses: Vec<_> = list(&listed, "keys")
        .iter()
        .map(|key| key["address"].as_str())
        .collect();
    assert_eq!(addresses.len(), 2);
    assert!(
        addresses.contains(&Some(text(account, "eip55"))) && addresses.contains(&None),
        "{addresses:?}"
    );
    assert_eq!(list(&listed, "skipped").len(), 1, "{listed}");
    assert!(text(&listed["skipped"][0], "file").ends_with("README"));
    let lines = run(&["keys", "list", "--keystore", &directory]).unwrap();
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert!(
        lines.contains(text(&account["bech32"], "pax")) && lines.contains("expected a JSON object"),
        "{lines}"
    );

    for form in [
        text(account, "eip55"),
        text(&account["bech32"], "pax"),
        text(&account["valoper"], "pax"),
    ] {
        let mut user = User::typing(&["secret"]);
        let shown = json(user.run(&["keys", "show", form, "--keystore", &directory, "--json"]));
        assert_eq!(user.prompts, ["Password: "]);
        assert_eq!(shown["public_key"]["base64"], account["pubkey_base64"]);
    }
    let table = User::typing(&["secret"])
        .run(&[
            "keys",
            "show",
            text(account, "eip55"),
            "--keystore",
            &directory,
        ])
        .unwrap();
    assert!(
        table.contains(text(account, "pubkey_compressed_hex")),
        "{table}"
    );
    assert!(
        !table.contains(&text(account, "private_key")[2..]),
        "{table}"
    );
}

#[test]
fn an_unreadable_directory_is_an_error() {
    let workspace = Workspace::new();
    let file = workspace.file("file", "");
    let unreadable = error(run(&["keys", "list", "--keystore", &file]));
    assert!(
        matches!(unreadable, keys::Error::File { action: "read", .. }),
        "{unreadable}"
    );
}

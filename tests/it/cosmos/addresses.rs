//! All notations of addresses, from the golden vectors.

use serde_json::{Value, json};
use tetrad::account::Hrp;

use crate::support::{TestNode, node, node_with};

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../data/accounts.json")).expect("JSON")
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name]
        .as_array()
        .unwrap_or_else(|| panic!("{name} is no list"))
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name]
        .as_str()
        .unwrap_or_else(|| panic!("{name} is no text in {value}"))
}

async fn query(node: &TestNode, address: &str) -> (u16, Value) {
    let response = node
        .get(&format!("/cosmos/auth/v1beta1/accounts/{address}"))
        .await;
    (
        response.status().as_u16(),
        response.json().await.expect("JSON"),
    )
}

#[tokio::test]
async fn all_forms_name_the_same_account() {
    let node = node().await;
    let vectors = vectors();
    let pairs = list(&vectors, "address_pairs")
        .iter()
        .map(|pair| (text(pair, "eip55"), text(pair, "pax")));
    let accounts = list(&vectors, "accounts")
        .iter()
        .map(|entry| (text(entry, "eip55"), text(&entry["bech32"], "pax")));
    for (eip55, bech32) in pairs.chain(accounts) {
        let payment = json!([{ "from": node.account(0), "to": eip55, "value": "0x1" }]);
        node.rpc("eth_sendTransaction", payment).await;
        let (status, expected) = query(&node, eip55).await;
        assert_eq!(
            (status, text(&expected["account"], "address")),
            (200, bech32),
            "{eip55}"
        );
        let lower = eip55.to_lowercase();
        for form in [
            bech32,
            &bech32.to_uppercase(),
            &lower,
            &eip55[2..].to_lowercase(),
            &eip55[2..].to_uppercase(),
        ] {
            assert_eq!(query(&node, form).await, (200, expected.clone()), "{form}");
        }
    }
    node.end().await;
}

#[tokio::test]
async fn the_prefix_of_addresses_is_configurable() {
    let vectors = vectors();
    let node = node_with(|config| config.network.hrp = Hrp::new("acme").expect("a prefix")).await;
    for entry in list(&vectors, "accounts")
        .iter()
        .filter(|entry| entry["mnemonic"] == "junk")
    {
        let eip55 = text(entry, "eip55");
        let acme = text(&entry["bech32"], "acme");
        if !node
            .development_accounts()
            .iter()
            .any(|(address, _)| address.to_string() == eip55)
        {
            continue;
        }
        assert_eq!(
            text(&query(&node, acme).await.1["account"], "address"),
            acme
        );
        assert_eq!(query(&node, text(&entry["bech32"], "pax")).await.0, 400);
    }
    node.end().await;
}

#[tokio::test]
async fn an_invalid_address_is_an_invalid_argument() {
    let node = node().await;
    let vectors = vectors();

    let mut wrong: Vec<String> = [
        "x",
        "0x",
        "pax1",
        "%20",
        "%ff",
        "0xf39fd6e51aad88f6f4ce6ab8827279cfffb922660",
    ]
    .map(str::to_owned)
    .to_vec();

    for name in ["invalid_bech32", "invalid_hex"] {
        wrong.extend(
            list(&vectors, name)
                .iter()
                .map(|entry| text(entry, "s").to_owned()),
        );
    }

    for entry in list(&vectors, "accounts") {
        wrong.push(text(&entry["bech32"], "cosmos").to_owned());
        wrong.push(text(&entry["valoper"], "pax").to_owned());
    }

    wrong.extend(
        list(&vectors, "consensus")
            .iter()
            .map(|entry| text(&entry["valcons"], "pax").to_owned()),
    );

    for address in wrong {
        let (status, body) = query(&node, &address).await;
        assert_eq!(
            (status, &body["code"], &body["details"]),
            (400, &3.into(), &json!([])),
            "{address}"
        );
        assert!(
            body["message"]
                .as_str()
                .is_some_and(|message| message.len() > 10),
            "{address}: {body}"
        );
    }
    node.end().await;
}

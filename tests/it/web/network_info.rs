//! `GET /api/network`.

use serde_json::{Value, json};

use crate::support::{TestNode, chain::token, node, node_with};

#[tokio::test]
async fn the_network_describes_itself() {
    let node = node().await;
    let info = node.get_json("/api/network").await;
    assert_eq!(
        (&info["chainId"], &info["cosmosChainId"]),
        (&125.into(), &"hyperpax_125-1".into())
    );

    let coin = &info["nativeCoin"];
    assert_eq!(
        (&coin["symbol"], &coin["denomination"], &coin["decimals"]),
        (&"HPX".into(), &"ahpx".into(), &18.into())
    );

    assert_eq!(info["bech32Prefix"], "pax");
    assert_eq!(info["vault"], "0x49B0f9a0554da1A7243A9C8ac5B45245A66D90ff");
    assert_eq!(info["oracle"], "0x6e5da6d7a89c6B7cB0e5c64fcf326292F76A0352");
    assert_eq!(
        info["lendingPool"],
        "0xa0fE00Da13cD944F2e41531E1E23aCcF12deAE4a"
    );
    assert_eq!(
        info["pTokens"]["WETH"],
        "0xE3Df3966007483e8076230e6E7AA381D3bAc52C0"
    );
    assert_eq!(
        info["tokens"]["DOT"],
        token("DOT").address.to_checksum(None)
    );
    for map in ["tokens", "pTokens"] {
        assert_eq!(info[map].as_object().map(|map| map.len()), Some(12));
    }

    // There is a contract at each of these.
    for name in ["lendingPool", "lendingLens", "vault", "oracle"] {
        let code = node.rpc("eth_getCode", json!([info[name], "latest"])).await;
        assert!(code.as_str().is_some_and(|code| code.len() > 2), "{name}");
    }

    node.end().await;
}

#[tokio::test]
async fn the_network_reports_configured_values() {
    let node = node_with(|config| config.chain_id = 229).await;
    assert_eq!(node.get_json("/api/network").await["chainId"], 229);
    // A change by a development method is visible here, too.
    node.rpc("anvil_setChainId", json!([31_337])).await;
    assert_eq!(node.get_json("/api/network").await["chainId"], 31_337);
    node.end().await;
}

/// The document for Keplr that a client with these headers gets.
async fn keplr(node: &TestNode, headers: &[(&str, &str)]) -> Value {
    let request = node.http.get(format!("{}/api/network", node.rest_url()));
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    });
    request
        .send()
        .await
        .expect("an answer")
        .json::<Value>()
        .await
        .expect("JSON")["keplr"]
        .take()
}

fn urls(document: &Value) -> [&str; 3] {
    [&document["rpc"], &document["rest"], &document["evm"]["rpc"]]
        .map(|url| url.as_str().expect("a URL"))
}

#[tokio::test]
async fn the_network_suggests_the_chain_to_keplr() {
    let node = node_with(|config| config.chain_id = 229).await;
    let document = keplr(&node, &[]).await;
    let coin = json!({ "coinDenom": "HPX", "coinMinimalDenom": "ahpx", "coinDecimals": 18 });
    let mut fee_coin = coin.clone();
    fee_coin["gasPriceStep"] = document["feeCurrencies"][0]["gasPriceStep"].clone();
    let own = node.rest_url();
    assert_eq!(
        document,
        json!({
            "rpc": own, "rest": own, "chainId": "hyperpax_125-1", "chainName": "hyperpax_125-1",
            "evm": { "chainId": 229, "rpc": format!("{own}/rpc") },
            "bip44": { "coinType": 60 },
            "bech32Config": {
                "bech32PrefixAccAddr": "pax", "bech32PrefixAccPub": "paxpub",
                "bech32PrefixValAddr": "paxvaloper", "bech32PrefixValPub": "paxvaloperpub",
                "bech32PrefixConsAddr": "paxvalcons", "bech32PrefixConsPub": "paxvalconspub",
            },
            "stakeCurrency": coin, "currencies": [coin], "feeCurrencies": [fee_coin],
            "features": ["eth-address-gen", "eth-key-sign", "evm-feemarket"],
            "isTestnet": true,
        })
    );
    node.end().await;
}

#[tokio::test]
async fn gas_prices_for_keplr_follow_the_base_fee_and_the_least_tip() {
    let node = node_with(|config| config.min_tip = 3).await;
    for base_fee in [1_000, 70_000_000_000_u64] {
        node.rpc(
            "anvil_setNextBlockBaseFeePerGas",
            json!([format!("{base_fee:#x}")]),
        )
        .await;
        let step = &keplr(&node, &[]).await["feeCurrencies"][0]["gasPriceStep"];
        let low = base_fee + 3;
        assert_eq!(
            step,
            &json!({ "low": low, "average": low + low / 2, "high": 2 * low })
        );
    }
    node.end().await;
}

#[tokio::test]
async fn urls_for_keplr_are_reachable_for_the_client() {
    let node = node_with(|config| {
        config.hosts = tetrad_web::Hosts::Any;
        config.comet_listen = Some("127.0.0.1:0".parse().unwrap());
        config.cosmos_rest_listen = Some("127.0.0.1:0".parse().unwrap());
    })
    .await;
    let main = node.rest_url();
    let comet = node.comet_url().unwrap();
    let rest = node.cosmos_rest_url().unwrap();
    assert_eq!(
        urls(&keplr(&node, &[]).await),
        [&comet, &rest, &format!("{main}/rpc")]
    );

    let port = |url: &str| url.rsplit(':').next().unwrap().to_owned();
    let document = keplr(&node, &[("host", &format!("node.example:{}", port(&main)))]).await;
    let url = |of: &str| format!("http://node.example:{}", port(of));
    assert_eq!(
        urls(&document),
        [url(&comet), url(&rest), format!("{}/rpc", url(&main))]
    );

    // A proxy, which may pass on the main listener only.
    let document = keplr(
        &node,
        &[("host", "node.example"), ("x-forwarded-proto", "https")],
    )
    .await;
    assert_eq!(
        urls(&document),
        [
            "https://node.example",
            "https://node.example",
            "https://node.example/rpc"
        ]
    );
    let document = keplr(&node, &[("host", "[2001:db8::1]:81")]).await;
    assert_eq!(
        urls(&document),
        [
            "http://[2001:db8::1]:81",
            "http://[2001:db8::1]:81",
            "http://[2001:db8::1]:81/rpc"
        ]
    );
    node.end().await;
}

//! `GET /api/network`.

use crate::support::{chain::token, node, node_with};

#[tokio::test]
async fn the_network_describes_itself() {
    let node = node().await;
    let info = node.get_json("/api/network").await;
    assert_eq!((&info["chainId"], &info["cosmosChainId"]), (&125.into(), &"hyperpax_125-1".into()));
    let coin = &info["nativeCoin"];
    assert_eq!(
        (&coin["symbol"], &coin["denomination"], &coin["decimals"]),
        (&"HPX".into(), &"ahpx".into(), &18.into())
    );
    assert_eq!(info["bech32Prefix"], "pax");
    assert_eq!(info["vault"], "0x49B0f9a0554da1A7243A9C8ac5B45245A66D90ff");
    assert_eq!(info["oracle"], "0x6e5da6d7a89c6B7cB0e5c64fcf326292F76A0352");
    assert_eq!(info["pTokens"]["WETH"], "0xE3Df3966007483e8076230e6E7AA381D3bAc52C0");
    assert_eq!(info["tokens"]["DOT"], token("DOT").address.to_checksum(None));
    for map in ["tokens", "pTokens"] {
        assert_eq!(info[map].as_object().map(|map| map.len()), Some(12));
    }
    // There is a contract at each of these.
    for name in ["lendingPool", "lendingLens", "vault", "oracle"] {
        let code = node.rpc("eth_getCode", serde_json::json!([info[name], "latest"])).await;
        assert!(code.as_str().is_some_and(|code| code.len() > 2), "{name}");
    }
    node.end().await;
}

#[tokio::test]
async fn it_says_what_is_configured() {
    let node = node_with(|config| config.chain_id = 229).await;
    assert_eq!(node.get_json("/api/network").await["chainId"], 229);
    // Whoever changes it with a development method finds it here, too.
    node.rpc("anvil_setChainId", serde_json::json!([31_337])).await;
    assert_eq!(node.get_json("/api/network").await["chainId"], 31_337);
    node.end().await;
}

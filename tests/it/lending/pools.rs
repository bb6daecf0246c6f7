//! `GET /api/pools`.

use alloy::primitives::U256;
use serde_json::Value;
use tetrad::internals::{
    contracts::bindings::{LendingPool, PToken, Token},
    decimal::with_point,
};

use crate::support::{
    chain::{token, units},
    manual_clock, node, node_at,
};

fn pool<'a>(pools: &'a Value, symbol: &str) -> &'a Value {
    let list = pools.as_array().expect("a list");
    list.iter().find(|pool| pool["symbol"] == symbol).expect("a pool")
}

#[tokio::test]
async fn every_pool_has_the_shape_that_clients_read() {
    let node = node().await;
    let pools = node.get_json("/api/pools").await;
    assert_eq!(pools.as_array().map(Vec::len), Some(12));
    for pool in pools.as_array().expect("a list") {
        let names: Vec<_> = pool.as_object().expect("an object").keys().map(String::as_str).collect();
        let expected =
            ["assetAddress", "borrowApy", "decimals", "pTokenAddress", "supplyApy", "symbol", "totalSupplied"];
        assert_eq!(names, expected);
        let info = token(pool["symbol"].as_str().expect("text"));
        assert_eq!(pool["assetAddress"], info.address.to_checksum(None));
        assert_eq!(pool["decimals"], info.decimals);
        let number = |name: &str| pool[name].as_str().expect("text").parse::<f64>().expect("a number");
        assert!(number("totalSupplied") > 0.0);
        assert!(number("supplyApy") > 0.0 && number("supplyApy") < number("borrowApy"), "{pool}");
        for name in ["supplyApy", "borrowApy"] {
            let (_, decimals) = pool[name].as_str().expect("text").split_once('.').expect("a point");
            assert_eq!(decimals.len(), 2, "{pool}");
        }
    }
    assert_eq!(pool(&pools, "WETH")["pTokenAddress"], "0xE3Df3966007483e8076230e6E7AA381D3bAc52C0");
    node.end().await;
}

#[tokio::test]
async fn what_is_supplied_is_what_the_receipt_token_says() {
    // Interest of a second is enough for two answers to differ.
    let node = node_at(manual_clock(), |_| {}).await;
    let user = node.signer(0);
    let pool_address = node.config().network.contracts.lending_pool;
    let weth = token("WETH");
    let amount = units(&weth, 3) + U256::from(1);
    node.send(&user, weth.address, Token::approveCall { spender: pool_address, value: amount }).await;
    let before = node.get_json("/api/pools").await;
    let deposit = LendingPool::depositCall { asset: weth.address, amount };
    assert!(node.send(&user, pool_address, deposit).await.status());
    let after = node.get_json("/api/pools").await;
    assert_ne!(pool(&before, "WETH")["totalSupplied"], pool(&after, "WETH")["totalSupplied"]);
    let total = node.view(weth.receipt, PToken::totalSupplyCall {}).await;
    assert_eq!(pool(&after, "WETH")["totalSupplied"], with_point(total, 18));
    node.end().await;
}

#[tokio::test]
async fn an_unchanged_answer_is_not_sent_twice() {
    let node = node().await;
    let first = node.get("/api/pools").await;
    assert_eq!(first.headers()["cache-control"], "no-cache");
    let url = format!("{}/api/pools", node.rest_url());
    let etag = first.headers()["etag"].clone();
    let again = node.http.get(url).header("if-none-match", etag).send().await.expect("an answer");
    assert_eq!(again.status(), 304);
    node.end().await;
}

//! `GET /api/pools`.

use alloy::{
    network::TransactionBuilder,
    primitives::{Address, U256},
    providers::Provider,
    rpc::types::TransactionRequest,
    signers::local::PrivateKeySigner,
    sol_types::SolConstructor,
};
use alloy_sol_types::SolCall;
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::{LendingLens, LendingPool, PToken, PriceOracle, Token};
use tetrad_stdx::decimal::with_point;

use crate::{
    contracts::artifacts::creation_code,
    support::{
        TestNode,
        chain::{ORACLE, token, units},
        decimal, manual_clock, node, node_at,
    },
};

fn pool_of<'a>(pools: &'a Value, symbol: &str) -> &'a Value {
    let list = pools.as_array().expect("a list");
    list.iter()
        .find(|pool| pool["symbol"] == symbol)
        .expect("a pool")
}

#[tokio::test]
async fn every_pool_has_the_documented_shape() {
    let node = node().await;
    let pools = node.get_json("/api/pools").await;
    assert_eq!(pools.as_array().map(Vec::len), Some(12));
    for pool in pools.as_array().expect("a list") {
        let names: Vec<_> = pool
            .as_object()
            .expect("an object")
            .keys()
            .map(String::as_str)
            .collect();
        let expected = [
            "assetAddress",
            "borrowApy",
            "decimals",
            "pTokenAddress",
            "supplyApy",
            "symbol",
            "totalSupplied",
        ];
        assert_eq!(names, expected);

        let info = token(pool["symbol"].as_str().expect("text"));
        assert_eq!(pool["assetAddress"], info.address.to_checksum(None));
        assert_eq!(pool["decimals"], info.decimals);

        assert!(decimal(&pool["totalSupplied"]) > 0.0);
        let supply = decimal(&pool["supplyApy"]);
        assert!(
            supply > 0.0 && supply < decimal(&pool["borrowApy"]),
            "{pool}"
        );
        for name in ["supplyApy", "borrowApy"] {
            let (_, decimals) = pool[name]
                .as_str()
                .expect("text")
                .split_once('.')
                .expect("a point");
            assert_eq!(decimals.len(), 2, "{pool}");
        }
    }

    assert_eq!(
        pool_of(&pools, "WETH")["pTokenAddress"],
        "0xE3Df3966007483e8076230e6E7AA381D3bAc52C0"
    );
    node.end().await;
}

#[tokio::test]
async fn supplied_amounts_match_the_receipt_token() {
    // Interest of a second is enough for two answers to differ.
    let node = node_at(manual_clock(), |_| {}).await;
    let user = node.signer(0);
    let pool_address = node.config().network.contracts.lending_pool;
    let weth = token("WETH");
    let amount = units(&weth, 3) + U256::from(1);
    node.send(
        &user,
        weth.address,
        Token::approveCall {
            spender: pool_address,
            value: amount,
        },
    )
    .await;

    let before = node.get_json("/api/pools").await;
    let deposit = LendingPool::depositCall {
        asset: weth.address,
        amount,
    };
    assert!(node.send(&user, pool_address, deposit).await.status());

    let after = node.get_json("/api/pools").await;
    assert_ne!(
        pool_of(&before, "WETH")["totalSupplied"],
        pool_of(&after, "WETH")["totalSupplied"]
    );

    let total = node.view(weth.receipt, PToken::totalSupplyCall {}).await;
    assert_eq!(
        pool_of(&after, "WETH")["totalSupplied"],
        with_point(total, 18)
    );
    node.end().await;
}

#[tokio::test]
async fn an_unchanged_response_is_not_sent_twice() {
    let node = node().await;
    let first = node.get("/api/pools").await;
    assert_eq!(first.headers()["cache-control"], "no-cache");
    let url = format!("{}/api/pools", node.rest_url());
    let etag = first.headers()["etag"].clone();
    let again = node
        .http
        .get(url)
        .header("if-none-match", etag)
        .send()
        .await
        .expect("an answer");
    assert_eq!(again.status(), 304);
    node.end().await;
}

#[tokio::test]
async fn production_nodes_have_caps_and_a_minimum_loan() {
    let mut config = tetrad::Config::of(tetrad::config::Profile::Production);
    (config.listen, config.ws_listen) = (tetrad::Config::test().listen, None);
    let production = tetrad::Node::spawn(config).await.expect("the node starts");
    let url = format!("{}/api/pools/weth", production.rest_url());
    let pool: Value = reqwest::get(url)
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    // Ten million dollars' worth at 3512.35.
    assert_eq!(
        (&pool["supplyCap"], &pool["borrowCap"]),
        (&"2847.0".into(), &"2847.0".into())
    );
    assert_eq!(pool["leastLoan"], "10.0");
    production.shut_down().await.unwrap();

    let node = node().await;
    let pool = node.get_json("/api/pools/weth").await;
    for name in ["supplyCap", "borrowCap", "leastLoan"] {
        assert_eq!(pool[name], Value::Null, "{name}");
    }
    node.end().await;
}

#[tokio::test]
async fn a_lens_of_an_earlier_version_is_still_supported() {
    let node = node().await;
    let user = node.signer(4).address();
    let weth = token("WETH");
    let claim = Token::transferCall {
        to: user,
        value: U256::from(1_000_000),
    };
    assert!(
        node.send(&node.treasury(), weth.receipt, claim)
            .await
            .status()
    );
    let path = format!("/api/user/{user}/positions");
    assert_eq!(
        node.get_json(&path).await["positions"][0]["collateral"],
        false,
        "another account sent it"
    );

    // The earlier lens has no such functions; its pool takes every supply as collateral and has no
    // least loan.
    let lens = node.config().network.contracts.lending_lens;
    let mut code = node
        .rpc("eth_getCode", json!([lens, "latest"]))
        .await
        .as_str()
        .expect("text")
        .to_owned();
    for selector in [
        LendingLens::getLimitsCall::SELECTOR,
        LendingLens::getCollateralCall::SELECTOR,
    ] {
        let selector = format!("63{}", alloy::hex::encode(selector));
        assert!(code.contains(&selector));
        code = code.replace(&selector, "63ffffffff");
    }
    node.rpc("hardhat_setCode", json!([lens, code])).await;
    assert_eq!(
        node.get_json(&path).await["positions"][0]["collateral"],
        true
    );
    let pool = node.get_json("/api/pools/weth").await;
    assert_eq!(
        (&pool["leastLoan"], &pool["priceHalted"]),
        (&Value::Null, &false.into())
    );
    node.end().await;
}

async fn deploy(
    node: &TestNode,
    owner: &PrivateKeySigner,
    artifact: &str,
    arguments: impl SolConstructor,
) -> Address {
    let code = [&creation_code(artifact)[..], &arguments.abi_encode()].concat();
    let request = TransactionRequest::default().with_deploy_code(code);
    let pending = node
        .provider(owner.clone())
        .send_transaction(request)
        .await
        .expect("an accepted transaction");
    node.receipt(*pending.tx_hash())
        .await
        .contract_address
        .expect("a contract")
}

#[tokio::test]
async fn an_asset_that_is_listed_later_has_a_pool() {
    let node = node().await;
    let owner = node.treasury();
    let pool = node.config().network.contracts.lending_pool;
    let dogecoin = Token::constructorCall {
        name_: "Dogecoin".to_owned(),
        symbol_: "DOGE".to_owned(),
        decimals_: 8,
        owner_: owner.address(),
    };
    let asset = deploy(&node, &owner, "Token", dogecoin).await;

    for path in ["/api/pools/DOGE".to_owned(), format!("/api/pools/{asset}")] {
        assert_eq!(node.get(&path).await.status(), 404, "{path}");
    }

    let receipt = deploy(
        &node,
        &owner,
        "PToken",
        PToken::constructorCall {
            pool_: pool,
            asset_: asset,
        },
    )
    .await;

    let price = PriceOracle::setPriceCall {
        token: asset,
        price: U256::from(17_000_000),
    };
    assert!(node.send(&owner, ORACLE, price).await.status());

    let lens = node.config().network.contracts.lending_lens;
    let weth = node
        .view(
            lens,
            LendingLens::getPoolCall {
                asset: token("WETH").address,
            },
        )
        .await;

    let listing = LendingPool::addAssetCall {
        asset,
        pToken: receipt,
        parameters: weth.parameters,
        supplyCapTokens: Default::default(),
        borrowCapTokens: Default::default(),
    };
    assert!(node.send(&owner, pool, listing).await.status());

    let by_symbol = node.get_json("/api/pools/doge").await;
    assert_eq!(by_symbol["assetAddress"], asset.to_checksum(None));
    assert_eq!(
        (&by_symbol["symbol"], &by_symbol["price"]),
        (&"DOGE".into(), &"0.17".into())
    );
    for spelling in [asset.to_string(), asset.to_string().to_lowercase()] {
        assert_eq!(
            node.get_json(&format!("/api/pools/{spelling}")).await,
            by_symbol
        );
        let history = node
            .get_json(&format!("/api/pools/{spelling}/history"))
            .await;
        assert_eq!(history["symbol"], "DOGE");
    }
    assert_eq!(
        pool_of(&node.get_json("/api/pools").await, "DOGE")["pTokenAddress"],
        receipt.to_checksum(None)
    );
    node.end().await;
}

//! Forks of the network itself: exchange, lending and accounts continue from its state.

use std::time::Duration;

use alloy::primitives::U256;
use serde_json::{Value, json};
use tetrad::config::Profile;
use tetrad_contracts::contracts::bindings::{PriceOracle, Token, Vault};

use super::fork_of;
use crate::support::{
    TestNode,
    chain::{ORACLE, VAULT, key, token, units, usd_e8},
    node_with,
};

/// A node of the network whose contracts belong to keys that no other node has.
async fn operated() -> TestNode {
    let other = "legal winner thank year wave sausage worth useful legal winner thank yellow";
    let node = node_with(|config| {
        config.mnemonic = other.to_owned();
        // Prices are valid for a limited time where they are updated.
        config.exchange.price_tick = Some(Duration::from_secs(3_600));
    })
    .await;
    let weth = token("WETH");
    let path = format!("/api/admin/prices/{}", key(&weth));
    let url = format!("{}{path}", node.rest_url());
    let set = node.http.post(url).json(&json!({"price": 2_500}));
    assert!(set.send().await.unwrap().status().is_success());
    node
}

/// The pools without what interest changes from second to second.
async fn pools(node: &TestNode) -> Vec<Value> {
    let pools = node.get_json("/api/pools").await;
    let pools = pools.as_array().unwrap().iter();
    pools
        .map(|pool| {
            json!([
                pool["assetAddress"],
                pool["pTokenAddress"],
                pool["supplyApy"]
            ])
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exchange_lending_and_accounts_match_the_other_chain() {
    let upstream = operated().await;
    let fork = fork_of(&upstream.rpc_url(), |config| config.no_explorer = false).await;

    let weth = token("WETH");
    for node in [&upstream, &fork] {
        let entry = node.price_entry(&weth).await;
        assert_eq!(usd_e8(&entry["price"]), 2_500 * 100_000_000);
    }
    assert_eq!(pools(&fork).await, pools(&upstream).await);

    let user = upstream.account(0);
    for path in [
        format!("/cosmos/auth/v1beta1/accounts/{user}"),
        format!("/api/user/{}", upstream.account(1)),
        "/api/tokens".to_owned(),
        format!("/api/v2/smart-contracts/{VAULT}"),
    ] {
        let [mut here, mut there] = [fork.get_json(&path).await, upstream.get_json(&path).await];
        here["timestamp"] = json!(0);
        there["timestamp"] = json!(0);
        assert_eq!(here, there, "{path}");
    }

    // Of past prices a fork has only the other chain's last ones.
    let path = format!("/api/prices/{}/history?period=30d", key(&weth));
    let history = fork.get_json(&path).await;
    let prices = history["data"]["prices"].as_array().unwrap().clone();
    assert!(!prices.is_empty());
    for price in prices {
        assert_eq!(usd_e8(&price["price"]), 2_500 * 100_000_000);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prices_continue_and_tokens_are_paid_and_swapped() {
    let upstream = operated().await;
    let fork = fork_of(&upstream.rpc_url(), |config| {
        config.exchange.price_tick = Some(Duration::from_secs(2));
        config.faucet.amount = Some(units(&token("WETH"), 1));
    })
    .await;
    let [weth, usdc] = [token("WETH"), token("USDC")];

    // The other chain's updater continues, although the fork does not have its key.
    let before = fork.oracle_price(&weth).await;
    fork.increase_time(4).await;
    fork.mine().await;
    let updated = fork.oracle_price(&weth).await;
    assert!(updated.1 > before.1, "{updated:?} after {before:?}");
    assert_ne!(upstream.updater(), node_with(|_| {}).await.updater());
    assert_eq!(
        fork.view(ORACLE, PriceOracle::updaterCall {}).await,
        upstream.updater()
    );

    // Its owner sets prices.
    let url = format!("{}/api/admin/prices/{}", fork.rest_url(), key(&weth));
    let set = fork.http.post(url).json(&json!({"price": 3_000}));
    assert!(set.send().await.unwrap().status().is_success());
    assert_eq!(fork.oracle_price(&weth).await.0, 3_000 * 100_000_000);

    // The faucet mints tokens as their owner.
    let user = fork.signer(0);
    let body = json!({"address": user.address(), "token": weth.address});
    let paid = fork
        .http
        .post(format!("{}/api/faucet", fork.rest_url()))
        .json(&body);
    let paid = paid.send().await.unwrap();
    assert!(paid.status().is_success(), "{}", paid.text().await.unwrap());
    let amount = fork.balance(&weth, user.address()).await;
    assert!(amount > U256::ZERO);

    let approve = Token::approveCall {
        spender: VAULT,
        value: amount,
    };
    fork.send(&user, weth.address, approve).await;
    let swap = Vault::swapExactTokensForTokensCall {
        _tokenIn: weth.address,
        _tokenOut: usdc.address,
        _amountIn: amount,
        _minAmountOut: U256::ZERO,
    };
    fork.send(&user, VAULT, swap).await;
    assert!(fork.balance(&usdc, user.address()).await > U256::ZERO);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_account_is_impersonated_without_development_methods() {
    let upstream = operated().await;
    let fork = fork_of(&upstream.rpc_url(), |config| {
        config.profile = Profile::Production;
        config.rpc.development = false;
        config.exchange.price_tick = Some(Duration::from_secs(1));
    })
    .await;

    let weth = token("WETH");
    let before = fork.oracle_price(&weth).await;
    for _ in 0..3 {
        fork.chain().present().await.unwrap();
        crate::support::chain::seal(fork.chain(), 10).await.unwrap();
    }
    assert_eq!(fork.oracle_price(&weth).await, before);
    let url = format!("{}/api/admin/prices/{}", fork.rest_url(), key(&weth));
    let set = fork.http.post(url).json(&json!({"price": 3_000}));
    assert!(!set.send().await.unwrap().status().is_success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_without_the_contracts_has_no_exchange() {
    let upstream = node_with(|config| config.bare = true).await;
    let fork = fork_of(&upstream.rpc_url(), |_| {}).await;
    for path in ["/api/prices", "/api/pools", "/api/network"] {
        assert_eq!(fork.get(path).await.status(), 404, "{path}");
    }
    assert_eq!(
        fork.exchange_ws_url(),
        format!("ws://{}/ws", fork.address())
    );
}

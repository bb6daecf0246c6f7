//! The published swap client, with nothing changed but the host name.

use alloy::{primitives::U256, sol_types::SolEvent};
use serde_json::Value;
use tetrad_contracts::contracts::bindings::{Token, Vault};

use crate::support::{
    TestNode,
    chain::{VAULT, key, token, units, usd_e8},
    node,
};

/// The amounts that the client computes from `/api/prices`, in floating point as it does: the
/// expected output, and the least to accept.
async fn expected(node: &TestNode, from: &str, to: &str, amount: f64) -> (f64, U256) {
    let prices = node.get_json("/api/prices").await;
    let entry = |symbol: &str| prices["data"][key(&token(symbol))].clone();
    let number = |value: &Value| value.as_f64().expect("a number");
    let from = entry(from);
    let to = entry(to);
    let out = amount * (1.0 - 0.003) * number(&from["price"]) / number(&to["price"]);
    let least = out * (1.0 - 0.005) * 10f64.powf(number(&to["decimals"]));
    (out, U256::from(least.floor() as u128))
}

async fn swap(node: &TestNode, from: &str, to: &str, whole: u64) {
    let from = token(from);
    let to = token(to);
    let user = node.signer(0);
    let (out, least) = expected(node, &from.symbol, &to.symbol, whole as f64).await;
    let amount = units(&from, whole);
    let before = (
        node.balance(&from, user.address()).await,
        node.balance(&to, user.address()).await,
    );

    assert!(
        node.send(
            &user,
            from.address,
            Token::approveCall {
                spender: VAULT,
                value: amount
            }
        )
        .await
        .status()
    );
    let call = Vault::swapExactTokensForTokensCall {
        _tokenIn: from.address,
        _tokenOut: to.address,
        _amountIn: amount,
        _minAmountOut: least,
    };
    let receipt = node.send(&user, VAULT, call).await;
    assert!(receipt.status(), "{} to {}", from.symbol, to.symbol);

    let logs = receipt
        .inner
        .logs()
        .iter()
        .filter(|log| log.address() == VAULT);
    let swaps: Vec<_> = logs
        .filter_map(|log| Vault::Swap::decode_log_data(log.data()).ok())
        .collect();
    let [event] = &swaps[..] else {
        panic!("{swaps:?}")
    };
    assert_eq!(
        (event.user, event.tokenIn, event.tokenOut),
        (user.address(), from.address, to.address)
    );
    assert_eq!(event.amountIn, amount);
    assert!(event.amountOut >= least);
    let got: f64 = event
        .amountOut
        .to_string()
        .parse::<f64>()
        .expect("a number")
        / 10f64.powi(to.decimals.into());
    assert!((got / out - 1.0).abs() < 1e-6, "expected {out}, got {got}");

    let after = (
        node.balance(&from, user.address()).await,
        node.balance(&to, user.address()).await,
    );
    assert_eq!(after, (before.0 - amount, before.1 + event.amountOut));
}

#[tokio::test]
async fn a_published_client_swaps() {
    let node = node().await;
    swap(&node, "WETH", "USDC", 1).await;
    swap(&node, "USDC", "WBTC", 5_000).await;
    swap(&node, "CRO", "DOT", 12_345).await;
    node.end().await;
}

/// The entry of a token in a list.
fn listed<'a>(tokens: &'a Value, symbol: &str) -> &'a Value {
    let list = tokens["data"].as_array().expect("a list");
    list.iter()
        .find(|entry| entry["symbol"] == symbol)
        .expect("a token")
}

#[tokio::test]
async fn a_swap_is_visible_in_the_next_request() {
    let node = node().await;
    swap(&node, "WETH", "USDC", 2).await;
    let tokens = node.get_json("/api/tokens/swap").await;
    let weth_entry = listed(&tokens, "WETH");
    let usdc_entry = listed(&tokens, "USDC");

    let price = token("WETH").reference_price;
    assert_eq!(usd_e8(&weth_entry["volume24h"]), 2 * price);
    // The amount paid out: the fee stays in the vault.
    let paid = 2 * price / 100 * 9_970 / 10_000 * 100;
    assert!(
        usd_e8(&usdc_entry["volume24h"]).abs_diff(paid) <= 100,
        "{usdc_entry}"
    );
    assert_eq!(usd_e8(&listed(&tokens, "WBTC")["volume24h"]), 0);

    let weth = token("WETH");
    let reserve = node
        .view(
            VAULT,
            Vault::reservesCall {
                token: weth.address,
            },
        )
        .await;
    let liquidity = reserve * U256::from(price) / units(&weth, 1);
    assert_eq!(U256::from(usd_e8(&weth_entry["liquidity"])), liquidity);

    let single = node
        .get_json(&format!("/api/prices/{}", weth.address))
        .await;
    assert_eq!(single["data"]["volume24h"], weth_entry["volume24h"]);
    node.end().await;
}

#[tokio::test]
async fn the_vault_reports_its_fee() {
    let node = node().await;
    assert_eq!(
        node.view(VAULT, Vault::SWAP_FEE_BPSCall {}).await,
        U256::from(30)
    );
    assert_eq!(
        node.view(VAULT, Vault::BPS_DENOMINATORCall {}).await,
        U256::from(10_000)
    );
    node.end().await;
}

//! `GET /api/quote`.

use alloy::primitives::U256;
use serde_json::Value;
use tetrad_contracts::contracts::bindings::{Token, Vault};

use crate::support::{
    TestNode,
    chain::{VAULT, token, units},
    node, node_with,
};

async fn quote(node: &TestNode, from: &str, to: &str, amount: U256) -> Value {
    let body = node
        .get_json(&format!(
            "/api/quote?tokenIn={from}&tokenOut={to}&amountIn={amount}"
        ))
        .await;
    assert_eq!(body["success"], true);
    body["data"].clone()
}

fn whole(value: &Value) -> U256 {
    value.as_str().expect("text").parse().expect("a number")
}

#[tokio::test]
async fn a_quote_matches_the_vault_and_the_swap() {
    let node = node().await;
    let user = node.signer(0);
    node.approve_all(&user, VAULT).await;

    for (from, to, amount) in [
        ("WETH", "USDC", 3),
        ("USDC", "WBTC", 20_000),
        ("CRO", "DOT", 7),
        ("wstETH", "TON", 1),
    ] {
        let from = token(from);
        let to = token(to);
        let amount = units(&from, amount) + U256::from(1);
        let quote = quote(&node, &from.symbol, &to.address.to_string(), amount).await;

        let call = Vault::quoteSwapCall {
            tokenIn: from.address,
            tokenOut: to.address,
            amountIn: amount,
        };
        let said = node.view(VAULT, call).await;
        assert_eq!(
            (whole(&quote["amountOut"]), whole(&quote["fee"])),
            (said.amountOut, said.fee)
        );
        assert_eq!(quote["priceImpactBps"], said.impactBps.to::<u64>());
        assert_eq!(
            (&quote["status"], &quote["executable"]),
            (&"ok".into(), &true.into())
        );

        let least = whole(&quote["minAmountOut"]);
        assert_eq!(
            least,
            said.amountOut * U256::from(9_950) / U256::from(10_000)
        );
        assert_eq!(quote["blockNumber"], node.block_number().await);

        let before = node.balance(&to, user.address()).await;
        let swap = Vault::swapExactTokensForTokensCall {
            _tokenIn: from.address,
            _tokenOut: to.address,
            _amountIn: amount,
            _minAmountOut: said.amountOut,
        };
        assert!(
            node.send(&user, VAULT, swap).await.status(),
            "at least the quoted amount"
        );
        assert_eq!(
            node.balance(&to, user.address()).await - before,
            said.amountOut
        );
    }
    node.end().await;
}

#[tokio::test]
async fn a_quote_of_a_failing_swap_has_the_reason() {
    let node = node().await;
    let weth = token("WETH");
    for (to, amount, status) in [
        ("USDC", units(&weth, 2_000), "priceImpactTooHigh"),
        ("USDC", units(&weth, 100_000), "insufficientLiquidity"),
        ("WETH", units(&weth, 1), "sameToken"),
        ("USDC", U256::ZERO, "zeroAmount"),
        ("USDC", U256::from(1), "zeroOutput"),
        ("USDC", U256::MAX, "amountTooLarge"),
    ] {
        let quote = quote(&node, "weth", to, amount).await;
        assert_eq!(
            (&quote["status"], &quote["executable"]),
            (&status.into(), &false.into()),
            "{quote}"
        );
    }

    node.increase_time(700).await;
    let nothing = Token::approveCall {
        spender: VAULT,
        value: U256::ZERO,
    };
    assert!(
        node.send(&node.signer(0), weth.address, nothing)
            .await
            .status()
    );

    assert_eq!(
        quote(&node, "WETH", "USDC", units(&weth, 1)).await["status"],
        "ok",
        "frozen prices do not age"
    );
    node.end().await;
}

#[tokio::test]
async fn slippage_is_applied_as_requested() {
    let node = node().await;
    let path = "/api/quote?tokenIn=USDC&tokenOut=USDT&amountIn=1000000&slippageBps=";
    let body = node.get_json(&format!("{path}0")).await;
    assert_eq!(body["data"]["minAmountOut"], body["data"]["amountOut"]);
    assert_eq!(
        node.get_json(&format!("{path}10000")).await["data"]["minAmountOut"],
        "0"
    );
    node.end().await;
}

#[tokio::test]
async fn missing_and_invalid_parameters_are_named() {
    let node = node_with(|config| config.rate_limit = 0).await;
    for (query, status, name) in [
        ("", 400, "tokenIn"),
        ("tokenIn=WETH", 400, "tokenOut"),
        ("tokenIn=WETH&tokenOut=USDC", 400, "amountIn"),
        ("tokenIn=WETH&tokenOut=USDC&amountIn=1.5", 400, "amountIn"),
        ("tokenIn=WETH&tokenOut=USDC&amountIn=-1", 400, "amountIn"),
        ("tokenIn=WETH&tokenOut=USDC&amountIn=", 400, "amountIn"),
        (
            "tokenIn=WETH&tokenOut=USDC&amountIn=1&slippageBps=10001",
            400,
            "slippageBps",
        ),
        ("tokenIn=DOGE&tokenOut=USDC&amountIn=1", 404, "tokenIn"),
        (
            "tokenIn=WETH&tokenOut=0x00000000000000000000000000000000000000aa&amountIn=1",
            404,
            "tokenOut",
        ),
    ] {
        let response = node.get(&format!("/api/quote?{query}")).await;
        assert_eq!(response.status(), status, "{query}");
        let body: Value = response.json().await.expect("JSON");
        assert!(
            body["message"].as_str().expect("text").starts_with(name),
            "{query}: {body}"
        );
    }

    let digits = "9".repeat(100);
    assert_eq!(
        node.get(&format!(
            "/api/quote?tokenIn=WETH&tokenOut=USDC&amountIn={digits}"
        ))
        .await
        .status(),
        400
    );
    node.end().await;
}

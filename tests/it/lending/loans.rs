//! A loan from beginning to end, each step visible in the very next request.

use alloy::{primitives::U256, signers::local::PrivateKeySigner};
use serde_json::Value;
use tetrad_contracts::contracts::bindings::{LendingPool, Token};

use crate::support::{
    TestNode,
    chain::{token, units},
    decimal, manual_clock, node, node_at,
};

async fn user(node: &TestNode, signer: &PrivateKeySigner) -> Value {
    node.get_json(&format!("/api/user/{}", signer.address()))
        .await
}

async fn supplied(node: &TestNode, symbol: &str) -> String {
    let pools = node.get_json("/api/pools").await;
    let pool = pools
        .as_array()
        .expect("a list")
        .iter()
        .find(|pool| pool["symbol"] == symbol)
        .expect("a pool")
        .clone();
    pool["totalSupplied"].as_str().expect("text").to_owned()
}

#[tokio::test]
async fn a_loan_is_taken_and_repaid() {
    // Without interest, whose seconds would show in the last digits.
    let node = node_at(manual_clock(), |_| {}).await;
    let signer = node.signer(1);
    let pool = node.config().network.contracts.lending_pool;
    let usdc = token("USDC");
    let weth = token("WETH");
    for asset in [&usdc, &weth] {
        let approve = Token::approveCall {
            spender: pool,
            value: U256::MAX,
        };
        assert!(node.send(&signer, asset.address, approve).await.status());
    }
    let before = supplied(&node, "USDC").await;

    let deposit = LendingPool::depositCall {
        asset: usdc.address,
        amount: units(&usdc, 10_000),
    };
    assert!(node.send(&signer, pool, deposit).await.status());
    let after = user(&node, &signer).await;
    assert_eq!(after["creditScore"], 350, "ample collateral without debt");
    // 70 % at a score of 300, 85 % at 850.
    assert_eq!(after["borrowingPower"], "7136.0");
    assert_eq!(
        (&after["amountBorrowed"], &after["availableToBorrow"]),
        (&"0.0".into(), &"7136.0".into())
    );
    let whole = |text: &str| text.parse::<f64>().expect("a number");
    assert!((whole(&supplied(&node, "USDC").await) - whole(&before) - 10_000.0).abs() < 0.01);

    let borrow = LendingPool::borrowCall {
        asset: weth.address,
        amount: units(&weth, 1),
    };
    assert!(node.send(&signer, pool, borrow).await.status());
    assert_eq!(
        node.balance(&weth, signer.address()).await,
        units(&weth, 101)
    );
    let after = user(&node, &signer).await;
    let borrowed = whole(after["amountBorrowed"].as_str().expect("text"));
    assert!((borrowed - 3_512.35).abs() < 0.01, "{after}");
    let power = &after["borrowingPower"];
    let available = &after["availableToBorrow"];
    let number = |value: &Value| whole(value.as_str().expect("text"));
    assert!(
        (number(power) - number(available) - borrowed).abs() < 1e-6,
        "{after}"
    );
    let score = node
        .get_json(&format!("/api/user/{}/score", signer.address()))
        .await;
    let due = score["nextDueDate"].as_u64().expect("a loan has a term");
    assert_eq!(
        due,
        (node.chain().head().block.header.timestamp + 30 * 86_400) * 1_000
    );
    assert!(score["healthFactor"].is_string());

    // More than the rest is refused, and nothing changes.
    let borrow = LendingPool::borrowCall {
        asset: weth.address,
        amount: units(&weth, 2),
    };
    assert!(!node.send_anyway(&signer, pool, borrow).await.status());
    assert_eq!(
        user(&node, &signer).await["amountBorrowed"],
        after["amountBorrowed"]
    );

    let repay = LendingPool::repayCall {
        asset: weth.address,
        amount: U256::MAX,
    };
    assert!(node.send(&signer, pool, repay).await.status());
    let after = user(&node, &signer).await;
    assert_eq!(after["amountBorrowed"], "0.0");

    let withdraw = LendingPool::withdrawCall {
        asset: usdc.address,
        amount: U256::MAX,
    };
    assert!(node.send(&signer, pool, withdraw).await.status());
    let after = user(&node, &signer).await;
    assert_eq!(
        (&after["borrowingPower"], &after["creditScore"]),
        (&"0.0".into(), &300.into())
    );
    let balance = node.balance(&usdc, signer.address()).await;
    // The amount paid out is rounded in favour of the pool, and may include the interest of some
    // seconds.
    assert!(
        balance + U256::from(1) >= units(&usdc, 250_000),
        "{balance}"
    );
    node.end().await;
}

#[tokio::test]
async fn interest_accrues_over_a_year() {
    let node = node().await;
    let before = node.get_json("/api/pools").await[2].clone();
    node.increase_time(31_536_000).await;
    node.mine().await;
    let after = node.get_json("/api/pools").await[2].clone();

    let growth = decimal(&after["totalSupplied"]) / decimal(&before["totalSupplied"]) - 1.0;
    let promised = decimal(&before["supplyApy"]) / 100.0;
    assert!(
        (growth / promised - 1.0).abs() < 0.05,
        "grew by {growth}, promised {promised}"
    );
    node.end().await;
}

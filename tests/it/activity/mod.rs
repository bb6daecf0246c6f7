//! The activity of users, over real sockets.

use std::{path::Path, sync::Arc};

use alloy::{primitives::U256, signers::local::PrivateKeySigner};
use serde_json::{Value, json};
use tetrad::account::{Kind, address_to_bech32};
use tetrad_contracts::contracts::bindings::{LendingPool, Vault};
use tetrad_stdx::clock::ManualClock;

use crate::support::{
    TestNode,
    chain::{VAULT, key, token, units},
    manual_clock, node_at, node_with,
};

async fn quiet() -> TestNode {
    node_with(|config| config.rate_limit = 0).await
}

async fn swap(
    node: &TestNode,
    user: &PrivateKeySigner,
    from: &str,
    to: &str,
    amount: U256,
) -> Value {
    let from = token(from);
    let to = token(to);
    let path = format!(
        "/api/quote?tokenIn={}&tokenOut={}&amountIn={amount}",
        from.symbol, to.symbol
    );
    let quote = node.get_json(&path).await["data"].clone();
    let call = Vault::swapExactTokensForTokensCall {
        _tokenIn: from.address,
        _tokenOut: to.address,
        _amountIn: amount,
        _minAmountOut: U256::ZERO,
    };
    let receipt = node.send(user, VAULT, call).await;
    assert!(receipt.status());
    json!({
        "type": "swap",
        "transactionHash": receipt.transaction_hash.to_string(),
        "user": user.address().to_checksum(None),
        "amountIn": quote["amountInWhole"],
        "amountOut": quote["amountOutWhole"],
        "priceImpactBps": quote["priceImpactBps"],
    })
}

fn assert_contains(entry: &Value, expected: &Value) {
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(entry[name], *value, "{name} of {entry}");
    }
}

#[tokio::test]
async fn swaps_are_listed_page_by_page() {
    let node = quiet().await;
    let users = [node.signer(0), node.signer(1)];
    for user in &users {
        node.approve_all(user, VAULT).await;
    }
    assert_eq!(
        node.get_json("/api/swaps").await,
        json!({ "success": true, "data": [], "count": 0, "next": null })
    );
    let mut done = Vec::new();
    for n in 0..7u64 {
        let (from, to) = if n % 2 == 0 {
            ("WETH", "USDC")
        } else {
            ("DOT", "WBTC")
        };
        let amount = units(&token(from), n + 1);
        done.insert(
            0,
            swap(&node, &users[(n % 3 == 0) as usize], from, to, amount).await,
        );
    }

    let mut path = "/api/swaps?limit=3".to_owned();
    let mut found = Vec::new();
    loop {
        let page = node.get_json(&path).await;
        let entries = page["data"].as_array().expect("a list").clone();
        assert_eq!(page["count"], entries.len());
        assert!(entries.len() == 3 || page["next"].is_null());
        found.extend(entries);
        let Some(next) = page["next"].as_str() else {
            break;
        };
        path = format!("/api/swaps?limit=3&before={next}");
    }
    assert_eq!(found.len(), done.len());
    found
        .iter()
        .zip(&done)
        .for_each(|(entry, expected)| assert_contains(entry, expected));

    let all =
        async |query: &str| node.get_json(&format!("/api/swaps?{query}")).await["count"].clone();
    assert_eq!(all(&format!("user={}", users[1].address())).await, 3);
    let bech32 = address_to_bech32(
        &users[0].address(),
        &node.config().network.hrp,
        Kind::Account,
    );
    assert_eq!(all(&format!("user={bech32}")).await, 4);
    assert_eq!(
        (
            all("token=wbtc").await,
            all(&format!("token={}", key(&token("WETH")))).await
        ),
        (3.into(), 4.into())
    );
    assert_eq!(
        all(&format!("user={}&token=WBTC", users[1].address())).await,
        1
    );
    node.end().await;
}

#[tokio::test]
async fn a_user_has_one_history_of_exchange_and_lending() {
    let node = quiet().await;
    let user = node.signer(3);
    let pool = node.config().network.contracts.lending_pool;
    node.approve_all(&user, pool).await;
    node.approve_all(&user, VAULT).await;
    let usdc = token("USDC");
    let weth = token("WETH");
    let asset = usdc.address;

    let deposit = LendingPool::depositCall {
        asset,
        amount: units(&usdc, 10_000),
    };
    assert!(node.send(&user, pool, deposit).await.status());
    let borrow = LendingPool::borrowCall {
        asset: weth.address,
        amount: units(&weth, 1),
    };
    assert!(node.send(&user, pool, borrow).await.status());
    let swapped = swap(&node, &user, "WETH", "USDC", units(&weth, 1)).await;
    let repay = LendingPool::repayCall {
        asset: weth.address,
        amount: units(&weth, 1) / U256::from(4),
    };
    assert!(node.send(&user, pool, repay).await.status());
    let withdraw = LendingPool::withdrawCall {
        asset,
        amount: U256::from(1_500_000),
    };
    assert!(node.send(&user, pool, withdraw).await.status());

    let path = format!("/api/user/{}/history", user.address());
    let page = node.get_json(&path).await;
    let entries = page["data"].as_array().expect("a list");
    let kinds: Vec<_> = entries
        .iter()
        .map(|entry| entry["type"].as_str().expect("text"))
        .collect();
    assert_eq!(kinds, ["withdraw", "repay", "swap", "borrow", "deposit"]);

    assert_contains(&entries[2], &swapped);
    assert_eq!(
        (&entries[0]["amount"], &entries[0]["asset"]["symbol"]),
        (&"1.5".into(), &"USDC".into())
    );
    assert_eq!(entries[1]["amount"], "0.25");
    assert_eq!(entries[4]["amount"], "10000.0");

    for entry in entries {
        let receipt = node
            .rpc(
                "eth_getTransactionReceipt",
                json!([entry["transactionHash"]]),
            )
            .await;

        let height = entry["blockNumber"].as_u64().expect("a number");
        assert_eq!(receipt["blockNumber"], format!("{height:#x}"));
        let block = node.chain().head().block(height).expect("a block").clone();
        assert_eq!(entry["timestamp"], block.header.timestamp * 1_000);
    }

    let stranger = node
        .get_json("/api/user/0x00000000000000000000000000000000000000aa/history")
        .await;
    assert_eq!(stranger["count"], 0);
    node.end().await;
}

#[tokio::test]
async fn reverted_activity_is_not_listed() {
    let node = quiet().await;
    let user = node.signer(0);
    node.approve_all(&user, VAULT).await;
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    swap(&node, &user, "WETH", "USDC", units(&token("WETH"), 1)).await;
    assert_eq!(node.get_json("/api/swaps").await["count"], 1);
    assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
    assert_eq!(node.get_json("/api/swaps").await["count"], 0);
    node.end().await;
}

#[tokio::test]
async fn invalid_queries_are_rejected() {
    let node = quiet().await;
    for query in [
        "limit=0",
        "limit=201",
        "limit=x",
        "before=1",
        "before=x-1",
        "user=0x12",
        "user=nobody",
    ] {
        assert_eq!(
            node.get(&format!("/api/swaps?{query}")).await.status(),
            400,
            "{query}"
        );
    }
    assert_eq!(node.get("/api/swaps?token=DOGE").await.status(), 404);
    assert_eq!(node.get("/api/user/x/history").await.status(), 400);
    assert_eq!(
        node.get_json("/api/swaps?before=99999999999-0").await["count"],
        0
    );
    node.end().await;
}

/// All pages of a list, from the newest entry to the oldest.
async fn all_pages(node: &TestNode, path: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut before = String::new();
    loop {
        let page = node.get_json(&format!("{path}{before}")).await;
        found.extend(page["data"].as_array().expect("a list").clone());
        match page["next"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => return found,
        }
    }
}

/// A node with its chain in a directory and this many blocks in memory.
async fn start(clock: &Arc<ManualClock>, directory: &Path, blocks: u64) -> TestNode {
    node_at(clock.clone(), |config| {
        config.data_dir = Some(directory.to_owned());
        config.rate_limit = 0;
        config.history.blocks = blocks;
    })
    .await
}

#[tokio::test]
async fn activity_that_memory_no_longer_holds_is_listed() {
    let directory = tempfile::tempdir().expect("a directory");
    let clock = manual_clock();

    let node = start(&clock, directory.path(), 100_000).await;
    let users = [node.signer(0), node.signer(1)];
    let pool = node.config().network.contracts.lending_pool;

    for user in &users {
        node.approve_all(user, VAULT).await;
        node.approve_all(user, pool).await;
    }

    let weth = token("WETH");
    for round in 0..9u64 {
        let user = &users[(round % 2) as usize];
        let snapshot = (round == 3)
            .then_some(())
            .map(|()| node.rpc("evm_snapshot", json!([])));
        let snapshot = match snapshot {
            Some(snapshot) => Some(snapshot.await),
            None => None,
        };

        swap(
            &node,
            user,
            "WETH",
            if round % 3 == 0 { "DOT" } else { "USDC" },
            units(&weth, round + 1),
        )
        .await;

        let deposit = LendingPool::depositCall {
            asset: weth.address,
            amount: units(&weth, round + 1),
        };
        assert!(node.send(user, pool, deposit).await.status());

        if let Some(snapshot) = snapshot {
            assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
        }
    }

    let user = users[0].address();
    let paths = [
        "/api/swaps?limit=2".to_owned(),
        "/api/swaps?limit=2&token=DOT".to_owned(),
        format!("/api/swaps?limit=200&user={user}"),
        format!("/api/user/{user}/history?limit=3"),
    ];

    let mut before = Vec::new();
    for path in &paths {
        before.push(all_pages(&node, path).await);
    }
    assert_eq!(
        before.iter().map(Vec::len).collect::<Vec<_>>(),
        [8, 2, 5, 10]
    );
    node.end().await;

    for blocks in [3, 7] {
        let node = start(&clock, directory.path(), blocks).await;

        let head = node.chain().head();
        assert!(
            head.oldest() + 8 > head.number(),
            "memory holds only the newest blocks"
        );

        for (path, before) in paths.iter().zip(&before) {
            assert_eq!(all_pages(&node, path).await, *before, "{path}");
        }
        node.end().await;
    }
}

//! Changing accounts outside of any transaction, and the effect on the chain.

use serde_json::json;

use super::UNUSED_ADDRESS;
use crate::support::{node, number};

#[tokio::test]
async fn numbers_are_accepted_in_every_notation() {
    let node = node().await;
    let coins = json!(10u64.pow(18));
    for (wei, expected) in [
        (json!("0x10"), "0x10"),
        (json!("0x0010"), "0x10"),
        (json!(17), "0x11"),
        (json!("18"), "0x12"),
        (coins, "0xde0b6b3a7640000"),
    ] {
        for method in [
            "anvil_setBalance",
            "hardhat_setBalance",
            "tenderly_setBalance",
        ] {
            node.rpc(method, json!([UNUSED_ADDRESS, wei])).await;
            assert_eq!(
                node.rpc("eth_getBalance", json!([UNUSED_ADDRESS, "latest"]))
                    .await,
                expected,
                "{wei}"
            );
        }
    }

    // More than a JSON number of 64 bits, as Python writes it.
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"anvil_setBalance","params":["{UNUSED_ADDRESS}",1{:0>22}]}}"#,
        0
    );
    assert_eq!(node.post(body).await["result"], json!(null));
    assert_eq!(
        number(
            &node
                .rpc("eth_getBalance", json!([UNUSED_ADDRESS, "latest"]))
                .await
        ),
        10u128.pow(22)
    );

    node.rpc("anvil_addBalance", json!([UNUSED_ADDRESS, "0x1"]))
        .await;
    assert_eq!(
        number(
            &node
                .rpc("eth_getBalance", json!([UNUSED_ADDRESS, "latest"]))
                .await
        ),
        10u128.pow(22) + 1
    );

    for wrong in [
        json!("0x"),
        json!("x"),
        json!(-1),
        json!(1.5),
        json!(null),
        json!({}),
        json!(format!("0x1{:0>64}", 0)),
    ] {
        let error = node
            .rpc_error("anvil_setBalance", json!([UNUSED_ADDRESS, wrong]))
            .await;
        assert_eq!(error["code"], -32602, "{wrong}: {error}");
    }
}

#[tokio::test]
async fn every_field_of_an_account_can_be_changed() {
    let node = node().await;
    node.rpc("anvil_setNonce", json!([UNUSED_ADDRESS, "0x5"]))
        .await;
    assert_eq!(
        node.rpc("eth_getTransactionCount", json!([UNUSED_ADDRESS, "latest"]))
            .await,
        "0x5"
    );

    node.rpc("evm_setAccountNonce", json!([UNUSED_ADDRESS, 4]))
        .await;
    assert_eq!(
        node.rpc("eth_getTransactionCount", json!([UNUSED_ADDRESS, "latest"]))
            .await,
        "0x4"
    );

    let value = format!("0x{:064x}", 42);
    for slot in [json!(3), json!("0x3"), json!(format!("0x{:064x}", 3))] {
        assert_eq!(
            node.rpc("hardhat_setStorageAt", json!([UNUSED_ADDRESS, slot, value]))
                .await,
            true
        );
        assert_eq!(
            node.rpc("eth_getStorageAt", json!([UNUSED_ADDRESS, "0x3", "latest"]))
                .await,
            value
        );
    }

    // Including code that resembles a delegation but is not one.
    for code in [
        "0x6001600101",
        "0xef0100",
        "0xef01000000000000000000000000000000000000000000aa",
        "0x",
    ] {
        node.rpc("anvil_setCode", json!([UNUSED_ADDRESS, code]))
            .await;
        assert_eq!(
            node.rpc("eth_getCode", json!([UNUSED_ADDRESS, "latest"]))
                .await,
            code
        );
        let call = node
            .request(
                "eth_call",
                json!([{"to": UNUSED_ADDRESS}, "latest", {UNUSED_ADDRESS: {"code": code}}]),
            )
            .await;
        assert!(call["error"]["code"] != -32603, "{call}");
    }
}

#[tokio::test]
async fn an_edit_is_visible_at_once_and_in_the_root_of_the_next_block() {
    let node = node().await;
    let before = node.latest().await;
    node.rpc("anvil_setBalance", json!([UNUSED_ADDRESS, "0x7"]))
        .await;
    assert_eq!(node.latest().await, before);
    assert_eq!(
        node.rpc("eth_getBalance", json!([UNUSED_ADDRESS, "latest"]))
            .await,
        "0x7"
    );
    node.mine().await;
    let after = node.latest().await;
    assert_ne!(after["stateRoot"], before["stateRoot"]);
    // It belongs to the block at which it was made, on whose number tests rely.
    node.rpc("anvil_setBalance", json!([UNUSED_ADDRESS, "0x8"]))
        .await;
    node.mine().await;
    for (block, balance) in [("0x0", "0x7"), ("0x1", "0x8"), ("0x2", "0x8")] {
        assert_eq!(
            node.rpc("eth_getBalance", json!([UNUSED_ADDRESS, block]))
                .await,
            balance,
            "{block}"
        );
    }
    // The state on which a block was executed does not change.
    node.rpc("anvil_rollback", json!([1])).await;
    assert_eq!(
        node.rpc("eth_getBalance", json!([UNUSED_ADDRESS, "latest"]))
            .await,
        "0x7"
    );
}

#[tokio::test]
async fn the_chain_id_can_be_changed() {
    let node = node().await;
    let sent = node.send_wei(0).await;
    node.rpc("anvil_setChainId", json!([31337])).await;
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x7a69");
    assert_eq!(node.rpc("net_version", json!([])).await, "31337");
    // New transactions are signed for it; earlier ones are unchanged.
    let later = node.send_wei(0).await;
    assert_eq!(
        node.rpc("eth_getTransactionByHash", json!([later])).await["chainId"],
        "0x7a69"
    );
    assert_eq!(
        node.rpc("eth_getTransactionByHash", json!([sent])).await["chainId"],
        "0x7d"
    );
}

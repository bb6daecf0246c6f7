//! Development methods: mining, snapshots and time.

use serde_json::{Value, json};
use tetrad::config::BlockTimestamps;

use crate::support::{TestNode, manual_clock, node, node_at, number};

async fn head(node: &TestNode) -> (u128, u128) {
    let block = node
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await;
    (number(&block["number"]), number(&block["timestamp"]))
}

async fn send(node: &TestNode) -> Value {
    node.rpc(
        "eth_sendTransaction",
        json!([{"from": node.account(0), "to": node.account(1), "value": "0x1", "gas": "0x5208"}]),
    )
    .await
}

#[tokio::test]
async fn mining_makes_blocks_of_rising_time() {
    let node = node().await;
    let (_, start) = head(&node).await;
    for params in [
        json!([]),
        json!([{}]),
        json!([{"blocks": 3}]),
        json!([{"blocks": "0x2"}]),
    ] {
        assert_eq!(node.rpc("evm_mine", params).await, "0x0");
    }
    let (height, time) = head(&node).await;
    assert_eq!(height, 7);
    assert!(time >= start + 7, "{time} after {start}");
    let at = time + 1_000;
    node.rpc("evm_mine", json!([at as u64])).await;
    assert_eq!(head(&node).await, (8, at));
    let error = node.rpc_error("evm_mine", json!([1])).await;
    assert_eq!(error["code"], -32602, "{error}");
    assert_eq!(
        node.rpc_error("evm_mine", json!([{"blocks": 1_000_000_000}]))
            .await["code"],
        -32602
    );
}

#[tokio::test]
async fn blocks_share_a_second_unless_increasing_times_are_configured() {
    let shared = node_at(manual_clock(), |_| {});
    let increasing = node_at(manual_clock(), |config| {
        config.block_timestamps = Some(BlockTimestamps::Increasing)
    });
    let (shared, increasing) = tokio::join!(shared, increasing);
    for (node, step) in [(&shared, 0), (&increasing, 1)] {
        let (_, start) = head(node).await;
        for count in 1..=3 {
            send(node).await;
            assert_eq!(head(node).await, (count, start + count * step));
        }
        let at = start + 100;
        node.rpc("evm_setNextBlockTimestamp", json!([at as u64]))
            .await;
        send(node).await;
        let again = node
            .request("evm_setNextBlockTimestamp", json!([at as u64]))
            .await;
        assert_eq!(again["error"].is_null(), step == 0, "{again}");
        send(node).await;
        assert_eq!(head(node).await.1, at + step);
    }
}

#[tokio::test]
async fn time_can_be_moved() {
    let node = node().await;
    let (_, start) = head(&node).await;
    assert_eq!(node.rpc("evm_increaseTime", json!([86_400])).await, 86_400);
    assert_eq!(node.rpc("evm_increaseTime", json!(["0x10"])).await, 86_416);
    send(&node).await;
    let (_, after) = head(&node).await;
    assert!(
        (start + 86_416..start + 86_416 + 600).contains(&after),
        "{after} after {start}"
    );

    let set_time = after + 5_000;
    assert_eq!(
        node.rpc("evm_setNextBlockTimestamp", json!([set_time as u64]))
            .await,
        Value::Null
    );
    send(&node).await;
    assert_eq!(head(&node).await.1, set_time);
    // The time continues from there.
    send(&node).await;
    assert!((set_time..set_time + 600).contains(&head(&node).await.1));
    let error = node
        .rpc_error("evm_setNextBlockTimestamp", json!([1]))
        .await;
    assert!(
        error["data"]
            .as_str()
            .unwrap()
            .contains("lower than previous block's timestamp"),
        "{error}"
    );
}

#[tokio::test]
async fn a_revert_to_a_snapshot_restores_everything() {
    let node = node().await;
    let kept = send(&node).await;
    let (height, _) = head(&node).await;
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    node.rpc("evm_increaseTime", json!([1_000_000])).await;
    let undone = send(&node).await;
    let later = node.rpc("evm_snapshot", json!([])).await;
    let (_, far) = head(&node).await;

    assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
    assert_eq!(head(&node).await.0, height);
    assert_eq!(
        node.rpc("eth_getTransactionReceipt", json!([undone])).await,
        Value::Null
    );
    assert_eq!(
        node.rpc("eth_getTransactionByHash", json!([undone])).await,
        Value::Null
    );
    assert_eq!(
        node.rpc("eth_getTransactionReceipt", json!([kept])).await["status"],
        "0x1"
    );
    assert_eq!(
        node.rpc(
            "eth_getTransactionCount",
            json!([node.account(0), "latest"])
        )
        .await,
        "0x1"
    );
    // The clock is restored, too, and both snapshots are used up.
    send(&node).await;
    assert!(head(&node).await.1 < far - 500_000);
    for used in [&snapshot, &later] {
        assert_eq!(node.rpc("evm_revert", json!([used])).await, false);
    }
}

#[tokio::test]
async fn snapshots_nest() {
    let node = node().await;
    let mut snapshots = Vec::new();
    for _ in 0..5 {
        snapshots.push(node.rpc("evm_snapshot", json!([])).await);
        send(&node).await;
    }
    for (height, snapshot) in snapshots.iter().enumerate().rev() {
        assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
        assert_eq!(head(&node).await.0, height as u128);
    }
}

/// `9999-12-31T23:59:59Z`.
const LAST_SECOND: u64 = 253_402_300_799;

#[tokio::test]
async fn a_set_time_is_the_next_blocks_or_is_refused() {
    let node = node_at(manual_clock(), |_| {}).await;
    let (_, start) = head(&node).await;
    let start = start as u64;

    // The newest block's own time is accepted as well, however the next block is made.
    for method in ["evm_setNextBlockTimestamp", "evm_setTime"] {
        node.rpc(method, json!([start])).await;
        node.rpc("evm_mine", json!([])).await;
        assert_eq!(head(&node).await.1, u128::from(start), "{method}");
        for past in [0, start - 1] {
            let error = node.rpc_error(method, json!([past])).await;
            assert!(
                error["data"]
                    .as_str()
                    .unwrap()
                    .contains("lower than previous block's timestamp"),
                "{error}"
            );
        }
    }

    for (index, at) in [start + 10, start + 5_000].into_iter().enumerate() {
        node.rpc("anvil_setTime", json!([at])).await;
        if index == 0 {
            send(&node).await;
        } else {
            node.rpc("evm_mine", json!([])).await;
        }
        assert_eq!(head(&node).await.1, u128::from(at));
    }

    // The last time that was set counts.
    node.rpc("evm_setNextBlockTimestamp", json!([start + 9_000]))
        .await;
    node.rpc("evm_setTime", json!([start + 8_000])).await;
    send(&node).await;
    assert_eq!(head(&node).await.1, u128::from(start + 8_000));
}

/// Sends a transaction. Returns the time of its block, since `start`.
async fn sent_after(node: &TestNode, start: u64) -> u64 {
    send(node).await;
    head(node).await.1 as u64 - start
}

#[tokio::test]
async fn a_set_time_is_kept_with_a_fixed_interval() {
    let node = node_at(manual_clock(), |_| {}).await;
    let (_, start) = head(&node).await;
    let start = start as u64;
    let next = || sent_after(&node, start);

    node.rpc("anvil_setBlockTimestampInterval", json!([100]))
        .await;
    assert_eq!(next().await, 100);
    node.rpc("evm_setTime", json!([start + 1_000])).await;
    assert_eq!([next().await, next().await], [1_000, 1_100]);
    node.rpc("evm_increaseTime", json!([50])).await;
    assert_eq!([next().await, next().await], [1_250, 1_350]);
    node.rpc("evm_setNextBlockTimestamp", json!([start + 2_000]))
        .await;
    assert_eq!([next().await, next().await], [2_000, 2_100]);
    node.rpc("anvil_mine", json!([2, 7])).await;
    assert_eq!(head(&node).await.1 as u64 - start, 2_114);
    node.rpc("anvil_setBlockTimestampInterval", json!([0]))
        .await;
    node.rpc("evm_mine", json!([])).await;
    assert_eq!(head(&node).await.1 as u64 - start, 2_114);
}

#[tokio::test]
async fn no_block_reaches_the_year_10000() {
    let node = node_at(manual_clock(), |_| {}).await;

    let (_, start) = head(&node).await;
    for (method, params) in [
        ("evm_setNextBlockTimestamp", json!([LAST_SECOND + 1])),
        ("evm_setTime", json!([LAST_SECOND + 1])),
        ("anvil_setTime", json!([u64::MAX])),
        ("evm_increaseTime", json!([LAST_SECOND - start as u64 + 1])),
        ("evm_increaseTime", json!([u64::MAX])),
        (
            "anvil_setBlockTimestampInterval",
            json!([LAST_SECOND - start as u64 + 1]),
        ),
        ("evm_mine", json!([LAST_SECOND + 1])),
        ("evm_mine", json!([{"timestamp": u64::MAX}])),
        ("anvil_mine", json!([1, LAST_SECOND])),
        ("anvil_mine", json!([1, u64::MAX])),
    ] {
        let error = node.rpc_error(method, params.clone()).await;
        assert_eq!(error["code"], -32602, "{method} {params}: {error}");
        assert!(
            error["data"]
                .as_str()
                .unwrap()
                .contains("9999-12-31T23:59:59Z"),
            "{method} {params}: {error}"
        );
    }

    assert_eq!(head(&node).await, (0, start));

    // Time stops in the last second: transactions are still sealed, and only a later block is
    // refused.
    node.rpc("evm_setTime", json!([LAST_SECOND])).await;
    for number in 1..=2 {
        send(&node).await;
        assert_eq!(head(&node).await, (number, LAST_SECOND.into()));
    }

    let error = node.rpc_error("evm_mine", json!([])).await;
    assert!(
        error["data"]
            .as_str()
            .unwrap()
            .contains("9999-12-31T23:59:59Z"),
        "{error}"
    );
    assert_eq!(
        node.rpc_error("evm_increaseTime", json!([1])).await["code"],
        -32602
    );

    send(&node).await;
    assert_eq!(head(&node).await, (3, LAST_SECOND.into()));

    let block = node
        .get_json("/cosmos/base/tendermint/v1beta1/blocks/latest")
        .await;
    assert_eq!(block["block"]["header"]["time"], "9999-12-31T23:59:59Z");
}

#[tokio::test]
async fn increasing_times_exclude_an_interval_of_zero() {
    let node = node_at(manual_clock(), |config| {
        config.block_timestamps = Some(BlockTimestamps::Increasing)
    })
    .await;
    let (_, start) = head(&node).await;
    assert_eq!(
        node.rpc_error("anvil_setBlockTimestampInterval", json!([0]))
            .await["code"],
        -32602
    );
    assert_eq!(
        node.rpc_error("evm_setTime", json!([start as u64])).await["code"],
        -32602
    );
    node.rpc("evm_setTime", json!([start as u64 + 1])).await;
    send(&node).await;
    assert_eq!(head(&node).await.1, start + 1);
}

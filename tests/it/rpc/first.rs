//! A first look.

use serde_json::json;

use crate::support::{node, number};

#[tokio::test]
async fn a_sent_transaction_is_in_a_block_when_the_answer_comes() {
    let node = node().await;
    let (from, to) = (node.account(0), node.account(1));
    let hash = node.rpc("eth_sendTransaction", json!([{"from": from, "to": to, "value": "0x1"}])).await;
    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
    assert_eq!(receipt["status"], "0x1");
    assert_eq!(number(&node.rpc("eth_blockNumber", json!([])).await), 1);
    node.end().await;
}

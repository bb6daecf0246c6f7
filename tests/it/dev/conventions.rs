//! Behaviour that differs when the program runs in place of anvil.

use serde_json::json;

use crate::support::node_with;

const CONTRACT: &str = "0x00000000000000000000000000000000000000cc";

#[tokio::test]
async fn transactions_that_fail_are_mined_without_a_gas_limit_of_their_own() {
    let node = node_with(|config| config.anvil_conventions = true).await;
    // A revert, and an invalid instruction.
    for code in ["0x60006000fd", "0xfe"] {
        node.rpc("anvil_setCode", json!([CONTRACT, code])).await;
        let request = json!([{"from": node.account(0), "to": CONTRACT}]);
        let hash = node.rpc("eth_sendTransaction", request).await;
        let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
        assert_eq!(receipt["status"], "0x0", "{code}");
    }
    // A transaction that exceeds its sender's balance is not mined.
    let request =
        json!([{"from": node.account(0), "to": CONTRACT, "value": "0xffffffffffffffffffffffff"}]);
    let error = node.rpc_error("eth_sendTransaction", request).await;
    assert!(error.to_string().contains("insufficient funds"), "{error}");
}

#[tokio::test]
async fn traces_of_an_unknown_transaction_are_empty() {
    let node = node_with(|config| config.anvil_conventions = true).await;
    let unknown = format!("0x{:064x}", 0);
    let trace = node.rpc("debug_traceTransaction", json!([unknown])).await;
    let empty = json!({"failed": false, "gas": 0, "returnValue": "0x", "structLogs": []});
    assert_eq!(trace, empty);
    let calls = node.rpc("trace_transaction", json!([unknown])).await;
    assert_eq!(calls, json!([]));
}

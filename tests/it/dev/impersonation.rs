//! Sending from accounts without their keys.

use alloy::sol_types::SolValue;
use alloy_primitives::{Address, B256, U256};
use serde_json::{Value, json};

use super::UNUSED_ADDRESS;
use crate::support::{chain::VAULT, node};

#[tokio::test]
async fn accounts_and_contracts_send_while_they_are_impersonated() {
    let node = node().await;
    for account in [UNUSED_ADDRESS.to_owned(), VAULT.to_string()] {
        node.rpc("anvil_setBalance", json!([account, "0xde0b6b3a7640000"]))
            .await;
        let request = json!([{"from": account, "to": node.account(1), "value": "0x1"}]);

        assert_eq!(
            node.rpc_error("eth_sendTransaction", request.clone()).await["message"],
            "unknown account"
        );

        assert_eq!(
            node.rpc("anvil_impersonateAccount", json!([account])).await,
            Value::Null
        );
        let accounts = node.rpc("eth_accounts", json!([])).await;
        assert_eq!(
            accounts.as_array().unwrap().last().unwrap(),
            &json!(account.to_lowercase())
        );

        let hash = node.rpc("eth_sendTransaction", request.clone()).await;
        let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
        assert_eq!(
            (receipt["from"].clone(), receipt["status"].clone()),
            (json!(account.to_lowercase()), json!("0x1"))
        );

        node.rpc("hardhat_stopImpersonatingAccount", json!([account]))
            .await;
        node.rpc_error("eth_sendTransaction", request.clone()).await;

        node.rpc("anvil_autoImpersonateAccount", json!([true]))
            .await;
        node.rpc("eth_sendTransaction", request.clone()).await;
        node.rpc("anvil_autoImpersonateAccount", json!([false]))
            .await;
        node.rpc_error("eth_sendTransaction", request.clone()).await;
        node.rpc("eth_sendUnsignedTransaction", request).await;
    }
}

#[tokio::test]
async fn equal_transactions_of_two_accounts_differ() {
    let node = node().await;
    node.rpc("anvil_autoImpersonateAccount", json!([true]))
        .await;
    let mut hashes = Vec::new();
    for account in [UNUSED_ADDRESS, "0x00000000000000000000000000000000000000ab"] {
        node.rpc("anvil_setBalance", json!([account, "0xde0b6b3a7640000"]))
            .await;
        let request = json!([{"from": account, "to": node.account(1), "gasPrice": "0x77359400", "gas": "0x5208"}]);
        hashes.push(node.rpc("eth_sendTransaction", request).await);
    }
    assert_ne!(hashes[0], hashes[1]);
    for (hash, sender) in hashes
        .iter()
        .zip([UNUSED_ADDRESS, "0x00000000000000000000000000000000000000ab"])
    {
        assert_eq!(
            node.rpc("eth_getTransactionByHash", json!([hash])).await["from"],
            sender
        );
    }
}

#[tokio::test]
async fn ecrecover_returns_the_configured_account() {
    let node = node().await;
    let signer: Address = UNUSED_ADDRESS.parse().unwrap();
    let r = U256::from(11);
    let s = U256::from(12);
    let signature = format!("0x{r:064x}{s:064x}1b");
    let input = (B256::repeat_byte(1), U256::from(27), r, s).abi_encode();
    let call = json!([{"to": Address::with_last_byte(1), "data": alloy_primitives::hex::encode_prefixed(input)}, "latest"]);

    assert_ne!(
        node.rpc("eth_call", call.clone()).await,
        json!(signer.into_word())
    );
    node.rpc(
        "anvil_impersonateSignature",
        json!([signature, UNUSED_ADDRESS]),
    )
    .await;
    assert_eq!(
        node.rpc("eth_call", call.clone()).await,
        json!(signer.into_word())
    );

    // One array of both, with the recovery id unchanged, is equivalent.
    let other = Address::with_last_byte(9);
    node.rpc(
        "anvil_impersonateSignature",
        json!([[format!("0x{r:064x}{s:064x}00"), other]]),
    )
    .await;
    assert_eq!(node.rpc("eth_call", call).await, json!(other.into_word()));

    assert_eq!(
        node.rpc_error(
            "anvil_impersonateSignature",
            json!(["0x12", UNUSED_ADDRESS])
        )
        .await["code"],
        -32602
    );
}

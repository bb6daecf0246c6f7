//! Setting token balances.

use serde_json::json;
use tetrad_contracts::contracts::bindings::Token;

use super::UNUSED_ADDRESS;
use crate::support::{chain::token, node};

#[tokio::test]
async fn every_account_can_get_every_token() {
    let node = node().await;
    let unused = UNUSED_ADDRESS.parse().unwrap();
    for symbol in ["USDC", "WETH", "WBTC"] {
        let token = token(symbol);
        for amount in ["0x2a", "0x0", "0xffffffffffffffffffffffffffff"] {
            node.rpc(
                "anvil_dealERC20",
                json!([UNUSED_ADDRESS, token.address, amount]),
            )
            .await;
            assert_eq!(format!("{:#x}", node.balance(&token, unused).await), amount);
        }
        node.rpc(
            "anvil_setERC20Allowance",
            json!([UNUSED_ADDRESS, node.account(1), token.address, "0x64"]),
        )
        .await;
        let call = Token::allowanceCall {
            owner: unused,
            spender: node.account(1),
        };
        let allowance = node.view(token.address, call).await;
        assert_eq!(allowance.to::<u64>(), 100);
    }
}

#[tokio::test]
async fn an_address_without_a_token_is_rejected() {
    let node = node().await;
    let error = node
        .rpc_error(
            "anvil_dealERC20",
            json!([UNUSED_ADDRESS, UNUSED_ADDRESS, "0x1"]),
        )
        .await;
    assert!(
        error["message"].as_str().unwrap().contains("no slot found"),
        "{error}"
    );
}

//! Giving out tokens.

use serde_json::json;
use tetrad_contracts::contracts::bindings::Token;

use super::NOBODY;
use crate::support::{chain::token, node};

#[tokio::test]
async fn anybody_gets_any_token() {
    let node = node().await;
    let nobody = NOBODY.parse().unwrap();
    for symbol in ["USDC", "WETH", "WBTC"] {
        let token = token(symbol);
        for amount in ["0x2a", "0x0", "0xffffffffffffffffffffffffffff"] {
            node.rpc("anvil_dealERC20", json!([NOBODY, token.address, amount]))
                .await;
            assert_eq!(format!("{:#x}", node.balance(&token, nobody).await), amount);
        }
        node.rpc(
            "anvil_setERC20Allowance",
            json!([NOBODY, node.account(1), token.address, "0x64"]),
        )
        .await;
        let call = Token::allowanceCall {
            owner: nobody,
            spender: node.account(1),
        };
        let allowance = node.view(token.address, call).await;
        assert_eq!(allowance.to::<u64>(), 100);
    }
}

#[tokio::test]
async fn what_is_no_token_is_refused() {
    let node = node().await;
    let error = node
        .rpc_error("anvil_dealERC20", json!([NOBODY, NOBODY, "0x1"]))
        .await;
    assert!(
        error["message"].as_str().unwrap().contains("no slot found"),
        "{error}"
    );
}

//! The contract failures of the specification (section 7), each through every way of running a
//! swap.

use alloy::{
    network::TransactionBuilder,
    primitives::{Address, Bytes, U256},
    providers::Provider,
    rpc::types::TransactionRequest,
    sol_types::{SolCall, SolError},
};
use tetrad_contracts::contracts::bindings::{PriceOracle, Token, TokenErrors, Vault, VaultErrors};

use crate::support::{
    TestNode,
    chain::{ORACLE, VAULT, token, units},
    node,
};

fn call(from: &str, to: &str, amount: U256, least: U256) -> Vault::swapExactTokensForTokensCall {
    Vault::swapExactTokensForTokensCall {
        _tokenIn: token(from).address,
        _tokenOut: token(to).address,
        _amountIn: amount,
        _minAmountOut: least,
    }
}

/// The balances of a user and of the vault.
async fn balances(node: &TestNode, tokens: [Address; 2], user: Address) -> Vec<U256> {
    let mut balances = Vec::new();
    for token in tokens {
        for account in [user, VAULT] {
            balances.push(node.view(token, Token::balanceOfCall { account }).await);
        }
    }
    balances
}

/// The revert data of a swap, which must be the same for `eth_call`, `eth_estimateGas` and a
/// transaction, and the transaction must change nothing.
async fn refused(node: &TestNode, swap: Vault::swapExactTokensForTokensCall) -> Bytes {
    let user = node.signer(0);
    let provider = node.provider(user.clone());
    let tokens = [swap._tokenIn, swap._tokenOut];
    let before = balances(node, tokens, user.address()).await;

    let request = TransactionRequest::default()
        .with_from(user.address())
        .with_to(VAULT)
        .with_input(swap.abi_encode());

    let called = provider
        .call(request.clone())
        .await
        .expect_err("the call reverts");
    let estimated = provider
        .estimate_gas(request.clone())
        .await
        .expect_err("the estimate reverts");
    let sent = provider
        .send_transaction(request.clone())
        .await
        .expect_err("sending needs an estimate");
    let data = [called, estimated, sent].map(|error| {
        let payload = error.as_error_resp().unwrap_or_else(|| panic!("{error}"));
        assert_eq!(payload.code, 3, "{payload}");
        assert!(
            payload.message.starts_with("execution reverted"),
            "{payload}"
        );
        payload.as_revert_data().expect("revert data")
    });
    assert_eq!(data[0], data[1]);
    assert_eq!(data[0], data[2]);

    let receipt = node.send_anyway(&user, VAULT, swap).await;
    assert!(!receipt.status());
    assert!(receipt.inner.logs().is_empty());
    assert_eq!(balances(node, tokens, user.address()).await, before);
    data[0].clone()
}

#[tokio::test]
async fn a_swap_without_approval_is_refused() {
    let node = node().await;
    let amount = units(&token("WETH"), 1);
    let data = refused(&node, call("WETH", "USDC", amount, U256::ZERO)).await;
    let error =
        TokenErrors::ERC20InsufficientAllowance::abi_decode(&data).expect("the token's error");
    assert_eq!(
        (error.spender, error.allowance, error.needed),
        (VAULT, U256::ZERO, amount)
    );
    node.end().await;
}

#[tokio::test]
async fn less_than_the_minimum_is_refused() {
    let node = node().await;
    let amount = units(&token("WETH"), 1);
    let approve = Token::approveCall {
        spender: VAULT,
        value: amount,
    };
    node.send(&node.signer(0), token("WETH").address, approve)
        .await;
    let least = units(&token("USDC"), 4_000);
    let data = refused(&node, call("WETH", "USDC", amount, least)).await;
    let error =
        VaultErrors::InsufficientOutputAmount::abi_decode(&data).expect("the vault's error");
    assert_eq!(error.minAmountOut, least);
    let from = token("WETH").address;
    let to = token("USDC").address;
    let quote = node
        .view(
            VAULT,
            Vault::quoteSwapCall {
                tokenIn: from,
                tokenOut: to,
                amountIn: amount,
            },
        )
        .await;
    assert_eq!(error.amountOut, quote.amountOut);
    node.end().await;
}

#[tokio::test]
async fn more_than_the_vault_holds_is_refused() {
    let node = node().await;
    let reserve = node
        .view(
            VAULT,
            Vault::reservesCall {
                token: token("WBTC").address,
            },
        )
        .await;
    let data = refused(
        &node,
        call(
            "USDC",
            "WBTC",
            units(&token("USDC"), 20_000_000),
            U256::ZERO,
        ),
    )
    .await;
    let error = VaultErrors::InsufficientLiquidity::abi_decode(&data).expect("the vault's error");
    assert_eq!(error.available, reserve);
    assert!(error.needed > reserve);
    node.end().await;
}

#[tokio::test]
async fn a_swap_with_too_much_price_impact_is_refused_and_its_parts_are_not() {
    let node = node().await;
    let usdc = token("USDC");
    let wbtc = token("WBTC");
    let data = refused(
        &node,
        call("USDC", "WBTC", units(&usdc, 1_500_000), U256::ZERO),
    )
    .await;
    let error = VaultErrors::PriceImpactTooHigh::abi_decode(&data).expect("the vault's error");
    assert_eq!(
        (error.impactBps, error.maxImpactBps),
        (U256::from(1_500), U256::from(1_000))
    );

    // The remedy of the specification: smaller swaps.
    let user = node.signer(0);
    let part = units(&usdc, 100_000);
    node.send(
        &user,
        usdc.address,
        Token::approveCall {
            spender: VAULT,
            value: part * U256::from(2),
        },
    )
    .await;
    for _ in 0..2 {
        assert!(
            node.send(&user, VAULT, call("USDC", "WBTC", part, U256::ZERO))
                .await
                .status()
        );
    }
    assert!(node.balance(&wbtc, user.address()).await > units(&wbtc, 12));
    node.end().await;
}

#[tokio::test]
async fn stale_prices_are_refused() {
    let node = node().await;
    // From now on the oracle accepts updates from the zero address only.
    let call_updater = PriceOracle::setUpdaterCall {
        newUpdater: alloy::primitives::Address::ZERO,
    };
    assert!(
        node.send(&node.treasury(), ORACLE, call_updater)
            .await
            .status()
    );
    node.let_prices_age().await;
    node.increase_time(601).await;
    node.mine().await;
    let data = refused(
        &node,
        call("WETH", "USDC", units(&token("WETH"), 1), U256::ZERO),
    )
    .await;
    assert!(VaultErrors::StalePrice::abi_decode(&data).is_ok(), "{data}");
    node.end().await;
}

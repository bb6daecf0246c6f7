//! A day in the life: a lender, a borrower, a trader and a liquidator on one live node over seven
//! simulated weeks.
//!
//! After every step, all interfaces are compared: REST bodies with the contracts' views, WebSocket
//! frames with the oracle, and every token's balances with its supply, to the last unit.

mod ledger;
mod stage;

use alloy::primitives::U256;
use serde_json::json;
use tetrad_contracts::contracts::bindings::{LendingLens, LendingPool, Token, Vault};

use self::stage::{Actor, Stage};
use crate::support::{
    chain::{token, units},
    decimal,
};

const DAY: u64 = 86_400;

#[tokio::test]
async fn balances_and_interfaces_agree_over_seven_weeks() {
    let mut stage = Stage::set().await;
    let usdc = token("USDC");
    let weth = token("WETH");
    let wbtc = token("WBTC");
    stage.check().await;

    // The first day: a deposit, a loan against ether, and a swap.
    stage
        .lend(Actor::Lender, &usdc, units(&usdc, 100_000))
        .await;
    stage.lend(Actor::Lender, &wbtc, units(&wbtc, 1)).await;
    stage.lend(Actor::Borrower, &weth, units(&weth, 20)).await;
    stage
        .borrow(Actor::Borrower, &usdc, units(&usdc, 40_000))
        .await;
    stage
        .swap(Actor::Trader, &usdc, &weth, units(&usdc, 12_345))
        .await;

    // Weeks pass. The borrower pays on time, the trader swaps, prices move.
    for week in 1..=4u64 {
        stage.pass(7 * DAY).await;
        stage
            .price(&weth, 351_235_000_000 + week * 1_000_000_007)
            .await;

        stage
            .act(
                Actor::Borrower,
                LendingPool::repayCall {
                    asset: usdc.address,
                    amount: units(&usdc, 4_500),
                },
            )
            .await;
        stage.record(Actor::Borrower, "repay");

        stage
            .swap(
                Actor::Trader,
                &weth,
                &wbtc,
                units(&weth, week) / U256::from(3),
            )
            .await;
        stage.check().await;
    }

    let score = stage
        .node
        .get_json(&format!(
            "/api/user/{}/score",
            stage.address(Actor::Borrower)
        ))
        .await;
    assert!(
        score["components"]["payments"]["onTime"].as_u64() >= Some(1),
        "{score}"
    );
    assert!(score["creditScore"].as_u64() > Some(350), "{score}");

    // The lender transfers a part of the claim, as a token.
    let receipt = Token::transferCall {
        to: stage.address(Actor::Trader),
        value: units(&usdc, 5_000),
    };
    stage.call(Actor::Lender, usdc.receipt, receipt).await;
    stage.record(Actor::Lender, "transfer");
    stage.record(Actor::Trader, "transfer");
    stage.check().await;

    // Ether falls by more than half: the borrower is liquidated, and the rest of the position stays
    // consistent.
    stage.price(&weth, 126_000_000_000).await;
    let positions = stage
        .node
        .get_json(&format!(
            "/api/user/{}/positions",
            stage.address(Actor::Borrower)
        ))
        .await;
    assert!(decimal(&positions["healthFactor"]) < 1.0, "{positions}");

    let quote = LendingLens::quoteLiquidationCall {
        borrower: stage.address(Actor::Borrower),
        debtAsset: usdc.address,
        collateralAsset: weth.address,
        amount: U256::MAX,
    };
    let quoted = stage.node.view(stage.lens(), quote).await;
    let before = stage
        .node
        .balance(&weth, stage.address(Actor::Liquidator))
        .await;

    let liquidation = LendingPool::liquidateCall {
        borrower: stage.address(Actor::Borrower),
        debtAsset: usdc.address,
        collateralAsset: weth.address,
        amount: U256::MAX,
        inKind: false,
    };
    stage.act(Actor::Liquidator, liquidation).await;
    stage.record(Actor::Liquidator, "liquidation");
    stage.record(Actor::Borrower, "liquidation");

    let gained = stage
        .node
        .balance(&weth, stage.address(Actor::Liquidator))
        .await
        - before;
    assert!(
        gained > U256::ZERO
            && gained.abs_diff(quoted.received) < units(&weth, 1) / U256::from(1_000)
    );
    stage.check().await;

    // Two more weeks, and all positions are closed.
    stage.pass(14 * DAY).await;
    stage.price(&weth, 180_000_000_000).await;
    stage
        .act(
            Actor::Borrower,
            LendingPool::repayCall {
                asset: usdc.address,
                amount: U256::MAX,
            },
        )
        .await;

    stage.record(Actor::Borrower, "repay");
    stage
        .act(
            Actor::Borrower,
            LendingPool::withdrawCall {
                asset: weth.address,
                amount: U256::MAX,
            },
        )
        .await;
    stage.record(Actor::Borrower, "withdraw");

    for asset in [usdc.address, wbtc.address] {
        stage
            .act(
                Actor::Lender,
                LendingPool::withdrawCall {
                    asset,
                    amount: U256::MAX,
                },
            )
            .await;
        stage.record(Actor::Lender, "withdraw");
    }

    stage
        .act(
            Actor::Trader,
            LendingPool::withdrawCall {
                asset: usdc.address,
                amount: U256::MAX,
            },
        )
        .await;
    stage.record(Actor::Trader, "withdraw");
    stage.check().await;

    // The lender has earned, the borrower has paid, and the pool owes neither anything.
    let lender = stage
        .node
        .balance(&usdc, stage.address(Actor::Lender))
        .await;
    let trader = stage
        .node
        .balance(&usdc, stage.address(Actor::Trader))
        .await;

    let start = units(&usdc, usdc.development_balance);
    assert!(lender + units(&usdc, 5_000) > start, "interest: {lender}");
    assert!(
        trader > start - units(&usdc, 12_345) + units(&usdc, 5_000),
        "interest on the transferred claim: {trader}"
    );

    for actor in Actor::ALL {
        let user = stage
            .node
            .get_json(&format!("/api/user/{}", stage.address(actor)))
            .await;
        assert_eq!(user["amountBorrowed"], "0.0", "{actor:?}");
    }

    // A swap that the vault refuses has no effect.
    let too_much = Vault::swapExactTokensForTokensCall {
        _tokenIn: wbtc.address,
        _tokenOut: usdc.address,
        _amountIn: units(&wbtc, 10),
        _minAmountOut: U256::MAX,
    };

    let signer = stage.signer(Actor::Trader);
    assert!(
        !stage
            .node
            .send_anyway(&signer, crate::support::chain::VAULT, too_much)
            .await
            .status()
    );
    stage.check().await;
    stage.check_histories().await;

    let swaps = stage.node.get_json("/api/swaps").await;
    assert_eq!((&swaps["count"], &swaps["next"]), (&5.into(), &json!(null)));
    stage.end().await;
}

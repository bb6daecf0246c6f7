//! Borrowing against collateral, and repayment.

use alloy_primitives::{Bytes, U256};
use alloy_sol_types::SolError;
use tetrad_contracts::contracts::bindings::{
    AccountView, LendingPool, LendingPoolErrors, Token, TokenErrors,
};

use super::{
    bench::refusal,
    network::{ALICE, BOB, Network, OWNER, POOL, WHALE},
    tokens::TokenInfo,
};

/// Alice with ten thousand dollars of USDC in a pool with plenty of every asset.
fn with_collateral() -> Network {
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    network.deposit(ALICE, usdc, usdc.worth(10_000)).unwrap();
    network
}

#[test]
fn a_loan_is_paid_out_and_owed() {
    let mut network = with_collateral();
    let weth = TokenInfo::of("WETH");
    let before = network.balance_of(weth.address, ALICE);
    let amount = weth.unit();
    let receipt = network.borrow(ALICE, weth, amount).unwrap();
    let event = LendingPool::Borrow {
        asset: weth.address,
        user: ALICE,
        amount,
    };
    assert_eq!(receipt.event::<LendingPool::Borrow>(), event);
    assert_eq!(network.balance_of(weth.address, ALICE), before + amount);
    let view = network.account(ALICE);
    assert_eq!(view.debtUsd, U256::from(weth.price_usd_e8));
    assert_eq!(
        view.positions
            .iter()
            .find(|position| position.asset == weth.address)
            .unwrap()
            .debt,
        amount
    );
    assert!(
        receipt.output.is_empty(),
        "the published function returns nothing"
    );
}

#[test]
fn the_available_amount_can_be_borrowed_to_the_last_unit() {
    let mut network = with_collateral();
    let usdt = TokenInfo::of("USDT");
    // A score of 350 by the collateral alone; 7136 basis points of ten thousand dollars.
    let view = network.account(ALICE);
    assert_eq!(view.score, U256::from(350));
    assert_eq!(view.availableUsd, U256::from(713_600_000_000_u64));
    let all = usdt.worth(7_136);
    let refused = network
        .borrow(ALICE, usdt, all + U256::from(1))
        .unwrap_err();
    let debtUsd = view.availableUsd + U256::from(100);
    let error = LendingPoolErrors::BorrowingPowerExceeded {
        debtUsd,
        borrowingPowerUsd: view.borrowingPowerUsd,
    };
    assert_eq!(refused, refusal(error));
    network.borrow(ALICE, usdt, all).unwrap();
    let view = network.account(ALICE);
    assert_eq!(view.availableUsd, U256::ZERO);
    assert!(
        view.healthFactorBps > U256::from(12_000),
        "the largest loan is still far from liquidation"
    );
}

#[test]
fn collateral_in_use_cannot_be_withdrawn() {
    let mut network = with_collateral();
    let usdc = TokenInfo::of("USDC");
    let usdt = TokenInfo::of("USDT");
    network.borrow(ALICE, usdt, usdt.worth(3_500)).unwrap();
    let refused = network
        .withdraw(ALICE, usdc, usdc.worth(6_000))
        .unwrap_err();
    assert_eq!(
        refused[..4],
        LendingPoolErrors::BorrowingPowerExceeded::SELECTOR
    );
    network.withdraw(ALICE, usdc, usdc.worth(4_000)).unwrap();
    network.repay(ALICE, usdt, U256::MAX).unwrap();
    network.withdraw(ALICE, usdc, U256::MAX).unwrap();
}

#[test]
fn a_loan_requires_collateral() {
    let mut network = Network::funded();
    let weth = TokenInfo::of("WETH");
    let refused = network.borrow(BOB, weth, U256::from(1)).unwrap_err();
    let debtUsd = U256::from(1);
    let borrowingPowerUsd = U256::ZERO;
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::BorrowingPowerExceeded {
            debtUsd,
            borrowingPowerUsd
        })
    );
}

#[test]
fn the_pool_lends_no_more_than_its_cash() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");
    network.deposit(WHALE, usdc, U256::from(100)).unwrap();
    network.deposit(ALICE, weth, weth.worth(10_000)).unwrap();
    let refused = network.borrow(ALICE, usdc, U256::from(101)).unwrap_err();
    let needed = U256::from(101);
    let available = U256::from(100);
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::InsufficientLiquidity { needed, available })
    );
    network.borrow(ALICE, usdc, U256::from(100)).unwrap();
}

#[test]
fn a_repayment_is_limited_to_the_debt() {
    let mut network = with_collateral();
    let usdt = TokenInfo::of("USDT");
    let refused = network.repay(ALICE, usdt, U256::MAX).unwrap_err();
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::NothingOwed {
            asset: usdt.address,
            user: ALICE
        })
    );

    let before = network.balance_of(usdt.address, ALICE);
    network.borrow(ALICE, usdt, usdt.worth(1_000)).unwrap();
    let amount = usdt.worth(400);
    let receipt = network.repay(ALICE, usdt, amount).unwrap();
    assert_eq!(
        receipt.event::<LendingPool::Repay>(),
        LendingPool::Repay {
            asset: usdt.address,
            user: ALICE,
            amount
        }
    );
    let receipt = network.repay(ALICE, usdt, U256::MAX).unwrap();
    assert_eq!(
        receipt.event::<LendingPool::Repay>().amount,
        usdt.worth(600)
    );
    assert_eq!(network.balance_of(usdt.address, ALICE), before);
    assert_eq!(network.account(ALICE).debtUsd, U256::ZERO);
}

fn debt(view: &AccountView, token: TokenInfo) -> U256 {
    view.positions
        .iter()
        .find(|position| position.asset == token.address)
        .unwrap()
        .debt
}

#[test]
fn borrowing_and_repaying_at_once_gains_nothing() {
    let mut network = with_collateral();
    let uni = TokenInfo::of("UNI");
    network.borrow(ALICE, uni, uni.worth(500)).unwrap();
    network.wait(86_400);

    for amount in [1_u64, 3, 1_000, 999_999_999_999] {
        let before = network.balance_of(uni.address, ALICE);
        let owed = debt(&network.account(ALICE), uni);

        network.borrow(ALICE, uni, U256::from(amount)).unwrap();
        network.repay(ALICE, uni, U256::from(amount)).unwrap();

        assert_eq!(network.balance_of(uni.address, ALICE), before);
        assert!(debt(&network.account(ALICE), uni) >= owed);
    }
}

#[test]
fn an_unapproved_repayment_reverts_with_the_tokens_error() {
    let mut network = with_collateral();
    let usdt = TokenInfo::of("USDT");
    network.borrow(ALICE, usdt, U256::from(10)).unwrap();
    network.approve(ALICE, usdt.address, POOL, U256::from(9));
    let refused = network.repay(ALICE, usdt, U256::MAX).unwrap_err();
    let allowance = U256::from(9);
    let needed = U256::from(10);
    assert_eq!(
        refused,
        refusal(TokenErrors::ERC20InsufficientAllowance {
            spender: POOL,
            allowance,
            needed
        })
    );
}

fn loan_too_small(debt_usd: u64, least_usd: U256) -> Bytes {
    refusal(LendingPoolErrors::LoanTooSmall {
        debtUsd: U256::from(debt_usd),
        leastLoanUsd: least_usd,
    })
}

#[test]
fn a_loan_has_a_minimum_value_but_a_repayment_may_leave_less() {
    let mut network = with_collateral();
    let usdt = TokenInfo::of("USDT");
    let weth = TokenInfo::of("WETH");

    let usd = U256::from(1_000_000_000);
    let receipt = network
        .send(OWNER, POOL, LendingPool::setLeastLoanCall { usd })
        .unwrap();
    let event = LendingPool::LeastLoanChanged {
        previousUsd: U256::ZERO,
        newUsd: usd,
    };
    assert_eq!(receipt.event::<LendingPool::LeastLoanChanged>(), event);
    assert_eq!(network.look(POOL, LendingPool::leastLoanUsdCall {}), usd);

    let refused = network
        .borrow(ALICE, usdt, usdt.worth(10) - U256::from(1))
        .unwrap_err();
    assert_eq!(refused, loan_too_small(999_999_900, usd));
    network.borrow(ALICE, usdt, usdt.worth(10)).unwrap();

    // The asset's whole debt counts, not the loan, but each asset separately.
    network.borrow(ALICE, usdt, U256::from(1)).unwrap();
    assert_eq!(
        network.borrow(ALICE, weth, weth.worth(9)).unwrap_err()[..4],
        LendingPoolErrors::LoanTooSmall::SELECTOR
    );

    // Every repayment is accepted, whatever it leaves.
    network.repay(ALICE, usdt, usdt.worth(4)).unwrap();
    assert_eq!(
        network.borrow(ALICE, usdt, usdt.worth(3)).unwrap_err(),
        loan_too_small(900_000_100, usd)
    );

    network.borrow(ALICE, usdt, usdt.worth(4)).unwrap();
    network.repay(ALICE, usdt, usdt.worth(10)).unwrap();
    network.repay(ALICE, usdt, U256::MAX).unwrap();
}

pub(super) fn stale(token: TokenInfo) -> Bytes {
    refusal(LendingPoolErrors::StalePrice {
        asset: token.address,
    })
}

/// A liquidation of Alice's debt by any sender.
fn liquidation(debt: TokenInfo, collateral: TokenInfo, amount: U256) -> LendingPool::liquidateCall {
    LendingPool::liquidateCall {
        borrower: ALICE,
        debtAsset: debt.address,
        collateralAsset: collateral.address,
        amount,
        inKind: false,
    }
}

#[test]
fn stale_prices_prevent_only_operations_that_depend_on_them() {
    let mut network = with_collateral();
    let usdc = TokenInfo::of("USDC");
    let usdt = TokenInfo::of("USDT");
    let weth = TokenInfo::of("WETH");

    network.borrow(ALICE, usdt, usdt.worth(100)).unwrap();
    network.deposit(BOB, usdc, usdc.worth(100)).unwrap();
    network.warp(601);

    let small = U256::from(1_000);
    let give = Token::transferCall {
        to: BOB,
        value: small,
    };
    let liquidate = liquidation(usdt, usdc, small);

    // The account's first stale asset is named; USDT comes before USDC.
    assert_eq!(network.borrow(ALICE, usdt, small).unwrap_err(), stale(usdt));
    assert_eq!(
        network.withdraw(ALICE, usdc, small).unwrap_err(),
        stale(usdt)
    );
    assert_eq!(
        network
            .send(ALICE, usdc.p_token(), give.clone())
            .unwrap_err(),
        stale(usdt)
    );
    assert_eq!(network.send(BOB, POOL, liquidate).unwrap_err(), stale(usdt));
    assert_eq!(
        network
            .send(BOB, POOL, LendingPool::writeOffCall { user: ALICE })
            .unwrap_err(),
        stale(usdc)
    );

    network.deposit(ALICE, usdc, small).unwrap();
    network.repay(ALICE, usdt, small).unwrap();
    network.withdraw(BOB, usdc, small).unwrap();
    network.send(BOB, usdc.p_token(), give).unwrap();
    network
        .send(BOB, POOL, LendingPool::refreshCall { user: ALICE })
        .unwrap();

    // One stale price is enough: that of the debt or of the asset to borrow.
    for (fresh, missing) in [([usdc, usdt], weth), ([usdc, weth], usdt)] {
        let mut network = network.twin();
        network.renew(&fresh);
        assert_eq!(
            network.borrow(ALICE, weth, small).unwrap_err(),
            stale(missing)
        );
    }
}

fn set_paused(token: TokenInfo, paused: bool) -> LendingPool::setPausedCall {
    LendingPool::setPausedCall {
        asset: token.address,
        paused,
    }
}

fn paused(token: TokenInfo) -> Bytes {
    refusal(LendingPoolErrors::AssetPaused {
        asset: token.address,
    })
}

#[test]
fn a_paused_asset_can_only_be_repaid() {
    let mut network = with_collateral();
    let usdc = TokenInfo::of("USDC");
    let usdt = TokenInfo::of("USDT");
    network.borrow(ALICE, usdt, usdt.worth(100)).unwrap();
    network.deposit(ALICE, usdt, usdt.worth(100)).unwrap();
    for token in [usdt, usdc] {
        let receipt = network.send(OWNER, POOL, set_paused(token, true)).unwrap();
        let event = LendingPool::PausedChanged {
            asset: token.address,
            paused: true,
        };
        assert_eq!(receipt.event::<LendingPool::PausedChanged>(), event);
    }

    let small = U256::from(1_000);
    assert_eq!(
        network.deposit(ALICE, usdt, small).unwrap_err(),
        paused(usdt)
    );
    assert_eq!(
        network.withdraw(ALICE, usdt, small).unwrap_err(),
        paused(usdt)
    );
    assert_eq!(
        network.borrow(ALICE, usdt, small).unwrap_err(),
        paused(usdt)
    );

    let give = Token::transferCall {
        to: BOB,
        value: small,
    };
    assert_eq!(
        network.send(ALICE, usdt.p_token(), give).unwrap_err(),
        paused(usdt)
    );

    assert_eq!(
        network
            .send(BOB, POOL, liquidation(usdt, usdc, small))
            .unwrap_err(),
        paused(usdt)
    );

    // A pause of the collateral is enough to prevent a liquidation.
    network.send(OWNER, POOL, set_paused(usdt, false)).unwrap();
    assert_eq!(
        network
            .send(BOB, POOL, liquidation(usdt, usdc, small))
            .unwrap_err(),
        paused(usdc)
    );

    network.send(OWNER, POOL, set_paused(usdt, true)).unwrap();
    network.repay(ALICE, usdt, U256::MAX).unwrap();
}

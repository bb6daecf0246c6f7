//! The effect of a liquidation on a credit history, and edge cases.

use alloy_primitives::U256;
use alloy_sol_types::SolError;
use tetrad_contracts::contracts::bindings::{LendingLens, LendingPool, LendingPoolErrors};

use super::{DAY, DOLLAR, in_debt, liquidate, terms};
use crate::contracts::{
    network::{ALICE, BOB, LENS, Network, OWNER, POOL},
    tokens::TokenInfo,
};

fn penalty(network: &mut Network) -> u64 {
    network
        .look(LENS, LendingLens::getScoreCall { user: ALICE })
        .penalty
        .to()
}

#[test]
fn a_liquidation_costs_the_borrower_points_once_a_day() {
    let mut network = in_debt();
    network.set_price(TokenInfo::of("WETH"), 1_400 * DOLLAR);

    for _ in 0..3 {
        liquidate(&mut network, U256::from(1_000_000), false).unwrap();
        assert_eq!(penalty(&mut network), 100);
    }

    network.wait(DAY - 1);
    liquidate(&mut network, U256::from(1_000_000), false).unwrap();
    assert_eq!(penalty(&mut network), 100);

    network.wait(1);
    liquidate(&mut network, U256::from(1_000_000), false).unwrap();
    assert_eq!(
        penalty(&mut network),
        199,
        "a day's worth of the first has faded"
    );
}

#[test]
fn the_penalty_has_a_ceiling() {
    let mut network = in_debt();
    network.set_price(TokenInfo::of("WETH"), 1_400 * DOLLAR);
    for _ in 0..8 {
        liquidate(&mut network, U256::from(1_000_000), false).unwrap();
        network.wait(DAY);
    }
    let view = network.look(LENS, LendingLens::getScoreCall { user: ALICE });
    assert_eq!(view.penalty, U256::from(550));
}

#[test]
fn a_liquidation_can_end_a_term() {
    let mut network = in_debt();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    network.set_price(weth, 1_340 * DOLLAR);
    liquidate(&mut network, usdc.worth(20_000), false).unwrap();
    let view = network.look(LENS, LendingLens::getScoreCall { user: ALICE });
    assert_eq!((view.dueAt, view.late), (U256::ZERO, false));
    assert_eq!(
        view.onTimePayments,
        U256::ZERO,
        "another account's payment earns nothing"
    );
    network.withdraw(ALICE, weth, U256::MAX).unwrap();
}

#[test]
fn debt_and_collateral_can_be_the_same_asset() {
    let mut network = Network::funded();
    let uni = TokenInfo::of("UNI");
    network.deposit(ALICE, uni, uni.worth(10_000)).unwrap();
    network.borrow(ALICE, uni, uni.worth(4_590)).unwrap();
    network.wait(5 * 365 * DAY);

    let mut call = LendingPool::liquidateCall {
        borrower: ALICE,
        debtAsset: uni.address,
        collateralAsset: uni.address,
        amount: uni.worth(100),
        inKind: false,
    };

    // At a low utilisation the debt takes decades to outgrow its collateral; the test lowers the
    // threshold instead.
    let mut parameters = uni.parameters();
    (
        parameters.minLtvBps,
        parameters.maxLtvBps,
        parameters.liquidationThresholdBps,
    ) = (1_000, 1_000, 2_000);
    let weaken = LendingPool::setParametersCall {
        asset: uni.address,
        parameters,
    };
    network.send(OWNER, POOL, weaken).unwrap();

    for in_kind in [false, true] {
        call.inKind = in_kind;
        let (repaid, seized, fee) = terms(&network.send(BOB, POOL, call.clone()).unwrap());
        assert_eq!(repaid, uni.worth(100));
        assert_eq!(seized, repaid * U256::from(11) / U256::from(10));
        assert_eq!(fee, (seized / U256::from(11)).div_ceil(U256::from(10)));
    }
}

/// Alice's tokens in the pool and outside.
fn owned(network: &mut Network, token: TokenInfo) -> U256 {
    network.balance_of(token.p_token(), ALICE) + network.balance_of(token.address, ALICE)
}

#[test]
fn liquidating_ones_own_account_gains_nothing() {
    let mut network = in_debt();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    network.set_price(weth, 1_390 * DOLLAR);

    for in_kind in [false, true] {
        let call = LendingPool::liquidateCall {
            borrower: ALICE,
            debtAsset: usdc.address,
            collateralAsset: weth.address,
            amount: usdc.worth(1_000),
            inKind: in_kind,
        };

        let before = owned(&mut network, weth);
        let (_, _, fee) = terms(&network.send(ALICE, POOL, call).unwrap());
        assert!(fee > U256::ZERO);
        assert_eq!(
            owned(&mut network, weth),
            before - fee,
            "the treasury's part is lost"
        );
    }

    let refused = network.withdraw(ALICE, weth, U256::from(1)).unwrap_err();
    assert_eq!(
        refused[..4],
        LendingPoolErrors::BorrowingPowerExceeded::SELECTOR
    );
}

//! The part of a debt that one liquidation can repay.

use alloy_primitives::U256;

use super::{DOLLAR, in_debt, liquidate, milli, terms};
use crate::contracts::{
    network::{ALICE, Network},
    tokens::TokenInfo,
};

#[test]
fn at_most_half_of_a_debt_is_liquidated_at_once() {
    let mut network = in_debt();
    network.set_price(TokenInfo::of("WETH"), 1_400 * DOLLAR);
    let receipt = liquidate(&mut network, U256::MAX, false).unwrap();
    assert_eq!(terms(&receipt).0, TokenInfo::of("USDC").worth(6_000));
}

#[test]
fn a_debt_of_low_health_is_liquidated_completely() {
    let usdc = TokenInfo::of("USDC");
    // 12,000 dollars at a health of 0.95 are covered by 13,411.76 dollars of collateral.
    for (price, expected) in [(134_117_647_059_u64, 6_000), (134_117_647_058, 12_000)] {
        let mut network = in_debt();
        network.set_price(TokenInfo::of("WETH"), price);
        let receipt = liquidate(&mut network, U256::MAX, false).unwrap();
        assert_eq!(terms(&receipt).0, usdc.worth(expected), "at {price}");
    }
}

#[test]
fn a_small_debt_is_liquidated_completely() {
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    for (owed, expected) in [
        (2_000_000_000_u64, 1_000_000_000_u64),
        (1_999_999_999, 1_999_999_999),
    ] {
        let mut network = Network::funded();
        network.set_price(weth, 2_000 * DOLLAR);
        network
            .deposit(ALICE, weth, weth.unit() * U256::from(2))
            .unwrap();
        network.borrow(ALICE, usdc, U256::from(owed)).unwrap();
        network.set_price(weth, 117_000_000_000);
        let receipt = liquidate(&mut network, U256::MAX, false).unwrap();
        assert_eq!(terms(&receipt).0, U256::from(expected));
    }
}

#[test]
fn a_small_collateral_is_seized_completely() {
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    let usdt = TokenInfo::of("USDT");
    // The WETH is worth 2,000 dollars, or slightly less; the health is 0.97 in both cases.
    for (price, at_once) in [(100_000_000_000_u64, false), (99_999_999_999, true)] {
        let mut network = Network::funded();
        network.set_price(weth, 2_000 * DOLLAR);
        network
            .deposit(ALICE, weth, weth.unit() * U256::from(2))
            .unwrap();
        network.deposit(ALICE, usdt, usdt.worth(1_344)).unwrap();
        network.borrow(ALICE, usdc, usdc.worth(3_000)).unwrap();
        network.set_price(weth, price);
        let (repaid, seized, _) = terms(&liquidate(&mut network, U256::MAX, false).unwrap());
        if at_once {
            assert_eq!(seized, weth.unit() * U256::from(2));
        } else {
            assert_eq!(
                (repaid, seized),
                (usdc.worth(1_500), milli() * U256::from(1_575))
            );
        }
    }
}

#[test]
fn collateral_limits_the_repayment() {
    let mut network = in_debt();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    network.set_price(weth, 525 * DOLLAR);
    let receipt = liquidate(&mut network, U256::MAX, false).unwrap();
    // Ten WETH at 525 dollars pay for 5,000 dollars of debt and the bonus.
    let (repaid, seized, fee) = terms(&receipt);
    assert_eq!(repaid, usdc.worth(5_000));
    assert_eq!(seized, weth.unit() * U256::from(10));
    assert_eq!(fee, seized / U256::from(210));
}

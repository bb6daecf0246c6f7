//! Liquidation: when, how much, for what, and what is left.

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolError;

use super::{
    abi::Token,
    abi_lending::{LendingLens, LendingPool, PoolErrors, PoolEvents},
    bench::{Receipt, refusal},
    network::{ALICE, BOB, LENS, Network, OWNER, POOL, TokenInfo, WHALE},
};

const DAY: u64 = 86_400;
/// What one dollar of price is.
const DOLLAR: u64 = 100_000_000;

/// Alice supplies ten WETH, worth 2,000 dollars each so that sums are round, and owes 12,000 dollars of USDC.
fn in_debt() -> Network {
    let mut network = Network::funded();
    let (weth, usdc) = (TokenInfo::of("WETH"), TokenInfo::of("USDC"));
    network.set_price(weth, 2_000 * DOLLAR);
    network.deposit(ALICE, weth, weth.unit() * U256::from(10)).unwrap();
    network.borrow(ALICE, usdc, usdc.worth(12_000)).unwrap();
    network
}

/// Liquidates, and holds the lens to what it promised before.
fn liquidate(network: &mut Network, amount: U256, in_kind: bool) -> Result<Receipt, Bytes> {
    let (debt, collateral) = (TokenInfo::of("USDC"), TokenInfo::of("WETH"));
    let promised = quote(network, debt, collateral, amount);
    let call = LendingPool::liquidateCall {
        borrower: ALICE,
        debtAsset: debt.address,
        collateralAsset: collateral.address,
        amount,
        inKind: in_kind,
    };
    let result = network.send(BOB, POOL, call);
    if let Ok(receipt) = &result {
        let (repaid, seized, fee) = terms(receipt);
        assert_eq!(promised, (repaid, seized - fee));
    }
    result
}

fn quote(network: &mut Network, debt: TokenInfo, collateral: TokenInfo, amount: U256) -> (U256, U256) {
    let (borrower, debtAsset, collateralAsset) = (ALICE, debt.address, collateral.address);
    let call = LendingLens::quoteLiquidationCall { borrower, debtAsset, collateralAsset, amount };
    let answer = network.look(LENS, call);
    (answer.repaid, answer.received)
}

fn terms(receipt: &Receipt) -> (U256, U256, U256) {
    let event = receipt.event::<PoolEvents::Liquidation>();
    (event.repaid, event.seized, event.fee)
}

fn health(network: &mut Network) -> U256 {
    network.look(LENS, LendingLens::getAccountCall { user: ALICE }).healthFactorBps
}

fn treasury(network: &mut Network, token: TokenInfo) -> U256 {
    network.look(POOL, LendingPool::getReserveCall { asset: token.address }).state.treasury
}

/// Ten to the power of fifteen: a thousandth of a WETH.
fn milli() -> U256 {
    U256::from(1_000_000_000_000_000_u64)
}

#[test]
fn a_covered_debt_is_left_alone() {
    let mut network = in_debt();
    let weth = TokenInfo::of("WETH");
    // At a threshold of 85 %, 12,000 dollars need 14,117.65 of collateral.
    network.set_price(weth, 141_176_470_589);
    assert_eq!(health(&mut network), U256::from(10_000));
    let refused = liquidate(&mut network, U256::from(1_000_000), false).unwrap_err();
    assert_eq!(refused, refusal(PoolErrors::NotLiquidatable { healthFactorBps: U256::from(10_000) }));
    network.set_price(weth, 141_176_470_580);
    assert_eq!(health(&mut network), U256::from(9_999));
    liquidate(&mut network, U256::from(1_000_000), false).unwrap();
}

#[test]
fn what_cannot_be_liquidated_is_quoted_as_nothing() {
    let mut network = in_debt();
    let [weth, usdc, wbtc, cro] = ["WETH", "USDC", "WBTC", "CRO"].map(TokenInfo::of);
    let nothing = (U256::ZERO, U256::ZERO);
    assert_eq!(quote(&mut network, usdc, weth, U256::MAX), nothing, "the debt is covered");
    network.deposit(ALICE, wbtc, U256::from(1)).unwrap();
    network.borrow(ALICE, cro, U256::from(1)).unwrap();
    network.set_price(weth, 1_400 * DOLLAR);
    assert_ne!(quote(&mut network, usdc, weth, U256::MAX), nothing);
    assert_eq!(quote(&mut network, weth, weth, U256::MAX), nothing, "there is no such debt");
    assert_eq!(quote(&mut network, usdc, usdc, U256::MAX), nothing, "there is no such collateral");
    assert_eq!(quote(&mut network, cro, wbtc, U256::from(1)), nothing, "it is too little for a unit of the collateral");
    network.warp(601);
    assert_eq!(quote(&mut network, usdc, weth, U256::MAX), nothing, "prices are stale");
}

#[test]
fn the_liquidator_is_paid_a_bonus_and_the_treasury_a_tenth_of_it() {
    let mut network = in_debt();
    let (weth, usdc) = (TokenInfo::of("WETH"), TokenInfo::of("USDC"));
    network.set_price(weth, 1_400 * DOLLAR);
    let before = [network.balance_of(usdc.address, BOB), network.balance_of(weth.address, BOB)];
    let receipt = liquidate(&mut network, usdc.worth(1_400), false).unwrap();
    // One WETH for 1,400 dollars, five per cent on top, and of these a tenth for the treasury.
    let (seized, fee) = (milli() * U256::from(1_050), milli() * U256::from(5));
    let event = PoolEvents::Liquidation {
        borrower: ALICE,
        debtAsset: usdc.address,
        collateralAsset: weth.address,
        liquidator: BOB,
        repaid: usdc.worth(1_400),
        seized,
        fee,
        inKind: false,
    };
    assert_eq!(receipt.event::<PoolEvents::Liquidation>(), event);
    let after = [network.balance_of(usdc.address, BOB), network.balance_of(weth.address, BOB)];
    assert_eq!(after, [before[0] - usdc.worth(1_400), before[1] + seized - fee]);
    assert_eq!(treasury(&mut network, weth), fee);
    assert_eq!(network.balance_of(weth.p_token(), ALICE), weth.unit() * U256::from(10) - seized);
    let burned = Token::Transfer { from: ALICE, to: Address::ZERO, value: seized };
    assert!(receipt.events::<Token::Transfer>().contains(&burned));
}

#[test]
fn the_claim_itself_can_be_taken_when_cash_is_short() {
    let mut network = in_debt();
    let (weth, usdc) = (TokenInfo::of("WETH"), TokenInfo::of("USDC"));
    // The whale leaves and Carol borrows what is left: not a single WETH in cash.
    network.withdraw(WHALE, weth, U256::MAX).unwrap();
    let carol = super::network::CAROL;
    network.deposit(carol, usdc, usdc.worth(100_000)).unwrap();
    network.borrow(carol, weth, weth.unit() * U256::from(10)).unwrap();
    network.set_price(weth, 1_400 * DOLLAR);
    let (seized, fee) = (milli() * U256::from(1_050), milli() * U256::from(5));
    let refused = liquidate(&mut network, usdc.worth(1_400), false).unwrap_err();
    let error = PoolErrors::InsufficientLiquidity { needed: seized - fee, available: U256::ZERO };
    assert_eq!(refused, refusal(error));

    let receipt = liquidate(&mut network, usdc.worth(1_400), true).unwrap();
    assert_eq!(terms(&receipt), (usdc.worth(1_400), seized, fee));
    assert_eq!(network.balance_of(weth.p_token(), BOB), seized - fee);
    assert_eq!(treasury(&mut network, weth), fee);
    let transfers = receipt.events::<Token::Transfer>();
    let moved = [
        Token::Transfer { from: ALICE, to: Address::ZERO, value: fee },
        Token::Transfer { from: ALICE, to: BOB, value: seized - fee },
    ];
    assert!(moved.iter().all(|transfer| transfers.contains(transfer)));
}

#[test]
fn half_of_a_debt_goes_at_a_time() {
    let mut network = in_debt();
    network.set_price(TokenInfo::of("WETH"), 1_400 * DOLLAR);
    let receipt = liquidate(&mut network, U256::MAX, false).unwrap();
    assert_eq!(terms(&receipt).0, TokenInfo::of("USDC").worth(6_000));
}

#[test]
fn deep_trouble_goes_at_once() {
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
fn a_small_debt_goes_at_once() {
    let (weth, usdc) = (TokenInfo::of("WETH"), TokenInfo::of("USDC"));
    for (owed, expected) in [(2_000_000_000_u64, 1_000_000_000_u64), (1_999_999_999, 1_999_999_999)] {
        let mut network = Network::funded();
        network.set_price(weth, 2_000 * DOLLAR);
        network.deposit(ALICE, weth, weth.unit() * U256::from(2)).unwrap();
        network.borrow(ALICE, usdc, U256::from(owed)).unwrap();
        network.set_price(weth, 117_000_000_000);
        let receipt = liquidate(&mut network, U256::MAX, false).unwrap();
        assert_eq!(terms(&receipt).0, U256::from(expected));
    }
}

#[test]
fn a_small_collateral_goes_at_once() {
    let (weth, usdc, usdt) = (TokenInfo::of("WETH"), TokenInfo::of("USDC"), TokenInfo::of("USDT"));
    // The WETH is worth 2,000 dollars, or just less; the health is 0.97 either way.
    for (price, at_once) in [(100_000_000_000_u64, false), (99_999_999_999, true)] {
        let mut network = Network::funded();
        network.set_price(weth, 2_000 * DOLLAR);
        network.deposit(ALICE, weth, weth.unit() * U256::from(2)).unwrap();
        network.deposit(ALICE, usdt, usdt.worth(1_344)).unwrap();
        network.borrow(ALICE, usdc, usdc.worth(3_000)).unwrap();
        network.set_price(weth, price);
        let (repaid, seized, _) = terms(&liquidate(&mut network, U256::MAX, false).unwrap());
        if at_once {
            assert_eq!(seized, weth.unit() * U256::from(2));
        } else {
            assert_eq!((repaid, seized), (usdc.worth(1_500), milli() * U256::from(1_575)));
        }
    }
}

#[test]
fn collateral_bounds_what_is_repaid() {
    let mut network = in_debt();
    let (weth, usdc) = (TokenInfo::of("WETH"), TokenInfo::of("USDC"));
    network.set_price(weth, 525 * DOLLAR);
    let receipt = liquidate(&mut network, U256::MAX, false).unwrap();
    // Ten WETH of 525 dollars pay for 5,000 dollars of debt and the bonus.
    let (repaid, seized, fee) = terms(&receipt);
    assert_eq!(repaid, usdc.worth(5_000));
    assert_eq!(seized, weth.unit() * U256::from(10));
    assert_eq!(fee, seized / U256::from(210));
}

#[test]
fn there_must_be_that_debt_and_that_collateral() {
    let mut network = in_debt();
    let [weth, usdc, wbtc] = ["WETH", "USDC", "WBTC"].map(|symbol| TokenInfo::of(symbol).address);
    network.set_price(TokenInfo::of("WETH"), 1_400 * DOLLAR);
    let call = |debt: Address, collateral: Address, amount: u64| LendingPool::liquidateCall {
        borrower: ALICE,
        debtAsset: debt,
        collateralAsset: collateral,
        amount: U256::from(amount),
        inKind: false,
    };
    let mut refused = |debt, collateral, amount| network.send(BOB, POOL, call(debt, collateral, amount)).unwrap_err();
    let owed = |asset| refusal(PoolErrors::NothingOwed { asset, user: ALICE });
    let supplied = |asset| refusal(PoolErrors::NothingSupplied { asset, user: ALICE });
    assert_eq!(refused(wbtc, weth, 1), owed(wbtc));
    assert_eq!(refused(weth, weth, 1), owed(weth));
    assert_eq!(refused(usdc, wbtc, 1), supplied(wbtc));
    assert_eq!(refused(usdc, usdc, 1), supplied(usdc));
    assert_eq!(refused(usdc, weth, 0), refusal(PoolErrors::ZeroAmount {}));
    assert_eq!(refused(BOB, weth, 1), refusal(PoolErrors::UnsupportedAsset { asset: BOB }));
    assert_eq!(refused(usdc, BOB, 1), refusal(PoolErrors::UnsupportedAsset { asset: BOB }));
}

#[test]
fn paying_for_nothing_is_refused() {
    let mut network = Network::funded();
    let (wbtc, cro) = (TokenInfo::of("WBTC"), TokenInfo::of("CRO"));
    network.deposit(ALICE, wbtc, U256::from(100_000)).unwrap();
    network.borrow(ALICE, cro, cro.worth(50)).unwrap();
    network.set_price(wbtc, wbtc.price_usd_e8 / 2);
    // A unit of CRO is worth far less than a unit of WBTC.
    let call = LendingPool::liquidateCall {
        borrower: ALICE,
        debtAsset: cro.address,
        collateralAsset: wbtc.address,
        amount: U256::from(1),
        inKind: false,
    };
    assert_eq!(network.send(BOB, POOL, call).unwrap_err(), refusal(PoolErrors::AmountTooSmall {}));
}

#[test]
fn it_costs_the_borrower_points_once_a_day() {
    let mut network = in_debt();
    let penalty =
        |network: &mut Network| network.look(LENS, LendingLens::getScoreCall { user: ALICE }).penalty.to::<u64>();
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
    assert_eq!(penalty(&mut network), 199, "a day's worth of the first has faded");
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
    let (weth, usdc) = (TokenInfo::of("WETH"), TokenInfo::of("USDC"));
    network.set_price(weth, 1_340 * DOLLAR);
    liquidate(&mut network, usdc.worth(20_000), false).unwrap();
    let view = network.look(LENS, LendingLens::getScoreCall { user: ALICE });
    assert_eq!((view.dueAt, view.late), (U256::ZERO, false));
    assert_eq!(view.onTimePayments, U256::ZERO, "somebody else's payment earns nothing");
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
    // At a low utilisation the debt takes long to outgrow its cover; a lower threshold stands in for the decades.
    let mut parameters = uni.parameters();
    (parameters.minLtvBps, parameters.maxLtvBps, parameters.liquidationThresholdBps) = (1_000, 1_000, 2_000);
    let weaken = LendingPool::setParametersCall { asset: uni.address, parameters };
    network.send(OWNER, POOL, weaken).unwrap();
    for in_kind in [false, true] {
        call.inKind = in_kind;
        let (repaid, seized, fee) = terms(&network.send(BOB, POOL, call.clone()).unwrap());
        assert_eq!(repaid, uni.worth(100));
        assert_eq!(seized, repaid * U256::from(11) / U256::from(10));
        assert_eq!(fee, (seized / U256::from(11)).div_ceil(U256::from(10)));
    }
}

#[test]
fn a_borrower_may_liquidate_the_own_account_without_gain() {
    let mut network = in_debt();
    let (weth, usdc) = (TokenInfo::of("WETH"), TokenInfo::of("USDC"));
    network.set_price(weth, 1_390 * DOLLAR);
    for in_kind in [false, true] {
        let call = LendingPool::liquidateCall {
            borrower: ALICE,
            debtAsset: usdc.address,
            collateralAsset: weth.address,
            amount: usdc.worth(1_000),
            inKind: in_kind,
        };
        let owned =
            |network: &mut Network| network.balance_of(weth.p_token(), ALICE) + network.balance_of(weth.address, ALICE);
        let before = owned(&mut network);
        let (_, _, fee) = terms(&network.send(ALICE, POOL, call).unwrap());
        assert!(fee > U256::ZERO);
        assert_eq!(owned(&mut network), before - fee, "the treasury's part is gone");
    }
    let refused = network.withdraw(ALICE, weth, U256::from(1)).unwrap_err();
    assert_eq!(refused[..4], PoolErrors::BorrowingPowerExceeded::SELECTOR);
}

//! Debts without any collateral left.

use alloy_primitives::{Address, U256};
use tetrad_contracts::contracts::bindings::{LendingLens, LendingPool, LendingPoolErrors};

use super::{
    bench::{Receipt, refusal},
    network::{ALICE, BOB, CAROL, LENS, Network, OWNER, POOL, WHALE},
    tokens::TokenInfo,
};

const DAY: u64 = 86_400;
const DOLLAR: u64 = 100_000_000;

fn liquidate(network: &mut Network, debt: TokenInfo, collateral: TokenInfo) -> Receipt {
    let call = LendingPool::liquidateCall {
        borrower: ALICE,
        debtAsset: debt.address,
        collateralAsset: collateral.address,
        amount: U256::MAX,
        inKind: false,
    };
    network.send(BOB, POOL, call).unwrap()
}

fn slack(network: &mut Network, token: TokenInfo) -> U256 {
    let view = network.look(
        LENS,
        LendingLens::getPoolCall {
            asset: token.address,
        },
    );
    view.cash + view.totalDebt + view.deficit - view.totalSupplied - view.treasury
}

/// Alice's ten WETH are suddenly worth 1,050 dollars against a debt of 12,000 dollars of USDC and
/// 50 of USDT.
fn under_water(network: &mut Network) {
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    let usdt = TokenInfo::of("USDT");
    network.set_price(weth, 2_000 * DOLLAR);
    network
        .deposit(ALICE, weth, weth.unit() * U256::from(10))
        .unwrap();
    network.borrow(ALICE, usdc, usdc.worth(12_000)).unwrap();
    network.borrow(ALICE, usdt, usdt.worth(50)).unwrap();
    network.set_price(weth, 105 * DOLLAR);
}

#[test]
fn losses_beyond_the_treasury_become_a_deficit() {
    let mut network = Network::funded();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    let usdt = TokenInfo::of("USDT");
    under_water(&mut network);

    let before = [slack(&mut network, usdc), slack(&mut network, usdt)];
    let receipt = liquidate(&mut network, usdc, weth);
    assert_eq!(
        receipt.event::<LendingPool::Liquidation>().repaid,
        usdc.worth(1_000)
    );

    let none = U256::ZERO;
    let written_off = [
        LendingPool::DebtWrittenOff {
            asset: usdt.address,
            user: ALICE,
            amount: usdt.worth(50),
            fromTreasury: none,
        },
        LendingPool::DebtWrittenOff {
            asset: usdc.address,
            user: ALICE,
            amount: usdc.worth(11_000),
            fromTreasury: none,
        },
    ];
    assert_eq!(receipt.events::<LendingPool::DebtWrittenOff>(), written_off);

    assert_eq!(network.reserve(usdc.address).deficit, usdc.worth(11_000));
    assert_eq!(network.reserve(usdt.address).deficit, usdt.worth(50));
    assert_eq!(
        [slack(&mut network, usdc), slack(&mut network, usdt)],
        before
    );

    let account = network.look(LENS, LendingLens::getAccountCall { user: ALICE });
    assert_eq!((account.debtUsd, account.dueAt), (U256::ZERO, U256::ZERO));
    assert!(account.positions.is_empty());
}

#[test]
fn the_treasury_covers_losses_as_far_as_it_can() {
    let mut network = Network::funded();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    earn(&mut network, usdc);
    let treasury = network.reserve(usdc.address).treasury;
    assert!(treasury > U256::ZERO);
    under_water(&mut network);
    let receipt = liquidate(&mut network, usdc, weth);
    let written_off = receipt.events::<LendingPool::DebtWrittenOff>().remove(1);
    assert_eq!(
        (written_off.asset, written_off.fromTreasury),
        (usdc.address, treasury)
    );
    let after = network.reserve(usdc.address);
    assert_eq!(
        (after.treasury, after.deficit),
        (U256::ZERO, written_off.amount - treasury)
    );
}

/// Gives the treasury income: Carol borrows for a while and repays.
fn earn(network: &mut Network, token: TokenInfo) {
    let wbtc = TokenInfo::of("WBTC");
    network.deposit(CAROL, wbtc, wbtc.worth(2_000_000)).unwrap();
    network.borrow(CAROL, token, token.worth(500_000)).unwrap();
    network.wait(300 * DAY);
    network.repay(CAROL, token, U256::MAX).unwrap();
}

#[test]
fn later_income_repays_the_deficit_first() {
    let mut network = Network::funded();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    under_water(&mut network);
    liquidate(&mut network, usdc, weth);
    let before = network.reserve(usdc.address);
    earn(&mut network, usdc);
    let after = network.reserve(usdc.address);
    assert!(
        after.deficit < before.deficit,
        "the cut of the interest recovers losses"
    );
    assert_eq!(after.treasury, U256::ZERO);
    let refused = network.send(OWNER, POOL, collect(usdc, OWNER)).unwrap_err();
    assert_eq!(refused, refusal(LendingPoolErrors::ZeroAmount {}));
    for _ in 0..10 {
        earn(&mut network, usdc);
    }
    let end = network.reserve(usdc.address);
    assert_eq!(end.deficit, U256::ZERO);
    assert!(end.treasury > U256::ZERO);
}

fn collect(token: TokenInfo, to: Address) -> LendingPool::collectTreasuryCall {
    LendingPool::collectTreasuryCall {
        asset: token.address,
        amount: U256::MAX,
        to,
    }
}

#[test]
fn a_liquidation_fee_is_income_too() {
    let mut network = Network::funded();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    // A deficit in WETH itself: Alice owes WETH against USDC that crashes.
    network.deposit(ALICE, usdc, usdc.worth(10_000)).unwrap();
    network.borrow(ALICE, weth, weth.worth(6_000)).unwrap();
    network.set_price(usdc, DOLLAR / 10);
    liquidate(&mut network, weth, usdc);
    let deficit = network.reserve(weth.address).deficit;
    assert!(deficit > U256::ZERO);
    network.set_price(usdc, DOLLAR);
    under_water(&mut network);
    let fee = liquidate(&mut network, usdc, weth)
        .event::<LendingPool::Liquidation>()
        .fee;
    let after = network.reserve(weth.address);
    assert_eq!((after.deficit, after.treasury), (deficit - fee, U256::ZERO));
}

#[test]
fn a_debt_with_other_collateral_is_not_written_off() {
    let mut network = Network::funded();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    let cro = TokenInfo::of("CRO");
    network.deposit(ALICE, cro, cro.worth(1)).unwrap();
    under_water(&mut network);
    let receipt = liquidate(&mut network, usdc, weth);
    assert!(receipt.events::<LendingPool::DebtWrittenOff>().is_empty());
    let receipt = liquidate(&mut network, usdc, cro);
    assert_eq!(receipt.events::<LendingPool::DebtWrittenOff>().len(), 2);
}

#[test]
fn any_account_can_write_off_a_debt_with_worthless_collateral() {
    let mut network = Network::funded();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    // Worth 351 hundred-millionths of a dollar, of which two thirds may be borrowed: two units of
    // USDC.
    network
        .deposit(ALICE, weth, U256::from(1_000_000_000))
        .unwrap();
    network.borrow(ALICE, usdc, U256::from(2)).unwrap();
    let give_up = LendingPool::writeOffCall { user: ALICE };
    let refused = network.send(BOB, POOL, give_up.clone()).unwrap_err();
    let healthFactorBps = network
        .look(LENS, LendingLens::getAccountCall { user: ALICE })
        .healthFactorBps;
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::NotLiquidatable { healthFactorBps })
    );

    network.set_price(weth, DOLLAR);
    let receipt = network.send(BOB, POOL, give_up.clone()).unwrap();
    let event = receipt.event::<LendingPool::DebtWrittenOff>();
    assert_eq!((event.asset, event.amount), (usdc.address, U256::from(2)));
    assert_eq!(network.reserve(usdc.address).deficit, U256::from(2));

    let refused = network.send(BOB, POOL, give_up).unwrap_err();
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::NotLiquidatable {
            healthFactorBps: U256::MAX
        }),
        "the debt is gone"
    );
}

#[test]
fn suppliers_are_paid_while_there_is_cash() {
    let mut network = Network::new();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    network.set_price(weth, 2_000 * DOLLAR);
    network.deposit(WHALE, usdc, usdc.worth(20_000)).unwrap();
    network
        .deposit(ALICE, weth, weth.unit() * U256::from(10))
        .unwrap();
    network.borrow(ALICE, usdc, usdc.worth(12_000)).unwrap();
    network.set_price(weth, 105 * DOLLAR);
    liquidate(&mut network, usdc, weth);
    let refused = network.withdraw(WHALE, usdc, U256::MAX).unwrap_err();
    let needed = usdc.worth(20_000);
    let available = usdc.worth(9_000);
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::InsufficientLiquidity { needed, available })
    );
    network.withdraw(WHALE, usdc, available).unwrap();
}

//! Liquidation: conditions, assets and terms.

mod amounts;
mod consequences;

use alloy_primitives::{Address, Bytes, U256};
use tetrad_contracts::contracts::bindings::{LendingLens, LendingPool, LendingPoolErrors, Token};

use super::{
    bench::{Receipt, refusal},
    network::{ALICE, BOB, LENS, Network, POOL, WHALE},
    tokens::TokenInfo,
};

const DAY: u64 = 86_400;
/// One dollar as a price.
const DOLLAR: u64 = 100_000_000;

/// Alice supplies ten WETH, worth 2,000 dollars each for round sums, and owes 12,000 dollars of
/// USDC.
fn in_debt() -> Network {
    let mut network = Network::funded();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    network.set_price(weth, 2_000 * DOLLAR);
    network
        .deposit(ALICE, weth, weth.unit() * U256::from(10))
        .unwrap();
    network.borrow(ALICE, usdc, usdc.worth(12_000)).unwrap();
    network
}

/// Liquidates, and compares the result with the lens's quote.
fn liquidate(network: &mut Network, amount: U256, in_kind: bool) -> Result<Receipt, Bytes> {
    let debt = TokenInfo::of("USDC");
    let collateral = TokenInfo::of("WETH");
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

fn quote(
    network: &mut Network,
    debt: TokenInfo,
    collateral: TokenInfo,
    amount: U256,
) -> (U256, U256) {
    let borrower = ALICE;
    let debtAsset = debt.address;
    let collateralAsset = collateral.address;
    let call = LendingLens::quoteLiquidationCall {
        borrower,
        debtAsset,
        collateralAsset,
        amount,
    };
    let answer = network.look(LENS, call);
    (answer.repaid, answer.received)
}

fn terms(receipt: &Receipt) -> (U256, U256, U256) {
    let event = receipt.event::<LendingPool::Liquidation>();
    (event.repaid, event.seized, event.fee)
}

fn health(network: &mut Network) -> U256 {
    network
        .look(LENS, LendingLens::getAccountCall { user: ALICE })
        .healthFactorBps
}

fn treasury(network: &mut Network, token: TokenInfo) -> U256 {
    network
        .look(
            POOL,
            LendingPool::getReserveCall {
                asset: token.address,
            },
        )
        .state
        .treasury
}

/// Ten to the power of fifteen: a thousandth of a WETH.
fn milli() -> U256 {
    U256::from(1_000_000_000_000_000_u64)
}

#[test]
fn a_covered_debt_cannot_be_liquidated() {
    let mut network = in_debt();
    let weth = TokenInfo::of("WETH");
    // At a threshold of 85 %, 12,000 dollars need 14,117.65 of collateral.
    network.set_price(weth, 141_176_470_589);
    assert_eq!(health(&mut network), U256::from(10_000));
    let refused = liquidate(&mut network, U256::from(1_000_000), false).unwrap_err();
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::NotLiquidatable {
            healthFactorBps: U256::from(10_000)
        })
    );
    network.set_price(weth, 141_176_470_580);
    assert_eq!(health(&mut network), U256::from(9_999));
    liquidate(&mut network, U256::from(1_000_000), false).unwrap();
}

#[test]
fn impossible_liquidations_are_quoted_as_zero() {
    let mut network = in_debt();
    let [weth, usdc, wbtc, cro] = ["WETH", "USDC", "WBTC", "CRO"].map(TokenInfo::of);
    let nothing = (U256::ZERO, U256::ZERO);

    assert_eq!(
        quote(&mut network, usdc, weth, U256::MAX),
        nothing,
        "the debt is covered"
    );

    network.deposit(ALICE, wbtc, U256::from(1)).unwrap();
    network.borrow(ALICE, cro, U256::from(1)).unwrap();
    network.set_price(weth, 1_400 * DOLLAR);
    assert_ne!(quote(&mut network, usdc, weth, U256::MAX), nothing);
    assert_eq!(
        quote(&mut network, weth, weth, U256::MAX),
        nothing,
        "there is no such debt"
    );
    assert_eq!(
        quote(&mut network, usdc, usdc, U256::MAX),
        nothing,
        "there is no such collateral"
    );
    assert_eq!(
        quote(&mut network, cro, wbtc, U256::from(1)),
        nothing,
        "the amount is worth less than a unit of the collateral"
    );

    network.warp(601);
    assert_eq!(
        quote(&mut network, usdc, weth, U256::MAX),
        nothing,
        "prices are stale"
    );
}

#[test]
fn the_liquidator_is_paid_a_bonus_and_the_treasury_a_tenth_of_it() {
    let mut network = in_debt();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    network.set_price(weth, 1_400 * DOLLAR);

    let before = [
        network.balance_of(usdc.address, BOB),
        network.balance_of(weth.address, BOB),
    ];

    let receipt = liquidate(&mut network, usdc.worth(1_400), false).unwrap();

    // One WETH for 1,400 dollars, five per cent on top, and a tenth of that for the treasury.
    let seized = milli() * U256::from(1_050);
    let fee = milli() * U256::from(5);
    let event = LendingPool::Liquidation {
        borrower: ALICE,
        debtAsset: usdc.address,
        collateralAsset: weth.address,
        liquidator: BOB,
        repaid: usdc.worth(1_400),
        seized,
        fee,
        inKind: false,
    };
    assert_eq!(receipt.event::<LendingPool::Liquidation>(), event);

    let after = [
        network.balance_of(usdc.address, BOB),
        network.balance_of(weth.address, BOB),
    ];
    assert_eq!(
        after,
        [before[0] - usdc.worth(1_400), before[1] + seized - fee]
    );
    assert_eq!(treasury(&mut network, weth), fee);
    assert_eq!(
        network.balance_of(weth.p_token(), ALICE),
        weth.unit() * U256::from(10) - seized
    );

    let burned = Token::Transfer {
        from: ALICE,
        to: Address::ZERO,
        value: seized,
    };
    assert!(receipt.events::<Token::Transfer>().contains(&burned));
}

#[test]
fn a_liquidator_can_take_claims_when_cash_is_short() {
    let mut network = in_debt();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    // The whale withdraws and Carol borrows the rest: no WETH in cash remains.
    network.withdraw(WHALE, weth, U256::MAX).unwrap();
    let carol = super::network::CAROL;
    network.deposit(carol, usdc, usdc.worth(100_000)).unwrap();
    network
        .borrow(carol, weth, weth.unit() * U256::from(10))
        .unwrap();
    network.set_price(weth, 1_400 * DOLLAR);
    let seized = milli() * U256::from(1_050);
    let fee = milli() * U256::from(5);
    let refused = liquidate(&mut network, usdc.worth(1_400), false).unwrap_err();
    let error = LendingPoolErrors::InsufficientLiquidity {
        needed: seized - fee,
        available: U256::ZERO,
    };
    assert_eq!(refused, refusal(error));

    let receipt = liquidate(&mut network, usdc.worth(1_400), true).unwrap();
    assert_eq!(terms(&receipt), (usdc.worth(1_400), seized, fee));
    assert_eq!(network.balance_of(weth.p_token(), BOB), seized - fee);
    assert_eq!(treasury(&mut network, weth), fee);
    let transfers = receipt.events::<Token::Transfer>();
    let moved = [
        Token::Transfer {
            from: ALICE,
            to: Address::ZERO,
            value: fee,
        },
        Token::Transfer {
            from: ALICE,
            to: BOB,
            value: seized - fee,
        },
    ];
    assert!(moved.iter().all(|transfer| transfers.contains(transfer)));
}

/// The refusal of Bob's liquidation of Alice's debt.
fn refused(network: &mut Network, debt: Address, collateral: Address, amount: u64) -> Bytes {
    let call = LendingPool::liquidateCall {
        borrower: ALICE,
        debtAsset: debt,
        collateralAsset: collateral,
        amount: U256::from(amount),
        inKind: false,
    };
    network.send(BOB, POOL, call).unwrap_err()
}

#[test]
fn a_liquidation_requires_that_debt_and_that_collateral() {
    let mut network = in_debt();
    let [weth, usdc, wbtc] = ["WETH", "USDC", "WBTC"].map(|symbol| TokenInfo::of(symbol).address);
    network.set_price(TokenInfo::of("WETH"), 1_400 * DOLLAR);

    let owed = |asset| refusal(LendingPoolErrors::NothingOwed { asset, user: ALICE });
    let supplied = |asset| refusal(LendingPoolErrors::NothingSupplied { asset, user: ALICE });

    assert_eq!(refused(&mut network, wbtc, weth, 1), owed(wbtc));
    assert_eq!(refused(&mut network, weth, weth, 1), owed(weth));
    assert_eq!(refused(&mut network, usdc, wbtc, 1), supplied(wbtc));
    assert_eq!(refused(&mut network, usdc, usdc, 1), supplied(usdc));

    assert_eq!(
        refused(&mut network, usdc, weth, 0),
        refusal(LendingPoolErrors::ZeroAmount {})
    );
    assert_eq!(
        refused(&mut network, BOB, weth, 1),
        refusal(LendingPoolErrors::UnsupportedAsset { asset: BOB })
    );
    assert_eq!(
        refused(&mut network, usdc, BOB, 1),
        refusal(LendingPoolErrors::UnsupportedAsset { asset: BOB })
    );
}

#[test]
fn a_liquidation_that_would_seize_nothing_is_refused() {
    let mut network = Network::funded();
    let wbtc = TokenInfo::of("WBTC");
    let cro = TokenInfo::of("CRO");
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
    assert_eq!(
        network.send(BOB, POOL, call).unwrap_err(),
        refusal(LendingPoolErrors::AmountTooSmall {})
    );
}

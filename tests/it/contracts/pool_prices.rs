//! The prices that an operation needs: a stale feed neither enables nor prevents unrelated
//! operations.

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolError;
use tetrad_contracts::contracts::bindings::{LendingLens, LendingPool, LendingPoolErrors};

use super::{
    bench::{Receipt, refusal},
    network::{ALICE, BOB, LENS, Network, POOL, WHALE},
    pool_borrow::stale,
    random::Random,
    tokens::{TOKENS, TokenInfo},
};

const DOLLAR: u64 = 100_000_000;

fn liquidate(
    network: &mut Network,
    debt: TokenInfo,
    collateral: TokenInfo,
) -> Result<Receipt, Bytes> {
    let call = LendingPool::liquidateCall {
        borrower: ALICE,
        debtAsset: debt.address,
        collateralAsset: collateral.address,
        amount: U256::MAX,
        inKind: true,
    };
    network.send(BOB, POOL, call)
}

/// Alice supplies ten thousand dollars each of USDC and WETH, and owes four thousand USDT and a
/// dollar of CRO.
fn in_debt() -> Network {
    let mut network = Network::funded();
    let [usdc, weth, usdt, cro] = tokens();
    network.deposit(ALICE, usdc, usdc.worth(10_000)).unwrap();
    network.deposit(ALICE, weth, weth.worth(10_000)).unwrap();
    network.borrow(ALICE, usdt, usdt.worth(4_000)).unwrap();
    network.borrow(ALICE, cro, cro.worth(1)).unwrap();
    network
}

/// As [`in_debt`], with a price that is halted or stale.
fn in_debt_without_price(missing: TokenInfo, halted: bool) -> Network {
    let mut network = in_debt();

    if halted {
        network.keep_fresh(&TOKENS);
        network.halt(missing);
    } else {
        let others: Vec<TokenInfo> = TOKENS
            .into_iter()
            .filter(|token| token.symbol != missing.symbol)
            .collect();
        network.keep_fresh(&others);
    }
    network
}

fn tokens() -> [TokenInfo; 4] {
    ["USDC", "WETH", "USDT", "CRO"].map(TokenInfo::of)
}

#[test]
fn collateral_without_a_reliable_price_does_not_count_for_loans() {
    let [usdc, weth, usdt, cro] = tokens();
    for halted in [false, true] {
        let mut network = in_debt();
        let before = network.account(ALICE);
        if halted {
            network.keep_fresh(&TOKENS);
            network.halt(weth);
        } else {
            network.keep_fresh(&[usdc, usdt, cro]);
        }

        let view = network.account(ALICE);
        let position = view
            .positions
            .iter()
            .find(|position| position.asset == weth.address)
            .unwrap();
        assert_eq!(position.loanToValueBps, U256::ZERO);
        assert!(view.borrowingPowerUsd < before.borrowingPowerUsd);
        assert_eq!(
            view.healthFactorBps, before.healthFactorBps,
            "the last price counts for health"
        );

        let all = view.availableUsd / U256::from(100);
        let refused = network
            .borrow(ALICE, usdt, all + U256::from(1))
            .unwrap_err();
        assert_eq!(
            refused[..4],
            LendingPoolErrors::BorrowingPowerExceeded::SELECTOR
        );

        network.borrow(ALICE, usdt, all - usdt.unit()).unwrap();
        let refused = network.withdraw(ALICE, usdc, usdc.worth(100)).unwrap_err();
        assert_eq!(
            refused[..4],
            LendingPoolErrors::BorrowingPowerExceeded::SELECTOR
        );
    }
}

fn unreliable(asset: Address, halted: bool) -> Bytes {
    if halted {
        refusal(LendingPoolErrors::TokenHalted { asset })
    } else {
        refusal(LendingPoolErrors::StalePrice { asset })
    }
}

#[test]
fn debts_and_the_asset_itself_need_reliable_prices() {
    let [usdc, weth, usdt, cro] = tokens();
    let small = U256::from(1_000);
    for halted in [false, true] {
        // A debt that the operation does not touch.
        let mut network = in_debt_without_price(cro, halted);
        assert_eq!(network.account(ALICE).availableUsd, U256::ZERO);
        let refused = [
            network.borrow(ALICE, usdt, small).unwrap_err(),
            network.withdraw(ALICE, usdc, small).unwrap_err(),
            network.give(ALICE, BOB, usdc, small).unwrap_err(),
            network.set_collateral(ALICE, usdc, false).unwrap_err(),
        ];
        assert!(
            refused
                .iter()
                .all(|refused| *refused == unreliable(cro.address, halted)),
            "{refused:?}"
        );

        // The asset itself, whose collateral is not needed.
        let mut network = in_debt_without_price(weth, halted);
        assert_eq!(
            network.borrow(ALICE, weth, small).unwrap_err(),
            unreliable(weth.address, halted)
        );
        assert_eq!(
            network.withdraw(ALICE, weth, small).unwrap_err(),
            unreliable(weth.address, halted)
        );
        assert_eq!(
            network.give(ALICE, BOB, weth, small).unwrap_err(),
            unreliable(weth.address, halted)
        );
        assert_eq!(
            network.set_collateral(ALICE, weth, false).unwrap_err(),
            unreliable(weth.address, halted)
        );

        // Operations that concern neither succeed.
        network.borrow(ALICE, usdt, small).unwrap();
        network.withdraw(ALICE, usdc, small).unwrap();
        network.give(ALICE, BOB, usdc, small).unwrap();
        network.set_collateral(ALICE, weth, true).unwrap();
        network.repay(ALICE, usdt, small).unwrap();
    }
}

#[test]
fn an_account_without_debt_needs_no_price() {
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    network.deposit(ALICE, usdc, usdc.worth(100)).unwrap();
    network.keep_fresh(&[]);
    network.halt(usdc);
    network.give(ALICE, BOB, usdc, usdc.worth(10)).unwrap();
    network.set_collateral(ALICE, usdc, false).unwrap();
    network.withdraw(ALICE, usdc, U256::MAX).unwrap();
}

#[test]
fn liquidation_needs_the_prices_of_the_two_assets_and_no_others() {
    let [usdc, weth, usdt, cro] = tokens();
    let mut network = in_debt();

    // The account's other assets do not matter.
    let dot = TokenInfo::of("DOT");
    network.deposit(ALICE, dot, U256::from(1)).unwrap();
    network.set_price(usdc, DOLLAR / 100);
    network.set_price(weth, weth.price_usd_e8 / 10);

    let mut without_debt = network.twin();
    without_debt.keep_fresh(&[weth, usdc, cro]);
    assert_eq!(
        liquidate(&mut without_debt, usdt, weth).unwrap_err(),
        stale(usdt)
    );

    let mut without_collateral = network.twin();
    without_collateral.keep_fresh(&[usdt, usdc, cro]);
    assert_eq!(
        liquidate(&mut without_collateral, usdt, weth).unwrap_err(),
        stale(weth)
    );

    network.keep_fresh(&[usdt, weth]);
    let quote = LendingLens::quoteLiquidationCall {
        borrower: ALICE,
        debtAsset: usdt.address,
        collateralAsset: weth.address,
        amount: U256::MAX,
    };

    let promised = network.look(LENS, quote).repaid;
    let receipt = liquidate(&mut network, usdt, weth).unwrap();
    assert_eq!(receipt.event::<LendingPool::Liquidation>().repaid, promised);
}

#[test]
fn a_halt_does_not_prevent_liquidation() {
    let [_, weth, usdt, _] = tokens();
    let mut network = in_debt();
    network.set_price(TokenInfo::of("USDC"), DOLLAR / 100);
    network.set_price(weth, weth.price_usd_e8 / 10);
    network.halt(weth);
    network.halt(usdt);
    liquidate(&mut network, usdt, weth).unwrap();
}

#[test]
fn a_debt_is_not_written_off_while_collateral_has_no_fresh_price() {
    let mut network = Network::funded();
    let weth = TokenInfo::of("WETH");
    let uni = TokenInfo::of("UNI");
    let usdc = TokenInfo::of("USDC");
    network.deposit(ALICE, weth, weth.worth(1_000)).unwrap();
    network.deposit(ALICE, uni, U256::from(1)).unwrap();
    network.borrow(ALICE, usdc, usdc.worth(500)).unwrap();
    network.set_price(weth, DOLLAR);
    network.keep_fresh(&[weth, usdc]);
    // A unit of UNI was worth nothing, but its present value is unknown.
    let receipt = liquidate(&mut network, usdc, weth).unwrap();
    assert!(receipt.events::<LendingPool::DebtWrittenOff>().is_empty());
    let write_off = LendingPool::writeOffCall { user: ALICE };
    let refused = network.send(BOB, POOL, write_off.clone()).unwrap_err();
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::StalePrice { asset: uni.address })
    );
    network.renew(&[uni]);
    network.send(BOB, POOL, write_off).unwrap();
    assert_eq!(network.account(ALICE).debtUsd, U256::ZERO);
}

#[test]
fn accounts_under_water_can_be_liquidated_whichever_feeds_are_stale() {
    let mut random = Random::new(42);
    let mut liquidated = 0;
    for round in 0..500 {
        let mut network = random_account(&mut random);
        let fresh: Vec<TokenInfo> = TOKENS.into_iter().filter(|_| random.chance(60)).collect();
        network.keep_fresh(&fresh);
        for token in TOKENS {
            if random.chance(20) {
                network.halt(token);
            }
        }
        let view = network.account(ALICE);
        if view.healthFactorBps >= U256::from(10_000) {
            continue;
        }

        // Debts and collateral worth at least a dollar, with fresh prices.
        let dollar = U256::from(DOLLAR);
        let fresh_token = |asset: Address| fresh.iter().find(|token| token.address == asset);
        for owed in view.positions.iter().filter(|owed| owed.debtUsd >= dollar) {
            for held in view
                .positions
                .iter()
                .filter(|held| held.suppliedUsd >= dollar)
            {
                let (Some(debt), Some(collateral)) =
                    (fresh_token(owed.asset), fresh_token(held.asset))
                else {
                    continue;
                };

                let mut network = network.twin();
                network.mint(debt.address, BOB, debt.worth(100_000));
                let result = liquidate(&mut network, *debt, *collateral);

                let seizable = held.liquidationThresholdBps > U256::ZERO;
                assert_eq!(
                    result.is_ok(),
                    seizable,
                    "round {round}: {} for {}",
                    debt.symbol,
                    collateral.symbol
                );
                liquidated += u64::from(seizable);
            }
        }
    }

    assert!(liquidated > 50, "only {liquidated} liquidations");
}

/// Alice deposits some assets, receives others, borrows some, and prices move until she is probably
/// under water.
fn random_account(random: &mut Random) -> Network {
    let mut network = Network::funded();
    for _ in 0..1 + random.below(4) {
        let token = random.pick(&TOKENS);
        network
            .deposit(ALICE, token, token.worth(500 + random.below(5_000)))
            .unwrap();
    }
    for _ in 0..random.below(3) {
        let token = random.pick(&TOKENS);
        network
            .give(WHALE, ALICE, token, token.worth(1 + random.below(100)))
            .unwrap();
    }
    for _ in 0..1 + random.below(3) {
        let token = random.pick(&TOKENS);
        let dollars = network.account(ALICE).availableUsd.to::<u64>() / DOLLAR;
        drop(network.borrow(
            ALICE,
            token,
            token.worth(dollars * (30 + random.below(65)) / 100),
        ));
    }
    for token in TOKENS {
        if random.chance(70) {
            network.set_price(token, token.price_usd_e8 * (10 + random.below(110)) / 100);
        }
    }
    network
}

//! Collateral: a user's own deposits and accepted assets, but no transfers from others.

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolError;
use tetrad_contracts::contracts::bindings::{LendingLens, LendingPool, LendingPoolErrors};

use super::{
    bench::{Receipt, refusal},
    network::{ALICE, BOB, CAROL, LENS, Network, POOL, STRANGER, WHALE},
    random::Random,
    tokens::{TOKENS, TokenInfo},
};

fn collateral(network: &mut Network, user: Address) -> Vec<Address> {
    network.look(LENS, LendingLens::getCollateralCall { user })
}

#[test]
fn received_claims_are_collateral_once_the_receiver_accepts_them() {
    let mut network = Network::funded();
    let weth = TokenInfo::of("WETH");
    network.give(WHALE, BOB, weth, weth.worth(1_000)).unwrap();
    let view = network.account(BOB);
    assert_eq!(
        (view.borrowingPowerUsd, view.positions.len()),
        (U256::ZERO, 1)
    );
    assert_eq!(view.suppliedUsd, view.positions[0].suppliedUsd);
    assert_eq!(view.positions[0].loanToValueBps, U256::ZERO);
    assert_eq!(view.positions[0].liquidationThresholdBps, U256::ZERO);
    assert_eq!(
        (view.score, collateral(&mut network, BOB)),
        (U256::from(300), vec![])
    );
    let refused = network
        .borrow(BOB, weth, U256::from(1_000_000_000))
        .unwrap_err();
    assert_eq!(
        refused[..4],
        LendingPoolErrors::BorrowingPowerExceeded::SELECTOR
    );

    let receipt = network.set_collateral(BOB, weth, true).unwrap();
    let event = LendingPool::CollateralSet {
        asset: weth.address,
        user: BOB,
        enabled: true,
    };
    assert_eq!(receipt.event::<LendingPool::CollateralSet>(), event);
    assert_eq!(collateral(&mut network, BOB), [weth.address]);
    let view = network.account(BOB);
    assert!(view.borrowingPowerUsd > U256::ZERO && view.score == U256::from(350));
    network
        .borrow(BOB, weth, U256::from(1_000_000_000))
        .unwrap();
}

#[test]
fn collateral_can_be_accepted_before_it_arrives() {
    let mut network = Network::funded();
    let weth = TokenInfo::of("WETH");
    network.set_collateral(BOB, weth, true).unwrap();
    assert!(network.account(BOB).positions.is_empty());
    network.give(WHALE, BOB, weth, weth.worth(1_000)).unwrap();
    assert!(network.account(BOB).borrowingPowerUsd > U256::ZERO);
}

#[test]
fn a_deposit_is_collateral_unless_its_owner_disabled_it() {
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    network.deposit(BOB, usdc, usdc.worth(100)).unwrap();
    assert_eq!(collateral(&mut network, BOB), [usdc.address]);
    network.set_collateral(BOB, usdc, false).unwrap();
    network.deposit(BOB, usdc, usdc.worth(100)).unwrap();
    assert!(collateral(&mut network, BOB).is_empty());
    assert_eq!(network.account(BOB).borrowingPowerUsd, U256::ZERO);
    network.withdraw(BOB, usdc, U256::MAX).unwrap();
    network.deposit(BOB, usdc, usdc.worth(100)).unwrap();
    assert!(
        collateral(&mut network, BOB).is_empty(),
        "the decision is kept"
    );
    network.set_collateral(BOB, usdc, true).unwrap();
    assert_eq!(collateral(&mut network, BOB), [usdc.address]);
}

#[test]
fn claims_received_after_a_full_withdrawal_are_not_collateral() {
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    network.deposit(BOB, usdc, usdc.worth(100)).unwrap();
    network.withdraw(BOB, usdc, U256::MAX).unwrap();
    network.give(WHALE, BOB, usdc, U256::from(1)).unwrap();
    assert!(collateral(&mut network, BOB).is_empty());
    network.deposit(BOB, usdc, usdc.worth(100)).unwrap();
    assert_eq!(collateral(&mut network, BOB), [usdc.address]);
}

#[test]
fn collateral_in_use_cannot_be_disabled() {
    let mut network = Network::in_debt();
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");
    let refused = network.set_collateral(ALICE, usdc, false).unwrap_err();
    assert_eq!(
        refused[..4],
        LendingPoolErrors::BorrowingPowerExceeded::SELECTOR
    );
    network.deposit(ALICE, weth, weth.worth(5_000)).unwrap();
    network.set_collateral(ALICE, usdc, false).unwrap();
    network.withdraw(ALICE, usdc, U256::MAX).unwrap();
    let call = LendingPool::setCollateralCall {
        asset: STRANGER,
        enabled: true,
    };
    let refused = network.send(ALICE, POOL, call).unwrap_err();
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::UnsupportedAsset { asset: STRANGER })
    );
}

/// A liquidation of Alice's debt that is paid out in claims.
fn liquidation(debt: TokenInfo, collateral: TokenInfo) -> LendingPool::liquidateCall {
    LendingPool::liquidateCall {
        borrower: ALICE,
        debtAsset: debt.address,
        collateralAsset: collateral.address,
        amount: debt.worth(100),
        inKind: true,
    }
}

#[test]
fn only_collateral_is_seized() {
    let mut network = Network::in_debt();
    let usdc = TokenInfo::of("USDC");
    let usdt = TokenInfo::of("USDT");
    let weth = TokenInfo::of("WETH");

    network.give(WHALE, ALICE, weth, weth.worth(5_000)).unwrap();
    network.set_price(usdc, 10_000_000);

    let refused = network
        .send(BOB, POOL, liquidation(usdt, weth))
        .unwrap_err();
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::NotCollateral {
            asset: weth.address,
            user: ALICE
        })
    );

    let quote = LendingLens::quoteLiquidationCall {
        borrower: ALICE,
        debtAsset: usdt.address,
        collateralAsset: weth.address,
        amount: usdt.worth(100),
    };
    assert_eq!(network.look(LENS, quote).repaid, U256::ZERO);

    network.send(BOB, POOL, liquidation(usdt, usdc)).unwrap();
    // A claim that a liquidator takes in kind is like any other received claim.
    assert!(collateral(&mut network, BOB).is_empty());
    assert!(network.balance_of(usdc.p_token(), BOB) > U256::ZERO);
}

#[test]
fn dust_does_not_noticeably_increase_the_gas_of_operations() {
    let mut clean = Network::in_debt();
    let mut dusty = clean.twin();
    for token in TOKENS {
        dusty.give(WHALE, ALICE, token, U256::from(1)).unwrap();
    }
    let usdc = TokenInfo::of("USDC");
    let usdt = TokenInfo::of("USDT");
    let weth = TokenInfo::of("WETH");
    type Step = fn(&mut Network, [TokenInfo; 3]) -> Receipt;
    let steps: [Step; 6] = [
        |network, [usdc, ..]| network.deposit(ALICE, usdc, usdc.worth(100)).unwrap(),
        |network, [_, usdt, _]| network.borrow(ALICE, usdt, usdt.worth(100)).unwrap(),
        |network, [_, _, weth]| network.borrow(ALICE, weth, weth.worth(100)).unwrap(),
        |network, [usdc, ..]| network.withdraw(ALICE, usdc, usdc.worth(100)).unwrap(),
        |network, [usdc, ..]| network.give(ALICE, CAROL, usdc, usdc.worth(100)).unwrap(),
        |network, [_, usdt, _]| network.repay(ALICE, usdt, U256::MAX).unwrap(),
    ];
    for (number, step) in steps.into_iter().enumerate() {
        let gas = [&mut clean, &mut dusty].map(|network| step(network, [usdc, usdt, weth]).gas);
        // A full repayment refunds a storage slot only if no claim remains in it.
        assert!(gas[1] <= gas[0] + 5_000, "step {number}: {gas:?}");
    }
}

#[test]
fn a_stale_or_halted_token_that_a_stranger_sends_freezes_nothing() {
    let mut network = Network::in_debt();
    let usdc = TokenInfo::of("USDC");
    let usdt = TokenInfo::of("USDT");
    let cro = TokenInfo::of("CRO");
    let uni = TokenInfo::of("UNI");
    for token in [cro, uni] {
        network.give(WHALE, ALICE, token, U256::from(1)).unwrap();
    }
    network.halt(uni);
    network.keep_fresh(&[usdc, usdt, uni]);
    network.borrow(ALICE, usdt, usdt.worth(10)).unwrap();
    network.withdraw(ALICE, usdc, usdc.worth(10)).unwrap();
    network.repay(ALICE, usdt, usdt.worth(10)).unwrap();
}

/// Operations of a stranger on an account.
fn interfere(network: &mut Network, random: &mut Random, tokens: &[TokenInfo]) {
    for _ in 0..1 + random.below(6) {
        let token = random.pick(tokens);
        match random.below(4) {
            0 => drop(
                network
                    .send(STRANGER, POOL, LendingPool::refreshCall { user: ALICE })
                    .unwrap(),
            ),
            1 => {
                // A price dips for one block.
                network.set_price(token, token.price_usd_e8 / 30);
                network
                    .send(STRANGER, POOL, LendingPool::refreshCall { user: ALICE })
                    .unwrap();
                network.set_price(token, token.price_usd_e8);
            }
            2 => {
                network
                    .give(WHALE, ALICE, token, U256::from(1 + random.below(1_000)))
                    .unwrap();
            }
            _ => drop(network.send(BOB, POOL, LendingPool::writeOffCall { user: ALICE })),
        }
    }
}

#[test]
fn strangers_do_not_change_what_an_account_may_do() {
    let mut random = Random::new(41);
    for round in 0..60 {
        let mut alone = Network::funded();
        let collateral = random.pick(&TOKENS);
        let debt = random.pick(&TOKENS);
        let supplied = collateral.worth(1_000 + random.below(9_000));
        alone.deposit(ALICE, collateral, supplied).unwrap();
        let borrowed = debt.worth(100 + random.below(300));
        alone.borrow(ALICE, debt, borrowed).unwrap();
        alone.wait(random.below(20 * 86_400));

        let mut watched = alone.twin();
        // Dust of an asset that is already collateral benefits Alice, and so does a debt that is
        // cheaper for a block.
        let other = |token: &TokenInfo| ![collateral.symbol, debt.symbol].contains(&token.symbol);
        let others: Vec<TokenInfo> = TOKENS.into_iter().filter(other).collect();
        interfere(&mut watched, &mut random, &others);
        if collateral.symbol != debt.symbol {
            let price = collateral.price_usd_e8;
            watched.set_price(collateral, price / 30);
            watched
                .send(STRANGER, POOL, LendingPool::refreshCall { user: ALICE })
                .unwrap();
            watched.set_price(collateral, price);
        }

        for seconds in [0, random.below(30 * 86_400)] {
            alone.wait(seconds);
            watched.wait(seconds);
            let [one, two] = [&mut alone, &mut watched].map(|network| network.account(ALICE));
            assert_eq!(
                (one.score, one.band, one.dueAt),
                (two.score, two.band, two.dueAt),
                "round {round}"
            );
            assert!(
                two.availableUsd + U256::from(1_000_000) >= one.availableUsd,
                "round {round}"
            );

            let borrow = random.pick(&TOKENS);
            let borrowed = borrow.worth(1 + random.below(200));
            let withdrawn = collateral.worth(1 + random.below(3_000));
            let repaid = debt.worth(1 + random.below(400));
            let [alone, watched] = [&mut alone, &mut watched].map(|network| {
                [
                    network.borrow(ALICE, borrow, borrowed),
                    network.withdraw(ALICE, collateral, withdrawn),
                    network.repay(ALICE, debt, repaid),
                ]
            });
            for (one, two) in alone.iter().zip(&watched) {
                assert_same_outcome(round, one, two);
            }
        }
    }
}

fn assert_same_outcome(
    round: u64,
    alone: &Result<Receipt, Bytes>,
    watched: &Result<Receipt, Bytes>,
) {
    match (alone, watched) {
        (Ok(alone), Ok(watched)) => assert!(
            watched.gas <= alone.gas + 30_000,
            "{} and {}",
            alone.gas,
            watched.gas
        ),
        (Err(alone), Err(watched)) => assert_eq!(alone[..4], watched[..4]),
        (alone, watched) => panic!("round {round}: {alone:?}, but with strangers {watched:?}"),
    }
}

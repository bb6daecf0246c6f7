//! Credit scores from time and behaviour.

mod clocks;
mod terms;

use alloy_primitives::{Address, U256};
use tetrad_contracts::contracts::bindings::{
    AccountView, LendingLens, LendingPool, ScoreView, Token,
};

use super::{
    network::{ALICE, BOB, LENS, Network, OWNER, POOL, STRANGER},
    tokens::TokenInfo,
};

const DAY: u64 = 86_400;

fn score(network: &mut Network, user: Address) -> ScoreView {
    network.look(LENS, LendingLens::getScoreCall { user })
}

fn refresh(network: &mut Network, user: Address) {
    network
        .send(STRANGER, POOL, LendingPool::refreshCall { user })
        .unwrap();
}

fn repay(network: &mut Network, dollars: u64) {
    let usdt = TokenInfo::of("USDT");
    network.repay(ALICE, usdt, usdt.worth(dollars)).unwrap();
}

#[test]
fn every_account_starts_with_the_lowest_score() {
    let mut network = Network::funded();
    let view = score(&mut network, STRANGER);
    assert_eq!(
        (view.score, view.band, view.dueAt),
        (U256::from(300), U256::ZERO, U256::ZERO)
    );
    assert_eq!(view.healthFactorBps, U256::MAX);
    refresh(&mut network, STRANGER);
    assert_eq!(score(&mut network, STRANGER).score, U256::from(300));
}

#[test]
fn deposits_count_from_a_hundred_dollars() {
    let usdc = TokenInfo::of("USDC");
    for (cents, points) in [(9_999_u64, 0_u64), (10_000, 25)] {
        let mut network = Network::funded();
        network
            .deposit(ALICE, usdc, U256::from(cents * 10_000))
            .unwrap();
        network.wait(30 * DAY);
        let view = score(&mut network, ALICE);
        assert_eq!(view.depositPoints, U256::from(points));
        assert_eq!(
            view.depositSeconds,
            U256::from(if points == 0 { 0 } else { 30 * DAY })
        );
        assert_eq!(view.healthPoints, U256::from(2 * points));
    }
}

#[test]
fn seconds_count_by_the_state_during_them() {
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    network.deposit(ALICE, usdc, usdc.worth(1_000)).unwrap();
    network.wait(10 * DAY);
    network.withdraw(ALICE, usdc, usdc.worth(950)).unwrap();
    network.wait(10 * DAY);
    network.deposit(ALICE, usdc, usdc.worth(1_000)).unwrap();
    network.wait(5 * DAY);
    assert_eq!(
        score(&mut network, ALICE).depositSeconds,
        U256::from(15 * DAY)
    );
}

#[test]
fn a_round_trip_in_one_block_adds_nothing() {
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    refresh(&mut network, ALICE);
    network.wait(90 * DAY);
    network.deposit(ALICE, usdc, usdc.worth(1_000_000)).unwrap();
    network.withdraw(ALICE, usdc, U256::MAX).unwrap();
    network.wait(90 * DAY);
    let view = score(&mut network, ALICE);
    assert_eq!(
        (view.score, view.depositSeconds),
        (U256::from(300), U256::ZERO)
    );
}

#[test]
fn a_debt_counts_while_it_is_amply_covered() {
    // The debt in cents, and the resulting health: 9000 dollars of weighted collateral over the
    // debt.
    for (cents, counts) in [
        (4_999_u64, false),
        (5_000, true),
        (600_000, true),
        (600_001, false),
    ] {
        let mut network = Network::funded();
        let usdc = TokenInfo::of("USDC");
        let usdt = TokenInfo::of("USDT");
        network.deposit(ALICE, usdc, usdc.worth(10_000)).unwrap();
        network
            .borrow(ALICE, usdt, U256::from(cents * 10_000))
            .unwrap();
        network.wait(9 * DAY);
        let view = score(&mut network, ALICE);
        assert_eq!(
            view.healthySeconds,
            U256::from(if counts { 9 * DAY } else { 0 }),
            "{cents} cents"
        );
        assert_eq!(view.historyPoints, U256::from(if counts { 10 } else { 0 }));
    }
}

#[test]
fn a_refresh_records_the_viewed_score_and_a_second_one_changes_nothing() {
    let mut network = Network::in_debt();
    network.wait(33 * DAY);
    let promised = score(&mut network, ALICE);
    let receipt = network
        .send(STRANGER, POOL, LendingPool::refreshCall { user: ALICE })
        .unwrap();
    let event = receipt.event::<LendingPool::CreditUpdated>();
    assert_eq!((event.user, event.score), (ALICE, promised.score));
    let before = network
        .look(POOL, LendingPool::getAccountCall { user: ALICE })
        .account;
    assert_eq!(event.credit, before.credit);
    assert_eq!(
        U256::from(event.credit.depositSeconds),
        promised.depositSeconds
    );
    assert_eq!(U256::from(event.credit.penaltyAt), promised.penaltyAt);
    refresh(&mut network, ALICE);
    assert_eq!(
        network
            .look(POOL, LendingPool::getAccountCall { user: ALICE })
            .account,
        before
    );
}

#[test]
fn a_transfer_updates_the_history_of_both_accounts() {
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    network.set_collateral(BOB, usdc, true).unwrap();
    network.deposit(ALICE, usdc, usdc.worth(1_000)).unwrap();
    network.wait(10 * DAY);
    let call = Token::transferCall {
        to: BOB,
        value: usdc.worth(1_000),
    };
    network.send(ALICE, usdc.p_token(), call).unwrap();
    network.wait(5 * DAY);
    assert_eq!(
        score(&mut network, ALICE).depositSeconds,
        U256::from(10 * DAY)
    );
    assert_eq!(score(&mut network, BOB).depositSeconds, U256::from(5 * DAY));
}

/// The score and the band after a refresh by a stranger.
fn recorded(network: &mut Network) -> (U256, u8) {
    let receipt = network
        .send(STRANGER, POOL, LendingPool::refreshCall { user: ALICE })
        .unwrap();
    let event = receipt.event::<LendingPool::CreditUpdated>();
    (event.score, event.credit.band)
}

#[test]
fn a_refresh_lowers_the_rate_band_after_missed_terms_but_not_in_a_dip() {
    let mut network = Network::in_debt();
    let usdt = TokenInfo::of("USDT");

    // 180 days of deposits and 90 of health, and six payments: 750 points with full health, of
    // which a dip costs 50.
    for _ in 0..6 {
        network.wait(30 * DAY);
        repay(&mut network, 300);
        network.borrow(ALICE, usdt, usdt.worth(300)).unwrap();
    }

    let band = |network: &mut Network| score(network, ALICE).band;
    assert_eq!(
        (score(&mut network, ALICE).score, band(&mut network)),
        (U256::from(750), U256::from(3))
    );

    network.set_price(TokenInfo::of("USDC"), 12_000_000);
    assert_eq!(recorded(&mut network), (U256::from(703), 3));

    network.set_price(TokenInfo::of("USDC"), 100_000_000);
    assert_eq!(recorded(&mut network), (U256::from(750), 3));

    network.wait(31 * DAY);
    assert_eq!(recorded(&mut network), (U256::from(710), 2));
}

fn borrow_rate(view: &AccountView, token: TokenInfo) -> U256 {
    view.positions
        .iter()
        .find(|position| position.asset == token.address)
        .unwrap()
        .borrowRate
}

/// Alice's debt, computed from her scaled debt and her band's index.
fn owed(network: &mut Network, token: TokenInfo) -> U256 {
    let account = network
        .look(POOL, LendingPool::getAccountCall { user: ALICE })
        .account;
    let holding = account
        .holdings
        .into_iter()
        .find(|holding| holding.asset == token.address)
        .unwrap();
    let index = holding.state.borrowIndexes[account.credit.band as usize];
    (holding.scaledDebt * index).div_ceil(U256::from(10).pow(U256::from(27)))
}

#[test]
fn good_behaviour_lowers_the_rate_and_raises_the_limit() {
    let mut network = Network::in_debt();
    let usdt = TokenInfo::of("USDT");

    let before = network.look(LENS, LendingLens::getAccountCall { user: ALICE });
    for _ in 0..10 {
        network.wait(30 * DAY);
        repay(&mut network, 300);
        network.borrow(ALICE, usdt, usdt.worth(300)).unwrap();
    }

    let after = network.look(LENS, LendingLens::getAccountCall { user: ALICE });
    assert_eq!((before.score, before.band), (U256::from(350), U256::ZERO));
    assert_eq!((after.score, after.band), (U256::from(850), U256::from(4)));

    let pool = network.look(
        LENS,
        LendingLens::getPoolCall {
            asset: usdt.address,
        },
    );
    assert_eq!(borrow_rate(&after, usdt), pool.borrowRates[4]);
    assert!(after.borrowingPowerUsd > before.borrowingPowerUsd);

    // A fall in score moves the debt to another band, rounded in the pool's favour: 40 days overdue
    // cost 71 points with the penalty.
    network.wait(70 * DAY);
    let debt = owed(&mut network, usdt);

    let receipt = network
        .send(OWNER, POOL, LendingPool::refreshCall { user: ALICE })
        .unwrap();

    let position = receipt.event::<LendingPool::PositionUpdated>();
    assert_eq!(
        (position.asset, position.band),
        (usdt.address, U256::from(3))
    );

    let rewritten = owed(&mut network, usdt);
    assert!(rewritten >= debt && rewritten <= debt + U256::from(1));
}

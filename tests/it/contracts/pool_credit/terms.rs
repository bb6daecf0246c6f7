//! Terms of thirty days: what renews them, what counts as paid on time, and the cost of missing
//! one.

use alloy_primitives::U256;

use super::{DAY, refresh, repay, score};
use crate::contracts::{
    network::{ALICE, Network},
    tokens::TokenInfo,
};

#[test]
fn the_first_loan_starts_a_term_of_thirty_days() {
    let mut network = Network::in_debt();
    let due = network.now() + 30 * DAY;
    assert_eq!(score(&mut network, ALICE).dueAt, U256::from(due));
    network.wait(3 * DAY);
    let usdt = TokenInfo::of("USDT");
    network.borrow(ALICE, usdt, usdt.worth(500)).unwrap();
    let view = score(&mut network, ALICE);
    assert_eq!(
        view.dueAt,
        U256::from(due),
        "a further loan does not extend it"
    );
    assert_eq!(view.lastBorrowAt, U256::from(network.now()));
}

#[test]
fn a_payment_that_counts_renews_the_term() {
    let mut network = Network::in_debt();
    network.wait(DAY);
    repay(&mut network, 101);
    let view = score(&mut network, ALICE);
    assert_eq!(
        (view.onTimePayments, view.paymentPoints),
        (U256::from(1), U256::from(25))
    );
    assert_eq!(view.dueAt, U256::from(network.now() + 30 * DAY));
    assert_eq!(view.lastPaymentAt, U256::from(network.now()));
}

#[test]
fn a_payment_counts_only_if_it_is_large_and_the_debt_was_held() {
    // The days waited, the payment, and whether it counts. The debt is a thousand dollars and some
    // cents of interest.
    for (seconds, dollars, counts) in [
        (DAY, 100, false),
        (DAY, 101, true),
        (DAY - 1, 500, false),
        (DAY, 2_000, true),
        (30 * DAY, 101, true),
        (30 * DAY + 1, 101, false),
    ] {
        let mut network = Network::in_debt();
        network.wait(seconds);
        repay(&mut network, dollars);
        let expected = U256::from(u64::from(counts));
        assert_eq!(
            score(&mut network, ALICE).onTimePayments,
            expected,
            "{seconds} s, {dollars} dollars"
        );
    }
}

#[test]
fn less_than_fifty_dollars_never_counts() {
    for (cents, counts) in [(4_999_u64, false), (5_100, true)] {
        let mut network = Network::funded();
        let usdc = TokenInfo::of("USDC");
        let usdt = TokenInfo::of("USDT");
        network.deposit(ALICE, usdc, usdc.worth(10_000)).unwrap();
        network
            .borrow(ALICE, usdt, U256::from(cents * 10_000))
            .unwrap();
        network.wait(2 * DAY);
        network
            .repay(ALICE, usdt, U256::from(cents * 10_000))
            .unwrap();
        assert_eq!(
            score(&mut network, ALICE).onTimePayments,
            U256::from(u64::from(counts)),
            "{cents} cents"
        );
    }
}

#[test]
fn borrowing_more_restarts_the_day_for_which_a_debt_must_be_held() {
    // Otherwise, with a small old debt, a large new one could be borrowed and repaid for points in
    // one transaction.
    let mut network = Network::in_debt();
    let usdt = TokenInfo::of("USDT");
    network.wait(2 * DAY);
    network.borrow(ALICE, usdt, usdt.worth(2_000)).unwrap();
    repay(&mut network, 2_000);
    assert_eq!(score(&mut network, ALICE).onTimePayments, U256::ZERO);
    network.wait(DAY);
    repay(&mut network, 200);
    assert_eq!(score(&mut network, ALICE).onTimePayments, U256::from(1));
}

#[test]
fn only_one_payment_in_a_term_earns_points() {
    let mut network = Network::in_debt();
    network.wait(2 * DAY);
    repay(&mut network, 200);
    repay(&mut network, 200);
    network.wait(28 * DAY);
    repay(&mut network, 100);
    let view = score(&mut network, ALICE);
    assert_eq!(view.onTimePayments, U256::from(1));
    assert_eq!(
        view.dueAt,
        U256::from(network.now() + 30 * DAY),
        "every payment that is large enough renews the term"
    );
    network.wait(1);
    repay(&mut network, 100);
    assert_eq!(score(&mut network, ALICE).onTimePayments, U256::from(2));
}

#[test]
fn paying_a_day_early_every_term_earns_almost_every_point() {
    let mut network = Network::in_debt();
    let usdt = TokenInfo::of("USDT");
    for _ in 0..10 {
        network.wait(29 * DAY);
        repay(&mut network, 300);
        network.borrow(ALICE, usdt, usdt.worth(300)).unwrap();
    }
    assert_eq!(score(&mut network, ALICE).onTimePayments, U256::from(10));
}

#[test]
fn a_recycled_loan_earns_points_once_in_a_term() {
    // Repaying and borrowing the same five hundred dollars every day clears the term each time.
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    let usdt = TokenInfo::of("USDT");
    network.deposit(ALICE, usdc, usdc.worth(1_000)).unwrap();
    for day in 0..90 {
        network.borrow(ALICE, usdt, usdt.worth(500)).unwrap();
        network.wait(DAY);
        network.repay(ALICE, usdt, U256::MAX).unwrap();
        assert_eq!(
            score(&mut network, ALICE).onTimePayments,
            U256::from(1 + day / 30),
            "day {day}"
        );
    }
}

#[test]
fn payments_on_both_sides_of_a_terms_end_do_not_earn_twice() {
    let mut network = Network::in_debt();
    let usdt = TokenInfo::of("USDT");
    let mut earned = Vec::new();
    for day in 1..=300 {
        network.wait(DAY);
        // The last payment on time, and the first in the next term.
        if score(&mut network, ALICE).dueAt <= U256::from(network.now())
            || earned.last() == Some(&(day - 1))
        {
            let before = score(&mut network, ALICE).onTimePayments;
            repay(&mut network, 300);
            if score(&mut network, ALICE).onTimePayments > before {
                earned.push(day);
            }
            network.borrow(ALICE, usdt, usdt.worth(300)).unwrap();
        }
    }
    assert!(earned.len() <= 11, "{earned:?}");
}

#[test]
fn at_most_ten_payments_count() {
    let mut network = Network::in_debt();
    let usdt = TokenInfo::of("USDT");
    network.borrow(ALICE, usdt, usdt.worth(4_000)).unwrap();
    for _ in 0..12 {
        network.wait(30 * DAY);
        repay(&mut network, 600);
        network.borrow(ALICE, usdt, usdt.worth(600)).unwrap();
    }
    let view = score(&mut network, ALICE);
    assert_eq!(
        (view.onTimePayments, view.paymentPoints),
        (U256::from(12), U256::from(250))
    );
}

#[test]
fn debts_in_all_assets_share_one_term() {
    let mut network = Network::in_debt();
    let weth = TokenInfo::of("WETH");
    network.borrow(ALICE, weth, weth.worth(3_000)).unwrap();
    network.wait(DAY);
    repay(&mut network, 300);
    assert_eq!(
        score(&mut network, ALICE).onTimePayments,
        U256::ZERO,
        "a tenth of everything, not of one asset"
    );
    network.wait(DAY);
    repay(&mut network, 371);
    assert_eq!(score(&mut network, ALICE).onTimePayments, U256::from(1));
    network
        .repay(ALICE, TokenInfo::of("USDT"), U256::MAX)
        .unwrap();
    assert_ne!(score(&mut network, ALICE).dueAt, U256::ZERO);
    network.repay(ALICE, weth, U256::MAX).unwrap();
    assert_eq!(
        score(&mut network, ALICE).dueAt,
        U256::ZERO,
        "full repayment clears the term"
    );
}

#[test]
fn a_missed_term_costs_at_once_and_every_day() {
    let mut network = Network::in_debt();
    network.wait(30 * DAY);
    let view = score(&mut network, ALICE);
    assert_eq!(
        (view.late, view.penaltyPoints, view.overduePoints),
        (false, U256::ZERO, U256::ZERO)
    );
    let due = view.dueAt;
    network.wait(DAY);
    let view = score(&mut network, ALICE);
    assert_eq!((view.late, view.dueAt), (true, due));
    // 40 points, a 180th of which has faded.
    assert_eq!(
        (view.penalty, view.penaltyAt, view.penaltyPoints),
        (U256::from(40), due, U256::from(39))
    );
    assert_eq!(view.overduePoints, U256::from(1));
    network.wait(200 * DAY);
    let view = score(&mut network, ALICE);
    assert_eq!(
        (view.penaltyPoints, view.overduePoints),
        (U256::ZERO, U256::from(100))
    );
}

#[test]
fn the_time_of_observation_does_not_affect_the_penalty() {
    let mut early = Network::in_debt();
    early.wait(31 * DAY);
    let mut late = early.twin();
    refresh(&mut early, ALICE);
    for network in [&mut early, &mut late] {
        network.wait(20 * DAY);
        refresh(network, ALICE);
    }
    let early = score(&mut early, ALICE);
    let late = score(&mut late, ALICE);
    assert_eq!(
        (early.score, early.penalty, early.penaltyAt),
        (late.score, late.penalty, late.penaltyAt)
    );
}

#[test]
fn a_late_payment_renews_the_term_but_earns_nothing() {
    let mut network = Network::in_debt();
    network.wait(35 * DAY);
    repay(&mut network, 200);
    let view = score(&mut network, ALICE);
    assert_eq!((view.late, view.onTimePayments), (false, U256::ZERO));
    assert_eq!(view.dueAt, U256::from(network.now() + 30 * DAY));
    assert_eq!(view.overduePoints, U256::ZERO);
    assert_eq!(
        view.penaltyPoints,
        U256::from(38),
        "the penalty stays and fades"
    );
    network.wait(35 * DAY);
    let view = score(&mut network, ALICE);
    assert_eq!(
        view.penalty,
        U256::from(32 + 40),
        "a second missed term adds to the remaining penalty of the first"
    );
}

#[test]
fn repaying_everything_late_keeps_the_penalty() {
    let mut network = Network::in_debt();
    network.wait(31 * DAY);
    network
        .repay(ALICE, TokenInfo::of("USDT"), U256::MAX)
        .unwrap();
    let view = score(&mut network, ALICE);
    assert_eq!(
        (view.dueAt, view.late, view.overduePoints),
        (U256::ZERO, false, U256::ZERO)
    );
    assert_eq!(
        (view.penaltyPoints, view.onTimePayments),
        (U256::from(39), U256::ZERO)
    );
}

//! Seconds that count: when the clocks start and stop.

use alloy_primitives::{Address, U256};

use super::{DAY, refresh, score};
use crate::contracts::{
    network::{ALICE, Network, WHALE},
    tokens::TokenInfo,
};

const HOUR: u64 = 3_600;

/// Alice supplies 150 dollars of CRO and owes 60 in USDT, and has earned ten days of both kinds of
/// seconds. With CRO at half its price she would earn neither.
fn earning() -> Network {
    let mut network = Network::funded();
    let cro = TokenInfo::of("CRO");
    let usdt = TokenInfo::of("USDT");
    network.deposit(ALICE, cro, cro.worth(150)).unwrap();
    network.borrow(ALICE, usdt, usdt.worth(60)).unwrap();
    network.wait(10 * DAY);
    network
}

/// Sets CRO's price to a percentage of the usual one.
fn set_cro(network: &mut Network, percent: u64) {
    let cro = TokenInfo::of("CRO");
    network.set_price(cro, cro.price_usd_e8 * percent / 100);
}

/// A dip of one block, in which another account refreshes Alice's account.
fn observe_in_a_dip(network: &mut Network) {
    set_cro(network, 50);
    refresh(network, ALICE);
    set_cro(network, 100);
}

fn assert_seconds(network: &mut Network, deposit: u64, healthy: u64) {
    let view = score(network, ALICE);
    assert_eq!(
        (view.depositSeconds, view.healthySeconds),
        (U256::from(deposit), U256::from(healthy))
    );
}

#[test]
fn another_accounts_refresh_in_a_dip_costs_nothing() {
    for touch in [refresh, receive_dust] {
        let mut network = earning();
        // Whether the next observation comes late or soon.
        for days in [10, 10, 1] {
            set_cro(&mut network, 50);
            touch(&mut network, ALICE);
            set_cro(&mut network, 100);
            network.wait(days * DAY);
        }
        assert_seconds(&mut network, 31 * DAY, 31 * DAY);
    }
}

/// Sends a user a claim on CRO, which the user has as collateral.
fn receive_dust(network: &mut Network, user: Address) {
    network
        .give(WHALE, user, TokenInfo::of("CRO"), U256::from(1))
        .unwrap();
}

#[test]
fn the_users_own_operation_in_a_dip_counts_until_a_better_observation() {
    let mut network = Network::funded();
    let cro = TokenInfo::of("CRO");
    network.deposit(ALICE, cro, cro.worth(150)).unwrap();
    network.wait(10 * DAY);
    network.set_price(cro, cro.price_usd_e8 / 2);
    network.deposit(ALICE, cro, cro.worth(1)).unwrap();
    network.wait(10 * DAY);
    assert_eq!(
        score(&mut network, ALICE).depositSeconds,
        U256::from(10 * DAY)
    );
    network.set_price(cro, cro.price_usd_e8);
    refresh(&mut network, ALICE);
    network.wait(DAY);
    assert_eq!(
        score(&mut network, ALICE).depositSeconds,
        U256::from(11 * DAY)
    );
}

#[test]
fn repeated_observations_of_a_dip_cost_no_more_than_its_duration() {
    let mut network = earning();
    set_cro(&mut network, 50);
    for hours in [0, 1, 3] {
        network.wait(hours * HOUR);
        refresh(&mut network, ALICE);
    }
    network.wait(2 * HOUR);
    set_cro(&mut network, 100);
    refresh(&mut network, ALICE);
    network.wait(DAY);
    // The two hours after the last observation of the dip count: it may have ended then.
    assert_seconds(&mut network, 11 * DAY + 2 * HOUR, 11 * DAY + 2 * HOUR);
}

#[test]
fn two_close_dips_cost_the_time_between_them_unless_a_recovery_is_observed() {
    for (seconds, lost) in [(2 * DAY, 2 * DAY), (2 * DAY + 1, 0)] {
        let mut network = earning();
        observe_in_a_dip(&mut network);
        network.wait(seconds);
        observe_in_a_dip(&mut network);
        assert_seconds(
            &mut network,
            10 * DAY + seconds - lost,
            10 * DAY + seconds - lost,
        );
    }
    let mut network = earning();
    observe_in_a_dip(&mut network);
    network.wait(DAY);
    refresh(&mut network, ALICE);
    network.wait(DAY);
    observe_in_a_dip(&mut network);
    assert_seconds(&mut network, 12 * DAY, 12 * DAY);
}

#[test]
fn an_unhealthy_idle_account_earns_nothing_under_daily_observation() {
    let mut network = earning();
    let cro = TokenInfo::of("CRO");
    // A health of 1.36, then a spike of one block in which Alice acts.
    set_cro(&mut network, 80);
    network.deposit(ALICE, cro, cro.worth(1)).unwrap();
    set_cro(&mut network, 100);
    network.deposit(ALICE, cro, cro.worth(1)).unwrap();
    set_cro(&mut network, 80);
    for _ in 0..30 {
        network.wait(DAY);
        refresh(&mut network, ALICE);
    }
    // The account may have been healthy before the first observation.
    assert_seconds(&mut network, 40 * DAY, 11 * DAY);
}

#[test]
fn the_users_own_operation_counts_at_once() {
    let mut network = earning();
    let cro = TokenInfo::of("CRO");
    set_cro(&mut network, 50);
    refresh(&mut network, ALICE);
    network.wait(HOUR);
    network.deposit(ALICE, cro, cro.worth(1)).unwrap();
    refresh(&mut network, ALICE);
    network.wait(10 * DAY);
    assert_seconds(&mut network, 10 * DAY, 10 * DAY);
}

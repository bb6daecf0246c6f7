//! Halted tokens: what halts one, what resumes it, and what does not.

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolCall;
use tetrad_contracts::contracts::bindings::{Halt, PriceOracle, PriceOracleErrors};

use super::{
    bench::{Receipt, refusal},
    network::{ALICE, Network, ORACLE, OWNER, STRANGER, UPDATER},
    tokens::TokenInfo,
};

/// USDC, whose price is 100,000,000.
fn token() -> Address {
    TokenInfo::of("USDC").address
}

fn price(price: u64) -> U256 {
    U256::from(price)
}

fn update(network: &mut Network, price: u64) -> Receipt {
    update_with(network, U256::from(price))
}

fn update_with(network: &mut Network, price: U256) -> Receipt {
    let call = PriceOracle::updatePricesCall {
        tokens: vec![token()],
        prices: vec![price],
    };
    network.send(UPDATER, ORACLE, call).unwrap()
}

fn update_toward(network: &mut Network, price: u64, target: U256) -> Receipt {
    let prices = vec![U256::from(price)];
    let targets = vec![target];
    let call = PriceOracle::updatePricesTowardCall {
        tokens: vec![token()],
        prices,
        targets,
    };
    network.send(UPDATER, ORACLE, call).unwrap()
}

fn owner(network: &mut Network, call: impl SolCall) -> Result<Receipt, Bytes> {
    network.send(OWNER, ORACLE, call)
}

/// The reason why the token is halted, and its target. All views agree.
fn halt(network: &mut Network) -> (Halt, u64) {
    let answer = network.look(
        ORACLE,
        PriceOracle::getHaltsCall {
            tokens: vec![STRANGER, token()],
        },
    );
    assert_eq!(
        (answer.halts[0], answer.targets[0]),
        (Halt::None, U256::ZERO)
    );
    let halted = answer.halts[1] != Halt::None;
    assert_eq!(
        network.look(ORACLE, PriceOracle::haltedCall { token: token() }),
        halted
    );
    assert_eq!(
        network
            .look(ORACLE, PriceOracle::readPriceCall { token: token() })
            .isHalted,
        halted
    );
    (answer.halts[1], answer.targets[1].to())
}

fn halted_event(at: u64, target: U256) -> PriceOracle::TokenHalted {
    PriceOracle::TokenHalted {
        token: token(),
        price: U256::from(at),
        target,
    }
}

fn assert_silent(receipt: &Receipt) {
    assert!(receipt.events::<PriceOracle::TokenHalted>().is_empty());
    assert!(receipt.events::<PriceOracle::TokenResumed>().is_empty());
}

const OPEN: (Halt, u64) = (Halt::None, 0);

#[test]
fn a_rejected_update_halts_the_token() {
    let mut network = Network::new();
    assert_eq!(halt(&mut network), OPEN);
    let receipt = update(&mut network, 55_000_000);
    assert_eq!(
        receipt.event::<PriceOracle::TokenHalted>(),
        halted_event(100_000_000, price(55_000_000))
    );
    assert_eq!(halt(&mut network), (Halt::Behind, 55_000_000));
    // One rejection is enough, but the newest target counts.
    assert_silent(&update(&mut network, 54_000_000));
    assert_eq!(halt(&mut network), (Halt::Behind, 54_000_000));
    let other = TokenInfo::of("USDT").address;
    assert!(!network.look(ORACLE, PriceOracle::haltedCall { token: other }));
}

#[test]
fn a_rejection_halts_within_the_arrival_distance_as_well() {
    let mut network = Network::new();
    owner(&mut network, PriceOracle::setMaxMoveBpsCall { newBps: 50 }).unwrap();
    update(&mut network, 99_200_000).event::<PriceOracle::PriceRejected>();
    assert_eq!(halt(&mut network), (Halt::Behind, 99_200_000));
}

#[test]
fn an_updater_without_targets_resumes_the_token_on_arrival() {
    let mut network = Network::new();
    update(&mut network, 55_000_000);
    for step in [80_000_000, 64_000_000, 55_550_001] {
        assert_silent(&update(&mut network, step));
        assert_eq!(halt(&mut network), (Halt::Behind, 55_000_000));
    }
    // From just above one per cent to exactly one per cent: also a move of less than one per cent.
    let receipt = update(&mut network, 55_550_000);
    let resumed = PriceOracle::TokenResumed {
        token: token(),
        price: price(55_550_000),
    };
    assert_eq!(receipt.event::<PriceOracle::TokenResumed>(), resumed);
    assert_eq!(halt(&mut network), OPEN);

    update(&mut network, 100_000_000);
    update(&mut network, 69_000_000);
    update(&mut network, 85_000_000);
    assert_eq!(halt(&mut network), (Halt::Behind, 100_000_000));
    update(&mut network, 99_000_000).event::<PriceOracle::TokenResumed>();
}

#[test]
fn an_updater_that_stops_moving_has_reached_its_source() {
    let mut network = Network::new();
    update(&mut network, 55_000_000);
    // The source returned part of the way, and the updater sends that as its price.
    assert_silent(&update(&mut network, 90_000_000));
    assert_silent(&update(&mut network, 90_900_001));
    assert_eq!(halt(&mut network), (Halt::Behind, 55_000_000));
    update(&mut network, 91_809_001).event::<PriceOracle::TokenResumed>();
    assert_eq!(halt(&mut network), OPEN);
}

#[test]
fn an_update_with_a_target_halts_and_resumes() {
    let mut network = Network::new();
    assert_silent(&update_toward(&mut network, 99_000_000, price(100_000_000)));
    let receipt = update_toward(&mut network, 80_000_000, price(55_000_000));
    assert_eq!(
        receipt.event::<PriceOracle::PriceUpdated>().price,
        price(80_000_000)
    );
    assert_eq!(
        receipt.event::<PriceOracle::TokenHalted>(),
        halted_event(80_000_000, price(55_000_000))
    );
    assert_eq!(halt(&mut network), (Halt::Behind, 55_000_000));
    // The target moves while the price follows, and the newest target counts.
    assert_silent(&update_toward(&mut network, 64_000_000, price(60_000_000)));
    assert_eq!(halt(&mut network), (Halt::Behind, 60_000_000));
    assert_silent(&update_toward(&mut network, 55_500_000, price(60_000_000)));
    let receipt = update_toward(&mut network, 60_000_000, price(60_600_000));
    assert_eq!(
        receipt.event::<PriceOracle::TokenResumed>().price,
        price(60_000_000)
    );
    assert_eq!(halt(&mut network), OPEN);
    // Also without a move.
    update_toward(&mut network, 60_000_000, price(70_000_000)).event::<PriceOracle::TokenHalted>();
    update_toward(&mut network, 60_000_000, price(60_000_000)).event::<PriceOracle::TokenResumed>();
}

#[test]
fn a_price_that_pauses_before_its_target_has_not_arrived() {
    let mut network = Network::new();
    update_toward(&mut network, 80_000_000, price(55_000_000));
    assert_silent(&update_toward(&mut network, 80_000_000, price(55_000_000)));
    assert_eq!(halt(&mut network), (Halt::Behind, 55_000_000));
}

#[test]
fn a_rejected_update_with_a_target_halts_the_token() {
    let mut network = Network::new();
    let receipt = update_toward(&mut network, 1, price(100_000_000));
    receipt.event::<PriceOracle::PriceRejected>();
    assert_eq!(
        receipt.event::<PriceOracle::TokenHalted>(),
        halted_event(100_000_000, price(100_000_000))
    );
    update_toward(&mut network, 100_000_000, price(100_000_000))
        .event::<PriceOracle::TokenResumed>();
}

#[test]
fn an_impossible_price_halts_until_a_possible_one_comes() {
    for nonsense in [U256::ZERO, U256::from(1_u64 << 63), U256::MAX] {
        let mut network = Network::new();
        let receipt = update_with(&mut network, nonsense);
        assert_eq!(
            receipt.event::<PriceOracle::TokenHalted>(),
            halted_event(100_000_000, nonsense)
        );
        assert_eq!(halt(&mut network), (Halt::Behind, 100_000_000));
        update(&mut network, 100_500_000).event::<PriceOracle::TokenResumed>();
        // As a target, it does not stop the batch either.
        let receipt = update_toward(&mut network, 100_000_000, nonsense);
        receipt.event::<PriceOracle::PriceUpdated>();
        receipt.event::<PriceOracle::TokenHalted>();
        update_toward(&mut network, 100_000_000, price(100_000_000))
            .event::<PriceOracle::TokenResumed>();
    }
}

#[test]
fn a_token_without_a_price_is_not_halted() {
    let mut network = Network::new();
    let call = PriceOracle::updatePricesCall {
        tokens: vec![STRANGER],
        prices: vec![U256::ZERO],
    };
    assert_silent(&network.send(UPDATER, ORACLE, call).unwrap());
    assert!(!network.look(ORACLE, PriceOracle::haltedCall { token: STRANGER }));
}

#[test]
fn an_update_of_a_halted_token_does_not_make_it_fresh_unless_accepted() {
    let mut network = Network::new();
    let before = network.now();
    network.warp(10);
    update(&mut network, 1);
    let read = network.look(ORACLE, PriceOracle::getPriceCall { token: token() });
    assert_eq!(
        (read.price, read.updatedAt),
        (price(100_000_000), U256::from(before))
    );
    network.warp(591);
    assert!(
        !network
            .look(ORACLE, PriceOracle::readPriceCall { token: token() })
            .fresh
    );
}

#[test]
fn the_owner_s_price_ends_a_halt() {
    let mut network = Network::new();
    update(&mut network, 55_000_000);
    let receipt = owner(
        &mut network,
        PriceOracle::setPriceCall {
            token: token(),
            price: price(55_000_000),
        },
    )
    .unwrap();
    assert_eq!(
        receipt.event::<PriceOracle::TokenResumed>().price,
        price(55_000_000)
    );
    assert_eq!(halt(&mut network), OPEN);
    let set = PriceOracle::setPriceCall {
        token: token(),
        price: price(56_000_000),
    };
    assert_silent(&owner(&mut network, set).unwrap());
}

#[test]
fn only_the_owner_ends_the_owner_s_halt() {
    let mut network = Network::new();
    let call = PriceOracle::haltCall {
        token: token(),
        target: price(90_000_000),
    };
    let receipt = owner(&mut network, call).unwrap();
    assert_eq!(
        receipt.event::<PriceOracle::TokenHalted>(),
        halted_event(100_000_000, price(90_000_000))
    );
    let held = (Halt::Owner, 90_000_000);
    assert_eq!(halt(&mut network), held);
    assert_silent(&update(&mut network, 90_000_000));
    assert_silent(&update(&mut network, 1));
    assert_silent(&update_toward(&mut network, 90_000_000, price(90_000_000)));
    let set = PriceOracle::setPriceCall {
        token: token(),
        price: price(90_000_000),
    };
    assert_silent(&owner(&mut network, set).unwrap());
    assert_eq!(halt(&mut network), held);

    let receipt = owner(&mut network, PriceOracle::resumeCall { token: token() }).unwrap();
    assert_eq!(
        receipt.event::<PriceOracle::TokenResumed>().price,
        price(90_000_000)
    );
    assert_eq!(halt(&mut network), OPEN);
    let refused = owner(&mut network, PriceOracle::resumeCall { token: token() }).unwrap_err();
    assert_eq!(
        refused,
        refusal(PriceOracleErrors::NotHalted { token: token() })
    );
}

#[test]
fn the_owner_resumes_what_an_update_halted_and_the_next_update_decides_again() {
    let mut network = Network::new();
    update_toward(&mut network, 80_000_000, price(55_000_000));
    owner(&mut network, PriceOracle::resumeCall { token: token() }).unwrap();
    assert_eq!(halt(&mut network), OPEN);
    update_toward(&mut network, 64_000_000, price(55_000_000)).event::<PriceOracle::TokenHalted>();
    // The owner may also take over an update's halt.
    let call = PriceOracle::haltCall {
        token: token(),
        target: U256::ZERO,
    };
    owner(&mut network, call)
        .unwrap()
        .event::<PriceOracle::TokenHalted>();
    assert_eq!(halt(&mut network), (Halt::Owner, 0));
}

#[test]
fn a_target_is_a_price_or_unknown() {
    let mut network = Network::new();
    let target = U256::from(1_u64 << 63);
    let refused = owner(
        &mut network,
        PriceOracle::haltCall {
            token: token(),
            target,
        },
    )
    .unwrap_err();
    assert_eq!(
        refused,
        refusal(PriceOracleErrors::InvalidPrice { price: target })
    );
    let target = target - U256::from(1);
    owner(
        &mut network,
        PriceOracle::haltCall {
            token: token(),
            target,
        },
    )
    .unwrap();
    assert_eq!(halt(&mut network), (Halt::Owner, (1 << 63) - 1));
}

#[test]
fn only_the_owner_halts_and_resumes() {
    let mut network = Network::new();
    for account in [UPDATER, ALICE] {
        let expected = refusal(PriceOracleErrors::OwnableUnauthorizedAccount { account });
        let call = PriceOracle::haltCall {
            token: token(),
            target: U256::ZERO,
        };
        assert_eq!(network.send(account, ORACLE, call).unwrap_err(), expected);
        assert_eq!(
            network
                .send(account, ORACLE, PriceOracle::resumeCall { token: token() })
                .unwrap_err(),
            expected
        );
    }
}

/// A quarter of three units is less than one: without the exception the token would be halted for
/// ever.
#[test]
fn a_price_of_a_few_units_moves_by_one() {
    let mut network = Network::new();
    owner(
        &mut network,
        PriceOracle::setPriceCall {
            token: token(),
            price: price(1),
        },
    )
    .unwrap();
    update_toward(&mut network, 3, price(3)).event::<PriceOracle::PriceRejected>();
    assert_eq!(halt(&mut network), (Halt::Behind, 3));
    assert_silent(&update_toward(&mut network, 2, price(3)));
    update_toward(&mut network, 3, price(3)).event::<PriceOracle::TokenResumed>();
    assert_eq!(halt(&mut network), OPEN);
    update_toward(&mut network, 2, price(2)).event::<PriceOracle::PriceUpdated>();
    update_toward(&mut network, 1, price(1)).event::<PriceOracle::PriceUpdated>();
    update_toward(&mut network, 0, price(0)).event::<PriceOracle::PriceRejected>();
}

//! The price oracle: who may set a price, and which prices it accepts.

use alloy_primitives::{Address, Bytes, U256, address};
use tetrad_contracts::contracts::bindings::{PriceOracle, PriceOracleErrors};

use super::{
    bench::{Receipt, refusal},
    network::{ALICE, Network, ORACLE, OWNER, STRANGER, UPDATER},
    tokens::{TOKENS, TokenInfo},
};

const NEW_TOKEN: Address = address!("0x00000000000000000000000000000000000f00f0");
const LIMIT: u64 = 1 << 63;

fn update(network: &mut Network, token: Address, price: u64) -> Result<Receipt, Bytes> {
    let tokens = vec![token];
    let prices = vec![U256::from(price)];
    network.send(
        UPDATER,
        ORACLE,
        PriceOracle::updatePricesCall { tokens, prices },
    )
}

fn price(network: &mut Network, token: Address) -> (U256, u64) {
    let answer = network.look(ORACLE, PriceOracle::getPriceCall { token });
    (answer.price, answer.updatedAt.to())
}

#[test]
fn an_update_is_recorded_and_reported() {
    let mut network = Network::new();
    network.warp(10);
    let token = TokenInfo::of("SOL").address;
    let receipt = update(&mut network, token, 18_000_000_000).unwrap();
    let now = network.now();
    let price_usd_e8 = U256::from(18_000_000_000_u64);
    let event = PriceOracle::PriceUpdated {
        token,
        price: price_usd_e8,
        timestamp: U256::from(now),
    };
    assert_eq!(receipt.event::<PriceOracle::PriceUpdated>(), event);
    assert_eq!(price(&mut network, token), (price_usd_e8, now));
    let read = network.look(ORACLE, PriceOracle::readPriceCall { token });
    assert_eq!(
        (read.price, read.fresh, read.isHalted),
        (price_usd_e8, true, false)
    );
}

#[test]
fn a_first_price_is_accepted_and_lists_its_token_once() {
    let mut network = Network::new();
    assert_eq!(price(&mut network, NEW_TOKEN), (U256::ZERO, 0));
    let read = network.look(ORACLE, PriceOracle::readPriceCall { token: NEW_TOKEN });
    assert_eq!(
        (read.price, read.fresh, read.isHalted),
        (U256::ZERO, false, false)
    );

    update(&mut network, NEW_TOKEN, 1).unwrap();
    update(&mut network, NEW_TOKEN, 1).unwrap();
    let tokens = network.look(ORACLE, PriceOracle::getTokensCall {});
    let mut expected: Vec<Address> = TOKENS.iter().map(|token| token.address).collect();
    expected.push(NEW_TOKEN);
    assert_eq!(tokens, expected);

    let answer = network.look(
        ORACLE,
        PriceOracle::getPricesCall {
            tokens: vec![NEW_TOKEN, STRANGER],
        },
    );
    assert_eq!(answer.prices, [U256::from(1), U256::ZERO]);
    assert_eq!(answer.updatedAts, [U256::from(network.now()), U256::ZERO]);
}

#[test]
fn a_price_may_move_by_at_most_a_quarter() {
    let mut network = Network::new();
    let token = TokenInfo::of("USDC").address;

    for (proposed, accepted) in [
        (125_000_001, false),
        (125_000_000, true),
        (93_749_999, false),
        (93_750_000, true),
    ] {
        let before = price(&mut network, token);
        network.warp(1);
        let receipt = update(&mut network, token, proposed).unwrap();

        if accepted {
            assert_eq!(
                price(&mut network, token),
                (U256::from(proposed), network.now())
            );
        } else {
            let event = PriceOracle::PriceRejected {
                token,
                current: before.0,
                proposed: U256::from(proposed),
            };
            assert_eq!(receipt.event::<PriceOracle::PriceRejected>(), event);
            assert_eq!(
                price(&mut network, token),
                before,
                "a rejected price must not look fresh"
            );
        }
    }
}

#[test]
fn an_impossible_price_is_rejected_even_as_the_first() {
    let mut network = Network::new();
    for proposed in [0, LIMIT, u64::MAX] {
        let receipt = update(&mut network, NEW_TOKEN, proposed).unwrap();
        let event = PriceOracle::PriceRejected {
            token: NEW_TOKEN,
            current: U256::ZERO,
            proposed: U256::from(proposed),
        };
        assert_eq!(receipt.event::<PriceOracle::PriceRejected>(), event);
    }
    let call = PriceOracle::updatePricesCall {
        tokens: vec![NEW_TOKEN],
        prices: vec![U256::MAX],
    };
    network
        .send(UPDATER, ORACLE, call)
        .unwrap()
        .event::<PriceOracle::PriceRejected>();
    assert_eq!(price(&mut network, NEW_TOKEN), (U256::ZERO, 0));
    update(&mut network, NEW_TOKEN, LIMIT - 1).unwrap();
    assert_eq!(price(&mut network, NEW_TOKEN).0, U256::from(LIMIT - 1));
    assert_eq!(
        network.look(ORACLE, PriceOracle::PRICE_LIMITCall {}),
        U256::from(LIMIT)
    );
}

#[test]
fn one_rejected_price_does_not_stop_the_others() {
    let mut network = Network::new();
    let tokens = TOKENS.map(|token| token.address).to_vec();
    let mut prices: Vec<U256> = TOKENS
        .iter()
        .map(|token| U256::from(token.price_usd_e8 + 1))
        .collect();
    prices[3] = U256::ZERO;
    let receipt = network
        .send(
            UPDATER,
            ORACLE,
            PriceOracle::updatePricesCall { tokens, prices },
        )
        .unwrap();
    assert_eq!(receipt.events::<PriceOracle::PriceUpdated>().len(), 11);
    assert_eq!(
        receipt.event::<PriceOracle::PriceRejected>().token,
        TOKENS[3].address
    );
}

#[test]
fn only_the_updater_updates() {
    let mut network = Network::new();
    for caller in [OWNER, ALICE] {
        let call = PriceOracle::updatePricesCall {
            tokens: vec![],
            prices: vec![],
        };
        let refused = network.send(caller, ORACLE, call).unwrap_err();
        assert_eq!(refused, refusal(PriceOracleErrors::NotUpdater { caller }));

        let call = PriceOracle::updatePricesTowardCall {
            tokens: vec![],
            prices: vec![],
            targets: vec![],
        };
        let refused = network.send(caller, ORACLE, call).unwrap_err();
        assert_eq!(refused, refusal(PriceOracleErrors::NotUpdater { caller }));
    }

    let receipt = network
        .send(
            OWNER,
            ORACLE,
            PriceOracle::setUpdaterCall { newUpdater: ALICE },
        )
        .unwrap();
    let event = PriceOracle::UpdaterChanged {
        previousUpdater: UPDATER,
        newUpdater: ALICE,
    };
    assert_eq!(receipt.event::<PriceOracle::UpdaterChanged>(), event);
    assert_eq!(network.look(ORACLE, PriceOracle::updaterCall {}), ALICE);

    let refused = update(&mut network, NEW_TOKEN, 1).unwrap_err();
    assert_eq!(
        refused,
        refusal(PriceOracleErrors::NotUpdater { caller: UPDATER })
    );
}

#[test]
fn a_batch_needs_a_price_for_every_token() {
    let mut network = Network::new();
    let call = PriceOracle::updatePricesCall {
        tokens: vec![NEW_TOKEN, STRANGER],
        prices: vec![U256::from(1)],
    };
    let refused = network.send(UPDATER, ORACLE, call).unwrap_err();
    let expected = refusal(PriceOracleErrors::LengthMismatch {
        tokens: U256::from(2),
        prices: U256::from(1),
    });
    assert_eq!(refused, expected);
    let two = vec![U256::from(1); 2];
    for (prices, targets) in [(two.clone(), vec![two[0]]), (vec![two[0]], two)] {
        let call = PriceOracle::updatePricesTowardCall {
            tokens: vec![NEW_TOKEN, STRANGER],
            prices,
            targets,
        };
        assert_eq!(network.send(UPDATER, ORACLE, call).unwrap_err(), expected);
    }
}

#[test]
fn the_owner_overrides_prices_but_not_with_impossible_ones() {
    let mut network = Network::new();
    let token = TokenInfo::of("UNI").address;
    network.set_price(TokenInfo::of("UNI"), 1);
    assert_eq!(price(&mut network, token), (U256::from(1), network.now()));
    for nonsense in [U256::ZERO, U256::from(LIMIT)] {
        let call = PriceOracle::setPriceCall {
            token,
            price: nonsense,
        };
        let refused = network.send(OWNER, ORACLE, call).unwrap_err();
        assert_eq!(
            refused,
            refusal(PriceOracleErrors::InvalidPrice { price: nonsense })
        );
    }
}

#[test]
fn the_owner_sets_the_largest_move_and_the_maximum_age() {
    let mut network = Network::new();
    let token = TokenInfo::of("USDC").address;
    let receipt = network
        .send(
            OWNER,
            ORACLE,
            PriceOracle::setMaxMoveBpsCall { newBps: 100 },
        )
        .unwrap();
    let event = PriceOracle::MaxMoveChanged {
        previousBps: U256::from(2_500),
        newBps: U256::from(100),
    };
    assert_eq!(receipt.event::<PriceOracle::MaxMoveChanged>(), event);
    assert_eq!(network.look(ORACLE, PriceOracle::maxMoveBpsCall {}), 100);
    update(&mut network, token, 101_000_001)
        .unwrap()
        .event::<PriceOracle::PriceRejected>();
    update(&mut network, token, 101_000_000)
        .unwrap()
        .event::<PriceOracle::PriceUpdated>();

    let receipt = network
        .send(
            OWNER,
            ORACLE,
            PriceOracle::setMaxAgeCall {
                newSeconds: "5".parse().unwrap(),
            },
        )
        .unwrap();
    let event = PriceOracle::MaxAgeChanged {
        previousSeconds: U256::from(600),
        newSeconds: U256::from(5),
    };
    assert_eq!(receipt.event::<PriceOracle::MaxAgeChanged>(), event);
    for (seconds, fresh) in [(5, true), (1, false)] {
        network.warp(seconds);
        assert_eq!(
            network
                .look(ORACLE, PriceOracle::readPriceCall { token })
                .fresh,
            fresh
        );
    }

    let refused = network
        .send(OWNER, ORACLE, PriceOracle::setMaxMoveBpsCall { newBps: 0 })
        .unwrap_err();
    assert_eq!(refused, refusal(PriceOracleErrors::InvalidMaxMove {}));
    let refused = network.send(
        OWNER,
        ORACLE,
        PriceOracle::setMaxAgeCall {
            newSeconds: "0".parse().unwrap(),
        },
    );
    assert_eq!(
        refused.unwrap_err(),
        refusal(PriceOracleErrors::InvalidMaxAge {})
    );
}

#[test]
fn a_price_is_fresh_for_ten_minutes() {
    let mut network = Network::new();
    let token = TokenInfo::of("USDC").address;
    for (seconds, fresh) in [(600, true), (1, false)] {
        network.warp(seconds);
        assert_eq!(
            network
                .look(ORACLE, PriceOracle::readPriceCall { token })
                .fresh,
            fresh
        );
    }
    update(&mut network, token, 100_000_000).unwrap();
    assert!(
        network
            .look(ORACLE, PriceOracle::readPriceCall { token })
            .fresh
    );
}

#[test]
fn a_missing_price_is_never_fresh() {
    let mut network = Network::new();
    let newSeconds = ((1_u64 << 40) - 1).to_string().parse().unwrap();
    network
        .send(OWNER, ORACLE, PriceOracle::setMaxAgeCall { newSeconds })
        .unwrap();
    assert!(
        !network
            .look(ORACLE, PriceOracle::readPriceCall { token: NEW_TOKEN })
            .fresh
    );
    network.warp(1 << 36);
    assert!(
        network
            .look(
                ORACLE,
                PriceOracle::readPriceCall {
                    token: TOKENS[0].address
                }
            )
            .fresh
    );
}

#[test]
fn only_the_owner_changes_the_rules() {
    let mut network = Network::new();
    let expected = refusal(PriceOracleErrors::OwnableUnauthorizedAccount { account: UPDATER });
    let token = NEW_TOKEN;

    let refused = [
        network.send(
            UPDATER,
            ORACLE,
            PriceOracle::setPriceCall {
                token,
                price: U256::from(1),
            },
        ),
        network.send(
            UPDATER,
            ORACLE,
            PriceOracle::setUpdaterCall { newUpdater: ALICE },
        ),
        network.send(
            UPDATER,
            ORACLE,
            PriceOracle::haltCall {
                token,
                target: U256::ZERO,
            },
        ),
        network.send(UPDATER, ORACLE, PriceOracle::resumeCall { token }),
        network.send(
            UPDATER,
            ORACLE,
            PriceOracle::setMaxMoveBpsCall { newBps: 1 },
        ),
        network.send(
            UPDATER,
            ORACLE,
            PriceOracle::setMaxAgeCall {
                newSeconds: "1".parse().unwrap(),
            },
        ),
        network.send(
            UPDATER,
            ORACLE,
            PriceOracle::transferOwnershipCall { newOwner: ALICE },
        ),
    ];

    for result in refused {
        assert_eq!(result.unwrap_err(), expected);
    }
}

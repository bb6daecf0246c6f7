//! The golden credit vectors: scores, bands, loan-to-value ratios, and the resulting accounts.

use alloy_primitives::U256;
use serde_json::Value;
use tetrad_contracts::contracts::bindings::{LendingLens, LendingPool};

use super::{
    harnesses::{Clock, Credit, MATH, MathHarness, PoolHarness, math},
    network::{ALICE, LENS, Network, OWNER, POOL},
    render::decimal,
    tokens::{TokenInfo, class_parameters},
    vectors::{list, number, read, text},
};

#[test]
fn every_score_vector_is_reproduced() {
    let mut bench = math();
    for vector in list(&read("credit.json")["scores"]) {
        let input = &vector["in"];
        let health = number(&input["hfBps"]);
        let call = MathHarness::explainCall {
            credit: credit_of(input),
            suppliedUsd: number(&input["collUsd1e8"]),
            debtUsd: number(&input["debtUsd1e8"]),
            healthFactorBps: if number(&input["debtUsd1e8"]).is_zero() {
                U256::MAX
            } else {
                health
            },
            time: number(&input["now"]),
        };
        let parts = bench.look(MATH, call);
        assert_eq!(parts.score, number(&vector["score"]), "{vector}");
        let band = bench
            .look(MATH, MathHarness::bandOfCall { score: parts.score })
            .band;
        assert_eq!(band, number(&vector["band"]), "{vector}");
    }
}

#[test]
fn bands_start_at_their_floors() {
    let mut bench = math();
    let vectors = read("credit.json");
    for (band, floor) in list(&vectors["bands"]).iter().enumerate() {
        let score = number(floor);
        let at = bench.look(MATH, MathHarness::bandOfCall { score });
        assert_eq!(at.band, U256::from(band));
        assert_eq!(
            at.multiplierBps,
            number(&vectors["rateMultiplierBps"][band])
        );
        if band > 0 {
            let below = bench.look(
                MATH,
                MathHarness::bandOfCall {
                    score: score - U256::from(1),
                },
            );
            assert_eq!(below.band, U256::from(band - 1));
        }
    }
}

#[test]
fn loan_to_value_follows_the_score() {
    let mut bench = math();
    let vectors = read("credit.json");
    for (class, by_score) in vectors["ltv_by_score"].as_object().unwrap() {
        let parameters = class_parameters("stable", class);
        for (score, expected) in by_score.as_object().unwrap() {
            let call = MathHarness::loanToValueBpsCall {
                minBps: U256::from(parameters.minLtvBps),
                maxBps: U256::from(parameters.maxLtvBps),
                score: score.parse().unwrap(),
            };
            assert_eq!(
                bench.look(MATH, call),
                number(expected),
                "{class} at {score}"
            );
        }
    }
}

#[test]
fn loan_to_value_classes_match_the_vectors() {
    let vectors = read("credit.json");
    for (class, expected) in vectors["ltv_params_bps(min,max,liqThreshold,bonus)"]
        .as_object()
        .unwrap()
    {
        let ours = class_parameters("stable", class);
        let list = [
            ours.minLtvBps,
            ours.maxLtvBps,
            ours.liquidationThresholdBps,
            ours.liquidationBonusBps,
        ];
        assert_eq!(serde_json::json!(list), *expected, "{class}");
    }
}

#[test]
fn decimals_are_rendered_like_the_vectors() {
    for vector in list(&read("credit.json")["decimal_rendering"]) {
        let decimals = vector["decimals"].as_u64().unwrap() as usize;
        assert_eq!(
            decimal(number(&vector["raw"]), decimals),
            text(&vector["text"])
        );
    }
}

#[test]
fn every_power_vector_is_reproduced() {
    let vectors = read("credit.json");
    let mut network = Network::with_harness();
    for (symbol, entry) in vectors["prices_1e8"].as_object().unwrap() {
        let token = standing_in_for(symbol);
        assert_eq!(
            u64::from(token.decimals),
            entry[0].as_u64().unwrap(),
            "{symbol}"
        );
        network.set_price(token, number(&entry[1]).to());
        let mut parameters = class_parameters("stable", text(&entry[2]));
        parameters.reserveFactorBps = 0;
        let call = LendingPool::setParametersCall {
            asset: token.address,
            parameters,
        };
        network.send(OWNER, POOL, call).unwrap();
    }
    let symbols: Vec<&String> = vectors["prices_1e8"].as_object().unwrap().keys().collect();
    for vector in list(&vectors["power"]) {
        check_power(network.twin(), &symbols, vector);
    }
}

/// The amount of an asset on one side of the account.
fn amount_of(vector: &Value, side: &str, symbol: &str) -> u128 {
    vector[side]
        .get(symbol)
        .map_or(0, |amount| number(amount).to::<u128>())
}

fn check_power(mut network: Network, symbols: &[&String], vector: &Value) {
    for symbol in symbols {
        let asset = standing_in_for(symbol).address;
        let supplied = amount_of(vector, "collateral", symbol);
        let owed = amount_of(vector, "debt", symbol);

        if (supplied, owed) != (0, 0) {
            let call = PoolHarness::forcePositionCall {
                user: ALICE,
                asset,
                supplied,
                owed,
            };
            network.send(OWNER, POOL, call).unwrap();
        }
    }

    let call = PoolHarness::forceScoreCall {
        user: ALICE,
        score: number(&vector["score"]),
    };
    network.send(OWNER, POOL, call).unwrap();

    let account = network.look(LENS, LendingLens::getAccountCall { user: ALICE });
    assert_eq!(account.score, number(&vector["score"]), "{vector}");
    assert_eq!(
        decimal(account.borrowingPowerUsd, 8),
        text(&vector["borrowingPower"]),
        "{vector}"
    );
    assert_eq!(
        decimal(account.debtUsd, 8),
        text(&vector["amountBorrowed"]),
        "{vector}"
    );
    assert_eq!(
        decimal(account.availableUsd, 8),
        text(&vector["availableToBorrow"]),
        "{vector}"
    );
    let health = vector["healthFactorBps"]
        .as_str()
        .map_or(U256::MAX, |text| text.parse().unwrap());
    assert_eq!(account.healthFactorBps, health, "{vector}");
}

/// The network has no LINK; another token of its class with the same decimals takes its place.
fn standing_in_for(symbol: &str) -> TokenInfo {
    TokenInfo::of(if symbol == "LINK" { "UNI" } else { symbol })
}

fn credit_of(input: &Value) -> Credit {
    let seconds = |name: &str| number(&input[name]).to();
    Credit {
        checkpointAt: seconds("now"),
        depositSeconds: seconds("depositSeconds"),
        healthySeconds: seconds("healthySeconds"),
        penaltyAt: seconds("penaltyAt"),
        dueAt: seconds("dueAt"),
        penalty: number(&input["penalty"]).to(),
        onTimePayments: number(&input["onTime"]).saturating_to(),
        band: 0,
        depositClock: Clock::Stopped,
        healthClock: Clock::Stopped,
        late: false,
        lastBorrowAt: Default::default(),
        lastPaymentAt: Default::default(),
        lastLiquidationAt: Default::default(),
        borrowed: 0,
        collateral: 0,
        refused: 0,
        paidUntil: Default::default(),
    }
}

//! The golden interest vectors: the rate curves, exact compounding, and sequences of operations on
//! the pool itself.

use alloy_primitives::{Address, U256};
use serde_json::Value;
use tetrad_contracts::contracts::bindings::{LendingLens, LendingPool, Token};

use super::{
    bench::{Bench, START},
    harnesses::{MATH, MathHarness, PoolHarness, math, same},
    model::ray,
    network::{LENS, Network, OWNER, POOL},
    render::percent,
    tokens::{TokenInfo, class_parameters},
    vectors::{list, number, numbers, read, text},
};

const YEAR: u64 = 31_536_000;

#[test]
fn rates_follow_utilisation() {
    let mut bench = math();
    for vector in list(&read("interest.json")["utilisation_to_rate"]) {
        let parameters = class_parameters(text(&vector["curve"]), "stable");
        let cash = number(&vector["cash"]);
        let debt = number(&vector["debt"]);
        let rates = bench.look(
            MATH,
            MathHarness::ratesCall {
                parameters: same(&parameters),
                cash,
                debt,
            },
        );
        assert_eq!(rates.utilisation, number(&vector["utilRay"]), "{vector}");
        assert_eq!(rates.annual, number(&vector["annualRateRay"]), "{vector}");
        assert_eq!(
            rates.perSecond,
            numbers(&vector["perSecondRayByBand"]),
            "{vector}"
        );
        let yields = rates.perSecond.map(|rate| apy(&mut bench, rate));
        assert_eq!(
            yields.to_vec(),
            list(&vector["borrowApyByBand"]),
            "{vector}"
        );
    }
}

#[test]
fn compounding_is_exact() {
    let mut bench = math();
    for vector in list(&read("interest.json")["rpow"]) {
        let base = ray() + number(&vector["perSecondRay"]);
        let factor = bench.look(
            MATH,
            MathHarness::rpowCall {
                base,
                exponent: number(&vector["seconds"]),
            },
        );
        assert_eq!(factor, number(&vector["factorRay"]), "{vector}");
    }
}

#[test]
fn yields_round_half_up() {
    let mut bench = math();
    for vector in list(&read("interest.json")["apy"]) {
        assert_eq!(
            apy(&mut bench, number(&vector["perSecondRay"])),
            text(&vector["apyPercent"]),
            "{vector}"
        );
    }
}

#[test]
fn curve_classes_match_the_vectors() {
    let vectors = read("interest.json");
    let basis_point = U256::from(10).pow(U256::from(23));
    for (name, curve) in vectors["constants"]["curves"].as_object().unwrap() {
        let ours = class_parameters(name, "stable");
        let scaled = |bps: u16| U256::from(bps) * basis_point;
        assert_eq!(scaled(ours.baseRateBps), number(&curve["base"]), "{name}");
        assert_eq!(scaled(ours.slope1Bps), number(&curve["slope1"]), "{name}");
        assert_eq!(scaled(ours.slope2Bps), number(&curve["slope2"]), "{name}");
        assert_eq!(scaled(ours.kinkBps), number(&curve["kink"]), "{name}");
        assert_eq!(
            U256::from(ours.reserveFactorBps),
            number(&curve["rf"]),
            "{name}"
        );
    }
}

#[test]
fn every_sequence_is_reproduced() {
    for sequence in list(&read("interest.json")["sequences"]) {
        let mut replay = Replay::new(sequence);
        for step in list(&sequence["steps"]) {
            replay.step(step);
        }
    }
}

fn apy(bench: &mut Bench, per_second: U256) -> String {
    let exponent = U256::from(YEAR);
    percent(bench.look(
        MATH,
        MathHarness::rpowCall {
            base: ray() + per_second,
            exponent,
        },
    ))
}

/// A sequence's asset in a separate pool, with users whose scores the sequence sets and who have
/// enough collateral.
struct Replay {
    network: Network,
    token: TokenInfo,
    users: Vec<String>,
}

impl Replay {
    fn new(sequence: &Value) -> Self {
        let token = TokenInfo::of(match text(&sequence["curve"]) {
            "stable" => "USDC",
            "eth" => "WETH",
            "major" => "WBTC",
            "alt" => "UNI",
            other => panic!("curve {other}"),
        });
        let mut network = Network::with_harness();
        network.deploy(MATH, OWNER, "test/MathHarness", &[]);
        let users: Vec<String> = sequence["steps"][0]["state"]["users"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        let mut replay = Self {
            network,
            token,
            users,
        };
        for user in replay.users.clone() {
            replay.prepare(address_of(&user));
        }
        replay
    }

    fn prepare(&mut self, user: Address) {
        let collateral = TokenInfo::of("BNB");
        for token in [self.token, collateral] {
            let amount = token.worth(1_000_000_000_000);
            let mint = Token::mintCall { to: user, amount };
            self.network.send(OWNER, token.address, mint).unwrap();
            let approve = Token::approveCall {
                spender: POOL,
                value: U256::MAX,
            };
            self.network.send(user, token.address, approve).unwrap();
        }
        self.force_score(user, 300);
        self.network
            .deposit(user, collateral, collateral.worth(1_000_000_000_000))
            .unwrap();
    }

    fn force_score(&mut self, user: Address, score: u64) {
        let call = PoolHarness::forceScoreCall {
            user,
            score: U256::from(score),
        };
        self.network.send(OWNER, POOL, call).unwrap();
    }

    fn step(&mut self, step: &Value) {
        let operation = list(&step["op"]);
        let time: u64 = number(&operation[1]).to();
        let elapsed = START + time - self.network.now();
        self.network.wait(elapsed);
        let result = self.perform(operation);
        assert_eq!(
            result.map(|amount| amount.to_string()).as_deref(),
            step["result"].as_str(),
            "{step}"
        );
        self.check(&step["state"], step);
    }

    fn perform(&mut self, operation: &[Value]) -> Option<U256> {
        let token = self.token;
        if operation[0] == "accrue" {
            // Setting the parameters to their present values only settles the interest.
            let call = LendingPool::setParametersCall {
                asset: token.address,
                parameters: token.parameters(),
            };
            self.network.send(OWNER, POOL, call).unwrap();
            return None;
        }

        let user = address_of(text(&operation[2]));
        let amount = number(&operation[3]);
        if let Some(score) = operation.get(4) {
            self.force_score(user, number(score).to());
        }

        Some(match text(&operation[0]) {
            "deposit" => {
                self.network
                    .deposit(user, token, amount)
                    .unwrap()
                    .event::<LendingPool::Deposit>()
                    .amount
            }
            "withdraw" => {
                self.network
                    .withdraw(user, token, amount)
                    .unwrap()
                    .event::<LendingPool::Withdraw>()
                    .amount
            }
            "borrow" => {
                self.network
                    .borrow(user, token, amount)
                    .unwrap()
                    .event::<LendingPool::Borrow>()
                    .amount
            }
            "repay" => {
                self.network
                    .repay(user, token, amount)
                    .unwrap()
                    .event::<LendingPool::Repay>()
                    .amount
            }
            other => panic!("operation {other}"),
        })
    }

    fn check(&mut self, expected: &Value, step: &Value) {
        let asset = self.token.address;
        let state = self.network.reserve(asset);
        let view = self.network.look(LENS, LendingLens::getPoolCall { asset });

        assert_eq!(state.cash, number(&expected["cash"]), "{step}");
        assert_eq!(view.totalDebt, number(&expected["debt"]), "{step}");
        assert_eq!(view.totalSupplied, number(&expected["supplied"]), "{step}");
        assert_eq!(state.treasury, number(&expected["treasury"]), "{step}");
        assert_eq!(state.deficit, number(&expected["deficit"]), "{step}");

        assert_eq!(
            state.liquidityIndex,
            number(&expected["liquidityIndex"]),
            "{step}"
        );
        assert_eq!(
            state.scaledSupply,
            number(&expected["scaledSupply"]),
            "{step}"
        );
        assert_eq!(
            state.borrowIndexes,
            numbers(&expected["borrowIndex"]),
            "{step}"
        );
        assert_eq!(
            state.scaledDebts,
            numbers(&expected["scaledDebt"]),
            "{step}"
        );
        assert_eq!(
            view.annualRate,
            number(&expected["annualRateRay"]),
            "{step}"
        );

        let slack =
            state.cash + view.totalDebt + state.deficit - view.totalSupplied - state.treasury;
        assert_eq!(slack, number(&expected["slack"]), "{step}");
        assert_eq!(
            apy(&mut self.network, view.supplyRate),
            text(&expected["supplyApy"]),
            "{step}"
        );
        assert_eq!(
            apy(&mut self.network, view.borrowRates[0]),
            text(&expected["borrowApy"]),
            "{step}"
        );

        for user in self.users.clone() {
            self.check_user(address_of(&user), &expected["users"][user], step);
        }
    }

    fn check_user(&mut self, user: Address, expected: &Value, step: &Value) {
        let claim = self.network.balance_of(self.token.p_token(), user);
        assert_eq!(claim, number(&expected["balance"]), "{step}");
        let account = self
            .network
            .look(LENS, LendingLens::getAccountCall { user });
        let position = account
            .positions
            .iter()
            .find(|position| position.asset == self.token.address);
        assert_eq!(
            position.map_or(U256::ZERO, |position| position.debt),
            number(&expected["debt"]),
            "{step}"
        );
        if number(&expected["debt"]) != U256::ZERO {
            assert_eq!(account.band, number(&expected["band"]), "{step}");
        }
    }
}

fn address_of(user: &str) -> Address {
    Address::from_word(alloy_primitives::keccak256(user))
}

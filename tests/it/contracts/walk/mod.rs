//! Random users perform random operations at random times and prices, on the pool and on the model.
//! Both must agree on every event and every refusal, and invariants are checked after every step.

mod actions;
mod amounts;
mod attacks;
mod checks;
mod market;
mod seen;

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolEvent;
use tetrad_contracts::contracts::bindings::{LendingPool, ReserveState};

use self::seen::Seen;
use super::{
    model::{
        asset::Asset,
        n,
        pool::{Pool, User},
        ray,
    },
    network::{ALICE, BOB, CAROL, DAVE, Network, WHALE},
    random::{Random, steps},
    tokens::{TOKENS, TokenInfo},
};

const USERS: [Address; 5] = [ALICE, BOB, CAROL, DAVE, WHALE];
/// In the pool's order.
const SYMBOLS: [&str; 4] = ["WBTC", "WETH", "CRO", "USDC"];
const DAY: u64 = 86_400;
const WALK: u64 = 1_000;

#[test]
fn the_pool_matches_its_model_with_prudent_users() {
    let seen = explore(
        1,
        Weather {
            crash: 0,
            spread: 5,
            prudent: true,
        },
        steps(30),
    );
    if steps(30) >= WALK {
        assert!(
            seen.bands.into_iter().eq(0..5),
            "some band never had a debt"
        );
    }
}

#[test]
fn the_pool_matches_its_model_in_volatile_markets() {
    let seen = explore(
        2,
        Weather {
            crash: 8,
            spread: 250,
            prudent: false,
        },
        steps(25),
    );
    seen.check_expected(steps(25));
}

#[test]
fn the_pool_matches_its_model_in_crashes() {
    let seen = explore(
        3,
        Weather {
            crash: 25,
            spread: 600,
            prudent: false,
        },
        steps(15),
    );
    seen.check_expected(steps(15));
    if steps(15) >= WALK {
        assert!(
            seen.has(LendingPool::DebtWrittenOff::SIGNATURE),
            "no debt was written off"
        );
    }
}

/// Walks of a few years each: in longer ones the first debts would dwarf all others.
fn explore(seed: u64, weather: Weather, steps: u64) -> Seen {
    let mut seen = Seen::default();
    for walk in 0..steps.div_ceil(WALK) {
        let end = Walk::new(seed + 1_000 * walk, weather).go(WALK.min(steps - walk * WALK));
        seen.selectors.extend(end.selectors);
        seen.bands.extend(end.bands);
    }
    seen
}

/// The behaviour of prices and users: the chance of a crash in per cent of the moves, the size of
/// other moves in tenths of a per cent, and whether users borrow little and pay regularly.
#[derive(Clone, Copy)]
struct Weather {
    crash: u64,
    spread: u64,
    prudent: bool,
}

struct Walk {
    network: Network,
    model: Pool,
    tokens: Vec<TokenInfo>,
    random: Random,
    weather: Weather,
    seen: Seen,
    /// The feeds that have stopped.
    stopped: BTreeSet<usize>,
    /// When payments earned points.
    earned: BTreeMap<Address, Vec<u64>>,
}

impl Walk {
    fn new(seed: u64, weather: Weather) -> Self {
        let network = Network::new();
        let tokens: Vec<TokenInfo> = SYMBOLS.iter().map(|symbol| TokenInfo::of(symbol)).collect();
        let assets = tokens
            .iter()
            .map(|token| new_asset(token, network.now()))
            .collect();
        let model = Pool {
            now: network.now(),
            assets,
            least_loan: U256::ZERO,
            users: BTreeMap::new(),
        };
        Self {
            network,
            model,
            tokens,
            random: Random::new(seed),
            weather,
            seen: Seen::default(),
            stopped: BTreeSet::new(),
            earned: BTreeMap::new(),
        }
    }

    fn go(mut self, steps: u64) -> Seen {
        for step in 0..steps {
            self.let_time_and_prices_move();
            let before = self.model.clone();
            if self.weather.prudent {
                self.pay_before_terms_end();
            }
            self.act();
            self.check_invariants(&before);
            self.check_payments();
            let in_debt = |user: &&User| user.positions.values().any(|(_, debt)| !debt.is_zero());
            self.seen.bands.extend(
                self.model
                    .users
                    .values()
                    .filter(in_debt)
                    .map(|user| user.history.band),
            );
            if step % 16 == 0 {
                self.check_views();
                self.check_liquidations();
            }
        }
        self.seen
    }
}

fn new_asset(token: &TokenInfo, now: u64) -> Asset {
    let state = ReserveState {
        cash: U256::ZERO,
        treasury: U256::ZERO,
        deficit: U256::ZERO,
        liquidityIndex: ray(),
        scaledSupply: U256::ZERO,
        borrowIndexes: [ray(); 5],
        scaledDebts: [U256::ZERO; 5],
    };
    Asset {
        id: TOKENS
            .iter()
            .position(|other| other.symbol == token.symbol)
            .unwrap(),
        address: token.address,
        unit: token.unit(),
        parameters: token.parameters(),
        supply_cap: U256::ZERO,
        borrow_cap: U256::ZERO,
        paused: false,
        halted: false,
        price: n(token.price_usd_e8.into()),
        priced_at: now,
        updated_at: now,
        state,
    }
}

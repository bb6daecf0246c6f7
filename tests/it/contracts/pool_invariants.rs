//! Random users at random times and prices do random things to the pool, and to the model. Both must agree on every event
//! and every refusal, and what DOMAIN calls invariants must hold after every step.

use std::collections::BTreeSet;

use alloy_primitives::{Address, Bytes, LogData, U256, keccak256};
use alloy_sol_types::{SolError, SolEvent};

use super::{
    abi::{PriceOracle, Token},
    abi_lending::{LendingLens, LendingPool, PoolErrors, PoolEvents},
    bench::Receipt,
    model::{
        asset::Asset,
        n,
        pool::{Liquidation, Outcome, Pool, User},
        ray,
    },
    network::{ALICE, BOB, CAROL, DAVE, LENS, Network, ORACLE, OWNER, POOL, TokenInfo, WHALE},
    random::{Random, steps},
};

const USERS: [Address; 5] = [ALICE, BOB, CAROL, DAVE, WHALE];
/// In the order in which the pool knows them.
const SYMBOLS: [&str; 4] = ["WBTC", "WETH", "CRO", "USDC"];
const DAY: u64 = 86_400;
const WALK: u64 = 1_000;

#[test]
fn the_pool_is_its_model_while_users_are_prudent() {
    let seen = explore(1, Weather { crash: 0, spread: 5, prudent: true }, steps(30));
    if steps(30) >= WALK {
        assert_eq!(seen.bands, BTreeSet::from([0, 1, 2, 3, 4]), "some band never had a debt");
    }
}

#[test]
fn the_pool_is_its_model_in_rough_markets() {
    let seen = explore(2, Weather { crash: 8, spread: 250, prudent: false }, steps(25));
    seen.check_expected(steps(25));
}

#[test]
fn the_pool_is_its_model_when_everything_crashes() {
    let seen = explore(3, Weather { crash: 25, spread: 600, prudent: false }, steps(15));
    seen.check_expected(steps(15));
}

/// Walks of a few years each: in longer ones the debts of the first would dwarf everything.
fn explore(seed: u64, weather: Weather, steps: u64) -> Seen {
    let mut seen = Seen::default();
    for walk in 0..steps.div_ceil(WALK) {
        let end = Walk::new(seed + 1_000 * walk, weather).go(WALK.min(steps - walk * WALK));
        seen.selectors.extend(end.selectors);
        seen.bands.extend(end.bands);
    }
    seen
}

/// What a walk came by: the first four bytes of events and refusals, and the credit bands of those in debt.
#[derive(Default)]
struct Seen {
    selectors: BTreeSet<[u8; 4]>,
    bands: BTreeSet<usize>,
}

impl Seen {
    /// A walk that never got anywhere would prove nothing.
    fn check_expected(&self, steps: u64) {
        for signature in EXPECTED.iter().filter(|_| steps >= 3 * WALK) {
            let selector: [u8; 4] = keccak256(signature)[..4].try_into().unwrap();
            assert!(self.selectors.contains(&selector), "{signature} never happened");
        }
    }
}

/// The events and refusals that every weather must have brought about.
const EXPECTED: [&str; 22] = [
    PoolEvents::Deposit::SIGNATURE,
    PoolEvents::Withdraw::SIGNATURE,
    PoolEvents::Borrow::SIGNATURE,
    PoolEvents::Repay::SIGNATURE,
    PoolEvents::SupplyTransferred::SIGNATURE,
    PoolEvents::Liquidation::SIGNATURE,
    PoolEvents::DebtWrittenOff::SIGNATURE,
    PoolEvents::TreasuryCollected::SIGNATURE,
    PoolEvents::ParametersChanged::SIGNATURE,
    PoolEvents::CapsChanged::SIGNATURE,
    PoolEvents::PausedChanged::SIGNATURE,
    PoolErrors::ZeroAmount::SIGNATURE,
    PoolErrors::AmountTooSmall::SIGNATURE,
    PoolErrors::AssetPaused::SIGNATURE,
    PoolErrors::StalePrice::SIGNATURE,
    PoolErrors::InsufficientLiquidity::SIGNATURE,
    PoolErrors::BorrowingPowerExceeded::SIGNATURE,
    PoolErrors::SupplyCapExceeded::SIGNATURE,
    PoolErrors::BorrowCapExceeded::SIGNATURE,
    PoolErrors::NothingSupplied::SIGNATURE,
    PoolErrors::NothingOwed::SIGNATURE,
    PoolErrors::NotLiquidatable::SIGNATURE,
];

/// How prices and users behave: the chance of a crash in per cent of the moves, how far the others go, in tenths of a per
/// cent, and whether users borrow little and pay regularly.
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
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Deposit,
    Withdraw,
    Borrow,
    Repay,
    Transfer,
    Liquidate,
    WriteOff,
    Refresh,
    Collect,
    Govern,
}

const ACTIONS: [(Action, u64); 10] = [
    (Action::Deposit, 18),
    (Action::Withdraw, 12),
    (Action::Borrow, 24),
    (Action::Repay, 14),
    (Action::Transfer, 8),
    (Action::Liquidate, 14),
    (Action::WriteOff, 2),
    (Action::Refresh, 5),
    (Action::Collect, 2),
    (Action::Govern, 2),
];

impl Walk {
    fn new(seed: u64, weather: Weather) -> Self {
        let network = Network::new();
        let tokens: Vec<TokenInfo> = SYMBOLS.iter().map(|symbol| TokenInfo::of(symbol)).collect();
        let assets = tokens.iter().map(|token| new_asset(token, network.now())).collect();
        let model = Pool { now: network.now(), assets, users: Default::default() };
        Self { network, model, tokens, random: Random::new(seed), weather, seen: Seen::default() }
    }

    fn go(mut self, steps: u64) -> Seen {
        for step in 0..steps {
            self.let_time_and_prices_move();
            let before = self.model.clone();
            let action = self.choose();
            self.act(action);
            self.check_invariants(&before);
            let in_debt = |user: &&User| user.positions.values().any(|(_, debt)| !debt.is_zero());
            self.seen.bands.extend(self.model.users.values().filter(in_debt).map(|user| user.history.band));
            if step % 16 == 0 {
                self.check_views();
            }
        }
        self.seen
    }

    fn let_time_and_prices_move(&mut self) {
        if self.random.chance(40) {
            let longest = self.random.pick(&[10, 60, 600, 3_600, 3_600, DAY, DAY, 5 * DAY, 30 * DAY]);
            let longest = if self.weather.prudent { longest.clamp(DAY, 9 * DAY) } else { longest };
            let seconds = self.random.below(longest) + 1;
            self.network.warp(seconds);
            self.model.now = self.network.now();
            // Once in a while prices are left to go stale.
            if self.random.chance(90) {
                (0..self.tokens.len()).for_each(|index| self.set_price(index, 0));
            }
        }
        if self.random.chance(20) {
            let index = self.random.below(self.tokens.len() as u64) as usize;
            let spread = self.weather.spread;
            let crash = self.random.chance(self.weather.crash);
            let thousandths = if crash { -900 } else { self.random.below(2 * spread) as i64 - spread as i64 };
            self.set_price(index, thousandths);
        }
    }

    /// Moves a price, but never so far from the reference that amounts lose their meaning.
    fn set_price(&mut self, index: usize, thousandths: i64) {
        let reference = self.tokens[index].price_usd_e8;
        let current: u64 = self.model.assets[index].price.to();
        let moved = (current as i64 + current as i64 / 1_000 * thousandths) as u64;
        let price = U256::from(moved.clamp(reference / 20, reference * 5));
        let call = PriceOracle::setPriceCall { token: self.tokens[index].address, price };
        self.network.send(OWNER, ORACLE, call).unwrap();
        (self.model.assets[index].price, self.model.assets[index].priced_at) = (price, self.network.now());
    }

    fn choose(&mut self) -> Action {
        let total = ACTIONS.iter().map(|(_, weight)| weight).sum();
        let mut drawn = self.random.below(total);
        for (action, weight) in ACTIONS {
            if drawn < weight {
                return action;
            }
            drawn -= weight;
        }
        unreachable!()
    }

    fn act(&mut self, action: Action) {
        let user = self.random.pick(&USERS);
        let index = self.random.below(self.tokens.len() as u64) as usize;
        let (token, asset) = (self.tokens[index], self.tokens[index].address);
        let (real, expected) = match action {
            Action::Deposit => {
                let amount = self.amount(token.worth(100_000));
                (self.network.deposit(user, token, amount), self.model.deposit(user, index, amount))
            }
            Action::Withdraw => {
                let amount = self.amount_of_supply(user, index);
                (self.network.withdraw(user, token, amount), self.model.withdraw(user, index, amount))
            }
            Action::Borrow => {
                let amount = self.amount_in_reach(user, index);
                (self.network.borrow(user, token, amount), self.model.borrow(user, index, amount))
            }
            Action::Repay => {
                let owed = self.model.open(user, Some(index));
                let owed = owed.parts.iter().find(|part| part.index == index).unwrap().owed(owed.history.band);
                let amount = self.amount(owed);
                (self.network.repay(user, token, amount), self.model.repay(user, index, amount))
            }
            Action::Transfer => {
                let (value, to) = (self.amount_of_supply(user, index), self.random.pick(&USERS));
                let real = self.network.send(user, token.p_token(), Token::transferCall { to, value });
                (real, self.model.transfer(user, to, index, value))
            }
            Action::Liquidate => return self.liquidate(user),
            Action::Govern => self.govern(index),
            Action::WriteOff => {
                (self.network.send(OWNER, POOL, LendingPool::writeOffCall { user }), self.model.write_off(user))
            }
            Action::Refresh => {
                (self.network.send(OWNER, POOL, LendingPool::refreshCall { user }), self.model.refresh(user))
            }
            Action::Collect => {
                let (amount, to) = (self.amount(token.worth(10)), OWNER);
                let real = self.network.send(OWNER, POOL, LendingPool::collectTreasuryCall { asset, amount, to });
                (real, self.model.collect(index, amount, to))
            }
        };
        self.compare(action, real, expected);
    }

    /// Changes what the owner may change, mostly back to what it was.
    fn govern(&mut self, index: usize) -> (Result<Receipt, Bytes>, Outcome) {
        let (token, asset) = (self.tokens[index], self.tokens[index].address);
        match self.random.below(3) {
            0 => {
                let paused = self.random.chance(20);
                let real = self.network.send(OWNER, POOL, LendingPool::setPausedCall { asset, paused });
                (real, self.model.set_paused(index, paused))
            }
            1 => {
                let cap = if self.random.chance(40) { token.worth(150_000).to() } else { 0 };
                let call = LendingPool::setCapsCall { asset, supplyCap: cap, borrowCap: cap / 2 };
                (self.network.send(OWNER, POOL, call), self.model.set_caps(index, cap, cap / 2))
            }
            _ => {
                let mut parameters = token.parameters();
                parameters.reserveFactorBps = self.random.below(10_001) as u16;
                let call = LendingPool::setParametersCall { asset, parameters: parameters.clone() };
                (self.network.send(OWNER, POOL, call), self.model.set_parameters(index, parameters))
            }
        }
    }

    fn liquidate(&mut self, liquidator: Address) {
        let sick = |user: &Address| self.model.open(*user, None).worth().health().is_some_and(|health| health < 10_000);
        let victims: Vec<Address> = USERS.into_iter().filter(sick).collect();
        let borrower = if victims.is_empty() { self.random.pick(&USERS) } else { self.random.pick(&victims) };
        let session = self.model.open(borrower, None);
        let owed: Vec<usize> =
            session.parts.iter().filter(|part| !part.debt.is_zero()).map(|part| part.index).collect();
        let held: Vec<usize> =
            session.parts.iter().filter(|part| !part.supply.is_zero()).map(|part| part.index).collect();
        let any = [self.random.below(4) as usize];
        let debt = self.random.pick(if owed.is_empty() { &any } else { &owed });
        let collateral = self.random.pick(if held.is_empty() { &any } else { &held });
        let amount = self.amount(self.tokens[debt].worth(50_000));
        let in_kind = self.random.chance(40);
        let call = LendingPool::liquidateCall {
            borrower,
            debtAsset: self.tokens[debt].address,
            collateralAsset: self.tokens[collateral].address,
            amount,
            inKind: in_kind,
        };
        let real = self.network.send(liquidator, POOL, call);
        let terms = Liquidation { liquidator, borrower, debt, collateral, amount, in_kind };
        let expected = self.model.liquidate(terms);
        self.compare(Action::Liquidate, real, expected);
    }

    fn compare(&mut self, action: Action, real: Result<Receipt, Bytes>, expected: Outcome) {
        match (real, expected) {
            (Ok(receipt), Ok(expected)) => {
                let ours = receipt.logs.into_iter().filter(|log| log.address == POOL);
                let events: Vec<LogData> = ours.map(|log| log.data).collect();
                assert_eq!(events, expected, "{action:?}");
                self.seen
                    .selectors
                    .extend(events.iter().map(|event| -> [u8; 4] { event.topics()[0][..4].try_into().unwrap() }));
            }
            (Err(refusal), Err(expected)) => {
                assert_eq!(refusal, expected, "{action:?}");
                self.seen.selectors.insert(refusal[..4].try_into().unwrap());
            }
            (real, expected) => panic!("{action:?}: the contract says {real:?}, the model {expected:?}"),
        }
    }

    /// Mostly a part of what makes sense; at times dust, everything, or far too much.
    fn amount(&mut self, sensible: U256) -> U256 {
        match self.random.below(10) {
            0 => U256::from(self.random.below(5)),
            1 => sensible,
            2 => sensible + U256::from(self.random.below(3)),
            _ => self.random.part_of(sensible),
        }
    }

    fn amount_of_supply(&mut self, user: Address, index: usize) -> U256 {
        let session = self.model.open(user, Some(index));
        let supplied = session.parts.iter().find(|part| part.index == index).unwrap().supplied();
        if self.random.chance(15) { U256::MAX } else { self.amount(supplied) }
    }

    /// Amounts around what the user may still borrow.
    fn amount_in_reach(&mut self, user: Address, index: usize) -> U256 {
        let session = self.model.open(user, None);
        let available = session.power().saturating_sub(U256::from(session.worth().debt));
        let asset = &self.model.assets[index];
        let reach = available * asset.unit / asset.price;
        let prudence = if self.weather.prudent { 8 } else { 1 };
        self.amount(reach / n(prudence))
    }

    fn check_invariants(&self, before: &Pool) {
        for (index, (asset, old)) in self.model.assets.iter().zip(&before.assets).enumerate() {
            assert!(asset.slack() >= old.slack(), "the slack fell");
            let (new, was) = (&asset.state, &old.state);
            assert!(new.liquidityIndex >= was.liquidityIndex, "the liquidity index fell");
            for band in 0..5 {
                assert!(new.borrowIndexes[band] >= was.borrowIndexes[band], "a borrow index fell");
                assert!(band == 0 || new.borrowIndexes[band] <= new.borrowIndexes[band - 1], "a better band paid more");
            }
            let (mut claims, mut debts) = (U256::ZERO, U256::ZERO);
            for (supply, debt, band) in self.positions(index) {
                claims += supply * asset.state.liquidityIndex / ray();
                debts += (debt * asset.state.borrowIndexes[band]).div_ceil(ray());
            }
            assert!(claims <= asset.supplied(), "users claim more than is supplied");
            assert!(debts >= asset.debt(), "users owe less than is lent");
        }
    }

    fn positions(&self, index: usize) -> impl Iterator<Item = (U256, U256, usize)> + '_ {
        self.model.users.values().filter_map(move |user| {
            let (supply, debt) = *user.positions.get(&index)?;
            Some((supply, debt, user.history.band))
        })
    }

    fn check_views(&mut self) {
        let user = self.random.pick(&USERS);
        let session = self.model.open(user, None);
        let view = self.network.look(LENS, LendingLens::getAccountCall { user });
        let worth = session.worth();
        assert_eq!(view.score, U256::from(session.score));
        assert_eq!(view.band, U256::from(session.history.band));
        assert_eq!(view.suppliedUsd, U256::from(worth.supplied));
        assert_eq!(view.debtUsd, U256::from(worth.debt));
        assert_eq!(view.borrowingPowerUsd, session.power());
        assert_eq!(view.healthFactorBps, worth.health().map_or(U256::MAX, U256::from));
        assert_eq!(view.dueAt, U256::from(session.history.due_at));
        for (position, part) in view.positions.iter().zip(&session.parts) {
            assert_eq!((position.asset, position.supplied), (part.asset.address, part.supplied()));
            assert_eq!(position.debt, part.owed(session.history.band));
            let claim = self.network.balance_of(self.tokens[part.index].p_token(), user);
            assert_eq!(claim, position.supplied);
        }
        for index in 0..self.tokens.len() {
            self.check_pool_view(index);
        }
    }

    fn check_pool_view(&mut self, index: usize) {
        let mut asset = self.model.assets[index].clone();
        asset.accrue(self.model.now);
        let token = self.tokens[index];
        let view = self.network.look(LENS, LendingLens::getPoolCall { asset: token.address });
        assert_eq!((view.totalSupplied, view.totalDebt), (asset.supplied(), asset.debt()));
        assert_eq!((view.cash, view.treasury, view.deficit), {
            let state = &asset.state;
            (state.cash, state.treasury, state.deficit)
        });
        assert_eq!(self.network.balance_of(token.address, POOL), asset.state.cash, "the pool holds its cash");
        assert_eq!(self.network.look(token.p_token(), Token::totalSupplyCall {}), asset.supplied());
    }
}

fn new_asset(token: &TokenInfo, now: u64) -> Asset {
    let state = super::abi_lending::ReserveState {
        cash: U256::ZERO,
        treasury: U256::ZERO,
        deficit: U256::ZERO,
        liquidityIndex: ray(),
        scaledSupply: U256::ZERO,
        borrowIndexes: [ray(); 5],
        scaledDebts: [U256::ZERO; 5],
    };
    Asset {
        address: token.address,
        unit: token.unit(),
        parameters: token.parameters(),
        supply_cap: U256::ZERO,
        borrow_cap: U256::ZERO,
        paused: false,
        price: n(token.price_usd_e8.into()),
        priced_at: now,
        updated_at: now,
        state,
    }
}

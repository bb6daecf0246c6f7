//! An arbitrageur who sees the source's price at the same time as the node. The arbitrageur acts in
//! every block after its first transaction, the update, and therefore between the steps of a price
//! that follows the source. Prices jump by up to 90 % or to their bounds, and sometimes another
//! updater is used, or none.
//!
//! The arbitrageur does not trade in the block before a jump: foreseeing a price that the source
//! does not have yet is profitable, as the book says ("What an arbitrageur can gain").

use std::collections::BTreeSet;

use alloy_primitives::{I256, U256};
use tetrad_contracts::contracts::bindings::{Halt, PriceOracle, SwapStatus, Vault, VaultErrors};
use tetrad_exchange::{Feed, OracleState, TokenHalt, UpdatePlan};
use tetrad_network::network::{Network as Mirrored, Token};

use super::{
    bench::refusal,
    network::{CAROL, Network, ORACLE, OWNER, UPDATER, VAULT},
    random::{Random, steps},
    tokens::TOKENS,
};

const TICK: u64 = 2;
/// Jumps after which the arbitrageur and the vault have their tokens back, and prices are the
/// reference prices.
const EPOCH: u64 = 50;
/// The bounds that updates can reach. A lower price cannot move by a quarter of itself.
const MIN_PRICE: u64 = 4;
const MAX_PRICE: u64 = (1 << 63) - 1;
/// Blocks within which a price must get from one of its bounds to the other: 20 % a step downwards.
const LONGEST_WALK: usize = 600;

#[test]
fn an_arbitrageur_who_sees_the_source_earns_less_than_the_fees() {
    let mut market = Market::new(21);
    // 10,000 with TETRAD_INVARIANT_STEPS=1000000.
    let jumps = steps(1);

    for jump in 0..jumps {
        if jump % EPOCH == 0 {
            market.begin();
        }
        market.jump();
    }

    let Market {
        profit,
        fees,
        swaps,
        halted,
        attacked,
        ..
    } = market;
    println!(
        "{jumps} jumps, {swaps} swaps, {halted} refused as halted, profit {profit}, fees {fees} (10^-8 dollars)"
    );

    assert!(
        swaps > 5 * jumps && halted > jumps,
        "{swaps} swaps, {halted} refused"
    );
    assert!(
        profit < I256::try_from(fees).unwrap(),
        "profit {profit}, fees {fees}"
    );

    // As no single swap was profitable, the sum hides nothing.
    assert!(profit <= I256::ZERO);
    assert!(
        jumps < 200 || attacked.len() == 132,
        "{} of 132 pairs",
        attacked.len()
    );
}

struct Market {
    network: Network,
    tokens: Vec<Token>,
    random: Random,
    source: Vec<u64>,
    /// When a tick last moved the prices.
    ticked_at: u64,
    profit: I256,
    fees: U256,
    swaps: u64,
    halted: u64,
    attacked: BTreeSet<(usize, usize)>,
}

impl Market {
    fn new(seed: u64) -> Self {
        let tokens = Mirrored::default().tokens;
        assert!(
            tokens
                .iter()
                .zip(TOKENS)
                .all(|(token, info)| token.address == info.address)
        );
        let network = Network::new();
        let ticked_at = network.now();
        Self {
            network,
            tokens,
            random: Random::new(seed),
            source: TOKENS.iter().map(|token| token.price_usd_e8).collect(),
            ticked_at,
            profit: I256::ZERO,
            fees: U256::ZERO,
            swaps: 0,
            halted: 0,
            attacked: BTreeSet::new(),
        }
    }

    fn begin(&mut self) {
        self.network = Network::new();
        self.ticked_at = self.network.now();
        self.source = TOKENS.iter().map(|token| token.price_usd_e8).collect();
    }

    /// The source jumps, and the chain follows it block by block until it has caught up.
    fn jump(&mut self) {
        let mut moved: Vec<usize> = (0..=self.random.below(3))
            .map(|_| self.random.below(12) as usize)
            .collect();
        for token in moved.clone() {
            self.source[token] = self.next_price(token);
        }
        // All tokens drift all the time.
        moved.push(self.random.below(12) as usize);
        match self.random.below(20) {
            0 => self.follow_with_another_updater(&moved),
            1 => self.stop(&moved),
            _ => self.follow(&moved),
        }
    }

    /// A price up to 90 % away from the last one, and rarely a bound or the reference price.
    fn next_price(&mut self, token: usize) -> u64 {
        let now = self.source[token];
        let reference = TOKENS[token].price_usd_e8;
        if self.random.below(1_000) == 0 {
            return self.random.pick(&[MIN_PRICE, MAX_PRICE]);
        }
        if now < reference / 1_000 || now > reference.saturating_mul(1_000) {
            return reference;
        }
        (u128::from(now) * u128::from(100 + self.random.below(1_801)) / 1_000)
            .max(u128::from(MIN_PRICE)) as u64
    }

    fn drift(&mut self) {
        for price in &mut self.source {
            let by = u128::from(*price) * u128::from(self.random.below(21)) / 10_000;
            let drifted = if self.random.chance(50) {
                u128::from(*price) + by
            } else {
                u128::from(*price) - by
            };
            *price = drifted.clamp(u128::from(MIN_PRICE), u128::from(MAX_PRICE)) as u64;
        }
    }

    fn follow(&mut self, moved: &[usize]) {
        for block in 0.. {
            assert!(
                block < LONGEST_WALK,
                "the chain does not reach the source: {:?} for {:?}",
                self.oracle(),
                self.source
            );
            self.update();
            self.attack(moved);
            if !self
                .oracle()
                .feeds
                .iter()
                .zip(&self.source)
                .any(|(feed, price)| feed.price.abs_diff(*price) > price / 500)
            {
                break;
            }
            let seconds = self.random.below(3);
            self.network.warp(seconds);
            if block < 20 {
                self.drift();
            }
        }
    }

    /// The block's first transaction, as the node's updater plans it.
    fn update(&mut self) {
        let oracle = self.oracle();
        let time = self.network.now();
        let moves = time >= self.ticked_at + TICK;
        let opinions: Vec<_> = self.source.iter().copied().map(Some).collect();

        let plan = UpdatePlan {
            tokens: &self.tokens,
            oracle: &oracle,
            opinions: Some(&opinions),
            moves,
            time,
        };
        let planned = plan.prices();

        if moves {
            self.ticked_at = time;
        }
        if planned.is_empty() {
            return;
        }

        let call = PriceOracle::updatePricesTowardCall {
            tokens: planned
                .iter()
                .map(|price| TOKENS[price.token].address)
                .collect(),
            prices: planned
                .iter()
                .map(|price| U256::from(price.price))
                .collect(),
            targets: planned
                .iter()
                .map(|price| U256::from(price.target))
                .collect(),
        };

        let receipt = self.network.send(UPDATER, ORACLE, call).unwrap();
        assert!(receipt.events::<PriceOracle::PriceRejected>().is_empty());
    }

    /// An updater that sends only the source's price. The owner overrides prices that it cannot
    /// reach.
    fn follow_with_another_updater(&mut self, moved: &[usize]) {
        for _ in 0..3 {
            let tokens = TOKENS.map(|token| token.address).to_vec();
            let prices = self.source.iter().copied().map(U256::from).collect();
            self.network
                .send(
                    UPDATER,
                    ORACLE,
                    PriceOracle::updatePricesCall { tokens, prices },
                )
                .unwrap();
            self.attack(moved);
            self.network.warp(TICK);
        }
        for (token, price) in self.source.clone().into_iter().enumerate() {
            self.network.set_price(TOKENS[token], price);
        }
        self.attack(moved);
    }

    /// No update comes until prices are stale, so that nothing can be traded.
    fn stop(&mut self, moved: &[usize]) {
        self.network.warp(601);
        for token in moved {
            let other = TOKENS[(token + 1) % 12];
            let amount = TOKENS[*token].worth(1);
            let refused = self
                .network
                .swap(CAROL, (TOKENS[*token], other), amount, U256::ZERO)
                .unwrap_err();
            assert_eq!(refused, refusal(VaultErrors::StalePrice {}));
        }
        self.follow(moved);
    }

    /// Swaps the maximum of one swap, into and out of the tokens that moved.
    fn attack(&mut self, moved: &[usize]) {
        for token in moved {
            let other = (token + 1 + self.random.below(11) as usize) % 12;
            self.swap(*token, other);
            self.swap(other, *token);
        }
    }

    /// An amount's value at the source's price, in 10^-8 dollars.
    fn value(&self, token: usize, amount: U256) -> I256 {
        let price = U256::from(self.source[token]);
        I256::try_from(amount * price / TOKENS[token].unit()).unwrap()
    }

    fn swap(&mut self, from: usize, to: usize) {
        let token_in = TOKENS[from];
        let token_out = TOKENS[to];
        let amount = self.largest(from, to);

        let tokenIn = token_in.address;
        let tokenOut = token_out.address;
        let quote = self.network.look(
            VAULT,
            Vault::quoteSwapCall {
                tokenIn,
                tokenOut,
                amountIn: amount,
            },
        );

        self.attacked.insert((from, to));
        let result = self
            .network
            .swap(CAROL, (token_in, token_out), amount, U256::ZERO);

        let halts = self.oracle().halts.unwrap();
        if let Some(token) = [from, to]
            .into_iter()
            .find(|token| halts[*token] != TokenHalt::None)
        {
            assert_eq!(quote.status, SwapStatus::Halted);
            assert_eq!(
                result.unwrap_err(),
                refusal(VaultErrors::TokenHalted {
                    token: TOKENS[token].address
                })
            );
            self.halted += 1;
            return;
        }

        // At the bounds, an amount may be too small or too large for any swap.
        let Ok(receipt) = result else { return };
        let priced = receipt.event::<Vault::SwapPriced>();

        let earned = self.value(to, quote.amountOut) - self.value(from, amount) - I256::ONE;
        assert!(
            earned <= I256::ZERO,
            "{} to {} earns {earned}",
            token_in.symbol,
            token_out.symbol
        );

        self.profit += earned;

        let fee = self.value(to, priced.fee).into_raw();
        self.fees += fee;
        self.swaps += 1;
    }

    /// The input of the largest swap that the vault and the arbitrageur's balance allow.
    fn largest(&mut self, from: usize, to: usize) -> U256 {
        let token_in = TOKENS[from];
        let token_out = TOKENS[to];
        let feeds = self.oracle().feeds;
        let reserve = self.network.look(
            VAULT,
            Vault::reservesCall {
                token: token_out.address,
            },
        );
        let gross = reserve / U256::from(10);
        let amount = gross * U256::from(feeds[to].price) * token_in.unit()
            / (U256::from(feeds[from].price) * token_out.unit());
        amount
            .min(self.network.balance_of(token_in.address, CAROL))
            .max(U256::from(1))
    }

    fn oracle(&mut self) -> OracleState {
        let tokens = TOKENS.map(|token| token.address).to_vec();
        let prices = self.network.look(
            ORACLE,
            PriceOracle::getPricesCall {
                tokens: tokens.clone(),
            },
        );
        let halts = self
            .network
            .look(ORACLE, PriceOracle::getHaltsCall { tokens });
        let halts: Vec<_> = halts
            .halts
            .iter()
            .zip(&halts.targets)
            .map(|(halt, target)| match halt {
                Halt::None => TokenHalt::None,
                Halt::Behind => TokenHalt::Behind(target.to()),
                _ => TokenHalt::Owner,
            })
            .collect();

        OracleState {
            feeds: prices
                .prices
                .iter()
                .zip(&prices.updatedAts)
                .zip(&halts)
                .map(|((price, updated_at), halt)| Feed {
                    price: price.to(),
                    updated_at: updated_at.to(),
                    halted: *halt != TokenHalt::None,
                })
                .collect(),
            halts: Some(halts),
            max_age: 600,
            max_move_bps: 2_500,
        }
    }
}

/// The attack that the rule prevents: a fall of 45 %, of which the updater makes one step in each
/// tick.
#[test]
fn a_crash_that_the_chain_follows_in_steps_is_not_tradable() {
    let mut market = Market::new(22);
    let weth = TOKENS
        .iter()
        .position(|token| token.symbol == "WETH")
        .unwrap();
    market.source[weth] = market.source[weth] * 55 / 100;
    for halted in [true, true, false] {
        market.network.warp(TICK);
        market.update();
        let token = TOKENS[weth].address;
        assert_eq!(
            market
                .network
                .look(ORACLE, PriceOracle::haltedCall { token }),
            halted
        );
        market.attack(&[weth]);
    }
    assert_eq!(market.oracle().feeds[weth].price, market.source[weth]);
    assert_eq!((market.halted, market.swaps), (4, 2));
    assert!(market.profit < I256::ZERO);
}

/// A token halted by its owner stays halted while its price follows the source.
#[test]
fn a_token_halted_by_the_owner_follows_its_source() {
    let mut market = Market::new(23);
    let token = TOKENS[2].address;
    market
        .network
        .send(
            OWNER,
            ORACLE,
            PriceOracle::haltCall {
                token,
                target: U256::ZERO,
            },
        )
        .unwrap();
    market.source[2] /= 2;
    for _ in 0..4 {
        market.network.warp(TICK);
        market.update();
        market.attack(&[2]);
    }
    assert_eq!(market.oracle().feeds[2].price, market.source[2]);
    assert_eq!((market.halted, market.swaps), (8, 0));
    market
        .network
        .send(OWNER, ORACLE, PriceOracle::resumeCall { token })
        .unwrap();
    market.attack(&[2]);
    assert_eq!(market.swaps, 2);
}

//! Random swaps at random prices, with the vault's invariants checked after every one.

use alloy_primitives::{Address, U256};
use tetrad_contracts::contracts::bindings::{PriceOracle, SwapStatus, Vault};

use super::{
    network::{ALICE, BOB, CAROL, Network, ORACLE, OWNER, UPDATER, VAULT},
    random::{Random, steps},
    tokens::{TOKENS, TokenInfo},
};

const USERS: [Address; 3] = [ALICE, BOB, CAROL];

/// Maximum number of steps with the same users: in longer walks they would run out of tokens.
const WALK: u64 = 1_000;

#[test]
fn random_swaps_preserve_every_invariant() {
    let steps = steps(25);
    let mut swapped = 0;
    let mut refused = 0;
    for walk in 0..steps.div_ceil(WALK) {
        let end = Walk::new(7 + 1_000 * walk).go(WALK.min(steps - walk * WALK));
        (swapped, refused) = (swapped + end.swapped, refused + end.refused);
    }
    assert!(swapped > steps / 4, "only {swapped} swaps");
    assert!(refused > steps / 20, "only {refused} refusals");
}

#[test]
fn the_output_grows_with_the_input_and_splitting_gains_nothing() {
    let mut network = Network::new();
    let mut random = Random::new(8);
    for _ in 0..steps(5) {
        let (token_in, token_out) = two_tokens(&mut random);
        let bound = token_in.worth(1 << random.below(20));
        let [x, y] = [0; 2].map(|_| random.part_of(bound) + U256::from(random.below(100) + 1));
        let mut out = |amount: U256| amount_out(&mut network, token_in, token_out, amount).0;
        let first = out(x);
        let second = out(y);
        let both = out(x + y);
        assert!(first + second <= both);
        assert!(both >= first.max(second));
    }
}

fn two_tokens(random: &mut Random) -> (TokenInfo, TokenInfo) {
    loop {
        let pair = (random.pick(&TOKENS), random.pick(&TOKENS));
        if pair.0.symbol != pair.1.symbol {
            return pair;
        }
    }
}

fn amount_out(network: &mut Network, from: TokenInfo, to: TokenInfo, amount: U256) -> (U256, U256) {
    let call = Vault::getAmountOutCall {
        tokenIn: from.address,
        tokenOut: to.address,
        amountIn: amount,
    };
    let answer = network.look(VAULT, call);
    (answer.amountOut, answer.fee)
}

struct Walk {
    network: Network,
    random: Random,
    /// Reserve, fees and price by token.
    books: Vec<(U256, U256, u64)>,
    /// The tokens whose price is stale, and those that are halted.
    stale: [bool; 12],
    halted: [bool; 12],
    swapped: u64,
    refused: u64,
}

impl Walk {
    fn new(seed: u64) -> Self {
        let books = TOKENS
            .iter()
            .map(|token| (token.worth(10_000_000), U256::ZERO, token.price_usd_e8))
            .collect();
        Self {
            network: Network::new(),
            random: Random::new(seed),
            books,
            stale: [false; 12],
            halted: [false; 12],
            swapped: 0,
            refused: 0,
        }
    }

    fn go(mut self, steps: u64) -> Self {
        (0..steps).for_each(|_| self.step());
        self
    }

    fn step(&mut self) {
        if self.random.chance(30) {
            self.move_price();
        }
        if self.random.chance(5) {
            self.there_and_back();
        }
        let user = self.random.pick(&USERS);
        let pair = two_tokens(&mut self.random);
        let amount = self.amount(pair.0);
        self.swap(user, pair, amount);
        self.check(pair.0);
        self.check(pair.1);
    }

    fn move_price(&mut self) {
        let index = self.random.below(TOKENS.len() as u64) as usize;
        let reference = TOKENS[index].price_usd_e8;
        match self.random.below(20) {
            // An update that is rejected.
            0 => self.reject(index, self.books[index].2 / 2),
            1 => self.reject(index, 0),
            // The updater stops, for longer than prices stay fresh.
            2 => {
                self.network.warp(601);
                self.stale = [true; 12];
            }
            // The updater sends the present prices, which are then the source's.
            3..6 => {
                self.network.renew_prices();
                (self.stale, self.halted) = ([false; 12], [false; 12]);
            }
            6 => self.set_price(index, 1),
            7 => self.set_price(index, (1 << 63) - 1),
            _ => {
                let price = (reference / 100 * (50 + self.random.below(150))).max(1);
                self.set_price(index, price);
            }
        }
    }

    fn reject(&mut self, index: usize, price: u64) {
        let tokens = vec![TOKENS[index].address];
        let prices = vec![U256::from(price)];
        let call = PriceOracle::updatePricesCall { tokens, prices };
        self.network
            .send(UPDATER, ORACLE, call)
            .unwrap()
            .event::<PriceOracle::PriceRejected>();
        self.halted[index] = true;
    }

    fn set_price(&mut self, index: usize, price: u64) {
        self.books[index].2 = price;
        self.network.set_price(TOKENS[index], price);
        (self.stale[index], self.halted[index]) = (false, false);
    }

    /// The refusal of a swap of these tokens that the oracle's state causes, if any.
    fn expected_refusal(&self, tokens: [usize; 2]) -> Option<SwapStatus> {
        if tokens.iter().any(|token| self.stale[*token]) {
            Some(SwapStatus::StalePrice)
        } else if tokens.iter().any(|token| self.halted[*token]) {
            Some(SwapStatus::Halted)
        } else {
            None
        }
    }

    /// An amount from dust to more than the vault has.
    fn amount(&mut self, token: TokenInfo) -> U256 {
        match self.random.below(8) {
            0 => U256::from(self.random.below(1_000)),
            1 => token.worth(50_000_000),
            _ => {
                let bound = token.worth(1 << self.random.below(22));
                self.random.part_of(bound)
            }
        }
    }

    /// Swaps, and compares the outcome with the quote, with the formula and with the transfers.
    fn swap(&mut self, user: Address, (token_in, token_out): (TokenInfo, TokenInfo), amount: U256) {
        let call = Vault::quoteSwapCall {
            tokenIn: token_in.address,
            tokenOut: token_out.address,
            amountIn: amount,
        };
        let quote = self.network.look(VAULT, call);

        let balances =
            [token_in, token_out].map(|token| self.network.balance_of(token.address, user));
        let result = self
            .network
            .swap(user, (token_in, token_out), amount, U256::ZERO);
        let after = [token_in, token_out].map(|token| self.network.balance_of(token.address, user));

        let by_oracle = self.expected_refusal([index(token_in), index(token_out)]);
        // Only the amount is checked before the prices.
        if amount > U256::ZERO {
            let refused = [SwapStatus::StalePrice, SwapStatus::Halted]
                .contains(&quote.status)
                .then_some(quote.status);
            assert_eq!(refused, by_oracle);
        }

        let Ok(receipt) = result else {
            assert_ne!(quote.status, SwapStatus::Ok);
            assert_eq!(balances, after);
            self.refused += 1;
            return;
        };

        let swap = receipt.event::<Vault::Swap>();
        let priced = receipt.event::<Vault::SwapPriced>();
        assert_eq!(
            (swap.amountOut, priced.fee, SwapStatus::Ok),
            (quote.amountOut, quote.fee, quote.status)
        );
        assert_eq!(priced.impactBps, quote.impactBps);
        assert_eq!(after, [balances[0] - amount, balances[1] + swap.amountOut]);

        let index_in = index(token_in);
        let index_out = index(token_out);
        let price_in = U256::from(self.books[index_in].2);
        let price_out = U256::from(self.books[index_out].2);
        assert_eq!((priced.priceIn, priced.priceOut), (price_in, price_out));
        let gross = amount * price_in * token_out.unit() / (price_out * token_in.unit());
        assert_eq!(swap.amountOut + priced.fee, gross);
        assert_eq!(
            priced.fee,
            (gross * U256::from(30)).div_ceil(U256::from(10_000))
        );
        assert_eq!(
            priced.impactBps,
            (gross * U256::from(10_000)).div_ceil(self.books[index_out].0)
        );
        assert!(
            amount * price_in * token_out.unit() >= gross * price_out * token_in.unit(),
            "the vault paid too much"
        );
        self.books[index_in].0 += amount;
        self.books[index_out].0 -= gross;
        self.books[index_out].1 += priced.fee;
        self.swapped += 1;
    }

    /// Swapping to another token and straight back gains nothing.
    fn there_and_back(&mut self) {
        let (token_in, token_out) = two_tokens(&mut self.random);
        let bound = token_in.worth(10_000);
        let amount = self.random.part_of(bound) + U256::from(1);
        let mut network = self.network.twin();
        let before = network.balance_of(token_in.address, ALICE);
        if let Ok(receipt) = network.swap(ALICE, (token_in, token_out), amount, U256::ZERO) {
            let bought = receipt.event::<Vault::Swap>().amountOut;
            // Nothing was gained even if the way back is refused, as for dust.
            let _ = network.swap(ALICE, (token_out, token_in), bought, U256::ZERO);
            assert!(network.balance_of(token_in.address, ALICE) <= before);
        }
    }

    fn check(&mut self, token: TokenInfo) {
        let (reserve, fees, _) = self.books[index(token)];
        let token = token.address;
        assert_eq!(
            self.network.look(VAULT, Vault::reservesCall { token }),
            reserve
        );
        assert_eq!(
            self.network.look(VAULT, Vault::feesAccruedCall { token }),
            fees
        );
        assert_eq!(self.network.balance_of(token, VAULT), reserve + fees);
        if self.random.chance(1) && fees > U256::ZERO {
            let amount = self.random.part_of(fees) + U256::from(1);
            let to = OWNER;
            self.network
                .send(OWNER, VAULT, Vault::withdrawFeesCall { token, amount, to })
                .unwrap();
            let index = TOKENS
                .iter()
                .position(|info| info.address == token)
                .unwrap();
            self.books[index].1 -= amount.min(fees);
        }
    }
}

fn index(token: TokenInfo) -> usize {
    TOKENS
        .iter()
        .position(|other| other.symbol == token.symbol)
        .unwrap()
}

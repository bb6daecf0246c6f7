//! A simulated market. It uses integers throughout, so the same seed gives the same prices on every
//! machine.
//!
//! Each step leads from the prices on chain to the next ones. The simulation therefore continues
//! from prices that were set by other means, and keeps no state of its own.
//!
//! Tokens that follow another one follow the price of its source, not the one on the chain.
//! Otherwise a halt of one would leave the others tradable while they lag behind.

use tetrad_network::network::{Network, PriceModel};
use tetrad_stdx::calendar::{HOUR, YEAR};

use super::{
    Condition, Moment, Source,
    noise::{DEVIATION, Noise},
};

/// The unit of returns and ratios.
const ONE: i128 = 1_000_000_000_000;
/// The longest time that one step covers: when the chain's time jumps, the market is taken to have
/// been closed.
const LONGEST_STEP: u64 = HOUR;
/// Seconds within which a peg pulls a price back.
const PEG_SECONDS: u64 = 100;
/// Standard deviation of the moves of a pegged price in a second, relative to the price.
const PEG_NOISE: i128 = 15_000_000;
/// The most that a ratio grows.
const MOST_GROWTH: i128 = 10 * ONE;
/// The first position of the simulated past, far from those of updates.
const PAST: u64 = 1 << 63;

/// The simulated market.
#[derive(Clone, Debug)]
pub struct Simulation {
    noise: Noise,
    tokens: Vec<Course>,
}

/// The course of one token.
#[derive(Clone, Copy, Debug)]
struct Course {
    reference: i128,
    model: Model,
}

#[derive(Clone, Copy, Debug)]
enum Model {
    Walk {
        volatility_bps: u32,
    },
    Peg,
    Follow {
        leader: usize,
        growth_bps: u32,
        jitter_ppm: u32,
    },
}

impl Model {
    /// A token that follows one outside of the network keeps its price.
    fn new(model: PriceModel, network: &Network) -> Self {
        match model {
            PriceModel::Walk { volatility_bps } => Self::Walk { volatility_bps },
            PriceModel::Peg => Self::Peg,
            PriceModel::Follow {
                token,
                growth_bps,
                jitter_ppm,
            } => {
                let leader = network
                    .tokens
                    .iter()
                    .position(|listed| listed.address == token);
                match leader {
                    Some(leader) => Self::Follow {
                        leader,
                        growth_bps,
                        jitter_ppm,
                    },
                    None => Self::Walk { volatility_bps: 0 },
                }
            }
        }
    }
}

/// One step of the market.
struct SimulationStep<'a> {
    simulation: &'a Simulation,
    /// Position in the streams of random numbers.
    position: u64,
    seconds: u64,
    /// Seconds from the first block to the step's end; negative before it.
    age: i128,
}

impl Simulation {
    /// A market of the network's tokens.
    pub fn new(seed: u64, network: &Network) -> Self {
        let tokens = network.tokens.iter().map(|token| Course {
            reference: i128::from(token.reference_price),
            model: Model::new(token.price_model, network),
        });
        Self {
            noise: Noise::new(seed),
            tokens: tokens.collect(),
        }
    }

    /// The market before the genesis block, at whose time prices are the reference prices.
    pub(crate) fn backwards(&self, genesis: u64) -> Backwards<'_> {
        let prices = self
            .tokens
            .iter()
            .map(|token| token.reference as u64)
            .collect();
        Backwards {
            simulation: self,
            genesis,
            time: genesis,
            prices,
            steps: 0,
        }
    }
}

impl Source for Simulation {
    fn prices(&self, moment: &Moment<'_>) -> Vec<Option<u64>> {
        let step = SimulationStep {
            simulation: self,
            position: moment.update,
            seconds: moment.elapsed.min(LONGEST_STEP),
            age: i128::from(moment.time) - i128::from(moment.genesis),
        };
        let current: Vec<u64> = moment.current.iter().map(|feed| feed.price).collect();
        step.from(&current).into_iter().map(Some).collect()
    }

    fn condition(&self) -> Condition {
        Condition::ok("simulation")
    }
}

/// The simulated past, which is walked backwards.
#[derive(Clone, Debug)]
pub(crate) struct Backwards<'a> {
    simulation: &'a Simulation,
    genesis: u64,
    time: u64,
    prices: Vec<u64>,
    steps: u64,
}

impl Backwards<'_> {
    /// Prices at an earlier time, in seconds since the Unix epoch.
    pub(crate) fn at(&mut self, time: u64) -> &[u64] {
        let step = SimulationStep {
            simulation: self.simulation,
            position: PAST + self.steps,
            seconds: self.time.saturating_sub(time),
            age: i128::from(time) - i128::from(self.genesis),
        };
        self.prices = step.from(&self.prices);
        self.time = time;
        self.steps += 1;
        &self.prices
    }
}

impl SimulationStep<'_> {
    /// The prices after the step.
    fn from(&self, current: &[u64]) -> Vec<u64> {
        let tokens = &self.simulation.tokens;
        let mut next: Vec<u64> = current.to_vec();
        for (index, (course, price)) in tokens.iter().zip(&mut next).enumerate() {
            // A token without a price starts with its reference price.
            let price_now = if *price == 0 {
                course.reference
            } else {
                i128::from(*price)
            };
            let moved = match course.model {
                Model::Walk { volatility_bps } => self.walk(index, price_now, volatility_bps),
                Model::Peg => self.return_to(index, price_now, course.reference),
                // Computed below, after the tokens that it may follow.
                Model::Follow { .. } => price_now,
            };
            *price = in_range(moved);
        }

        for (index, course) in tokens.iter().enumerate() {
            if let Model::Follow {
                leader,
                growth_bps,
                jitter_ppm,
            } = course.model
            {
                let ratio = course.reference * ONE / tokens[leader].reference.max(1);
                let base = i128::from(next[leader]) * ratio / ONE;
                let growth = i128::from(growth_bps) * (ONE / 10_000) * self.age / i128::from(YEAR);
                let jitter =
                    self.normal(index) * i128::from(jitter_ppm) * (ONE / 1_000_000) / DEVIATION;
                let factor = ONE + growth.clamp(-ONE / 2, MOST_GROWTH) + jitter;
                next[index] = in_range(base * factor / ONE);
            }
        }
        next
    }

    /// Geometric Brownian motion without drift.
    fn walk(&self, token: usize, price: i128, volatility_bps: u32) -> i128 {
        let root =
            (u128::from(self.seconds) * (ONE * ONE) as u128 / u128::from(YEAR)).isqrt() as i128;
        let deviation = root * i128::from(volatility_bps) / 10_000;
        price + rounded(price * (deviation * self.normal(token) / DEVIATION))
    }

    /// An Ornstein–Uhlenbeck process around the peg.
    fn return_to(&self, token: usize, price: i128, peg: i128) -> i128 {
        let pull = i128::from(self.seconds.min(PEG_SECONDS)) * ONE / i128::from(PEG_SECONDS);
        let seconds = u128::from(self.seconds.min(PEG_SECONDS));
        let deviation = PEG_NOISE * (seconds * 1_000_000).isqrt() as i128 / 1_000;
        price
            + rounded((peg - price) * pull)
            + rounded(peg * (deviation * self.normal(token) / DEVIATION))
    }

    fn normal(&self, token: usize) -> i128 {
        self.simulation.noise.normal(token as u64, self.position)
    }
}

/// Divides by [`ONE`], halves away from zero.
fn rounded(scaled: i128) -> i128 {
    (scaled + scaled.signum() * (ONE / 2)) / ONE
}

/// Limits a price to the range of the oracle.
fn in_range(price: i128) -> u64 {
    price.clamp(1, i128::from(i64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Feed;

    fn run(seed: u64, updates: u64, elapsed: u64) -> Vec<u64> {
        let network = Network::default();
        let simulation = Simulation::new(seed, &network);
        let mut current: Vec<_> = network
            .tokens
            .iter()
            .map(|token| Feed {
                price: token.reference_price,
                ..Feed::default()
            })
            .collect();
        for update in 0..updates {
            let time = 1_000_000 + elapsed * (update + 1);
            let moment = Moment {
                current: &current,
                time,
                genesis: 1_000_000,
                elapsed,
                update,
            };
            let prices = simulation.prices(&moment);
            for (feed, price) in current.iter_mut().zip(prices) {
                feed.price = price.expect("the simulation knows every price");
            }
        }
        current.into_iter().map(|feed| feed.price).collect()
    }

    /// A change here would break reproducible runs.
    #[test]
    fn a_seed_is_a_market() {
        assert_eq!(run(1, 3, 2), run(1, 3, 2));
        assert_ne!(run(1, 3, 2), run(2, 3, 2));
        let after_a_thousand_updates = [
            9_649_144_205_903u64,
            424_038_782_465,
            350_566_765_032,
            65_072_269_040,
            992_161_380,
            726_428_676,
            567_262_242,
            16_968_578,
            350_267_085_254,
            100_008_518,
            18_603_434_927,
            100_014_690,
        ];
        assert_eq!(run(1, 1_000, 2), after_a_thousand_updates);
    }

    #[test]
    fn a_day_moves_prices_as_much_as_their_volatility_says() {
        let network = Network::default();
        // 43,200 steps of 2 seconds: one day. Five deviations are enough for every seed.
        for seed in 0..3 {
            for (token, price) in network.tokens.iter().zip(run(seed, 43_200, 2)) {
                let change =
                    price.abs_diff(token.reference_price) as f64 / token.reference_price as f64;
                let most = match token.price_model {
                    PriceModel::Walk { volatility_bps } => {
                        5.0 * f64::from(volatility_bps) / 10_000.0 / 365f64.sqrt()
                    }
                    PriceModel::Peg => 0.001,
                    PriceModel::Follow { .. } => 5.0 * 0.7 / 365f64.sqrt(),
                };
                assert!(change < most, "{} moved {change} in a day", token.symbol);
            }
        }
    }

    #[test]
    fn jumps_in_time_are_survived() {
        for elapsed in [0, 1, 86_400 * 365, u64::MAX / 4] {
            assert!(
                run(3, 2, elapsed)
                    .into_iter()
                    .all(|price| (1..=i64::MAX as u64).contains(&price))
            );
        }
    }
}

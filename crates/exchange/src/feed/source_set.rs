//! Several sources, and the policy that combines them.

use std::sync::Arc;

use parking_lot::Mutex;
use tetrad_network::network::Network;
use tetrad_stdx::clock::Clock;
use tetrad_web::Shutdown;
use tokio::task::JoinSet;

use super::{
    Condition, FeedError, Manual, Moment, Replay, ScriptedPrices, Simulation, Source, SourceHealth,
    SourceSpec, Upstream, UpstreamConfig,
};
use crate::oracle::Feed;

/// The policy that combines the prices of several sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The price of the first source that has one.
    Fallback,
    /// The median; of an even number, the mean of the two in the middle.
    Median,
}

/// Several sources in order. Prices set by hand take precedence over all of them, and then those of
/// scenarios.
pub struct SourceSet {
    manual: Manual,
    scripted: ScriptedPrices,
    sources: Vec<Box<dyn Source>>,
    upstreams: Vec<Upstream>,
    policy: Policy,
    /// The last prices.
    last: Mutex<Vec<Option<u64>>>,
}

/// The configuration of a source set.
#[derive(Clone, Copy, Debug)]
pub struct SourceSetConfig<'a> {
    /// The sources in order.
    pub sources: &'a [SourceSpec],
    /// The policy that combines them.
    pub policy: Policy,
    /// Settings of upstreams.
    pub upstream: &'a UpstreamConfig,
    /// Seed of the simulation.
    pub seed: u64,
}

impl SourceSet {
    /// Sets the sources up. Upstreams are contacted only after [`start`](Self::start).
    ///
    /// # Errors
    /// See [`FeedError`].
    pub fn new(
        config: SourceSetConfig<'_>,
        network: &Arc<Network>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, FeedError> {
        let mut sources: Vec<Box<dyn Source>> = Vec::new();
        let mut upstreams = Vec::new();
        for spec in config.sources {
            match spec {
                SourceSpec::Simulation => {
                    sources.push(Box::new(Simulation::new(config.seed, network)))
                }
                SourceSpec::Replay(file) => sources.push(Box::new(Replay::open(file, network)?)),
                SourceSpec::Http { .. } | SourceSpec::Socket { .. } => {
                    let upstream = Upstream::new(
                        spec.clone(),
                        config.upstream.clone(),
                        network.clone(),
                        clock.clone(),
                    )?;
                    upstreams.push(upstream.clone());
                    sources.push(Box::new(upstream));
                }
            }
        }

        Ok(Self {
            manual: Manual::new(network.tokens.len()),
            scripted: ScriptedPrices::new(network.tokens.len()),
            sources,
            upstreams,
            policy: config.policy,
            last: Mutex::default(),
        })
    }

    /// Starts to contact upstreams, until shutdown or until the returned tasks are dropped.
    pub fn start(&self, shutdown: &Shutdown) -> JoinSet<()> {
        self.upstreams
            .iter()
            .map(|upstream| upstream.clone().run(shutdown.clone()))
            .collect()
    }

    /// The prices set by hand.
    pub fn manual(&self) -> &Manual {
        &self.manual
    }

    /// The prices that scenarios drive.
    pub fn scripted(&self) -> &ScriptedPrices {
        &self.scripted
    }

    /// The condition of every source, in order.
    pub fn conditions(&self) -> Vec<Condition> {
        self.sources
            .iter()
            .map(|source| source.condition())
            .collect()
    }

    /// The last price of each token.
    pub fn last(&self) -> Vec<Option<u64>> {
        self.last.lock().clone()
    }

    /// The price of a token: the one set by hand, else the one of a scenario, else the one that the
    /// sources agree on.
    fn decide(&self, token: usize, opinions: &Opinions) -> Option<u64> {
        if let Some(price) = opinions.by_hand.get(token).copied().flatten() {
            return Some(price);
        }

        // `Some(None)` is a scenario in which the sources fall silent.
        if let Some(price) = opinions.scripted.get(token).copied().flatten() {
            return price;
        }

        let mut prices: Vec<u64> = opinions
            .sources
            .iter()
            .filter_map(|prices| prices.get(token).copied().flatten())
            .collect();
        self.agreed(&mut prices)
    }

    /// The price of the first source that has one, or the median of all.
    fn agreed(&self, opinions: &mut [u64]) -> Option<u64> {
        if self.policy == Policy::Fallback {
            return opinions.first().copied();
        }
        opinions.sort_unstable();
        let upper = opinions.len() / 2;
        let lower = opinions.len().checked_sub(1)? / 2;
        // Both are at most 2^63.
        Some(opinions.get(lower)?.midpoint(*opinions.get(upper)?))
    }
}

/// The prices that everything in a set proposes, by token.
struct Opinions {
    by_hand: Vec<Option<u64>>,
    scripted: Vec<Option<Option<u64>>>,
    /// Those of each source, in the order of the list.
    sources: Vec<Vec<Option<u64>>>,
}

/// The prices that sources further down the list see: those on the chain, replaced by the decisions
/// of the sources above.
struct Precedence {
    current: Vec<Feed>,
    decided: Vec<Option<u64>>,
}

impl Precedence {
    /// Adds the prices of the next source, which decides where none before it has.
    fn add(&mut self, prices: &[Option<u64>]) {
        for ((feed, decided), price) in self.current.iter_mut().zip(&mut self.decided).zip(prices) {
            *decided = decided.or(*price);
            feed.price = decided.unwrap_or(feed.price);
        }
    }
}

impl Source for SourceSet {
    fn prices(&self, moment: &Moment<'_>) -> Vec<Option<u64>> {
        let held = self.manual.prices(moment);
        let scripted = self.scripted.opinions(moment);
        let mut precedence = Precedence {
            current: moment.current.to_vec(),
            decided: vec![None; moment.current.len()],
        };
        precedence.add(&held);
        precedence.add(
            &scripted
                .iter()
                .map(|opinion| opinion.flatten())
                .collect::<Vec<_>>(),
        );

        let mut all = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            let prices = source.prices(&Moment {
                current: &precedence.current,
                ..*moment
            });
            // The median is known only once all sources have answered.
            if self.policy == Policy::Fallback {
                precedence.add(&prices);
            }
            all.push(prices);
        }

        let opinions = Opinions {
            by_hand: held,
            scripted,
            sources: all,
        };
        let decided: Vec<_> = (0..moment.current.len())
            .map(|token| self.decide(token, &opinions))
            .collect();
        self.last.lock().clone_from(&decided);
        decided
    }

    fn condition(&self) -> Condition {
        let conditions = self.conditions();
        let best = conditions
            .into_iter()
            .find(|condition| condition.status == SourceHealth::Ok);
        best.unwrap_or(Condition {
            status: SourceHealth::Waiting,
            ..Condition::ok("sources")
        })
    }
}

impl std::fmt::Debug for SourceSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SourceSet")
            .field("sources", &self.conditions())
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{PricePath, PriceScript};

    struct Fixed(Vec<Option<u64>>);

    impl Source for Fixed {
        fn prices(&self, _: &Moment<'_>) -> Vec<Option<u64>> {
            self.0.clone()
        }

        fn condition(&self) -> Condition {
            Condition::ok("fixed")
        }
    }

    impl Fixed {
        /// A source of these prices; it has none for a 0.
        fn new(prices: [u64; 4]) -> Self {
            let prices = prices.map(|price| Some(price).filter(|price| *price > 0));
            Self(prices.to_vec())
        }
    }

    fn source_set(policy: Policy, columns: [[u64; 4]; 3]) -> SourceSet {
        let sources = columns.map(|row| Box::new(Fixed::new(row)) as Box<dyn Source>);
        SourceSet {
            manual: Manual::new(4),
            scripted: ScriptedPrices::new(4),
            sources: sources.into(),
            upstreams: Vec::new(),
            policy,
            last: Mutex::default(),
        }
    }

    fn ask(sources: &SourceSet) -> Vec<Option<u64>> {
        let current = [Feed::default(); 4];
        sources.prices(&Moment {
            current: &current,
            time: 0,
            genesis: 0,
            elapsed: 0,
            update: 0,
        })
    }

    #[test]
    fn the_first_opinion_or_the_middle_one_counts() {
        let columns = [[1, 0, 0, 0], [9, 5, 0, 8], [4, 6, 0, 3]];
        let fallback = source_set(Policy::Fallback, columns);
        assert_eq!(ask(&fallback), [Some(1), Some(5), None, Some(8)]);
        let median = source_set(Policy::Median, columns);
        assert_eq!(ask(&median), [Some(4), Some(5), None, Some(5)]);
        let extremes = source_set(
            Policy::Median,
            [[i64::MAX as u64; 4], [i64::MAX as u64; 4], [0; 4]],
        );
        assert_eq!(ask(&extremes), [Some(i64::MAX as u64); 4]);
    }

    #[test]
    fn a_price_by_hand_comes_before_all_others() {
        let sources = source_set(Policy::Median, [[1; 4], [2; 4], [3; 4]]);
        sources.manual().hold(2, Some(100));
        assert_eq!(ask(&sources), [Some(2), Some(2), Some(100), Some(2)]);
        assert_eq!(sources.last()[2], Some(100));
        sources.manual().hold(2, None);
        assert_eq!(ask(&sources), [Some(2); 4]);
    }

    #[test]
    fn a_scenario_comes_before_the_sources_and_after_a_price_by_hand() {
        let sources = source_set(Policy::Fallback, [[1; 4], [2; 4], [3; 4]]);
        sources.scripted().set(0, PriceScript::Silence);
        let path = PricePath {
            from: 5,
            to: 9,
            begins: 0,
            seconds: 0,
        };
        sources.scripted().set(1, PriceScript::Path(path));
        sources.scripted().set(2, PriceScript::Silence);
        sources.manual().hold(2, Some(100));
        assert_eq!(ask(&sources), [None, Some(9), Some(100), Some(1)]);
    }
}

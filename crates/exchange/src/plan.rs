//! The prices of an update: which tokens it has, how far each price moves, and the target of each.

use tetrad_network::network::Token;

use super::oracle::{OracleState, TokenHalt};

/// The most that one update moves a price, in basis points. The oracle rejects moves of more than
/// 25 %; larger ones take several updates.
const MAX_MOVE_BPS: u64 = 2_000;
/// The distance from its source at which a price does not wait for the tick, in basis points: half
/// of the vault's fee, because a swap uses two prices.
const URGENT_BPS: u64 = 15;
/// The distance from its target at which the oracle resumes a token, in basis points.
const ARRIVAL_BPS: u64 = 100;

/// One price of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedPrice {
    /// The token's position in the network's list.
    pub token: usize,
    /// The price.
    pub price: u64,
    /// The price of the source. The token is halted while the two differ.
    pub target: u64,
}

/// The basis of an update.
#[derive(Clone, Copy, Debug)]
pub struct UpdatePlan<'a> {
    /// The network's tokens.
    pub tokens: &'a [Token],
    /// The oracle.
    pub oracle: &'a OracleState,
    /// The source's price of each token, if it has one; none at all if prices are frozen.
    pub opinions: Option<&'a [Option<u64>]>,
    /// Whether a tick has passed, so that all prices move. Between ticks only exploitable ones
    /// move.
    pub moves: bool,
    /// Time of the block, in seconds since the Unix epoch.
    pub time: u64,
}

impl UpdatePlan<'_> {
    /// The prices that moved, those that would otherwise become stale, and those of tokens to halt
    /// or to resume. A price that no source confirms any longer is left to become stale.
    pub fn prices(&self) -> Vec<PlannedPrice> {
        (0..self.oracle.feeds.len())
            .filter_map(|token| self.price(token))
            .collect()
    }

    fn price(&self, token: usize) -> Option<PlannedPrice> {
        let feed = self.oracle.feeds.get(token)?;
        // A token without a price gets its reference price.
        let now = if feed.price == 0 {
            self.tokens.get(token)?.reference_price
        } else {
            feed.price
        };
        let opinion = self
            .opinions
            .and_then(|opinions| opinions.get(token).copied().flatten());
        let halt = self
            .oracle
            .halts
            .as_ref()
            .and_then(|halts| halts.get(token).copied());

        let moved = opinion.filter(|opinion| self.moves || is_due(halt, now, *opinion));
        let price = moved.map_or(now, |opinion| {
            step(now, opinion, self.most(now), self.accepted(now))
        });
        let target = opinion.unwrap_or(match halt {
            Some(TokenHalt::Behind(target)) => target,
            Some(TokenHalt::None | TokenHalt::Owner) | None => price,
        });

        let grows_old = self.time.saturating_sub(feed.updated_at) >= self.oracle.max_age / 2;
        let vouched = self.opinions.is_none() || opinion.is_some();
        let switches = match halt {
            Some(TokenHalt::None) => !is_near(price, target),
            Some(TokenHalt::Behind(_)) => vouched && is_near(price, target),
            Some(TokenHalt::Owner) | None => false,
        };
        let wanted = price != feed.price || switches || (grows_old && vouched);
        wanted.then_some(PlannedPrice {
            token,
            price,
            target,
        })
    }

    /// The most that the next update moves a price, unless it arrives.
    fn most(&self, price: u64) -> u64 {
        // At least one unit, or a price below five units would never move.
        share(price, MAX_MOVE_BPS).max(1).min(self.accepted(price))
    }

    /// The largest move of a price that the oracle accepts. One with halts accepts a move by one
    /// unit whatever the price; one without them only if its share allows that much.
    fn accepted(&self, price: u64) -> u64 {
        let unit = if self.oracle.halts.is_some() { 1 } else { 0 };
        share(price, self.oracle.max_move_bps).max(unit)
    }
}

/// The next price on the way from `now` to `target`: the target, or a price that the oracle accepts
/// and does not take for an arrival. A token that is resumed therefore has its source's price.
fn step(now: u64, target: u64, most: u64, accepted: u64) -> u64 {
    // The oracle takes prices from 1 to 2^63 - 1.
    let target = target.clamp(1, i64::MAX as u64);
    let distance = target.abs_diff(now);
    if distance <= most {
        return target;
    }

    let toward = |by: u64| if target > now { now + by } else { now - by };

    let full = toward(most);
    if !is_near(full, target) {
        return full;
    }

    // The oracle accepts more than a step: a price that arrives at once does not lag behind those
    // that move alike.
    if distance <= accepted {
        target
    } else {
        toward((distance / 2).min(most))
    }
}

/// Whether a token's price moves to its source's between ticks.
fn is_due(halt: Option<TokenHalt>, now: u64, opinion: u64) -> bool {
    match halt {
        Some(TokenHalt::None) => is_urgent(now, opinion),
        // Its price is exact before it is tradable again.
        Some(TokenHalt::Behind(_)) => is_near(now, opinion),
        Some(TokenHalt::Owner) | None => false,
    }
}

fn share(price: u64, bps: u64) -> u64 {
    (u128::from(price) * u128::from(bps) / 10_000) as u64
}

/// Whether a swap at `price` could gain more than its share of the fee from knowing `opinion`.
fn is_urgent(price: u64, opinion: u64) -> bool {
    u128::from(price.abs_diff(opinion)) * 10_000
        > u128::from(price.min(opinion)) * u128::from(URGENT_BPS)
}

/// Whether a price has arrived at its target, by the oracle's rule.
fn is_near(price: u64, target: u64) -> bool {
    u128::from(price.abs_diff(target)) * 10_000 <= u128::from(target) * u128::from(ARRIVAL_BPS)
}

#[cfg(test)]
mod tests {
    use tetrad_network::network::Network;

    use super::*;
    use crate::oracle::Feed;

    /// The next price from an oracle without halts, and from one with them.
    fn steps(now: u64, target: u64, max_move_bps: u64) -> [u64; 2] {
        let without_halts = oracle(Feed::default(), None, max_move_bps);
        let with_halts = OracleState {
            halts: Some(Vec::new()),
            ..without_halts.clone()
        };

        [without_halts, with_halts].map(|oracle| {
            let network = Network::default();
            let plan = plan(&network, &oracle, &[], true);
            step(now, target, plan.most(now), plan.accepted(now))
        })
    }

    #[test]
    fn a_step_stays_within_what_the_oracle_accepts() {
        assert_eq!(steps(1_000, 1_100, 2_500), [1_100; 2]);
        assert_eq!(steps(1_000, 2_000, 2_500), [1_200; 2]);
        assert_eq!(steps(1_000, 2_000, 100), [1_010; 2]);
        assert_eq!(steps(1_000, 1, 2_500), [800; 2]);
        assert_eq!(steps(1, 0, 2_500), [1; 2]);
        assert_eq!(steps(4, 9, 2_500), [5; 2]);
        assert_eq!(
            steps(3, 9, 2_500),
            [3, 4],
            "an oracle without halts rejects a move by one unit"
        );
        assert_eq!(
            steps(i64::MAX as u64, u64::MAX, 2_500),
            [i64::MAX as u64; 2]
        );
    }

    #[test]
    fn a_price_of_one_unit_recovers() {
        let network = Network::default();
        let mut price = 1;
        for updates in 0.. {
            assert!(updates < 200, "stuck at {price}");
            let oracle = oracle(
                Feed {
                    price,
                    updated_at: 100,
                    halted: true,
                },
                Some(TokenHalt::Behind(1_000)),
                2_500,
            );
            match plan(&network, &oracle, &[Some(9_700_000_000_000)], true).prices()[..] {
                [PlannedPrice { price: next, .. }] if next > price => price = next,
                _ => break,
            }
        }
        assert_eq!(price, 9_700_000_000_000);
    }

    #[test]
    fn a_step_does_not_end_close_to_the_target() {
        // A whole step leads to 800, which the oracle would take for an arrival.
        assert_eq!(step(1_000, 795, 200, 200), 898);
        assert_eq!(step(898, 795, 179, 179), 795);
        for (target, accepted) in (1..3_000).flat_map(|target| [(target, 200), (target, 250)]) {
            let price = step(1_000, target, 200, accepted);
            assert!(
                price == target || !is_near(price, target),
                "{price} on the way to {target}"
            );
        }
    }

    /// If one of them arrived earlier, an account with the one as collateral for the other would be
    /// liquidatable in between.
    #[test]
    fn tokens_that_move_alike_around_a_whole_step_arrive_together() {
        for (one, other) in [(802, 798), (1_198, 1_202), (800, 793)] {
            assert_eq!(
                (step(1_000, one, 200, 250), step(1_000, other, 200, 250)),
                (one, other)
            );
        }
    }

    /// An oracle of one token.
    fn oracle(feed: Feed, halt: Option<TokenHalt>, max_move_bps: u64) -> OracleState {
        OracleState {
            feeds: vec![feed],
            halts: halt.map(|halt| vec![halt]),
            max_age: 600,
            max_move_bps,
        }
    }

    fn plan<'a>(
        network: &'a Network,
        oracle: &'a OracleState,
        opinions: &'a [Option<u64>],
        moves: bool,
    ) -> UpdatePlan<'a> {
        UpdatePlan {
            tokens: &network.tokens,
            oracle,
            opinions: Some(opinions),
            moves,
            time: 100,
        }
    }

    /// The plan for the first token of a network, whose price is 1,000.
    fn planned(halt: Option<TokenHalt>, opinion: Option<u64>, moves: bool) -> Option<(u64, u64)> {
        let halted = halt.is_some_and(|halt| halt != TokenHalt::None);
        let oracle = oracle(
            Feed {
                price: 1_000,
                updated_at: 100,
                halted,
            },
            halt,
            2_500,
        );
        let plan = plan(&Network::default(), &oracle, &[opinion], moves).prices();
        plan.first().map(|planned| (planned.price, planned.target))
    }

    #[test]
    fn between_ticks_only_what_somebody_could_exploit_moves() {
        let open = Some(TokenHalt::None);
        assert_eq!(planned(open, Some(1_001), true), Some((1_001, 1_001)));
        assert_eq!(planned(open, Some(1_001), false), None);
        assert_eq!(planned(open, Some(1_002), false), Some((1_002, 1_002)));
        assert_eq!(planned(open, Some(998), false), Some((998, 998)));
        assert_eq!(
            planned(open, Some(500), false),
            Some((800, 500)),
            "it is halted at once"
        );
        assert_eq!(planned(open, None, true), None);
    }

    #[test]
    fn a_halted_token_walks_by_the_tick_and_arrives_exactly() {
        let behind = Some(TokenHalt::Behind(500));
        assert_eq!(planned(behind, Some(500), false), None);
        assert_eq!(planned(behind, Some(500), true), Some((800, 500)));
        assert_eq!(
            planned(behind, Some(1_000), false),
            Some((1_000, 1_000)),
            "the source came back"
        );
        assert_eq!(planned(behind, Some(1_005), false), Some((1_005, 1_005)));
        assert_eq!(
            planned(behind, None, true),
            None,
            "no source confirms that it has arrived"
        );
        let owner = Some(TokenHalt::Owner);
        assert_eq!(planned(owner, Some(1_000), true), None);
        assert_eq!(planned(owner, Some(900), false), None);
        assert_eq!(planned(owner, Some(900), true), Some((900, 900)));
    }

    #[test]
    fn an_oracle_without_halts_is_updated_by_the_tick_alone() {
        assert_eq!(planned(None, Some(500), false), None);
        assert_eq!(planned(None, Some(500), true), Some((800, 500)));
        assert_eq!(planned(None, Some(1_000), true), None);
    }
}

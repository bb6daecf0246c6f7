//! Keeping, pruning and reverting the history.

use proptest::prelude::*;
use tetrad_network::network::Network;

use super::*;

fn seeded(genesis: u64) -> PriceHistory {
    let network = Network::default();
    let prices: Vec<_> = network
        .tokens
        .iter()
        .map(|token| token.reference_price)
        .collect();
    PriceHistory::seeded(&Simulation::new(1, &network), genesis, &prices)
}

#[test]
fn the_past_is_made_up_for_a_day_and_a_month() {
    let genesis = 1_700_000_030;
    let history = seeded(genesis);
    let (oldest, _) = history.minutes.at(0, 2).expect("a row");
    let day_ago = (genesis - 1 - DAY) / MINUTE * MINUTE + MINUTE;
    assert_eq!(oldest, (day_ago.div_ceil(HOUR) - SEEDED_HOURS) * HOUR);
    assert_eq!(*history.minutes.held().end(), 1_700_000_000 / MINUTE);
    for (seconds, count) in [(60, 1_440), (300, 288), (HOUR, 720), (DAY, 30)] {
        let candles = history.candles(2, genesis, seconds, count);
        assert_eq!(candles.len() as u64, count);
        assert!(
            candles
                .iter()
                .all(|(_, bar, _)| bar.low <= bar.open.min(bar.close)
                    && bar.high >= bar.open.max(bar.close))
        );
        assert!(
            candles
                .iter()
                .any(|(_, bar, _)| seconds <= MINUTE || bar.low < bar.high),
            "prices move"
        );
    }
    let month = history.series(2, 7, genesis, 30 * DAY, 1_000);
    assert!(month.len() > 700, "{}", month.len());
    assert_eq!(month.last(), Some(&(genesis, 7)));
    assert!(month.is_sorted_by(|a, b| a.0 < b.0));
    let day = history.series(2, 7, genesis, DAY, 100);
    assert_eq!(day.len(), 100);
}

#[test]
fn a_first_block_at_the_beginning_of_time_has_no_past() {
    for genesis in [0, 1, 59, 60, 61, 3_600, 90_000] {
        let mut history = seeded(genesis);
        assert_eq!(history.series(0, 5, genesis, 30 * DAY, 1).len(), 1);
        history.apply(BlockPrices {
            time: genesis,
            prices: &[(0, 5)],
            trades: &[],
            rejections: 0,
        });
        history.apply(BlockPrices {
            time: genesis + 61,
            prices: &[],
            trades: &[],
            rejections: 0,
        });
        assert_eq!(
            history.minutes.at(genesis + 61, 0).map(|(_, price)| price),
            Some(5),
            "{genesis}"
        );
    }
}

#[test]
fn a_change_is_rounded_to_a_hundredth_of_a_per_cent() {
    let mut history = PriceHistory::starting(0, &[30_000]);
    history.apply(BlockPrices {
        time: 1,
        prices: &[],
        trades: &[],
        rejections: 0,
    });
    assert_eq!(history.change_24h(0, 30_001, 10), 0);
    assert_eq!(history.change_24h(0, 30_002, 10), 1);
    assert_eq!(history.change_24h(0, 29_998, 10), -1);
    assert_eq!(history.change_24h(0, 60_000, 10), 10_000);
    assert_eq!(PriceHistory::starting(0, &[0]).change_24h(0, 5, 10), 0);
}

#[test]
fn volumes_last_a_day() {
    let mut history = PriceHistory::starting(0, &[1, 1]);
    history.apply(BlockPrices {
        time: 60,
        prices: &[],
        trades: &[(0, 5), (1, 7), (0, 5)],
        rejections: 2,
    });
    history.apply(BlockPrices {
        time: 121,
        prices: &[],
        trades: &[(0, 1)],
        rejections: 0,
    });
    assert_eq!(
        (history.volumes_24h(121), history.rejections_24h(121)),
        (vec![11, 7], 2)
    );
    assert_eq!(
        (
            history.volumes_24h(60 + DAY),
            history.rejections_24h(60 + DAY)
        ),
        (vec![1, 0], 0)
    );
    assert_eq!(history.volumes_24h(120 + DAY), [0, 0]);
}

/// A block of two tokens: seconds since the one before, prices that change, trades.
type Block = (u64, Vec<(usize, u64)>, Vec<(usize, u128)>);

fn blocks(most: usize) -> impl Strategy<Value = Vec<Block>> {
    let pause = prop_oneof![6 => 0u64..100, 2 => 100u64..8_000, 1 => 50_000u64..200_000];
    let prices = prop::collection::vec((0usize..2, 1u64..1_000), 0..3);
    let trades = prop::collection::vec((0usize..2, 1u128..1_000), 0..3);
    prop::collection::vec((pause, prices, trades), 1..most)
}

fn timed(start: u64, blocks: Vec<Block>) -> Vec<Block> {
    let mut now = start;
    let mut timed = Vec::new();
    for (pause, prices, trades) in blocks {
        now += pause;
        timed.push((now, prices, trades));
    }
    timed
}

fn apply(history: &mut PriceHistory, blocks: &[Block]) {
    for (time, prices, trades) in blocks {
        history.apply(BlockPrices {
            time: *time,
            prices,
            trades,
            rejections: 0,
        });
    }
}

/// Change and volume within a day, the prices of a day and a month, and candles, of one token.
type Answers = (
    i128,
    u128,
    Vec<(u64, u64)>,
    Vec<(u64, u64)>,
    Vec<(u64, Bar, u128)>,
);

/// Everything that can be asked at `now`.
fn answers(history: &PriceHistory, now: u64) -> Vec<Answers> {
    vec![
        answers_about(history, 0, now),
        answers_about(history, 1, now),
    ]
}

fn answers_about(history: &PriceHistory, token: usize, now: u64) -> Answers {
    let day = history.series(token, 1, now, DAY, 1_441);
    let month = history.series(token, 1, now, 30 * DAY, 1_441);
    let candles = history.candles(token, now, 300, 100);
    (
        history.change_24h(token, 500, now),
        history.volumes_24h(now)[token],
        day,
        month,
        candles,
    )
}

/// The bars of `seconds` each, computed naively from every block.
fn expected_candles(start: u64, blocks: &[Block], seconds: u64) -> Vec<(u64, Bar, u128)> {
    let mut price = 10;
    let mut candles = Vec::new();
    let mut at = 0;
    let end = blocks.last().expect("a block").0;
    for number in start / seconds..=end / seconds {
        let begin = number * seconds;
        let over = (number + 1) * seconds;
        let mut bar = None;
        let mut volume = 0;
        while let Some((time, prices, trades)) = blocks.get(at).filter(|block| block.0 < over) {
            if *time > begin && bar.is_none() {
                bar = Some(Bar::flat(price));
            }
            for (_, new) in prices.iter().filter(|(token, _)| *token == 0) {
                price = *new;
                bar = if *time == begin {
                    None
                } else {
                    bar.map(|bar| bar.then(Bar::flat(price)))
                };
            }
            volume += trades
                .iter()
                .filter(|(token, _)| *token == 0)
                .map(|(_, usd)| usd)
                .sum::<u128>();
            at += 1;
        }
        candles.push((begin, bar.unwrap_or(Bar::flat(price)), volume));
    }
    candles
}

proptest! {
    #[test]
    fn candles_are_what_the_blocks_say(blocks in blocks(12)) {
        let start = 1_700_000_000;
        let blocks = timed(start, blocks);
        let mut history = PriceHistory::starting(start, &[10, 20]);
        apply(&mut history, &blocks);
        let now = blocks.last().expect("a block").0;
        prop_assert_eq!(
            history.candles(0, now, MINUTE, u64::MAX >> 8),
            expected_candles(start, &blocks, MINUTE)
        );

        let long = history.candles(0, now, HOUR, 5);
        let short = history.candles(0, now, 300, 60);
        let (time, last, volume) = *long.last().expect("a candle");
        let parts: Vec<_> = short.iter().filter(|(begin, ..)| *begin >= time).collect();
        let joined = parts.iter().map(|(_, bar, _)| *bar).reduce(Bar::then).expect("a candle");
        prop_assert_eq!((last, volume), (joined, parts.iter().map(|(.., volume)| volume).sum()));
    }

    /// Going back and taking another way is like having taken it in the first place, unless the
    /// history says that it no longer knows enough.
    #[test]
    fn going_back_leaves_no_trace(kept in blocks(12), gone in blocks(12), instead in blocks(6)) {
        let start = 1_700_000_000;
        let kept = timed(start, kept);
        let fork = kept.last().expect("a block").0;
        let gone = timed(fork, gone);
        let instead = timed(fork, instead);

        let mut straight = PriceHistory::starting(start, &[10, 20]);
        apply(&mut straight, &kept);
        let mut back = straight.clone();
        apply(&mut straight, &instead);

        apply(&mut back, &gone);
        if let Some(from) = back.rewind(fork) {
            let again: Vec<_> = kept.into_iter().filter(|block| block.0 > from).collect();
            apply(&mut back, &again);
            apply(&mut back, &instead);
            let now = instead.last().expect("a block").0;
            prop_assert_eq!(answers(&back, now), answers(&straight, now));
        } else {
            // It began within the same minute, or more than a day of it is gone.
            let end = gone.last().expect("a block").0;
            prop_assert!(fork < start + MINUTE || end - fork > DAY - 2 * HOUR);
        }
    }
}

//! What was, what is forgotten, and going back.

use proptest::prelude::*;

use super::*;
use crate::network::Network;

fn seeded(genesis: u64) -> History {
    let network = Network::default();
    let prices: Vec<_> = network.tokens.iter().map(|token| token.reference_price).collect();
    History::seeded(&Simulation::new(1, &network), genesis, &prices)
}

#[test]
fn the_past_is_made_up_for_a_day_and_a_month() {
    let genesis = 1_700_000_030;
    let history = seeded(genesis);
    let (oldest, _) = history.minutes.at(0).expect("a row");
    assert_eq!(oldest, (genesis - 1 - DAY) / MINUTE * MINUTE + MINUTE);
    assert_eq!(history.minutes.newest().expect("a row").0, 1_700_000_000 / MINUTE * MINUTE);
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
        history.apply(Entry { time: genesis, prices: &[(0, 5)], trades: &[] });
        history.apply(Entry { time: genesis + 61, prices: &[], trades: &[] });
        assert_eq!(history.minutes.newest().map(|(_, row)| row[0]), Some(5), "{genesis}");
    }
}

#[test]
fn a_change_is_rounded_to_a_hundredth_of_a_per_cent() {
    let mut history = History::starting(0, &[30_000]);
    history.apply(Entry { time: 1, prices: &[], trades: &[] });
    assert_eq!(history.change_24h(0, 30_001, 10), 0);
    assert_eq!(history.change_24h(0, 30_002, 10), 1);
    assert_eq!(history.change_24h(0, 29_998, 10), -1);
    assert_eq!(history.change_24h(0, 60_000, 10), 10_000);
    assert_eq!(History::starting(0, &[0]).change_24h(0, 5, 10), 0);
}

#[test]
fn volumes_last_a_day() {
    let mut history = History::starting(0, &[1, 1]);
    history.apply(Entry { time: 60, prices: &[], trades: &[(0, 5), (1, 7), (0, 5)] });
    history.apply(Entry { time: 61, prices: &[], trades: &[(0, 1)] });
    assert_eq!((history.volume_24h(0, 61), history.volume_24h(1, 61)), (11, 7));
    assert_eq!(history.volume_24h(0, 60 + DAY), 1);
    assert_eq!(history.volume_24h(0, 120 + DAY), 0);
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
    let at = |(pause, prices, trades): Block| {
        now += pause;
        (now, prices, trades)
    };
    blocks.into_iter().map(at).collect()
}

fn apply(history: &mut History, blocks: &[Block]) {
    for (time, prices, trades) in blocks {
        history.apply(Entry { time: *time, prices, trades });
    }
}

/// Change and volume within a day, and the prices of a day and a month, of one token.
type Answers = (i128, u128, Vec<(u64, u64)>, Vec<(u64, u64)>);

/// Everything that can be asked at `now`.
fn answers(history: &History, now: u64) -> Vec<Answers> {
    let of = |token| {
        let day = history.series(token, 1, now, DAY, 1_441);
        let month = history.series(token, 1, now, 30 * DAY, 1_441);
        (history.change_24h(token, 500, now), history.volume_24h(token, now), day, month)
    };
    vec![of(0), of(1)]
}

proptest! {
    /// Going back and taking another way is like having taken it in the first place, unless the history says that it
    /// does not know enough any more.
    #[test]
    fn going_back_leaves_no_trace(kept in blocks(12), gone in blocks(12), instead in blocks(6)) {
        let start = 1_700_000_000;
        let kept = timed(start, kept);
        let fork = kept.last().expect("a block").0;
        let (gone, instead) = (timed(fork, gone), timed(fork, instead));

        let mut straight = History::starting(start, &[10, 20]);
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

//! Prices at evenly spaced instants, the newest of them.

use std::{collections::VecDeque, sync::Arc};

/// The prices of all tokens at one instant. Instants between which nothing changed share one.
pub(super) type Row = Arc<[u64]>;

/// A row for every multiple of `step` seconds, which says what prices held at that instant.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    step: u64,
    /// Rows that questions may be about.
    needed: u64,
    /// Rows that are held: some more, so that going back in time does not mean starting over.
    kept: u64,
    /// Number of the first row there ever was.
    origin: u64,
    /// Number of the next row, whose time is this times `step`.
    next: u64,
    rows: VecDeque<Row>,
}

impl Ring {
    /// Without rows; the first will be that of the first instant at or after `from`.
    pub(super) fn new(step: u64, needed: u64, spare: u64, from: u64) -> Self {
        let next = from.div_ceil(step);
        Self { step, needed, kept: needed + spare, origin: next, next, rows: VecDeque::new() }
    }

    /// Adds rows for all instants before `time`.
    pub(super) fn advance(&mut self, time: u64, prices: &Row) {
        let end = time.div_ceil(self.step).max(self.next);
        let added = (end - self.next).min(self.kept);
        self.next = end;
        self.rows.extend(std::iter::repeat_n(prices.clone(), added as usize));
        let surplus = self.rows.len().saturating_sub(self.kept as usize);
        self.rows.drain(..surplus);
    }

    /// Drops the rows at and after `time`. Returns whether what is left is all that may be asked for: after a long
    /// way back it is not.
    pub(super) fn rewind(&mut self, time: u64) -> bool {
        let end = time.div_ceil(self.step).min(self.next);
        let oldest = self.oldest_number();
        self.rows.truncate(end.saturating_sub(oldest) as usize);
        self.next = end;
        oldest <= end.saturating_sub(self.needed).max(self.origin)
    }

    /// The row that holds at `time` and its own time; the oldest if there is none that old.
    pub(super) fn at(&self, time: u64) -> Option<(u64, &Row)> {
        self.row((time / self.step).max(self.oldest_number()))
    }

    /// The newest row and its time.
    pub(super) fn newest(&self) -> Option<(u64, &Row)> {
        self.row(self.next.checked_sub(1)?)
    }

    fn row(&self, number: u64) -> Option<(u64, &Row)> {
        let at = number.checked_sub(self.oldest_number())?;
        self.rows.get(at as usize).map(|row| (number * self.step, row))
    }

    fn oldest_number(&self) -> u64 {
        self.next - self.rows.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(price: u64) -> Row {
        Arc::from([price])
    }

    fn prices(ring: &Ring) -> Vec<u64> {
        ring.rows.iter().map(|row| row[0]).collect()
    }

    #[test]
    fn a_row_is_what_held_at_its_instant() {
        let mut ring = Ring::new(60, 3, 1, 100);
        ring.advance(120, &row(1));
        assert!(prices(&ring).is_empty(), "120 is not over yet");
        ring.advance(121, &row(2));
        ring.advance(200, &row(3));
        assert_eq!(prices(&ring), [2, 3]);
        assert_eq!(ring.at(179), Some((120, &row(2))));
        assert_eq!(ring.at(0), Some((120, &row(2))), "nothing is older");
        assert_eq!(ring.at(240), None, "nothing is known yet");
        ring.advance(1_000, &row(4));
        assert_eq!(prices(&ring), [4, 4, 4, 4]);
        assert_eq!(ring.newest(), Some((960, &row(4))));
    }

    #[test]
    fn going_back_tells_whether_enough_is_left() {
        let mut ring = Ring::new(60, 3, 1, 0);
        ring.advance(61, &row(1));
        ring.advance(600, &row(2));
        assert_eq!(prices(&ring), [2, 2, 2, 2]);
        assert!(ring.clone().rewind(540), "three are left");
        assert!(!ring.clone().rewind(480), "two are left");
        let mut young = Ring::new(60, 3, 1, 0);
        young.advance(150, &row(1));
        assert!(young.rewind(61), "there never was more");
        assert_eq!(prices(&young), [1, 1]);
    }

    #[test]
    fn a_jump_of_ages_costs_no_more_than_the_ring() {
        let mut ring = Ring::new(60, 3, 1, 0);
        ring.advance(u64::MAX, &row(1));
        assert_eq!(prices(&ring).len(), 4);
        assert!(!ring.rewind(0));
    }
}

//! The log index of the growing part: sorted runs of keys and blocks, and a short unsorted rest.

use super::key::LogKey;

/// Most rows in the unsorted rest, which is searched linearly.
const REST: usize = 8_192;

/// A key of a block's logs, and the block's number.
type LogRow = (LogKey, u64);

/// The rows of a part of the index, without duplicates.
#[derive(Debug, Default)]
pub(super) struct LogRows {
    runs: Vec<Vec<LogRow>>,
    rest: Vec<LogRow>,
}

impl LogRows {
    /// Adds a block with all keys of its logs, in any order and with duplicates.
    pub(super) fn insert(&mut self, number: u64, mut keys: Vec<LogKey>) {
        keys.sort_unstable();
        keys.dedup();
        self.rest.extend(keys.into_iter().map(|key| (key, number)));

        if self.rest.len() >= REST {
            self.rest.sort_unstable();
            self.runs.push(std::mem::take(&mut self.rest));
        }
    }

    /// Returns the blocks from `from` to `to` with logs under `key`, in no particular order.
    pub(super) fn blocks_with(&self, key: LogKey, from: u64, to: u64) -> Vec<u64> {
        let mut found = Vec::new();
        for run in &self.runs {
            let start = run.partition_point(|row| *row < (key, from));
            let rows = run[start..]
                .iter()
                .take_while(|(own, number)| *own == key && *number <= to);
            found.extend(rows.map(|(_, number)| *number));
        }

        let rest = self
            .rest
            .iter()
            .filter(|(own, number)| *own == key && (from..=to).contains(number));
        found.extend(rest.map(|(_, number)| *number));
        found
    }

    /// Returns key and block of each row, in ascending order.
    pub(super) fn rows(&self) -> Vec<[u64; 2]> {
        let all = self.runs.iter().flatten().chain(&self.rest);
        let mut rows: Vec<_> = all.map(|(key, number)| [key.0, *number]).collect();
        rows.sort_unstable();
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_same_rows_as_a_plain_list() {
        let mut rows = LogRows::default();
        let mut all = Vec::new();
        let mut mixed = 7u64;
        for number in 0..6_000u64 {
            let keys: Vec<_> = (0..number % 9)
                .map(|_| {
                    mixed = mixed
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    LogKey((mixed >> 33) % 50)
                })
                .collect();
            all.extend(keys.iter().map(|key| (*key, number)));
            rows.insert(number, keys);
        }

        all.sort_unstable();
        all.dedup();
        assert!(rows.runs.len() > 1 && !rows.rest.is_empty());
        assert_eq!(
            rows.rows(),
            all.iter()
                .map(|(key, number)| [key.0, *number])
                .collect::<Vec<_>>()
        );

        for (key, from, to) in [
            (3, 0, 6_000),
            (7, 1_000, 1_000),
            (49, 17, 3_333),
            (50, 0, 6_000),
        ] {
            let mut found = rows.blocks_with(LogKey(key), from, to);
            found.sort_unstable();
            let wanted = all
                .iter()
                .filter(|(own, number)| own.0 == key && (from..=to).contains(number));
            assert_eq!(found, wanted.map(|(_, number)| *number).collect::<Vec<_>>());
        }
    }
}

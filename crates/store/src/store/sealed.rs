//! A part of the index in a file of sorted tables, which are searched on disk.

use std::{io, ops::Range, sync::Arc};

use super::{
    active::{ActiveIndex, BLOCK, BlockPlace},
    key::{LogKey, StateKey},
};
use crate::storage::{Storage, StoredFile, with_draft};

const MAGIC: u64 = u64::from_le_bytes(*b"tetridx3");
/// Number of words in the head: magic, heights of the first entry and after the last, checksum of
/// the last entry, lengths of the five tables, checksum of the tables, checksum of the head.
const HEAD: usize = 11;
const WORD: usize = 8;
/// Number of rows between two fences. Fences are held in memory, so that a search reads from disk
/// once.
const FENCED: u64 = 128;

/// A part of the index in its file.
pub(super) struct SealedIndex {
    file: Arc<dyn StoredFile>,
    /// Heights of the entries that it covers.
    pub(super) heights: Range<u64>,
    /// Checksum of the last entry, by which a part that no longer matches the log is recognised.
    pub(super) check: u32,
    /// The lowest and the highest block number, or `None` if there are no blocks.
    pub(super) numbers: Option<(u64, u64)>,
    blocks: IndexTable,
    hashes: IndexTable,
    logs: IndexTable,
    versions: IndexTable,
    pub(super) reverts: Vec<(u64, u64)>,
}

/// A table of sorted rows of words.
#[derive(Debug)]
struct IndexTable {
    offset: u64,
    rows: u64,
    width: usize,
    /// The first two words of every [`FENCED`]th row.
    fences: Vec<[u64; 2]>,
}

impl IndexTable {
    /// Returns the table that begins at an offset of a file.
    fn of(file: &[u8], offset: u64, rows: u64, width: usize) -> Self {
        let size = width * WORD;
        let fences = (0..rows)
            .step_by(FENCED as usize)
            .map(|at| {
                let start = offset as usize + at as usize * size;
                let words = words_of(&file[start..start + 2 * WORD]);
                [words[0], words[1]]
            })
            .collect();
        Self {
            offset,
            rows,
            width,
            fences,
        }
    }

    /// Returns the offset of its end.
    fn end(&self) -> u64 {
        self.offset_of(self.rows)
    }

    fn offset_of(&self, row: u64) -> u64 {
        self.offset + row * (self.width * WORD) as u64
    }

    /// Returns the position of the last fence that is less than `least`, and of the first one if
    /// none is. The first row that is not less than `least` comes before the next fence, or is that
    /// fence.
    fn fence_before(&self, least: [u64; 2]) -> u64 {
        let fences = self.fences.partition_point(|fence| *fence < least);
        fences.saturating_sub(1) as u64 * FENCED
    }
}

/// Returns the file name of the part whose first entry has this height.
pub(super) fn index_name(first: u64) -> String {
    format!("index-{first:020}")
}

/// Returns the heights of the first entries of all parts with files, intact or not.
pub(super) fn index_firsts(storage: &dyn Storage) -> io::Result<Vec<u64>> {
    let names = storage.names()?;
    Ok(names
        .iter()
        .filter_map(|name| name.strip_prefix("index-")?.parse().ok())
        .collect())
}

impl SealedIndex {
    /// Writes and opens a part whose last entry has this checksum.
    pub(super) fn write(
        storage: &dyn Storage,
        index: &ActiveIndex,
        check: u32,
    ) -> io::Result<Self> {
        let each = index
            .blocks
            .iter()
            .flat_map(|(number, all)| all.iter().map(move |height| (*number, height)));
        let mut blocks: Vec<_> = each.map(|(number, height)| [number, *height]).collect();
        blocks.sort_unstable();

        let places = index
            .hashes
            .iter()
            .flat_map(|(key, places)| places.iter().map(move |place| (*key, place)));
        let mut hashes: Vec<_> = places
            .map(|(key, place)| [key, place.number, place.index.into()])
            .collect();
        hashes.sort_unstable();

        let logs = index.logs.rows();
        let versions = index.versions.rows();
        let mut words: Vec<u64> = Vec::new();
        words.extend(blocks.as_flattened());
        words.extend(hashes.as_flattened());
        words.extend(logs.as_flattened());
        words.extend(versions.as_flattened());
        words.extend(index.reverts.iter().flat_map(|(at, to)| [*at, *to]));
        let body = bytes_of(&words);

        let lengths = [
            blocks.len(),
            hashes.len(),
            logs.len(),
            versions.len(),
            index.reverts.len(),
        ]
        .map(|length| length as u64);

        let mut head = vec![MAGIC, index.heights.start, index.heights.end, check.into()];
        head.extend(lengths);
        head.push(crc32fast::hash(&body).into());
        head.push(crc32fast::hash(&bytes_of(&head)).into());

        // Not synced: a lost or torn file is rebuilt.
        let bytes = [bytes_of(&head), body].concat();
        with_draft(storage, &index_name(index.heights.start), |file| {
            file.write_at(&bytes, 0)
        })?;

        Self::open(storage, index.heights.start)?
            .ok_or_else(|| io::Error::other("the written index is damaged"))
    }

    /// Opens the part whose first entry has this height. Returns `None` if it does not exist or is
    /// damaged.
    pub(super) fn open(storage: &dyn Storage, first: u64) -> io::Result<Option<Self>> {
        let file = match storage.open(&index_name(first)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = vec![0; usize::try_from(file.length()?).map_err(io::Error::other)?];
        file.read_at(&mut bytes, 0)?;
        let Some(words) = intact_head(&bytes, first) else {
            return Ok(None);
        };

        let blocks = IndexTable::of(&bytes, (HEAD * WORD) as u64, words[4], 2);
        let hashes = IndexTable::of(&bytes, blocks.end(), words[5], 3);
        let logs = IndexTable::of(&bytes, hashes.end(), words[6], 2);
        let versions = IndexTable::of(&bytes, logs.end(), words[7], 2);
        let reverts = words_of(&bytes[versions.end() as usize..])
            .chunks_exact(2)
            .map(|pair| (pair[0], pair[1]))
            .collect();

        let lowest = blocks.fences.first().map(|fence| fence[0]);
        let highest = blocks.rows.checked_sub(1).map(|last| {
            let start = blocks.offset_of(last) as usize;
            words_of(&bytes[start..start + WORD])[0]
        });
        Ok(Some(Self {
            file,
            heights: first..words[2],
            check: words[3] as u32,
            numbers: lowest.zip(highest),
            blocks,
            hashes,
            logs,
            versions,
            reverts,
        }))
    }

    /// Returns the heights of the blocks with this number, in ascending order.
    pub(super) fn blocks(&self, number: u64) -> io::Result<Vec<u64>> {
        let mut found = Vec::new();
        self.rows_from(&self.blocks, [number, 0], |row| {
            let is_wanted = row[0] == number;
            if is_wanted {
                found.push(row[1]);
            }
            is_wanted
        })?;
        Ok(found)
    }

    pub(super) fn places(&self, key: u64) -> io::Result<Vec<BlockPlace>> {
        let mut found = Vec::new();
        self.rows_from(&self.hashes, [key, 0], |row| {
            let is_wanted = row[0] == key;
            if is_wanted {
                found.push(BlockPlace {
                    number: row[1],
                    index: u32::try_from(row[2]).unwrap_or(BLOCK),
                });
            }
            is_wanted
        })?;
        Ok(found)
    }

    pub(super) fn blocks_with(&self, key: LogKey, from: u64, to: u64) -> io::Result<Vec<u64>> {
        let mut found = Vec::new();
        self.rows_from(&self.logs, [key.0, from], |row| {
            let is_wanted = row[0] == key.0 && row[1] <= to;
            if is_wanted {
                found.push(row[1]);
            }
            is_wanted
        })?;
        Ok(found)
    }

    /// Returns the height of the newest entry below a height that has this key and that
    /// `is_in_effect` accepts.
    pub(super) fn version(
        &self,
        key: StateKey,
        below: u64,
        is_in_effect: impl Fn(u64) -> bool,
    ) -> io::Result<Option<u64>> {
        let table = &self.versions;
        let least = [key.0, below];
        let mut at = table.fence_before(least);
        let mut rows = self.read(table, at, FENCED.min(table.rows - at))?;

        // The number of earlier rows to read at once, which grows because one is enough unless it
        // is reverted.
        let mut some = 1;
        loop {
            for row in rows
                .rchunks_exact(table.width)
                .skip_while(|row| [row[0], row[1]] >= least)
            {
                if row[0] != key.0 {
                    return Ok(None);
                }
                if is_in_effect(row[1]) {
                    return Ok(Some(row[1]));
                }
            }

            if at == 0 {
                return Ok(None);
            }

            let end = at;
            at = end.saturating_sub(some);
            rows = self.read(table, at, end - at)?;
            some = (some * 4).min(4_096);
        }
    }

    /// Passes the rows from the first that is not less than `least` on to `wanted`, until that
    /// returns false.
    fn rows_from(
        &self,
        table: &IndexTable,
        least: [u64; 2],
        mut wanted: impl FnMut(&[u64]) -> bool,
    ) -> io::Result<()> {
        let mut at = table.fence_before(least);
        // The number of rows to read at once, which grows because most searches find few, shortly
        // after the fence.
        let mut some = FENCED + 16;
        while at < table.rows {
            let count = some.min(table.rows - at);
            let rows = self.read(table, at, count)?;
            for row in rows
                .chunks_exact(table.width)
                .skip_while(|row| [row[0], row[1]] < least)
            {
                if !wanted(row) {
                    return Ok(());
                }
            }

            at += count;
            some = (some * 4).min(4_096);
        }
        Ok(())
    }

    fn read(&self, table: &IndexTable, at: u64, rows: u64) -> io::Result<Vec<u64>> {
        let mut bytes = vec![0; rows as usize * table.width * WORD];
        self.file.read_at(&mut bytes, table.offset_of(at))?;
        Ok(words_of(&bytes))
    }
}

/// Returns the words of the head of a part, if its file is intact and the part begins at this
/// height.
fn intact_head(file: &[u8], first: u64) -> Option<Vec<u64>> {
    let (head, body) = file.split_at_checked(HEAD * WORD)?;
    let words = words_of(head);
    let is_intact = words[HEAD - 1] == u64::from(crc32fast::hash(&head[..(HEAD - 1) * WORD]))
        && words[HEAD - 2] == u64::from(crc32fast::hash(body));
    (words[0] == MAGIC && words[1] == first && is_intact).then_some(words)
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words_of(bytes: &[u8]) -> Vec<u64> {
    bytes
        .chunks_exact(WORD)
        .map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()))
        .collect()
}

#[cfg(test)]
mod tests {
    use alloy_primitives::Address;
    use tetrad_primitives::state::{AccountChange, AccountPart, Changes};

    use super::*;
    use crate::storage::Directory;

    /// A quarter of the rows of a table. Some keys have as many rows as there are between several
    /// fences, some have four, and every other number is not a key.
    const ROWS: u64 = 1_000;

    fn change(address: Address) -> AccountChange {
        AccountChange {
            address,
            key: Default::default(),
            after: None,
            storage_wiped: false,
            storage: Vec::new(),
            public_key: None,
        }
    }

    /// Returns `number`, but the same for all numbers of every third hundred.
    fn merged(number: u64) -> u64 {
        if number / 100 % 3 == 1 {
            number / 300 * 300 + 100
        } else {
            number
        }
    }

    fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
        numbers.sort_unstable();
        numbers
    }

    fn address(key: u64) -> Address {
        Address::left_padding_from(&key.to_be_bytes())
    }

    fn index() -> ActiveIndex {
        let mut index = ActiveIndex::starting_at(0);
        for row in 0..4 * ROWS {
            let key = 2 * merged(row / 4) + 2;
            index.blocks.entry(key).or_default().push(row);
            index.hashes.entry(key).or_default().push(BlockPlace {
                number: row,
                index: 7,
            });
            index.logs.insert(row, vec![LogKey(key)]);
            index
                .versions
                .insert(row, &Changes(vec![change(address(key))]));
        }
        index.heights.end = 4 * ROWS;
        index
    }

    #[test]
    fn a_search_on_disk_finds_what_one_in_memory_does() {
        let directory = tempfile::tempdir().unwrap();
        let storage = Directory::new(directory.path()).unwrap();
        let memory = index();
        let file = SealedIndex::write(&storage, &memory, 1).unwrap();

        assert!(
            file.blocks.fences.len() > 20
                && file.hashes.fences.len() > 20
                && file.versions.fences.len() > 60
        );

        for key in 0..2 * ROWS + 4 {
            assert_eq!(
                file.blocks(key).unwrap(),
                memory.blocks.get(&key).cloned().unwrap_or_default(),
                "{key}"
            );
            assert_eq!(file.places(key).unwrap(), memory.places(key), "{key}");

            let state = StateKey::of(&address(key), AccountPart::Fields);
            for number in (0..4 * ROWS + 2)
                .step_by(797)
                .chain([key * 2, key * 2 + 1, key * 2 + 2])
            {
                for to in [number, number + 1, number + 500, u64::MAX] {
                    let found = file.blocks_with(LogKey(key), number, to).unwrap();
                    assert_eq!(
                        found,
                        sorted(memory.blocks_with(LogKey(key), number, to)),
                        "{key} {number} {to}"
                    );
                }
                for least in [0, number.saturating_sub(1), number.saturating_sub(300)] {
                    // Entries before `least` and all odd ones are reverted.
                    let is_in_effect = |height: u64| height >= least && height.is_multiple_of(2);
                    let found = file.version(state, number, is_in_effect).unwrap();
                    assert_eq!(
                        found,
                        memory.version(state, number, is_in_effect),
                        "{key} {number} {least}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_search_in_an_empty_part_finds_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let storage = Directory::new(directory.path()).unwrap();
        let file = SealedIndex::write(&storage, &ActiveIndex::starting_at(5), 1).unwrap();

        assert_eq!(
            (
                file.numbers,
                file.blocks(1).unwrap(),
                file.places(1).unwrap().len()
            ),
            (None, vec![], 0)
        );
        assert_eq!(file.blocks_with(LogKey(1), 0, u64::MAX).unwrap(), [0; 0]);
        assert_eq!(file.version(StateKey(1), u64::MAX, |_| true).unwrap(), None);
    }
}

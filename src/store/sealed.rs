//! The index of one segment that no longer grows, in a file: sorted tables that are searched where they lie.

use std::{io, sync::Arc};

use super::{
    active::{ActiveIndex, BLOCK},
    history::Place,
    key::{LogKey, StateKey},
};
use crate::log::{Location, Storage, StoredFile};

const MAGIC: u64 = u64::from_le_bytes(*b"tetridx2");
/// Words of the head: magic, segment, end, lengths of the five tables, checksum of the tables, checksum of the head.
const HEAD: usize = 10;
const WORD: usize = 8;

/// The index of a segment.
pub struct SealedIndex {
    file: Arc<dyn StoredFile>,
    pub(super) segment: u64,
    pub(super) end: u64,
    blocks: Table,
    hashes: Table,
    logs: Table,
    versions: Table,
    pub(super) reverts: Vec<(u64, u64)>,
}

/// Rows of words in order.
#[derive(Clone, Copy, Debug)]
struct Table {
    offset: u64,
    rows: u64,
    width: usize,
}

/// The name of a segment's index.
pub(super) fn index_name(segment: u64) -> String {
    format!("index-{segment:020}")
}

impl SealedIndex {
    /// Writes the index of a segment, and opens it.
    pub fn write(storage: &dyn Storage, index: &ActiveIndex) -> io::Result<Self> {
        let mut words: Vec<u64> = Vec::new();
        let each = index.blocks.iter().flat_map(|(number, all)| all.iter().map(move |at| (*number, at)));
        let mut blocks: Vec<_> = each.map(|(number, at)| [number, at.height, at.offset]).collect();
        blocks.sort_unstable();
        let places = index.hashes.iter().flat_map(|(key, places)| places.iter().map(move |place| (*key, place)));
        let mut hashes: Vec<_> = places.map(|(key, place)| [key, place.number, place.index.into()]).collect();
        hashes.sort_unstable();
        let mut logs: Vec<_> = index.logs.iter().map(|(key, number)| [key.0, *number]).collect();
        logs.sort_unstable();
        words.extend(blocks.as_flattened());
        words.extend(hashes.as_flattened());
        words.extend(logs.as_flattened());
        let versions = index.versions.rows();
        words.extend(versions.as_flattened());
        words.extend(index.reverts.iter().flat_map(|(at, to)| [*at, *to]));
        let body = bytes_of(&words);
        let lengths =
            [blocks.len(), hashes.len(), logs.len(), versions.len(), index.reverts.len()].map(|length| length as u64);
        let mut head = vec![MAGIC, index.segment, index.end];
        head.extend(lengths);
        head.push(crc32fast::hash(&body).into());
        head.push(crc32fast::hash(&bytes_of(&head)).into());

        let (draft, name) = (format!("draft-{}", index_name(index.segment)), index_name(index.segment));
        let file = storage.create(&draft)?;
        file.write_at(&[bytes_of(&head), body].concat(), 0)?;
        // Were it lost or torn, it would be made again.
        storage.rename(&draft, &name)?;
        Self::open(storage, index.segment)?.ok_or_else(|| io::Error::other("an index is not what was written"))
    }

    /// Opens the index of a segment; none if there is none that is intact.
    pub fn open(storage: &dyn Storage, segment: u64) -> io::Result<Option<Self>> {
        let file = match storage.open(&index_name(segment)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = vec![0; usize::try_from(file.length()?).map_err(io::Error::other)?];
        file.read_at(&mut bytes, 0)?;
        let Some((head, body)) = bytes.split_at_checked(HEAD * WORD) else { return Ok(None) };
        let words = words_of(head);
        let checked = words[HEAD - 1] == u64::from(crc32fast::hash(&head[..(HEAD - 1) * WORD]))
            && words[HEAD - 2] == u64::from(crc32fast::hash(body));
        if words[0] != MAGIC || words[1] != segment || !checked {
            return Ok(None);
        }
        let mut offset = (HEAD * WORD) as u64;
        let mut table = |rows: u64, width: usize| {
            let table = Table { offset, rows, width };
            offset += rows * (width * WORD) as u64;
            table
        };
        let (blocks, hashes) = (table(words[3], 3), table(words[4], 3));
        let (logs, versions) = (table(words[5], 2), table(words[6], 3));
        let reverts = words_of(&bytes[offset as usize..]).chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        Ok(Some(Self { file, segment, end: words[2], blocks, hashes, logs, versions, reverts }))
    }

    /// The first and the last block's number; none if there is no block.
    pub(super) fn numbers(&self) -> io::Result<Option<(u64, u64)>> {
        let Some(last) = self.blocks.rows.checked_sub(1) else { return Ok(None) };
        Ok(Some((self.row(self.blocks, 0)?[0], self.row(self.blocks, last)?[0])))
    }

    pub(super) fn block(&self, number: u64) -> io::Result<Vec<Location>> {
        let rows = self.rows_from(self.blocks, &[number], |row| row[0] == number)?;
        Ok(rows.iter().map(|row| Location { height: row[1], segment: self.segment, offset: row[2] }).collect())
    }

    pub(super) fn places(&self, key: u64) -> io::Result<Vec<Place>> {
        let rows = self.rows_from(self.hashes, &[key], |row| row[0] == key)?;
        Ok(rows.iter().map(|row| Place { number: row[1], index: u32::try_from(row[2]).unwrap_or(BLOCK) }).collect())
    }

    pub(super) fn blocks_with(&self, key: LogKey, from: u64, to: u64) -> io::Result<Vec<u64>> {
        let rows = self.rows_from(self.logs, &[key.0, from], |row| row[0] == key.0 && row[1] <= to)?;
        Ok(rows.iter().map(|row| row[1]).collect())
    }

    /// The newest entry below a height that has this key.
    pub(super) fn version(&self, key: StateKey, below: u64) -> io::Result<Option<Location>> {
        let Some(at) = self.position(self.versions, &[key.0, below])?.checked_sub(1) else { return Ok(None) };
        let row = self.row(self.versions, at)?;
        let location = Location { height: row[1], segment: self.segment, offset: row[2] };
        Ok((row[0] == key.0).then_some(location))
    }

    /// Where the first row that is not below `least` is, or would be.
    fn position(&self, table: Table, least: &[u64]) -> io::Result<u64> {
        let (mut low, mut high) = (0, table.rows);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.row(table, middle)?[..least.len()] < *least {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// The rows from the first that is not below `least` on, as long as they are `wanted`.
    fn rows_from(&self, table: Table, least: &[u64], wanted: impl Fn(&[u64]) -> bool) -> io::Result<Vec<Vec<u64>>> {
        /// Rows that are read at once.
        const SOME: u64 = 64;
        let mut low = self.position(table, least)?;
        let mut rows = Vec::new();
        while low < table.rows {
            let some = SOME.min(table.rows - low);
            for row in self.read(table, low, some)?.chunks_exact(table.width) {
                if !wanted(row) {
                    return Ok(rows);
                }
                rows.push(row.to_vec());
            }
            low += some;
        }
        Ok(rows)
    }

    fn row(&self, table: Table, at: u64) -> io::Result<Vec<u64>> {
        self.read(table, at, 1)
    }

    fn read(&self, table: Table, at: u64, rows: u64) -> io::Result<Vec<u64>> {
        let size = table.width * WORD;
        let mut bytes = vec![0; rows as usize * size];
        self.file.read_at(&mut bytes, table.offset + at * size as u64)?;
        Ok(words_of(&bytes))
    }
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words_of(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(WORD).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default())).collect()
}

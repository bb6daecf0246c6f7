//! Segments: the files of a log, each of which begins with a head record.

use std::{io, sync::Arc};

use tetrad_stdx::codec::{Malformed, Reader, Writer};

use crate::{
    log::{ChainIdentity, LogError, StoredEntry},
    storage::{HEADER, Records, Storage, StoredFile, Tail, read_file, replace_file, write_record},
};

/// The first bytes of every segment's first record.
const MAGIC: &[u8] = b"tetrad log";
/// The format that is written, and the newest one that is read.
const VERSION: u64 = 1;
/// The sequence number of the head record, which is not an entry.
const HEAD: u64 = u64::MAX;

/// Returns the file name of the segment whose first entry has this height.
pub(super) fn segment_name(first: u64) -> String {
    format!("log-{first:020}")
}

/// Returns the heights of the segments' first entries, in ascending order.
pub(super) fn segments(storage: &dyn Storage) -> Result<Vec<u64>, LogError> {
    let names = storage.names().map_err(LogError::io(storage, ""))?;
    let mut firsts: Vec<u64> = names
        .iter()
        .filter_map(|name| name.strip_prefix("log-")?.parse().ok())
        .collect();
    firsts.sort_unstable();
    Ok(firsts)
}

/// A segment in memory.
#[derive(Debug)]
pub(super) struct Segment {
    /// Height of the first entry.
    pub(super) first: u64,
    name: String,
    place: String,
    bytes: Vec<u8>,
    /// Offset of each entry.
    pub(super) offsets: Vec<u64>,
    /// Length of the intact part in bytes.
    pub(super) length: u64,
    /// State of the file after the intact part.
    pub(super) tail: Tail,
}

impl Segment {
    /// Reads a segment and checks all its records.
    pub(super) fn load(
        storage: &dyn Storage,
        first: u64,
        identity: Option<ChainIdentity>,
    ) -> Result<Self, LogError> {
        match Self::intact(storage, first, identity)? {
            (segment, None) => Ok(segment),
            (segment, Some(what)) => {
                let offset = segment.length;
                let height = segment.end();
                Err(LogError::Damaged {
                    file: segment.place,
                    offset,
                    height,
                    what,
                })
            }
        }
    }

    /// Reads a segment up to the first damaged record. Returns it with that record's fault.
    pub(super) fn intact(
        storage: &dyn Storage,
        first: u64,
        identity: Option<ChainIdentity>,
    ) -> Result<(Self, Option<&'static str>), LogError> {
        let name = segment_name(first);
        let place = storage.describe(&name);
        let bytes = read_file(storage, &name)
            .and_then(|bytes| bytes.ok_or_else(|| io::ErrorKind::NotFound.into()))
            .map_err(LogError::io(storage, &name))?;

        let mut records = Records::new(&bytes);
        let Some(head) = records.next().filter(|record| record.sequence == HEAD) else {
            let what = "the head of the file does not match its checksum";
            return Err(LogError::Damaged {
                file: place,
                offset: 0,
                height: first,
                what,
            });
        };
        check_head(head.payload, first, identity).map_err(|what| LogError::Format {
            file: place.clone(),
            what,
        })?;

        let mut offsets = Vec::new();
        let mut stray = None;
        for record in records.by_ref() {
            if record.sequence != first + offsets.len() as u64 {
                stray = Some(record.offset);
                break;
            }
            offsets.push(record.offset);
        }

        let (length, tail, damage) = match (stray, records.tail()) {
            (Some(offset), _) => (offset, Tail::Clean, Some("entries are not in order")),
            (None, Tail::Damaged(what)) => (records.offset(), Tail::Damaged(what), Some(what)),
            (None, tail) => (records.offset(), tail, None),
        };

        let segment = Self {
            first,
            name,
            place,
            bytes,
            offsets,
            length,
            tail,
        };
        Ok((segment, damage))
    }

    /// Returns the height after the last entry.
    pub(super) fn end(&self) -> u64 {
        self.first + self.offsets.len() as u64
    }

    /// Checks that the file ends with its last entry, as it must if other segments follow.
    pub(super) fn expect_clean(&self) -> Result<(), LogError> {
        match self.tail {
            Tail::Clean => Ok(()),
            _ => Err(LogError::Damaged {
                file: self.place.clone(),
                offset: self.length,
                height: self.end(),
                what: "the file ends within an entry, but others follow",
            }),
        }
    }

    /// Returns the entry at this height.
    pub(super) fn get(&self, height: u64) -> Option<StoredEntry> {
        let index = height.checked_sub(self.first)? as usize;
        let offset = *self.offsets.get(index)?;
        let end = self.offsets.get(index + 1).copied().unwrap_or(self.length);
        let bytes = self.bytes[offset as usize + HEADER..end as usize - 1].to_vec();
        Some(StoredEntry { height, bytes })
    }

    /// Iterates over the entries, oldest first.
    pub(super) fn entries(&self) -> impl Iterator<Item = StoredEntry> {
        (self.first..self.end()).filter_map(|height| self.get(height))
    }

    /// Shortens the intact part to end before the entry at this height. The rest can be [cut
    /// off](Self::cut).
    pub(super) fn ending_at(mut self, height: u64) -> Self {
        let count = height.saturating_sub(self.first) as usize;
        if let Some(offset) = self.offsets.get(count) {
            self.length = *offset;
            self.offsets.truncate(count);
        }
        self
    }

    /// Copies the rest after the intact part to a file of its own and truncates the segment.
    /// Returns the path of that file.
    pub(super) fn cut(&self, storage: &dyn Storage) -> Result<String, LogError> {
        let aside = format!("torn-{}-{}", self.name, self.length);
        self.move_rest(storage, &aside)
            .map_err(|source| LogError::Io {
                file: self.place.clone(),
                source,
            })?;
        Ok(storage.describe(&aside))
    }

    fn move_rest(&self, storage: &dyn Storage, aside: &str) -> io::Result<()> {
        // The copy is synced before the original is truncated.
        let copy = storage.create(aside)?;
        copy.write_at(&self.bytes[self.length as usize..], 0)?;
        copy.sync()?;

        truncate(storage, self.first, self.length)?;
        storage.sync_names()
    }
}

/// Truncates the file of a segment to a length in bytes.
pub(super) fn truncate(storage: &dyn Storage, first: u64, length: u64) -> io::Result<()> {
    let file = storage.open(&segment_name(first))?;
    file.truncate(length)?;
    file.sync()
}

/// Creates an empty segment, atomically. Returns the file and its length. After an error it is
/// unknown whether the segment exists.
pub(super) fn create(
    storage: &dyn Storage,
    first: u64,
    identity: ChainIdentity,
) -> io::Result<(Arc<dyn StoredFile>, u64)> {
    let name = segment_name(first);
    let bytes = head(first, identity);
    replace_file(storage, &name, &bytes)?;
    Ok((storage.open(&name)?, bytes.len() as u64))
}

/// Writes, atomically, a segment with the entries of another one from height `from` on.
pub(super) fn rewrite(
    storage: &dyn Storage,
    segment: &Segment,
    from: u64,
    identity: ChainIdentity,
) -> io::Result<()> {
    let start = segment
        .offsets
        .get((from - segment.first) as usize)
        .copied()
        .unwrap_or(segment.length);

    let mut bytes = head(from, identity);
    bytes.extend_from_slice(&segment.bytes[start as usize..segment.length as usize]);
    replace_file(storage, &segment_name(from), &bytes)
}

/// Returns the head record of a segment.
fn head(first: u64, identity: ChainIdentity) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_record(&mut bytes, &mut Writer::default(), HEAD, |out| {
        out.string(MAGIC);
        out.number(VERSION);
        out.number(first);
        out.number(identity.chain_id);
        out.raw(identity.genesis.as_slice());
    });
    bytes
}

/// Checks the head record of a segment. With `identity` the segment must belong to this chain.
fn check_head(payload: &[u8], first: u64, identity: Option<ChainIdentity>) -> Result<(), String> {
    let found = read_head(payload, first)?;
    match identity {
        Some(expected) if expected != found => Err(foreign(&expected, &found)),
        _ => Ok(()),
    }
}

fn read_head(payload: &[u8], first: u64) -> Result<ChainIdentity, String> {
    let from = &mut Reader::new(payload);
    if from.string().map_err(malformed)? != MAGIC {
        return Err("not a segment of a log".to_owned());
    }
    let version = from.number().map_err(malformed)?;
    if version > VERSION {
        return Err(format!(
            "written by a newer version (format {version}, this program reads up to {VERSION})"
        ));
    }
    if from.number().map_err(malformed)? != first {
        return Err("renamed: its first height differs from its name".to_owned());
    }

    let chain_id = from.number().map_err(malformed)?;
    let genesis = from.array().map_err(malformed)?.into();
    Ok(ChainIdentity { chain_id, genesis })
}

fn malformed(error: Malformed) -> String {
    format!("not a segment of a log: {error}")
}

fn foreign(expected: &ChainIdentity, found: &ChainIdentity) -> String {
    format!(
        "belongs to another chain (chain id {}, first block {}; expected chain id {}, first block \
         {})",
        found.chain_id, found.genesis, expected.chain_id, expected.genesis
    )
}

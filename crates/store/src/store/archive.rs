//! Archives: a chain in one file, with its description, the oldest checkpoint from which it can be
//! replayed, past prices, and all later entries of the log.
//!
//! ```text
//! record 0: magic, version, chain.json    record 1: height of the checkpoint, its file
//! record 2: past prices, possibly empty; not in version 1                 the others: entries
//! ```

use std::io::{self, Read, Write};

use tetrad_stdx::codec::{Malformed, Reader, Writer};

use super::{
    ChainFile, ChainFileError, ChainStore, CheckpointError, DiskHistory, PART_BYTES, PRICES,
    checkpoint, checkpoints,
    unfinished::{self, FillError},
};
use crate::{
    log::{LogEntry, LogError},
    storage::{Storage, read_file, read_record, replace_file, write_record},
};

const MAGIC: &[u8] = b"tetrad chain";
const VERSION: u64 = 2;
/// Number of the record with the first entry.
const ENTRIES_FROM: u64 = 3;

/// An error of exporting, importing or copying a chain.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The source contains no chain, or the target is not empty.
    #[error("{0}")]
    Directory(String),
    /// The chain's description cannot be read.
    #[error(transparent)]
    ChainFile(#[from] ChainFileError),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A checkpoint cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The file is not an archive or is damaged.
    #[error("not a chain: {0}")]
    Format(String),
    /// A file operation failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<FillError> for ArchiveError {
    fn from(error: FillError) -> Self {
        match error {
            FillError::Refused(reason) => Self::Directory(reason),
            FillError::Io(error) => Self::Io(error),
        }
    }
}

/// Writes a chain to a file. Returns the number of its entries.
pub fn export(chain: &ChainStore, out: &mut dyn Write) -> Result<u64, ArchiveError> {
    let storage = &chain.storage;
    let Some(file) = ChainFile::load(&**storage)? else {
        return Err(ArchiveError::Directory(format!(
            "{}: there is no chain",
            storage.describe("")
        )));
    };

    let identity = file.identity();
    let begin_at = checkpoints(&**storage)?.first().copied().unwrap_or(0);
    let log = chain.log.open(identity, begin_at)?.reader();
    let bases = DiskHistory::open(storage.clone(), log.clone(), identity, PART_BYTES)?.bases()?;
    // Without a state before them, older entries are of no use.
    let &oldest = bases
        .first()
        .ok_or_else(|| CheckpointError::none(storage.describe("")))?;

    let mut records = RecordOutput {
        out,
        count: 0,
        bytes: Vec::new(),
        scratch: Writer::default(),
    };

    let json = serde_json::to_vec(&file).map_err(io::Error::from)?;
    records.write(|out| {
        out.string(MAGIC);
        out.number(VERSION);
        out.string(&json);
    })?;

    let state = checkpoint::bytes(&**storage, oldest)?;
    records.write(|out| {
        out.number(oldest);
        out.raw(&state);
    })?;

    let prices = read_file(&**storage, PRICES)?.unwrap_or_default();
    records.write(|out| out.string(&prices))?;

    for stored in log.stream(oldest)? {
        let stored = stored?;
        records.write(|out| out.raw(&stored.bytes))?;
    }
    records.out.flush()?;
    Ok(records.count - ENTRIES_FROM)
}

/// A writer of the records of an archive.
struct RecordOutput<'a> {
    out: &'a mut dyn Write,
    /// Number of records so far.
    count: u64,
    bytes: Vec<u8>,
    scratch: Writer,
}

impl RecordOutput<'_> {
    fn write(&mut self, write: impl FnOnce(&mut Writer)) -> io::Result<()> {
        self.bytes.clear();
        write_record(&mut self.bytes, &mut self.scratch, self.count, write);
        self.count += 1;
        self.out.write_all(&self.bytes)
    }
}

/// Reads the next record of an archive.
fn next_record(from: &mut dyn Read, sequence: u64) -> Result<Option<Vec<u8>>, ArchiveError> {
    read_record(from, sequence)
        .map_err(|what| ArchiveError::Format(format!("record {sequence}: {what}")))
}

fn malformed(error: Malformed) -> ArchiveError {
    ArchiveError::Format(error.to_string())
}

/// Reads the content of record 0: the version, and the chain's description.
fn read_head(head: &[u8]) -> Result<(u64, ChainFile), ArchiveError> {
    let from = &mut Reader::new(head);
    if from.string().map_err(malformed)? != MAGIC {
        return Err(ArchiveError::Format("unknown format".to_owned()));
    }
    let version = from.number().map_err(malformed)?;
    if version > VERSION {
        return Err(ArchiveError::Format(format!(
            "written by a newer version (format {version}, this program reads up to {VERSION})"
        )));
    }

    let json = from.string().map_err(malformed)?;
    let file = ChainFile::parse("the archive's description".to_owned(), json)?;
    Ok((version, file))
}

/// Imports a chain from a file into an empty directory, or into one in which an import was
/// interrupted. Returns the number of its entries. Their state roots are checked when the chain is
/// opened.
pub fn import(chain: &ChainStore, from: &mut dyn Read) -> Result<u64, ArchiveError> {
    let storage = &*chain.storage;
    let head = next_record(from, 0)?.ok_or_else(|| ArchiveError::Format("empty".to_owned()))?;
    let (version, file) = read_head(&head)?;
    let state = next_record(from, 1)?
        .ok_or_else(|| ArchiveError::Format("it ends before the checkpoint".to_owned()))?;
    let reader = &mut Reader::new(&state);
    let oldest = reader.number().map_err(malformed)?;

    unfinished::begin(storage, unfinished::CopyCommand::Import)?;
    replace_file(storage, &checkpoint::name(oldest), reader.rest())?;
    let mut first = ENTRIES_FROM;
    if version >= 2 {
        let record = next_record(from, 2)?
            .ok_or_else(|| ArchiveError::Format("it ends before the past prices".to_owned()))?;
        let prices = Reader::new(&record).string().map_err(malformed)?.to_vec();
        if !prices.is_empty() {
            replace_file(storage, PRICES, &prices)?;
        }
    } else {
        // Version 1 has no record of prices.
        first -= 1;
    }

    let mut log = chain.log.open(file.identity(), oldest)?;
    let mut count = 0;
    while let Some(bytes) = next_record(from, first + count)? {
        // Only valid entries may get into the log.
        LogEntry::decode(&bytes).map_err(malformed)?;
        log.append(oldest + count, &bytes)
            .map_err(io::Error::other)?;
        count += 1;
    }
    log.sync().map_err(io::Error::other)?;

    // The chain file comes last: without it the import is incomplete.
    file.save(storage)?;
    unfinished::finish(storage)?;
    Ok(count)
}

/// Adds a checkpoint of the directory's chain, given by its height and the content of its file.
pub fn add_checkpoint(storage: &dyn Storage, height: u64, bytes: &[u8]) -> io::Result<()> {
    replace_file(storage, &checkpoint::name(height), bytes)
}

/// Fills an empty directory with checkpoints of a chain, each given by its height and the content
/// of its file. The log is empty.
pub fn begin_with(
    storage: &dyn Storage,
    file: &ChainFile,
    checkpoints: &[(u64, Vec<u8>)],
) -> Result<(), ArchiveError> {
    unfinished::begin(storage, unfinished::CopyCommand::Import)?;
    for (height, bytes) in checkpoints {
        replace_file(storage, &checkpoint::name(*height), bytes)?;
    }

    // The chain file comes last: without it the copy is incomplete.
    file.save(storage)?;
    unfinished::finish(storage)?;
    Ok(())
}

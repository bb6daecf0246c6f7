//! Checkpoints: the whole state at a height of the log, so that a start need not read the log from
//! its beginning.
//!
//! A checkpoint is a file of [records](crate::storage::Record): a head, pieces of the state in
//! records of a megabyte, and an empty record that marks the end. The file is renamed to its final
//! name once all of it is on disk.

use std::{io, sync::Arc};

use alloy_primitives::B256;
use tetrad_primitives::{
    block::{Block, DevSettings},
    state::{State, StateBuilder, StateError},
};
use tetrad_stdx::codec::{Malformed, Reader, Writer};

use super::{Snapshots, Standing};
use crate::{
    log::{ChainIdentity, EditableParams, TimeShift},
    storage::{Records, Storage, StoredFile, Tail, read_file, with_draft, write_record},
};

pub(super) const MAGIC: &[u8] = b"tetrad checkpoint";
/// The newest format. After the head of format 1 there are snapshots from 2 on, their names from 3
/// on, and the settings of development methods from 4 on.
const VERSION: u64 = 4;
/// Size at which a record of pieces ends, in bytes.
const RECORD: usize = 1 << 20;

/// The chain at a height of the log.
#[derive(Debug)]
pub struct Checkpoint {
    /// Number of log entries that it includes.
    pub height: u64,
    /// Shift of the chain's time against the clock.
    pub shift: TimeShift,
    /// The genesis block.
    pub genesis: Arc<Block>,
    /// The newest block.
    pub block: Arc<Block>,
    /// The state after it, with later edits by development methods.
    pub state: State,
    /// The chain parameters that development methods can change.
    pub parameters: EditableParams,
    /// The snapshots, and the settings of development methods.
    pub standing: Standing,
}

/// The error of reading a checkpoint.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {what}")]
pub struct CheckpointError {
    /// The file.
    pub file: String,
    /// The reason.
    pub what: String,
}

impl CheckpointError {
    /// Returns the error for a chain without a checkpoint from which it can be replayed.
    pub fn none(file: String) -> Self {
        let what = "there is no checkpoint, or only of entries that were reverted later; restore a \
                    backup, or try `tetrad chain repair`";
        Self {
            file,
            what: what.to_owned(),
        }
    }
}

/// Returns the file name of the checkpoint at a height.
pub(super) fn name(height: u64) -> String {
    format!("checkpoint-{height:020}")
}

/// Returns the heights of all checkpoints, in ascending order.
pub fn checkpoints(storage: &dyn Storage) -> io::Result<Vec<u64>> {
    let mut heights: Vec<u64> = storage
        .names()?
        .iter()
        .filter_map(|file| height_of(file))
        .collect();
    heights.sort_unstable();
    Ok(heights)
}

/// Returns the height of the checkpoint whose file has this name; `None` for other files.
fn height_of(file: &str) -> Option<u64> {
    let height = file.strip_prefix("checkpoint-")?.parse().ok()?;
    (name(height) == file).then_some(height)
}

/// Puts the checkpoints aside that include entries from height `end` on, the newest first. Returns
/// their new paths.
pub(super) fn put_aside(storage: &dyn Storage, end: u64) -> io::Result<Vec<String>> {
    let mut aside = Vec::new();
    for height in checkpoints(storage)?
        .into_iter()
        .rev()
        .filter(|height| *height > end)
    {
        let torn = format!("torn-{}", name(height));
        storage.rename(&name(height), &torn)?;
        aside.push(storage.describe(&torn));
    }
    storage.sync_names()?;
    Ok(aside)
}

/// Reads the file of a checkpoint.
pub(super) fn bytes(storage: &dyn Storage, height: u64) -> io::Result<Vec<u8>> {
    read_file(storage, &name(height))?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// A writer of records to a file.
struct RecordWriter {
    file: Arc<dyn StoredFile>,
    written: u64,
    records: u64,
    record: Vec<u8>,
    scratch: Writer,
}

impl RecordWriter {
    fn record(&mut self, write: impl FnOnce(&mut Writer)) -> io::Result<()> {
        self.record.clear();
        write_record(&mut self.record, &mut self.scratch, self.records, write);
        self.file.write_at(&self.record, self.written)?;
        self.written += self.record.len() as u64;
        self.records += 1;
        Ok(())
    }
}

impl Checkpoint {
    /// Writes the checkpoint and returns its size in bytes. The log must be synced up to the
    /// checkpoint's height.
    pub fn write(&self, storage: &dyn Storage, identity: ChainIdentity) -> io::Result<u64> {
        let written = with_draft(storage, &name(self.height), |file| {
            self.write_to(file, identity)
        })?;
        storage.sync_names()?;
        Ok(written)
    }

    pub(super) fn write_to(
        &self,
        file: &Arc<dyn StoredFile>,
        identity: ChainIdentity,
    ) -> io::Result<u64> {
        let mut out = RecordWriter {
            file: file.clone(),
            written: 0,
            records: 0,
            record: Vec::new(),
            scratch: Writer::default(),
        };
        out.record(|out| self.write_head(out, identity))?;

        let mut pieces = self.state.pieces().peekable();
        while pieces.peek().is_some() {
            out.record(|out| {
                while out.len() < RECORD
                    && let Some(piece) = pieces.next()
                {
                    piece.write(out);
                }
            })?;
        }

        // An empty record marks the end, without which a reader refuses the file.
        out.record(|_| {})?;
        out.file.sync()?;
        Ok(out.written)
    }

    fn write_head(&self, out: &mut Writer, identity: ChainIdentity) {
        let Standing {
            snapshots,
            settings,
        } = &self.standing;
        // Earlier versions of the program can read a checkpoint without what they do not know.
        let version = if !settings.is_empty() {
            VERSION
        } else if snapshots.has_names() {
            3
        } else if snapshots.next_id() > 0 {
            2
        } else {
            1
        };

        out.string(MAGIC);
        out.number(version);
        out.number(identity.chain_id);
        out.raw(identity.genesis.as_slice());
        out.number(self.height);
        self.shift.write(out);
        self.parameters.write(out);
        self.genesis.write(out);
        self.block.write(out);
        out.number(self.state.next_number().into());
        out.raw(self.state.root().as_slice());

        if version >= 2 {
            out.option(Some(snapshots), |out, snapshots| snapshots.write(out));
        }
        if version >= 3 {
            snapshots.write_names(out);
        }
        if version >= 4 {
            settings.write(out);
        }
    }

    /// Reads the checkpoint at this height, and checks its state root and the hashes of contracts'
    /// code. What neither covers, such as account numbers and public keys, is as the file says.
    pub fn read(
        storage: &dyn Storage,
        height: u64,
        identity: ChainIdentity,
    ) -> Result<Self, CheckpointError> {
        let decoded = match bytes(storage, height) {
            Ok(bytes) => Self::decode(&bytes, height, identity),
            Err(error) => Err(error.to_string()),
        };
        decoded.map_err(|what| CheckpointError {
            file: storage.describe(&name(height)),
            what,
        })
    }

    /// Decodes the content of a file. The error says what is wrong.
    pub(super) fn decode(
        bytes: &[u8],
        height: u64,
        identity: ChainIdentity,
    ) -> Result<Self, String> {
        let mut records = Records::new(bytes);
        let head = records.next().ok_or("not a checkpoint")?;
        let head = CheckpointHead::read(head.payload, height, identity)?;

        let mut complete = false;
        let pieces = records.by_ref().map(|record| {
            complete = record.payload.is_empty();
            record.payload
        });
        let builder = StateBuilder::read(pieces).map_err(|error| error.to_string())?;
        if !complete || records.tail() != Tail::Clean {
            return Err(format!("damaged at byte {}", records.offset()));
        }

        let state = builder
            .finish(head.next_number, head.root)
            .map_err(|error: StateError| error.to_string())?;

        let CheckpointHead {
            shift,
            parameters,
            genesis,
            block,
            standing,
            ..
        } = head;
        Ok(Self {
            height,
            shift,
            genesis,
            block,
            state,
            parameters,
            standing,
        })
    }
}

/// The head of a checkpoint: everything except the state.
struct CheckpointHead {
    shift: TimeShift,
    parameters: EditableParams,
    genesis: Arc<Block>,
    block: Arc<Block>,
    next_number: u32,
    root: B256,
    standing: Standing,
}

impl CheckpointHead {
    fn read(payload: &[u8], height: u64, identity: ChainIdentity) -> Result<Self, String> {
        let from = &mut Reader::new(payload);
        if from.string().map_err(malformed)? != MAGIC {
            return Err("not a checkpoint".to_owned());
        }
        let version = from.number().map_err(malformed)?;
        if version > VERSION {
            return Err(format!(
                "written by a newer version (format {version}, this program reads up to {VERSION})"
            ));
        }

        let found = ChainIdentity {
            chain_id: from.number().map_err(malformed)?,
            genesis: from.array().map_err(malformed)?.into(),
        };
        if found != identity || from.number().map_err(malformed)? != height {
            return Err("belongs to another chain, or to another height".to_owned());
        }
        Self::rest(from, version).map_err(malformed)
    }

    fn rest(from: &mut Reader<'_>, version: u64) -> Result<Self, Malformed> {
        let shift = TimeShift::read(from)?;
        let parameters = EditableParams::read(from)?;
        let genesis = Arc::new(Block::read(from)?);
        let block = Arc::new(Block::read(from)?);
        let next_number = u32::try_from(from.number()?).map_err(|_| Malformed("account number"))?;
        let root = from.array()?.into();

        // Earlier versions of the format end here.
        let snapshots = if version >= 2 {
            from.option(Snapshots::read)?
        } else {
            None
        };
        let mut snapshots = snapshots.unwrap_or_default();
        if version >= 3 {
            snapshots.read_names(from)?;
        }
        let settings = if version >= 4 {
            DevSettings::read(from)?
        } else {
            DevSettings::default()
        };

        Ok(Self {
            shift,
            parameters,
            genesis,
            block,
            next_number,
            root,
            standing: Standing {
                snapshots,
                settings,
            },
        })
    }
}

fn malformed(error: Malformed) -> String {
    format!("not a checkpoint: {error}")
}

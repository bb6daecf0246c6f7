//! Checkpoints: the whole state at some height of the log, so that a start need not read the log from its beginning.
//!
//! A file of [records](crate::storage::Record): a head, pieces of the state by the megabyte, and an end without which it is not
//! complete. It gets its name when all of it is on disk.

use std::{io, sync::Arc};

use alloy_primitives::B256;

use crate::{
    block::Block,
    codec::{Malformed, Reader, Writer},
    log::{ChainIdentity, Parameters, Shift},
    state::{State, StateBuilder, StateError},
    storage::{Records, Storage, StoredFile, Tail, read_file, with_draft, write_record},
};

const MAGIC: &[u8] = b"tetrad checkpoint";
/// What this program writes, and the newest that it reads.
const VERSION: u64 = 1;
/// A record of pieces ends when it has grown to this size.
const RECORD: usize = 1 << 20;

/// The chain at some height of the log.
#[derive(Debug)]
pub struct Checkpoint {
    /// Entries of the log that it includes.
    pub height: u64,
    /// How the chain's time differs from the clock's.
    pub shift: Shift,
    /// The first block.
    pub genesis: Arc<Block>,
    /// The newest block.
    pub block: Arc<Block>,
    /// The state after it, and after what development methods changed since.
    pub state: State,
    /// What otherwise holds for every block.
    pub parameters: Parameters,
}

/// A checkpoint cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {what}")]
pub struct CheckpointError {
    /// The file.
    pub file: String,
    /// What is wrong.
    pub what: String,
}

impl CheckpointError {
    /// There is none that the log can be followed from.
    pub fn none(file: String) -> Self {
        let what = "there is no checkpoint, or only of what was taken back later; restore a backup, or see what `tetrad \
                    chain repair` can go on from";
        Self { file, what: what.to_owned() }
    }
}

/// The name of the checkpoint at a height.
pub(super) fn name(height: u64) -> String {
    format!("checkpoint-{height:020}")
}

/// Heights of the checkpoints that there are, in order.
pub fn checkpoints(storage: &dyn Storage) -> io::Result<Vec<u64>> {
    let names = storage.names()?;
    let mut heights: Vec<u64> =
        names.iter().filter_map(|name| name.strip_prefix("checkpoint-")?.parse().ok()).collect();
    heights.sort_unstable();
    Ok(heights)
}

/// The file of a checkpoint.
pub(super) fn bytes(storage: &dyn Storage, height: u64) -> io::Result<Vec<u8>> {
    read_file(storage, &name(height))?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Writes records to a file.
struct CheckpointOutput {
    file: Arc<dyn StoredFile>,
    written: u64,
    records: u64,
    record: Vec<u8>,
    scratch: Writer,
}

impl CheckpointOutput {
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
    /// Writes the checkpoint and returns its size. The log must be on disk as far as the checkpoint goes.
    pub fn write(&self, storage: &dyn Storage, identity: ChainIdentity) -> io::Result<u64> {
        let written = with_draft(storage, &name(self.height), |file| self.write_to(file, identity))?;
        storage.sync_names()?;
        Ok(written)
    }

    fn write_to(&self, file: &Arc<dyn StoredFile>, identity: ChainIdentity) -> io::Result<u64> {
        let file = file.clone();
        let mut out = CheckpointOutput { file, written: 0, records: 0, record: Vec::new(), scratch: Writer::default() };
        out.record(|out| {
            out.string(MAGIC);
            out.number(VERSION);
            out.number(identity.chain_id);
            out.raw(identity.genesis.as_slice());
            out.number(self.height);
            self.shift.write(out);
            self.parameters.write(out);
            self.genesis.write(out);
            self.block.write(out);
            out.number(self.state.next_number().into());
            out.raw(self.state.root().as_slice());
        })?;
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
        out.record(|_| {})?;
        out.file.sync()?;
        Ok(out.written)
    }

    /// Whether the state is the one after the block, and not what development methods made of it since.
    pub fn is_after_block(&self) -> bool {
        self.state.root() == self.block.header.state_root
    }

    /// Reads the checkpoint at this height, and holds it against the state root that it says it has.
    pub fn read(storage: &dyn Storage, height: u64, identity: ChainIdentity) -> Result<Self, CheckpointError> {
        let name = name(height);
        let failed = |what: String| CheckpointError { file: storage.describe(&name), what };
        let bytes = bytes(storage, height).map_err(|error| failed(error.to_string()))?;
        let mut records = Records::new(&bytes);
        let head = records.next().ok_or_else(|| failed("no checkpoint".to_owned()))?;
        let head = CheckpointHead::read(head.payload, height, identity).map_err(failed)?;
        let mut builder = StateBuilder::default();
        let mut complete = false;
        for record in records.by_ref() {
            complete = record.payload.is_empty();
            let from = &mut Reader::new(record.payload);
            while !from.is_empty() {
                builder.read(from).map_err(|error| failed(error.to_string()))?;
            }
        }
        if !complete || records.tail() != Tail::Clean {
            return Err(failed(format!("damaged at byte {}", records.offset())));
        }
        let state =
            builder.finish(head.next_number, head.root).map_err(|error: StateError| failed(error.to_string()))?;
        let CheckpointHead { shift, parameters, genesis, block, .. } = head;
        Ok(Self { height, shift, genesis, block, state, parameters })
    }
}

/// Everything but the state.
struct CheckpointHead {
    shift: Shift,
    parameters: Parameters,
    genesis: Arc<Block>,
    block: Arc<Block>,
    next_number: u32,
    root: B256,
}

impl CheckpointHead {
    fn read(payload: &[u8], height: u64, identity: ChainIdentity) -> Result<Self, String> {
        let from = &mut Reader::new(payload);
        let wrong = |error: Malformed| format!("no checkpoint: {error}");
        if from.string().map_err(wrong)? != MAGIC {
            return Err("no checkpoint".to_owned());
        }
        let version = from.number().map_err(wrong)?;
        if version > VERSION {
            return Err(format!("written by a newer version (format {version}, this program reads up to {VERSION})"));
        }
        let found =
            ChainIdentity { chain_id: from.number().map_err(wrong)?, genesis: from.array().map_err(wrong)?.into() };
        if found != identity || from.number().map_err(wrong)? != height {
            return Err("belongs to another chain, or to another height".to_owned());
        }
        Self::rest(from).map_err(wrong)
    }

    fn rest(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (shift, parameters) = (Shift::read(from)?, Parameters::read(from)?);
        let (genesis, block) = (Arc::new(Block::read(from)?), Arc::new(Block::read(from)?));
        let next_number = u32::try_from(from.number()?).map_err(|_| Malformed("account number"))?;
        Ok(Self { shift, parameters, genesis, block, next_number, root: from.array()?.into() })
    }
}

//! Entry points for fuzzers: the files beside the log, whose checksums are right whatever they
//! contain.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use tetrad_stdx::codec::{Malformed, Reader, Writer};

use super::{
    PendingTransaction,
    checkpoint::{Checkpoint, MAGIC},
};
use crate::{
    log::ChainIdentity,
    storage::{Records, StoredFile, push_record},
};

/// Decodes a checkpoint from the contents of its records, each after its length in three bytes, and
/// decodes what it is written as. Returns whether it is one.
pub fn checkpoint(contents: &[u8]) -> usize {
    let mut rest = contents;
    let mut file = Vec::new();
    let mut records = 0;
    let mut first: &[u8] = &[];
    while let Some((length, after)) = rest.split_first_chunk::<3>() {
        let length =
            usize::from(length[0]) | usize::from(length[1]) << 8 | usize::from(length[2]) << 16;
        let (content, after) = after.split_at(length.min(after.len()));
        push_record(&mut file, records, content);
        if records == 0 {
            first = content;
        }
        rest = after;
        records += 1;
    }

    let Ok((identity, height)) = place(first) else {
        return 0;
    };
    let Ok(checkpoint) = Checkpoint::decode(&file, height, identity) else {
        return 0;
    };

    let written = Arc::new(MemoryFile::default());
    let as_file: Arc<dyn StoredFile> = written.clone();
    checkpoint
        .write_to(&as_file, identity)
        .expect("memory can be written to");

    let bytes = written.bytes();
    let again = Checkpoint::decode(&bytes, height, identity)
        .expect("a checkpoint that was written can be read");

    assert_eq!(again.state.root(), checkpoint.state.root());
    assert_eq!(
        (again.block.hash, again.genesis.hash),
        (checkpoint.block.hash, checkpoint.genesis.hash)
    );
    assert_eq!(
        (again.parameters, again.standing),
        (checkpoint.parameters, checkpoint.standing)
    );
    1
}

/// Returns the contents of a file's records, as [`checkpoint`] reads them.
pub fn contents(file: &[u8]) -> Vec<u8> {
    let mut contents = Vec::new();
    for record in Records::new(file) {
        contents.extend_from_slice(&(record.payload.len() as u32).to_le_bytes()[..3]);
        contents.extend_from_slice(record.payload);
    }
    contents
}

/// Reads the chain and the height of which a checkpoint claims to be.
fn place(head: &[u8]) -> Result<(ChainIdentity, u64), Malformed> {
    let from = &mut Reader::new(head);
    if from.string()? != MAGIC {
        return Err(Malformed("beginning"));
    }
    from.number()?;
    let identity = ChainIdentity {
        chain_id: from.number()?,
        genesis: from.array()?.into(),
    };
    Ok((identity, from.number()?))
}

/// Decodes a transaction of the pool's file, and decodes its encoding again. Returns whether it is
/// one.
pub fn pending(content: &[u8]) -> usize {
    let Ok(pending) = PendingTransaction::read(content) else {
        return 0;
    };
    let mut out = Writer::default();
    pending.write(&mut out);

    let again =
        PendingTransaction::read(out.bytes()).expect("a transaction that was written can be read");
    assert_eq!(format!("{again:?}"), format!("{pending:?}"));
    1
}

/// A file in memory.
#[derive(Default)]
struct MemoryFile(Mutex<Vec<u8>>);

impl MemoryFile {
    fn bytes(&self) -> Vec<u8> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl StoredFile for MemoryFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.bytes().len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = self.bytes();
        let part = bytes
            .get(offset as usize..)
            .and_then(|rest| rest.get(..buffer.len()));
        buffer.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let end = offset as usize + bytes.len();
        if own.len() < end {
            own.resize(end, 0);
        }
        own[offset as usize..end].copy_from_slice(bytes);
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .resize(length as usize, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

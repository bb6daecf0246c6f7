//! The file of pending transactions.

use std::{io, sync::Arc};

use alloy_eips::eip7594::{BlobTransactionSidecarVariant, Decodable7594, Encodable7594};
use tetrad_primitives::block::Transaction;
use tetrad_stdx::codec::{Malformed, Reader, Writer};

use crate::{
    log::ChainIdentity,
    storage::{Records, Storage, StoredFile, Tail, push_record, read_file, write_record},
};

const NAME: &str = "pool";
const MAGIC: &[u8] = b"tetrad pool";

/// A pending transaction and its blobs.
#[derive(Clone, Debug)]
pub struct PendingTransaction {
    /// The transaction.
    pub transaction: Arc<Transaction>,
    /// Its blobs.
    pub sidecar: Option<Box<BlobTransactionSidecarVariant>>,
}

/// The file of pending transactions, in order of arrival. It is rewritten from time to time with
/// those still pending.
pub struct PoolFile {
    storage: Arc<dyn Storage>,
    identity: ChainIdentity,
    file: Arc<dyn StoredFile>,
    length: u64,
    /// Length of the file when it was last rewritten.
    fresh: u64,
    records: u64,
    failed: bool,
    bytes: Vec<u8>,
    scratch: Writer,
}

impl PendingTransaction {
    pub(super) fn write(&self, out: &mut Writer) {
        self.transaction.write(out);
        out.option(self.sidecar.as_ref(), |out, sidecar| {
            out.string_with(sidecar.encode_7594_len(), |bytes| {
                sidecar.encode_7594(bytes)
            });
        });
    }

    pub(super) fn read(payload: &[u8]) -> Result<Self, Malformed> {
        let from = &mut Reader::new(payload);
        let transaction = Arc::new(Transaction::read(from)?);
        let sidecar = from.option(|from| {
            let mut bytes = from.string()?;
            BlobTransactionSidecarVariant::decode_7594(&mut bytes)
                .map(Box::new)
                .map_err(|_| Malformed("sidecar"))
        })?;
        from.end("transaction: trailing bytes")?;
        Ok(Self {
            transaction,
            sidecar,
        })
    }
}

impl PoolFile {
    /// Loads the transactions that were pending at the last shutdown.
    pub fn load(
        storage: &dyn Storage,
        identity: ChainIdentity,
    ) -> io::Result<Vec<PendingTransaction>> {
        let Some(bytes) = read_file(storage, NAME)? else {
            return Ok(Vec::new());
        };

        let mut records = Records::new(&bytes);
        let head = records
            .next()
            .ok_or_else(|| damaged(storage, "damaged at its beginning"))?;
        if head.payload != head_payload(identity).bytes() {
            return Err(damaged(
                storage,
                "belongs to another chain, or another version of this program",
            ));
        }

        let transactions = records
            .by_ref()
            .map(|record| PendingTransaction::read(record.payload))
            .collect::<Result<_, _>>()
            .map_err(|error| damaged(storage, &error.to_string()))?;
        match records.tail() {
            // A torn record was never acknowledged.
            Tail::Clean | Tail::Torn => Ok(transactions),
            Tail::Damaged(what) => Err(damaged(
                storage,
                &format!("{what} (byte {})", records.offset()),
            )),
        }
    }

    /// Creates a file with these transactions, synced to disk.
    pub fn create(
        storage: Arc<dyn Storage>,
        identity: ChainIdentity,
        transactions: &[PendingTransaction],
    ) -> io::Result<Self> {
        let mut own = Self {
            file: storage.create(&format!("draft-{NAME}"))?,
            storage,
            identity,
            length: 0,
            fresh: 0,
            records: 0,
            failed: false,
            bytes: Vec::new(),
            scratch: Writer::default(),
        };
        own.fill(transactions)?;
        Ok(own)
    }

    /// Replaces the file atomically with one of these transactions.
    pub fn rewrite(&mut self, transactions: &[PendingTransaction]) -> io::Result<()> {
        self.file = self.storage.create(&format!("draft-{NAME}"))?;
        self.length = 0;
        self.records = 0;

        let filled = self.fill(transactions);
        // After a failure, appends would go to a file that may not have been renamed into place.
        self.failed = filled.is_err();
        filled
    }

    fn fill(&mut self, transactions: &[PendingTransaction]) -> io::Result<()> {
        self.bytes.clear();
        let head = head_payload(self.identity);
        push_record(&mut self.bytes, 0, head.bytes());
        self.records = 1;
        self.push(transactions);

        self.file.write_at(&self.bytes, 0)?;
        self.file.sync()?;
        self.storage.rename(&format!("draft-{NAME}"), NAME)?;
        self.storage.sync_names()?;

        self.length = self.bytes.len() as u64;
        self.fresh = self.length;
        Ok(())
    }

    /// Appends transactions and syncs the file.
    pub fn append(&mut self, transactions: &[PendingTransaction]) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other("an earlier write failed"));
        }

        self.bytes.clear();
        self.push(transactions);

        let written = self
            .file
            .write_at(&self.bytes, self.length)
            .and_then(|()| self.file.sync());
        if let Err(error) = written {
            // Unless the rest of the write is gone, further records could not be read.
            self.failed = self.file.truncate(self.length).is_err();
            return Err(error);
        }
        self.length += self.bytes.len() as u64;
        Ok(())
    }

    /// Returns whether the file has grown so much since the last rewrite, or an append has failed,
    /// that it should be rewritten.
    pub fn has_grown(&self) -> bool {
        /// The least size that is worth a rewrite, in bytes.
        const LEAST: u64 = 4 << 20;
        self.failed || self.length > self.fresh.saturating_mul(2).max(LEAST)
    }

    /// Returns whether the file has any transactions.
    pub fn has_any(&self) -> bool {
        self.records > 1
    }

    fn push(&mut self, transactions: &[PendingTransaction]) {
        for each in transactions {
            write_record(&mut self.bytes, &mut self.scratch, self.records, |out| {
                each.write(out)
            });
            self.records += 1;
        }
    }
}

/// Returns the error for a file that cannot be read.
fn damaged(storage: &dyn Storage, what: &str) -> io::Error {
    io::Error::other(format!(
        "{}: {what}. Nothing was changed: restore the file from a copy, or move it away to start \
         without the transactions that wait for a block",
        storage.describe(NAME)
    ))
}

fn head_payload(identity: ChainIdentity) -> Writer {
    let mut out = Writer::default();
    out.string(MAGIC);
    out.number(1);
    out.number(identity.chain_id);
    out.raw(identity.genesis.as_slice());
    out
}

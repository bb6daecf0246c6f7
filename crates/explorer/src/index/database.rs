//! The rows on disk or in memory, and the batches that change them.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use alloy_primitives::{Address, B256};
use redb::{
    Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTable, Table, TableDefinition,
    WriteTransaction, backends::InMemoryBackend,
};
use tetrad_stdx::codec::Malformed;

use super::{
    due::DueRead,
    key::{Parts, RowKey, kind},
    rows::{BlockRecord, BlockRows, Counts},
    tokens::TokenRecord,
};

/// The file beside the chain.
pub(super) const FILE: &str = "explorer";

/// The version of the rows. A file of another version is rebuilt.
const VERSION: u64 = 3;

/// The memory for pages of the file, in bytes.
const CACHE: usize = 16 << 20;

/// The number of retries if the file is open, and the pause between them: a reader in this process
/// may be about to end.
const RETRIES: u32 = 100;
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// The memory for pages of an index in memory, which are in memory already.
const SMALL_CACHE: usize = 1 << 20;

const ROWS: TableDefinition<'static, &'static [u8], &'static [u8]> = TableDefinition::new("rows");

/// The rows as of one moment.
pub(super) type RowsTable = ReadOnlyTable<&'static [u8], &'static [u8]>;

/// The index cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The database failed.
    #[error("index of addresses: {0}")]
    Database(Box<redb::Error>),
    /// A row is malformed.
    #[error("index of addresses: {0}")]
    Row(#[from] Malformed),
    /// A row is malformed.
    #[error("index of addresses: {0}")]
    Token(#[from] serde_json::Error),
    /// The file cannot be replaced.
    #[error("index of addresses: {0}")]
    Io(#[from] io::Error),
    /// The index differs from the chain.
    #[error("index of addresses: {0}")]
    Differs(String),
}

impl IndexError {
    /// Returns whether the file is damaged, so that it has to be rebuilt.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Database(error) => match &**error {
                redb::Error::Io(error) => {
                    matches!(
                        error.kind(),
                        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
                    )
                }
                redb::Error::DatabaseAlreadyOpen
                | redb::Error::PreviousIo
                | redb::Error::DatabaseClosed => false,
                _ => true,
            },
            Self::Row(_) | Self::Token(_) | Self::Differs(_) => true,
            Self::Io(_) => false,
        }
    }
}

macro_rules! from_redb {
    ($($error:ident)*) => {$(
        impl From<redb::$error> for IndexError {
            fn from(error: redb::$error) -> Self {
                Self::Database(Box::new(error.into()))
            }
        }
    )*};
}

from_redb!(DatabaseError TransactionError TableError StorageError CommitError SetDurabilityError);

/// The database.
pub(super) struct Rows {
    database: Database,
    is_file: bool,
}

/// The state of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meta {
    /// The hash of the chain's first block.
    pub(super) genesis: B256,
    /// The newest indexed block.
    pub(super) tip: u64,
    /// The oldest indexed block.
    pub(super) first: u64,
}

impl Rows {
    /// Opens the rows in a file of a directory, which is deleted if it is damaged, or creates rows
    /// in memory.
    pub(super) fn open(directory: Option<&Path>) -> Result<Self, IndexError> {
        let Some(directory) = directory else {
            return Self::in_memory();
        };
        let file = directory.join(FILE);
        match Self::in_file(&file) {
            Err(error) if error.is_damage() => {
                tracing::warn!(%error, file = %file.display(), "the index of addresses is damaged and will be rebuilt");
                fs::remove_file(&file)?;
                Self::in_file(&file)
            }
            other => other,
        }
    }

    fn in_memory() -> Result<Self, IndexError> {
        let database = Database::builder()
            .set_cache_size(SMALL_CACHE)
            .create_with_backend(InMemoryBackend::new())?;
        Self {
            database,
            is_file: false,
        }
        .prepared()
    }

    fn in_file(file: &PathBuf) -> Result<Self, IndexError> {
        let create = || Database::builder().set_cache_size(CACHE).create(file);
        let mut database = create();
        for _ in 0..RETRIES {
            if !matches!(database, Err(redb::DatabaseError::DatabaseAlreadyOpen)) {
                break;
            }
            thread::sleep(RETRY_PAUSE);
            database = create();
        }

        let database = database?;
        Self {
            database,
            is_file: true,
        }
        .prepared()
    }

    /// Opens the file of a chain on which no node runs; `None` if there is none.
    pub(super) fn existing(directory: &Path) -> Result<Option<Self>, IndexError> {
        let file = directory.join(FILE);
        if !file.exists() {
            return Ok(None);
        }

        let mut database = Database::builder().set_cache_size(CACHE).open(&file)?;
        if !database.check_integrity()? {
            return Err(IndexError::Differs(
                "the file was damaged and has been repaired; verify again".to_owned(),
            ));
        }

        Self {
            database,
            is_file: true,
        }
        .prepared()
        .map(Some)
    }

    /// Creates the table, so that reading never meets a database without it.
    fn prepared(self) -> Result<Self, IndexError> {
        let transaction = self.begin(false)?;
        transaction.open_table(ROWS)?;
        transaction.commit()?;
        Ok(self)
    }

    /// Begins a transaction. Without `durable` the next durable one writes it to the disk.
    pub(super) fn begin(&self, durable: bool) -> Result<WriteTransaction, IndexError> {
        let mut transaction = self.database.begin_write()?;
        if durable && self.is_file {
            // A start after a kill then needs no pass over the whole file.
            transaction.set_quick_repair(true);
        } else {
            transaction.set_durability(Durability::None)?;
        }
        Ok(transaction)
    }

    /// Returns the rows as of now.
    pub(super) fn read(&self) -> Result<RowsTable, IndexError> {
        Ok(self.database.begin_read()?.open_table(ROWS)?)
    }
}

/// Returns the state of the index; `None` before the first block, and for rows of another version.
pub(super) fn meta(
    rows: &impl ReadableTable<&'static [u8], &'static [u8]>,
) -> Result<Option<Meta>, IndexError> {
    let Some(value) = rows.get(RowKey::new(kind::META).bytes())? else {
        return Ok(None);
    };

    let mut parts = Parts(value.value());
    if parts.block() != VERSION {
        return Ok(None);
    }
    let tip = parts.block();
    let first = parts.block();
    Ok(Some(Meta {
        genesis: B256::from(parts.word()),
        tip,
        first,
    }))
}

/// Changes that are committed together.
pub(super) struct Batch<'t> {
    rows: Table<'t, &'static [u8], &'static [u8]>,
    /// Changes of counters that are not in the rows yet.
    counts: HashMap<Option<Address>, [i64; 6]>,
}

impl<'t> Batch<'t> {
    pub(super) fn new(transaction: &'t WriteTransaction) -> Result<Self, IndexError> {
        Ok(Self {
            rows: transaction.open_table(ROWS)?,
            counts: HashMap::new(),
        })
    }

    /// Removes all rows of a transaction.
    pub(super) fn clear(transaction: &WriteTransaction) -> Result<(), IndexError> {
        transaction.delete_table(ROWS)?;
        transaction.open_table(ROWS)?;
        Ok(())
    }

    pub(super) fn meta(&self) -> Result<Option<Meta>, IndexError> {
        meta(&self.rows)
    }

    pub(super) fn set_meta(&mut self, meta: Meta) -> Result<(), IndexError> {
        let fields = [VERSION, meta.tip, meta.first]
            .map(u64::to_be_bytes)
            .concat();
        self.insert(
            RowKey::new(kind::META).bytes(),
            &[&fields, meta.genesis.as_slice()].concat(),
        )
    }

    pub(super) fn get(&self, key: &RowKey) -> Result<Option<Vec<u8>>, IndexError> {
        Ok(self
            .rows
            .get(key.bytes())?
            .map(|value| value.value().to_vec()))
    }

    pub(super) fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<(), IndexError> {
        self.rows.insert(key, value)?;
        Ok(())
    }

    pub(super) fn remove(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, IndexError> {
        Ok(self.rows.remove(key)?.map(|value| value.value().to_vec()))
    }

    /// Adds a token that was not known. Its removal is the caller's: with the block, or never.
    pub(super) fn add_token(
        &mut self,
        token: Address,
        record: &TokenRecord,
    ) -> Result<bool, IndexError> {
        let key = RowKey::new(kind::TOKEN).address(token);
        if self.rows.get(key.bytes())?.is_some() {
            return Ok(false);
        }

        self.insert(key.bytes(), &serde_json::to_vec(record)?)?;
        self.add_due(DueRead::Token { token })?;
        Ok(true)
    }

    pub(super) fn add_due(&mut self, read: DueRead) -> Result<(), IndexError> {
        self.insert(read.key().bytes(), &[])
    }

    /// Returns some of the reads that are due.
    pub(super) fn due(&self, count: usize) -> Result<Vec<DueRead>, IndexError> {
        let all = RowKey::new(kind::DUE);
        let end = all.end();
        let rows = self.rows.range::<&[u8]>(all.bytes()..&end)?.take(count);
        rows.map(|row| Ok(DueRead::of_key(row?.0.value())))
            .collect()
    }

    /// Adds the rows of a block.
    pub(super) fn add_block(
        &mut self,
        number: u64,
        hash: B256,
        mut added: BlockRows,
    ) -> Result<usize, IndexError> {
        for (token, kind) in &added.tokens {
            if self.add_token(*token, &TokenRecord::new(*kind))? {
                // Only its key matters here: the row exists already.
                let key = RowKey::new(self::kind::TOKEN).address(*token);
                let value = self.get(&key)?.unwrap_or_default();
                added.rows.push((key.into_bytes(), value));
            }
        }

        for read in &added.due {
            // An id of ERC-1155 has no single owner. It is there from its first transfer on.
            if let DueRead::Amount { token, id, .. } = *read {
                let key = RowKey::new(self::kind::INSTANCE).address(token).word(id);
                if self.get(&key)?.is_none() {
                    self.insert(key.bytes(), &[])?;
                    added.rows.push((key.into_bytes(), Vec::new()));
                }
            }
        }

        for (key, value) in &added.rows {
            self.insert(key, value)?;
            self.count(key, value, 1);
        }
        for read in &added.due {
            self.add_due(*read)?;
        }

        let record = BlockRecord::encode(hash, &added.rows);
        self.insert(RowKey::new(kind::BLOCK).block(number).bytes(), &record)?;
        Ok(added.rows.len())
    }

    /// Removes the rows of a block. With `reverted` the balances that it changed are read anew.
    pub(super) fn remove_block(
        &mut self,
        number: u64,
        reverted: bool,
    ) -> Result<usize, IndexError> {
        let Some(record) = self.remove(RowKey::new(kind::BLOCK).block(number).bytes())? else {
            return Ok(0);
        };

        let keys = BlockRecord::decode(&record)?.keys;
        for key in &keys {
            if matches!(key.first(), Some(&kind::TOKEN | &kind::INSTANCE)) && !reverted {
                // The token and its ids are there, whether or not their first transfer is.
                continue;
            }
            let Some(value) = self.remove(key)? else {
                continue;
            };
            self.count(key, &value, -1);

            if reverted && key.first() == Some(&kind::TOKEN_TRANSFER) {
                let mut parts = Parts(key);
                parts.byte();
                for read in DueRead::of_row(parts.address(), &value) {
                    self.add_due(read)?;
                }
            }
        }
        Ok(keys.len())
    }

    /// Returns the hash of an indexed block.
    pub(super) fn hash_of(&self, number: u64) -> Result<Option<B256>, IndexError> {
        let record = self.get(&RowKey::new(kind::BLOCK).block(number))?;
        Ok(record.and_then(|record| record.first_chunk::<32>().map(|hash| B256::from(*hash))))
    }

    fn count(&mut self, key: &[u8], value: &[u8], sign: i64) {
        if let Some((subject, counts)) = Counts::of_row(key, value) {
            self.add_counts(subject, counts, sign);
        }
    }

    pub(super) fn add_counts(&mut self, subject: Option<Address>, counts: Counts, sign: i64) {
        let sums = self.counts.entry(subject).or_default();
        for (sum, count) in sums.iter_mut().zip(counts.fields()) {
            *sum += sign * count as i64;
        }
    }

    /// Writes the counters, after all other changes.
    pub(super) fn finish(mut self) -> Result<(), IndexError> {
        for (subject, changes) in std::mem::take(&mut self.counts) {
            let key = counts_key(subject);
            let mut parts_of = self.get(&key)?.unwrap_or_default();
            // Six numbers of eight bytes, of which a new row has none.
            parts_of.resize(48, 0);
            let mut parts = Parts(&parts_of);
            let fields = changes.map(|change| parts.block().saturating_add_signed(change));

            if fields.iter().all(|field| *field == 0) {
                self.remove(key.bytes())?;
            } else {
                self.insert(key.bytes(), &fields.map(u64::to_be_bytes).concat())?;
            }
        }
        Ok(())
    }
}

/// Returns the key of an address's counters, or of the totals.
pub(super) fn counts_key(subject: Option<Address>) -> RowKey {
    subject.map_or(RowKey::new(kind::COUNTS), |address| {
        RowKey::new(kind::COUNTS).address(address)
    })
}

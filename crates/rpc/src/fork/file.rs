//! The answers of another node about one of its blocks, in a file that outlives the process and
//! that several processes share.
//!
//! The file is named by the chain's id and the block's number and hash: none of it ever changes. It
//! begins with a header; records follow, each with its length and a checksum. They are appended under
//! a lock and read when the file is opened. What is damaged or cut off is removed with what follows:
//! all of it can be asked for again.

use std::{
    collections::HashSet,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, SystemTime},
};

use alloy_primitives::{Address, B256, Bytes, U256};
use parking_lot::Mutex;
use tetrad_stdx::codec::{Malformed, Reader, Writer};
use tracing::warn;

/// The first bytes of a file, which name its format.
const MAGIC: &[u8] = b"tetrad fork 1\n";
/// The extension of the files.
const EXTENSION: &str = "fork";
/// The length in bytes that a file does not grow beyond.
const MAX_FILE: u64 = 128 << 20;
/// The length of the frame around a record: its own length, and the checksum.
const FRAME: usize = 8;
/// How often a file that another process holds is tried again, and how soon.
const TRIES: usize = 50;
const TRY_INTERVAL: Duration = Duration::from_millis(1);

/// Something that another node answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// An account with the hash of its code; none if it does not exist.
    Account(Address, Option<(U256, u64, Option<B256>)>),
    /// Code by its hash. It precedes the accounts that have it.
    Code(B256, Bytes),
    /// A storage slot.
    Slot(Address, U256, U256),
    /// The hash of a block with this number.
    BlockHash(u64, B256),
    /// The JSON of a result by the hash of its method and parameters.
    Answer(B256, Bytes),
}

impl Record {
    fn write(&self, out: &mut Writer) {
        match self {
            Self::Account(address, account) => {
                out.byte(0);
                out.raw(address.as_slice());
                out.option(account.as_ref(), |out, (balance, nonce, code)| {
                    out.wide(*balance);
                    out.number(*nonce);
                    out.option(code.as_ref(), |out, code| out.raw(code.as_slice()));
                });
            }
            Self::Code(hash, code) => {
                out.byte(1);
                out.raw(hash.as_slice());
                out.string(code);
            }
            Self::Slot(address, index, value) => {
                out.byte(2);
                out.raw(address.as_slice());
                out.wide(*index);
                out.wide(*value);
            }
            Self::BlockHash(number, hash) => {
                out.byte(3);
                out.number(*number);
                out.raw(hash.as_slice());
            }
            Self::Answer(key, json) => {
                out.byte(4);
                out.raw(key.as_slice());
                out.string(json);
            }
        }
    }

    fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let record = match reader.byte()? {
            0 => Self::Account(
                Address::from(reader.array()?),
                reader.option(|reader| {
                    let balance = reader.wide()?;
                    let nonce = reader.number()?;
                    let code = reader.option(|reader| Ok(B256::from(reader.array()?)))?;
                    Ok((balance, nonce, code))
                })?,
            ),
            1 => Self::Code(
                reader.array()?.into(),
                Bytes::copy_from_slice(reader.string()?),
            ),
            2 => Self::Slot(
                Address::from(reader.array()?),
                reader.wide()?,
                reader.wide()?,
            ),
            3 => Self::BlockHash(reader.number()?, reader.array()?.into()),
            4 => Self::Answer(
                reader.array()?.into(),
                Bytes::copy_from_slice(reader.string()?),
            ),
            _ => return Err(Malformed("an unknown kind of record")),
        };
        reader.end("a record")?;
        Ok(record)
    }
}

/// The file of one block.
#[derive(Debug)]
pub(super) struct ForkFile {
    path: PathBuf,
    file: Mutex<File>,
    /// The hashes of the code that it has.
    codes: Mutex<HashSet<B256>>,
    /// Whether writing has failed.
    failed: AtomicBool,
}

/// A forked block with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedFork {
    /// The chain's id.
    pub chain_id: u64,
    /// The block's number.
    pub number: u64,
    /// The block's hash.
    pub hash: B256,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// When it was last opened.
    pub used: SystemTime,
}

impl CachedFork {
    fn path(&self, directory: &Path) -> PathBuf {
        let Self {
            chain_id,
            number,
            hash,
            ..
        } = self;
        directory.join(format!("{chain_id}-{number}-{hash:x}.{EXTENSION}"))
    }
}

impl ForkFile {
    /// Opens the file of a block, and returns what is in it. Files that have not been used for
    /// longest are removed until all of them together have at most `limit` bytes.
    pub(super) fn open(
        directory: &Path,
        (chain_id, number, hash): (u64, u64, B256),
        limit: u64,
    ) -> io::Result<(Self, Vec<Record>)> {
        fs::create_dir_all(directory)?;
        let own = CachedFork {
            chain_id,
            number,
            hash,
            bytes: 0,
            used: SystemTime::now(),
        };
        let path = own.path(directory);
        evict(directory, &path, limit)?;

        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)?;
        let records = read_all(&mut file, &path)?;
        file.set_modified(SystemTime::now())?;

        let codes = records.iter().filter_map(|record| match record {
            Record::Code(hash, _) => Some(*hash),
            _ => None,
        });
        let opened = Self {
            path,
            codes: Mutex::new(codes.collect()),
            file: Mutex::new(file),
            failed: AtomicBool::new(false),
        };
        Ok((opened, records))
    }

    /// Appends records, except for code that it has. A failure is reported once, and ends writing.
    pub(super) fn append(&self, records: &[Record]) {
        let mut all = Vec::new();
        let mut codes = Vec::new();
        for record in records {
            match record {
                Record::Code(hash, _) if self.codes.lock().contains(hash) => {}
                record => frame(record, &mut all),
            }
            if let Record::Code(hash, _) = record {
                codes.push(*hash);
            }
        }

        if all.is_empty() || self.failed.load(Ordering::Relaxed) {
            return;
        }
        let file = self.file.lock();
        let written = locked(&file, || {
            if file.metadata()?.len() + all.len() as u64 <= MAX_FILE {
                (&*file).write_all(&all)?;
            }
            Ok(())
        });
        match written {
            Ok(()) => self.codes.lock().extend(codes),
            // Another process has it for long: this is asked for again by the next one.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => {
                self.failed.store(true, Ordering::Relaxed);
                warn!(
                    "{}: {error}; what the forked node answers is no longer kept",
                    self.path.display()
                );
            }
        }
    }
}

fn frame(record: &Record, out: &mut Vec<u8>) {
    let mut writer = Writer::default();
    record.write(&mut writer);
    let bytes = writer.bytes();
    // A record is an answer, which is far shorter than 4 GiB.
    out.extend((bytes.len() as u32).to_be_bytes());
    out.extend(crc32fast::hash(bytes).to_be_bytes());
    out.extend(bytes);
}

/// Does something with a file that is locked against other processes.
fn locked<R>(file: &File, work: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => {
                let done = work();
                file.unlock()?;
                return done;
            }
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => thread::sleep(TRY_INTERVAL),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::WouldBlock,
        "another process holds the file",
    ))
}

/// Reads a file. What is damaged, or not whole, is removed.
fn read_all(file: &mut File, path: &Path) -> io::Result<Vec<Record>> {
    // Without the lock, which others would wait for: what is there only grows.
    let bytes = contents(file)?;
    if let (records, Ok(end)) = parse(&bytes)
        && end == bytes.len()
    {
        return Ok(records);
    }

    // Again, since another process may have been writing.
    let own = file.try_clone()?;
    locked(&own, || {
        let bytes = contents(file)?;
        let (records, end) = match parse(&bytes) {
            (records, Ok(end)) => (records, end),
            (records, Err(Damage { end, what })) => {
                if !bytes.is_empty() {
                    warn!("{}: {what}; what follows is dropped", path.display());
                }
                (records, end)
            }
        };

        if end < bytes.len() {
            file.set_len(end as u64)?;
        }
        if end == 0 {
            file.write_all(MAGIC)?;
        }
        Ok(records)
    })
}

fn contents(file: &mut File) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(2 * MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The place at which a file is damaged.
struct Damage {
    end: usize,
    what: String,
}

/// The whole records of a file, and where the last of them ends.
fn parse(bytes: &[u8]) -> (Vec<Record>, Result<usize, Damage>) {
    let mut records = Vec::new();
    let Some(mut rest) = bytes.strip_prefix(MAGIC) else {
        let what = "it does not begin like a cache of a fork".to_owned();
        return (records, Err(Damage { end: 0, what }));
    };

    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(0u32, |all, byte| all << 8 | u32::from(*byte))
    };
    while let Some((frame, after)) = rest.split_at_checked(FRAME) {
        let end = bytes.len() - rest.len();
        let (length, checksum) = frame.split_at(FRAME / 2);
        let length = number(length) as usize;
        // A file whose end was lost in a crash may end with zeros.
        let Some((record, after)) = after.split_at_checked(length).filter(|_| length > 0) else {
            break;
        };

        let is_whole = crc32fast::hash(record) == number(checksum);
        match Record::read(record) {
            Ok(record) if is_whole => records.push(record),
            _ => {
                let what = format!("the record at byte {end} is damaged");
                return (records, Err(Damage { end, what }));
            }
        }
        rest = after;
    }
    (records, Ok(bytes.len() - rest.len()))
}

/// Removes the files that have not been used for longest, but this one, until all others have at most
/// `limit` bytes.
fn evict(directory: &Path, own: &Path, limit: u64) -> io::Result<()> {
    let mut others = list(directory)?;
    others.retain(|fork| fork.path(directory) != own);
    others.sort_by_key(|fork| fork.used);

    let mut bytes: u64 = others.iter().map(|fork| fork.bytes).sum();
    for fork in others {
        if bytes <= limit {
            break;
        }
        // Another process may have removed it.
        let _ = fs::remove_file(fork.path(directory));
        bytes -= fork.bytes;
    }
    Ok(())
}

/// The forked blocks that a directory has files of, those used last first.
///
/// # Errors
/// If the directory exists and cannot be read.
pub fn list(directory: &Path) -> io::Result<Vec<CachedFork>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };

    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some((chain_id, number, hash)) = name.to_str().and_then(parse_name) else {
            continue;
        };
        // It may be gone by now.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        found.push(CachedFork {
            chain_id,
            number,
            hash,
            bytes: metadata.len(),
            used: metadata.modified()?,
        });
    }
    found.sort_by_key(|fork| std::cmp::Reverse(fork.used));
    Ok(found)
}

/// Removes all files of forked blocks, and returns what they were.
///
/// # Errors
/// If the directory cannot be read, or a file cannot be removed.
pub fn clear(directory: &Path) -> io::Result<Vec<CachedFork>> {
    let found = list(directory)?;
    for fork in &found {
        match fs::remove_file(fork.path(directory)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(found)
}

fn parse_name(name: &str) -> Option<(u64, u64, B256)> {
    let (name, extension) = name.rsplit_once('.')?;
    let mut parts = name.split('-');
    let chain_id = parts.next()?.parse().ok()?;
    let number = parts.next()?.parse().ok()?;
    let hash = parts.next()?.parse().ok()?;
    (extension == EXTENSION && parts.next().is_none()).then_some((chain_id, number, hash))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BLOCK: (u64, u64, B256) = (1, 17, B256::repeat_byte(3));
    const NO_LIMIT: u64 = u64::MAX;

    fn records() -> Vec<Record> {
        let (address, code) = (Address::repeat_byte(1), B256::repeat_byte(2));
        vec![
            Record::Code(code, Bytes::from_static(&[0x60, 0])),
            Record::Account(address, Some((U256::from(5), 7, Some(code)))),
            Record::Account(Address::ZERO, None),
            Record::Slot(address, U256::MAX, U256::from(9)),
            Record::BlockHash(16, B256::repeat_byte(4)),
            Record::Answer(B256::repeat_byte(5), Bytes::from_static(b"\"0x1\"")),
        ]
    }

    fn open(directory: &Path) -> (ForkFile, Vec<Record>) {
        ForkFile::open(directory, BLOCK, NO_LIMIT).expect("a file")
    }

    #[test]
    fn what_is_written_is_read_by_the_next_and_by_others() {
        let directory = tempfile::tempdir().expect("a directory");
        let (first, found) = open(directory.path());
        assert_eq!(found, []);
        let (second, _) = open(directory.path());

        first.append(&records()[..3]);
        second.append(&records()[3..]);
        assert_eq!(open(directory.path()).1, records());

        // Code is kept once.
        first.append(&records()[..1]);
        assert_eq!(open(directory.path()).1, records());
    }

    #[test]
    fn a_record_that_is_cut_off_is_removed_and_others_follow() {
        let directory = tempfile::tempdir().expect("a directory");
        let (file, _) = open(directory.path());
        file.append(&records());
        let whole = fs::read(&file.path).expect("a file");

        for kept in MAGIC.len()..whole.len() {
            fs::write(&file.path, &whole[..kept]).expect("a shorter file");
            let (again, found) = open(directory.path());
            assert!(records().starts_with(&found));
            again.append(&records()[4..]);
            let mut expected = found;
            expected.extend_from_slice(&records()[4..]);
            assert_eq!(open(directory.path()).1, expected);
        }
    }

    #[test]
    fn the_files_that_were_not_used_for_longest_go_first() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |number| (1, number, B256::repeat_byte(3));
        for number in 1..=3 {
            let (file, _) = ForkFile::open(directory.path(), at(number), NO_LIMIT).expect("a file");
            file.append(&records());
            let used = SystemTime::UNIX_EPOCH + Duration::from_secs(number);
            file.file.lock().set_modified(used).expect("a time");
        }

        let bytes = list(directory.path()).expect("a list")[0].bytes;
        ForkFile::open(directory.path(), at(4), bytes).expect("a file");
        let left: Vec<_> = list(directory.path())
            .expect("a list")
            .into_iter()
            .map(|fork| fork.number)
            .collect();
        assert_eq!(left, [4, 3]);

        assert_eq!(clear(directory.path()).expect("a list").len(), 2);
        assert_eq!(list(directory.path()).expect("a list"), []);
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_opened(bytes: Vec<u8>, begins_well: bool) {
            let directory = tempfile::tempdir().expect("a directory");
            let (file, _) = open(directory.path());
            let start = if begins_well { MAGIC } else { &[] };
            fs::write(&file.path, [start, &bytes].concat()).expect("a file");
            let (again, found) = open(directory.path());
            again.append(&records());
            let mut expected = found;
            expected.extend(records());
            prop_assert_eq!(open(directory.path()).1.len(), expected.len());
        }
    }
}

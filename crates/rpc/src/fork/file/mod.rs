//! The answers of another node about one of its blocks, in a file that outlives the process and
//! that several processes share.
//!
//! The file is named by the chain's id and the block's number and hash: none of it ever changes.
//! Records are appended under a lock and read when the file is opened. A record that is damaged or
//! cut off is removed with those that follow: all of them can be requested again.

mod directory;
mod record;

use std::{
    collections::HashSet,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, SystemTime},
};

use alloy_primitives::B256;
use parking_lot::Mutex;
use tracing::warn;

pub use self::directory::{CachedFork, clear, list};
pub(super) use self::record::Record;
use self::{
    directory::evict,
    record::{Damage, MAGIC, parse, write_framed},
};

/// The length in bytes that a file does not grow beyond.
const MAX_FILE_BYTES: u64 = 128 << 20;
/// The number of attempts to lock a file that another process has locked, and the time between
/// them.
const LOCK_ATTEMPTS: usize = 50;
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(1);

/// The file of a forked block.
#[derive(Debug)]
pub(super) struct ForkFile {
    path: PathBuf,
    file: Mutex<File>,
    /// The hashes of the code that is in it.
    codes: Mutex<HashSet<B256>>,
    /// Whether a write has failed, after which there are no more.
    has_failed: AtomicBool,
}

impl ForkFile {
    /// Opens the file of a block, and returns its records. Of the other files those that were used
    /// longest ago are removed, until all others have at most `limit` bytes.
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
        let records = read_records(&mut file, &path)?;
        file.set_modified(SystemTime::now())?;

        let codes = records.iter().filter_map(|record| match record {
            Record::Code(hash, _) => Some(*hash),
            _ => None,
        });
        let opened = Self {
            path,
            codes: Mutex::new(codes.collect()),
            file: Mutex::new(file),
            has_failed: AtomicBool::new(false),
        };
        Ok((opened, records))
    }

    /// Appends records, except for code that is in it. A failure is reported once, and ends
    /// writing.
    pub(super) fn append(&self, records: &[Record]) {
        let mut bytes = Vec::new();
        let mut codes = Vec::new();
        for record in records {
            if let Record::Code(hash, _) = record {
                if self.codes.lock().contains(hash) {
                    continue;
                }
                codes.push(*hash);
            }
            write_framed(record, &mut bytes);
        }

        if bytes.is_empty() || self.has_failed.load(Ordering::Relaxed) {
            return;
        }
        let file = self.file.lock();
        let written = with_lock(&file, || {
            if file.metadata()?.len() + bytes.len() as u64 <= MAX_FILE_BYTES {
                (&*file).write_all(&bytes)?;
            }
            Ok(())
        });
        match written {
            Ok(()) => self.codes.lock().extend(codes),
            // Another process has it locked for long: the next fork requests these answers again.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => {
                self.has_failed.store(true, Ordering::Relaxed);
                warn!(
                    "{}: {error}; what the forked node answers is no longer kept",
                    self.path.display()
                );
            }
        }
    }
}

/// Locks a file against other processes while `work` is done.
fn with_lock<R>(file: &File, work: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
    for _ in 0..LOCK_ATTEMPTS {
        match file.try_lock() {
            Ok(()) => {
                let done = work();
                file.unlock()?;
                return done;
            }
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_RETRY_INTERVAL),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::WouldBlock,
        "another process holds the file",
    ))
}

/// Reads the records of a file. Those that are damaged or cut off are removed.
fn read_records(file: &mut File, path: &Path) -> io::Result<Vec<Record>> {
    // Without the lock, which others would wait for: a file only grows.
    let bytes = contents(file)?;
    if let (records, Ok(end)) = parse(&bytes)
        && end == bytes.len()
    {
        return Ok(records);
    }

    // Again, since another process may have been writing.
    let own = file.try_clone()?;
    with_lock(&own, || {
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
    file.take(2 * MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{Address, Bytes, U256};
    use proptest::prelude::*;

    use super::*;

    const BLOCK: (u64, u64, B256) = (1, 17, B256::repeat_byte(3));
    const NO_LIMIT: u64 = u64::MAX;

    fn records() -> Vec<Record> {
        let address = Address::repeat_byte(1);
        let code = B256::repeat_byte(2);
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

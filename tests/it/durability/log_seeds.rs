//! The log on failing disks, compared with the acknowledged entries.

use std::sync::Arc;

use alloy_primitives::{Address, B256, U256, keccak256};
use tetrad_primitives::state::{AccountChange, Changes};
use tetrad_stdx::codec::Writer;
use tetrad_store::{
    log::{
        AppendError, BlockLog, ChainIdentity, Durability, LocalLogs, LogEntry, LogError, LogStore,
    },
    storage::{Directory, Storage},
};

use super::{disk::Disk, rounds};
use crate::contracts::random::Random;

const CHAIN: ChainIdentity = ChainIdentity {
    chain_id: 125,
    genesis: B256::repeat_byte(7),
};

/// An entry of any size, including zeros.
fn entry(random: &mut Random) -> LogEntry {
    let slots = random.below(60);
    let storage = (0..slots)
        .map(|_| (U256::from(random.next()), random.part_of(U256::from(2))))
        .collect();
    let address = Address::with_last_byte(random.below(3) as u8);
    let change = AccountChange {
        address,
        key: keccak256(address),
        after: None,
        storage_wiped: false,
        storage,
        public_key: None,
    };
    LogEntry::Edit {
        changes: Arc::new(Changes(vec![change])),
        root: B256::with_last_byte(random.below(2) as u8),
        parameters: None,
    }
}

fn bytes(entry: &LogEntry) -> Vec<u8> {
    let mut out = Writer::default();
    entry.write(&mut out);
    out.into_bytes()
}

fn content(log: &dyn BlockLog) -> Result<Vec<Vec<u8>>, LogError> {
    log.reader()
        .stream(0)?
        .map(|stored| Ok(stored?.bytes))
        .collect()
}

/// A log in small segments.
fn logs(storage: Arc<dyn Storage>, durability: Durability) -> LocalLogs {
    LocalLogs::new(storage)
        .with_durability(durability)
        .with_segments_of(4_096)
}

/// The acknowledged entries, and one that may be there as well.
#[derive(Default)]
struct Model {
    acknowledged: Vec<Vec<u8>>,
    unknown: Option<Vec<u8>>,
}

impl Model {
    fn append(&mut self, log: &mut dyn BlockLog, random: &mut Random) {
        let entry = entry(random);
        match log.append(log.end(), &entry.to_bytes()) {
            Ok(()) => {
                self.acknowledged.push(bytes(&entry));
                assert_eq!(log.end(), self.acknowledged.len() as u64);
            }
            Err(AppendError::Refused { .. }) => {
                assert_eq!(log.end(), self.acknowledged.len() as u64)
            }
            Err(AppendError::Unknown { .. }) => {
                // Only the first such entry can be there: the log accepts nothing after it.
                self.unknown.get_or_insert(bytes(&entry));
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn check(&mut self, seed: u64, log: &dyn BlockLog) {
        let found = content(log).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let mut expected = self.acknowledged.clone();
        if found.len() > expected.len() {
            expected.extend(self.unknown.take());
        }

        assert!(
            found == expected,
            "seed {seed}: {} entries, {} acknowledged",
            found.len(),
            self.acknowledged.len()
        );

        let by_height = (0..log.end()).map(|height| {
            log.reader()
                .read(height)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"))
                .bytes
        });
        assert!(
            by_height.eq(found.iter().cloned()),
            "seed {seed}: entries by height"
        );

        // The test does not know where the file of offsets was lost.
        let sizes = (0..log.end()).map(|height| log.reader().size(height));
        let is_size =
            |(size, entry): (Option<usize>, &Vec<u8>)| size.is_none_or(|size| size == entry.len());
        assert!(
            sizes.zip(&found).all(is_size),
            "seed {seed}: sizes by height"
        );

        (self.acknowledged, self.unknown) = (found, None);
    }
}

#[test]
fn acknowledged_entries_survive_faults_and_power_failures() {
    for seed in 0..rounds("TETRAD_LOG_SEEDS", 1_500) {
        let random = &mut Random::new(seed);
        let mut disk = Disk::new(seed);
        let mut model = Model::default();
        for _ in 0..3 {
            disk.fail(0);
            let storage = Arc::new(disk.clone());
            let log = logs(storage, Durability::Fsync).open(CHAIN, 0);
            let mut log = log.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            model.check(seed, &*log);
            disk.fail(random.pick(&[0, 2, 10]));
            for _ in 0..random.below(20) {
                model.append(&mut *log, random);
            }
            disk = if random.chance(70) {
                disk.power_failure()
            } else {
                disk.kill()
            };
        }
    }
}

#[test]
fn acknowledged_entries_survive_the_process_without_fsync() {
    for seed in 0..rounds("TETRAD_LOG_SEEDS", 1_500) / 5 {
        let random = &mut Random::new(seed);
        let mut disk = Disk::new(seed);
        let mut model = Model::default();
        for _ in 0..3 {
            let mut log = logs(Arc::new(disk.clone()), Durability::Os)
                .open(CHAIN, 0)
                .unwrap();
            model.check(seed, &*log);
            (0..random.below(20)).for_each(|_| model.append(&mut *log, random));
            disk = disk.kill();
        }
    }
}

#[test]
fn entries_are_read_by_height_despite_damaged_offset_files() {
    for seed in 0..40 {
        let random = &mut Random::new(seed);
        let storage = Arc::new(Disk::new(seed));
        let mut log = logs(storage.clone(), Durability::Os)
            .open(CHAIN, 0)
            .unwrap();
        let mut model = Model::default();
        (0..60).for_each(|_| model.append(&mut *log, random));

        let offsets: Vec<_> = storage
            .names()
            .unwrap()
            .into_iter()
            .filter(|name| name.starts_with("offsets-"))
            .collect();
        assert!(offsets.len() > 2, "{offsets:?}");

        for _ in 0..2 {
            for name in &offsets {
                match random.below(4) {
                    0 => storage.remove(name).unwrap(),
                    1 => storage
                        .open(name)
                        .unwrap()
                        .truncate(random.below(20))
                        .unwrap(),
                    2 => storage
                        .open(name)
                        .unwrap()
                        .write_at(&(random.next() >> 40).to_le_bytes(), 8)
                        .unwrap(),
                    _ => {}
                }
            }

            model.check(seed, &*log);
            log = logs(storage.clone(), Durability::Os)
                .open(CHAIN, 0)
                .unwrap();
            model.check(seed, &*log);
        }
    }
}

#[test]
fn a_flipped_bit_is_never_mistaken_for_an_incomplete_write() {
    let directory = tempfile::tempdir().unwrap();
    let storage = Arc::new(Directory::new(directory.path()).unwrap());
    let random = &mut Random::new(1);
    let logs = logs(storage, Durability::Os);
    let mut log = logs.open(CHAIN, 0).unwrap();
    for _ in 0..6 {
        log.append(log.end(), &entry(random).to_bytes()).unwrap();
    }
    drop(log);
    let file = directory.path().join("log-00000000000000000000");
    let intact = std::fs::read(&file).unwrap();
    for _ in 0..400 {
        let mut rotten = intact.clone();
        let at = random.below(rotten.len() as u64) as usize;
        rotten[at] ^= 1 << random.below(8);
        std::fs::write(&file, &rotten).unwrap();
        let error = logs.open(CHAIN, 0).err().expect("a refusal");
        assert!(
            error.to_string().contains("log-00000000000000000000: "),
            "{error}"
        );
        assert_eq!(
            std::fs::read(&file).unwrap(),
            rotten,
            "a refused log is unchanged"
        );
    }
}

//! A disk in memory that fails, loses unsynced writes, and loses names.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use tetrad_store::storage::{Storage, StoredFile};

use crate::contracts::random::Random;

/// The unit of an atomic write.
const SECTOR: usize = 512;

/// The disk. Clones share it.
#[derive(Clone)]
pub(super) struct Disk(Arc<Mutex<State>>);

struct State {
    random: Random,
    /// Chance in per cent that a call fails.
    faults: u64,
    /// Calls that succeed before all others fail.
    left: Option<u64>,
    /// The capacity for the bytes of all files.
    room: Option<u64>,
    files: BTreeMap<String, Arc<Mutex<Content>>>,
    /// The names that survive a power failure.
    synced_names: BTreeMap<String, Arc<Mutex<Content>>>,
}

#[derive(Default)]
struct Content {
    now: Vec<u8>,
    synced: Vec<u8>,
}

struct OpenFile {
    disk: Weak<Mutex<State>>,
    content: Arc<Mutex<Content>>,
}

impl Disk {
    pub(super) fn new(seed: u64) -> Self {
        let (files, synced_names) = Default::default();
        Self(Arc::new(Mutex::new(State {
            random: Random::new(seed),
            faults: 0,
            left: None,
            room: None,
            files,
            synced_names,
        })))
    }

    /// Sets the chance in per cent with which calls fail.
    pub(super) fn fail(&self, percent: u64) {
        self.0.lock().faults = percent;
    }

    /// Simulates a power failure: some of the unsynced sectors and names survive. Returns the disk
    /// for the next process; writes to this one are lost.
    pub(super) fn power_failure(&self) -> Self {
        let mut state = self.0.lock();
        let mut files = BTreeMap::new();
        let names = if state.random.chance(50) {
            state.synced_names.clone()
        } else {
            state.files.clone()
        };
        for (name, content) in names {
            let content = content.lock();
            let left = left_over(&mut state.random, &content);
            files.insert(
                name,
                Arc::new(Mutex::new(Content {
                    now: left.clone(),
                    synced: left,
                })),
            );
        }
        Self::of(&mut state, files)
    }

    /// Simulates a kill of the process: everything passed to the system survives.
    pub(super) fn kill(&self) -> Self {
        let mut state = self.0.lock();
        let files = state
            .files
            .iter()
            .map(|(name, content)| {
                let now = content.lock().now.clone();
                let copy = Content {
                    synced: now.clone(),
                    now,
                };
                (name.clone(), Arc::new(Mutex::new(copy)))
            })
            .collect();
        Self::of(&mut state, files)
    }

    fn of(state: &mut State, files: BTreeMap<String, Arc<Mutex<Content>>>) -> Self {
        let random = Random::new(state.random.next());
        Self(Arc::new(Mutex::new(State {
            random,
            faults: 0,
            left: None,
            room: None,
            synced_names: files.clone(),
            files,
        })))
    }

    fn may_fail(&self) -> io::Result<()> {
        may_fail(&mut self.0.lock())
    }

    /// Syncs the names that `is_synced` accepts, which are those of one folder.
    fn sync_where(&self, is_synced: impl Fn(&str) -> bool) -> io::Result<()> {
        self.may_fail()?;
        let state = &mut *self.0.lock();
        state.synced_names.retain(|name, _| !is_synced(name));
        let current = state.files.iter().filter(|(name, _)| is_synced(name));
        state
            .synced_names
            .extend(current.map(|(name, content)| (name.clone(), content.clone())));
        Ok(())
    }

    /// Lets the next `calls` changing calls succeed and all later ones fail, as if the process was
    /// killed.
    pub(super) fn fail_after(&self, calls: u64) {
        self.0.lock().left = Some(calls);
    }

    /// Fails calls that would leave more than this many bytes in files.
    pub(super) fn limit(&self, bytes: Option<u64>) {
        self.0.lock().room = bytes;
    }
}

fn may_fail(state: &mut State) -> io::Result<()> {
    match &mut state.left {
        Some(0) => return Err(io::Error::other("killed")),
        Some(left) => *left -= 1,
        None => {}
    }
    let percent = state.faults;
    if state.random.chance(percent) {
        Err(io::ErrorKind::StorageFull.into())
    } else {
        Ok(())
    }
}

/// Whether this many more bytes fit on the disk.
fn has_room(state: &State, more: u64) -> bool {
    let used: usize = state
        .files
        .values()
        .map(|content| content.lock().now.len())
        .sum();
    state.room.is_none_or(|room| used as u64 + more <= room)
}

/// Writes into a file, and extends it if it is too short.
fn put(content: &mut Content, bytes: &[u8], offset: u64) {
    let start = offset as usize;
    let end = start + bytes.len();
    content.now.resize(content.now.len().max(end), 0);
    content.now[start..end].copy_from_slice(bytes);
}

/// The content of a file after a power failure.
fn left_over(random: &mut Random, content: &Content) -> Vec<u8> {
    let mut left = content.synced.clone();
    let mut length = left.len();
    for start in (0..content.now.len()).step_by(SECTOR) {
        let end = (start + SECTOR).min(content.now.len());
        let new = &content.now[start..end];
        if content.synced.get(start..end) == Some(new) {
            length = length.max(end);
            continue;
        }
        match random.below(3) {
            // The sector was written.
            0 => {
                left.resize(left.len().max(end), 0);
                left[start..end].copy_from_slice(new);
                length = length.max(end);
            }
            // The file was extended, but the sector was not written.
            1 => length = length.max(end),
            _ => {}
        }
    }
    left.resize(length, 0);
    left
}

impl Storage for Disk {
    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self
            .0
            .lock()
            .files
            .keys()
            .filter(|name| !name.contains('/'))
            .cloned()
            .collect())
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StoredFile>> {
        let content = self
            .0
            .lock()
            .files
            .get(name)
            .cloned()
            .ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::new(OpenFile {
            disk: Arc::downgrade(&self.0),
            content,
        }))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn StoredFile>> {
        self.may_fail()?;
        let content = Arc::new(Mutex::new(Content::default()));
        self.0.lock().files.insert(name.to_owned(), content.clone());
        Ok(Arc::new(OpenFile {
            disk: Arc::downgrade(&self.0),
            content,
        }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.may_fail()?;
        let mut state = self.0.lock();
        let content = state.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.files.insert(to.to_owned(), content);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.may_fail()?;
        self.0
            .lock()
            .files
            .remove(name)
            .map(|_| ())
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        let state = self.0.lock();
        let mut folders: Vec<String> = state
            .files
            .keys()
            .filter_map(|name| Some(name.split_once('/')?.0.to_owned()))
            .collect();
        folders.dedup();
        Ok(folders)
    }

    fn folder(&self, name: &str) -> io::Result<Arc<dyn Storage>> {
        self.may_fail()?;
        Ok(Arc::new(Folder {
            disk: self.clone(),
            prefix: format!("{name}/"),
        }))
    }

    fn move_into(&self, folder: &str, name: &str) -> io::Result<()> {
        self.rename(name, &format!("{folder}/{name}"))
    }

    fn sync_names(&self) -> io::Result<()> {
        self.sync_where(|name| !name.contains('/'))
    }

    fn describe(&self, name: &str) -> String {
        format!("disk/{name}")
    }
}

/// A folder of the disk, whose name is a prefix of its files' names.
struct Folder {
    disk: Disk,
    prefix: String,
}

impl Folder {
    fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

impl Storage for Folder {
    fn names(&self) -> io::Result<Vec<String>> {
        let state = self.disk.0.lock();
        Ok(state
            .files
            .keys()
            .filter_map(|name| name.strip_prefix(&self.prefix))
            .map(str::to_owned)
            .collect())
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StoredFile>> {
        self.disk.open(&self.full(name))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn StoredFile>> {
        self.disk.create(&self.full(name))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(&self.full(from), &self.full(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(&self.full(name))
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn folder(&self, _name: &str) -> io::Result<Arc<dyn Storage>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn move_into(&self, _folder: &str, _name: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync_names(&self) -> io::Result<()> {
        self.disk.sync_where(|name| name.starts_with(&self.prefix))
    }

    fn describe(&self, name: &str) -> String {
        self.disk.describe(&self.full(name))
    }
}

impl OpenFile {
    /// Runs `act`, or fails; before a failure, `partly` gets a random number.
    fn call<T>(
        &self,
        act: impl FnOnce(&mut Content) -> T,
        partly: impl FnOnce(&mut Content, u64),
    ) -> io::Result<T> {
        let disk = self
            .disk
            .upgrade()
            .ok_or_else(|| io::Error::other("the machine is gone"))?;
        let mut state = disk.lock();
        let mut content = self.content.lock();
        if let Err(error) = may_fail(&mut state) {
            partly(&mut content, state.random.next());
            return Err(error);
        }
        Ok(act(&mut content))
    }
}

impl StoredFile for OpenFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.content.lock().now.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let content = self.content.lock();
        let from = content
            .now
            .get(offset as usize..offset as usize + buffer.len());
        buffer.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let end = offset + bytes.len() as u64;
        let length = self.content.lock().now.len() as u64;
        if let Some(disk) = self.disk.upgrade()
            && end > length
            && !has_room(&disk.lock(), end - length)
        {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let part = |random: u64| &bytes[..(random % (bytes.len() as u64 + 1)) as usize];
        self.call(
            |content| put(content, bytes, offset),
            |content, random| put(content, part(random), offset),
        )
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.call(|content| content.now.truncate(length as usize), |_, _| {})
    }

    fn sync(&self) -> io::Result<()> {
        self.call(|content| content.synced = content.now.clone(), |_, _| {})
    }
}

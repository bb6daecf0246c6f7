//! An abstraction of files that tests can make fail: [`Storage`] is a flat directory, [`Directory`]
//! one of the file system, and [records](write_record) frame the content so that a reader detects
//! damage.

mod directory;
mod record;

use std::{fs, io, sync::Arc};

pub use self::{
    directory::Directory,
    record::{HEADER, Record, Records, Tail, write_record},
};
pub(crate) use record::{push_record, read_length_at, read_record, read_record_at};

/// A flat directory of files. Tests implement it with failing, delayed and torn writes.
pub trait Storage: Send + Sync {
    /// Returns the names of all files.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Opens an existing file.
    fn open(&self, name: &str) -> io::Result<Arc<dyn StoredFile>>;

    /// Creates an empty file, and truncates an existing one.
    fn create(&self, name: &str) -> io::Result<Arc<dyn StoredFile>>;

    /// Creates a file for a copy of `original`, with permissions that are never wider than the
    /// original's.
    fn create_like(
        &self,
        name: &str,
        _original: &dyn StoredFile,
    ) -> io::Result<Arc<dyn StoredFile>> {
        self.create(name)
    }

    /// Renames a file, and replaces an existing one with the new name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Returns the names of all subdirectories.
    fn folders(&self) -> io::Result<Vec<String>>;

    /// Opens a subdirectory, and creates it if it does not exist.
    fn folder(&self, name: &str) -> io::Result<Arc<dyn Storage>>;

    /// Moves a file into an existing subdirectory, and replaces one with the same name there.
    fn move_into(&self, folder: &str, name: &str) -> io::Result<()>;

    /// Syncs the directory: creations, renames and removals are on disk when it returns.
    fn sync_names(&self) -> io::Result<()>;

    /// Returns the path of a file, or of the directory for an empty name, for messages.
    fn describe(&self, name: &str) -> String;
}

/// A file.
pub trait StoredFile: Send + Sync {
    /// Returns its length in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Fills the buffer with the bytes from `offset` on. Fails if there are fewer.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Writes bytes at `offset`. After an error some of them may have been written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Truncates or extends the file to this length.
    fn truncate(&self, length: u64) -> io::Result<()>;

    /// Syncs the content, which is on disk when this returns. After an error its state on disk is
    /// unknown.
    fn sync(&self) -> io::Result<()>;

    /// Returns the permissions, if files have them.
    fn permissions(&self) -> io::Result<Option<fs::Permissions>> {
        Ok(None)
    }
}

/// Reads a file. Returns `None` if it does not exist.
pub fn read_file(storage: &dyn Storage, name: &str) -> io::Result<Option<Vec<u8>>> {
    let file = match storage.open(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mut bytes = vec![0; usize::try_from(file.length()?).map_err(io::Error::other)?];
    file.read_at(&mut bytes, 0)?;
    Ok(Some(bytes))
}

/// Replaces a file's content atomically and syncs it.
pub fn replace_file(storage: &dyn Storage, name: &str, bytes: &[u8]) -> io::Result<()> {
    with_draft(storage, name, |file| {
        file.write_at(bytes, 0)?;
        file.sync()
    })?;
    storage.sync_names()
}

/// Removes a file, if it exists.
pub fn remove_file(storage: &dyn Storage, name: &str) -> io::Result<()> {
    match storage.remove(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Copies a file up to its present length, with its permissions, and syncs the copy.
pub(crate) fn copy_file(from: &dyn Storage, to: &dyn Storage, name: &str) -> io::Result<()> {
    /// Size of one read and write in bytes.
    const CHUNK: u64 = 1 << 20;

    let source = from.open(name)?;
    // Its length now: a node may append to it meanwhile.
    let length = source.length()?;
    let target = to.create_like(name, &*source)?;
    let mut buffer = Vec::new();

    let mut at = 0;
    while at < length {
        buffer.resize(CHUNK.min(length - at) as usize, 0);
        source.read_at(&mut buffer, at)?;
        target.write_at(&buffer, at)?;
        at += buffer.len() as u64;
    }

    target.sync()
}

/// Writes a draft and renames it, so that readers find the whole file or none. The draft of a
/// failed write is removed, as it would take up the space that is left on a full disk.
pub(crate) fn with_draft<T>(
    storage: &dyn Storage,
    name: &str,
    write: impl FnOnce(&Arc<dyn StoredFile>) -> io::Result<T>,
) -> io::Result<T> {
    let draft = format!("draft-{name}");
    let file = storage.create(&draft)?;
    let written = write(&file).and_then(|written| storage.rename(&draft, name).map(|()| written));
    written.inspect_err(|_| {
        let _ = storage.remove(&draft);
    })
}

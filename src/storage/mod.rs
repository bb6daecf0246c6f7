//! Files that tests can make fail: [`Storage`] is a flat directory, [`Directory`] one of the file system, and
//! [records](write_record) frame what is written so that a reader knows whether it is intact.

mod directory;
mod record;

use std::{fs, io, sync::Arc};

pub(crate) use self::record::HEADER;
pub use self::{
    directory::Directory,
    record::{Record, Records, Tail, read_record, read_record_at, write_record},
};

/// A flat directory of files. Tests implement it with writes that fail, are delayed and are torn.
pub trait Storage: Send + Sync {
    /// The names of all files.
    fn names(&self) -> io::Result<Vec<String>>;

    /// A file that exists.
    fn open(&self, name: &str) -> io::Result<Arc<dyn StoredFile>>;

    /// A new file, empty even if there was one of that name.
    fn create(&self, name: &str) -> io::Result<Arc<dyn StoredFile>>;

    /// A new file for a copy of `original`, which at no time has wider permissions than that one.
    fn create_like(&self, name: &str, _original: &dyn StoredFile) -> io::Result<Arc<dyn StoredFile>> {
        self.create(name)
    }

    /// Renames a file; replaces one that has the new name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// The names of all folders in it.
    fn folders(&self) -> io::Result<Vec<String>>;

    /// A folder in it, created if it does not exist.
    fn folder(&self, name: &str) -> io::Result<Arc<dyn Storage>>;

    /// Moves a file into a folder that exists; replaces one of the same name there.
    fn move_into(&self, folder: &str, name: &str) -> io::Result<()>;

    /// Syncs the directory: creations, renamings and removals are on disk when it returns.
    fn sync_names(&self) -> io::Result<()>;

    /// The path of a file, or of the directory for an empty name, for messages.
    fn describe(&self, name: &str) -> String;
}

/// A file.
pub trait StoredFile: Send + Sync {
    /// Its length in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Fills the buffer with the bytes from `offset` on. Fails if there are fewer.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Writes bytes at `offset`. After an error some of them may be written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Shortens or extends the file to this length.
    fn truncate(&self, length: u64) -> io::Result<()>;

    /// Syncs the content: it is on disk when this returns. After an error its state on disk is unknown.
    fn sync(&self) -> io::Result<()>;

    /// The permissions, where files have them.
    fn permissions(&self) -> io::Result<Option<fs::Permissions>> {
        Ok(None)
    }
}

/// The content of a file; none if there is none.
pub fn read_file(storage: &dyn Storage, name: &str) -> io::Result<Option<Vec<u8>>> {
    let file = match storage.open(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mut bytes = vec![0; usize::try_from(file.length()?).map_err(io::Error::other)?];
    file.read_at(&mut bytes, 0)?;
    Ok(Some(bytes))
}

/// Replaces a file's content atomically, and syncs it.
pub fn replace_file(storage: &dyn Storage, name: &str, bytes: &[u8]) -> io::Result<()> {
    with_draft(storage, name, |file| {
        file.write_at(bytes, 0)?;
        file.sync()
    })?;
    storage.sync_names()
}

/// Removes a file; one that does not exist is no error.
pub fn remove_file(storage: &dyn Storage, name: &str) -> io::Result<()> {
    match storage.remove(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Copies a file as long as it is now, with its permissions, and syncs the copy.
pub fn copy_file(from: &dyn Storage, to: &dyn Storage, name: &str) -> io::Result<()> {
    /// Bytes that are copied at once.
    const CHUNK: u64 = 1 << 20;
    let source = from.open(name)?;
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

/// Writes a draft and renames it, so that readers find all of the file or none of it. The draft of a failed write is
/// removed: on a full disk it would take up the room that is left.
pub fn with_draft<T>(
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

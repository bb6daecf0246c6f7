//! Files that are replaced as a whole: a reader never sees half of one, and after a crash the old or
//! the new content is there, if it is durable.

use std::{
    fs::{self, File},
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;
use tetrad_store::log::Durability;

/// Permissions of a new file, which the process's mask restricts.
const NEW_FILE: u32 = 0o666;

/// Replaces a file, or makes it, with what `write` writes. It keeps its permissions, and stays where
/// a link leads. A path that is not a file, such as a device, is written to.
pub(super) fn replace(
    path: &Path,
    durability: Durability,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let path = target(path);
    let old = fs::metadata(&path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        let mut direct = BufWriter::new(File::options().write(true).open(&path)?);
        write(&mut direct)?;
        return direct.flush();
    }

    let draft = draft_for(&path)?;
    let mut buffered = BufWriter::new(draft.reopen()?);
    write(&mut buffered)?;
    buffered.flush()?;
    if let Some(old) = old {
        draft.as_file().set_permissions(old.permissions())?;
    }
    if durability == Durability::Fsync {
        draft.as_file().sync_all()?;
    }

    match draft.persist(&path) {
        Ok(_) => {}
        // A file that is mounted by itself cannot be replaced.
        Err(failed) if failed.error.kind() == ErrorKind::ResourceBusy => {
            fs::copy(failed.file.path(), &path)?;
            File::open(&path)?.sync_all()?;
        }
        Err(failed) => return Err(failed.error),
    }

    // The new name is durable once the directory is, if it can be synchronized.
    if durability == Durability::Fsync
        && let Ok(directory) = File::open(directory_of(&path))
    {
        let _ = directory.sync_all();
    }
    Ok(())
}

/// Checks that a file can be replaced or made.
pub(super) fn check(path: &Path) -> io::Result<()> {
    let path = target(path);
    if fs::metadata(&path).is_ok_and(|old| !old.is_file()) {
        return File::options().write(true).open(&path).map(drop);
    }
    draft_for(&path).map(drop)
}

/// The file that a path leads to, through links.
fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A file in the same directory: a rename is atomic only within a file system.
fn draft_for(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(NEW_FILE));
    builder.tempfile_in(directory_of(path))
}

fn directory_of(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

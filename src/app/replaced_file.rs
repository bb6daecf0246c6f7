//! Files that are replaced as a whole: a reader never sees half of one, and after a crash the old or
//! the new content is there.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

/// Replaces a file, or makes it, with what `write` writes.
pub(super) fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    // A rename is atomic only within a file system, so the draft is in the same directory.
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let draft = tempfile::NamedTempFile::new_in(directory)?;

    let mut buffered = BufWriter::new(draft.reopen()?);
    write(&mut buffered)?;
    buffered.flush()?;
    buffered.get_ref().sync_all()?;

    draft.persist(path)?;
    // The new name is durable once the directory is.
    #[cfg(unix)]
    File::open(directory)?.sync_all()?;
    Ok(())
}

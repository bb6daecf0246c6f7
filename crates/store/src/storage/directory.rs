//! A directory of the file system.

use std::{
    fs, io,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Storage, StoredFile};

/// A directory of the file system.
#[derive(Clone, Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// Opens the directory at `path`, and creates it if it does not exist. New directories are
    /// synced: if a power failure removed the name of one, synced files in it would be lost as
    /// well.
    pub fn new(path: &Path) -> io::Result<Self> {
        make(path, &|parent| fs::File::open(parent)?.sync_all())?;
        Ok(Self(path.to_owned()))
    }
}

/// Creates a directory with its missing ancestors, and calls `sync` on the parent of each.
fn make(path: &Path, sync: &dyn Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }

    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    if parent != path {
        make(parent, sync)?;
    }

    match fs::create_dir(path) {
        // Another process may have created it meanwhile without having synced it yet.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists || !path.is_dir() => Err(error),
        _ => sync(parent),
    }
}

impl Directory {
    /// Returns the names of the entries whose type `is_wanted` accepts.
    fn entries(&self, is_wanted: fn(&fs::FileType) -> bool) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            if is_wanted(&entry.file_type()?) {
                names.extend(entry.file_name().into_string().ok());
            }
        }
        Ok(names)
    }
}

impl Storage for Directory {
    fn names(&self) -> io::Result<Vec<String>> {
        self.entries(fs::FileType::is_file)
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StoredFile>> {
        let path = self.0.join(name);
        // A read-only file is enough for commands that only read.
        let file = match fs::OpenOptions::new().read(true).write(true).open(&path) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                fs::File::open(&path)?
            }
            other => other?,
        };
        Ok(Arc::new(file))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn StoredFile>> {
        let path = self.0.join(name);
        Ok(Arc::new(
            fs::OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .open(path)?,
        ))
    }

    fn create_like(
        &self,
        name: &str,
        original: &dyn StoredFile,
    ) -> io::Result<Arc<dyn StoredFile>> {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        // The copy of a read-only file must be writable.
        let mode = original
            .permissions()?
            .map(|permissions| permissions.mode() | 0o600);
        if let Some(mode) = mode {
            options.mode(mode);
        }

        let file = options.open(self.0.join(name))?;
        // The mode that a file is created with is subject to the umask.
        if let Some(mode) = mode {
            file.set_permissions(fs::Permissions::from_mode(mode))?;
        }
        Ok(Arc::new(file))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        self.entries(fs::FileType::is_dir)
    }

    fn folder(&self, name: &str) -> io::Result<Arc<dyn Storage>> {
        Ok(Arc::new(Self::new(&self.0.join(name))?))
    }

    fn move_into(&self, folder: &str, name: &str) -> io::Result<()> {
        fs::rename(self.0.join(name), self.0.join(folder).join(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        fs::File::open(&self.0)?.sync_all()
    }

    fn describe(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

#[cfg(unix)]
impl StoredFile for fs::File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, bytes, offset)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn permissions(&self) -> io::Result<Option<fs::Permissions>> {
        Ok(Some(self.metadata()?.permissions()))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn the_names_of_new_directories_are_put_on_disk_from_the_top_down() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a").join("b").join("c");
        let synced = RefCell::new(Vec::new());
        let sync = |parent: &Path| {
            synced.borrow_mut().push(parent.to_owned());
            Ok(())
        };

        make(&path, &sync).unwrap();
        assert!(path.is_dir());
        assert_eq!(
            *synced.borrow(),
            [
                place.path().to_owned(),
                place.path().join("a"),
                place.path().join("a/b")
            ]
        );

        make(&path, &sync).unwrap();
        assert_eq!(synced.borrow().len(), 3, "nothing is new the second time");

        fs::write(place.path().join("file"), "").unwrap();
        make(&place.path().join("file"), &sync).unwrap_err();
        make(&place.path().join("file/x"), &sync).unwrap_err();
    }
}

//! A directory of keystore files.

use std::{
    fs, io,
    io::{Read, Write},
    path::{Path, PathBuf},
};

use alloy_primitives::{Address, hex};
use tempfile::NamedTempFile;
use tetrad_network::account::{Keystore, KeystoreError, SecretKey};

use super::{error::Error, secrets::Secrets};

/// A directory of keystore files: its own, named after the address, and those of other tools under
/// any name.
pub(super) struct Store<'a> {
    directory: &'a Path,
}

/// A file of the directory and the result of reading it.
pub(super) struct KeyFile {
    pub(super) path: PathBuf,
    pub(super) keystore: Result<Keystore, Error>,
}

impl<'a> Store<'a> {
    pub(super) fn new(directory: &'a Path) -> Self {
        Self { directory }
    }

    /// Returns every visible file, in the order of names; none if the directory does not exist.
    pub(super) fn entries(&self) -> Result<Vec<KeyFile>, Error> {
        let listing = match fs::read_dir(self.directory) {
            Ok(listing) => listing,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::file("read", self.directory)(error)),
        };

        let mut paths = Vec::new();
        for file in listing {
            let path = file.map_err(Error::file("read", self.directory))?.path();
            let hidden = path
                .file_name()
                .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            if !hidden && path.is_file() {
                paths.push(path);
            }
        }

        paths.sort();
        Ok(paths
            .into_iter()
            .map(|path| KeyFile {
                keystore: read_keystore(&path),
                path,
            })
            .collect())
    }

    /// Returns the first file that claims to hold the key of this account.
    pub(super) fn find(&self, address: Address) -> Result<(PathBuf, Keystore), Error> {
        let found = self.entries()?.into_iter().find_map(|entry| {
            let keystore = entry
                .keystore
                .ok()
                .filter(|keystore| keystore.address() == Some(address))?;
            Some((entry.path, keystore))
        });
        found.ok_or_else(|| Error::NotFound {
            address,
            directory: self.directory.to_owned(),
        })
    }

    /// Decrypts the key of this account with a password from a file or from the console.
    pub(super) fn open(
        &self,
        address: Address,
        password_file: Option<&Path>,
        secrets: &mut Secrets<'_>,
    ) -> Result<SecretKey, Error> {
        let (path, keystore) = self.find(address)?;
        let password = secrets.existing("password", password_file)?;
        keystore
            .decrypt(password.as_bytes())
            .map_err(keystore_error(&path))
    }

    /// Fails if the account's key is stored already; called before the user is asked for anything.
    pub(super) fn check_absent(&self, address: Address) -> Result<(), Error> {
        match self.find(address) {
            Ok((path, _)) => Err(Error::Exists(path)),
            Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Stores an encrypted key in a file of its own and returns the path.
    pub(super) fn add(&self, address: Address, keystore: &Keystore) -> Result<PathBuf, Error> {
        create_private_directory(self.directory).map_err(Error::file("create", self.directory))?;
        let path = self
            .directory
            .join(format!("{}.json", hex::encode(address)));
        write_private(&path, keystore.to_json().as_bytes())?;
        Ok(path)
    }
}

/// Reads a keystore file, up to the size that a keystore can have.
pub(super) fn read_keystore(path: &Path) -> Result<Keystore, Error> {
    let mut text = String::new();
    let limit = Keystore::MAX_JSON_BYTES as u64 + 1;
    fs::File::open(path)
        .and_then(|file| file.take(limit).read_to_string(&mut text))
        .map_err(Error::file("read", path))?;
    Keystore::from_json(&text).map_err(keystore_error(path))
}

/// Returns a function for `map_err` that makes an error about a keystore file.
pub(super) fn keystore_error(path: &Path) -> impl FnOnce(KeystoreError) -> Error {
    let path = path.to_owned();
    move |source| Error::Keystore { path, source }
}

/// Writes a file that only its owner may read: atomically, synced to disk, and never over an
/// existing one.
pub(super) fn write_private(path: &Path, content: &[u8]) -> Result<(), Error> {
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };

    // Temporary files are created readable by their owner only, which renaming keeps.
    let mut file = NamedTempFile::new_in(directory).map_err(Error::file("write in", directory))?;
    file.write_all(content)
        .and_then(|()| file.as_file().sync_all())
        .map_err(Error::file("write", path))?;

    match file.persist_noclobber(path) {
        Ok(_) => {}
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(Error::Exists(path.to_owned()));
        }
        Err(error) => return Err(Error::file("write", path)(error.error)),
    }

    sync_directory(directory).map_err(Error::file("write", directory))
}

#[cfg(unix)]
fn create_private_directory(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

#[cfg(not(unix))]
fn create_private_directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Syncs the directory of a file, without which a new name may be lost.
#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

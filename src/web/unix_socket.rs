//! A Unix socket to listen on: for a proxy or tools on the same machine.

use std::{
    fs, io,
    os::unix::{fs::FileTypeExt, net::UnixStream as StdUnixStream},
    path::{Path, PathBuf},
};

use tokio::net::{UnixListener, UnixStream};

/// The socket. A file that was made for it is gone when this is dropped.
#[derive(Debug)]
pub struct UnixSocket {
    listener: UnixListener,
    /// Its file, if it is this process's to remove.
    path: Option<PathBuf>,
}

impl UnixSocket {
    /// Listens at `path`. What a process left there that is no more is taken away; a socket that somebody answers at, or
    /// another kind of file, is not.
    ///
    /// # Errors
    /// What the system says.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
        if is_socket
            && StdUnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        {
            fs::remove_file(path)?;
        }
        Ok(Self { listener: UnixListener::bind(path)?, path: Some(path.to_owned()) })
    }

    /// A socket that a service manager has bound, and looks after.
    ///
    /// # Errors
    /// What the system says.
    pub fn given(listener: std::os::unix::net::UnixListener) -> io::Result<Self> {
        Ok(Self { listener: UnixListener::from_std(listener)?, path: None })
    }

    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        Ok(self.listener.accept().await?.0)
    }
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Somebody may have taken it away already.
            let _ = fs::remove_file(path);
        }
    }
}

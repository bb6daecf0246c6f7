//! A Unix socket to listen on, for a proxy or tools on the same machine.

use std::{
    fs, io,
    os::unix::{fs::FileTypeExt, net::UnixStream as StdUnixStream},
    path::{Path, PathBuf},
};

use tokio::net::{UnixListener, UnixStream};

/// The socket. A file that was created for it is removed on drop.
#[derive(Debug)]
pub struct UnixSocket {
    listener: UnixListener,
    /// Its file, if this process has to remove it.
    path: Option<PathBuf>,
}

impl UnixSocket {
    /// Listens at `path`. A socket left there by a process that has ended is replaced; a socket in
    /// use, or another kind of file, is an error.
    ///
    /// # Errors
    /// I/O errors.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
        if is_socket
            && StdUnixStream::connect(path)
                .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        {
            fs::remove_file(path)?;
        }

        Ok(Self {
            listener: UnixListener::bind(path)?,
            path: Some(path.to_owned()),
        })
    }

    /// A socket that a service manager has bound and removes.
    ///
    /// # Errors
    /// I/O errors.
    pub fn given(listener: std::os::unix::net::UnixListener) -> io::Result<Self> {
        Ok(Self {
            listener: UnixListener::from_std(listener)?,
            path: None,
        })
    }

    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        Ok(self.listener.accept().await?.0)
    }
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // The file may have been removed already.
            let _ = fs::remove_file(path);
        }
    }
}

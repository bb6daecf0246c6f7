//! Hints on what to do about an error.

use std::io::ErrorKind;

use super::Error;
use crate::{SpawnError, store::DataDirError};

/// Returns a hint to print after the error, if there is one.
pub(super) fn hint(error: &Error) -> Option<&'static str> {
    match error {
        Error::Config(_) | Error::Spawn(SpawnError::Config(_)) => Some(
            "`tetrad config check FILE` lists everything that is wrong with a file, `tetrad --help` lists all settings",
        ),
        Error::Spawn(SpawnError::ListenUnix { source, .. }) => on_unix(source.kind()),
        Error::Spawn(SpawnError::Listen { source, .. }) => on_port(source.kind()),
        Error::Spawn(SpawnError::DataDir(error)) => on_directory(error),
        _ => None,
    }
}

fn on_port(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::AddrInUse => Some("another program, perhaps another node, uses this port; port 0 picks a free one"),
        ErrorKind::PermissionDenied => Some(
            "ports below 1024 need a privilege: choose another port, grant CAP_NET_BIND_SERVICE, or let systemd bind it \
             (config/tetrad.socket)",
        ),
        ErrorKind::AddrNotAvailable => {
            Some("no interface of this machine has this address; 0.0.0.0 stands for all of them, [::] with IPv6")
        }
        _ => None,
    }
}

fn on_unix(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::AddrInUse => Some("another program listens on it, or the file is not a socket; it was not touched"),
        ErrorKind::PermissionDenied => Some("the user that runs tetrad needs write permission in that directory"),
        _ => None,
    }
}

fn on_directory(error: &DataDirError) -> Option<&'static str> {
    match error {
        DataDirError::InUse { .. } => Some(
            "only one process at a time can write a chain; `tetrad chain backup` copies it while that process runs",
        ),
        // The message names the remedy.
        DataDirError::Unfinished { .. } => None,
        DataDirError::Io { source, .. } => match source.kind() {
            ErrorKind::PermissionDenied => {
                Some("the user that runs tetrad needs permission to create the directory and files in it")
            }
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
                Some("there is a file of that name; name a directory")
            }
            ErrorKind::ReadOnlyFilesystem => Some("the file system is mounted read-only; mount a volume there"),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                Some("the disk is full; `tetrad chain compact` deletes old blocks")
            }
            _ => None,
        },
    }
}

//! Telling the service manager how things stand (sd_notify(3)). Without one there is nobody to tell.

/// Everything listens.
pub(super) const READY: &str = "READY=1";
/// The end has begun.
pub(super) const STOPPING: &str = "STOPPING=1";

/// Sends `state` to the socket that the service manager named.
#[cfg(unix)]
pub(super) fn notify(state: &str) {
    use std::{env, os::unix::net::UnixDatagram};

    let Some(socket) = env::var_os("NOTIFY_SOCKET").filter(|socket| !socket.is_empty()) else { return };
    let sent = UnixDatagram::unbound().and_then(|datagram| {
        connect(&datagram, &socket)?;
        datagram.send(state.as_bytes())
    });
    if let Err(error) = sent {
        tracing::warn!(%error, state, "the service manager could not be told");
    }
}

/// On Linux a name that begins with `@` is in no file system.
#[cfg(target_os = "linux")]
fn connect(datagram: &std::os::unix::net::UnixDatagram, socket: &std::ffi::OsStr) -> std::io::Result<()> {
    use std::os::{linux::net::SocketAddrExt, unix::ffi::OsStrExt, unix::net::SocketAddr};

    match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => datagram.connect_addr(&SocketAddr::from_abstract_name(name)?),
        None => datagram.connect(socket),
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn connect(datagram: &std::os::unix::net::UnixDatagram, socket: &std::ffi::OsStr) -> std::io::Result<()> {
    datagram.connect(socket)
}

/// Service managers of other systems are not told.
#[cfg(not(unix))]
pub(super) fn notify(_state: &str) {}

//! Notifications to the service manager (sd_notify(3)), if there is one.

/// All listeners are bound.
pub(super) const READY: &str = "READY=1";
/// Shutdown has begun.
pub(super) const STOPPING: &str = "STOPPING=1";

/// Sends `state` to the service manager's socket.
#[cfg(unix)]
pub(super) fn notify(state: &str) {
    use std::{env, os::unix::net::UnixDatagram};

    let Some(socket) = env::var_os("NOTIFY_SOCKET").filter(|socket| !socket.is_empty()) else {
        return;
    };
    let sent = UnixDatagram::unbound().and_then(|datagram| {
        connect(&datagram, &socket)?;
        datagram.send(state.as_bytes())
    });
    if let Err(error) = sent {
        tracing::warn!(%error, state, "the service manager could not be told");
    }
}

/// On Linux a name that begins with `@` is an abstract socket.
#[cfg(target_os = "linux")]
fn connect(
    datagram: &std::os::unix::net::UnixDatagram,
    socket: &std::ffi::OsStr,
) -> std::io::Result<()> {
    use std::os::{
        linux::net::SocketAddrExt,
        unix::{ffi::OsStrExt, net::SocketAddr},
    };

    match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => datagram.connect_addr(&SocketAddr::from_abstract_name(name)?),
        None => datagram.connect(socket),
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn connect(
    datagram: &std::os::unix::net::UnixDatagram,
    socket: &std::ffi::OsStr,
) -> std::io::Result<()> {
    datagram.connect(socket)
}

/// Does nothing on systems without sd_notify.
#[cfg(not(unix))]
pub(super) fn notify(_state: &str) {}

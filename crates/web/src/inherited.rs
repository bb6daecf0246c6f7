//! Sockets that a service manager bound before the program was started (systemd.socket(5),
//! sd_listen_fds(3)): connections queue while a node restarts, and ports below 1024 need no
//! privilege.

use std::{env, io, net::TcpListener};

use listenfd::ListenFd;

/// Listeners by the setting that they replace.
#[derive(Debug, Default)]
pub struct Inherited {
    /// For `listen`.
    pub main: Option<TcpListener>,
    /// For `ws-listen`.
    pub prices: Option<TcpListener>,
    /// For `metrics-listen`.
    pub metrics: Option<TcpListener>,
    /// For `comet-listen`.
    pub comet: Option<TcpListener>,
    /// For `cosmos-rest-listen`.
    pub cosmos_rest: Option<TcpListener>,
    /// For `grpc-listen`.
    pub grpc: Option<TcpListener>,
    /// For `listen-unix`.
    #[cfg(unix)]
    pub unix: Option<std::os::unix::net::UnixListener>,
}

/// The reason why the sockets of the service manager cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InheritedError {
    /// The number of sockets is malformed or too large.
    #[error("LISTEN_FDS: expected 1 to {MAX_SOCKETS} sockets, got `{0}`")]
    Count(String),
    /// A name is not that of a setting, or occurs twice.
    #[error(
        "LISTEN_FDNAMES: cannot use a socket named `{0}`: FileDescriptorName= takes listen, ws-listen, metrics-listen, \
         comet-listen, cosmos-rest-listen, grpc-listen or listen-unix, each once"
    )]
    Name(String),
    /// A socket is of the wrong kind.
    #[error("the socket that was passed for {name}: {source}")]
    Socket {
        /// The setting.
        name: String,
        /// The reason.
        source: io::Error,
    },
}

/// The number of settings with sockets.
const MAX_SOCKETS: usize = 7;

impl Inherited {
    /// Takes over the sockets that the environment names, if they are for this process. Must be
    /// called while the process has a single thread, because the variables are removed.
    ///
    /// # Errors
    /// See [`InheritedError`].
    pub fn take() -> Result<Self, InheritedError> {
        let Ok(count) = env::var("LISTEN_FDS") else {
            return Ok(Self::default());
        };
        let names = env::var("LISTEN_FDNAMES").unwrap_or_default();
        // Variables for another process were inherited by mistake (sd_listen_fds(3)).
        if env::var("LISTEN_PID").is_ok_and(|id| id != std::process::id().to_string()) {
            return Ok(Self::default());
        }

        match count.parse() {
            Ok(0) => return Ok(Self::default()),
            Ok(1..=MAX_SOCKETS) => {}
            _ => return Err(InheritedError::Count(count)),
        }

        let mut sockets = ListenFd::from_env();
        let mut taken = Self::default();
        let mut names = names.split(':');
        for at in 0..sockets.len() {
            let name = names.next().unwrap_or_default();
            // systemd names a socket after its unit by default.
            let only = sockets.len() == 1
                && (name.is_empty() || name.ends_with(".socket") || name == "unknown");
            let name = if only { "listen" } else { name };
            taken.take_one(&mut sockets, at, name)?;
        }
        Ok(taken)
    }

    fn take_one(
        &mut self,
        sockets: &mut ListenFd,
        at: usize,
        name: &str,
    ) -> Result<(), InheritedError> {
        #[cfg(unix)]
        if name == "listen-unix" && self.unix.is_none() {
            self.unix = sockets
                .take_unix_listener(at)
                .map_err(|source| socket_error(name, source))?;
            // tokio requires sockets that it did not open to be non-blocking.
            let ready = self
                .unix
                .as_ref()
                .map_or(Ok(()), |socket| socket.set_nonblocking(true));
            return ready.map_err(|source| socket_error(name, source));
        }

        let place = match name {
            "listen" => &mut self.main,
            "ws-listen" => &mut self.prices,
            "metrics-listen" => &mut self.metrics,
            "comet-listen" => &mut self.comet,
            "cosmos-rest-listen" => &mut self.cosmos_rest,
            "grpc-listen" => &mut self.grpc,
            _ => return Err(InheritedError::Name(name.to_owned())),
        };

        if place.is_some() {
            return Err(InheritedError::Name(name.to_owned()));
        }

        *place = sockets
            .take_tcp_listener(at)
            .map_err(|source| socket_error(name, source))?;
        // tokio requires sockets that it did not open to be non-blocking.
        place
            .as_ref()
            .map_or(Ok(()), |socket| socket.set_nonblocking(true))
            .map_err(|source| socket_error(name, source))
    }
}

fn socket_error(name: &str, source: io::Error) -> InheritedError {
    InheritedError::Socket {
        name: name.to_owned(),
        source,
    }
}

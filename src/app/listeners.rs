//! The listeners of a node. All are bound before the chain is opened, so that a port in use is
//! reported at once.

use std::{io, net::SocketAddr, sync::Arc};

use axum::Router;
use tetrad_exchange as exchange;
use tetrad_web::{self, FaultScope, Front, Inherited, Listener, RequestIds, Shutdown, Tls};
use tokio::net::TcpListener;

use super::{
    SpawnError, addresses::Addresses, routes::Routers, services::Services, starting::Starting,
};
use crate::config::{Config, MetricsAt};

/// Listeners that are bound but do not serve yet.
pub(super) struct Listeners {
    main: TcpListener,
    /// Further ones that serve the same.
    also: Vec<TcpListener>,
    prices: Option<TcpListener>,
    metrics: Option<TcpListener>,
    comet: Option<TcpListener>,
    cosmos_rest: Option<TcpListener>,
    grpc: Option<TcpListener>,
    #[cfg(unix)]
    unix: Option<tetrad_web::UnixSocket>,
    tls: Option<Arc<Tls>>,
}

impl Listeners {
    /// Binds the configured addresses, except for sockets that the service manager passed.
    pub(super) fn bind(config: &Config, inherited: Inherited) -> Result<Self, SpawnError> {
        let tls = config
            .tls
            .clone()
            .map(|files| Tls::load(files.certificate, files.key))
            .transpose()?;

        // Other chains than the network's have no exchange.
        let prices = config.ws_listen.filter(|_| config.may_have_exchange());
        // The default address may be in use, but not one that was configured.
        let is_default = config.ws_listen == Config::default().ws_listen;
        let is_required = !is_default || (config.ws_listen_required && config.fork.url.is_none());
        let metrics = match config.metrics {
            MetricsAt::Own(address) => Some(address),
            MetricsAt::Beside | MetricsAt::Off => None,
        };

        Ok(Self {
            main: match inherited.main {
                Some(listener) => TcpListener::from_std(listener)?,
                None => bind("listen", config.listen, None)?,
            },
            also: config
                .also_listen
                .iter()
                .map(|address| bind("also-listen", *address, None))
                .collect::<Result<_, _>>()?,
            prices: match (inherited.prices, prices) {
                (Some(listener), _) => Some(TcpListener::from_std(listener)?),
                (None, Some(address)) => bind_prices(address, is_required)?,
                (None, None) => None,
            },
            metrics: optional("metrics-listen", inherited.metrics, metrics)?,
            comet: optional("comet-listen", inherited.comet, config.comet_listen)?,
            cosmos_rest: optional(
                "cosmos-rest-listen",
                inherited.cosmos_rest,
                config.cosmos_rest_listen,
            )?,
            grpc: optional("grpc-listen", inherited.grpc, config.grpc_listen)?,
            #[cfg(unix)]
            unix: match (inherited.unix, config.listen_unix.as_deref()) {
                (Some(listener), _) => Some(tetrad_web::UnixSocket::given(listener)?),
                (None, path) => path.map(bind_unix).transpose()?,
            },
            tls: tls.map(Arc::new),
        })
    }

    /// Answers probes on the main listener while a node of a cluster starts.
    pub(super) fn serve_while_starting(&self, config: &Config) -> io::Result<Starting> {
        Starting::serve(&self.main, self.tls.as_ref(), config)
    }

    /// Returns the bound addresses; the system has picked a port in place of port 0.
    pub(super) fn addresses(&self) -> io::Result<Addresses> {
        Ok(Addresses {
            main: self.main.local_addr()?,
            also: self
                .also
                .iter()
                .map(TcpListener::local_addr)
                .collect::<Result<_, _>>()?,
            prices: local_address(self.prices.as_ref())?,
            comet: local_address(self.comet.as_ref())?,
            cosmos_rest: local_address(self.cosmos_rest.as_ref())?,
            grpc: local_address(self.grpc.as_ref())?,
            tls: self.tls.clone(),
        })
    }

    /// Serves until shutdown begins. A separate listener of metrics is for internal use and speaks
    /// no TLS.
    pub(super) fn serve(
        self,
        routers: Routers,
        prices: Option<Router>,
        config: &Config,
        ids: RequestIds,
        services: &Services,
        shutdown: &Shutdown,
    ) {
        let Services {
            capacity, faults, ..
        } = services;
        let hosts = Arc::new(config.hosts.clone());
        let ids = Arc::new(ids);
        let serve = |listener, front: Front| {
            tokio::spawn(tetrad_web::serve(
                listener,
                front,
                hosts.clone(),
                config.listener,
                ids.clone(),
                capacity.clone(),
                shutdown.clone(),
            ));
        };

        #[cfg(unix)]
        if let Some(socket) = self.unix {
            serve(Listener::Unix(socket), routers.main.clone());
        }
        for listener in self.also {
            serve(
                Listener::new(listener, self.tls.as_ref()),
                routers.main.clone(),
            );
        }
        serve(Listener::new(self.main, self.tls.as_ref()), routers.main);

        if let Some(listener) = self.metrics {
            serve(Listener::Tcp(listener), routers.metrics.into());
        }

        let cosmos = [
            (self.comet, routers.comet),
            (self.cosmos_rest, routers.cosmos_rest),
            (self.grpc, routers.grpc),
        ];
        for (listener, router) in cosmos {
            let front = Front::from(tetrad_web::with_cors(router, &config.origins))
                .with_faults(faults.clone());
            if let Some(listener) = listener {
                serve(Listener::new(listener, self.tls.as_ref()), front);
            }
        }

        if let (Some(listener), Some(router)) = (self.prices, prices) {
            // On this listener every path is the price WebSocket.
            let router = faults.affect(router, Some(FaultScope::Prices));
            let front = Front::from(tetrad_web::with_cors(router, &config.origins))
                .with_faults(faults.clone());
            serve(Listener::new(listener, self.tls.as_ref()), front);
        }
    }
}

fn local_address(listener: Option<&TcpListener>) -> io::Result<Option<SocketAddr>> {
    listener.map(TcpListener::local_addr).transpose()
}

/// Takes the socket that was passed, or binds the address, if there is one.
fn optional(
    flag: &'static str,
    inherited: Option<std::net::TcpListener>,
    address: Option<SocketAddr>,
) -> Result<Option<TcpListener>, SpawnError> {
    match inherited {
        Some(listener) => Ok(Some(TcpListener::from_std(listener)?)),
        None => address.map(|address| bind(flag, address, None)).transpose(),
    }
}

fn bind(
    flag: &'static str,
    address: SocketAddr,
    send_buffer: Option<u32>,
) -> Result<TcpListener, SpawnError> {
    let at = address.to_string();
    tetrad_web::listen(address, send_buffer).map_err(|source| SpawnError::Listen {
        flag,
        address: at,
        source,
    })
}

/// Binds the second listener of the price WebSocket. Unless it is required, another program may use
/// its address: the main listener serves the same.
fn bind_prices(address: SocketAddr, is_required: bool) -> Result<Option<TcpListener>, SpawnError> {
    match bind("ws-listen", address, Some(exchange::SEND_BUFFER)) {
        Err(SpawnError::Listen { source, .. })
            if !is_required && source.kind() == io::ErrorKind::AddrInUse =>
        {
            tracing::warn!(
                %address,
                "another program uses the default address of the second price WebSocket: prices are at /ws of the main \
                 listener only; choose another address with --ws-listen, or off"
            );
            Ok(None)
        }
        bound => bound.map(Some),
    }
}

#[cfg(unix)]
fn bind_unix(path: &std::path::Path) -> Result<tetrad_web::UnixSocket, SpawnError> {
    tetrad_web::UnixSocket::bind(path).map_err(|source| SpawnError::ListenUnix {
        path: path.display().to_string(),
        source,
    })
}

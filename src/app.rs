//! The composition root: puts the modules together into a node.

mod addresses;
mod cluster;
mod deployed;
mod error;
mod forks;
mod identity;
mod import;
mod keplr;
mod keystore;
mod listeners;
mod metrics;
mod network_info;
mod open;
mod openapi;
mod probes;
mod ready_file;
mod replaced_file;
mod routes;
mod scenarios;
mod secrets;
mod services;
mod stages;
mod starting;
mod state_file;
mod timer;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use alloy_primitives::Address;
use tetrad_chain::{Chain, Keyring, WriterThread};
use tetrad_cluster::Cluster;
use tetrad_contracts::sources::{KnownContracts, Verifier, WatcherGuard};
use tetrad_exchange::Market;
use tetrad_explorer::index::Index;
use tetrad_rpc::fork::ChainForks;
use tetrad_stdx::clock::{Clock, SystemClock};
use tetrad_web::{Inherited, ShutdownHandle, TlsError};
use zeroize::Zeroizing;

use self::{addresses::Addresses, state_file::StateFile};
pub use self::{error::SpawnError, state_file::StateFileError};
use crate::config::Config;

/// Time that requests in progress get at shutdown. With the steps after it a shutdown takes ten
/// seconds, and longer with a large state file.
const REQUESTS_TIMEOUT: Duration = Duration::from_secs(8);

/// A running node. Dropping the handle leaves the node running; [`Node::shut_down`] ends it
/// gracefully.
///
/// ```
/// use tetrad::{Config, Node};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut config = Config::test();
/// config.accounts = 3;
/// let node = Node::spawn(config).await?;
/// for (address, private_key) in node.development_accounts() {
///     println!("{address} {}", private_key.as_str());
/// }
/// node.shut_down().await?;
/// # Ok(())
/// # }
/// ```
pub struct Node {
    addresses: Addresses,
    pub(crate) chain: Chain,
    /// The index of addresses, which the explorer API reads.
    index: Option<Index>,
    /// Contracts whose sources are known.
    pub(crate) known: KnownContracts,
    verifier: Verifier,
    /// Follows the directory of artifacts, if there is one.
    _artifacts: Option<WatcherGuard>,
    cluster: Option<Cluster>,
    market: Option<Market>,
    /// The file that the chain is written to at the end, if there is one.
    state_file: Option<StateFile>,
    writer: WriterThread,
    forks: Arc<ChainForks>,
    shutdown: ShutdownHandle,
    keyring: Arc<Keyring>,
    /// Whether the chain has exchange and lending.
    pub(crate) has_exchange: bool,
    /// The account that updates prices. The terminal hides its transactions.
    pub(crate) updater: Address,
    /// The account that owns the network's contracts.
    pub(crate) treasury: Address,
    pub(crate) config: Config,
}

impl Node {
    /// Starts a node: opens the chain, listens, and serves until it is [shut
    /// down](Self::shut_down).
    ///
    /// # Errors
    /// See [`SpawnError`]. On an error nothing is left running.
    pub async fn spawn(config: Config) -> Result<Self, SpawnError> {
        Self::spawn_with_clock(config, Arc::new(SystemClock)).await
    }

    /// Starts a node with another clock for blocks, rate limits and caches.
    ///
    /// # Errors
    /// As for [`spawn`](Self::spawn).
    pub async fn spawn_with_clock(
        config: Config,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SpawnError> {
        Self::begin(config, clock, Inherited::default()).await
    }

    /// Starts a node on sockets that a service manager has bound.
    ///
    /// # Errors
    /// As for [`spawn`](Self::spawn).
    pub(crate) async fn spawn_on(config: Config, inherited: Inherited) -> Result<Self, SpawnError> {
        Self::begin(config, Arc::new(SystemClock), inherited).await
    }

    /// Returns the chain.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Returns the contracts whose sources are known.
    pub fn known(&self) -> &KnownContracts {
        &self.known
    }

    /// Returns the account that updates prices.
    pub fn updater(&self) -> Address {
        self.updater
    }

    /// Returns the configuration of the node.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the address of the main listener.
    pub fn address(&self) -> SocketAddr {
        self.addresses.main
    }

    /// Returns the development accounts with their private keys in hex, which are not secret.
    /// Accounts of a keystore are not among them.
    pub fn development_accounts(&self) -> Vec<(Address, Zeroizing<String>)> {
        let key = |address| self.keyring.get(address).map(|key| (address, key.to_hex()));
        // Those of a keystore come after them.
        let own = self
            .keyring
            .addresses()
            .into_iter()
            .take(self.config.accounts as usize);
        own.filter_map(key).collect()
    }

    /// Returns the addresses at which everything is served, the main listener's first.
    pub(crate) fn all_addresses(&self) -> impl Iterator<Item = SocketAddr> {
        let also = self.addresses.also.iter().copied();
        std::iter::once(self.addresses.main).chain(also)
    }

    /// Returns the URL of JSON-RPC over HTTP.
    pub fn rpc_url(&self) -> String {
        format!("{}/rpc", self.rest_url())
    }

    /// Returns the URL of JSON-RPC over WebSocket.
    pub fn ws_url(&self) -> String {
        format!(
            "{}://{}/rpc",
            self.addresses.scheme("ws"),
            self.addresses.main
        )
    }

    /// Returns the base URL of the REST interfaces.
    pub fn rest_url(&self) -> String {
        self.addresses.http_url(self.addresses.main)
    }

    /// Returns the URL of the price WebSocket.
    pub fn exchange_ws_url(&self) -> String {
        let scheme = self.addresses.scheme("ws");
        match self.addresses.prices {
            Some(address) => format!("{scheme}://{address}"),
            None => format!("{scheme}://{}/ws", self.addresses.main),
        }
    }

    /// Returns the URL of the listener of CometBFT's interface, if it has one of its own.
    pub fn comet_url(&self) -> Option<String> {
        self.addresses
            .comet
            .map(|address| self.addresses.http_url(address))
    }

    /// Returns the URL of the listener of the Cosmos gateway's REST, if it has one of its own.
    pub fn cosmos_rest_url(&self) -> Option<String> {
        self.addresses
            .cosmos_rest
            .map(|address| self.addresses.http_url(address))
    }

    /// Returns the URL of the listener of gRPC, if it has one of its own.
    pub fn grpc_url(&self) -> Option<String> {
        self.addresses
            .grpc
            .map(|address| self.addresses.http_url(address))
    }

    /// Reloads the certificate and its key. Does nothing without TLS.
    ///
    /// # Errors
    /// If the files cannot be used. The node then keeps the old certificate.
    pub fn reload(&self) -> Result<(), TlsError> {
        self.addresses
            .tls
            .as_ref()
            .map_or(Ok(()), |tls| tls.reload())
    }

    /// Shuts the node down: stops accepting, finishes requests, closes WebSockets (code 1001),
    /// stops the chain, and writes its state file.
    ///
    /// # Errors
    /// If the state file cannot be written. Everything has ended then as well.
    pub async fn shut_down(self) -> Result<(), StateFileError> {
        self.chain.wind_down();
        // The lead is given up first, so that another node can take over while requests finish.
        if let Some(cluster) = &self.cluster {
            cluster.leave(&self.chain).await;
        }
        if !self.shutdown.shut_down(REQUESTS_TIMEOUT).await {
            tracing::warn!("some requests did not finish in time and were aborted");
        }
        if let Some(market) = &self.market {
            market.keep().await;
        }

        // The writer may wait for another node.
        self.forks.end();
        self.chain.stop();
        // The writer ends within the time of a block. The index then writes what it has to the
        // disk.
        let _ = tokio::task::spawn_blocking(move || {
            self.verifier.stop();
            self.writer.join();
            if let Some(index) = self.index {
                index.stop();
            }
        })
        .await;

        match self.state_file {
            Some(file) => file.write_last(&self.chain).await,
            None => Ok(()),
        }
    }
}

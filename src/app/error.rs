//! The error of starting a node.

use std::io;

use tetrad_chain::{GenesisError, OpenError};
use tetrad_cluster::ClusterError;
use tetrad_exchange::feed::FeedError;
use tetrad_rpc::fork::ForkError;
use tetrad_store::store::DataDirError;
use tetrad_web::TlsError;

use super::{import::ImportError, ready_file::ReadyFileError, state_file::StateFileError};
use crate::{config::ConfigError, genesis::file::GenesisFileError};

/// The error of starting a node.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An address cannot be listened on.
    #[error("--{flag}: cannot listen on {address}: {source}")]
    Listen {
        /// The flag that named the address.
        flag: &'static str,
        /// The address.
        address: String,
        /// The system's error.
        source: io::Error,
    },
    /// The Unix socket cannot be listened on.
    #[error("--listen-unix: cannot listen on {path}: {source}")]
    ListenUnix {
        /// Its path.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// The first block could not be made.
    #[error(transparent)]
    Genesis(#[from] GenesisError),
    /// The genesis file cannot be used.
    #[error(transparent)]
    GenesisFile(#[from] GenesisFileError),
    /// The other node's chain cannot be forked.
    #[error("--fork-url: {0}")]
    Fork(#[from] ForkError),
    /// The data directory cannot be used.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The chain in the data directory cannot be opened.
    #[error("--data-dir: {0}")]
    Open(#[from] OpenError),
    /// The node cannot join its cluster.
    #[error("--cluster: {0}")]
    Cluster(#[from] ClusterError),
    /// A file of blocks cannot be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The state file cannot be loaded.
    #[error(transparent)]
    State(#[from] StateFileError),
    /// The certificate or its key cannot be used.
    #[error("tls: {0}")]
    Tls(#[from] TlsError),
    /// A price source cannot be set up.
    #[error(transparent)]
    Feed(#[from] FeedError),
    /// A key cannot be used.
    #[error("{0}")]
    Key(String),
    /// The verified sources in the data directory cannot be read.
    #[error("--data-dir: verified sources: {0}")]
    Sources(io::Error),
    /// The scenario cannot be started.
    #[error("--scenario {0}")]
    Scenario(String),
    /// The ready file could not be written, or that of an earlier run not removed.
    #[error(transparent)]
    Ready(#[from] ReadyFileError),
    /// Another system call failed.
    #[error(transparent)]
    System(#[from] io::Error),
}

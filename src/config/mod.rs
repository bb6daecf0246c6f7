//! From settings to a checked configuration.
//!
//! A [`Setting`] is one entry of a table: its names, its documentation, how it is read into a
//! [`Config`], how it is shown and what it contradicts. [`Values`] collects what the user gave:
//! flags win over the environment, the environment over the file, the file over the profile's
//! defaults. [`Config::from_values`] turns it into a configuration, or names the setting that is
//! wrong.
//!
//! # Defaults
//!
//! - The rules are those of the newest mainnet fork (Osaka with the second blob schedule), and the
//!   gas limit is 60 million, as on mainnet.
//! - The cap of a transaction's gas (EIP-7825) is off in the development profile, since tools send
//!   the block gas limit.
//! - The production profile requires a tip of the pool's transactions, as geth does.
//! - With a genesis file, blocks follow every rule of Ethereum, so that other clients accept them:
//!   each is later than its parent, and the gas limit moves in Ethereum's steps.
//!
//! An unknown variable `TETRAD_…` is only a warning: Kubernetes generates such names from those of
//! services.

mod given;
mod layers;
mod load;
mod node;
mod setting;
mod settings;
mod show;

pub use tetrad_chain::{HistoryLimits, PoolLimits};
pub use tetrad_cluster::{ClusterConfig, ClusterRole};
pub use tetrad_evm::Fork;
pub use tetrad_exchange::ExchangeConfig;
pub use tetrad_lending::faucet::FaucetConfig;
pub use tetrad_network::network::Network;
pub use tetrad_page::{IpfsGateway, MediaOrigin, PageConfig};
pub use tetrad_rpc::{
    fork::ForkConfig,
    rpc::{Dialect, RpcConfig},
};
pub use tetrad_store::log::Durability;
pub use tetrad_web::{Hosts, ListenerLimits, Origins};

pub(crate) use given::whole_number;
pub use given::{ConfigError, Given, ValueOrigin};
pub use layers::Values;
pub use load::problems;
pub use node::{
    BlockTimestamps, Config, DEVELOPMENT_MNEMONIC, LogFormat, MetricsAt, Profile, StateFiles,
    TlsFiles, Traces,
};
pub use setting::{Kind, Section, Setting};
pub use settings::{SECTIONS, settings};

pub use crate::console::ConsoleConfig;

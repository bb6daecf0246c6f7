//! The table of all settings. A new setting is an entry here and a field of
//! [`Config`](super::Config); flag, variable, key, `tetrad config`, the book's page and the files
//! in `config/` follow from the entry.

mod cluster;
mod fork;
mod general;
mod keys;
mod limits;
mod network;
mod page;
mod rpc;
mod services;
mod traces;

use super::setting::{Section, Setting};

/// The tables of the file, in the order of the help.
pub const SECTIONS: &[Section] = &[
    general::SECTION,
    traces::SECTION,
    fork::SECTION,
    cluster::SECTION,
    network::SECTION,
    rpc::SECTION,
    services::EXCHANGE,
    services::LENDING,
    services::FAUCET,
    page::SECTION,
    limits::SECTION,
    keys::TLS,
    keys::KEYS,
];

/// Returns all settings, in the order of the help.
pub fn settings() -> impl Iterator<Item = &'static Setting> {
    SECTIONS.iter().flat_map(|section| section.settings)
}

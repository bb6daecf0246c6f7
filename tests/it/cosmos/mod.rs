//! The interfaces of a Cosmos node over real sockets.

mod accounts;
mod addresses;
mod comet;
mod comet_uri;
mod encodings;
mod grpc;
mod keplr;
mod lookup;
mod mixed;
mod nesting;
mod queries;
pub(crate) mod signing;
mod transactions;
mod wallet;

use std::net::SocketAddr;

/// A separate listener on a free port.
fn free() -> Option<SocketAddr> {
    Some(SocketAddr::from(([127, 0, 0, 1], 0)))
}

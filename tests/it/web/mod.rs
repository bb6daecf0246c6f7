//! Web features that all interfaces share, over real sockets.

mod compression;
mod connections;
mod cors;
mod hosts;
mod http2;
#[cfg(unix)]
mod inherited;
mod metrics;
mod network_info;
mod openapi;
mod rate_limit;
mod request_ids;
mod sliding_window;
mod slow_clients;
mod sockets;
#[cfg(unix)]
mod tls;
mod traces;

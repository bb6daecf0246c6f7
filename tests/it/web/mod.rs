//! What all interfaces share of the web, over real sockets.

mod connections;
mod cors;
mod metrics;
mod network_info;
mod openapi;
mod rate_limit;
mod sliding_window;
#[cfg(unix)]
mod tls;

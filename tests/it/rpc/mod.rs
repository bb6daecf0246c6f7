//! JSON-RPC over real sockets.

mod calls;
mod client;
mod envelope;
mod filters;
mod logs;
mod reads;
mod submit;
mod subscriptions;
mod transport;

//! JSON-RPC over real sockets.

mod calls;
mod client;
mod development;
mod envelope;
mod filters;
mod logs;
mod reads;
mod reference;
mod submit;
mod subscriptions;
mod transport;

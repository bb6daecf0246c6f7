//! JSON-RPC over real sockets.

mod calls;
mod client;
mod envelope;
mod filters;
mod limits;
mod logs;
mod reads;
mod reference;
mod sign;
mod simulate;
mod submit;
mod subscriptions;
mod transport;

//! JSON-RPC over real sockets.

mod calls;
mod client;
mod envelope;
mod filters;
mod fuzz;
mod limits;
mod logs;
mod pool;
mod reads;
mod reference;
mod sign;
mod simulate;
mod storage;
mod submit;
mod subscriptions;
mod transport;

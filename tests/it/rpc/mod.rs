//! JSON-RPC over real sockets.

mod blobs;
mod bounds;
mod calls;
mod client;
mod depth;
mod envelope;
mod failures;
mod fairness;
mod filters;
mod graphql;
#[cfg(unix)]
mod ipc;
#[cfg(all(feature = "js-tracer", unix))]
mod javascript;
mod limits;
mod logs;
mod otterscan;
mod pool;
mod predeploys;
mod reads;
mod reference;
mod sign;
mod simulate;
mod storage;
mod submit;
mod subscriptions;
mod tools;
mod tracers;
mod transaction_types;
mod transport;

//! What all interfaces share of the web: listeners, limits, caching, errors and the end.

mod admission;
mod api;
mod cache;
mod client_address;
mod client_slots;
mod connection;
mod cors;
mod exposition;
mod forwarded;
mod front;
mod inherited;
mod listener;
mod openapi;
pub mod parameters;
mod per_head;
mod preface;
mod query;
mod rate_limit;
mod request_id;
mod rest;
mod shutdown;
mod sliding_window;
mod tls;
mod traffic;
#[cfg(unix)]
mod unix_socket;
mod user_address;

pub use admission::{HeldSlots, admit_socket, socket_operation};
pub use api::{Api, Operation};
pub use cache::{Keep, Rendered};
pub use client_address::{Client, ClientAddresses, ClientKey, Peer};
pub use client_slots::{ClientSlots, Slot};
pub use cors::{Origin, Origins, with_cors};
pub use exposition::{CONTENT_TYPE as METRICS_TYPE, Exposition, Family, Labels};
pub use front::{FastPath, Front};
pub use inherited::{Inherited, InheritedError};
pub use listener::{ConnectionSlot, Listener, ListenerLimits, listen, serve};
pub use openapi::{document, openapi_router};
pub use per_head::PerHead;
pub use query::Queries;
pub use rate_limit::RateLimit;
pub use request_id::RequestIds;
pub use rest::{ErrorBody, RestError, method_not_allowed, not_found};
pub use shutdown::{Shutdown, ShutdownHandle};
pub use sliding_window::{Admission, SlidingWindow};
pub use tls::{Tls, TlsError};
pub use traffic::Traffic;
#[cfg(unix)]
pub use unix_socket::UnixSocket;
pub use user_address::user_address;

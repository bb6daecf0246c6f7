//! HTTP shared by the interfaces: listeners, limits, typed routes, caching, errors, WebSockets and
//! shutdown.
//!
//! The crate knows none of the interfaces that it serves, and neither chain nor execution. A route is
//! registered once: its parsing, its errors and its description in the OpenAPI document follow from
//! the signature of the handler.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::Serialize;
//! use tetrad_web::{Api, NoCache};
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Height {
//!     height: u64,
//! }
//!
//! async fn height() -> NoCache<Height> {
//!     NoCache(Height { height: 7 })
//! }
//!
//! let (router, operations) = Api::new("Chain")
//!     .get("/height", height, "The height of the chain")
//!     .with_state(());
//! assert!(router.has_routes());
//! assert_eq!(operations.len(), 1);
//! ```
//!
//! # Memory
//!
//! Requests and responses under way share one [budget](Budget), from 16 KiB on. A holder gets no
//! more than remains free, so that there is space for the next one. Small requests and responses
//! are never refused, but the streams of a connection of HTTP/2 have the uncounted 16 KiB together,
//! for their heads and for what waits to be sent (`Flow::add_stream_bytes`), and each counts with 8
//! KiB until its response is made (`Flow::add_pending_stream`), which may take a client half of the
//! budget. A body waits two seconds for space,
//! a WebSocket message five, and then gets 503; a response gets an error of its own.
//!
//! - Connections send one type of body only, `CountedBody`, which counts or refuses whatever was
//!   not written with an [`AnswerWriter`].
//! - A value whose size depends on a block, and that is made before its text, counts until its turn
//!   is over ([`hold_in_turn`]).
//! - A long value is written in the turn that makes it ([`WrittenJson`]), since thousands of
//!   responses may wait for a task or for another turn. For the same reason requests wait unread,
//!   as a part of their body, and what their JSON becomes counts while it is read in the turn
//!   ([`json_memory`]).
//! - Bodies that many responses [share](shared) take no memory for one of them.
//! - Bodies of requests are read by [`receive()`] only, and count with the capacity of their
//!   buffer.
//! - A response over 1 KiB ends once it is sent, so that what it holds has the stream's deadline
//!   (`streams.rs`).
//!
//! # Turns
//!
//! A client is an address and a connection: many connections of one address share that address's
//! turns, and users behind the same address take turns as well. Work that may take more than a
//! millisecond runs under [`in_turn`], which takes the client from the context that the connection
//! sets around each request (`request.rs`), so that no route has to know it.
//!
//! # Refusals
//!
//! Exceeded limits are answered with a reason: body size, batch size, sockets per client, messages
//! per socket. A connection over the limit waits to be accepted, and one that does not send the
//! head of a request in time is closed without a response.

mod accepted;
mod admin_token;
mod answer;
mod answer_error;
mod api;
mod body_error;
mod budget;
mod cache;
mod capacity;
mod client_address;
mod client_slots;
mod compression;
mod connection;
mod content;
mod cors;
mod execution;
mod exposition;
mod faults;
mod flow;
mod forwarded;
mod front;
mod hosts;
mod inherited;
mod interface_path;
pub mod json_rpc;
mod listener;
mod once;
mod openapi;
mod operation;
pub mod parameters;
mod preface;
mod rate_limit;
mod receive;
mod reply;
mod request;
mod request_id;
mod rest;
mod shared_stream;
mod shutdown;
mod sliding_window;
mod socket;
mod streams;
mod tls;
mod traffic;
#[cfg(unix)]
mod unix_socket;
mod unread_body;

pub use accepted::{ConnectionSlot, ListenerLimits};
pub use admin_token::AdminToken;
pub use answer::{Answer, AnswerWriter, MAX_ANSWER, shared};
pub use answer_error::AnswerError;
pub use api::Api;
pub use body_error::BodyError;
pub use budget::{Budget, Held};
pub use cache::{CachePolicy, Rendered, entity_tag};
pub use capacity::Capacity;
pub use client_address::{Client, ClientAddresses, ClientKey, Peer};
pub use client_slots::{ClientSlot, ClientSlots};
pub use compression::{Effort, Prepared};
pub use content::is_json;
pub use cors::{Origin, Origins, with_cors};
pub use execution::{
    Caller, Execution, ExecutionFailed, Slice, as_part, interrupted, is_abandoned, refuses_long,
};
pub use exposition::{CONTENT_TYPE as METRICS_TYPE, Exposition};
pub use faults::{Fault, FaultClients, FaultGuard, FaultScope, Faults, MAX_CLIENT_NAME};
pub use flow::Flow;
pub use front::{FastPath, Front};
pub use hosts::{HostName, Hosts, NamedHost};
pub use inherited::{Inherited, InheritedError};
pub use interface_path::{at_interface_path, interface_path};
pub use listener::{Listener, listen, serve};
pub use once::MadeOnce;
pub use openapi::{ApiInfo, openapi_router};
pub use operation::{Failure, Input, Operation, Output};
pub use parameters::{Interface, Path, Query};
pub use rate_limit::RateLimit;
pub use receive::{IncomingBody, check_json, json_memory, read_body, receive, receive_json};
pub use reply::{
    Cached, Checked, JsonBody, NoCache, NoStore, RequestBody, Serialized, TomlBody, WrittenJson,
};
pub use request::{RequestContext, current_client, hold_in_turn, in_long_turn, in_part, in_turn};
pub use request_id::RequestIds;
pub use rest::{RestError, method_not_allowed, not_found};
pub use shutdown::{Shutdown, ShutdownHandle};
pub use sliding_window::{RateDecision, SlidingWindow};
#[doc(hidden)]
pub use socket::fuzzing;
pub use socket::{
    SocketLimits, SocketMessage, SocketProtocol, SocketReply, Utf8Bytes, WRITE_TIMEOUT, WebSockets,
    socket_operation,
};
pub use tls::{Tls, TlsError};
pub use traffic::Traffic;
#[cfg(unix)]
pub use unix_socket::UnixSocket;

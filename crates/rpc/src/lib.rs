//! [JSON-RPC](rpc) over HTTP and WebSocket, GraphQL, the blobs of the [Beacon API](beacon), and
//! [chains that begin at a block of another node](fork).
//!
//! The crate knows nothing of the other interfaces. Forks know nothing of JSON-RPC's methods.
//!
//! ```
//! let documented = tetrad_rpc::rpc::examples();
//! let shown = documented
//!     .iter()
//!     .flat_map(|example| &example.exchanges)
//!     .find(|exchange| exchange.request.contains("eth_chainId"))
//!     .expect("an example");
//! assert!(shown.response.contains("0x7d"));
//! ```

pub mod beacon;
pub mod fork;
pub mod rpc;

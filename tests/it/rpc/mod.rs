//! JSON-RPC over real sockets.

mod first;

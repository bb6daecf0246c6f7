//! The account query of a Cosmos gateway over real sockets.

mod accounts;
mod addresses;

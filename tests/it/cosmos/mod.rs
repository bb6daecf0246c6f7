//! The account query of a Cosmos gateway over real sockets.

mod accounts;
mod addresses;
mod comet;
mod keplr;
mod wallet;

//! The exchange over real sockets: swaps, REST, the price WebSocket, and prices on the chain.

mod candles;
mod health;
mod history;
mod quote;
mod rest;
mod socket;
mod socket_limits;
mod swap;
mod swap_failures;
mod updater;
mod updater_limits;

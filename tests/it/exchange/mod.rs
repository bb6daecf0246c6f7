//! The exchange over real sockets: swaps, REST, the price WebSocket, and prices on the chain.

mod candles;
mod halts;
mod health;
mod history;
mod manual;
mod old_contracts;
mod quote;
mod replay;
mod rest;
mod socket;
mod socket_limits;
mod swap;
mod swap_failures;
mod updater;
mod updater_limits;
mod upstream;
mod upstream_tls;

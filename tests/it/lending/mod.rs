//! The lending service over real sockets.

mod loans;
mod pools;
mod rendering;
mod users;

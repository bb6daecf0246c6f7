//! The lending service over real sockets.

mod history;
mod loans;
mod pools;
mod rendering;
mod users;
pub(crate) mod views;

//! JavaScript tracers, as geth has them (`{step, fault, enter, exit, setup, result}`).
//!
//! A running script can be neither interrupted nor limited in its memory, so it runs in a process
//! of its own: this program, started with a hidden command. The process executes the transaction
//! again with the script attached and requests each account and slot through a pipe. Its memory is
//! limited, and it is killed when the time of the request is over. It ends by itself when the pipe
//! closes, so that it never outlives the node.
//!
//! The process gets the execution as plain data, and limits its memory before it reads anything.
//! The node answers its requests on the thread of the client's request. It executes the transaction
//! as well, and compares the gas. One process serves all transactions of a request.
//!
//! The feature `js-tracer` is off by default, since the engine takes minutes to compile; released
//! binaries have it.

mod message;
mod places;
mod process;
mod remote;
mod runner;
mod script;
mod worker;
mod writes;

pub use process::TRACER_COMMAND;
pub(super) use runner::{Script, ScriptRunner};
pub use worker::run;

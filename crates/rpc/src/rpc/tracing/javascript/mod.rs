//! JavaScript tracers, as geth has them (`{step, fault, enter, exit, setup, result}`).
//!
//! A running script can be neither interrupted nor limited in its memory, so it runs in a process
//! of its own: this program, started with a hidden command. The process executes the transaction
//! again with the script attached and requests each account and slot through a pipe. Its memory is
//! limited, and it is killed when the time of the request is over. It ends by itself when the pipe
//! closes, so that it never outlives the node.

mod message;
mod places;
mod process;
mod remote;
mod runner;
mod script;
mod worker;
mod writes;

pub use process::COMMAND;
pub(super) use runner::{Script, ScriptRunner};
pub use worker::run;

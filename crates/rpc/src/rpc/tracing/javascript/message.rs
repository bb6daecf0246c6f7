//! The messages between the node and the process of a tracer.
//!
//! Each is JSON after its length. The node sends a [`Task`]; the process sends requests for state,
//! one at a time, and finally the outcome, followed by the result.

use std::io::{self, Read, Write};

use alloy_primitives::{Address, B256, U256};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tetrad_evm::{DetachedAccount, DetachedExecution};

/// A message of the node.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromNode {
    /// An execution to trace.
    Task(Box<Task>),
    /// The requested account.
    Account(Option<DetachedAccount>),
    /// The requested slot's value.
    Slot(U256),
    /// The requested block's hash.
    BlockHash(B256),
    /// The state is not available.
    Unavailable(String),
}

/// An execution, and the script that traces it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    /// The script, an expression.
    pub script: String,
    /// The argument of `setup`.
    pub config: String,
    /// The block of the transaction.
    pub block: Option<B256>,
    /// The transaction's hash.
    pub transaction: Option<B256>,
    /// Its index in the block.
    pub index: Option<usize>,
    /// The maximum length of the result.
    pub max_bytes: usize,
    /// The execution.
    pub execution: DetachedExecution,
}

/// A message of the process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromTracer {
    /// Requests an account.
    Account(Address),
    /// Requests a slot.
    Slot(Address, U256),
    /// Requests the hash of a block.
    BlockHash(u64),
    /// The task is done.
    Done(Outcome),
}

/// The outcome of a task.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Outcome {
    /// The execution used this gas. The script's result follows as a message of its own.
    Traced {
        /// Gas used.
        gas_used: u64,
    },
    /// The transaction could not be executed.
    Rejected,
    /// The script failed.
    Script(String),
    /// The result is longer than allowed.
    TooLarge,
}

/// Reads bytes after their length, which may be `max` at most. Memory grows only as bytes arrive.
pub(super) fn read_bytes(from: &mut impl Read, max: usize) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;

    if length > max {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a message of {length} bytes"),
        ));
    }

    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() == length {
        Ok(bytes)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// Writes bytes after their length.
pub(super) fn write_bytes(bytes: &[u8], to: &mut impl Write) -> io::Result<()> {
    let length =
        u32::try_from(bytes.len()).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(bytes)?;
    to.flush()
}

/// Parses a message.
pub(super) fn parse<M: DeserializeOwned>(bytes: &[u8]) -> io::Result<M> {
    Ok(serde_json::from_slice(bytes)?)
}

/// Writes a message.
pub(super) fn write(message: &impl Serialize, to: &mut impl Write) -> io::Result<()> {
    write_bytes(&serde_json::to_vec(message)?, to)
}

//! The messages by which a node has its clients' writes executed: a [`Request`] to the node that
//! leads the cluster, and its [`Response`].
//!
//! A message begins with its version. A receiver trusts a message no more than a request of a
//! client: decoding limits what the interfaces limit, and recovers the senders of transactions from
//! their signatures.

mod change;
#[cfg(test)]
mod tests;

use alloy_primitives::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use tetrad_chain::{
    Acknowledgement, Change, ChangeError, ChangeOutcome, PoolSelection, SubmitError,
};
use tetrad_primitives::block::{Submission, Transaction};
use tetrad_stdx::codec::{Malformed, Reader, Writer};

/// The version of the messages.
const VERSION: u8 = 1;

/// A request to the node that leads.
#[derive(Debug)]
pub enum Request {
    /// Add a signed transaction to the pool, given as the parameter of `eth_sendRawTransaction`,
    /// which [`Submission::decode`] decodes and checks. Answered with [`Outcome::Submitted`].
    Submit {
        /// The transaction.
        raw: Bytes,
        /// Whether an earlier leader may have received it.
        again: bool,
    },
    /// Add a transaction of an impersonated account to the pool. Nothing proves that the account
    /// agrees, so that only a node with development methods may accept it. Answered with
    /// [`Outcome::Submitted`].
    SubmitImpersonated {
        /// The transaction.
        transaction: Box<Transaction>,
        /// Whether an earlier leader may have received it.
        again: bool,
    },
    /// Make a change, which only development methods request. Its transactions may be those of
    /// impersonated accounts. Answered with [`Outcome::Changed`], or with [`Outcome::InProgress`]
    /// if the same request came before and is not done.
    Change {
        /// A random number that is the same whenever the request is sent again. Older versions send
        /// it once, without one.
        id: Option<u64>,
        /// The change.
        change: Change,
    },
    /// Remove transactions from the pool, which only development methods request. Answered with
    /// [`Outcome::Dropped`].
    Drop(PoolSelection),
}

/// The response of the node that leads.
#[derive(Debug)]
pub struct Response {
    /// A height of the log that includes the outcome: a node that has reached it shows the outcome
    /// to its clients.
    pub height: u64,
    /// The outcome of the request.
    pub outcome: Outcome,
}

/// The outcome of a request.
#[derive(Debug)]
pub enum Outcome {
    /// The acknowledgement of the transaction.
    Submitted(Result<Acknowledgement, SubmitError>),
    /// The outcome of the change.
    Changed(Result<ChangeOutcome, ChangeError>),
    /// Whether a transaction was removed from the pool.
    Dropped(Result<bool, SubmitError>),
    /// The receiver could not decode the request, for this reason.
    Undecodable(String),
    /// The change, or the large request, came before, and is not done yet.
    InProgress,
}

/// The reason why a message could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// The message comes from another version of the program.
    #[error(
        "a message of version {0}, but this node has version {VERSION}: run the same release on \
         all nodes"
    )]
    Version(u8),
    /// The message is malformed.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

const SUBMIT: u8 = 1;
const SUBMIT_IMPERSONATED: u8 = 2;
const CHANGE: u8 = 3;
const DROP_TRANSACTION: u8 = 4;
const DROP_SENDER: u8 = 5;
const DROP_ALL: u8 = 6;
const IDENTIFIED_CHANGE: u8 = 7;

const SUBMITTED: u8 = 1;
const CHANGED: u8 = 2;
const DROPPED: u8 = 3;
const UNDECODABLE: u8 = 4;
const IN_PROGRESS: u8 = 5;

impl Request {
    /// Returns the request to add a transaction to the pool.
    pub fn submit(submission: &Submission, again: bool) -> Self {
        if submission.transaction.is_impersonated() {
            Self::SubmitImpersonated {
                transaction: Box::new(submission.transaction.clone()),
                again,
            }
        } else {
            Self::Submit {
                raw: submission.encode().into(),
                again,
            }
        }
    }

    /// Encodes the request. Fails for the changes that the writer of a chain with a data directory
    /// always refuses, with the writer's error.
    pub fn encode(&self) -> Result<Vec<u8>, ChangeError> {
        let out = &mut begin();
        match self {
            Self::Submit { raw, again } => {
                out.byte(SUBMIT);
                out.byte(u8::from(*again));
                out.raw(raw);
            }
            Self::SubmitImpersonated { transaction, again } => {
                out.byte(SUBMIT_IMPERSONATED);
                out.byte(u8::from(*again));
                change::write_transaction(transaction, out);
            }
            Self::Change { id, change } => {
                match id {
                    None => out.byte(CHANGE),
                    Some(id) => {
                        out.byte(IDENTIFIED_CHANGE);
                        out.raw(&id.to_le_bytes());
                    }
                }
                change::write(change, out)?;
            }
            Self::Drop(PoolSelection::Transaction(hash)) => {
                out.byte(DROP_TRANSACTION);
                out.raw(hash.as_slice());
            }
            Self::Drop(PoolSelection::Sender(address)) => {
                out.byte(DROP_SENDER);
                out.raw(address.as_slice());
            }
            Self::Drop(PoolSelection::All) => out.byte(DROP_ALL),
        }
        Ok(std::mem::take(out).into_bytes())
    }

    /// Decodes a request.
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        let from = &mut open(bytes)?;
        let request = match from.byte()? {
            SUBMIT => Self::Submit {
                again: read_bool(from)?,
                raw: Bytes::copy_from_slice(from.rest()),
            },
            SUBMIT_IMPERSONATED => {
                let again = read_bool(from)?;
                let transaction = change::read_transaction(from)?;
                if !transaction.is_impersonated() {
                    return Err(Malformed("sender").into());
                }
                Self::SubmitImpersonated {
                    transaction: Box::new(transaction),
                    again,
                }
            }
            CHANGE => Self::Change {
                id: None,
                change: change::read(from)?,
            },
            IDENTIFIED_CHANGE => {
                let id = Some(u64::from_le_bytes(from.array()?));
                Self::Change {
                    id,
                    change: change::read(from)?,
                }
            }
            DROP_TRANSACTION => Self::Drop(PoolSelection::Transaction(from.array()?.into())),
            DROP_SENDER => Self::Drop(PoolSelection::Sender(from.array()?.into())),
            DROP_ALL => Self::Drop(PoolSelection::All),
            _ => return Err(Malformed("kind of request").into()),
        };

        from.end("request: trailing bytes")?;
        Ok(request)
    }
}

impl Response {
    /// Encodes the response.
    pub fn encode(&self) -> Vec<u8> {
        let out = &mut begin();
        out.number(self.height);
        match &self.outcome {
            Outcome::Submitted(result) => {
                out.byte(SUBMITTED);
                write_result(result, out, |out, acknowledgement| {
                    out.byte(u8::from(*acknowledgement == Acknowledgement::Included))
                });
            }
            Outcome::Changed(result) => {
                out.byte(CHANGED);
                write_result(result, out, |out, outcome| {
                    change::write_outcome(*outcome, out)
                });
            }
            Outcome::Dropped(result) => {
                out.byte(DROPPED);
                write_result(result, out, |out, found| out.byte(u8::from(*found)));
            }
            Outcome::Undecodable(reason) => {
                out.byte(UNDECODABLE);
                out.string(reason.as_bytes());
            }
            Outcome::InProgress => out.byte(IN_PROGRESS),
        }
        std::mem::take(out).into_bytes()
    }

    /// Decodes a response.
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        let from = &mut open(bytes)?;
        let height = from.number()?;
        let outcome = match from.byte()? {
            SUBMITTED => Outcome::Submitted(read_result(from, read_acknowledgement)?),
            CHANGED => Outcome::Changed(read_result(from, change::read_outcome)?),
            DROPPED => Outcome::Dropped(read_result(from, read_bool)?),
            UNDECODABLE => {
                let reason = str::from_utf8(from.string()?).map_err(|_| Malformed("text"))?;
                Outcome::Undecodable(reason.to_owned())
            }
            IN_PROGRESS => Outcome::InProgress,
            _ => return Err(Malformed("kind of outcome").into()),
        };

        from.end("response: trailing bytes")?;
        Ok(Self { height, outcome })
    }
}

impl Outcome {
    /// Returns whether the request was executed, rather than refused because another node leads, to
    /// which it can be sent.
    pub(crate) fn is_executed(&self) -> bool {
        match self {
            Self::Submitted(result) => !matches!(result, Err(SubmitError::NotLeading)),
            Self::Changed(result) => !matches!(result, Err(ChangeError::NotLeading)),
            Self::Dropped(result) => !matches!(result, Err(SubmitError::NotLeading)),
            Self::Undecodable(_) | Self::InProgress => false,
        }
    }
}

fn begin() -> Writer {
    let mut out = Writer::default();
    out.byte(VERSION);
    out
}

fn open(bytes: &[u8]) -> Result<Reader<'_>, MessageError> {
    let mut from = Reader::new(bytes);
    match from.byte()? {
        VERSION => Ok(from),
        version => Err(MessageError::Version(version)),
    }
}

/// Writes a result. Errors are rare and have many variants, so that they travel as JSON, which a
/// derive writes.
fn write_result<T, E: Serialize>(
    result: &Result<T, E>,
    out: &mut Writer,
    write: impl FnOnce(&mut Writer, &T),
) {
    match result {
        Ok(value) => {
            out.byte(1);
            write(out, value);
        }
        Err(error) => {
            out.byte(0);
            out.string(&serde_json::to_vec(error).expect("texts and numbers always serialise"));
        }
    }
}

fn read_result<'a, T, E: DeserializeOwned>(
    from: &mut Reader<'a>,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, Malformed>,
) -> Result<Result<T, E>, Malformed> {
    if read_bool(from)? {
        return read(from).map(Ok);
    }
    serde_json::from_slice(from.string()?)
        .map(Err)
        .map_err(|_| Malformed("error"))
}

fn read_acknowledgement(from: &mut Reader<'_>) -> Result<Acknowledgement, Malformed> {
    Ok(if read_bool(from)? {
        Acknowledgement::Included
    } else {
        Acknowledgement::Waiting
    })
}

fn read_bool(from: &mut Reader<'_>) -> Result<bool, Malformed> {
    match from.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Malformed("truth value")),
    }
}

//! Logs that NATS JetStream replicates.
//!
//! The log of a cluster is one stream with one subject. An entry is one message, or several if it
//! is large, each published with the sequence that the stream must have by then
//! (`Nats-Expected-Last-Sequence`): of two nodes that publish at the same time one is refused,
//! whatever they believe about who leads. An entry counts once its last part is stored; parts of an
//! entry that its writer did not finish are void. Each message names the hash of the entry before:
//! one that does not follow the last one is void as well.
//!
//! Every node has a copy of the stream in its data directory, from which everything else is derived
//! as on a single node. The copy is behind the stream until the entries of other nodes are
//! [received](tetrad_store::log::BlockLog::receive). Entries that the stream has lost are taken from the copy
//! of the node that leads.
//!
//! The copy is not synced: the stream is what an acknowledgement relies on, and a copy that lost
//! its end reads it again. A message that is not an entry ends following on every node, instead of
//! being skipped, since it may be an entry of a newer version.

mod compare;
mod message;
mod stream;
mod tail;
mod writer;

use std::sync::Arc;

use alloy_primitives::B256;
use futures_util::future::BoxFuture;
use tetrad_store::{
    log::{BlockLog, ChainIdentity, Extent, LogError, LogStore},
    storage::Storage,
};
use tokio::{runtime::Handle, sync::Notify};

use self::writer::JetStreamLog;
pub(crate) use self::{message::check_parts, tail::deliver};
pub use self::{
    stream::{LogStream, StreamExtent, delete},
    tail::Delivered,
};

/// The copies of a log that other nodes have.
pub trait OtherCopies: Send + Sync {
    /// Returns the entry at a height, as the node that leads has it: `None` if there is no such
    /// node, or it does not have the entry.
    fn entry(&self, height: u64) -> BoxFuture<'_, Option<CopiedEntry>>;
}

/// An entry in the copy of another node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedEntry {
    /// The entry.
    pub bytes: Vec<u8>,
    /// Keccak-256 of the entry before, if that node has it.
    pub previous: Option<B256>,
}

/// A replicated log with a copy in another one.
pub struct JetStreamLogs {
    copy: Arc<dyn LogStore>,
    stream: LogStream,
    others: Arc<dyn OtherCopies>,
    runtime: Handle,
    arrivals: Arc<Notify>,
}

impl JetStreamLogs {
    /// Returns the log of a stream, with a copy in `copy`. What the stream has lost is taken from
    /// `others`. Its tasks run on `runtime`; `arrivals` is notified when entries of other nodes
    /// have arrived.
    pub fn new(
        copy: Arc<dyn LogStore>,
        stream: LogStream,
        others: Arc<dyn OtherCopies>,
        runtime: Handle,
        arrivals: Arc<Notify>,
    ) -> Self {
        Self {
            copy,
            stream,
            others,
            runtime,
            arrivals,
        }
    }
}

impl LogStore for JetStreamLogs {
    fn open(&self, identity: ChainIdentity, begin_at: u64) -> Result<Box<dyn BlockLog>, LogError> {
        let copy = self.copy.open(identity, begin_at)?;
        let Self {
            stream,
            others,
            runtime,
            arrivals,
            ..
        } = self;
        let log = JetStreamLog::new(
            copy,
            stream.clone(),
            others.clone(),
            runtime.clone(),
            arrivals.clone(),
        );
        Ok(Box::new(log))
    }

    fn verify(&self, identity: ChainIdentity) -> Result<Option<Extent>, LogError> {
        self.copy.verify(identity)
    }

    fn cut(&self, identity: ChainIdentity, at: u64) -> Result<Vec<String>, LogError> {
        self.copy.cut(identity, at)
    }

    fn backup(&self, identity: ChainIdentity, to: &dyn Storage) -> Result<u64, LogError> {
        self.copy.backup(identity, to)
    }
}

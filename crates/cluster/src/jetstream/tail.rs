//! Reading the messages of a stream as they arrive.

use std::{sync::Arc, time::Duration};

use async_nats::{
    Message,
    jetstream::{
        self,
        consumer::{AckPolicy, DeliverPolicy, pull},
    },
};
use futures_util::StreamExt;
use tetrad_store::log::LogError;
use tokio::{
    runtime::Handle,
    sync::{Notify, mpsc},
    task::JoinHandle,
    time::timeout,
};

use super::{
    message::{EntryPart, PartHeader},
    stream::LogStream,
};

/// Number of messages that are held for the writer. With the largest parts these are 64 MiB.
const HELD_MESSAGES: usize = 128;
/// Most messages that are requested from the server at once.
const BATCH: usize = 256;
/// Size of these in bytes.
const BATCH_BYTES: usize = 32 << 20;
/// Time after which the server says that it has no messages. A server that has said nothing for two
/// of them is gone.
const HEARTBEAT: Duration = Duration::from_millis(500);
/// Lifetime of a request for messages, and of a consumer that is not in use.
const EXPIRY: Duration = Duration::from_secs(10);
/// Time without messages after which the stream is asked whether it has any. It is twice as long
/// each time that another consumer has none either: the last messages of a stream may be deleted
/// ones.
const FIRST_SILENCE: Duration = Duration::from_secs(2);
const LONGEST_SILENCE: Duration = Duration::from_secs(60);
/// Time between two attempts to reach the stream.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// A message of a stream, with its sequence.
pub type Delivered = (u64, Message);

/// The messages of a log's stream from a sequence on. Dropping it ends its task.
pub(super) struct Tail {
    stream: LogStream,
    messages: mpsc::Receiver<Delivered>,
    task: JoinHandle<()>,
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Tail {
    /// Reads the messages after the one at `after`. Notifies `arrivals` of each.
    pub(super) fn start(
        runtime: &Handle,
        stream: LogStream,
        after: u64,
        arrivals: Arc<Notify>,
    ) -> Self {
        let (sender, messages) = mpsc::channel(HELD_MESSAGES);
        let task = runtime.spawn(deliver(stream.messages().clone(), after, sender, arrivals));
        Self {
            stream,
            messages,
            task,
        }
    }

    /// Returns the next message that has arrived, if there is one.
    pub(super) fn arrived(&mut self) -> Option<Result<EntryPart, LogError>> {
        let delivered = self.messages.try_recv().ok()?;
        Some(self.part(delivered))
    }

    /// Whether the stream has lost its end, so that no more messages arrive.
    pub(super) fn has_ended(&self) -> bool {
        self.messages.is_closed() && self.messages.is_empty()
    }

    /// Waits for the next message.
    pub(super) async fn next(&mut self) -> Option<Result<EntryPart, LogError>> {
        let delivered = self.messages.recv().await?;
        Some(self.part(delivered))
    }

    fn part(&self, (sequence, message): Delivered) -> Result<EntryPart, LogError> {
        let header = PartHeader::read(message.headers.as_ref(), sequence, self.stream.name())?;
        Ok(EntryPart {
            sequence,
            header,
            payload: message.payload,
        })
    }
}

/// Sends the messages of a stream after the one at `after` to `to`, until its receiver is dropped.
/// Notifies `arrivals` of each. Continues when the stream goes away for a while and is back, and
/// ends if it has lost its end by then: its next messages would get the sequences of those that it
/// had.
pub(crate) async fn deliver(
    stream: jetstream::stream::Stream<()>,
    mut after: u64,
    to: mpsc::Sender<Delivered>,
    arrivals: Arc<Notify>,
) {
    let mut silence = FIRST_SILENCE;
    while !to.is_closed() {
        if stream
            .get_info()
            .await
            .is_ok_and(|info| info.state.last_sequence < after)
        {
            return;
        }

        deliver_some(&stream, &mut after, &mut silence, &to, &arrivals).await;
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

/// Sends messages until the stream goes away, has some that it does not deliver, or the receiver is
/// dropped. The consumer is on one server, and after faults that server may wait for the others
/// without end, while it goes on saying that it has no messages. The next consumer may be on
/// another one.
async fn deliver_some(
    stream: &jetstream::stream::Stream<()>,
    after: &mut u64,
    silence: &mut Duration,
    to: &mpsc::Sender<Delivered>,
    arrivals: &Notify,
) {
    let Some(mut messages) = consume(stream, *after).await else {
        return;
    };

    let mut delivered = 0;
    loop {
        let Ok(next) = timeout(*silence, messages.next()).await else {
            if stream
                .get_info()
                .await
                .is_ok_and(|info| info.state.last_sequence > *after)
            {
                *silence = LONGEST_SILENCE.min(2 * *silence);
                return;
            }
            continue;
        };
        let Some(Ok(message)) = next else { return };
        let Ok(info) = message.info() else { return };

        let sequence = info.stream_sequence;
        let position = info.consumer_sequence;
        // Messages are delivered once, without acknowledgement: one may have been lost with its
        // connection.
        if position != delivered + 1 || to.send((sequence, message.message)).await.is_err() {
            return;
        }

        delivered = position;
        *after = sequence;
        *silence = FIRST_SILENCE;
        arrivals.notify_one();
    }
}

/// Creates a consumer of the messages after the one at `after`, and begins to read them. Returns
/// `None` if the stream does not answer.
async fn consume(stream: &jetstream::stream::Stream<()>, after: u64) -> Option<pull::Stream> {
    let config = pull::Config {
        deliver_policy: DeliverPolicy::ByStartSequence {
            start_sequence: after + 1,
        },
        // A lost consumer costs nothing: the next one begins after the last message.
        ack_policy: AckPolicy::None,
        inactive_threshold: EXPIRY,
        memory_storage: true,
        num_replicas: 1,
        ..pull::Config::default()
    };
    let consumer = stream.create_consumer(config).await.ok()?;
    consumer
        .stream()
        .max_messages_per_batch(BATCH)
        .max_bytes_per_batch(BATCH_BYTES)
        .expires(EXPIRY)
        .heartbeat(HEARTBEAT)
        .messages()
        .await
        .ok()
}

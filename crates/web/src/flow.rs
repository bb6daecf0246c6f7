//! Limits below the protocol of a connection: a peer that stops reading is disconnected, and the
//! bytes of incomplete WebSocket messages are counted.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep},
};

use super::{
    Budget, Capacity, ClientKey, ClientSlot, Faults, Held,
    budget::{PENDING_STREAM, UNCOUNTED},
    execution::Execution,
    shared_stream::{SharedStream, StreamWatch},
    unread_body::UnreadBody,
};

/// Granularity in bytes at which messages are counted while they are read.
const STEP: usize = 16 << 10;
/// Interval of the retries of a message that finds no room.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);
/// Time after which such a message is given up.
const RETRY_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval at which a request that takes long checks whether its peer is still there.
const PEER_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// State shared by a connection and the protocol on it. Requests carry it as an extension.
#[derive(Debug, Default)]
pub struct Flow {
    /// The capacity that the connection shares with all others.
    capacity: Capacity,
    /// The faults that the protocol suffers.
    faults: Faults,
    /// Whether the protocol was switched: WebSockets have write timeouts of their own.
    upgraded: AtomicBool,
    /// Whether messages may be long enough to be counted.
    counted: AtomicBool,
    /// Bytes read since the last complete message.
    unread: AtomicUsize,
    /// The memory held for them.
    held: Mutex<Held>,
    /// Whether there is a rest.
    has_rest: AtomicBool,
    /// The rest of a request's body that was not read before the response. Requests follow each
    /// other.
    rest: Mutex<Option<UnreadBody>>,
    /// The bytes of all streams of HTTP/2 that are too few to be counted for each of them.
    streams: Mutex<StreamTotal>,
    /// The connection's stream.
    stream: OnceLock<StreamWatch>,
    /// When it last took no more bytes.
    blocked: Mutex<Option<Instant>>,
}

/// The bytes of a connection's streams, and the memory held for them.
#[derive(Debug, Default)]
struct StreamTotal {
    /// Bytes of heads, and of what waits to be sent.
    bytes: usize,
    /// The number of streams without a response.
    pending: usize,
    held: Held,
}

impl StreamTotal {
    fn sum(&self) -> usize {
        self.bytes + self.pending * PENDING_STREAM
    }

    /// Releases what is held for streams that have ended.
    fn release(&mut self) {
        let sum = self.sum();
        self.held.shrink_to(if sum > UNCOUNTED { sum } else { 0 });
    }
}

/// Bytes of one stream, which count until this is dropped.
#[derive(Debug)]
pub(super) struct StreamBytes {
    flow: Arc<Flow>,
    bytes: usize,
}

impl Drop for StreamBytes {
    fn drop(&mut self) {
        let mut total = self.flow.streams.lock();
        total.bytes -= self.bytes;
        total.release();
    }
}

/// A stream without a response, which counts until this is dropped.
#[derive(Debug)]
pub(super) struct PendingStream {
    flow: Arc<Flow>,
    /// Its place among those of the client; none for the only one of a connection.
    _slot: Option<ClientSlot>,
}

impl Drop for PendingStream {
    fn drop(&mut self) {
        let mut total = self.flow.streams.lock();
        total.pending -= 1;
        total.release();
    }
}

impl StreamBytes {
    /// Whether the streams of the connection have so little together that it is not counted.
    pub(super) fn is_uncounted(&self) -> bool {
        self.flow.streams.lock().bytes <= UNCOUNTED
    }
}

impl Flow {
    pub(super) fn new(capacity: Capacity, faults: Faults) -> Self {
        Self {
            capacity,
            faults,
            ..Self::default()
        }
    }

    /// The memory of requests and responses in transit.
    pub(super) fn budget(&self) -> &Budget {
        &self.capacity.budget
    }

    /// The threads that execute.
    pub(super) fn execution(&self) -> Option<&Arc<Execution>> {
        self.capacity.execution.as_ref()
    }

    /// Adds bytes of a stream. The streams of a connection have together what one request has
    /// without being counted: there may be a hundred of them. Returns none if there is no room.
    pub(super) fn add_stream_bytes(self: &Arc<Self>, bytes: usize) -> Option<StreamBytes> {
        let mut total = self.streams.lock();
        let sum = total.sum() + bytes;
        if !self.hold_streams(&mut total, sum) {
            return None;
        }

        total.bytes += bytes;
        Some(StreamBytes {
            flow: self.clone(),
            bytes,
        })
    }

    /// Adds a stream of a client that has no response yet. Returns none if there is no room, or if
    /// the client has too many of them; the only one of a connection is not one too many.
    pub(super) fn add_pending_stream(self: &Arc<Self>, client: ClientKey) -> Option<PendingStream> {
        let mut total = self.streams.lock();
        let slot = if total.pending == 0 {
            None
        } else {
            Some(self.budget().take_stream(client)?)
        };

        let sum = total.sum() + PENDING_STREAM;
        if !self.hold_streams(&mut total, sum) {
            return None;
        }

        total.pending += 1;
        Some(PendingStream {
            flow: self.clone(),
            _slot: slot,
        })
    }

    fn hold_streams(&self, total: &mut StreamTotal, sum: usize) -> bool {
        // Only a request may be larger than all memory.
        sum <= self.budget().bytes() && self.budget().try_grow(&mut total.held, sum)
    }

    /// Notes that the connection takes no more bytes now.
    pub(super) fn note_blocked(&self) {
        *self.blocked.lock() = Some(Instant::now());
    }

    /// Whether the connection took no more bytes within this time: all of its streams wait for the
    /// peer then, who has a deadline for that.
    pub(super) fn was_blocked_within(&self, time: Duration) -> bool {
        self.blocked.lock().is_some_and(|at| at.elapsed() <= time)
    }

    /// Waits until the peer has left, which is looked up from time to time: most requests are
    /// answered before.
    pub(super) async fn peer_left(&self) {
        loop {
            sleep(PEER_CHECK_INTERVAL).await;
            if self.stream.get().is_some_and(StreamWatch::has_ended) {
                return;
            }
        }
    }

    /// Puts back what was not read of a request's body.
    pub(super) fn put_rest(&self, rest: UnreadBody) {
        *self.rest.lock() = Some(rest);
        self.has_rest.store(true, Ordering::Release);
    }

    /// Takes what was not read of a request's body.
    pub(super) fn take_rest(&self) -> Option<UnreadBody> {
        // Most requests have none, and a load is cheaper than a swap.
        if !self.has_rest.load(Ordering::Acquire) {
            return None;
        }

        self.has_rest.store(false, Ordering::Relaxed);
        self.rest.lock().take()
    }

    /// The faults that the connection's protocol suffers.
    pub(super) fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Notes that the connection speaks WebSocket from now on.
    pub(super) fn upgrade(&self) {
        self.upgraded.store(true, Ordering::Relaxed);
    }

    /// Starts to count the bytes read. Every message has to be [taken](Self::take).
    pub(super) fn count(&self) {
        self.counted.store(true, Ordering::Relaxed);
    }

    /// Ends a message. Returns the memory that it holds.
    pub(super) fn take(&self) -> Held {
        self.unread.store(0, Ordering::Relaxed);
        std::mem::take(&mut self.held.lock())
    }
}

/// A stream with these limits.
pub(super) struct Watched {
    stream: SharedStream,
    flow: Arc<Flow>,
    /// The time for which the peer may stop reading.
    write_timeout: Duration,
    /// The deadline of a blocked write.
    stalled: Option<Pin<Box<Sleep>>>,
    /// The next retry of a read that waits for room, and since when it waits.
    waiting: Option<(Pin<Box<Sleep>>, Instant)>,
}

impl Watched {
    /// Watches the stream of this connection.
    pub(super) fn new(stream: SharedStream, flow: Arc<Flow>, write_timeout: Duration) -> Self {
        // A connection has one stream.
        let _ = flow.stream.set(stream.watch());
        Self {
            stream,
            flow,
            write_timeout,
            stalled: None,
            waiting: None,
        }
    }

    /// Ends the connection if a write has been blocked for too long.
    fn wrote<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        // WebSockets have their own write timeouts.
        if self.flow.upgraded.load(Ordering::Relaxed) {
            return written;
        }

        self.flow.note_blocked();
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(sleep(self.write_timeout)));

        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the peer stopped reading",
        )))
    }

    /// Waits until there is room for more of the message.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let unread = self.flow.unread.load(Ordering::Relaxed);
        if unread < STEP {
            return Poll::Ready(Ok(()));
        }

        loop {
            // Includes the step that is about to be read.
            if self
                .flow
                .budget()
                .for_requests()
                .try_grow(&mut self.flow.held.lock(), unread + STEP)
            {
                self.waiting = None;
                return Poll::Ready(Ok(()));
            }

            let (retry, since) = self
                .waiting
                .get_or_insert_with(|| (Box::pin(sleep(RETRY_INTERVAL)), Instant::now()));
            if since.elapsed() > RETRY_TIMEOUT {
                return Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::OutOfMemory,
                    "no room for the message",
                )));
            }

            ready!(retry.as_mut().poll(context));
            retry.as_mut().reset(Instant::now() + RETRY_INTERVAL);
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.flow.counted.load(Ordering::Relaxed) {
            return Pin::new(&mut self.stream).poll_read(context, out);
        }
        ready!(self.poll_room(context))?;

        let before = out.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, out))?;
        self.flow
            .unread
            .fetch_add(out.filled().len() - before, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(written, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.wrote(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.wrote(shut, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.wrote(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn client(number: u8) -> ClientKey {
        IpAddr::from([127, 0, 0, number]).into()
    }

    #[test]
    fn streams_of_a_connection_count_together() {
        let budget = Budget::new(1 << 20);
        let capacity = Capacity {
            budget: budget.clone(),
            ..Capacity::default()
        };
        let flow = Arc::new(Flow::new(capacity, Faults::default()));

        let first = flow.add_stream_bytes(UNCOUNTED).expect("room");
        assert_eq!(budget.used(), 0, "what one request has is not counted");

        let second = flow.add_stream_bytes(1).expect("room");
        assert_eq!(budget.used(), UNCOUNTED + 1);

        drop(first);
        assert_eq!(budget.used(), 0);
        drop(second);

        let all: Vec<_> = std::iter::from_fn(|| flow.add_stream_bytes(UNCOUNTED)).collect();
        assert_eq!(all.len(), (1 << 20) / UNCOUNTED);
        drop(all);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn streams_without_a_response_count() {
        let budget = Budget::new(1 << 20);
        let capacity = Capacity {
            budget: budget.clone(),
            ..Capacity::default()
        };
        let flow = Arc::new(Flow::new(capacity.clone(), Faults::default()));
        let other = Arc::new(Flow::new(capacity, Faults::default()));
        let [client, another] = [1, 2].map(client);

        let first = flow.add_pending_stream(client).expect("room");
        assert_eq!(budget.used(), 0, "what one request has is not counted");

        let all: Vec<_> = std::iter::from_fn(|| flow.add_pending_stream(client)).collect();
        assert!(budget.used() >= all.len() * PENDING_STREAM);
        let others: Vec<_> = std::iter::from_fn(|| other.add_pending_stream(another)).collect();
        assert!(others.len() >= 2, "{} streams of another", others.len());

        drop((first, all, others));
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn waiting_streams_of_a_client_leave_memory_to_others() {
        const TOTAL: usize = 8 << 20;
        const STREAMS: usize = 128;
        let budget = Budget::new(TOTAL);
        let capacity = Capacity {
            budget: budget.clone(),
            ..Capacity::default()
        };
        let connection = || Arc::new(Flow::new(capacity.clone(), Faults::default()));
        let [greedy, other] = [1, 2].map(client);

        let connections: Vec<_> = (0..20).map(|_| connection()).collect();
        let waiting: Vec<_> = connections
            .iter()
            .flat_map(|flow| std::iter::from_fn(|| flow.add_pending_stream(greedy)).take(STREAMS))
            .collect();
        assert!(budget.used() > TOTAL / 3, "{} used", budget.used());
        assert!(budget.used() < TOTAL * 2 / 3, "{} used", budget.used());

        let flow = connection();
        let streams: Vec<_> = (0..STREAMS)
            .map(|_| flow.add_pending_stream(other))
            .collect();
        assert!(streams.iter().all(Option::is_some));

        drop(waiting);
        let again: Vec<_> = (0..STREAMS)
            .map(|_| flow.add_pending_stream(greedy))
            .collect();
        assert!(again.iter().all(Option::is_some));
    }
}

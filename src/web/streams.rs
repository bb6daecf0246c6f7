//! Timeouts of HTTP/2 streams whose client stops reading a response. The connection may be active otherwise, because each
//! stream has a flow-control window of its own.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::body::{Bytes, HttpBody};
use hyper::{
    body::{Frame, SizeHint},
    rt::Executor,
};
use tokio::time::{Sleep, sleep};

use super::{answer::CountedBody, budget::attached, flow::StreamBytes};

/// Size in bytes of the pieces that a response is split into, and of what a stream holds of it for sending.
pub(super) const PIECE: usize = 16 << 10;

tokio::task_local! {
    /// Pieces of the response that this stream has written, plus one; 0 before there is a response.
    static PIECES: Arc<AtomicU64>;
}

/// Runs streams, each for as long as its client keeps reading.
#[derive(Clone, Copy)]
pub(super) struct Streams {
    pub(super) patience: Duration,
}

impl<F: Future<Output: Send> + Send + 'static> Executor<F> for Streams {
    fn execute(&self, stream: F) {
        let pieces = Arc::<AtomicU64>::default();
        let patience = self.patience;
        let stream = Box::pin(PIECES.scope(pieces.clone(), stream));
        tokio::spawn(WatchedStream { stream, pieces, seen: 0, patience, waiting: None });
    }
}

/// One stream.
struct WatchedStream<F> {
    stream: Pin<Box<F>>,
    pieces: Arc<AtomicU64>,
    seen: u64,
    patience: Duration,
    /// The deadline for the next piece.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<F: Future> Future for WatchedStream<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.stream.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let pieces = self.pieces.load(Ordering::Relaxed);
        if pieces != self.seen {
            self.seen = pieces;
            self.waiting = None;
        }
        if pieces == 0 {
            return Poll::Pending;
        }
        let patience = self.patience;
        // Dropping the stream resets it.
        self.waiting.get_or_insert_with(|| Box::pin(sleep(patience))).as_mut().poll(context)
    }
}

/// A response body that is written piece by piece.
pub(super) struct Pieces {
    body: CountedBody,
    rest: Bytes,
    /// What counts until the last piece is sent.
    counted: Option<StreamBytes>,
    pieces: Option<Arc<AtomicU64>>,
}

impl Pieces {
    /// A body for the stream that this task runs.
    pub(super) fn of(mut body: CountedBody) -> Self {
        let (pieces, counted) = (PIECES.try_with(Arc::clone).ok(), body.take_stream_bytes());
        Self { body, rest: Bytes::new(), counted, pieces }
    }

    /// Returns the bytes of a response that wait for its client's window while it is sent: hyper takes a piece before there is
    /// room for it, while h2 has the one before.
    pub(super) fn waiting_bytes(body: &CountedBody) -> usize {
        body.size_hint().upper().map_or(2 * PIECE, |length| length.min(2 * PIECE as u64) as usize)
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match std::task::ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                end => return Poll::Ready(end),
            }
        }
        if let Some(pieces) = &self.pieces {
            pieces.fetch_add(1, Ordering::Relaxed);
        }
        let length = self.rest.len().min(PIECE);
        // A copy, so that a queued piece does not keep the whole response and its share of the budget.
        let piece = Bytes::copy_from_slice(&self.rest[..length]);
        self.rest = if length == self.rest.len() { Bytes::new() } else { self.rest.slice(length..) };
        let piece = match if self.is_end_stream() { self.counted.take() } else { None } {
            Some(counted) => attached(piece, counted),
            None => piece,
        };
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let of_body = self.body.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(of_body.lower() + rest);
        if let Some(upper) = of_body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

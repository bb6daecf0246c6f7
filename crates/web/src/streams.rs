//! Timeouts of HTTP/2 streams whose client stops reading a response. The connection may be active
//! otherwise, because each stream has a flow-control window of its own.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::body::{Bytes, HttpBody};
use futures_util::task::AtomicWaker;
use hyper::{
    body::{Frame, SizeHint},
    rt::Executor,
};
use tokio::time::{Sleep, sleep};

use super::{Flow, answer::CountedBody, budget::attached, flow::StreamBytes};

/// Most bytes of a response that counts together with the head of its request.
pub(super) const SHORT_RESPONSE: usize = 1 << 10;
/// Size in bytes of the pieces that a response is split into, and of what a stream holds of it for
/// sending.
pub(super) const PIECE_SIZE: usize = 16 << 10;

tokio::task_local! {
    /// The number of times that a piece of this stream's response was given away or sent.
    static PROGRESS: Arc<AtomicU64>;
}

/// Runs streams, each for as long as its client keeps reading.
#[derive(Clone)]
pub(super) struct Streams {
    pub(super) write_timeout: Duration,
    pub(super) flow: Arc<Flow>,
}

impl<F: Future<Output: Send> + Send + 'static> Executor<F> for Streams {
    fn execute(&self, stream: F) {
        let progress = Arc::<AtomicU64>::default();
        let stream = Box::pin(PROGRESS.scope(progress.clone(), stream));
        tokio::spawn(WatchedStream {
            stream,
            progress,
            seen: 0,
            write_timeout: self.write_timeout,
            flow: self.flow.clone(),
            waiting: None,
        });
    }
}

/// One stream.
struct WatchedStream<F> {
    stream: Pin<Box<F>>,
    progress: Arc<AtomicU64>,
    seen: u64,
    write_timeout: Duration,
    flow: Arc<Flow>,
    /// The deadline for the next piece.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<F: Future> Future for WatchedStream<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.stream.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }

        let progress = self.progress.load(Ordering::Relaxed);
        if progress != self.seen {
            self.seen = progress;
            self.waiting = None;
        }

        // There is no response yet.
        if progress == 0 {
            return Poll::Pending;
        }

        let write_timeout = self.write_timeout;
        loop {
            ready!(
                self.waiting
                    .get_or_insert_with(|| Box::pin(sleep(write_timeout)))
                    .as_mut()
                    .poll(context)
            );

            // On a slow connection, a stream waits for all others.
            if !self.flow.was_blocked_within(write_timeout) {
                // Dropping the stream resets it.
                return Poll::Ready(());
            }
            self.waiting = None;
        }
    }
}

/// A response body that is written piece by piece. It ends once its pieces are sent, since the
/// deadline of its client is that of the stream, which ends with the body. A short one ends at
/// once, unless the connection has many of them.
pub(super) struct Pieces {
    body: CountedBody,
    rest: Bytes,
    /// The bytes that count of the body.
    counted: Option<StreamBytes>,
    ends_at_once: bool,
    unsent: Arc<Unsent>,
    /// The end after the last piece.
    end: Option<BodyEnd>,
}

/// The end of a body, after its data: trailers, an error, or nothing.
type BodyEnd = Option<Result<Frame<Bytes>, axum::Error>>;

/// The number of pieces that are not sent yet, and the waker of the task that waits for them.
struct Unsent {
    count: AtomicUsize,
    waker: AtomicWaker,
    progress: Option<Arc<AtomicU64>>,
}

/// A piece that is not sent yet.
struct UnsentPiece(Arc<Unsent>);

impl UnsentPiece {
    fn new(unsent: &Arc<Unsent>) -> Self {
        unsent.count.fetch_add(1, Ordering::AcqRel);
        Self(unsent.clone())
    }
}

impl Drop for UnsentPiece {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::AcqRel);
        self.0.note_progress();
        self.0.waker.wake();
    }
}

impl Unsent {
    fn note_progress(&self) {
        if let Some(progress) = &self.progress {
            progress.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn poll_none(&self, context: &mut Context<'_>) -> Poll<()> {
        // Registered first, so that no piece is sent unnoticed.
        self.waker.register(context.waker());
        if self.count.load(Ordering::Acquire) == 0 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl Pieces {
    /// A body for the stream that this task runs.
    pub(super) fn of(mut body: CountedBody) -> Self {
        let counted = body.take_stream_bytes();
        let is_short = body
            .size_hint()
            .upper()
            .is_some_and(|length| length <= SHORT_RESPONSE as u64);
        let ends_at_once = is_short && counted.as_ref().is_none_or(StreamBytes::is_uncounted);

        let progress = PROGRESS.try_with(Arc::clone).ok();
        let unsent = Arc::new(Unsent {
            count: AtomicUsize::new(0),
            waker: AtomicWaker::new(),
            progress,
        });
        Self {
            body,
            rest: Bytes::new(),
            counted,
            ends_at_once,
            unsent,
            end: None,
        }
    }

    /// Returns the bytes of a response that wait for its client's window while it is sent: hyper
    /// takes a piece before there is room for it, while h2 has the one before.
    pub(super) fn waiting_bytes(body: &CountedBody) -> usize {
        body.size_hint().upper().map_or(2 * PIECE_SIZE, |length| {
            length.min(2 * PIECE_SIZE as u64) as usize
        })
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() && self.end.is_none() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(frame) => self.end = Some(Some(Ok(frame))),
                },
                end => self.end = Some(end),
            }
        }

        if self.end.is_some() {
            if !self.ends_at_once {
                ready!(self.unsent.poll_none(context));
            }
            return Poll::Ready(self.end.take().flatten());
        }

        self.unsent.note_progress();
        let length = self.rest.len().min(PIECE_SIZE);
        // A copy, so that a queued piece does not keep the whole response and its share of the
        // budget.
        let piece = Bytes::copy_from_slice(&self.rest[..length]);
        self.rest = if length == self.rest.len() {
            Bytes::new()
        } else {
            self.rest.slice(length..)
        };

        // A body that ends at once has one piece.
        let counted = if self.ends_at_once {
            self.counted.take()
        } else {
            None
        };

        let piece = match counted {
            Some(counted) => attached(piece, counted),
            None => attached(piece, UnsentPiece::new(&self.unsent)),
        };

        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.ends_at_once && self.rest.is_empty() && self.end.is_none() && self.body.is_end_stream()
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

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, poll_fn},
        pin::pin,
    };

    use axum::{body::Body, http::HeaderMap};
    use futures_util::FutureExt;
    use http_body_util::{BodyExt, Full};
    use tokio::time::timeout;

    use super::*;

    async fn next(pieces: &mut Pieces) -> BodyEnd {
        poll_fn(|context| Pin::new(&mut *pieces).poll_frame(context)).await
    }

    #[tokio::test]
    async fn a_body_that_is_not_short_ends_once_its_pieces_are_sent() {
        for has_trailers in [false, true] {
            let trailers = async move { has_trailers.then(|| Ok(HeaderMap::new())) };
            let body =
                Body::new(Full::new(Bytes::from(vec![1; PIECE_SIZE + 1])).with_trailers(trailers));
            let mut pieces = Pieces::of(CountedBody::from_counted(body));

            let sent: Vec<_> = [next(&mut pieces).await, next(&mut pieces).await].into();
            assert!(!pieces.is_end_stream());
            assert!(
                next(&mut pieces).now_or_never().is_none(),
                "two pieces are not sent"
            );

            // The waker of the waiting task is called.
            let (end, ()) = tokio::join!(next(&mut pieces), async { drop(sent) });
            assert_eq!(end.is_some(), has_trailers);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_is_reset_once_its_client_and_not_its_connection_is_slow() {
        const SEND_TIMEOUT: Duration = Duration::from_secs(10);
        let flow = Arc::<Flow>::default();
        let (alive, reset) = tokio::sync::oneshot::channel::<()>();
        Streams {
            write_timeout: SEND_TIMEOUT,
            flow: flow.clone(),
        }
        .execute(async move {
            let _alive = alive;
            PROGRESS.with(|progress| progress.fetch_add(1, Ordering::Relaxed));
            pending::<()>().await;
        });

        let mut reset = pin!(reset);
        for _ in 0..10 {
            assert!(
                timeout(SEND_TIMEOUT * 2 / 3, &mut reset).await.is_err(),
                "it waits for its connection"
            );
            flow.note_blocked();
        }

        assert!(
            timeout(SEND_TIMEOUT * 3, reset).await.is_ok(),
            "its connection waits for nothing"
        );
    }

    #[tokio::test]
    async fn a_short_body_ends_with_its_piece() {
        let mut pieces = Pieces::of(CountedBody::from_counted(Body::from("short")));
        let _unsent = next(&mut pieces).await;
        assert!(pieces.is_end_stream());
    }
}

//! Bodies of responses, all of which count against the budget.
//!
//! [`AnswerWriter`] asks the budget as a body grows. Whatever was not written with it is counted as
//! a whole when it reaches the connection, and refused if there is no room: [`CountedBody`] is the
//! only body that connections send, and can be made here only.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::{
    body::{Body, Bytes, HttpBody, to_bytes},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use hyper::body::{Frame, SizeHint};
use serde::Serialize;

use super::{
    AnswerError, Budget, Held, RestError, budget::UNCOUNTED, flow::StreamBytes, is_abandoned,
    request::current_budget,
};

/// Most bytes of a body that is written as a whole.
pub const MAX_ANSWER: usize = 32 << 20;

/// Initial capacity of a buffer, which is enough for most responses.
const INITIAL_CAPACITY: usize = 256;

/// Size up to which a buffer grows by doubling. Longer ones grow by half, so that little memory is
/// granted in vain.
const DOUBLING: usize = 1 << 20;

/// Size up to which a body that is appended to another is copied.
const SHORT: usize = 16 << 10;

/// A body under construction, which asks for room before it grows, and stops where there is none.
#[derive(Debug)]
pub struct AnswerWriter {
    limit: usize,
    budget: Budget,
    held: Held,
    bytes: Vec<u8>,
}

impl AnswerWriter {
    /// An empty body of at most `limit` bytes, for the request that the current task or thread
    /// answers.
    pub fn new(limit: usize) -> Self {
        Self::within(current_budget(), limit)
    }

    /// An empty body of at most `limit` bytes, which counts against `budget`.
    pub fn within(budget: Budget, limit: usize) -> Self {
        Self {
            limit,
            budget,
            held: Held::default(),
            bytes: Vec::with_capacity(INITIAL_CAPACITY),
        }
    }

    /// The number of bytes written so far.
    #[inline]
    pub fn length(&self) -> usize {
        self.bytes.len()
    }

    /// Sets the most bytes that the body may have, and returns what that was before.
    pub fn limit_to(&mut self, bytes: usize) -> usize {
        std::mem::replace(&mut self.limit, bytes)
    }

    /// The bytes written so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same, to change them in place.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Grows the buffer for more bytes.
    pub fn reserve(&mut self, more: usize) -> Result<(), AnswerError> {
        if self.fits(more) {
            Ok(())
        } else {
            self.grow(self.bytes.len() + more)
        }
    }

    /// Whether more bytes fit without growing.
    #[inline(always)]
    fn fits(&self, more: usize) -> bool {
        more <= self
            .bytes
            .capacity()
            .min(self.limit)
            .saturating_sub(self.bytes.len())
    }

    /// Appends bytes.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), AnswerError> {
        if !self.push_fitting(bytes) {
            self.grow(self.bytes.len() + bytes.len())?;
            self.bytes.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Appends bytes if they fit without growing.
    #[inline(always)]
    pub fn push_fitting(&mut self, bytes: &[u8]) -> bool {
        let fits = self.fits(bytes.len());
        if fits {
            self.bytes.extend_from_slice(bytes);
        }
        fits
    }

    /// Appends `length` bytes that `fill` sets.
    pub fn push_with(
        &mut self,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), AnswerError> {
        self.reserve(length)?;
        let start = self.bytes.len();
        self.bytes.resize(start + length, 0);
        fill(&mut self.bytes[start..]);
        Ok(())
    }

    /// Appends what has to be sent even if there is no room, and is short.
    pub fn push_anyway(&mut self, bytes: &[u8]) {
        if self.push(bytes).is_err() {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Appends a body with the memory that it holds. Its writer had a limit of its own.
    pub fn append(&mut self, answer: Answer) -> Result<(), AnswerError> {
        let limit = self.limit_to(usize::MAX);
        let appended = self.append_within_budget(answer);
        self.limit = limit;
        appended
    }

    /// A body that is longer than what was written keeps its buffer, and what was written is
    /// inserted before it.
    fn append_within_budget(&mut self, answer: Answer) -> Result<(), AnswerError> {
        let Answer { bytes, held } = answer;
        if bytes.len() <= self.bytes.len().max(SHORT) {
            return self.push(&bytes);
        }

        if !self.budget.merge(&mut self.held, held) {
            return Err(AnswerError::NoRoom);
        }

        let before = std::mem::replace(&mut self.bytes, bytes);
        // The last byte of a response follows.
        if let Err(error) = self.reserve(before.len() + 1) {
            self.bytes = before;
            return Err(error);
        }
        self.bytes.splice(0..0, before);
        Ok(())
    }

    /// Grows the buffer, and the memory that it holds.
    #[cold]
    fn grow(&mut self, needed: usize) -> Result<(), AnswerError> {
        if needed > self.limit {
            return Err(AnswerError::TooLong(self.limit));
        }
        // Every writer comes here as it grows, so work for a client that is gone ends here.
        if is_abandoned() {
            return Err(AnswerError::Abandoned);
        }

        let capacity = self.bytes.capacity();
        let ahead = if capacity < DOUBLING {
            capacity
        } else {
            capacity / 2
        };
        let wanted = needed.max((capacity + ahead).min(self.limit));

        // There may be room for what is needed, if not for more.
        let granted = [wanted, needed]
            .into_iter()
            .find(|bytes| self.budget.try_grow(&mut self.held, *bytes));

        self.bytes
            .reserve_exact(granted.ok_or(AnswerError::NoRoom)? - self.bytes.len());
        Ok(())
    }

    /// Removes what was written beyond a length.
    pub fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
    }

    /// Appends the JSON of a value. After an error, what was written of it is removed.
    pub fn json(&mut self, value: &impl Serialize) -> Result<(), AnswerError> {
        let before = self.bytes.len();
        serde_json::to_writer(&mut *self, value).map_err(|error| {
            self.bytes.truncate(before);
            error.into()
        })
    }

    /// The body. What lies beyond its end was never written, and takes no memory.
    pub fn finish(mut self) -> Answer {
        self.held.shrink_to(self.bytes.len());
        Answer::new(self.bytes, self.held)
    }
}

impl io::Write for AnswerWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A complete body, with the memory that it holds.
#[derive(Debug, Default)]
pub struct Answer {
    bytes: Vec<u8>,
    held: Held,
}

impl Answer {
    /// A body that an interface counted while it wrote it. If `held` is not all of its memory, the
    /// connection counts it.
    pub fn new(bytes: Vec<u8>, held: Held) -> Self {
        Self { bytes, held }
    }

    /// A body that is in memory already. Fails if there is no room for it.
    pub fn counted(bytes: Vec<u8>, budget: &Budget) -> Result<Self, AnswerError> {
        let mut held = Held::default();
        if budget.try_grow(&mut held, bytes.capacity()) {
            Ok(Self { bytes, held })
        } else {
            Err(AnswerError::NoRoom)
        }
    }

    /// The JSON of a value, for the request that the current task or thread answers.
    pub fn json(value: &impl Serialize) -> Result<Self, AnswerError> {
        let mut writer = AnswerWriter::new(MAX_ANSWER);
        writer.json(value)?;
        Ok(writer.finish())
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, with the memory that they hold.
    pub fn into_parts(self) -> (Vec<u8>, Held) {
        (self.bytes, self.held)
    }

    /// The response of JSON with this body.
    pub fn into_json(self) -> Response {
        let mut response = self.into_response();
        response.headers_mut().insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        response
    }

    /// The response of JSON with this body, which caches must revalidate before each use.
    pub fn into_no_cache_json(self) -> Response {
        self.into_json_with("no-cache")
    }

    /// The response of JSON with this body, which no cache may store.
    pub fn into_no_store_json(self) -> Response {
        self.into_json_with("no-store")
    }

    fn into_json_with(self, caching: &'static str) -> Response {
        let mut response = self.into_json();
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
        response
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        // Bytes that its memory does not cover are counted at the connection.
        let is_covered = self.held.covers(self.bytes.len());
        // Held until the client has read the bytes.
        let mut response = Response::new(Body::from(self.held.attach(self.bytes)));
        if is_covered {
            mark(&mut response);
        }
        response
    }
}

/// The response with a body that many responses share, and that takes no memory for one of them.
pub fn shared(body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    mark(&mut response);
    response
}

/// The memory of a response's body is counted already, or takes none.
#[derive(Clone, Copy)]
struct Counted;

/// Marks the body of a response as counted. Short ones need no mark.
fn mark(response: &mut Response) {
    if response.body().size_hint().lower() > UNCOUNTED as u64 {
        response.extensions_mut().insert(Counted);
    }
}

/// The body of a response that counts against the budget.
pub(super) struct CountedBody {
    body: Body,
    /// The budget of a body whose pieces are counted one by one.
    by_piece: Option<Budget>,
    /// The bytes that count with the other streams of its connection, with HTTP/2.
    stream: Option<StreamBytes>,
}

impl CountedBody {
    /// Counts the body of a response, and refuses it if there is no room.
    pub(super) async fn count(mut response: Response, budget: &Budget) -> Response<Self> {
        let is_short = response
            .body()
            .size_hint()
            .exact()
            .is_some_and(|length| length <= UNCOUNTED as u64);
        if is_short || response.extensions_mut().remove::<Counted>().is_some() {
            return response.map(Self::from_counted);
        }

        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            return response.map(Self::from_counted);
        }
        // Boxed, so that it does not enlarge the future of every request.
        Box::pin(Self::count_long(response, budget)).await
    }

    async fn count_long(response: Response, budget: &Budget) -> Response<Self> {
        let (head, body) = response.into_parts();
        let Some(length) = body.size_hint().exact() else {
            return Response::from_parts(
                head,
                Self {
                    body,
                    by_piece: Some(budget.clone()),
                    stream: None,
                },
            );
        };

        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let mut held = Held::default();
        if !budget.grow(&mut held, length).await {
            return RestError::NoRoom.into_response().map(Self::from_counted);
        }

        // The body is in memory as a whole: nothing waits here, and nothing fails.
        let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
        Response::from_parts(head, Self::from_counted(held.attach_to(bytes).into()))
    }

    /// A body that is short, shared, or holds its memory.
    pub(super) fn from_counted(body: Body) -> Self {
        Self {
            body,
            by_piece: None,
            stream: None,
        }
    }

    /// The same body, of which these bytes count.
    pub(super) fn with_stream_bytes(self, bytes: StreamBytes) -> Self {
        Self {
            stream: Some(bytes),
            ..self
        }
    }

    /// Hands over what counts of it.
    pub(super) fn take_stream_bytes(&mut self) -> Option<StreamBytes> {
        self.stream.take()
    }
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let Some(budget) = &self.by_piece else {
            return Poll::Ready(frame);
        };
        Poll::Ready(frame.map(|frame| counted_frame(frame?, budget)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Counts the data of a frame until the client has read it.
fn counted_frame(frame: Frame<Bytes>, budget: &Budget) -> Result<Frame<Bytes>, axum::Error> {
    let data = match frame.into_data() {
        Ok(data) => data,
        Err(trailers) => return Ok(trailers),
    };

    let mut held = Held::default();
    if !budget.try_grow(&mut held, data.len()) {
        return Err(axum::Error::new(AnswerError::NoRoom));
    }
    Ok(Frame::data(held.attach_to(data)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_holds_the_memory_that_its_buffer_takes() {
        let budget = Budget::new(8 << 20);
        let mut writer = AnswerWriter::within(budget.clone(), 4 << 20);
        for _ in 0..30 {
            writer.push(&[b'a'; 100_000]).expect("room");
        }

        let capacity = writer.bytes.capacity();
        assert!(budget.used() >= capacity, "{} of {capacity}", budget.used());
        assert!(capacity <= 30 * 100_000 * 3 / 2);

        drop(writer);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_body_ends_at_its_limit_and_where_there_is_no_room() {
        let mut writer = AnswerWriter::within(Budget::new(8 << 20), 100);
        writer.json(&"a".repeat(50)).expect("room");
        assert_eq!(writer.json(&"a".repeat(50)), Err(AnswerError::TooLong(100)));
        assert_eq!(writer.length(), 52, "nothing is left of what did not fit");

        let budget = Budget::new(1 << 20);
        let mut first = AnswerWriter::within(budget.clone(), MAX_ANSWER);
        first.push(&[0; 700 << 10]).expect("room");
        let mut second = AnswerWriter::within(budget.clone(), MAX_ANSWER);
        assert_eq!(second.push(&[0; 700 << 10]), Err(AnswerError::NoRoom));
        drop(first);
        assert_eq!(second.push(&[0; 700 << 10]), Ok(()));
    }

    #[test]
    fn what_was_written_stays_when_nothing_can_be_appended() {
        let budget = Budget::new(1_500_000);
        let mut writer = AnswerWriter::within(budget.clone(), usize::MAX);
        writer.push(&[b'a'; 10_000]).expect("room");

        let long = Answer::counted(vec![b'b'; 500_000], &budget).expect("room");
        // There is room for the long body, but not for both in its buffer.
        let _others = Answer::counted(vec![0; 490_000], &budget).expect("room");

        assert_eq!(writer.append(long), Err(AnswerError::NoRoom));
        assert_eq!(writer.bytes(), [b'a'; 10_000]);
    }

    #[test]
    fn short_bodies_are_written_when_nothing_is_left() {
        let budget = Budget::new(1 << 20);
        let mut all = Held::default();
        assert!(budget.try_grow(&mut all, 1 << 20));

        let mut writer = AnswerWriter::within(budget, MAX_ANSWER);
        for _ in 0..UNCOUNTED {
            writer.push(b"a").expect("room");
        }

        assert_eq!(writer.push(b"a"), Err(AnswerError::NoRoom));
        writer.push_anyway(b"a");
        assert_eq!(writer.length(), UNCOUNTED + 1);
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_that_nobody_counted_are_counted_or_refused() {
        let budget = Budget::new(1 << 20);
        let first =
            CountedBody::count(Response::new(Body::from(vec![0; 700 << 10])), &budget).await;
        assert!(budget.used() >= 700 << 10);
        let second =
            CountedBody::count(Response::new(Body::from(vec![0; 700 << 10])), &budget).await;
        assert_eq!(second.status(), StatusCode::SERVICE_UNAVAILABLE);
        drop(first);
        assert_eq!(budget.used(), 0);

        let file = Bytes::from_static(&[0; 700 << 10]);
        let shared = [(); 3].map(|()| shared(file.clone()));
        for response in shared {
            assert_eq!(
                CountedBody::count(response, &budget).await.status(),
                StatusCode::OK
            );
        }
        assert_eq!(budget.used(), 0);
    }
}

//! Bodies of requests: how they are read within limits of bytes, time and memory.

use std::{
    error::Error,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    body::{Bytes, HttpBody},
    http::{Request, Version, header},
};
use futures_util::FutureExt;
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::time::timeout;

use super::{
    BodyError, Budget, Flow, Held,
    content::{content_length, is_encoded},
    request::current_budget,
    unread_body::UnreadBody,
};

/// The time limit for receiving a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Most values of a JSON document, each of which takes far more memory than its text.
const MAX_JSON_VALUES: usize = 200_000;
/// The memory in bytes that a value is counted with.
const JSON_VALUE: usize = 200;
/// The number of values that are not counted.
const FEW_JSON_VALUES: usize = 1_000;

/// Reads the body of the request that the current task answers, of at most `limit` bytes. Returns
/// it with the memory that it holds. This is the only way to read a body: no permit may be held
/// meanwhile, since the client decides how long it takes.
pub async fn receive<B>(request: Request<B>, limit: usize) -> Result<(Bytes, Held), BodyError>
where
    B: HttpBody<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin,
{
    if is_encoded(request.headers()) {
        return Err(BodyError::Encoded);
    }
    let announced = content_length(request.headers()).unwrap_or_default();
    if announced > limit as u64 {
        return Err(BodyError::TooLarge(limit));
    }

    let budget = current_budget().for_requests();
    let mut reading = std::pin::pin!(read_body(
        request.into_body(),
        announced as usize,
        limit,
        &budget
    ));
    // Most bodies arrive with the head; only the others need a timer.
    match reading.as_mut().now_or_never() {
        Some(body) => body,
        None => timeout(BODY_TIMEOUT, reading)
            .await
            .map_err(|_| BodyError::TooSlow)?,
    }
}

/// Reads a body as [`receive`] does, which is a JSON document that is parsed as a whole. Its values
/// count as well.
pub async fn receive_json<B>(request: Request<B>, limit: usize) -> Result<(Bytes, Held), BodyError>
where
    B: HttpBody<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin,
{
    let budget = current_budget().for_requests();
    let (body, mut held) = receive(request, limit).await?;
    count_values(&body, &mut held, &budget).await?;
    Ok((body, held))
}

/// Refuses JSON that would become too many values.
pub fn check_json(json: &[u8]) -> Result<(), BodyError> {
    // Each value takes a byte of structure.
    if json.len() > MAX_JSON_VALUES && json_values(json) > MAX_JSON_VALUES {
        return Err(BodyError::TooManyValues(MAX_JSON_VALUES));
    }
    Ok(())
}

/// Counts the memory of the values that a JSON document becomes.
async fn count_values(json: &[u8], held: &mut Held, budget: &Budget) -> Result<(), BodyError> {
    // Texts may have many of these characters, and are passed over only if that makes a difference.
    if json.iter().filter(is_structure).count() <= FEW_JSON_VALUES {
        return Ok(());
    }

    check_json(json)?;
    let values = json_values(json);

    let room =
        values <= FEW_JSON_VALUES || budget.grow(held, json.len() + values * JSON_VALUE).await;
    if room { Ok(()) } else { Err(BodyError::NoRoom) }
}

/// The most memory in bytes that the values of a JSON document take in addition to its text, with
/// those of documents in its texts; 0 if they are few.
pub fn json_memory(json: &[u8]) -> usize {
    let values = json.iter().filter(is_structure).count();
    if values > FEW_JSON_VALUES {
        values * JSON_VALUE
    } else {
        0
    }
}

fn is_structure(byte: &&u8) -> bool {
    matches!(byte, b'{' | b'[' | b',' | b':')
}

/// The number of members, items, objects and arrays of a JSON document.
fn json_values(json: &[u8]) -> usize {
    let mut values = 0;
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                // An escaped character does not end the text.
                while let Some(byte) = bytes.next()
                    && *byte != b'"'
                {
                    if *byte == b'\\' {
                        bytes.next();
                    }
                }
            }
            byte if is_structure(&byte) => values += 1,
            _ => {}
        }
    }
    values
}

/// Reads a body of at most `limit` bytes, of which its sender has `announced` so many, and counts
/// the memory that it takes as it arrives. Only the sender limits how long that takes.
pub async fn read_body<B>(
    mut body: B,
    announced: usize,
    limit: usize,
    budget: &Budget,
) -> Result<(Bytes, Held), BodyError>
where
    B: HttpBody<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    let mut first = Bytes::new();
    let mut joined = Vec::new();
    let mut held = Held::default();
    while let Some(frame) = body.frame().await {
        // Frames without data are trailers.
        let Ok(piece) = frame
            .map_err(|error| BodyError::Failed(error.into()))?
            .into_data()
        else {
            continue;
        };

        let length = first.len() + joined.len() + piece.len();
        if length > limit {
            return Err(BodyError::TooLarge(limit));
        }

        // Most bodies are one frame.
        if length == piece.len() {
            if !budget.grow(&mut held, length).await {
                return Err(BodyError::NoRoom);
            }
            first = piece;
            continue;
        }

        // The buffer doubles, but not beyond what the client announced.
        if length > joined.capacity() {
            let doubled = (2 * length).min(announced.max(length));
            // Not beyond the limit either, unless the client announced nothing.
            let capacity = doubled.min(limit);
            if !budget.reserve(&mut held, capacity).await {
                return Err(BodyError::NoRoom);
            }
            joined.reserve_exact(capacity - joined.len());
        }

        joined.extend_from_slice(&std::mem::take(&mut first));
        joined.extend_from_slice(&piece);
    }

    let body = if joined.is_empty() {
        first
    } else {
        joined.into()
    };
    Ok((body, held))
}

/// The body of a request as the connection hands it out. The part that was not read returns to the
/// connection.
#[derive(Debug)]
pub struct IncomingBody {
    /// The body; none once it has ended.
    body: Option<Incoming>,
    /// The connection; none if it needs no rest, since HTTP/2 ends each stream on its own.
    flow: Option<Arc<Flow>>,
    /// Whether any of it was asked for.
    polled: bool,
}

impl IncomingBody {
    pub(super) fn of(request: Request<Incoming>, flow: &Arc<Flow>) -> Request<Self> {
        let is_sequential = request.version() < Version::HTTP_2;
        // A client that waits for "100 Continue" sends nothing before it is asked to.
        let expects = request.headers().contains_key(header::EXPECT);
        let flow = is_sequential.then(|| flow.clone());
        request.map(|body| Self {
            body: Some(body),
            flow,
            polled: !expects,
        })
    }
}

impl HttpBody for IncomingBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        self.polled = true;
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };

        let frame = ready!(Pin::new(body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) {
            self.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(|| SizeHint::with_exact(0), Incoming::size_hint)
    }
}

impl Drop for IncomingBody {
    fn drop(&mut self) {
        if let (Some(body), Some(flow)) = (self.body.take(), &self.flow)
            && !body.is_end_stream()
        {
            flow.put_rest(UnreadBody {
                body,
                may_read: self.polled,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures_util::stream;

    use super::*;

    fn in_pieces(length: usize, piece: usize) -> Body {
        let pieces =
            (0..length.div_ceil(piece)).map(move |at| vec![b' '; piece.min(length - at * piece)]);
        Body::from_stream(stream::iter(pieces.map(Ok::<_, std::io::Error>)))
    }

    async fn held(length: usize, announced: usize) -> usize {
        let budget = Budget::new(64 << 20);
        let (body, held) = read_body(in_pieces(length, 30_000), announced, 8 << 20, &budget)
            .await
            .expect("room");
        assert_eq!(body.len(), length);

        let used = budget.used();
        drop(held);
        assert_eq!(budget.used(), 0);
        used
    }

    #[tokio::test]
    async fn a_body_holds_the_memory_of_its_whole_buffer() {
        assert_eq!(
            held(5_000_000, 5_000_000).await,
            5_000_000,
            "the buffer is as long as announced"
        );

        let unannounced = held(5_000_000, 0).await;
        assert!(
            (5_000_000..=8 << 20).contains(&unannounced),
            "{unannounced}"
        );
        assert_eq!(
            held(10_000, 10_000).await,
            0,
            "short bodies are not counted"
        );
    }

    /// The memory that is held for the values of a document, in bytes.
    async fn memory_of_values(json: &str, budget: &Budget) -> Result<usize, String> {
        let mut held = Held::default();
        let counted = count_values(json.as_bytes(), &mut held, budget)
            .await
            .map_err(|error| error.to_string());
        counted.map(|()| budget.used())
    }

    #[tokio::test]
    async fn values_of_json_hold_more_than_their_text() {
        let budget = Budget::new(64 << 20);
        let list = |items: usize| format!("[{}0]", r#"{"":0},"#.repeat(items));

        assert_eq!(memory_of_values(&list(100), &budget).await, Ok(0));
        let memory = memory_of_values(&list(10_000), &budget).await;
        assert!(memory.expect("room") >= 30_000 * JSON_VALUE);

        assert_eq!(
            memory_of_values(&list(700_000), &budget).await,
            Err("the JSON may have at most 200000 values".to_owned())
        );

        // A text is one value, whatever it consists of.
        let text = format!(r#"["{}"]"#, r#"{,\\\",:["#.repeat(100_000));
        assert_eq!(memory_of_values(&text, &budget).await, Ok(0));
    }

    #[tokio::test]
    async fn an_announced_body_holds_little_before_it_arrives() {
        let budget = Budget::new(64 << 20);
        let begun = in_pieces(60_000, 30_000).into_data_stream();
        let stalled = stream::StreamExt::chain(begun, stream::pending());
        let mut reading = Box::pin(read_body(
            Body::from_stream(stalled),
            5_000_000,
            8 << 20,
            &budget,
        ));

        assert!(reading.as_mut().now_or_never().is_none());
        assert!(
            (60_000..=120_000).contains(&budget.used()),
            "{}",
            budget.used()
        );
    }
}

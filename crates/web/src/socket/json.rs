//! JSON documents on a local socket, one after another, as messages: what clients of Ethereum nodes
//! call IPC.
//!
//! A document that begins with `{` or `[` ends with the bracket that closes it, as in geth; anything
//! else ends with its line. Each document to the client is a line. The connection is served like a
//! WebSocket, by the same task within the same limits. Pings have no counterpart here: whether a
//! local client is still there, the system knows.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::http::{HeaderMap, Uri};
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::{Sink, Stream, future::BoxFuture};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::{
    self, Message, Utf8Bytes,
    error::CapacityError,
    protocol::frame::coding::{Data, OpCode},
};
use tokio_util::codec::{Decoder, Encoder, Framed};

use super::{SocketProtocol, WebSockets, task::SocketTask};
use crate::{Peer, RequestContext};

/// Bytes of a document up to which the buffer that it came in is kept.
const KEPT: usize = 64 << 10;

/// A stream whose first bytes begin a JSON document.
pub(crate) trait JsonStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> JsonStream for S {}

/// Serves streams of JSON documents.
pub(crate) trait JsonService: Send + Sync {
    /// Serves a stream until either side ends it.
    fn serve(
        &self,
        stream: Box<dyn JsonStream>,
        context: RequestContext,
        peer: Peer,
    ) -> BoxFuture<'static, ()>;
}

/// Serves each stream with a protocol of its own, which `begin` creates.
pub(crate) struct JsonSockets<F> {
    pub(crate) sockets: WebSockets,
    pub(crate) begin: F,
}

impl<P: SocketProtocol, F: Fn() -> P + Send + Sync> JsonService for JsonSockets<F> {
    fn serve(
        &self,
        stream: Box<dyn JsonStream>,
        context: RequestContext,
        peer: Peer,
    ) -> BoxFuture<'static, ()> {
        let sockets = self.sockets.clone();
        let flow = context.flow.clone();
        // The writes of the task have timeouts of their own, and what is read is counted.
        flow.upgrade();
        flow.count();

        let target = sockets.0.fault_scope.map(|scope| {
            flow.faults()
                .target(scope, peer, &HeaderMap::new(), &Uri::default())
        });
        let documents = SocketDocuments::new(stream, sockets.limits().max_message);
        let open = sockets.0.open.hold();
        let task = SocketTask::new(documents, (self.begin)(), flow, sockets)
            .with_fault_target(target)
            .with_answers_after_end();

        Box::pin(async move {
            let _open = open;
            context.scope(task.run()).await;
        })
    }
}

/// A stream of documents in the form of a WebSocket's messages.
struct SocketDocuments<S> {
    framed: Framed<S, DocumentCodec>,
    /// Answers to the pings of the task.
    pongs: VecDeque<Bytes>,
    /// Whether the task has closed the connection.
    is_closed: bool,
}

impl<S: AsyncRead + AsyncWrite> SocketDocuments<S> {
    fn new(stream: S, max_document: usize) -> Self {
        Self {
            framed: Framed::new(stream, DocumentCodec::new(max_document)),
            pongs: VecDeque::new(),
            is_closed: false,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for SocketDocuments<S> {
    type Item = Result<Message, tungstenite::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_closed {
            return Poll::Ready(None);
        }
        // A document that is not finished has to end within the time of a silent client.
        let is_between = self.framed.codec().seen == 0;
        if is_between && let Some(ping) = self.pongs.pop_front() {
            return Poll::Ready(Some(Ok(Message::Pong(ping))));
        }

        let document = ready!(Pin::new(&mut self.framed).poll_next(context));
        Poll::Ready(document.map(|document| document.map(Message::Text)))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Sink<Message> for SocketDocuments<S> {
    type Error = tungstenite::Error;

    fn poll_ready(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Self::Error>> {
        Sink::<DocumentPart>::poll_ready(Pin::new(&mut self.framed), context)
    }

    fn start_send(mut self: Pin<&mut Self>, message: Message) -> Result<(), Self::Error> {
        let part = match message {
            Message::Text(text) => DocumentPart {
                bytes: text.into(),
                is_last: true,
            },
            // A long text comes in frames.
            Message::Frame(frame)
                if matches!(
                    frame.header().opcode,
                    OpCode::Data(Data::Text | Data::Continue)
                ) =>
            {
                DocumentPart {
                    is_last: frame.header().is_final,
                    bytes: frame.into_payload(),
                }
            }
            Message::Ping(ping) => {
                self.pongs.push_back(ping);
                return Ok(());
            }
            Message::Close(_) => {
                self.is_closed = true;
                return Ok(());
            }
            Message::Binary(_) | Message::Pong(_) | Message::Frame(_) => return Ok(()),
        };
        Pin::new(&mut self.framed).start_send(part)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Self::Error>> {
        Sink::<DocumentPart>::poll_flush(Pin::new(&mut self.framed), context)
    }

    fn poll_close(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Self::Error>> {
        Sink::<DocumentPart>::poll_close(Pin::new(&mut self.framed), context)
    }
}

/// A document to the client, or a part of it.
struct DocumentPart {
    bytes: Bytes,
    is_last: bool,
}

/// Finds the ends of documents.
pub(super) struct DocumentCodec {
    max_document: usize,
    /// The number of bytes that were looked at.
    seen: usize,
    nesting: Nesting,
}

/// The place of a byte in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nesting {
    /// Before the document.
    Outside,
    /// In this number of brackets.
    Brackets(usize),
    /// In a string in this number of brackets.
    Text(usize),
    /// After a backslash in such a string.
    Escape(usize),
    /// In a line that begins without a bracket.
    Line,
}

impl Nesting {
    /// The place after a byte; none after the last byte of a document.
    fn after(self, byte: u8) -> Option<Self> {
        match (self, byte) {
            (Self::Outside, b' ' | b'\t' | b'\r' | b'\n') => Some(Self::Outside),
            (Self::Outside, b'{' | b'[') => Some(Self::Brackets(1)),
            (Self::Outside, _) => Some(Self::Line),
            (Self::Brackets(depth), b'{' | b'[') => Some(Self::Brackets(depth + 1)),
            (Self::Brackets(1), b'}' | b']') | (Self::Line, b'\n') => None,
            (Self::Brackets(depth), b'}' | b']') => Some(Self::Brackets(depth - 1)),
            (Self::Brackets(depth), b'"') => Some(Self::Text(depth)),
            (Self::Text(depth), b'"') => Some(Self::Brackets(depth)),
            (Self::Text(depth), b'\\') => Some(Self::Escape(depth)),
            (Self::Escape(depth), _) => Some(Self::Text(depth)),
            (place, _) => Some(place),
        }
    }
}

impl DocumentCodec {
    pub(super) fn new(max_document: usize) -> Self {
        Self {
            max_document,
            seen: 0,
            nesting: Nesting::Outside,
        }
    }

    fn check_length(&self, size: usize) -> Result<(), tungstenite::Error> {
        if size <= self.max_document {
            return Ok(());
        }
        let max_size = self.max_document;
        Err(CapacityError::MessageTooLong { size, max_size }.into())
    }
}

impl Decoder for DocumentCodec {
    type Item = Utf8Bytes;
    type Error = tungstenite::Error;

    fn decode(&mut self, from: &mut BytesMut) -> Result<Option<Utf8Bytes>, Self::Error> {
        while let Some(byte) = from.get(self.seen) {
            self.seen += 1;
            let Some(nesting) = self.nesting.after(*byte) else {
                self.check_length(self.seen)?;
                let document = from.split_to(self.seen).freeze();
                *self = Self::new(self.max_document);
                if document.len() > KEPT {
                    // The buffer would keep the memory of its longest document.
                    *from = BytesMut::from(&from[..]);
                }
                let text = Utf8Bytes::try_from(document)
                    .map_err(|error| tungstenite::Error::Utf8(error.to_string()))?;
                return Ok(Some(text));
            };

            self.nesting = nesting;
            if nesting == Nesting::Outside {
                // Nothing has begun.
                drop(from.split_to(self.seen));
                self.seen = 0;
            }
        }

        self.check_length(from.len())?;
        Ok(None)
    }

    fn decode_eof(&mut self, from: &mut BytesMut) -> Result<Option<Utf8Bytes>, Self::Error> {
        let found = self.decode(from)?;
        if found.is_none() {
            // A document that its sender has not finished.
            from.clear();
        }
        Ok(found)
    }
}

impl Encoder<DocumentPart> for DocumentCodec {
    type Error = tungstenite::Error;

    fn encode(&mut self, part: DocumentPart, to: &mut BytesMut) -> Result<(), Self::Error> {
        to.reserve(part.bytes.len() + 1);
        to.extend_from_slice(&part.bytes);
        if part.is_last {
            to.put_u8(b'\n');
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, SinkExt, StreamExt};
    use proptest::prelude::*;
    use tokio::io::AsyncWriteExt;

    use super::*;

    /// The documents that are found when the bytes arrive in pieces of this length.
    fn found(bytes: &[u8], piece: usize) -> Vec<String> {
        let mut codec = DocumentCodec::new(1_000);
        let mut buffer = BytesMut::new();
        let mut documents = Vec::new();
        for piece in bytes.chunks(piece) {
            buffer.extend_from_slice(piece);
            while let Some(document) = codec.decode(&mut buffer).expect("valid UTF-8") {
                documents.push(document.to_string());
            }
        }
        documents
    }

    #[test]
    fn a_document_ends_with_its_bracket_and_anything_else_with_its_line() {
        let bytes = br#" {"a":[1,{"b":"}\"]"}]}[1,2]
  [] hello }
{"a":"\\"}"#;
        for piece in 1..bytes.len() {
            assert_eq!(
                found(bytes, piece),
                [
                    r#"{"a":[1,{"b":"}\"]"}]}"#,
                    "[1,2]",
                    "[]",
                    "hello }\n",
                    r#"{"a":"\\"}"#
                ]
            );
        }
    }

    #[test]
    fn a_document_without_an_end_is_too_long_at_some_point() {
        let mut codec = DocumentCodec::new(1_000);
        let mut buffer = BytesMut::from(&[b'['; 1_001][..]);
        let error = codec.decode(&mut buffer).unwrap_err();
        assert!(matches!(error, tungstenite::Error::Capacity(_)), "{error}");
    }

    /// The task takes a client without pongs for silent, and ends its connection.
    #[tokio::test]
    async fn nobody_answers_pings_within_a_document() {
        let (mut client, server) = tokio::io::duplex(64);
        let mut documents = SocketDocuments::new(server, 1_000);
        let ping = Message::Ping(Bytes::from_static(b"?"));

        client.write_all(b"[1").await.unwrap();
        assert!(documents.next().now_or_never().is_none());
        documents.send(ping).await.unwrap();
        assert!(documents.next().now_or_never().is_none());

        client.write_all(b"]").await.unwrap();
        assert_eq!(
            documents.next().await.unwrap().unwrap(),
            Message::Text("[1]".into())
        );
        assert!(matches!(documents.next().await, Some(Ok(Message::Pong(_)))));
    }

    proptest! {
        #[test]
        fn documents_are_found_whatever_is_in_them(
            texts in proptest::collection::vec(any::<String>(), 0..5),
            piece in 1_usize..40,
        ) {
            assert_documents_are_found(&texts, piece)?;
        }
    }

    fn assert_documents_are_found(texts: &[String], piece: usize) -> Result<(), TestCaseError> {
        let documents: Vec<_> = texts
            .iter()
            .map(|text| serde_json::json!([{"text": text}, text]).to_string())
            .collect();
        let bytes = documents.concat();

        let mut codec = DocumentCodec::new(usize::MAX);
        let mut buffer = BytesMut::new();
        let mut all = Vec::new();
        for piece in bytes.as_bytes().chunks(piece) {
            buffer.extend_from_slice(piece);
            while let Some(document) = codec.decode(&mut buffer).unwrap() {
                all.push(document.to_string());
            }
        }
        prop_assert_eq!(all, documents);
        Ok(())
    }
}

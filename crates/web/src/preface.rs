//! Detection of the protocol of plain connections by their first bytes: HTTP/2 with prior knowledge
//! (RFC 9113 section 3.4), JSON without HTTP, or HTTP/1.1.
//!
//! The first read is inspected and passed on, so that HTTP/1.1 costs nothing more than that.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf},
    time::timeout,
};

/// The connection preface of HTTP/2 clients. No HTTP/1.1 request begins like it.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes of the first read. The head of most requests fits in, so that detection costs no
/// additional read.
const FIRST: usize = 1_024;

/// A stream whose first bytes were read ahead.
pub(super) struct Resumed<S> {
    stream: S,
    begun: Vec<u8>,
    given: usize,
}

/// The protocol of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
    /// JSON documents, with which no request of HTTP begins.
    Json,
}

/// Reads until the protocol is known. Returns it, and the stream from its beginning. The client may
/// be silent for the time `silence`, and has the time `limit` from its first byte on.
///
/// # Errors
/// I/O errors, and the end of the stream or of these times before that.
pub(super) async fn look<S: AsyncRead + Unpin>(
    mut stream: S,
    silence: Duration,
    limit: Duration,
) -> io::Result<(Resumed<S>, Protocol)> {
    let mut begun = Vec::with_capacity(FIRST);
    timeout(silence, read_more(&mut stream, &mut begun)).await??;

    let recognizing = async {
        loop {
            if let Some(protocol) = protocol(&begun) {
                return io::Result::Ok(protocol);
            }
            read_more(&mut stream, &mut begun).await?;
        }
    };
    let protocol = timeout(limit, recognizing).await??;
    let resumed = Resumed {
        stream,
        begun,
        given: 0,
    };
    Ok((resumed, protocol))
}

async fn read_more<S: AsyncRead + Unpin>(stream: &mut S, begun: &mut Vec<u8>) -> io::Result<()> {
    if stream.read_buf(begun).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}

/// Returns what begins like this; none if that is not known yet.
fn protocol(begun: &[u8]) -> Option<Protocol> {
    let compared = begun.len().min(PREFACE.len());
    if begun[..compared] == PREFACE[..compared] {
        return (compared == PREFACE.len()).then_some(Protocol::Http2);
    }

    match begun.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{' | b'[') => Some(Protocol::Json),
        // Empty lines may precede a request (RFC 9112 section 2.2), within reason.
        None if begun.len() < FIRST => None,
        _ => Some(Protocol::Http1),
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Resumed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self {
            stream,
            begun,
            given,
        } = &mut *self;
        if begun.is_empty() {
            return Pin::new(stream).poll_read(context, out);
        }

        let rest = &begun[*given..];
        let (now, later) = rest.split_at(rest.len().min(out.remaining()));
        out.put_slice(now);
        *given += now.len();

        // The connection may outlive the buffer's use by hours.
        if later.is_empty() {
            *begun = Vec::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Resumed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt, duplex};

    use super::*;

    /// The result of `look` for a stream that receives these pieces in turn, and the bytes that can
    /// be read afterwards.
    async fn looked(pieces: &[&[u8]]) -> (Protocol, Vec<u8>) {
        // Room for one piece at most, so that each is read for itself.
        let (mut client, server) = duplex(64);
        let sent = pieces.concat();

        let sending = async {
            for piece in pieces {
                client.write_all(piece).await.expect("there is room");
                tokio::task::yield_now().await;
            }
            drop(client);
        };
        let looking = async {
            let looking = look(server, Duration::MAX, Duration::MAX);
            let (mut stream, protocol) = looking.await.expect("something came");
            let mut all = Vec::new();
            stream.read_to_end(&mut all).await.expect("all of it");
            (protocol, all)
        };

        let ((), (protocol, all)) = tokio::join!(sending, looking);
        assert_eq!(all, sent);
        (protocol, all)
    }

    #[tokio::test]
    async fn a_preface_is_told_from_requests_however_it_arrives() {
        let cases: [(&[&[u8]], Protocol); 8] = [
            (&[PREFACE, b"frames"], Protocol::Http2),
            (
                &[b"P", b"RI * HTTP/2.0\r\n", b"\r\nSM\r\n\r\n"],
                Protocol::Http2,
            ),
            (&[b"POST /rpc HTTP/1.1\r\n\r\n"], Protocol::Http1),
            (&[b"P", b"OST / HTTP/1.1\r\n\r\n"], Protocol::Http1),
            (
                &[b"PRI * HTTP/2.0\r\n", b"host: x\r\n\r\n"],
                Protocol::Http1,
            ),
            (&[b"\r\n", b"GET / HTTP/1.1\r\n\r\n"], Protocol::Http1),
            (&[b"\n ", b"{}"], Protocol::Json),
            (&[b"[1]"], Protocol::Json),
        ];
        for (pieces, protocol) in cases {
            assert_eq!(looked(pieces).await.0, protocol, "{pieces:?}");
        }
    }

    #[tokio::test]
    async fn a_stream_that_ends_before_it_says_anything_is_an_error() {
        let (client, server) = duplex(64);
        drop(client);
        let looking = look(server, Duration::MAX, Duration::MAX);
        assert!(looking.await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_has_begun_has_a_limit_of_its_own() {
        let (mut client, server) = duplex(64);
        client.write_all(b"P").await.expect("there is room");
        let looking = look(server, Duration::MAX, Duration::from_secs(1));
        let ended = looking.await.err().expect("no protocol begins like this");
        assert_eq!(ended.kind(), io::ErrorKind::TimedOut);
    }
}

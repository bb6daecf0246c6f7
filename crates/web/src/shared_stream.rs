//! A stream that can be asked whether its peer has left, while a protocol has it. hyper notices
//! that only while it reads, which it does not as long as it has the next request already.

use std::{
    io::{self, IoSlice},
    net::Shutdown,
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll, ready},
};

use futures_util::FutureExt;
use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, Interest, ReadBuf},
    net::TcpStream,
};

/// Vectored writes of up to this number of bytes are copied into one buffer, which costs less than
/// a vectored system call.
const GATHERED: usize = 1 << 10;

/// A stream of TCP or a Unix socket.
#[derive(Debug)]
enum PeerStream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(tokio::net::UnixStream),
}

/// The stream. It is closed when this is dropped.
#[derive(Debug)]
pub(super) struct SharedStream(Arc<PeerStream>);

/// A weak handle of the stream, which does not keep it open.
#[derive(Debug)]
pub(super) struct StreamWatch(Weak<PeerStream>);

/// Evaluates an expression for the stream of either kind.
macro_rules! either {
    ($own:expr, $stream:ident => $value:expr) => {
        match &*$own {
            PeerStream::Tcp($stream) => $value,
            #[cfg(unix)]
            PeerStream::Unix($stream) => $value,
        }
    };
}

impl SharedStream {
    pub(super) fn tcp(stream: TcpStream) -> Self {
        Self(Arc::new(PeerStream::Tcp(stream)))
    }

    #[cfg(unix)]
    pub(super) fn unix(stream: tokio::net::UnixStream) -> Self {
        Self(Arc::new(PeerStream::Unix(stream)))
    }

    pub(super) fn watch(&self) -> StreamWatch {
        StreamWatch(Arc::downgrade(&self.0))
    }
}

impl StreamWatch {
    /// Returns whether the peer sends nothing more, although what it has sent may not be read yet.
    pub(super) fn has_ended(&self) -> bool {
        let Some(own) = self.0.upgrade() else {
            return true;
        };
        either!(own, stream => {
            let ready = stream.ready(Interest::READABLE).now_or_never();
            matches!(ready, Some(Ok(ready)) if ready.is_read_closed())
        })
    }
}

impl AsyncRead for SharedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        either!(self.0, stream => loop {
            ready!(stream.poll_read_ready(context))?;
            let mut read = Err(io::ErrorKind::WouldBlock.into());
            // If room is left after a read, the socket is empty: the next read waits without a
            // system call.
            let _ = stream.try_io(Interest::READABLE, || {
                read = stream.try_read_buf(out);
                let is_all = matches!(read, Ok(count) if count > 0) && out.remaining() > 0;
                if is_all { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
            });
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read.map(drop)),
            }
        })
    }
}

/// Writes once the stream takes bytes.
fn poll_written(
    mut poll: impl FnMut() -> Poll<io::Result<()>>,
    mut write: impl FnMut() -> io::Result<usize>,
) -> Poll<io::Result<usize>> {
    loop {
        ready!(poll())?;
        match write() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            written => return Poll::Ready(written),
        }
    }
}

impl AsyncWrite for SharedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        either!(self.0, stream => poll_written(
            || stream.poll_write_ready(context),
            || stream.try_write(bytes),
        ))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let length = bytes.iter().map(|piece| piece.len()).sum();
        if length <= GATHERED {
            let mut gathered = [0; GATHERED];
            let mut end = 0;
            for piece in bytes {
                gathered[end..end + piece.len()].copy_from_slice(piece);
                end += piece.len();
            }
            return self.poll_write(context, &gathered[..length]);
        }

        either!(self.0, stream => poll_written(
            || stream.poll_write_ready(context),
            || stream.try_write_vectored(bytes),
        ))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match either!(self.0, stream => SockRef::from(stream).shutdown(Shutdown::Write)) {
            // The peer has left already.
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Poll::Ready(Ok(())),
            shut => Poll::Ready(shut),
        }
    }
}

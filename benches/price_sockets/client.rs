//! A minimal listener: it reads frames and parses only their timestamps.

use std::{net::SocketAddr, time::Instant};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout_at,
};

/// Opcodes of text and ping frames (RFC 6455, 5.2).
const TEXT: u8 = 1;
const PING: u8 = 9;
/// Bytes that are read at once, more than a message about all prices has.
const BUFFER: usize = 4 << 10;

/// A received price message.
pub(crate) struct Delivery {
    /// The timestamp, which identifies the message.
    pub timestamp: u64,
    pub at: Instant,
}

pub(crate) struct Listener {
    stream: TcpStream,
    /// Received bytes that are no whole frame yet.
    received: Vec<u8>,
}

/// Sends the request for a WebSocket upgrade.
pub(crate) async fn upgrade(stream: &mut TcpStream, address: SocketAddr) {
    let request = format!(
        "GET / HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream
        .write_all(request.as_bytes())
        .await
        .expect("the request is sent");
}

impl Listener {
    /// Connects, and waits for the welcome message and the current prices.
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        upgrade(&mut stream, address).await;
        let mut listener = Self {
            stream,
            received: Vec::with_capacity(BUFFER),
        };

        let head = loop {
            if let Some(end) = listener
                .received
                .windows(4)
                .position(|bytes| bytes == b"\r\n\r\n")
            {
                break listener.received.drain(..end + 4).collect::<Vec<_>>();
            }
            listener.read().await;
        };

        assert!(
            head.starts_with(b"HTTP/1.1 101"),
            "{}",
            String::from_utf8_lossy(&head)
        );

        for _ in 0..2 {
            while listener.frame().is_none() {
                listener.read().await;
            }
        }

        listener
    }

    /// Reads until `end`, and returns all price messages.
    pub(crate) async fn listen(mut self, end: tokio::time::Instant) -> (Self, Vec<Delivery>) {
        let mut deliveries = Vec::new();
        let mut at = Instant::now();
        let reading = async {
            loop {
                while let Some((opcode, timestamp)) = self.frame() {
                    match opcode {
                        TEXT => {
                            deliveries
                                .extend(timestamp.map(|timestamp| Delivery { timestamp, at }));
                        }
                        // An empty pong, masked with zeros.
                        PING => self
                            .stream
                            .write_all(&[0x8a, 0x80, 0, 0, 0, 0])
                            .await
                            .expect("the pong is sent"),
                        _ => {}
                    }
                }
                self.read().await;
                at = Instant::now();
            }
        };
        let Err(_) = timeout_at(end, reading).await;
        (self, deliveries)
    }

    async fn read(&mut self) {
        let count = self
            .stream
            .read_buf(&mut self.received)
            .await
            .expect("the connection is open");
        assert!(count > 0, "the connection was closed");
    }

    /// Takes a whole frame from what was received: its opcode, and the timestamp at its end.
    fn frame(&mut self) -> Option<(u8, Option<u64>)> {
        let (start, length) = match *self.received.get(1)? {
            126 => (
                4,
                u16::from_be_bytes(self.received.get(2..4)?.try_into().ok()?).into(),
            ),
            127 => (
                10,
                u64::from_be_bytes(self.received.get(2..10)?.try_into().ok()?) as usize,
            ),
            short => (2, short.into()),
        };
        let payload = self.received.get(start..start + length)?;
        let frame = (self.received[0] & 15, timestamp(payload));
        self.received.drain(..start + length);
        Some(frame)
    }
}

/// The timestamp at the end of a price message.
fn timestamp(payload: &[u8]) -> Option<u64> {
    let digits = payload
        .strip_suffix(b"}")?
        .rsplit(|byte| *byte == b':')
        .next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

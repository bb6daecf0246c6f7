//! A minimal listener: it reads frames and parses only their timestamps.

use std::{net::SocketAddr, time::Instant};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    sync::mpsc::UnboundedSender,
    time::timeout_at,
};

/// Opcodes of text and ping frames (RFC 6455, 5.2).
const TEXT: u8 = 1;
const PING: u8 = 9;

/// A received tick.
pub struct Frame {
    /// The timestamp, which identifies the tick.
    pub tick: u64,
    pub at: Instant,
}

pub struct Listener {
    stream: BufReader<TcpStream>,
    payload: Vec<u8>,
}

/// Sends the request for a WebSocket upgrade.
pub async fn upgrade(stream: &mut TcpStream, address: SocketAddr) {
    let request = format!(
        "GET / HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.expect("the request is sent");
}

impl Listener {
    /// Connects, and waits for the welcome message and the current prices.
    pub async fn connect(address: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        upgrade(&mut stream, address).await;
        let mut listener = Self { stream: BufReader::with_capacity(4 << 10, stream), payload: Vec::new() };
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(listener.stream.read_u8().await.expect("an answer"));
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        listener.frame().await;
        listener.frame().await;
        listener
    }

    /// Reads until `end`, and sends every tick to `ticks`.
    pub async fn listen(mut self, ticks: UnboundedSender<Frame>, end: tokio::time::Instant) -> Self {
        // A frame that has started is read to its end, so that the stream stays at a frame boundary.
        while let Ok(first) = timeout_at(end, self.stream.read_u8()).await {
            let opcode = self.rest(first.expect("the connection is open")).await;
            if let Some(tick) = self.time().filter(|_| opcode == TEXT) {
                // The receiver is dropped only at the end of the benchmark.
                let _ = ticks.send(Frame { tick, at: Instant::now() });
            }
        }
        self
    }

    async fn frame(&mut self) -> u8 {
        let first = self.stream.read_u8().await.expect("a frame");
        self.rest(first).await
    }

    /// Reads the rest of a frame that starts with this byte, and answers a ping. Returns the opcode.
    async fn rest(&mut self, first: u8) -> u8 {
        let length = match self.stream.read_u8().await.expect("a length") {
            126 => self.stream.read_u16().await.expect("a length").into(),
            127 => self.stream.read_u64().await.expect("a length"),
            short => short.into(),
        };
        self.payload.resize(length as usize, 0);
        self.stream.read_exact(&mut self.payload).await.expect("a payload");
        if first & 15 == PING {
            // An empty pong, masked with zeros.
            self.stream.get_mut().write_all(&[0x8a, 0x80, 0, 0, 0, 0]).await.expect("the pong is sent");
        }
        first & 15
    }

    /// The timestamp at the end of a price message.
    fn time(&self) -> Option<u64> {
        let text = std::str::from_utf8(&self.payload).ok()?;
        text.trim_end_matches('}').rsplit(':').next()?.parse().ok()
    }
}

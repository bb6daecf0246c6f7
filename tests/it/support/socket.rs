//! A client of the price WebSocket.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, client_async, connect_async,
    tungstenite::{Message, protocol::frame::coding::CloseCode},
};

/// A wait that only a defect exceeds.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) struct PriceSocket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl PriceSocket {
    pub(crate) async fn connect(url: &str) -> Self {
        Self(
            connect_async(url)
                .await
                .unwrap_or_else(|error| panic!("{url}: {error}"))
                .0,
        )
    }

    /// The same with a small receive buffer.
    pub(crate) async fn connect_narrow(url: &str) -> Self {
        let address = url.trim_start_matches("ws://").parse().expect("an address");
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(4 << 10).expect("a size");
        let stream = MaybeTlsStream::Plain(socket.connect(address).await.expect("a connection"));
        Self(client_async(url, stream).await.expect("a WebSocket").0)
    }

    pub(crate) async fn send(&mut self, text: impl Into<String>) {
        self.send_message(Message::text(text.into())).await;
    }

    pub(crate) async fn send_message(&mut self, message: Message) {
        self.0.send(message).await.expect("the message is sent");
    }

    /// The next message, whatever it is.
    pub(crate) async fn message(&mut self) -> Message {
        let message = tokio::time::timeout(MESSAGE_TIMEOUT, self.0.next())
            .await
            .expect("a message in time");
        message.expect("the connection is open").expect("a message")
    }

    /// The next text message.
    pub(crate) async fn text(&mut self) -> String {
        loop {
            match self.message().await {
                Message::Text(text) => return text.to_string(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// The same as JSON.
    pub(crate) async fn json(&mut self) -> Value {
        serde_json::from_str(&self.text().await).expect("JSON")
    }

    /// The next message, which must be a price update.
    pub(crate) async fn prices(&mut self) -> Value {
        let message = self.json().await;
        assert_eq!(message["type"], "price_update", "{message}");
        message
    }

    /// The code that the connection is closed with, whatever comes before.
    pub(crate) async fn close_code(&mut self) -> CloseCode {
        loop {
            if let Message::Close(frame) = self.message().await {
                return frame.expect("a close frame").code;
            }
        }
    }
}

//! Rules of all WebSockets, whatever their protocol.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tetrad_primitives::block::cosmos::MAX_COSMOS_TX_SIZE;
use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{
        Message,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

use crate::support::{TestNode, node, node_with};

/// A wait that only a defect exceeds.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(20);

/// A request that every interface answers, each in its own format.
const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"health","type":"ping"}"#;

struct Client(WebSocketStream<TcpStream>);

impl Client {
    async fn connect(node: &TestNode, path: &str) -> Self {
        let stream = TcpStream::connect(node.address()).await.unwrap();
        Self(
            client_async(format!("ws://{}{path}", node.address()), stream)
                .await
                .unwrap()
                .0,
        )
    }

    /// Sends a frame with such a first byte, unmasked by a mask of zeros.
    async fn frame(&mut self, first: u8, payload: &[u8]) {
        let mut frame = vec![
            first,
            0x80 | u8::try_from(payload.len()).unwrap(),
            0,
            0,
            0,
            0,
        ];
        frame.extend_from_slice(payload);
        self.0.get_mut().write_all(&frame).await.unwrap();
    }

    /// The next message; none when the connection has ended.
    async fn next(&mut self) -> Option<Message> {
        timeout(MESSAGE_TIMEOUT, self.0.next())
            .await
            .expect("a message in time")
            .map(Result::unwrap)
    }

    /// The answer to a message, without the time in it. Prices come without being asked for.
    async fn ask(&mut self, message: Message) -> String {
        self.0.send(message).await.unwrap();
        loop {
            let message = self.next().await.expect("an answer");
            let text = message.to_text().unwrap();
            let is_price = !message.is_text() || text.contains("price_update");
            if !is_price && !text.contains("connected") {
                return text.split("\"timestamp\"").next().unwrap().to_owned();
            }
        }
    }

    /// The next close frame.
    async fn closed(&mut self) -> (CloseCode, String) {
        loop {
            if let Message::Close(frame) = self.next().await.expect("a close frame") {
                let frame = frame.expect("a reason");
                return (frame.code, frame.reason.to_string());
            }
        }
    }
}

/// A client of each interface.
async fn clients(node: &TestNode) -> [(&'static str, Client); 3] {
    let mut clients = Vec::new();
    for path in ["/rpc", "/ws", "/websocket"] {
        clients.push((path, Client::connect(node, path).await));
    }
    clients.try_into().unwrap_or_else(|_| unreachable!())
}

#[tokio::test]
async fn binary_messages_are_read_as_text() {
    let node = node().await;
    for (path, mut client) in clients(&node).await {
        let answer = client.ask(Message::text(HELLO)).await;
        assert_eq!(client.ask(Message::binary(HELLO)).await, answer, "{path}");
    }
    node.end().await;
}

#[tokio::test]
async fn messages_must_be_utf_8() {
    let node = node().await;
    for kind in [0x81, 0x82] {
        for (path, mut client) in clients(&node).await {
            client.frame(kind, &[0xff, 0xfe]).await;
            let expected = (CloseCode::Invalid, "messages have to be UTF-8".to_owned());
            assert_eq!(client.closed().await, expected, "{path}");
        }
    }
    node.end().await;
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused_with_a_reason() {
    let node = node_with(|config| config.rpc.max_body = 10_000).await;
    for ((path, mut client), limit) in
        clients(&node)
            .await
            .into_iter()
            .zip([10_000, 4 << 10, 2 * MAX_COSMOS_TX_SIZE])
    {
        client
            .0
            .send(Message::text("x".repeat(limit + 1)))
            .await
            .unwrap();
        let expected = (
            CloseCode::Size,
            format!("messages may have at most {limit} bytes"),
        );
        assert_eq!(client.closed().await, expected, "{path}");
    }
    node.end().await;
}

#[tokio::test]
async fn a_frame_against_the_rules_is_refused_with_a_reason() {
    let node = node().await;
    for (path, mut client) in clients(&node).await {
        // With a reserved bit.
        client.frame(0xc1, b"{}").await;
        let expected = (
            CloseCode::Protocol,
            "the frame breaks the rules of RFC 6455".to_owned(),
        );
        assert_eq!(client.closed().await, expected, "{path}");
    }
    node.end().await;
}

#[tokio::test]
async fn pings_are_answered() {
    let node = node().await;
    for (path, mut client) in clients(&node).await {
        client
            .0
            .send(Message::Ping(b"1".to_vec().into()))
            .await
            .unwrap();
        let pong = Message::Pong(b"1".to_vec().into());
        while client
            .next()
            .await
            .unwrap_or_else(|| panic!("{path} has no pong"))
            != pong
        {}
    }
    node.end().await;
}

#[tokio::test]
async fn a_client_that_closes_gets_its_close_frame_back() {
    let node = node().await;
    for (path, mut client) in clients(&node).await {
        client
            .0
            .close(Some(CloseFrame {
                code: CloseCode::Normal,
                reason: "done".into(),
            }))
            .await
            .unwrap();
        assert_eq!(
            client.closed().await,
            (CloseCode::Normal, "done".to_owned()),
            "{path}"
        );
        assert_eq!(client.next().await, None, "{path}");
    }
    node.end().await;
}

#[tokio::test]
async fn a_shutdown_closes_every_socket_with_a_reason() {
    let node = node().await;
    let mut clients = clients(&node).await;
    let end = tokio::spawn(node.end());
    for (path, client) in &mut clients {
        let expected = (CloseCode::Away, "the node is shutting down".to_owned());
        assert_eq!(client.closed().await, expected, "{path}");
        assert_eq!(client.next().await, None, "{path}");
    }
    end.await.unwrap();
}

#[tokio::test]
async fn every_socket_counts_while_it_is_open() {
    let node = node().await;
    let clients = clients(&node).await;
    let metrics = async || node.get("/metrics").await.text().await.unwrap();
    for interface in ["rpc", "price", "comet"] {
        let text = metrics().await;
        assert!(
            text.contains(&format!("\ntetrad_{interface}_sockets 1\n")),
            "{text}"
        );
        assert!(
            text.contains(&format!("\ntetrad_{interface}_sockets_cut_total 0\n")),
            "{text}"
        );
    }
    drop(clients);
    for interface in ["rpc", "price", "comet"] {
        while !metrics()
            .await
            .contains(&format!("\ntetrad_{interface}_sockets 0\n"))
        {}
    }
    node.end().await;
}

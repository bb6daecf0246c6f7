//! How many connections a listener has.

use futures_util::{FutureExt, SinkExt, StreamExt};
use tokio_tungstenite::{connect_async, tungstenite::Message};

use crate::support::node_with;

/// A WebSocket takes one of the listener's places for as long as it is open.
#[tokio::test]
async fn a_web_socket_counts_until_it_ends() {
    let node = node_with(|config| config.listener.connections = 1).await;
    for path in ["/rpc", "/ws"] {
        let (mut socket, _) = connect_async(format!("ws://{}{path}", node.address())).await.expect("a socket");
        let request = tokio::spawn(node.http.get(format!("{}/health", node.rest_url())).send());
        let mut request = std::pin::pin!(request);
        // By then the request would have been answered many times over.
        for _ in 0..50 {
            socket.send(Message::Ping(Default::default())).await.expect("the message is sent");
            while !matches!(socket.next().await, Some(Ok(Message::Pong(_)))) {}
        }
        assert!(request.as_mut().now_or_never().is_none(), "{path}");
        drop(socket);
        let response = request.await.expect("no panic").expect("an answer");
        assert_eq!(response.status(), 200);
        // The connection is kept alive, and it is the only one that there may be.
        assert_eq!(response.headers().get("connection"), None);
        drop(response);
        node.http
            .get(format!("{}/health", node.rest_url()))
            .header("connection", "close")
            .send()
            .await
            .expect("an answer");
    }
    node.end().await;
}

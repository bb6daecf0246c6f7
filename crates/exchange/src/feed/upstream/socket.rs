//! Prices over a WebSocket.

use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use rustls::ClientConfig;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_tungstenite::{
    Connector, connect_async_tls_with_config,
    tungstenite::{Message, protocol::WebSocketConfig},
};

use super::{MAX_ANSWER, SharedUpstream};

/// Connects and listens until the connection ends or no price arrives for too long. Each message
/// may have the prices of all tokens or of some.
pub(super) async fn listen(
    upstream: &SharedUpstream,
    tls: Option<Arc<ClientConfig>>,
) -> Result<(), String> {
    let config = &upstream.config;
    let connector = tls.map_or(Connector::Plain, Connector::Rustls);
    let limits = WebSocketConfig::default()
        .max_message_size(Some(MAX_ANSWER))
        .max_frame_size(Some(MAX_ANSWER));

    let connecting =
        connect_async_tls_with_config(&upstream.url, Some(limits), true, Some(connector));
    let connected = timeout(config.timeout, connecting)
        .await
        .map_err(|_| "connecting takes too long".to_owned())?;
    let (mut socket, _) = connected.map_err(|error| error.to_string())?;

    if let Some(text) = &config.subscribe {
        let sent = timeout(config.timeout, socket.send(Message::text(text.as_str()))).await;
        sent.map_err(|_| "subscribing takes too long".to_owned())?
            .map_err(|error| error.to_string())?;
    }

    // Only messages with a price prolong it.
    let mut heard = Instant::now();
    loop {
        let silent = || format!("no price at {} for {:?}", upstream.path, config.max_age);
        let message = timeout_at(heard + config.max_age, socket.next())
            .await
            .map_err(|_| silent())?;
        let message = message
            .ok_or("the connection ended")?
            .map_err(|error| error.to_string())?;

        let text = match &message {
            Message::Text(text) => text.as_str(),
            Message::Binary(bytes) => std::str::from_utf8(bytes).unwrap_or_default(),
            Message::Close(_) => return Err("the upstream closed the connection".to_owned()),
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => continue,
        };

        if upstream.hear(text, 0..upstream.network.tokens.len()) > 0 {
            heard = Instant::now();
            upstream.succeed();
        }
    }
}

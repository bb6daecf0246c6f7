//! Listening to a WebSocket.

use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use rustls::{ClientConfig, crypto::aws_lc_rs};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_tungstenite::{
    Connector, connect_async_tls_with_config,
    tungstenite::{Message, protocol::WebSocketConfig},
};

use super::{MAX_ANSWER, Shared};

/// Connects and listens, until the connection ends or nothing is heard of any token for too long. Each message may be
/// about all tokens or some.
pub(super) async fn listen(upstream: &Shared) -> Result<(), String> {
    let config = &upstream.config;
    let limits = WebSocketConfig::default().max_message_size(Some(MAX_ANSWER)).max_frame_size(Some(MAX_ANSWER));
    let connecting = connect_async_tls_with_config(&upstream.url, Some(limits), true, connector(&upstream.url)?);
    let connected = timeout(config.timeout, connecting).await.map_err(|_| "connecting takes too long".to_owned())?;
    let (mut socket, _) = connected.map_err(|error| error.to_string())?;
    if let Some(text) = &config.subscribe {
        let sent = timeout(config.timeout, socket.send(Message::text(text.as_str()))).await;
        sent.map_err(|_| "subscribing takes too long".to_owned())?.map_err(|error| error.to_string())?;
    }
    let mut heard = Instant::now();
    loop {
        let silent = || format!("no price at {} for {:?}", upstream.path, config.max_age);
        let message = timeout_at(heard + config.max_age, socket.next()).await.map_err(|_| silent())?;
        let message = message.ok_or("the connection ended")?.map_err(|error| error.to_string())?;
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

/// How to encrypt, for a URL that asks for it: with the machine's own list of authorities.
fn connector(url: &str) -> Result<Option<Connector>, String> {
    if !url.starts_with("wss://") {
        return Ok(Some(Connector::Plain));
    }
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_platform_verifier())
        .map_err(|error| error.to_string())?;
    Ok(Some(Connector::Rustls(Arc::new(config.with_no_client_auth()))))
}

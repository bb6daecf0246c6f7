//! Upstreams with TLS: another node, over HTTP and WebSocket, with a certificate that no system
//! trusts.

use std::{path::Path, sync::Arc, time::Duration};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use tetrad::{Config, Node};
use tetrad_exchange::feed::{Source, SourceHealth, Upstream, UpstreamConfig};
use tetrad_network::network::Network;
use tetrad_web::ShutdownHandle;

use crate::support::{TestNode, chain::token, manual_clock, node_with};

/// A node with a certificate for `localhost`, whose prices move.
async fn leader(folder: &Path) -> TestNode {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let files = tetrad::config::TlsFiles {
        certificate: folder.join("cert.pem"),
        key: folder.join("key.pem"),
    };
    std::fs::write(&files.certificate, cert.pem()).unwrap();
    std::fs::write(&files.key, signing_key.serialize_pem()).unwrap();
    node_with(|config| {
        config.tls = Some(files);
        config.exchange.price_tick = Some(Duration::from_secs(1));
    })
    .await
}

/// The leader as a source of both kinds.
fn sources(leader: &TestNode) -> [String; 2] {
    let named = |url: String| url.replace("127.0.0.1", "localhost");
    [
        format!(
            "{}/api/prices#data.{{address}}.price",
            named(leader.rest_url())
        ),
        format!(
            "{}/#data.{{address}}.price",
            named(leader.exchange_ws_url())
        ),
    ]
}

#[tokio::test]
async fn prices_are_read_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let leader = leader(folder.path()).await;
    let weth = token("WETH");
    for source in sources(&leader) {
        assert!(source.starts_with("https://") || source.starts_with("wss://"));
        let follower = node_with(|config| {
            config.exchange.price_tick = Some(Duration::from_secs(1));
            config.exchange.price_sources = vec![source.parse().unwrap()];
            config.exchange.upstream.ca_file = Some(folder.path().join("cert.pem"));
        });
        let follower = follower.await;
        let mut socket = follower.price_socket().await;
        // Only the leader moves the price.
        while follower.oracle_price(&weth).await.0 == weth.reference_price {
            socket.prices().await;
        }
        let status = follower.get_json("/api/status").await;
        assert_eq!(
            status["data"]["services"]["guards"]["sources"][0]["status"], "ok",
            "{source}"
        );
        follower.end().await;
    }
    leader.end().await;
}

#[tokio::test]
async fn an_untrusted_certificate_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let leader = leader(folder.path()).await;
    for source in sources(&leader) {
        let config = UpstreamConfig {
            interval: Duration::from_millis(5),
            backoff: Duration::from_millis(1),
            retries: 0,
            threshold: 1,
            ..UpstreamConfig::default()
        };
        let network = Arc::new(Network::default());
        let upstream =
            Upstream::new(source.parse().unwrap(), config, network, manual_clock()).unwrap();
        let (handle, shutdown) = ShutdownHandle::new();
        let mut attempts = upstream.attempts();
        tokio::spawn(upstream.clone().run(shutdown));
        attempts.changed().await.unwrap();
        let condition = upstream.condition();
        assert_eq!(condition.status, SourceHealth::Broken);
        let error = condition.error.unwrap();
        assert!(error.contains("certificate"), "{source}: {error}");
        assert!(handle.shut_down(Duration::from_secs(10)).await);
    }
    leader.end().await;
}

#[tokio::test]
async fn an_invalid_authorities_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("ca.pem");
    std::fs::write(&empty, "nothing here").unwrap();
    for (file, expected) in [
        (empty, "no certificate"),
        (folder.path().join("gone.pem"), "gone.pem"),
    ] {
        let mut config = Config::test();
        config.exchange.price_sources = vec!["https://localhost:1/#{symbol}".parse().unwrap()];
        config.exchange.upstream.ca_file = Some(file);
        let error = Node::spawn(config).await.err().unwrap().to_string();
        assert!(
            error.contains("upstream-ca-file") && error.contains(expected),
            "{error}"
        );
    }
}

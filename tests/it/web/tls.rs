//! TLS and Unix sockets, with clients that verify certificates.

use std::{fs, path::Path};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UnixStream},
};

use crate::support::node_with;

/// Writes a certificate for `localhost` and its key; returns the certificate.
fn certificate(folder: &Path) -> reqwest::Certificate {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    fs::write(folder.join("cert.pem"), cert.pem()).unwrap();
    fs::write(folder.join("key.pem"), signing_key.serialize_pem()).unwrap();
    reqwest::Certificate::from_pem(cert.pem().as_bytes()).unwrap()
}

/// The response with the chain id to a client that trusts this certificate only.
async fn ask(url: &str, trusted: reqwest::Certificate) -> Result<Value, reqwest::Error> {
    let client = reqwest::Client::builder()
        .tls_certs_only([trusted])
        .build()?;
    let request = client.post(url).header("content-type", "application/json");
    request
        .body(json!({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}).to_string())
        .send()
        .await?
        .json()
        .await
}

#[tokio::test]
async fn listeners_use_tls_and_reload_their_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let first = certificate(folder.path());
    let files = tetrad::config::TlsFiles {
        certificate: folder.path().join("cert.pem"),
        key: folder.path().join("key.pem"),
    };
    let node = node_with(|config| config.tls = Some(files)).await;
    assert!(node.rpc_url().starts_with("https://") && node.exchange_ws_url().starts_with("wss://"));
    let url = format!("https://localhost:{}/rpc", node.address().port());
    assert_eq!(ask(&url, first.clone()).await.unwrap()["result"], "0x7d");

    let second = certificate(folder.path());
    assert!(
        ask(&url, second.clone()).await.is_err(),
        "the new certificate is not loaded yet"
    );
    node.reload().unwrap();
    assert_eq!(ask(&url, second.clone()).await.unwrap()["result"], "0x7d");
    assert!(ask(&url, first).await.is_err());

    // An unusable file changes nothing, and is named.
    fs::write(folder.path().join("key.pem"), "no key").unwrap();
    let error = node.reload().unwrap_err().to_string();
    assert!(error.contains("key.pem"), "{error}");
    assert_eq!(ask(&url, second).await.unwrap()["result"], "0x7d");

    // A client without TLS is refused, and affects no other.
    let mut plain = TcpStream::connect(node.address()).await.unwrap();
    plain
        .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"));
    node.end().await;
}

#[tokio::test]
async fn a_certificate_that_cannot_be_used_is_an_error_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    certificate(folder.path());
    let missing = tetrad::config::TlsFiles {
        certificate: folder.path().join("nothing.pem"),
        key: folder.path().join("key.pem"),
    };
    let mut config = tetrad::Config::test();
    config.tls = Some(missing);
    let error = tetrad::Node::spawn(config)
        .await
        .err()
        .expect("no node")
        .to_string();
    assert!(
        error.starts_with("tls: ") && error.contains("nothing.pem"),
        "{error}"
    );
}

#[tokio::test]
async fn a_unix_socket_serves_the_same_and_is_removed_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.sock");
    // The socket of a process that no longer runs.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let node = node_with(|config| config.listen_unix = Some(path.clone())).await;
    let mut stream = UnixStream::connect(&path).await.unwrap();
    stream
        .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.ends_with(r#"{"status":"ok"}"#),
        "{answer}"
    );

    // A socket in use is not replaced.
    let mut config = tetrad::Config::test();
    config.listen_unix = Some(path.clone());
    let error = tetrad::Node::spawn(config)
        .await
        .err()
        .expect("no node")
        .to_string();
    assert!(
        error.starts_with("--listen-unix: cannot listen on"),
        "{error}"
    );
    node.end().await;
    assert!(!path.exists());
}

//! Tests of the proxy between nodes and servers.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{Instant, timeout},
};

use crate::cluster::{
    WAIT_TIMEOUT,
    proxy::{End, Proxy},
};

/// A proxy, and the listener that it forwards to.
async fn proxied() -> (Proxy, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    (Proxy::start(listener.local_addr().unwrap()).await, listener)
}

/// Both ends of a connection through the proxy.
async fn connect(proxy: &Proxy, listener: &TcpListener) -> (TcpStream, TcpStream) {
    let (client, server) = tokio::join!(TcpStream::connect(proxy.address()), listener.accept());
    (client.unwrap(), server.unwrap().0)
}

async fn receive(stream: &mut TcpStream, expected: &[u8]) {
    let mut received = vec![0; expected.len()];
    timeout(WAIT_TIMEOUT, stream.read_exact(&mut received))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(received, expected);
}

async fn is_closed(stream: &mut TcpStream) -> bool {
    // An error if the connection was reset.
    timeout(WAIT_TIMEOUT, stream.read(&mut [0]))
        .await
        .unwrap()
        .unwrap_or(0)
        == 0
}

#[tokio::test]
async fn a_proxy_forwards_both_directions_and_their_ends() {
    let (proxy, listener) = proxied().await;
    let (mut client, mut server) = connect(&proxy, &listener).await;
    let large = vec![7; 1 << 20];
    let (sent, ()) = tokio::join!(client.write_all(&large), receive(&mut server, &large));
    sent.unwrap();
    client.shutdown().await.unwrap();
    assert!(is_closed(&mut server).await);
    // The other direction is still open.
    server.write_all(b"answer").await.unwrap();
    receive(&mut client, b"answer").await;
    drop(server);
    assert!(is_closed(&mut client).await);
}

#[tokio::test]
async fn held_bytes_arrive_after_the_restore() {
    let (proxy, listener) = proxied().await;
    let (mut client, mut server) = connect(&proxy, &listener).await;
    proxy.hold();
    client.write_all(b"question").await.unwrap();
    server.write_all(b"answer").await.unwrap();
    // New connections are accepted as well.
    let (mut second, mut second_server) = connect(&proxy, &listener).await;
    second.write_all(b"second").await.unwrap();
    let mut byte = [0];
    for stream in [&mut client, &mut server, &mut second_server] {
        assert!(
            timeout(Duration::from_millis(50), stream.read(&mut byte))
                .await
                .is_err(),
            "no byte arrives"
        );
    }
    proxy.restore();
    receive(&mut server, b"question").await;
    receive(&mut client, b"answer").await;
    receive(&mut second_server, b"second").await;
}

#[tokio::test]
async fn one_direction_can_be_held_alone() {
    let (proxy, listener) = proxied().await;
    let (mut client, mut server) = connect(&proxy, &listener).await;
    proxy.hold_to(End::Server);
    client.write_all(b"question").await.unwrap();
    server.write_all(b"answer").await.unwrap();
    receive(&mut client, b"answer").await;
    assert!(
        timeout(Duration::from_millis(50), server.read(&mut [0]))
            .await
            .is_err(),
        "no byte arrives"
    );
    proxy.restore();
    receive(&mut server, b"question").await;
}

#[tokio::test]
async fn delayed_bytes_arrive_later() {
    let (proxy, listener) = proxied().await;
    let (mut client, mut server) = connect(&proxy, &listener).await;
    let delay = Duration::from_millis(50);
    proxy.delay(delay);
    let sent = Instant::now();
    client.write_all(b"question").await.unwrap();
    receive(&mut server, b"question").await;
    assert!(sent.elapsed() >= delay);
    // Without the delay, even delayed bytes arrive at once.
    proxy.delay(2 * WAIT_TIMEOUT);
    server.write_all(b"answer").await.unwrap();
    proxy.restore();
    receive(&mut client, b"answer").await;
}

#[tokio::test]
async fn a_cut_proxy_closes_connections_until_it_is_restored() {
    let (proxy, listener) = proxied().await;
    let (mut client, mut server) = connect(&proxy, &listener).await;
    // Cut, although restored at once.
    proxy.cut();
    proxy.restore();
    assert!(is_closed(&mut client).await && is_closed(&mut server).await);
    let (mut client, mut server) = connect(&proxy, &listener).await;
    proxy.hold();
    client.write_all(b"lost").await.unwrap();
    proxy.cut();
    assert!(is_closed(&mut client).await && is_closed(&mut server).await);
    let mut refused = TcpStream::connect(proxy.address()).await.unwrap();
    assert!(is_closed(&mut refused).await);
    proxy.restore();
    let (mut client, mut server) = connect(&proxy, &listener).await;
    client.write_all(b"back").await.unwrap();
    receive(&mut server, b"back").await;
}

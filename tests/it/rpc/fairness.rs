//! One client cannot block the others: an honest one is answered while others request as much as
//! they can.

use std::time::{Duration, Instant};

use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};
use tokio_tungstenite::{connect_async, tungstenite::Message};

use crate::support::{node_with, process::Running};

/// JUMPDEST, PUSH0, JUMP: for ever.
const LOOP: &str = "0x5b5f56";
const AT: &str = "0x00000000000000000000000000000000000000aa";
/// The longest wait of an honest client, on a machine with other load. Without turns it would be a
/// minute.
const HONEST_TIMEOUT: Duration = Duration::from_secs(8);

/// A call that runs until a limit ends it.
fn endless(id: usize, gas: &str) -> Value {
    let params = json!([{"to": AT, "gas": gas}, "latest", {AT: {"code": LOOP}}]);
    json!({"jsonrpc": "2.0", "id": id, "method": "eth_call", "params": params})
}

fn batch(calls: usize) -> String {
    Value::from_iter((0..calls).map(|id| endless(id, "0xffffffffff"))).to_string()
}

/// A node on which calls may take this many seconds.
async fn node_with_timeout(seconds: &str) -> Running {
    let limits = [
        "--rpc-gas-cap",
        "1000000000000000",
        "--rpc-execution-timeout",
        seconds,
        "--block-time",
        "60",
    ];
    Running::start(&limits).await
}

fn url(node: &Running) -> String {
    node.ready["rpc"].as_str().expect("a URL").to_owned()
}

/// Sends requests like a wallet for a while, on a kept connection and on new ones.
async fn send_honest_requests(node: &Running) {
    let call = json!([{"to": AT, "data": "0x01"}, "latest", {AT: {"code": "0x60016000f3"}}]);
    let keeping = reqwest::Client::new();

    for round in 0..12 {
        let client = if round % 2 == 0 {
            keeping.clone()
        } else {
            reqwest::Client::new()
        };
        for (method, params) in [
            ("eth_call", &call),
            ("eth_estimateGas", &call),
            ("eth_blockNumber", &json!([])),
        ] {
            let body =
                json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();

            let began = Instant::now();
            let request = client
                .post(url(node))
                .header("content-type", "application/json")
                .body(body);

            let answer = tokio::time::timeout(HONEST_TIMEOUT, async {
                request.send().await?.json::<Value>().await
            });
            let answer = answer.await.unwrap_or_else(|_| panic!("{method} waits"));
            let answer = answer.unwrap_or_else(|error| panic!("{method}: {error}"));
            assert!(
                answer.get("result").is_some(),
                "{method} after {:?}: {answer}",
                began.elapsed()
            );
        }
    }
}

/// Sends an HTTP/1.1 request without reading the response.
async fn send_only(node: &Running, body: &str) -> TcpStream {
    let address = url(node)
        .trim_start_matches("http://")
        .trim_end_matches("/rpc")
        .to_owned();
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let head = "POST /rpc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ";
    stream
        .write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes())
        .await
        .expect("sent");
    stream
}

#[tokio::test]
async fn batches_of_slow_calls_do_not_block_other_clients() {
    let node = node_with_timeout("0.5").await;
    let attackers = [
        send_only(&node, &batch(1_000)).await,
        send_only(&node, &batch(1_000)).await,
    ];
    send_honest_requests(&node).await;
    for mut stream in attackers {
        let unanswered = tokio::time::timeout(Duration::ZERO, stream.read_u8()).await;
        assert!(
            unanswered.is_err(),
            "a thousand calls of half a second are over"
        );
    }
}

/// A precompile cannot be interrupted, and a new connection has no history.
#[tokio::test]
async fn slow_precompiles_on_new_connections_do_not_block_other_clients() {
    let node = Running::start(&["--block-time", "60"]).await;
    // 49 million rounds of BLAKE2 (EIP-152), which take most of a second.
    let input = format!("0x02f00000{}01", "00".repeat(208));
    let call =
        json!([{"to": "0x0000000000000000000000000000000000000009", "data": input}, "latest"]);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_call", "params": call}).to_string();
    let mut attackers = JoinSet::new();
    for _ in 0..40 {
        let url = url(&node);
        let body = body.clone();
        attackers.spawn(async move {
            loop {
                let request = reqwest::Client::new()
                    .post(&url)
                    .header("content-type", "application/json");
                // Whether there is an answer is not what matters here.
                let _ = async { request.body(body.clone()).send().await?.bytes().await }.await;
            }
        });
    }
    send_honest_requests(&node).await;
    attackers.shutdown().await;
}

/// A request for the trace of a call of this code, with hardly any limit to its gas.
#[cfg(target_os = "linux")]
fn trace_of(code: &str) -> String {
    let params = json!([{"to": AT, "gas": "0xffffffffff"}, "latest", {"stateOverrides": {AT: {"code": code}}}]);
    json!({"jsonrpc": "2.0", "id": 1, "method": "debug_traceCall", "params": params}).to_string()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn traces_of_one_address_do_not_take_every_thread() {
    let node = node_with_timeout("600").await;
    let mut unanswered = Vec::new();
    for _ in 0..30 {
        unanswered.push(send_only(&node, &trace_of(LOOP)).await);
    }

    // Wait until they execute.
    let busy = ticks(&node) + 50;
    while ticks(&node) < busy {
        tokio::task::yield_now().await;
    }

    let other = reqwest::Client::builder()
        .local_address(std::net::IpAddr::from([127, 0, 0, 2]))
        .build()
        .expect("a client");
    let request = other
        .post(url(&node))
        .header("content-type", "application/json")
        .body(trace_of("0x00"));

    let answer = tokio::time::timeout(HONEST_TIMEOUT, async {
        request.send().await?.json::<Value>().await
    });
    let answer = answer
        .await
        .expect("another address has its turn")
        .expect("an answer");
    assert_eq!(answer["result"]["failed"], false, "{answer}");
}

#[tokio::test]
async fn web_sockets_that_never_read_do_not_block_other_clients() {
    let node = node_with_timeout("0.1").await;
    let mut sockets = Vec::new();
    for _ in 0..40 {
        let (mut socket, _) = connect_async(url(&node).replace("http://", "ws://"))
            .await
            .expect("a socket");
        for id in 0..64 {
            socket
                .feed(Message::text(endless(id, "0x989680").to_string()))
                .await
                .expect("it is taken");
        }
        socket.flush().await.expect("it is sent");
        sockets.push(socket);
    }
    send_honest_requests(&node).await;
}

#[tokio::test]
async fn batches_of_long_responses_do_not_block_other_clients() {
    let node = node_with_timeout("0.5").await;
    let discover = json!({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"});
    let body = Value::Array(vec![discover; 100]).to_string();
    let mut attackers = JoinSet::new();
    for _ in 0..6 {
        let url = url(&node);
        let body = body.clone();
        attackers.spawn(async move {
            let client = reqwest::Client::new();
            loop {
                let request = client
                    .post(&url)
                    .header("content-type", "application/json")
                    .body(body.clone());
                // Whether there is an answer is not what matters here.
                let _ = async { request.send().await?.bytes().await }.await;
            }
        });
    }
    send_honest_requests(&node).await;
    attackers.shutdown().await;
}

/// Processor time that a process has used, in ticks.
fn ticks(node: &Running) -> u64 {
    let stat =
        std::fs::read_to_string(format!("/proc/{}/stat", node.child.id())).expect("a process");
    let mut fields = stat
        .rsplit_once(')')
        .expect("a name")
        .1
        .split_whitespace()
        .skip(11);
    let mut next = || {
        fields
            .next()
            .expect("a field")
            .parse::<u64>()
            .expect("a number")
    };
    next() + next()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn work_ends_with_its_connection() {
    let node = node_with_timeout("3600").await;
    let body = batch(100);
    let streams = [send_only(&node, &body).await, send_only(&node, &body).await];
    let (mut socket, _) = connect_async(url(&node).replace("http://", "ws://"))
        .await
        .expect("a socket");
    socket.send(Message::text(body)).await.expect("sent");
    let busy = ticks(&node) + 50;
    while ticks(&node) < busy {
        tokio::task::yield_now().await;
    }
    drop((streams, socket));
    // Without interruption, each call would take an hour.
    let began = Instant::now();
    loop {
        let before = ticks(&node);
        tokio::time::sleep(Duration::from_millis(500)).await;
        if ticks(&node) - before < 10 {
            return;
        }
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "the calls continue"
        );
    }
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_slow_calls() {
    let node = node_with_timeout("3600").await;
    let body = batch(1_000);
    let _streams = [send_only(&node, &body).await, send_only(&node, &body).await];
    let (mut socket, _) = connect_async(url(&node).replace("http://", "ws://"))
        .await
        .expect("a socket");
    socket.send(Message::text(body)).await.expect("sent");
    send_honest_requests(&node).await;
    let began = Instant::now();
    let (ended_well, _) = tokio::task::spawn_blocking(move || node.end("-TERM"))
        .await
        .expect("no panic");
    assert!(ended_well);
    // Ten seconds, and a margin for the machine.
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn results_of_slow_calls_count_towards_the_batch_limit() {
    let node = node_with(|config| config.rpc.max_batch_response = 20_000).await;
    // PUSH2 1000, PUSH0, RETURN.
    let params = json!([{"to": AT}, "latest", {AT: {"code": "0x6103e85ff3"}}]);
    let call = |id| json!({"jsonrpc": "2.0", "id": id, "method": "eth_call", "params": params});
    let answers = node
        .post(Value::from_iter((0..50).map(call)).to_string())
        .await;
    let answers = answers.as_array().expect("a batch");
    assert_eq!(answers.len(), 50);
    let given = answers
        .iter()
        .filter(|answer| answer.get("result").is_some())
        .count();
    assert!((5..20).contains(&given), "{given}");
    for (id, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], id);
        if answer.get("result").is_none() {
            assert_eq!(
                (&answer["error"]["code"], &answer["error"]["message"]),
                (&json!(-32003), &json!("response too large"))
            );
        }
    }
}

#[tokio::test]
async fn an_oversized_batch_is_refused_without_being_held() {
    let node = node_with(|config| config.rpc.max_batch = 10).await;
    let ones = |count: usize| format!("[{}]", vec!["1"; count].join(","));
    assert_eq!(
        node.post(ones(10)).await.as_array().expect("a batch").len(),
        10
    );
    for count in [11, 1_000_000] {
        assert_eq!(node.post(ones(count)).await["error"]["code"], -32600);
    }
    assert_eq!(
        node.post(ones(11).replace(",1]", ",]")).await["error"]["code"],
        -32700
    );
    assert_eq!(node.post("[]").await["error"]["data"], "empty batch");
}

//! The attacks, each on every operation.

use std::{
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{body::Bytes, http::Request as HttpRequest};
use futures_util::{SinkExt, StreamExt, stream};
use http_body_util::{Full, StreamBody};
use hyper::{body::Frame, client::conn::http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{io::AsyncWriteExt, task::JoinSet};
use tokio_tungstenite::{client_async, tungstenite::Message};

use super::{
    campaign::{Campaign, shown},
    describe::{Arguments, Call, Operation},
    documents::{Generator, deep, wide},
    probe::Probed,
    request::{Client, Protocol, Request, connect},
    subject::{Subject, client_address},
};

/// The receive buffer of clients that do not read.
const NARROW: u32 = 4 << 10;
/// Bytes of a response from which on an operation is attacked on its own: shorter ones fit into the buffers of the system.
const LONG: usize = 64 << 10;
/// Operations with short responses that are attacked together, and connections for each.
const TOGETHER: usize = 24;
const EACH: usize = 3;
/// Least time of an attack with unread responses.
const UNREAD_LEAST: Duration = Duration::from_millis(350);
/// Sizes of bodies that are tried, to find the largest that is admitted.
const BODY_SIZES: [usize; 6] = [32 << 20, 12 << 20, 5_000_000, 1 << 20, 230_000, 90_000];
/// The bytes of bodies that are held back in one attack, at most.
const HELD_BYTES: usize = 320 << 20;
/// How long an honest request waits beside bodies that are held back.
const BESIDE_HELD_LIMIT: Duration = Duration::from_secs(3);
/// Senders of refused requests.
const SENDERS: usize = 64;
/// The addresses that the attackers share.
const ADDRESSES: u8 = 4;
/// How long work may go on for which nobody waits any more.
const ABORTED_LIMIT: Duration = Duration::from_secs(10);
/// Levels of documents: more than a stack holds, and as many as parsers of JSON take.
const LEVELS: [usize; 2] = [20_000, 100];
/// Members of wide documents.
const MEMBERS: usize = 30_000;

fn attacker(n: usize) -> std::net::IpAddr {
    client_address(10 + (n % usize::from(ADDRESSES)) as u8)
}

/// Sends a request twice and reads nothing.
async fn send_unread(subject: Arc<Subject>, request: Request, n: usize) -> Result<(), String> {
    let stream = connect(subject.address(&request.listener), attacker(n), Some(NARROW)).await?;
    match request.protocol {
        Protocol::Http => {
            let mut stream = stream;
            let bytes = request.bytes();
            for _ in 0..2 {
                stream.write_all(&bytes).await.map_err(|error| error.to_string())?;
            }
            std::future::pending::<()>().await;
        }
        Protocol::Grpc => {
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder.initial_stream_window_size(NARROW).initial_connection_window_size(65_535);
            let handshake = builder.handshake(TokioIo::new(stream)).await;
            let (mut sender, connection) = handshake.map_err(|error| error.to_string())?;
            tokio::select! {
                _ = connection => {}
                () = async {
                    let Ok(http) = grpc_request(&request, Full::new(request.framed())) else { return };
                    let _response = sender.send_request(http).await;
                    std::future::pending::<()>().await;
                } => {}
            }
        }
    }
    Ok(())
}

fn grpc_request<B>(request: &Request, body: B) -> Result<HttpRequest<B>, axum::http::Error> {
    let head = HttpRequest::post(format!("http://localhost{}", request.target));
    head.header("te", "trailers").header("content-type", "application/grpc+proto").body(body)
}

/// Responses that nobody reads: of each operation on its own where they are long, and of many together where they are short.
pub async fn unread(campaign: &Campaign, probed: &[Probed], time: Duration) {
    let (mut long, short): (Vec<&Probed>, Vec<&Probed>) = probed.iter().partition(|probed| probed.bytes >= LONG);
    long.sort_by_key(|probed| std::cmp::Reverse(probed.bytes));
    let until = Instant::now() + time;
    let connections = campaign.form.connections;
    let spawn = |probed: &[&Probed], connections: usize| {
        let mut tasks = JoinSet::new();
        for n in 0..connections {
            for probed in probed {
                let (subject, mut request) = (campaign.subject.clone(), probed.largest.clone());
                request.listener.clone_from(&probed.operation.listeners[n % probed.operation.listeners.len()]);
                tasks.spawn(async move { drop(send_unread(subject, request, n).await) });
            }
        }
        tasks
    };
    for (n, one) in long.iter().enumerate() {
        // Most are over early, so that one may take as much of what is left as several others have on average.
        campaign.honest.begin(&format!("{} unread", one.operation.name));
        let left = until.saturating_duration_since(Instant::now());
        let at_most = (8 * left / u32::try_from(long.len() - n).unwrap()).max(UNREAD_LEAST);
        let attack =
            format!("unread by {connections} connections ({} kB each: {})", one.bytes / 1024, shown(&one.largest));
        campaign.measure(&one.operation.name, &attack, spawn(&[one], connections), at_most).await;
    }
    campaign.honest.begin("short responses unread");
    for group in short.chunks(TOGETHER) {
        let names: Vec<_> = group.iter().map(|one| one.operation.name.as_str()).collect();
        let name = format!("{} short responses from {} on", group.len(), names[0]);
        let attack = format!("unread by {EACH} connections each");
        campaign.measure(&name, &attack, spawn(group, EACH), UNREAD_LEAST).await;
    }
}

/// WebSockets that send what has the longest responses, and read nothing.
pub async fn unread_sockets(campaign: &Campaign, probed: &[Probed]) {
    let mut by_length: Vec<_> =
        probed.iter().filter(|probed| matches!(probed.operation.call, Call::JsonRpc { .. })).collect();
    by_length.sort_by_key(|probed| std::cmp::Reverse(probed.bytes));
    let mut messages: Vec<Bytes> = by_length.iter().take(8).map(|probed| probed.largest.body.clone()).collect();
    messages.extend([
        r#"{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}"#.into(),
        r#"{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["logs",{}]}"#.into(),
        r#"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"query":"tm.event='NewBlock'"}}"#.into(),
        r#"{"type":"subscribe","tokens":[]}"#.into(),
    ]);
    for one in probed.iter().filter(|probed| matches!(probed.operation.call, Call::Socket { .. })) {
        let mut tasks = JoinSet::new();
        for n in 0..campaign.form.connections {
            let (subject, request, messages) = (campaign.subject.clone(), one.largest.clone(), messages.clone());
            tasks.spawn(async move {
                let address = subject.address(&request.listener);
                let Ok(stream) = connect(address, attacker(n), Some(NARROW)).await else { return };
                let Ok((mut socket, _)) = client_async(format!("ws://{address}{}", request.target), stream).await
                else {
                    return;
                };
                for message in messages.iter().cycle().take(10 * messages.len()) {
                    let text = String::from_utf8_lossy(message).into_owned();
                    if socket.send(Message::text(text)).await.is_err() {
                        return;
                    }
                }
                std::future::pending::<()>().await;
            });
        }
        let attack = format!("unread by {} connections", campaign.form.connections);
        campaign.measure(&one.operation.name, &attack, tasks, campaign.form.share(2).max(UNREAD_LEAST)).await;
    }
}

/// Sends the head of a request and all of its body but the last byte.
async fn hold_back(subject: Arc<Subject>, request: Request, length: usize, n: usize) -> Result<(), String> {
    let mut stream = connect(subject.address(&request.listener), attacker(n), None).await?;
    match request.protocol {
        Protocol::Http => {
            let sent = async {
                stream.write_all(request.head(length).as_bytes()).await?;
                stream.write_all(&body_beginning(length - 1)).await
            };
            sent.await.map_err(|error| error.to_string())?;
            std::future::pending::<()>().await;
        }
        Protocol::Grpc => {
            let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
                .await
                .map_err(|error| error.to_string())?;
            let frame = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
            let first = Bytes::from([&[0][..], &frame, &vec![0; length - 1]].concat());
            let frames = stream::iter([Ok::<_, Infallible>(Frame::data(first))]).chain(stream::pending());
            let http = grpc_request(&request, StreamBody::new(frames)).map_err(|error| error.to_string())?;
            let connection = tokio::spawn(connection);
            let _ = sender.send_request(http).await;
            connection.abort();
        }
    }
    Ok(())
}

/// The beginning of a JSON document.
fn body_beginning(length: usize) -> Vec<u8> {
    let mut body = br#"{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[""#.to_vec();
    body.resize(length.max(1), b'0');
    body
}

/// The longest body that an operation does not refuse for its length.
async fn largest_body(campaign: &Campaign, client: &mut Client, one: &Probed) -> usize {
    for size in BODY_SIZES {
        let request = one.operation.with_body(body_beginning(size), &one.arguments);
        let Ok(outcome) = client.ask(&campaign.subject, &request).await else { continue };
        // RESOURCE_EXHAUSTED and OUT_OF_RANGE are gRPC's words for it.
        if outcome.status != 413 && !matches!(outcome.grpc_status, Some(8 | 11)) {
            return size;
        }
    }
    BODY_SIZES[BODY_SIZES.len() - 1]
}

/// Bodies that are held back at their last byte, and beside them requests that end.
pub async fn held_bodies(campaign: &Campaign, probed: &[Probed], time: Duration) {
    let mut routes: Vec<&Probed> = Vec::new();
    for one in probed.iter().filter(|one| one.operation.has_body()) {
        // Many operations of one route, as those of JSON-RPC, have one body; so have all methods of gRPC.
        let route = |probed: &Probed| match probed.largest.protocol {
            Protocol::Http => (probed.largest.listener.clone(), probed.largest.target.clone()),
            Protocol::Grpc => (probed.largest.listener.clone(), String::new()),
        };
        if routes.iter().all(|known| route(known) != route(one)) {
            routes.push(one);
        }
    }
    let each = (time / u32::try_from(2 * routes.len().max(1)).unwrap()).max(UNREAD_LEAST);
    for one in routes {
        let mut client = Client::new(client_address(2));
        let length = largest_body(campaign, &mut client, one).await;
        campaign.revive(&one.operation.name, &format!("a body of {length} bytes")).await;
        for length in [length, 2] {
            let connections = (HELD_BYTES / length).min(4 * campaign.form.connections);
            let mut tasks = JoinSet::new();
            for n in 0..connections {
                let request = one.operation.with_body(Bytes::new(), &one.arguments);
                let subject = campaign.subject.clone();
                tasks.spawn(async move { drop(hold_back(subject, request, length, n).await) });
            }
            let attack = format!("{connections} bodies of {length} bytes held back");
            let name = &one.operation.name;
            let (began, request) = (Instant::now(), one.largest.clone());
            let beside = async {
                tokio::time::sleep(each / 2).await;
                let began = Instant::now();
                let asked = client.ask(&campaign.subject, &request).await;
                (asked, began.elapsed())
            };
            let (_, (asked, took)) =
                tokio::join!(campaign.measure(name, &attack, tasks, each.max(BESIDE_HELD_LIMIT)), beside);
            let is_refused = asked.as_ref().is_ok_and(|outcome| outcome.status == 503 && request.body.len() < 16_000);
            if took > BESIDE_HELD_LIMIT || asked.is_err() || is_refused {
                let answer = asked.map(|outcome| outcome.status);
                campaign.fail(format!(
                    "{name}, {attack}: another request waits {took:?} of {:?}: {answer:?}",
                    began.elapsed()
                ));
            }
        }
    }
}

/// Requests whose client leaves at once.
pub async fn aborted(campaign: &Campaign, probed: &[Probed]) {
    for one in probed {
        let mut tasks = JoinSet::new();
        for n in 0..campaign.form.connections.min(8) {
            let (subject, request) = (campaign.subject.clone(), one.largest.clone());
            tasks.spawn(async move {
                let leave = Duration::from_millis(2 * n as u64);
                let _ = tokio::time::timeout(leave, send_unread(subject, request, n)).await;
            });
        }
        while tasks.join_next().await.is_some() {}
        campaign.revive(&one.operation.name, "aborted").await;
    }
    if !campaign.subject.settle(ABORTED_LIMIT).await {
        campaign.fail(format!("all operations, aborted: the node is still busy after {ABORTED_LIMIT:?}"));
    }
}

/// Deep, wide and random documents. Returns the refusals that took longest.
pub async fn documents(campaign: &Campaign, probed: &mut [Probed], seed: u64) {
    for (n, one) in probed.iter_mut().enumerate() {
        let mut client = Client::new(attacker(n));
        let mut generator = Generator::new(&campaign.filled.world, seed.wrapping_add(n as u64));
        // The short form has time for a few of them, others each time.
        let mut requests = shaped(&one.operation, &one.arguments);
        while requests.len() > campaign.form.documents.max(1) {
            requests.swap_remove(generator.random.below(requests.len() as u64) as usize);
        }
        for _ in 0..campaign.form.documents {
            let arguments = random(&one.operation, &one.arguments, &mut generator);
            requests.push(one.operation.request(&arguments));
        }
        for request in requests {
            let Some(outcome) = campaign.ask(&mut client, &one.operation.name, &request).await else { continue };
            if !outcome.is_success() && one.refusal.as_ref().is_none_or(|(took, _)| outcome.took > *took) {
                one.refusal = Some((outcome.took, request));
            }
        }
    }
}

/// Arguments of which some are random.
fn random(operation: &Operation, arguments: &Arguments, generator: &mut Generator<'_>) -> Arguments {
    let each = operation.parameters.iter().zip(arguments).map(|(parameter, best)| match generator.random.below(4) {
        0 => best.clone(),
        1 => Some(generator.anything(0)),
        2 => best.as_ref().map(|best| generator.mutated(best)),
        _ => Some(generator.value(&parameter.schema, 0)),
    });
    each.collect()
}

/// The deep and wide documents in the place of each parameter, and of the whole body.
fn shaped(operation: &Operation, arguments: &Arguments) -> Vec<Request> {
    let mut requests = Vec::new();
    match operation.call {
        Call::Grpc { .. } => {
            for levels in LEVELS {
                requests.push(operation.with_body(nested_fields(levels), arguments));
            }
        }
        _ if operation.has_body() => {
            let texts = LEVELS.into_iter().flat_map(deep).chain(wide(MEMBERS));
            for text in texts {
                let whole = operation.request(arguments);
                let written = String::from_utf8_lossy(&whole.body).into_owned();
                // In the place of the parameters, where a request has some.
                let inside = written.find("\"params\":").map(|at| format!("{}\"params\":[{text}]}}", &written[..at]));
                requests.push(operation.with_body(inside.unwrap_or_else(|| text.clone()), arguments));
                if operation.name.contains("GraphQL") {
                    requests.push(operation.with_body(serde_json::json!({ "query": text }).to_string(), arguments));
                }
            }
        }
        _ => {
            // No request line is as long as a body.
            for text in deep(4_000).into_iter().chain(deep(100)) {
                for at in 0..operation.parameters.len() {
                    let mut arguments = arguments.clone();
                    arguments[at] = Some(text.clone().into());
                    requests.push(operation.request(&arguments));
                }
            }
        }
    }
    requests
}

/// A protobuf message in a message, as the first field of each.
fn nested_fields(levels: usize) -> Vec<u8> {
    let mut message = Vec::new();
    for _ in 0..levels {
        let mut outer = vec![0x0a];
        let mut length = message.len();
        while length >= 0x80 {
            outer.push(length as u8 | 0x80);
            length >>= 7;
        }
        outer.push(length as u8);
        // Written from the inside to the outside, backwards.
        message.extend(outer.into_iter().rev());
    }
    message.reverse();
    message
}

/// Many senders of the requests whose refusal takes longest, one for each listener and kind of call.
pub async fn refusals(campaign: &Campaign, probed: &[Probed], time: Duration) {
    let mut slowest: Vec<(String, &Operation, Duration, &Request)> = Vec::new();
    for one in probed {
        let Some((took, request)) = &one.refusal else { continue };
        let kind = match &one.operation.call {
            Call::Http { method, .. } => format!("{} {method}", request.listener),
            Call::JsonRpc { .. } => format!("{} JSON-RPC", request.listener),
            Call::Grpc { .. } => "gRPC".to_owned(),
            Call::Graph { .. } => "GraphQL".to_owned(),
            Call::Socket { .. } => continue,
        };
        match slowest.iter_mut().find(|(known, ..)| *known == kind) {
            Some(known) if known.2 >= *took => {}
            Some(known) => *known = (kind, &one.operation, *took, request),
            None => slowest.push((kind, &one.operation, *took, request)),
        }
    }
    let each = (time / u32::try_from(slowest.len().max(1)).unwrap()).max(Duration::from_secs(2));
    for (_, operation, took, request) in slowest {
        let attack = format!("{SENDERS} senders of a refusal that takes {took:?} ({})", shown(request));
        campaign.honest.begin(&format!("{SENDERS} senders of refusals of {}", operation.name));
        let mut tasks = JoinSet::new();
        for n in 0..SENDERS {
            let (subject, request) = (campaign.subject.clone(), request.clone());
            tasks.spawn(async move {
                let mut client = Client::new(attacker(n));
                loop {
                    if client.ask(&subject, &request).await.is_err() {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                }
            });
        }
        campaign.measure(&operation.name, &attack, tasks, each).await;
    }
}

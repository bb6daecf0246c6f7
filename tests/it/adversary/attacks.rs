//! The attacks with complete requests, each on every operation.

use std::time::{Duration, Instant};

use axum::body::Bytes;
use futures_util::{SinkExt, StreamExt};
use tokio::{net::TcpStream, task::JoinSet};
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

use super::{
    campaign::{Campaign, shown},
    describe::{Call, Operation},
    documents::Generator,
    envelopes::enveloped,
    framing::{self, Framing, NARROW},
    probe::Probed,
    request::{Client, Protocol, Request, connect},
    shapes, shuffle,
    subject::{Subject, attacker_address},
};
use crate::contracts::random::Random;

/// Bytes of a response from which an operation is attacked alone: shorter responses fit into the
/// system's buffers.
const LONG_RESPONSE: usize = 64 << 10;
/// Operations with short responses that are attacked together.
const TOGETHER: usize = 24;
const EACH: usize = 3;
/// JSON-RPC methods with the longest responses, which batches and WebSockets send.
const LONGEST: usize = 8;
/// Concurrent connections of an attack with one framing, as a multiple of those of an attack on one
/// operation.
const CONNECTIONS_PER_FRAMING: usize = 2;
/// The share of JSON-RPC requests that are sent unchanged.
const PLAIN_PERCENT: u64 = 40;
/// Minimum time of an attack.
pub(super) const LEAST: Duration = Duration::from_millis(350);
/// Senders of refused requests.
const SENDERS: usize = 64;
/// How long a node may work on requests of disconnected clients.
const ABORTED_LIMIT: Duration = Duration::from_secs(10);

/// The time limit of the next attack. Most attacks end early, so one may take as much time as
/// several others have on average.
fn at_most(until: Instant, left: usize) -> Duration {
    (8 * until.saturating_duration_since(Instant::now()) / u32::try_from(left).unwrap()).max(LEAST)
}

/// The usual framing of a client that reads no response.
fn unread_framing(request: &Request, n: usize) -> Framing {
    match request.protocol {
        Protocol::Http if n.is_multiple_of(2) => Framing::Pipelined,
        _ => Framing::Streams,
    }
}

/// Unread responses: long ones for one operation at a time, short ones for many operations
/// together.
pub(super) async fn unread(campaign: &Campaign, probed: &[Probed], time: Duration) {
    let (mut long, short): (Vec<&Probed>, Vec<&Probed>) = probed
        .iter()
        .partition(|probed| probed.bytes >= LONG_RESPONSE);
    long.sort_by_key(|probed| std::cmp::Reverse(probed.bytes));
    let until = Instant::now() + time;
    let connections = campaign.form.connections;

    for (n, one) in long.iter().enumerate() {
        campaign
            .honest
            .begin(&format!("{} unread", one.operation.name));
        let attack = format!(
            "unread by {connections} connections ({} kB each: {})",
            one.bytes / 1024,
            shown(&one.largest)
        );
        campaign
            .measure(
                &one.operation.name,
                &attack,
                spawn_unread(campaign, &[one], connections),
                at_most(until, long.len() - n),
            )
            .await;
    }

    campaign.honest.begin("short responses unread");
    for group in short.chunks(TOGETHER) {
        let names: Vec<_> = group
            .iter()
            .map(|one| one.operation.name.as_str())
            .collect();
        let name = format!("{} short responses from {} on", group.len(), names[0]);
        let attack = format!("unread by {EACH} connections each");
        campaign
            .measure(&name, &attack, spawn_unread(campaign, group, EACH), LEAST)
            .await;
    }
}

/// Requests the longest responses of operations, on this many connections each.
fn spawn_unread(campaign: &Campaign, probed: &[&Probed], connections: usize) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for n in 0..connections {
        for probed in probed {
            let listeners = &probed.operation.listeners;
            let mut request = probed.largest.clone();
            request.listener.clone_from(&listeners[n % listeners.len()]);

            let subject = campaign.subject.clone();
            let framing = unread_framing(&request, n);
            tasks.spawn(async move {
                framing::send(&subject, &request, framing, attacker_address(n), 0).await
            });
        }
    }
    tasks
}

/// The bodies of the JSON-RPC methods with the longest responses.
pub(super) fn longest(probed: &[Probed]) -> Vec<Bytes> {
    let mut by_length: Vec<_> = probed
        .iter()
        .filter(|probed| matches!(probed.operation.call, Call::JsonRpc { .. }))
        .collect();
    by_length.sort_by_key(|probed| std::cmp::Reverse(probed.bytes));
    by_length
        .iter()
        .take(LONGEST)
        .map(|probed| probed.largest.body.clone())
        .collect()
}

/// Every operation in as many framings as the form has time for, chosen by the seed. JSON-RPC
/// requests have identifiers of every kind, and are in batches.
pub(super) async fn framings(
    campaign: &Campaign,
    probed: &[Probed],
    time: Duration,
    random: &mut Random,
) {
    let longest = longest(probed);
    let until = Instant::now() + time;

    let mut by_framing = Framing::ALL.map(|framing| (framing, Vec::new()));
    for one in probed {
        let first = random.below(Framing::ALL.len() as u64) as usize;
        for n in 0..campaign.form.framings {
            by_framing[(first + n) % Framing::ALL.len()].1.push(one);
        }
    }

    for (n, (framing, operations)) in by_framing.iter().enumerate() {
        campaign.begin(&format!("every operation, {framing:?}"));

        let left = Framing::ALL.len() - n;
        let share = until.saturating_duration_since(Instant::now()) / u32::try_from(left).unwrap();
        let end = Instant::now() + share;

        let groups = (share.as_millis() / LEAST.as_millis()).max(1) as usize;
        let together = operations.len().div_ceil(groups).max(1);
        let each = (CONNECTIONS_PER_FRAMING * campaign.form.connections / together).max(1);

        for (group, operations) in operations.chunks(together).enumerate() {
            let mut tasks = JoinSet::new();
            for n in 0..each * operations.len() {
                let subject = campaign.subject.clone();
                let seed = random.next();
                let request = wrapped(operations[n % operations.len()], &longest, random);
                let framing = *framing;
                tasks.spawn(async move {
                    framing::send(&subject, &request, framing, attacker_address(n), seed).await;
                });
            }

            let name = named(operations);
            let attack = format!("{framing:?} on {each} connections each");
            campaign
                .measure(&name, &attack, tasks, at_most(end, groups - group))
                .await;
        }
    }

    if !campaign.subject.settle(ABORTED_LIMIT).await {
        campaign.fail(format!(
            "all framings: the node is still busy after {ABORTED_LIMIT:?}"
        ));
    }
}

/// A name for operations that are attacked together.
fn named(operations: &[&Probed]) -> String {
    let names: Vec<_> = operations
        .iter()
        .map(|one| one.operation.name.as_str())
        .collect();
    names.join(", ")
}

/// The largest request of an operation to one of its listeners, in an envelope if it is JSON-RPC.
fn wrapped(one: &Probed, longest: &[Bytes], random: &mut Random) -> Request {
    let mut request = one.largest.clone();
    let listener = random.below(one.operation.listeners.len() as u64) as usize;
    request
        .listener
        .clone_from(&one.operation.listeners[listener]);
    if matches!(one.operation.call, Call::JsonRpc { .. })
        && !random.chance(PLAIN_PERCENT)
        && let Some(body) = enveloped(&request.body, longest, random)
    {
        request.body = body.into();
    }
    request
}

/// Opens a WebSocket with this receive buffer.
async fn open_socket(
    subject: &Subject,
    request: &Request,
    n: usize,
    buffer: Option<u32>,
) -> Option<WebSocketStream<TcpStream>> {
    let address = subject.address(&request.listener);
    let stream = connect(address, attacker_address(n), buffer).await.ok()?;
    client_async(format!("ws://{address}{}", request.target), stream)
        .await
        .ok()
        .map(|(socket, _)| socket)
}

/// WebSockets that send deep, wide and random documents, and read all responses.
pub(super) async fn socket_documents(campaign: &Campaign, probed: &[Probed], seed: u64) {
    let sockets = probed
        .iter()
        .filter(|probed| matches!(probed.operation.call, Call::Socket { .. }));
    for (n, one) in sockets.enumerate() {
        let mut generator =
            Generator::new(&campaign.filled.chain_values, seed.wrapping_add(n as u64));
        let mut messages = shapes::messages(campaign, probed, &mut generator);
        shuffle(&mut messages, &mut generator.random);

        let mut tasks = JoinSet::new();
        for (n, part) in messages
            .chunks(messages.len().div_ceil(campaign.form.connections))
            .enumerate()
        {
            let subject = campaign.subject.clone();
            let request = one.largest.clone();
            let part = part.to_vec();
            tasks.spawn(async move {
                let mut part = part.into_iter().peekable();
                while part.peek().is_some() {
                    let Some(socket) = open_socket(&subject, &request, n, None).await else {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                        continue;
                    };

                    let (mut sink, mut stream) = socket.split();
                    let sending = async {
                        for message in part.by_ref() {
                            // The node may have closed the connection.
                            if sink.send(message).await.is_err() {
                                return;
                            }
                        }
                        let _ = sink.send(Message::Close(None)).await;
                    };
                    let reading = async { while let Some(Ok(_)) = stream.next().await {} };
                    tokio::join!(sending, reading);
                }
            });
        }

        let attack = format!("{} documents", messages.len());
        campaign
            .measure(
                &one.operation.name,
                &attack,
                tasks,
                campaign.form.share(2).max(LEAST),
            )
            .await;
    }
}

/// WebSockets that request the longest responses, and read nothing.
pub(super) async fn unread_sockets(campaign: &Campaign, probed: &[Probed], random: &mut Random) {
    let mut messages = longest(probed);
    messages.extend([
        r#"{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}"#.into(),
        r#"{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["logs",{}]}"#.into(),
        r#"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"query":"tm.event='NewBlock'"}}"#
            .into(),
        r#"{"type":"subscribe","tokens":[]}"#.into(),
    ]);

    for one in probed
        .iter()
        .filter(|probed| matches!(probed.operation.call, Call::Socket { .. }))
    {
        let mut tasks = JoinSet::new();
        let wrapped = messages
            .iter()
            .filter_map(|message| enveloped(message, &messages, random));
        let messages = [&messages[..], &wrapped.map(Bytes::from).collect::<Vec<_>>()].concat();

        for n in 0..campaign.form.connections {
            let subject = campaign.subject.clone();
            let request = one.largest.clone();
            let messages = messages.clone();
            tasks.spawn(async move {
                let Some(mut socket) = open_socket(&subject, &request, n, Some(NARROW)).await
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
        campaign
            .measure(
                &one.operation.name,
                &attack,
                tasks,
                campaign.form.share(2).max(LEAST),
            )
            .await;
    }
}

/// Requests of clients that disconnect at once.
pub(super) async fn aborted(campaign: &Campaign, probed: &[Probed]) {
    for one in probed {
        let mut tasks = JoinSet::new();
        for n in 0..campaign.form.connections.min(8) {
            let subject = campaign.subject.clone();
            let request = one.largest.clone();
            tasks.spawn(async move {
                let leave = Duration::from_millis(2 * n as u64);
                let sending = framing::send(
                    &subject,
                    &request,
                    unread_framing(&request, n),
                    attacker_address(n),
                    0,
                );
                let _ = tokio::time::timeout(leave, sending).await;
            });
        }
        while tasks.join_next().await.is_some() {}
        campaign.revive(&one.operation.name, "aborted").await;
    }
    if !campaign.subject.settle(ABORTED_LIMIT).await {
        campaign.fail(format!(
            "all operations, aborted: the node is still busy after {ABORTED_LIMIT:?}"
        ));
    }
}

/// Many senders of the slowest refused requests, one request for each listener and kind of call.
pub(super) async fn refusals(campaign: &Campaign, probed: &[Probed], time: Duration) {
    let mut slowest: Vec<(String, &Operation, Duration, &Request)> = Vec::new();
    for one in probed {
        let Some((took, request)) = &one.refusal else {
            continue;
        };
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
        let attack = format!(
            "{SENDERS} senders of a refusal that takes {took:?} ({})",
            shown(request)
        );
        campaign.honest.begin(&format!(
            "{SENDERS} senders of refusals of {}",
            operation.name
        ));

        let mut tasks = JoinSet::new();
        for n in 0..SENDERS {
            let subject = campaign.subject.clone();
            let request = request.clone();
            tasks.spawn(async move {
                let mut client = Client::new(attacker_address(n));
                loop {
                    if client.ask(&subject, &request).await.is_err() {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                }
            });
        }

        campaign
            .measure(&operation.name, &attack, tasks, each)
            .await;
    }
}

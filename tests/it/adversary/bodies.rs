//! Attacks with request bodies that do not end.

use std::{
    convert::Infallible,
    future::pending,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{body::Bytes, http::Request as HttpRequest};
use futures_util::{StreamExt, future::join_all, stream};
use http_body_util::StreamBody;
use hyper::{body::Frame, client::conn::http2, rt::Executor};
use hyper_util::rt::TokioIo;
use tokio::{io::AsyncWriteExt, task::JoinSet};

use super::{
    attacks::LEAST,
    campaign::Campaign,
    describe::Call,
    probe::Probed,
    request::{Client, Protocol, Request, connect},
    subject::{Subject, attacker_address, client_address},
};
use crate::support::grpc::ConnectionTasks;

/// Sizes of bodies to try, to find the largest that is accepted.
const BODY_SIZES: [usize; 6] = [32 << 20, 12 << 20, 5_000_000, 1 << 20, 230_000, 90_000];
/// Maximum bytes of held-back bodies in one attack.
const HELD_BYTES: usize = 320 << 20;
/// Bytes of the bodies of which an HTTP/2 connection holds back many, and their number.
const SHORT: usize = 16;
const STREAMS: usize = 32;
/// Bytes of a refused body that a node discards before it answers. A client that sends more may see
/// a closed connection instead of the refusal.
const DISCARDED: usize = 32 << 20;
/// How long an honest request may wait while bodies are held back.
const BESIDE_HELD_LIMIT: Duration = Duration::from_secs(3);

/// Sends the head of a request, and its body except for the last byte.
async fn hold_back(
    subject: Arc<Subject>,
    request: Request,
    length: usize,
    n: usize,
) -> Result<(), String> {
    let mut stream = connect(
        subject.address(&request.listener),
        attacker_address(n),
        None,
    )
    .await?;

    match request.protocol {
        Protocol::Http | Protocol::Http2 => {
            let sent = async {
                let head = request.head(&format!("content-length: {length}\r\n"));
                stream.write_all(head.as_bytes()).await?;
                stream.write_all(&body_beginning(length - 1)).await
            };
            sent.await.map_err(|error| error.to_string())?;
            pending::<()>().await;
        }
        Protocol::Grpc => {
            let tasks = ConnectionTasks::default();
            let _guard = tasks.guard();
            let (sender, connection) = http2::handshake(tasks.clone(), TokioIo::new(stream))
                .await
                .map_err(|error| error.to_string())?;
            tasks.execute(connection);

            let frame = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
            let first = Bytes::from([&[0][..], &frame, &vec![0; length - 1]].concat());
            let streams = if length <= SHORT { STREAMS } else { 1 };

            let requests = (0..streams).map(|_| {
                let frames = stream::iter([Ok::<_, Infallible>(Frame::data(first.clone()))]);
                let head = HttpRequest::post(format!("http://localhost{}", request.target));
                let http = head
                    .header("te", "trailers")
                    .header("content-type", "application/grpc+proto")
                    .body(StreamBody::new(frames.chain(stream::pending())))
                    .expect("the request has a head");
                let mut sender = sender.clone();
                // The response is kept to leave its stream open.
                async move { (sender.send_request(http).await, pending::<()>().await) }
            });

            join_all(requests).await;
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
        let request = one
            .operation
            .with_body(body_beginning(size), &one.arguments);
        let Ok(outcome) = client.ask(&campaign.subject, &request).await else {
            continue;
        };
        // gRPC reports it as RESOURCE_EXHAUSTED or OUT_OF_RANGE.
        if outcome.status != 413 && !matches!(outcome.grpc_status, Some(8 | 11)) {
            return size;
        }
    }
    BODY_SIZES[BODY_SIZES.len() - 1]
}

/// The route of an operation. Operations with one route, such as those of JSON-RPC, share one body;
/// so do all gRPC methods with one request message.
fn route(probed: &Probed) -> (&str, &str) {
    let target = match probed.operation.call {
        Call::Grpc { streams: false, .. } => "",
        _ => probed.largest.target.as_str(),
    };
    (probed.largest.listener.as_str(), target)
}

/// Bodies without their last byte, and complete requests meanwhile.
pub(super) async fn held_bodies(campaign: &Campaign, probed: &[Probed], time: Duration) {
    let mut routes: Vec<&Probed> = Vec::new();
    for one in probed.iter().filter(|one| one.operation.has_body()) {
        if routes.iter().all(|known| route(known) != route(one)) {
            routes.push(one);
        }
    }

    let each = (time / u32::try_from(2 * routes.len().max(1)).unwrap()).max(LEAST);

    for one in routes {
        let mut client = Client::new(client_address(2));
        let length = largest_body(campaign, &mut client, one).await;
        campaign
            .revive(&one.operation.name, &format!("a body of {length} bytes"))
            .await;

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
            let began = Instant::now();
            let request = one.largest.clone();

            let honest_request = async {
                tokio::time::sleep(each / 2).await;
                let began = Instant::now();
                let asked = client.ask(&campaign.subject, &request).await;
                (asked, began.elapsed())
            };

            let (_, (asked, took)) = tokio::join!(
                campaign.measure(name, &attack, tasks, each.max(BESIDE_HELD_LIMIT)),
                honest_request
            );

            let is_refused = asked
                .as_ref()
                .is_ok_and(|outcome| outcome.status == 503 && request.body.len() < 16_000);
            let is_lost = asked.is_err() && request.body.len() < DISCARDED;

            if took > BESIDE_HELD_LIMIT || is_lost || is_refused {
                let answer = asked.map(|outcome| outcome.status);
                campaign.fail(format!(
                    "{name}, {attack}: another request waits {took:?} of {:?}: {answer:?}",
                    began.elapsed()
                ));
            }
        }
    }
}

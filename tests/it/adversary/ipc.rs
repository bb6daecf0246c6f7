//! Attacks on the Unix socket, where JSON-RPC has no frames: documents in arbitrary pieces, and
//! unread responses.

use std::time::Duration;

use axum::body::Bytes;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    task::JoinSet,
    time::timeout,
};
use tokio_tungstenite::tungstenite::Message;

use super::{
    attacks::{LEAST, longest},
    campaign::Campaign,
    documents::Generator,
    probe::Probed,
    request::RESPONSE_TIMEOUT,
    shapes, shuffle,
};

/// The name of the socket in reports.
const NAME: &str = "the Unix socket";
/// How often each connection requests the longest responses.
const ROUNDS: usize = 10;

/// Connections that send deep, wide and random documents in pieces, and read all responses. Some
/// disconnect within a document.
pub(super) async fn documents(campaign: &Campaign, probed: &[Probed], seed: u64) {
    let mut generator = Generator::new(&campaign.filled.chain_values, seed);
    let mut messages: Vec<Bytes> = shapes::messages(campaign, probed, &mut generator)
        .into_iter()
        .map(Message::into_data)
        .collect();
    shuffle(&mut messages, &mut generator.random);

    let mut tasks = JoinSet::new();
    let share = messages.len().div_ceil(campaign.form.connections);
    for part in messages.chunks(share) {
        let socket = campaign.subject.socket();
        let part = part.to_vec();
        let piece = 1 + generator.random.below(4_096) as usize;
        tasks.spawn(async move {
            // A refused document ends its connection.
            for several in part.chunks(16) {
                let Ok(stream) = UnixStream::connect(&socket).await else {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    continue;
                };
                let (mut read, mut write) = stream.into_split();

                let sending = async {
                    // Without this byte the node would expect HTTP.
                    write.write_all(b"[]").await?;
                    for bytes in several.iter().flat_map(|document| document.chunks(piece)) {
                        write.write_all(bytes).await?;
                    }
                    write.shutdown().await
                };
                let reading = async {
                    let mut buffer = vec![0; 64 << 10];
                    while read.read(&mut buffer).await.is_ok_and(|length| length > 0) {}
                };

                let (_, ()) = tokio::join!(sending, reading);
            }
        });
    }

    let attack = format!("{} documents", messages.len());
    let time = campaign.form.share(2).max(LEAST);
    campaign.measure(NAME, &attack, tasks, time).await;
    check(campaign).await;
}

/// Checks that the socket exists and answers.
async fn check(campaign: &Campaign) {
    let asked = async {
        let mut stream = UnixStream::connect(campaign.subject.socket()).await?;
        let request = br#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
        stream.write_all(request).await?;
        stream.read_u8().await
    };
    match timeout(RESPONSE_TIMEOUT, asked).await {
        Ok(Ok(b'{')) => {}
        outcome => campaign.fail(format!("{NAME} gives no answer: {outcome:?}")),
    }
}

/// Connections that request the longest responses, and subscribe, and read nothing.
pub(super) async fn unread(campaign: &Campaign, probed: &[Probed]) {
    check(campaign).await;
    let mut requests = longest(probed);
    requests.extend([
        r#"{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}"#.into(),
        r#"{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["logs",{}]}"#.into(),
    ]);

    let mut tasks = JoinSet::new();
    for _ in 0..campaign.form.connections {
        let socket = campaign.subject.socket();
        let requests = requests.clone();
        tasks.spawn(async move {
            let Ok(mut stream) = UnixStream::connect(&socket).await else {
                return;
            };
            for request in requests.iter().cycle().take(ROUNDS * requests.len()) {
                if stream.write_all(request).await.is_err() {
                    return;
                }
            }
            std::future::pending::<()>().await;
        });
    }

    let attack = format!("unread by {} connections", campaign.form.connections);
    let time = campaign.form.share(2).max(LEAST);
    campaign.measure(NAME, &attack, tasks, time).await;
}

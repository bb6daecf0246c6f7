//! Framings of requests, most of which no ordinary client uses.

use std::net::IpAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{
    frames::{self, frame},
    request::{Request, connect},
    subject::Subject,
};
use crate::contracts::random::Random;

/// The receive buffer of clients that do not read.
pub(super) const NARROW: u32 = 4 << 10;
/// Approximate maximum of the bytes that a connection sends.
const SENT_BYTES: usize = 1 << 20;
/// Pipelined requests on an HTTP/1.1 connection.
const PIPELINED: usize = 64;
/// Streams of a connection: slightly more than a node accepts concurrently.
const STREAMS: u32 = 130;
/// Streams that are opened together, and reset after the node has sent a response.
const RESET_TOGETHER: u32 = 8;
/// Frames of a flood.
const FLOOD: usize = 20_000;
/// Chunks or frames of a divided body.
const PIECES: usize = 2_000;
/// Bytes of header fields: as many as a node may accept with a request.
const HEAD_BYTES: usize = 15_000;

/// A way to send a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// HTTP/1.1: many pipelined requests with unread responses.
    Pipelined,
    /// HTTP/1.1: a chunked body in tiny pieces.
    Chunks,
    /// HTTP/1.1: `Expect: 100-continue` without a body.
    Expecting,
    /// HTTP/1.1: a body shorter than its `Content-Length`.
    Short,
    /// HTTP/1.1: header fields without an end.
    EndlessHead,
    /// HTTP/2: many streams whose windows stay closed.
    Streams,
    /// HTTP/2: many streams with closed windows, and as many header fields as a node accepts.
    LongHeads,
    /// HTTP/2: streams that are reset as soon as they are served.
    Resets,
    /// HTTP/2: header fields without an end, and small ones that expand to large ones.
    HeaderFlood,
    /// HTTP/2: bodies in frames of one byte or none.
    TinyFrames,
    /// HTTP/2: frames that are answered or ignored, with unread answers.
    ControlFlood,
}

impl Framing {
    pub(super) const ALL: [Self; 11] = [
        Self::Pipelined,
        Self::Chunks,
        Self::Expecting,
        Self::Short,
        Self::EndlessHead,
        Self::Streams,
        Self::LongHeads,
        Self::Resets,
        Self::HeaderFlood,
        Self::TinyFrames,
        Self::ControlFlood,
    ];
}

/// The responses that a connection reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Nothing,
    Everything,
    /// Some bytes after each piece that it sends.
    InTurn,
}

/// The pieces that a connection sends.
struct Script {
    pieces: Vec<Vec<u8>>,
    reading: Reading,
}

impl Script {
    fn new(reading: Reading, pieces: Vec<Vec<u8>>) -> Self {
        Self { pieces, reading }
    }
}

/// Sends a request with a framing, and keeps the connection open. Returns when the node closes it.
pub(super) async fn send(
    subject: &Subject,
    request: &Request,
    framing: Framing,
    from: IpAddr,
    seed: u64,
) {
    let Script { pieces, reading } = script(request, framing, &mut Random::new(seed));
    let buffer = (reading == Reading::Nothing).then_some(NARROW);
    let Ok(stream) = connect(subject.address(&request.listener), from, buffer).await else {
        return;
    };
    let (mut reader, mut writer) = stream.into_split();
    if reading == Reading::InTurn {
        let mut answer = vec![0; 64 << 10];
        for piece in &pieces {
            if writer.write_all(piece).await.is_err()
                || reader.read(&mut answer).await.is_ok_and(|read| read == 0)
            {
                return;
            }
        }
    }

    let writing = async {
        let left = if reading == Reading::InTurn {
            &[][..]
        } else {
            &pieces
        };
        for piece in left {
            if writer.write_all(piece).await.is_err() {
                return;
            }
        }
        std::future::pending().await
    };
    let reading = async {
        match reading {
            Reading::Nothing => std::future::pending().await,
            _ => drop(tokio::io::copy(&mut reader, &mut tokio::io::sink()).await),
        }
    };
    tokio::select! {
        () = writing => {}
        () = reading => {}
    }
}

fn script(request: &Request, framing: Framing, random: &mut Random) -> Script {
    match framing {
        Framing::Pipelined => {
            let one = request.bytes();
            let count = (SENT_BYTES / one.len()).clamp(2, PIPELINED);
            Script::new(Reading::Nothing, vec![one.repeat(count)])
        }
        Framing::Chunks => Script::new(Reading::Everything, chunks(request, random)),
        Framing::Expecting => {
            let length = random.pick(&[1, 230_000, 1 << 20, 5_000_000]);
            let head = request.head(&format!(
                "expect: 100-continue\r\ncontent-length: {length}\r\n"
            ));
            Script::new(Reading::Everything, vec![head.into_bytes()])
        }

        Framing::Short => {
            let body = request.sent_body();
            let length = body.len() + random.pick(&[1, 4_096, 1 << 20, 1 << 40]);
            let head = request.head(&format!("content-length: {length}\r\n"));
            Script::new(Reading::Everything, vec![head.into_bytes(), body.to_vec()])
        }
        Framing::EndlessHead => {
            let value = "v".repeat(random.pick(&[1, 700, 60_000]));
            let count = (SENT_BYTES / 16 / value.len()).clamp(1, random.pick(&[90, 2_000]));
            let head = request.head(&format!("x-field: {value}\r\n").repeat(count));
            Script::new(
                Reading::Everything,
                vec![head.trim_end().as_bytes().to_vec()],
            )
        }

        Framing::Streams => Script::new(Reading::Everything, streams(request, 0)),
        Framing::LongHeads => Script::new(Reading::Everything, streams(request, HEAD_BYTES)),
        Framing::Resets => Script::new(Reading::InTurn, resets(request, random)),
        Framing::HeaderFlood => Script::new(Reading::Everything, header_flood(request, random)),

        Framing::TinyFrames => {
            let byte = [0];
            let payload = random.pick(&[&byte[..], &[]]);
            let fields = frames::fields(request);
            let begun = [frames::preface(0), frames::head(1, &fields, false)].concat();
            let body = frame(frames::DATA, 0, 1, payload).repeat(FLOOD);
            Script::new(Reading::Everything, vec![begun, body])
        }

        Framing::ControlFlood => {
            let begun = [
                frames::preface(0),
                frames::request(1, request, &frames::fields(request)),
            ]
            .concat();
            let one = match random.below(5) {
                0 => frame(frames::SETTINGS, 0, 0, &[]),
                1 => frame(frames::PING, 0, 0, &[0; 8]),
                2 => frame(frames::PRIORITY, 0, 1, &[0; 5]),
                3 => frame(frames::WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes()),
                _ => frame(frames::UNKNOWN, 0, 1, &[0; 8]),
            };
            Script::new(Reading::Nothing, vec![begun, one.repeat(FLOOD)])
        }
    }
}

/// A chunked body, with or without its end.
fn chunks(request: &Request, random: &mut Random) -> Vec<Vec<u8>> {
    let body = request.sent_body();
    let longest = body.len().div_ceil(PIECES);
    let extension = if random.chance(20) {
        ";extension=value"
    } else {
        ""
    };
    let mut pieces = vec![request.head("transfer-encoding: chunked\r\n").into_bytes()];
    // A packet contains several of them.
    for together in body.chunks(16 * longest.max(1)) {
        let chunks = together.chunks(longest.max(1));
        let chunks = chunks.map(|chunk| {
            [
                format!("{:x}{extension}\r\n", chunk.len()).as_bytes(),
                chunk,
                b"\r\n",
            ]
            .concat()
        });
        pieces.push(chunks.collect::<Vec<_>>().concat());
    }
    let end = random.pick(&["", "0\r\n", "0\r\n\r\n", "0\r\ntrailer: value\r\n\r\n"]);
    pieces.push(end.as_bytes().to_vec());
    pieces
}

/// Requests on many streams of a connection without a window for responses.
fn streams(request: &Request, padding: usize) -> Vec<Vec<u8>> {
    let mut fields = frames::fields(request);
    if padding > 0 {
        fields.extend(frames::field("x-field", &"v".repeat(padding)));
    }
    let mut pieces = vec![frames::preface(0)];
    let mut sent = 0;
    for stream in (1..2 * STREAMS).step_by(2) {
        let one = frames::request(stream, request, &fields);
        sent += one.len();
        // The maximum of unread body bytes that a node accepts.
        if sent > 200_000 && !request.body.is_empty() && padding == 0 {
            break;
        }
        pieces.push(one);
    }
    pieces
}

/// Requests that end once the node has sent a response: by the client's reset, or by an error in
/// the requests.
fn resets(request: &Request, random: &mut Random) -> Vec<Vec<u8>> {
    const CANCEL: u32 = 8;
    /// More than the window of a stream may become.
    const LARGEST_INCREMENT: u32 = i32::MAX as u32;
    let fields = frames::fields(request);
    let (kind, payload) = random.pick(&[
        (frames::RST_STREAM, CANCEL),
        (frames::WINDOW_UPDATE, LARGEST_INCREMENT),
    ]);
    let mut pieces = vec![frames::preface(1)];
    let mut stream = 1;
    while pieces.iter().map(Vec::len).sum::<usize>() < SENT_BYTES && pieces.len() < 64 {
        let together: Vec<u32> = (0..RESET_TOGETHER).map(|n| stream + 2 * n).collect();
        stream += 2 * RESET_TOGETHER;
        let opened: Vec<_> = together
            .iter()
            .map(|stream| frames::request(*stream, request, &fields))
            .collect();
        let closed: Vec<_> = together
            .iter()
            .map(|stream| frame(kind, 0, *stream, &payload.to_be_bytes()))
            .collect();
        // The node answers a ping.
        pieces.push([opened.concat(), frame(frames::PING, 0, 0, &[0; 8])].concat());
        pieces.push([closed.concat(), frame(frames::PING, 0, 0, &[1; 8])].concat());
    }
    pieces
}

/// Header fields without an end, or ones that expand to megabytes.
fn header_flood(request: &Request, random: &mut Random) -> Vec<Vec<u8>> {
    let fields = frames::fields(request);
    let mut pieces = vec![frames::preface(0)];
    if random.chance(50) {
        // A field of 4 kB, and one byte for each repetition.
        for stream in (1..100).step_by(2) {
            let large = if stream == 1 {
                frames::indexed_field("x", &"v".repeat(4_000))
            } else {
                Vec::new()
            };
            let mut repeated = [fields.clone(), large].concat();
            repeated.resize(frames::FRAME_BYTES, frames::LATEST);
            pieces.push(frames::head(stream, &repeated, true));
        }
    } else {
        let more = frames::field("x-field", &"v".repeat(random.pick(&[1, 4_000]))).repeat(4);
        pieces.push(frame(frames::HEADERS, 0, 1, &fields));
        pieces.push(frame(frames::CONTINUATION, 0, 1, &more).repeat(SENT_BYTES / more.len() / 4));
    }
    pieces
}

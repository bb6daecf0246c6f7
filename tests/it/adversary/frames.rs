//! HTTP/2 frames as bytes, in orders that no library sends (RFC 9113).

use super::request::{Protocol, Request};

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const PRIORITY: u8 = 2;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;
/// A type that receivers must ignore.
pub(super) const UNKNOWN: u8 = 0x99;

pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;

/// Bytes of a frame's payload that every receiver accepts.
pub(super) const FRAME_BYTES: usize = 16 << 10;
/// Bytes of a body that are sent on a stream: less than any initial window.
const STREAM_BYTES: usize = 60_000;
/// The setting of the initial window of streams.
const INITIAL_WINDOW_SIZE: u16 = 4;

/// A frame.
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len())
        .expect("a short payload")
        .to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The beginning of a connection whose streams may each send `window` bytes before the client
/// reads.
pub(super) fn preface(window: u32) -> Vec<u8> {
    let settings = [
        &INITIAL_WINDOW_SIZE.to_be_bytes()[..],
        &window.to_be_bytes(),
    ]
    .concat();
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        &frame(SETTINGS, 0, 0, &settings)[..],
    ]
    .concat()
}

/// An integer with a prefix of seven bits (RFC 7541 section 5.1).
fn integer(number: usize) -> Vec<u8> {
    const PREFIX: usize = 127;
    if number < PREFIX {
        return vec![number as u8];
    }
    let mut encoded = vec![PREFIX as u8];
    let mut rest = number - PREFIX;
    while rest >= 0x80 {
        encoded.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    encoded.push(rest as u8);
    encoded
}

/// A header field that is not indexed (RFC 7541 section 6.2.2).
pub(super) fn field(name: &str, value: &str) -> Vec<u8> {
    [
        &[0][..],
        &integer(name.len()),
        name.as_bytes(),
        &integer(value.len()),
        value.as_bytes(),
    ]
    .concat()
}

/// A header field that later ones reference with [`LATEST`].
pub(super) fn indexed_field(name: &str, value: &str) -> Vec<u8> {
    [&[0x40], &field(name, value)[1..]].concat()
}

/// A reference to the field that was indexed last (RFC 7541 section 6.1).
pub(super) const LATEST: u8 = 0x80 | 62;

/// The header fields of a request.
pub(super) fn fields(request: &Request) -> Vec<u8> {
    let mut fields = vec![
        field(":method", &request.method),
        field(":scheme", "http"),
        field(":path", &request.target),
        field(":authority", "localhost"),
    ];
    fields.extend(
        request
            .media
            .iter()
            .map(|media| field("content-type", media)),
    );
    if request.protocol == Protocol::Grpc {
        fields.push(field("te", "trailers"));
    }
    fields.concat()
}

/// A request on a stream. The end of a long body is held back.
pub(super) fn request(stream: u32, request: &Request, fields: &[u8]) -> Vec<u8> {
    let body = request.sent_body();
    let mut frames = head(stream, fields, body.is_empty());
    let sent = &body[..body.len().min(STREAM_BYTES)];
    let mut left = body.len();
    for piece in sent.chunks(FRAME_BYTES) {
        left -= piece.len();
        let flags = if left == 0 { END_STREAM } else { 0 };
        frames.extend(frame(DATA, flags, stream, piece));
    }
    frames
}

/// The header fields of a request, in as many frames as necessary.
pub(super) fn head(stream: u32, fields: &[u8], is_end: bool) -> Vec<u8> {
    let mut frames = Vec::new();
    let mut left = fields.len();
    for piece in fields.chunks(FRAME_BYTES) {
        left -= piece.len();
        let is_first = frames.is_empty();
        let kind = if is_first { HEADERS } else { CONTINUATION };
        let end_stream = if is_first && is_end { END_STREAM } else { 0 };
        let end_headers = if left == 0 { END_HEADERS } else { 0 };
        frames.extend(frame(kind, end_stream | end_headers, stream, piece));
    }
    frames
}

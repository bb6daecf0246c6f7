//! JSON-RPC envelopes of a request: identifiers of every kind, and batches.

use axum::body::Bytes;
use serde_json::Value;

use crate::contracts::random::Random;

/// Requests of a batch: the maximum that a node accepts.
const BATCH: usize = 1_000;
/// Maximum bytes of a batch.
const BATCH_BYTES: usize = 1 << 20;
/// Members of a batch that is too long.
const TOO_MANY: usize = 100_000;
/// Members that are not requests.
const MALFORMED: [&str; 10] = [
    "1",
    "null",
    "\"\"",
    "{}",
    "[]",
    "[[[]]]",
    "true",
    r#"{"jsonrpc":"2.0","id":{},"method":1}"#,
    r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"web3_clientVersion"}"#,
    r#"{"jsonrpc":"1.0","id":"x","method":""}"#,
];

/// The `id` member with its comma; empty for a notification.
fn identifier(random: &mut Random) -> String {
    let id = match random.below(13) {
        0 => return String::new(),
        1 => "null".to_owned(),
        2 => random.next().to_string(),
        3 => format!("-{}", random.next()),
        4 => format!("{}.5e-{}", random.next(), random.below(400)),
        5 => "1e99999".to_owned(),
        6 => "9".repeat(10_000),
        7 => format!(
            "\"{}\"",
            "i".repeat(random.pick(&[0, 100, 20_000, 200_000]))
        ),
        8 => r#""\u0000\ud83d\ude00\"\\\/""#.to_owned(),
        9 => r#""\ud800""#.to_owned(),
        10 => [&"[".repeat(100)[..], &"]".repeat(100)].concat(),
        11 => r#"{"id":[1,{"id":null}]}"#.to_owned(),
        _ => r#"1,"id":2"#.to_owned(),
    };
    format!("\"id\":{id},")
}

/// A request with a random identifier or none; nothing if it is not a request.
pub(super) fn identified(request: &[u8], random: &mut Random) -> Option<String> {
    with_id(request, &identifier(random))
}

fn with_id(request: &[u8], id: &str) -> Option<String> {
    let mut request: Value = serde_json::from_slice(request).ok()?;
    request.as_object_mut()?.remove("id");
    Some(format!("{{{id}{}", request.to_string().strip_prefix('{')?))
}

/// A request with another identifier, or in a batch together with `others`. None if it is not a
/// request.
pub(super) fn enveloped(request: &[u8], others: &[Bytes], random: &mut Random) -> Option<String> {
    let one = identified(request, random)?;
    let fitting = |length: usize| (BATCH_BYTES / length.max(1)).clamp(1, BATCH);
    let items = match random.below(10) {
        0..=3 => return Some(one),
        4 => vec![one.clone(); fitting(one.len())],
        5 => {
            let notification = with_id(request, "")?;
            vec![notification.clone(); fitting(notification.len())]
        }
        6 => {
            let all: Vec<_> = others
                .iter()
                .map(|other| String::from_utf8_lossy(other).into_owned())
                .collect();
            let count = fitting(all.iter().map(String::len).max().unwrap_or(1));
            all.into_iter().cycle().take(count).collect()
        }
        7 => {
            let mixed = (0..64).map(|_| match random.below(4) {
                0 => identified(request, random).unwrap_or_default(),
                1 => format!("[{one},[{one}]]"),
                _ => random.pick(&MALFORMED).to_owned(),
            });
            mixed.collect()
        }
        8 => vec![random.pick(&MALFORMED).to_owned(); TOO_MANY],
        _ => return Some(format!("{}{one}{}", "[".repeat(50), "]".repeat(50))),
    };
    Some(format!("[{}]", items.join(",")))
}

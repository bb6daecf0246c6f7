//! The entry point for fuzzers: entries of logs.

use tetrad_stdx::codec::Writer;

use super::{LogEntry, RequestPart};

/// Decodes an entry, and decodes its encoding again. Returns whether it is one.
pub fn entry(bytes: &[u8]) -> usize {
    let reverts_to = LogEntry::reverts_to(bytes);
    let Ok(entry) = LogEntry::decode(bytes) else {
        return 0;
    };

    let (part, _) = RequestPart::split(bytes).expect("an entry can be split");
    let mut out = Writer::default();
    part.iter().for_each(|part| part.write(&mut out));
    entry.write(&mut out);
    assert_eq!(
        RequestPart::split(out.bytes()).map(|(part, _)| part),
        Ok(part)
    );

    let again = LogEntry::decode(out.bytes()).expect("an encoded entry can be decoded");
    assert_eq!(format!("{again:?}"), format!("{entry:?}"));

    match entry {
        LogEntry::Revert { to, .. } => assert_eq!(reverts_to, Ok(Some(to))),
        _ => assert_eq!(reverts_to, Ok(None)),
    }
    1
}

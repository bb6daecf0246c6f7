//! The metadata that the compiler appends to code: a map in CBOR and its length in two bytes. It
//! has the compiler's version, and usually the hash of a document with the hashes of all sources.

use std::ops::Range;

/// The most members of the map.
const MAX_MEMBERS: u8 = 6;

/// The beginnings of hashes in the map: `ipfs`, `bzzr0`, `bzzr1`, each with the head of the byte
/// string that follows.
const HASHES: [&[u8]; 3] = [
    b"\x64ipfs\x58\x22\x12\x20",
    b"\x65bzzr0\x58\x20",
    b"\x65bzzr1\x58\x20",
];

/// The length of a hash after its beginning.
const HASH_LENGTH: usize = 32;

/// The metadata at the end of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Metadata {
    /// The first byte.
    pub(super) start: usize,
    /// The number of bytes, with those of the length.
    pub(super) length: usize,
    /// Whether it has the hash of the sources.
    pub(super) has_hash: bool,
}

/// Finds the metadata at the end of code.
pub(super) fn trailing_metadata(code: &[u8]) -> Option<Metadata> {
    let (_, length) = code.split_last_chunk::<2>()?;
    let start = code
        .len()
        .checked_sub(2 + usize::from(u16::from_be_bytes(*length)))?;
    let found = read_metadata(&code[start..])?;
    (start + found.length == code.len()).then_some(Metadata { start, ..found })
}

/// Reads the metadata that bytes begin with.
pub(super) fn read_metadata(bytes: &[u8]) -> Option<Metadata> {
    let (head, mut rest) = bytes.split_first()?;
    let members = head
        .checked_sub(0xa0)
        .filter(|members| (1..=MAX_MEMBERS).contains(members))?;

    let mut has_hash = false;
    for _ in 0..members {
        let (kind, key, after) = read_string(rest)?;
        if kind != TEXT {
            return None;
        }
        has_hash |= matches!(key, b"ipfs" | b"bzzr0" | b"bzzr1");
        rest = match after.first()? {
            // False and true, as of `experimental`.
            0xf4 | 0xf5 => &after[1..],
            _ => read_string(after)?.2,
        };
    }

    let content = bytes.len() - rest.len();
    let (length, _) = rest.split_first_chunk::<2>()?;
    let is_length = usize::from(u16::from_be_bytes(*length)) == content;
    is_length.then_some(Metadata {
        start: 0,
        length: content + 2,
        has_hash,
    })
}

/// The types of strings in CBOR.
const BYTES: u8 = 2;
const TEXT: u8 = 3;

/// Reads a string: its type, its content, and the bytes after it.
fn read_string(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (head, rest) = bytes.split_first()?;
    let kind = head >> 5;
    let (length, rest) = match head & 0x1f {
        short @ 0..=23 => (usize::from(short), rest),
        24 => rest
            .split_first()
            .map(|(length, rest)| (usize::from(*length), rest))?,
        _ => return None,
    };

    let (content, rest) = rest.split_at_checked(length)?;
    matches!(kind, BYTES | TEXT).then_some((kind, content, rest))
}

/// Finds the hashes of metadata anywhere in code: a contract that creates others contains theirs.
pub(super) fn embedded_hashes(code: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let beginning = HASHES
            .iter()
            .find(|beginning| code[at..].starts_with(beginning));
        match beginning.map(|beginning| at + beginning.len()) {
            Some(start) if start + HASH_LENGTH <= code.len() => {
                found.push(start..start + HASH_LENGTH);
                at = start + HASH_LENGTH;
            }
            _ => at += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use alloy_primitives::hex;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_forms_of_all_versions_are_recognised() {
        let hash = "11".repeat(32);
        let forms = [
            // 0.4.17 to 0.5.8
            (format!("a165627a7a72305820{hash}0029"), true),
            // 0.5.9 and later
            (
                format!("a265627a7a72315820{hash}64736f6c63430005100032"),
                true,
            ),
            (
                format!("a2646970667358221220{hash}64736f6c63430008180033"),
                true,
            ),
            // With `experimental`
            (
                format!(
                    "a36c6578706572696d656e74616cf5646970667358221220{hash}64736f6c63430008180041"
                ),
                true,
            ),
            // `bytecodeHash: none`
            ("a164736f6c6343000818000a".to_owned(), false),
        ];

        for (form, has_hash) in forms {
            let code = [b"code".to_vec(), hex::decode(&form).unwrap()].concat();
            let found = trailing_metadata(&code).unwrap_or_else(|| panic!("{form}"));
            assert_eq!(
                (found.start, found.start + found.length, found.has_hash),
                (4, code.len(), has_hash),
                "{form}"
            );
        }

        for none in [
            "",
            "00",
            "0000",
            "a10000",
            "a164736f6c6343000818000b",
            "ffffffffff",
        ] {
            assert_eq!(
                trailing_metadata(&hex::decode(none).unwrap()),
                None,
                "{none}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(code: Vec<u8>, tail in 0_usize..80) {
            let mut code = code;
            code.push(0xa2);
            code.extend(*b"\x64ipfs\x58\x22\x12\x20");
            code.extend(vec![1; tail]);
            embedded_hashes(&code);
            if let Some(found) = trailing_metadata(&code) {
                prop_assert_eq!(found.start + found.length, code.len());
            }
        }
    }
}

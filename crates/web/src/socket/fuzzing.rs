//! Entry point for fuzzers: the documents of a connection without HTTP.

use bytes::BytesMut;
use tokio_util::codec::Decoder;

use super::{Utf8Bytes, json::DocumentCodec};

/// The greatest length of a document.
const MAX_DOCUMENT: usize = 1_000;

/// Finds the documents in the bytes after the first one, which says in what pieces they arrive, and
/// returns their number. They are the same in whatever pieces, and none is too long.
pub fn documents(input: &[u8]) -> usize {
    let Some((piece, bytes)) = input.split_first() else {
        return 0;
    };
    let (whole, whole_is_valid) = found(bytes, bytes.len().max(1));
    let (in_pieces, pieces_are_valid) = found(bytes, usize::from(*piece).max(1));

    assert_eq!(whole, in_pieces);
    assert_eq!(whole_is_valid, pieces_are_valid);
    for document in whole.iter().chain(&in_pieces) {
        assert!(document.len() <= MAX_DOCUMENT);
        assert!(!document.starts_with([' ', '\t', '\r', '\n']));
    }
    whole.len()
}

/// The documents up to the first error, and whether there is none.
fn found(bytes: &[u8], piece: usize) -> (Vec<Utf8Bytes>, bool) {
    let mut codec = DocumentCodec::new(MAX_DOCUMENT);
    let mut buffer = BytesMut::new();
    let mut documents = Vec::new();

    for piece in bytes.chunks(piece) {
        buffer.extend_from_slice(piece);
        loop {
            match codec.decode(&mut buffer) {
                Ok(Some(document)) => documents.push(document),
                Ok(None) => break,
                Err(_) => return (documents, false),
            }
        }
        assert!(buffer.len() <= MAX_DOCUMENT);
    }
    (documents, true)
}

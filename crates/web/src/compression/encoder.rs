//! Brotli and gzip, at once and piece by piece.

use std::{
    cell::RefCell,
    io::{self, Write},
};

use brotli::CompressorWriter;
use flate2::{Compress, Compression, FlushCompress, Status, write::GzEncoder};

use super::negotiation::Coding;

/// Bytes of Brotli's buffer for input.
const BUFFER: usize = 4 << 10;
/// The window of gzip, as a power of two.
const GZIP_WINDOW: u8 = 15;

/// How much work a body is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// For a body that is sent once.
    Once,
    /// For a body that is sent until the next block.
    Repeated,
    /// For a body that never changes.
    Always,
}

impl Effort {
    /// Quality and window (as a power of two) of Brotli. The window takes most of the memory.
    fn brotli(self) -> (u32, u32) {
        match self {
            Self::Once => (2, 18),
            Self::Repeated => (4, 18),
            Self::Always => (9, 20),
        }
    }

    fn gzip(self) -> Compression {
        match self {
            // With level 1 zlib-rs takes a quarter less time, and its output is half as long again.
            Self::Once => Compression::new(2),
            Self::Repeated => Compression::default(),
            Self::Always => Compression::best(),
        }
    }
}

/// Compresses a whole body.
pub(super) fn encode(body: &[u8], coding: Coding, effort: Effort) -> io::Result<Vec<u8>> {
    if (coding, effort) == (Coding::Gzip, Effort::Once) {
        return GZIP.with_borrow_mut(|compress| gzip(compress, body));
    }
    let mut encoder = Encoder::new(coding, effort, body.len() / 4 + 64);
    encoder.write(body)?;
    encoder.finish()
}

thread_local! {
    /// Reused: for a body of few kilobytes its allocation costs more than the compression.
    static GZIP: RefCell<Compress> = RefCell::new(Compress::new_gzip(Effort::Once.gzip(), GZIP_WINDOW));
}

fn gzip(compress: &mut Compress, body: &[u8]) -> io::Result<Vec<u8>> {
    compress.reset();
    let mut encoded = Vec::with_capacity(body.len() / 3 + 64);
    loop {
        let rest = body.get(compress.total_in() as usize..).unwrap_or_default();
        match compress.compress_vec(rest, &mut encoded, FlushCompress::Finish)? {
            Status::StreamEnd => return Ok(encoded),
            Status::Ok | Status::BufError => encoded.reserve(body.len() / 3 + 64),
        }
    }
}

/// Compresses a body piece by piece.
pub(super) enum Encoder {
    Brotli(Box<CompressorWriter<Vec<u8>>>),
    Gzip(Box<GzEncoder<Vec<u8>>>),
}

impl Encoder {
    /// An encoder with room for `capacity` bytes of output.
    pub(super) fn new(coding: Coding, effort: Effort, capacity: usize) -> Self {
        let output = Vec::with_capacity(capacity);
        match coding {
            Coding::Brotli => {
                let (quality, window) = effort.brotli();
                Self::Brotli(Box::new(CompressorWriter::new(
                    output, BUFFER, quality, window,
                )))
            }
            Coding::Gzip => Self::Gzip(Box::new(GzEncoder::new(output, effort.gzip()))),
        }
    }

    /// Bytes of memory that an encoder of this coding takes for a body that is sent once.
    pub(super) fn memory(coding: Coding) -> usize {
        match coding {
            Coding::Brotli => 2 << 20,
            Coding::Gzip => 512 << 10,
        }
    }

    pub(super) fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        match self {
            Self::Brotli(encoder) => encoder.write_all(piece),
            Self::Gzip(encoder) => encoder.write_all(piece),
        }
    }

    /// Takes the output so far.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(match self {
            Self::Brotli(encoder) => encoder.get_mut(),
            Self::Gzip(encoder) => encoder.get_mut(),
        })
    }

    /// Ends the stream and returns the rest of the output.
    pub(super) fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Brotli(encoder) => Ok(encoder.into_inner()),
            Self::Gzip(encoder) => encoder.finish(),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Read;

    use proptest::{collection::vec, prelude::*};

    use super::*;

    pub(in super::super) fn decode(encoded: &[u8], coding: Coding) -> Vec<u8> {
        let mut decoded = Vec::new();
        match coding {
            Coding::Brotli => brotli::Decompressor::new(encoded, BUFFER).read_to_end(&mut decoded),
            Coding::Gzip => flate2::read::GzDecoder::new(encoded).read_to_end(&mut decoded),
        }
        .expect("what was encoded");
        decoded
    }

    /// Text that repeats itself, or bytes that do not.
    fn bodies() -> impl Strategy<Value = Vec<u8>> {
        let noise = vec(any::<u8>(), 0..5_000);
        let text = (vec("[a-z\":{}0-9]{1,20}", 1..20), 0..3_000usize);
        prop_oneof![
            noise,
            text.prop_map(|(words, times)| words.concat().repeat(times / 20 + 1).into_bytes())
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn what_is_encoded_is_decoded_again(body in bodies(), size in 1..4_000usize) {
            for coding in [Coding::Brotli, Coding::Gzip] {
                for effort in [Effort::Once, Effort::Repeated] {
                    let encoded = encode(&body, coding, effort).expect("no failure");
                    prop_assert!(decode(&encoded, coding) == body);
                }

                let mut encoder = Encoder::new(coding, Effort::Once, 0);
                let mut encoded = Vec::new();
                for piece in body.chunks(size) {
                    encoder.write(piece).expect("no failure");
                    encoded.extend(encoder.take());
                }
                encoded.extend(encoder.finish().expect("no failure"));
                prop_assert!(decode(&encoded, coding) == body);
            }
        }
    }
}

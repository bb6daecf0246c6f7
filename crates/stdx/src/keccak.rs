//! Keccak-256 of many messages. Processors with AVX-512 compute eight permutations at once, which
//! takes less than twice as long as one.

use std::array::from_fn;

use alloy_primitives::{B256, keccak256};

/// Bytes that a permutation absorbs.
const RATE: usize = 136;
/// Messages that are hashed at once.
const LANES: usize = 8;
/// Messages that are in memory at once.
const BUFFERED: usize = 64;
/// Length of the longest message that a lane hashes, in bytes. A message that is much longer than
/// the others would occupy the lanes by itself in the end, which is slower than to hash it without
/// them.
const LONGEST: usize = 32 * RATE;

/// The states of all lanes: word `i` of the state of lane `l` is `[i][l]`.
type States = [[u64; LANES]; 25];

/// Without optimization, eight permutations at once take longer than one after the other.
const OPTIMIZED: bool = !cfg!(debug_assertions);

/// A message that a lane hashes.
struct Lane<'a> {
    /// Its index among the messages.
    index: usize,
    /// The bytes not yet absorbed; `None` once the last block, which is padded, is.
    rest: Option<&'a [u8]>,
}

/// Encodings of some items, which are hashed together.
#[derive(Debug, Default)]
pub struct Messages {
    bytes: Vec<u8>,
    /// The end of each encoding.
    ends: Vec<usize>,
}

impl Messages {
    /// Encodes the items, and calls `found` with each of them, its encoding and the encoding's
    /// hash, in any order.
    pub fn hash<T>(
        &mut self,
        items: &[T],
        mut encode: impl FnMut(&T, &mut Vec<u8>),
        mut found: impl FnMut(&T, &[u8], B256),
    ) {
        for items in items.chunks(BUFFERED) {
            self.bytes.clear();
            self.ends.clear();
            for item in items {
                encode(item, &mut self.bytes);
                self.ends.push(self.bytes.len());
            }

            let messages = (0..items.len()).map(|at| self.message(at));
            hash_each(messages, |at, hash| {
                found(&items[at], self.message(at), hash)
            });
        }
    }

    /// The encoding of the item at this index.
    fn message(&self, at: usize) -> &[u8] {
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin..self.ends[at]]
    }
}

/// Calls `found` with the index and the hash of each message, in any order.
fn hash_each<'a>(
    messages: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    found: impl FnMut(usize, B256),
) {
    let permutation = avx512::permutation().filter(|_| OPTIMIZED && messages.len() > 1);
    hash_with(permutation, messages, found);
}

/// Calls `found` with the index and the hash of each message. Hashes in lanes if there is a
/// permutation for them.
fn hash_with<'a>(
    permutation: Option<impl Fn(&mut States)>,
    messages: impl Iterator<Item = &'a [u8]> + Clone,
    mut found: impl FnMut(usize, B256),
) {
    let is_apart = |(_, message): &(usize, &[u8])| permutation.is_none() || message.len() > LONGEST;

    let messages = messages.enumerate();
    messages
        .clone()
        .filter(is_apart)
        .for_each(|(index, message)| found(index, keccak256(message)));
    if let Some(permute) = &permutation {
        hash_in_lanes(
            messages.filter(|message| !is_apart(message)),
            permute,
            found,
        );
    }
}

/// Hashes messages with their indexes, eight at a time.
fn hash_in_lanes<'a>(
    messages: impl Iterator<Item = (usize, &'a [u8])>,
    permute: impl Fn(&mut States),
    mut found: impl FnMut(usize, B256),
) {
    let mut messages = messages.map(|(index, message)| Lane {
        index,
        rest: Some(message),
    });
    let mut states: States = [[0; LANES]; 25];
    let mut lanes: [Option<Lane<'_>>; LANES] = from_fn(|_| messages.next());

    while lanes.iter().any(Option::is_some) {
        for (at, lane) in lanes.iter_mut().enumerate() {
            if let Some(lane) = lane {
                absorb(&mut states, at, lane);
            }
        }

        permute(&mut states);

        for (at, lane) in lanes.iter_mut().enumerate() {
            if let Some(Lane { index, rest: None }) = lane {
                found(*index, squeeze(&states, at));
                states.iter_mut().for_each(|words| words[at] = 0);
                *lane = messages.next();
            }
        }
    }
}

/// Adds the next block of a lane's message to its state.
fn absorb(states: &mut States, at: usize, lane: &mut Lane<'_>) {
    let message = lane.rest.unwrap_or_default();
    let mut padded = [0; RATE];
    let block = match message.split_first_chunk::<RATE>() {
        Some((block, rest)) => {
            lane.rest = Some(rest);
            block
        }
        None => {
            lane.rest = None;
            padded[..message.len()].copy_from_slice(message);
            // Ethereum's Keccak pads with 0x01; SHA-3 would with 0x06.
            padded[message.len()] = 0x01;
            padded[RATE - 1] |= 0x80;
            &padded
        }
    };

    for (words, bytes) in states.iter_mut().zip(block.as_chunks().0) {
        words[at] ^= u64::from_le_bytes(*bytes);
    }
}

/// Returns the hash that the state of a lane begins with.
fn squeeze(states: &States, at: usize) -> B256 {
    let mut hash = B256::ZERO;
    for (bytes, words) in hash.as_chunks_mut().0.iter_mut().zip(states) {
        *bytes = words[at].to_le_bytes();
    }
    hash
}

/// The permutation Keccak-f\[1600\] of all states (FIPS 202, 3.3). Inlined, so that it is compiled
/// for the processor features of its caller.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "loops of this form are unrolled and vectorized"
)]
fn permute(a: &mut States) {
    const ROUND_CONSTANTS: [u64; 24] = [
        0x0000_0000_0000_0001,
        0x0000_0000_0000_8082,
        0x8000_0000_0000_808a,
        0x8000_0000_8000_8000,
        0x0000_0000_0000_808b,
        0x0000_0000_8000_0001,
        0x8000_0000_8000_8081,
        0x8000_0000_0000_8009,
        0x0000_0000_0000_008a,
        0x0000_0000_0000_0088,
        0x0000_0000_8000_8009,
        0x0000_0000_8000_000a,
        0x0000_0000_8000_808b,
        0x8000_0000_0000_008b,
        0x8000_0000_0000_8089,
        0x8000_0000_0000_8003,
        0x8000_0000_0000_8002,
        0x8000_0000_0000_0080,
        0x0000_0000_0000_800a,
        0x8000_0000_8000_000a,
        0x8000_0000_8000_8081,
        0x8000_0000_0000_8080,
        0x0000_0000_8000_0001,
        0x8000_0000_8000_8008,
    ];
    /// The rotation of each word.
    const ROTATIONS: [u32; 25] = [
        0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56,
        14,
    ];

    // θ, ρ with π, χ and ι, in the order of FIPS 202.
    for constant in ROUND_CONSTANTS {
        let mut columns = [[0; LANES]; 5];
        for x in 0..5 {
            for l in 0..LANES {
                columns[x][l] = a[x][l] ^ a[x + 5][l] ^ a[x + 10][l] ^ a[x + 15][l] ^ a[x + 20][l];
            }
        }

        let mut b = [[0; LANES]; 25];
        for x in 0..5 {
            for y in 0..5 {
                for l in 0..LANES {
                    let theta = columns[(x + 4) % 5][l] ^ columns[(x + 1) % 5][l].rotate_left(1);
                    b[y + 5 * ((2 * x + 3 * y) % 5)][l] =
                        (a[x + 5 * y][l] ^ theta).rotate_left(ROTATIONS[x + 5 * y]);
                }
            }
        }

        for y in 0..5 {
            for x in 0..5 {
                for l in 0..LANES {
                    let next = b[(x + 1) % 5 + 5 * y][l];
                    let after = b[(x + 2) % 5 + 5 * y][l];
                    a[x + 5 * y][l] = b[x + 5 * y][l] ^ (!next & after);
                }
            }
        }

        for l in 0..LANES {
            a[0][l] ^= constant;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::States;

    /// Returns the permutation, if this processor can compute it.
    pub(super) fn permutation() -> Option<impl Fn(&mut States)> {
        #[expect(
            unsafe_code,
            reason = "a function for certain processors cannot be called otherwise"
        )]
        // SAFETY: the only condition of the function is the feature that was detected.
        is_x86_feature_detected!("avx512f")
            .then_some(|states: &mut States| unsafe { permute(states) })
    }

    #[target_feature(enable = "avx512f")]
    fn permute(states: &mut States) {
        super::permute(states);
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod avx512 {
    use super::States;

    pub(super) fn permutation() -> Option<fn(&mut States)> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of all lengths up to four blocks, the longest of them in the middle, and two longer
    /// than lanes hash.
    fn messages() -> Vec<Vec<u8>> {
        let mut messages: Vec<_> = (0..=4 * RATE)
            .map(|n| vec![n as u8; (n * 7) % (4 * RATE + 1)])
            .collect();
        messages[5] = vec![5; LONGEST + 1];
        messages.push(vec![6; 3 * LONGEST]);
        messages
    }

    fn hashes(
        messages: &[Vec<u8>],
        hash: impl FnOnce(std::vec::IntoIter<&[u8]>, &mut dyn FnMut(usize, B256)),
    ) -> Vec<B256> {
        let mut hashes = vec![B256::ZERO; messages.len()];
        let slices: Vec<_> = messages.iter().map(Vec::as_slice).collect();
        hash(slices.into_iter(), &mut |index, found| {
            hashes[index] = found
        });
        hashes
    }

    #[test]
    fn each_message_has_its_hash() {
        for count in [0, 1, 2, 7, 8, 9, 4 * RATE + 2] {
            let messages = &messages()[..count];
            let expected: Vec<_> = messages.iter().map(keccak256).collect();

            assert_eq!(
                hashes(messages, |messages, found| hash_each(messages, found)),
                expected,
                "{count} messages"
            );

            let in_lanes = hashes(messages, |messages, found| {
                hash_with(Some(permute), messages, found)
            });
            assert_eq!(in_lanes, expected, "{count} messages in lanes");

            if let Some(permute) = avx512::permutation() {
                let in_lanes = hashes(messages, |messages, found| {
                    hash_with(Some(permute), messages, found)
                });
                assert_eq!(in_lanes, expected, "{count} messages with AVX-512");
            }
        }
    }
}

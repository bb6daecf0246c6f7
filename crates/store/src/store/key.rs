//! Keys of the index: 64-bit hashes of addresses, topics and parts of the state.

use alloy_primitives::{Address, B256, Log};
use tetrad_primitives::state::AccountPart;

/// The key of a log: the hash of its address, or of a topic and its position. Keys may collide, so
/// callers check the logs that they find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogKey(pub u64);

/// The multiplier of the hash: the golden ratio in 64 bits, an odd number without a pattern.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

impl LogKey {
    /// Returns all keys of a log.
    pub fn all(log: &Log) -> impl Iterator<Item = Self> + '_ {
        let topics = log.topics().iter().enumerate();
        std::iter::once(Self::address(&log.address))
            .chain(topics.map(|(position, topic)| Self::topic(position, topic)))
    }

    /// Returns the key of logs of this contract.
    pub fn address(address: &Address) -> Self {
        Self(mix(4, address.as_slice()))
    }

    /// Returns the key of logs with this topic in this position.
    pub fn topic(position: usize, topic: &B256) -> Self {
        Self(mix(position as u64, topic.as_slice()))
    }
}

/// The key of a part of the state. Keys may collide, so callers check the changes that they find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct StateKey(pub(super) u64);

impl StateKey {
    /// Returns the key of a part of an account.
    pub(super) fn of(address: &Address, part: AccountPart) -> Self {
        let address = address.as_slice();
        Self(match part {
            AccountPart::Fields => mix(5, address),
            AccountPart::Code => mix(6, address),
            AccountPart::Storage => mix(7, address),
            AccountPart::Slot(index) => mix(mix(8, address), &index.to_le_bytes::<32>()),
        })
    }
}

/// Returns the key of a block or transaction hash.
pub(super) fn hash_key(hash: &B256) -> u64 {
    u64::from_be_bytes(hash.0[..8].try_into().unwrap_or_default())
}

fn mix(seed: u64, bytes: &[u8]) -> u64 {
    bytes
        .chunks(8)
        .fold(seed.wrapping_mul(MIX), |mixed, chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let mixed = (mixed ^ u64::from_le_bytes(word)).wrapping_mul(MIX);
            mixed ^ (mixed >> 29)
        })
}

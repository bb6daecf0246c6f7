//! What the index knows addresses, topics and pieces of the state by.

use alloy_primitives::{Address, B256, Log, U256};

/// An address, or a topic and its position, in 64 bits. Two may share one: whoever looks something up looks at what
/// is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogKey(pub u64);

/// An odd number without pattern: the golden ratio in 64 bits.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

impl LogKey {
    /// What a log can be found by.
    pub fn all(log: &Log) -> impl Iterator<Item = Self> + '_ {
        let topics = log.topics().iter().enumerate();
        std::iter::once(Self::address(&log.address)).chain(topics.map(|(position, topic)| Self::topic(position, topic)))
    }

    /// Logs of this contract.
    pub fn address(address: &Address) -> Self {
        Self(mix(4, address.as_slice()))
    }

    /// Logs with this topic in this position.
    pub fn topic(position: usize, topic: &B256) -> Self {
        Self(mix(position as u64, topic.as_slice()))
    }
}

/// Something of the state that has a value at every height, in 64 bits. Two may share one, as above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct StateKey(pub(super) u64);

impl StateKey {
    /// Nonce and balance of an account, and whether there is one.
    pub(super) fn account(address: &Address) -> Self {
        Self(mix(5, address.as_slice()))
    }

    /// An account's code.
    pub(super) fn code(address: &Address) -> Self {
        Self(mix(6, address.as_slice()))
    }

    /// An account's storage as a whole, which is new when it is wiped.
    pub(super) fn storage(address: &Address) -> Self {
        Self(mix(7, address.as_slice()))
    }

    /// One slot of it.
    pub(super) fn slot(address: &Address, index: U256) -> Self {
        Self(mix(mix(8, address.as_slice()), &index.to_le_bytes::<32>()))
    }
}

/// What the index knows blocks and transactions by.
pub(super) fn hash_key(hash: &B256) -> u64 {
    u64::from_be_bytes(hash.0[..8].try_into().unwrap_or_default())
}

fn mix(seed: u64, bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(seed.wrapping_mul(MIX), |mixed, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let mixed = (mixed ^ u64::from_le_bytes(word)).wrapping_mul(MIX);
        mixed ^ (mixed >> 29)
    })
}

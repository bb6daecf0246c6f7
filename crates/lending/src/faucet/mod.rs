//! The faucet: pays coins and the network's tokens on request, up to limits per address, per
//! client and per day.
//!
//! The treasury pays, with transactions like any other, so that every node of a cluster accepts
//! them. The limits are derived from the chain: a payment's access list names its client, as a
//! keyed hash, and the payments of the last day are read from the blocks and the pool. Nothing else
//! is kept, so that a restart or a revert changes no limit by itself.
//!
//! The treasury owns the tokens, so that they are minted and do not run out. An account of the
//! faucet's own would have to be funded before the first payment. A file of payments would be
//! another state to maintain, and one for each node.
//!
//! Failed payments count: a contract that refuses coins only when they arrive would otherwise spend
//! the treasury's gas without limit. Two nodes of a cluster may each pay at the same moment without
//! seeing the other's payment, which is in the leader's pool until its block: a limit may then be
//! exceeded by one payment for each other node.

mod mark;
mod payer;
mod payments;
mod rest;

use alloy_primitives::{U256, uint};

pub use payer::{Faucet, FaucetSetup};
pub use rest::router;

/// The most payments of one asset within a day that can be configured. It bounds the memory for
/// them.
pub const MAX_PER_DAY: u32 = 10_000;

/// The configuration of the faucet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaucetConfig {
    /// Wei of one payment of the native coin; none for no faucet.
    pub amount: Option<U256>,
    /// Payments of each asset to one address within 24 hours; 0 for no limit.
    pub per_address: u32,
    /// Payments of each asset to one client within 24 hours; 0 for no limit.
    pub per_client: u32,
    /// Payments of each asset within 24 hours, from 1 to 10,000.
    pub per_day: u32,
}

impl Default for FaucetConfig {
    /// That of the development profile, where every client can edit balances anyway.
    fn default() -> Self {
        let amount = uint!(100_000_000_000_000_000_000_U256);
        Self {
            amount: Some(amount),
            per_address: 0,
            per_client: 0,
            per_day: 5_000,
        }
    }
}

impl FaucetConfig {
    /// Returns that of the production profile: no faucet, and limits for one that is turned on.
    pub fn production() -> Self {
        Self {
            amount: None,
            per_address: 1,
            per_client: 5,
            per_day: 1_000,
        }
    }
}

//! A model of the lending pool in plain Rust with exact integers, written from the rules rather
//! than from the contract. An operation returns exactly the events that the contract must emit, or
//! the bytes with which it must revert.

mod admin;
pub(crate) mod asset;
pub(crate) mod credit;
pub(crate) mod liquidation;
pub(crate) mod pool;
pub(crate) mod session;

use alloy_primitives::U256;

pub(crate) fn n(value: u128) -> U256 {
    U256::from(value)
}

pub(crate) fn ray() -> U256 {
    // Not computed from 256-bit integers: without optimisation, that took a tenth of the time of
    // the random walks.
    n(10_u128.pow(27))
}

/// `x * y / z`, rounded down or up.
pub(crate) fn floor(x: U256, y: U256, z: U256) -> U256 {
    x * y / z
}

pub(crate) fn ceil(x: U256, y: U256, z: U256) -> U256 {
    (x * y).div_ceil(z)
}

//! The exchange and the lending protocol, tested on their real bytecode in a bare EVM.
//!
//! `bench` runs contracts, `artifacts` reads the output of `contracts/build.mjs`, `harnesses` binds
//! the contracts that only tests use, and `network` deploys all contracts like genesis. The rest is
//! tests.

#![allow(
    clippy::unwrap_used,
    reason = "a test that panics has failed, and says where"
)]
#![allow(
    non_snake_case,
    reason = "bindings and their arguments keep Solidity's names"
)]

pub(crate) mod artifacts;
mod bench;
mod harnesses;
mod model;
mod network;
pub(crate) mod random;
mod render;
mod rogue;
mod tokens;
mod vectors;

mod arbitrage;
mod credit_vectors;
mod gas;
mod interest_vectors;
mod interfaces;
mod lens;
mod multicall;
mod oracle;
mod oracle_halts;
mod p_token;
mod pool_adversaries;
mod pool_bad_debt;
mod pool_borrow;
mod pool_collateral;
mod pool_credit;
mod pool_limits;
mod pool_liquidation;
mod pool_owner;
mod pool_prices;
mod pool_supply;
mod swap_vectors;
mod token;
mod vault_adversaries;
mod vault_checks;
mod vault_owner;
mod vault_walk;
mod vault_window;
mod walk;

//! [Lending](lending): pools, loans and credit scores; the [activity] of users there and on
//! the exchange; and the [faucet].
//!
//! Each of the three is derived from the chain and from nothing else, and they know nothing of each
//! other. The crate knows nothing of the other interfaces.
//!
//! ```
//! use alloy_primitives::U256;
//! use tetrad_lending::lending::yearly_percent;
//!
//! // The interest of a second, in parts of 10^27, as the pool contract has it.
//! assert_eq!(yearly_percent(U256::from(1_585_489_599_188_229_325u64)), "5.13");
//! ```

pub mod activity;
pub mod faucet;
pub mod lending;

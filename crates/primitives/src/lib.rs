//! The values that a chain consists of: [blocks](block), with their transactions and receipts, and
//! the [state], a persistent Merkle trie.
//!
//! Values only: the crate executes nothing, reads no clock, and opens no file. Blocks know nothing
//! of the state.
//!
//! ```
//! use alloy_primitives::{Address, U256, keccak256};
//! use tetrad_primitives::state::{AccountChange, AccountFields, Changes, State};
//!
//! let before = State::default();
//! let mut after = before.clone();
//! let address = Address::repeat_byte(1);
//! after.apply(&Changes(vec![AccountChange {
//!     address,
//!     key: keccak256(address),
//!     after: Some(AccountFields { nonce: 0, balance: U256::from(7), code: None }),
//!     storage_wiped: false,
//!     storage: Vec::new(),
//!     public_key: None,
//! }]));
//! assert_eq!(after.balance(address)?, U256::from(7));
//! assert_eq!(before.balance(address)?, U256::ZERO);
//! assert_ne!(after.root(), before.root());
//! # Ok::<(), tetrad_primitives::state::ReadError>(())
//! ```

pub mod block;
pub mod state;

//! The interfaces of block [explorers](explorer), which are Blockscout's, Etherscan's and Sourcify's,
//! and the [index] of addresses behind them.
//!
//! The index follows the chain and knows nothing of HTTP. The crate knows nothing of the other
//! interfaces.
//!
//! ```
//! use alloy_primitives::{Address, B256, Log, U256, keccak256};
//! use tetrad_explorer::index::{TokenKind, transfers_of};
//!
//! let event = keccak256("Transfer(address,address,uint256)");
//! let topics = vec![event, B256::ZERO, Address::repeat_byte(1).into_word()];
//! let amount = B256::from(U256::from(7));
//! let log = Log::new_unchecked(Address::repeat_byte(9), topics, amount.to_vec().into());
//! let transfers = transfers_of(&log);
//! assert_eq!(transfers[0].kind, TokenKind::Erc20);
//! assert_eq!(transfers[0].to, Address::repeat_byte(1));
//! assert_eq!(transfers[0].amount, U256::from(7));
//! ```

pub mod explorer;
pub mod index;

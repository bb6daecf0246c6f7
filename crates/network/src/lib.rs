//! The mirrored network: its [account model](account), and its [parameters](network), which are
//! ids, prefixes, contract addresses and tokens.
//!
//! All of it is data and pure functions. The crate knows no chain and no state, opens no file and no
//! connection.
//!
//! ```
//! use tetrad_network::{account::parse_address, network::Network};
//!
//! let network = Network::default();
//! let token = network.token("weth").expect("a token");
//! assert_eq!(token.decimals, 18);
//!
//! let parsed = parse_address(&token.address.to_string(), &network.hrp)?;
//! assert_eq!(parsed.address, token.address);
//! # Ok::<(), tetrad_network::account::AddressError>(())
//! ```

pub mod account;
pub mod network;

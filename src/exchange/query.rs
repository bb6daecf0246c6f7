//! Tokens as clients name them in paths and messages.

use alloy_primitives::Address;
use schemars::{Schema, json_schema};

use crate::{
    network::Network,
    web::parameters::{Param, ParamError, parameters},
};

/// Reads a token's address in any case. A wrong checksum is accepted, as clients also write addresses in lower case.
pub(super) fn address(text: &str) -> Option<Address> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    digits.filter(|digits| digits.len() == 40).and_then(|digits| digits.parse().ok())
}

/// A token of the network by its address: the position in the network's list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedToken(pub(super) usize);

impl Param for ListedToken {
    const MAY_BE_UNKNOWN: bool = true;

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^0[xX][0-9a-fA-F]{40}$" })
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ParamError> {
        let wanted = address(text).ok_or_else(|| ParamError::malformed("expected 0x with 40 hex digits"))?;
        let found = network.tokens.iter().position(|token| token.address == wanted);
        found.map(Self).ok_or_else(|| ParamError::Unknown(format!("no token {wanted}")))
    }
}

parameters! {
    /// The path of a route about one token.
    pub(super) struct TokenPath {
        /// The token's address in any case.
        #[param("address", example = "0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7")]
        pub(super) token: ListedToken,
    }
}

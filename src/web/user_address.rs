//! Addresses of users, as clients write them.

use alloy_primitives::Address;

use super::RestError;
use crate::account::{Hrp, address_from_hex, parse_account_address};

/// Hex in any case, or bech32 of an account; `name` is the parameter's.
pub fn user_address(name: &'static str, text: &str, hrp: &Hrp) -> Result<Address, RestError> {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let parsed = if is_hex { address_from_hex(&text.to_ascii_lowercase()) } else { parse_account_address(text, hrp) };
    parsed.map_err(|error| RestError::parameter(name, error.to_string()))
}

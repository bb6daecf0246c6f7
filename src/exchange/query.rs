//! What clients put into paths.

use alloy_primitives::Address;

use crate::web::RestError;

/// A token's address in any case: clients write it in lower case or as a wallet shows it, and a wrong checksum is for
/// wallets to complain about.
pub(super) fn address(text: &str) -> Result<Address, RestError> {
    address_of("address", text)
}

/// The same for a parameter of another name.
pub(super) fn address_of(name: &'static str, text: &str) -> Result<Address, RestError> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let parsed = digits.filter(|digits| digits.len() == 40).and_then(|digits| digits.parse().ok());
    parsed.ok_or_else(|| RestError::parameter(name, "expected 0x with 40 hex digits"))
}

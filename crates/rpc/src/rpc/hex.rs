//! QUANTITY and DATA: JSON-RPC's encodings of numbers and bytes (`execution-apis`).

use std::fmt;

use alloy_primitives::U256;
use serde::{Serialize, Serializer};
use tetrad_stdx::digits;

/// A number as a QUANTITY: `0x` and the hex digits without leading zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Quantity<T>(pub T);

impl<T: fmt::LowerHex> Serialize for Quantity<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:#x}", self.0))
    }
}

/// Reads a QUANTITY of up to 256 bits.
pub(super) fn quantity(text: &str) -> Result<U256, String> {
    let text = text
        .strip_prefix("0x")
        .ok_or("expected a quantity with 0x prefix")?;
    // `execution-apis` defines quantities strictly: there is one way to write each number.
    match text.as_bytes() {
        [] => Err("expected a quantity, got 0x without digits".to_owned()),
        [b'0', _, ..] => Err("expected a quantity without leading zeros".to_owned()),
        digits if digits.len() > 64 => Err("expected a quantity of at most 256 bits".to_owned()),
        _ => digits::hex(text).ok_or_else(|| "expected a quantity in hex digits".to_owned()),
    }
}

/// Reads a QUANTITY of up to 64 bits.
pub(super) fn quantity_u64(text: &str) -> Result<u64, String> {
    u64::try_from(quantity(text)?).map_err(|_| "expected a quantity of at most 64 bits".to_owned())
}

/// Reads DATA of any length.
pub(super) fn data(text: &str) -> Result<Vec<u8>, String> {
    let digits = text
        .strip_prefix("0x")
        .ok_or("expected hex data with 0x prefix")?;
    if digits.len() % 2 == 1 {
        return Err("expected hex data of even length".to_owned());
    }
    alloy_primitives::hex::decode(digits)
        .map_err(|_| "expected hex data, got a character that is no hex digit".to_owned())
}

/// Reads DATA of exactly `N` bytes; `what` names it for the message.
pub(super) fn fixed_data<const N: usize>(text: &str, what: &str) -> Result<[u8; N], String> {
    let bytes = data(text)?;
    let length = bytes.len();
    bytes
        .try_into()
        .map_err(|_| format!("expected {what}, got {length} bytes"))
}

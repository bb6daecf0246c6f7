//! The golden vectors of `tests/data/accounts.json`, as the tests read them.

use alloy_primitives::{Address, B256, hex};
use serde_json::Value;
use tetrad::account::Hrp;

/// The whole file.
pub(super) fn golden() -> Value {
    serde_json::from_str(include_str!("../../data/accounts.json")).expect("the vectors are JSON")
}

/// A member that is a string.
pub(super) fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member]
        .as_str()
        .unwrap_or_else(|| panic!("{member} is not a string in {value}"))
}

/// The elements of a member that is a list.
pub(super) fn list<'a>(value: &'a Value, member: &str) -> &'a [Value] {
    value[member]
        .as_array()
        .unwrap_or_else(|| panic!("{member} is not a list"))
}

/// The members of a member that is an object with strings.
pub(super) fn pairs<'a>(value: &'a Value, member: &str) -> Vec<(&'a str, &'a str)> {
    let object = value[member]
        .as_object()
        .unwrap_or_else(|| panic!("{member} is not an object"));
    object
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str().expect("strings only")))
        .collect()
}

pub(super) fn hrp(prefix: &str) -> Hrp {
    Hrp::new(prefix).expect("a good prefix")
}

pub(super) fn bytes(hex_text: &str) -> Vec<u8> {
    hex::decode(hex_text).expect("hex")
}

pub(super) fn hash(hex_text: &str) -> B256 {
    hex_text.parse().expect("32 bytes of hex")
}

/// An address, read independently of the parser under test.
pub(super) fn address(hex_text: &str) -> Address {
    Address::from_slice(&bytes(hex_text))
}

//! Values, errors and messages of contracts as text.

use std::fmt::Write;

use alloy_dyn_abi::{DynSolValue, JsonAbiExt};
use alloy_json_abi::Error;
use alloy_primitives::hex;
use alloy_sol_types::{ContractError, GenericContractError, SolInterface};

/// The longest message, in characters; longer ones are cut.
pub const MAX_MESSAGE: usize = 4_096;

/// The most bytes of data that are decoded.
pub const MAX_DATA: usize = 1 << 16;

/// The longest text of values, in characters; longer ones are cut.
pub const MAX_TEXT: usize = 600;

/// Formats a value without names and quotes.
pub fn plain(value: &DynSolValue) -> String {
    match value {
        DynSolValue::Bool(value) => value.to_string(),
        DynSolValue::Int(value, _) => value.to_string(),
        DynSolValue::Uint(value, _) => value.to_string(),
        DynSolValue::FixedBytes(word, size) => hex::encode_prefixed(&word[..(*size).min(32)]),
        DynSolValue::Address(address) => address.to_checksum(None),
        DynSolValue::Bytes(bytes) => hex::encode_prefixed(&bytes[..bytes.len().min(MAX_TEXT)]),
        DynSolValue::String(text) => text.clone(),
        other => {
            let mut text = String::new();
            // Writing to a string cannot fail.
            let _ = write!(text, "{other:?}");
            cut(text)
        }
    }
}

/// Formats the reason of a revert: a text, or `error` with its arguments, which `value` formats.
pub fn revert_reason(data: &[u8], error: Option<&Error>, value: impl Fn(&DynSolValue) -> String) -> String {
    if data.is_empty() {
        return "without a reason".to_owned();
    }
    if data.len() <= MAX_DATA {
        if let Ok(standard) = GenericContractError::abi_decode(data) {
            return match standard {
                ContractError::Revert(revert) => clean(&cut(revert.reason)),
                ContractError::Panic(panic) => clean(&panic.to_string()),
                ContractError::CustomError(never) => match never {},
            };
        }
        if let Some(decoded) = error.and_then(|error| custom_error(data, error, value)) {
            return decoded;
        }
    }
    cut(hex::encode_prefixed(&data[..data.len().min(MAX_TEXT)]))
}

/// Formats a custom error with its arguments, if the data of a revert is one.
pub fn custom_error(data: &[u8], error: &Error, value: impl Fn(&DynSolValue) -> String) -> Option<String> {
    let arguments = data.get(4..).filter(|_| data.len() <= MAX_DATA)?;
    let values = error.abi_decode_input(arguments).ok()?;
    let names = error.inputs.iter().map(|input| input.name.as_str());
    Some(format!("{}({})", error.name, named(names, &values, value)))
}

/// Formats values with the names of their parameters.
pub fn named<'n>(
    names: impl Iterator<Item = &'n str>,
    values: &[DynSolValue],
    value: impl Fn(&DynSolValue) -> String,
) -> String {
    let parts = names.zip(values).map(|(name, one)| match name {
        "" => value(one),
        name => format!("{name}: {}", value(one)),
    });
    cut(parts.collect::<Vec<_>>().join(", "))
}

/// Replaces control characters, so that a contract cannot control the terminal, and cuts long text off.
pub fn clean(text: &str) -> String {
    let letters = text.chars().take(MAX_MESSAGE);
    letters.map(|letter| if letter.is_control() && letter != '\n' { '\u{fffd}' } else { letter }).collect()
}

/// Cuts a text that is too long.
pub fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

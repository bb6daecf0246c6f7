//! Values, errors and messages of contracts as text.

use alloy_dyn_abi::DynSolValue;
use alloy_json_abi::Error;
use alloy_primitives::hex;
use alloy_sol_types::{ContractError, GenericContractError, SolInterface};
use tetrad_stdx::text::excerpt;

use super::abi::{MAX_DATA, decode_values};

/// The longest message, in characters; longer ones are cut.
pub const MAX_MESSAGE: usize = 4_096;

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
        DynSolValue::Function(function) => hex::encode_prefixed(function.as_slice()),
        DynSolValue::Array(values) | DynSolValue::FixedArray(values) => {
            format!("[{}]", listed(values, plain))
        }
        DynSolValue::Tuple(values) | DynSolValue::CustomStruct { tuple: values, .. } => {
            format!("({})", listed(values, plain))
        }
    }
}

/// Formats values with commas, up to the longest text.
pub fn listed(values: &[DynSolValue], value: impl Fn(&DynSolValue) -> String) -> String {
    let mut text = String::new();
    for (at, one) in values.iter().enumerate() {
        if text.len() > MAX_TEXT {
            break;
        }
        text += if at > 0 { ", " } else { "" };
        text += &value(one);
    }
    cut(text)
}

/// Formats the reason of a revert: a text, or `error` with its arguments, which `value` formats.
pub fn revert_reason(
    data: &[u8],
    error: Option<&Error>,
    value: impl Fn(&DynSolValue) -> String,
) -> String {
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
pub fn custom_error(
    data: &[u8],
    error: &Error,
    value: impl Fn(&DynSolValue) -> String,
) -> Option<String> {
    let values = decode_values(&error.inputs, data.get(4..)?)?;

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

/// Replaces characters that move the cursor, begin another line or change the direction of writing,
/// so that a contract cannot forge a line of the terminal or of a log, and cuts long text off.
pub fn clean(text: &str) -> String {
    excerpt(text, MAX_MESSAGE)
        .chars()
        .map(|letter| {
            if is_layout(letter) {
                '\u{fffd}'
            } else {
                letter
            }
        })
        .collect()
}

/// Control characters, separators of lines and paragraphs, and the formatting characters of
/// bidirectional text (UAX #9).
fn is_layout(letter: char) -> bool {
    let is_formatting = matches!(
        letter,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    letter.is_control() || is_formatting
}

/// Cuts a text that is too long.
pub fn cut(text: String) -> String {
    let shown = excerpt(&text, MAX_TEXT);
    if shown.len() < text.len() {
        format!("{shown}…")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::U256;

    use super::*;

    #[test]
    fn text_of_a_contract_stays_on_its_line_and_in_its_direction() {
        assert_eq!(
            clean("a\u{1b}[31m\nb\u{202e}c\u{2028}d é 名"),
            "a�[31m�b�c�d é 名"
        );

        let reason = alloy_sol_types::Revert::from("boom\n#7 0xdead");
        let data = alloy_sol_types::SolError::abi_encode(&reason);
        assert_eq!(revert_reason(&data, None, plain), "boom�#7 0xdead");
    }

    #[test]
    fn lists_and_structs_are_in_brackets() {
        let pair = DynSolValue::Tuple(vec![
            DynSolValue::Bool(true),
            DynSolValue::Uint(U256::from(7), 256),
        ]);
        let structure = DynSolValue::CustomStruct {
            name: "Pair".to_owned(),
            prop_names: vec!["is".to_owned(), "of".to_owned()],
            tuple: vec![
                DynSolValue::Bool(false),
                DynSolValue::String("x".to_owned()),
            ],
        };
        assert_eq!(
            plain(&DynSolValue::Array(vec![pair, structure])),
            "[(true, 7), (false, x)]"
        );

        let long = DynSolValue::Array(vec![DynSolValue::Bool(true); 1_000_000]);
        assert_eq!(plain(&long).chars().count(), MAX_TEXT + 3);
    }
}

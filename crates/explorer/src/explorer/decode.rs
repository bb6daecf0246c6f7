//! Decoded calls, errors and logs, with the ABI of the contract if it is known, or else with that
//! of any known contract.

use alloy_dyn_abi::DynSolValue;
use alloy_json_abi::{Constructor, Error, Event, Function, Param};
use alloy_primitives::{LogData, hex};
use serde_json::{Value, json};
use tetrad_contracts::sources::abi::{decode_log, decode_values};

use super::bodies::{DecodedBody, DecodedParameter};

/// Returns the name of the function that call data selects, or the selector; `None` without call
/// data.
pub(super) fn method(function: Option<&Function>, input: &[u8]) -> Option<String> {
    let selector = input.first_chunk::<4>()?;
    Some(function.map_or_else(
        || hex::encode_prefixed(selector),
        |function| function.name.clone(),
    ))
}

/// Decodes call data.
pub(super) fn call(function: &Function, input: &[u8]) -> Option<DecodedBody> {
    selected(&function.name, &function.inputs, input)
}

/// Decodes the data of a revert. `error` is what its selector means, if that is known.
pub(super) fn error(error: Option<&Error>, data: &[u8]) -> Option<DecodedBody> {
    let error = error.cloned().or_else(|| standard_error(data))?;
    selected(&error.name, &error.inputs, data)
}

/// Returns the standard error whose selector the data begins with. Solidity's contracts revert with
/// these without declaring them.
fn standard_error(data: &[u8]) -> Option<Error> {
    ["Error(string reason)", "Panic(uint256 code)"]
        .into_iter()
        .filter_map(|declaration| Error::parse(declaration).ok())
        .find(|error| data.starts_with(error.selector().as_slice()))
}

/// Decodes arguments after the selector of a function or an error.
fn selected(name: &str, inputs: &[Param], data: &[u8]) -> Option<DecodedBody> {
    let (selector, data) = data.split_first_chunk::<4>()?;
    let values = decode_values(inputs, data)?;
    let inputs = inputs
        .iter()
        .map(|input| (input.name.clone(), input.ty.clone(), None));

    Some(DecodedBody {
        method_call: declaration(name, inputs.clone()),
        method_id: hex::encode(selector),
        parameters: parameters(inputs, values),
    })
}

/// Decodes a log.
pub(super) fn log(event: &Event, log: &LogData) -> Option<DecodedBody> {
    let topic = log.topics().first()?;
    let values = decode_log(event, log)?;
    let inputs = event
        .inputs
        .iter()
        .map(|input| (input.name.clone(), input.ty.clone(), Some(input.indexed)));

    Some(DecodedBody {
        method_call: declaration(&event.name, inputs.clone()),
        method_id: hex::encode(&topic[..4]),
        parameters: parameters(inputs, values),
    })
}

/// Decodes the arguments of a constructor, as Blockscout shows them.
pub(super) fn arguments(constructor: &Constructor, arguments: &[u8]) -> Option<Value> {
    let values = decode_values(&constructor.inputs, arguments)?;
    let shown = constructor.inputs.iter().zip(&values).map(|(input, value)| {
        json!([plain(value), { "name": input.name, "type": input.ty, "internalType": input.internal_type.as_ref().map(|kind| kind.to_string()) }])
    });

    Some(Value::Array(shown.collect()))
}

type Input = (String, String, Option<bool>);

/// Writes `name(type name, …)`.
fn declaration(name: &str, inputs: impl Iterator<Item = Input>) -> String {
    let inputs = inputs.map(|(name, kind, indexed)| match indexed {
        Some(true) => format!("{kind} indexed {name}"),
        _ => format!("{kind} {name}"),
    });
    format!("{name}({})", inputs.collect::<Vec<_>>().join(", "))
}

fn parameters(
    inputs: impl Iterator<Item = Input>,
    values: Vec<DynSolValue>,
) -> Vec<DecodedParameter> {
    inputs
        .zip(values)
        .map(|((name, kind, indexed), value)| DecodedParameter {
            name,
            kind,
            value: plain(&value),
            indexed,
        })
        .collect()
}

/// Returns a value as JSON: numbers as decimal text, bytes as hex.
fn plain(value: &DynSolValue) -> Value {
    match value {
        DynSolValue::Bool(value) => json!(value.to_string()),
        DynSolValue::Int(value, _) => json!(value.to_string()),
        DynSolValue::Uint(value, _) => json!(value.to_string()),
        DynSolValue::FixedBytes(word, size) => json!(hex::encode_prefixed(&word[..*size])),
        DynSolValue::Address(address) => json!(address.to_checksum(None)),
        DynSolValue::Function(function) => json!(hex::encode_prefixed(function.as_slice())),
        DynSolValue::Bytes(bytes) => json!(hex::encode_prefixed(bytes)),
        DynSolValue::String(text) => json!(text),
        DynSolValue::Array(values)
        | DynSolValue::FixedArray(values)
        | DynSolValue::Tuple(values)
        | DynSolValue::CustomStruct { tuple: values, .. } => {
            Value::Array(values.iter().map(plain).collect())
        }
    }
}

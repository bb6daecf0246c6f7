//! Reading the golden vectors in `tests/data`.

use std::{fs, path::Path};

use alloy_primitives::U256;
use serde_json::Value;

pub(crate) fn read(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// A number, which the vectors write as a string if it may exceed 53 bits.
pub(crate) fn number(value: &Value) -> U256 {
    match value {
        Value::String(text) => text.parse().unwrap(),
        other => U256::from(other.as_u64().unwrap()),
    }
}

pub(crate) fn numbers(value: &Value) -> [U256; 5] {
    let list = value.as_array().unwrap();
    std::array::from_fn(|index| number(&list[index]))
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

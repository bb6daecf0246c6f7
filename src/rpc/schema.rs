//! JSON schemas of what methods take and answer, for `rpc.discover`.
//!
//! A type that is read or written says what it looks like. Where an answer's type does not, the documented example tells:
//! a test compares it with what the node answers, so it cannot be wrong about that.

use serde_json::{Map, Value, json};

/// A string of hex digits that match a pattern.
pub(super) fn hex(digits: &str) -> Value {
    json!({"type": "string", "pattern": format!("^0x{digits}$")})
}

/// Bytes, so many if that is known.
pub(super) fn data(bytes: Option<usize>) -> Value {
    match bytes {
        Some(bytes) => hex(&format!("[0-9a-fA-F]{{{}}}", 2 * bytes)),
        None => hex("([0-9a-fA-F]{2})*"),
    }
}

/// A QUANTITY.
pub(super) fn quantity() -> Value {
    hex("(0|[1-9a-f][0-9a-f]{0,63})")
}

/// The same, or null.
pub(super) fn or_null(schema: Value) -> Value {
    if schema.as_object().is_some_and(Map::is_empty) { schema } else { json!({"anyOf": [schema, {"type": "null"}]}) }
}

/// An array of such items.
pub(super) fn array(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

/// An object with these members, each of which may be left out or null.
pub(super) fn options<const N: usize>(members: [(&str, Value); N]) -> Value {
    let properties: Map<_, _> = members.into_iter().map(|(name, schema)| (name.to_owned(), or_null(schema))).collect();
    json!({"type": "object", "properties": properties})
}

/// An object with these members, all of which are there, and others that may be.
pub(super) fn object<const N: usize, const M: usize>(members: [(&str, Value); N], others: [(&str, Value); M]) -> Value {
    let required: Vec<_> = members.iter().map(|(name, _)| (*name).to_owned()).collect();
    let all = members.into_iter().chain(others);
    let properties: Map<_, _> = all.map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// What an example shows of an answer's shape. Members of its objects may be null or missing elsewhere.
pub(super) fn of_example(example: Option<&Value>) -> Value {
    match example {
        None | Some(Value::Null) => json!({}),
        Some(Value::Bool(_)) => json!({"type": "boolean"}),
        Some(Value::Number(_)) => json!({"type": "number"}),
        Some(Value::String(text)) if is_hex(text) => hex("[0-9a-fA-F]*"),
        Some(Value::String(_)) => json!({"type": "string"}),
        Some(Value::Array(items)) => match alternatives(items.iter()) {
            Some(items) => array(items),
            None => json!({"type": "array"}),
        },
        Some(Value::Object(members)) if is_map(members) => {
            json!({"type": "object", "additionalProperties": alternatives(members.values()).unwrap_or(json!({}))})
        }
        Some(Value::Object(members)) => {
            let member = |(name, value): (&String, &Value)| (name.clone(), or_null(of_example(Some(value))));
            json!({"type": "object", "properties": members.iter().map(member).collect::<Map<_, _>>()})
        }
    }
}

fn is_hex(text: &str) -> bool {
    text.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Whether the names are values themselves: addresses, hashes, numbers.
fn is_map(members: &Map<String, Value>) -> bool {
    !members.is_empty() && members.keys().all(|name| is_hex(name) || name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What any of the values may be like; none if there are none, or nothing is known of one.
fn alternatives<'a>(values: impl Iterator<Item = &'a Value>) -> Option<Value> {
    let mut found: Vec<Value> = Vec::new();
    for value in values {
        let schema = of_example(Some(value));
        if schema.as_object().is_some_and(Map::is_empty) {
            return None;
        }
        if !found.contains(&schema) {
            found.push(schema);
        }
    }
    if found.len() < 2 { found.pop() } else { Some(json!({"anyOf": found})) }
}

//! JSON schemas of parameters and results, for `rpc.discover`.
//!
//! Types that are read or written describe themselves. Where a result's type does not, its schema
//! is inferred from the documented example, which a test compares with the node's response.
//!
//! They are written out, unlike those of the REST interfaces: schemars describes what serde reads,
//! and a parameter here is hex of Ethereum's conventions in types of alloy, read per dialect.

use serde_json::{Map, Value, json};

/// A string of hex digits that match a pattern.
pub(super) fn hex(digits: &str) -> Value {
    json!({"type": "string", "pattern": format!("^0x{digits}$")})
}

/// Bytes, of a fixed length if one is given.
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

/// A schema that also allows null.
pub(super) fn or_null(schema: Value) -> Value {
    if schema.as_object().is_some_and(Map::is_empty) {
        schema
    } else {
        json!({"anyOf": [schema, {"type": "null"}]})
    }
}

/// An array of items with this schema.
pub(super) fn array(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

/// An object with these members, each of which may be left out or null.
pub(super) fn options<const N: usize>(members: [(&str, Value); N]) -> Value {
    let properties: Map<_, _> = members
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), or_null(schema)))
        .collect();
    json!({"type": "object", "properties": properties})
}

/// An object with required members and optional ones.
pub(super) fn object<const N: usize, const M: usize>(
    members: [(&str, Value); N],
    others: [(&str, Value); M],
) -> Value {
    let required: Vec<_> = members.iter().map(|(name, _)| (*name).to_owned()).collect();
    let all = members.into_iter().chain(others);
    let properties: Map<_, _> = all
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// The schema inferred from an example. Members of its objects may be null or missing in other
/// results.
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
            let values = alternatives(members.values()).unwrap_or(json!({}));
            json!({"type": "object", "additionalProperties": values})
        }
        Some(Value::Object(members)) => {
            let mut properties = Map::new();
            for (name, value) in members {
                properties.insert(name.clone(), or_null(of_example(Some(value))));
            }
            json!({"type": "object", "properties": properties})
        }
    }
}

fn is_hex(text: &str) -> bool {
    text.strip_prefix("0x")
        .is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Whether an object's names are values themselves: addresses, hashes, numbers.
fn is_map(members: &Map<String, Value>) -> bool {
    !members.is_empty()
        && members
            .keys()
            .all(|name| is_hex(name) || name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A schema that fits every value; none if there are no values or one has no schema.
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

    if found.len() < 2 {
        found.pop()
    } else {
        Some(json!({"anyOf": found}))
    }
}

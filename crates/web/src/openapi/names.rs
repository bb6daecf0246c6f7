//! Names of operations and of schemas, which generated clients use for their functions and types.

use schemars::Schema;
use serde_json::{Map, Value};

use crate::Operation;

/// The name of an operation in camelCase. Unless it has one of its own, it follows from the method
/// and the path: `GET /api/user/{address}/positions` is `getUserPositions`,
/// `GET /api/prices/{address}` is `getPrice`. A version stands for the interface that has it:
/// `GET /api/v2/blocks` of the explorer is `getExplorerBlocks`.
pub(super) fn operation_id(operation: &Operation) -> String {
    if let Some(id) = &operation.id {
        return id.to_string();
    }

    let segments: Vec<&str> = operation
        .path
        .split('/')
        .filter(|segment| !segment.is_empty())
        .collect();

    let mut id = operation.method.to_owned();
    for (at, segment) in segments.iter().enumerate() {
        let is_version = segment
            .strip_prefix('v')
            .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        match *segment {
            "api" => {}
            _ if segment.starts_with('{') => {}
            _ if is_version => push_words(&mut id, operation.tag),
            _ if segments
                .get(at + 1)
                .is_some_and(|next| next.starts_with('{')) =>
            {
                push_words(&mut id, singular(segment))
            }
            _ => push_words(&mut id, segment),
        }
    }
    id
}

/// Appends the words of a text, each with a capital.
fn push_words(id: &mut String, text: &str) {
    for word in text.split(|letter: char| !letter.is_ascii_alphanumeric()) {
        let mut letters = word.chars();
        id.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        id.push_str(letters.as_str());
    }
}

/// The name of one of several things.
fn singular(plural: &str) -> &str {
    match plural {
        "addresses" => "address",
        _ => plural.strip_suffix('s').unwrap_or(plural),
    }
}

/// The name of a schema. Those of lists, which schemars calls `Array_of_…`, get one that fits the
/// others.
fn schema_name(generated: &str) -> String {
    let Some(item) = generated.strip_prefix("Array_of_") else {
        return generated.to_owned();
    };
    match item.strip_suffix("Response") {
        Some(item) => format!("{item}ListResponse"),
        None => format!("{item}List"),
    }
}

/// Gives schemas their [names](schema_name).
pub(super) fn rename_schemas(schemas: Map<String, Value>) -> Map<String, Value> {
    schemas
        .into_iter()
        .map(|(name, mut schema)| {
            rename_references(&mut schema);
            (schema_name(&name), schema)
        })
        .collect()
}

/// Has the references in a schema follow the new names.
pub(super) fn renamed(schema: Schema) -> Value {
    let mut schema = schema.to_value();
    rename_references(&mut schema);
    schema
}

fn rename_references(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(target) if name == "$ref" => {
                        if let Some((path, old)) = target.rsplit_once('/') {
                            *target = format!("{path}/{}", schema_name(old));
                        }
                    }
                    _ => rename_references(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(rename_references),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(method: &'static str, path: &'static str) -> String {
        operation_id(&Operation::new("Explorer", "").at(method, path))
    }

    #[test]
    fn operations_are_named_after_their_paths() {
        assert_eq!(name("get", "/api/prices"), "getPrices");
        assert_eq!(name("get", "/api/prices/{address}"), "getPrice");
        assert_eq!(
            name("get", "/api/user/{address}/positions"),
            "getUserPositions"
        );
        assert_eq!(
            name("get", "/api/v2/addresses/{address}/token-transfers"),
            "getExplorerAddressTokenTransfers"
        );
        assert_eq!(
            name("get", "/api/v2/tokens/{address}/instances/{id}"),
            "getExplorerTokenInstance"
        );
        assert_eq!(
            operation_id(&Operation::new("", "").at("get", "/x").named("own")),
            "own"
        );
    }

    #[test]
    fn lists_have_names_like_other_schemas() {
        assert_eq!(schema_name("Price"), "Price");
        assert_eq!(schema_name("Array_of_Price"), "PriceList");
        assert_eq!(schema_name("Array_of_PriceResponse"), "PriceListResponse");
    }
}

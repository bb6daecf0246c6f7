//! The fields of GraphQL's `Query`, as introspection describes them.

use serde_json::{Value, json};

use super::describe::{Call, Operation, Parameter, Place};

/// The query for all types.
pub(super) const QUERY: &str = "{ __schema { queryType { name } types { kind name fields { name \
    args { name type { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } \
    type { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } }";

/// Levels of objects below a field of `Query`.
const LEVELS: usize = 2;

/// An operation for each field of `Query`, which selects all fields below it for a few levels.
pub(super) fn operations(response: &Value) -> Vec<Operation> {
    let schema = &response["data"]["__schema"];
    let types = schema["types"]
        .as_array()
        .unwrap_or_else(|| panic!("no introspection: {response}"));
    let query = find(types, schema["queryType"]["name"].as_str().expect("a name"));

    let fields = query["fields"]
        .as_array()
        .expect("fields")
        .iter()
        .map(|field| {
            let arguments = field["args"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|argument| {
                    let kind = named(&argument["type"]);
                    // A scalar's value is also JSON. In objects, the names of members are not
                    // quoted.
                    let schema = match kind["name"].as_str() {
                        Some("Int") => json!({"type": "integer", "maximum": i32::MAX}),
                        Some("Boolean") => json!({"type": "boolean"}),
                        _ => json!({}),
                    };
                    Parameter {
                        name: argument["name"].as_str().expect("a name").to_owned(),
                        place: Place::Field,
                        required: argument["type"]["kind"] == "NON_NULL",
                        schema,
                        examples: Vec::new(),
                    }
                });

            let name = field["name"].as_str().expect("a name").to_owned();
            Operation {
                name: format!("GraphQL {name}"),
                listeners: vec!["rest".to_owned()],
                parameters: arguments.collect(),
                changes_state: false,
                call: Call::Graph {
                    field: name,
                    selections: selections(types, &field["type"], LEVELS),
                },
            }
        });
    fields.collect()
}

fn find<'a>(types: &'a [Value], name: &str) -> &'a Value {
    types
        .iter()
        .find(|described| described["name"] == name)
        .unwrap_or_else(|| panic!("no type {name}"))
}

/// The type within lists and non-null types.
fn named(kind: &Value) -> &Value {
    if kind["ofType"].is_object() {
        named(&kind["ofType"])
    } else {
        kind
    }
}

/// All fields of a type without required arguments; empty for a scalar.
fn selections(types: &[Value], kind: &Value, levels: usize) -> String {
    let described = find(types, named(kind)["name"].as_str().expect("a name"));
    let Some(fields) = described["fields"].as_array() else {
        return String::new();
    };
    let selected = fields.iter().filter_map(|field| {
        let mut arguments = field["args"].as_array().into_iter().flatten();
        if arguments.any(|argument| argument["type"]["kind"] == "NON_NULL") {
            return None;
        }
        let name = field["name"].as_str()?;
        let is_object = find(types, named(&field["type"])["name"].as_str()?)["fields"].is_array();
        match (is_object, levels) {
            (false, _) => Some(name.to_owned()),
            (true, 0) => None,
            (true, _) => Some(format!(
                "{name} {}",
                selections(types, &field["type"], levels - 1)
            )),
        }
    });
    format!("{{ {} }}", selected.collect::<Vec<_>>().join(" "))
}

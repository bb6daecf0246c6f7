//! Schemas with alternatives, in a form that tools understand.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Writes schemas that have both properties and alternatives as alternatives alone, each with all
/// of its properties. Tools compare the alternatives on their own, and some overlook properties
/// next to a reference, as OpenAPI 3.0 did.
pub(super) fn flatten(schemas: &mut Map<String, Value>) {
    // References mean the schemas as they were, whatever the loop has changed already.
    let before = schemas.clone();
    for schema in schemas.values_mut().filter_map(Value::as_object_mut) {
        let Some(alternatives) = schema.get("oneOf").and_then(Value::as_array) else {
            continue;
        };
        if !schema.contains_key("properties") {
            continue;
        }

        let own = Value::Object(schema.clone());
        let whole = alternatives.iter().map(|one| {
            let referred = one["$ref"]
                .as_str()
                .and_then(|target| before.get(target.rsplit('/').next()?));
            merged([Some(&own), referred, Some(one)].into_iter().flatten())
        });
        let whole: Vec<_> = whole.collect();

        for replaced in ["type", "properties", "required"] {
            schema.remove(replaced);
        }
        schema.insert("oneOf".to_owned(), whole.into());
    }
}

/// An object with the properties of several.
fn merged<'a>(parts: impl Iterator<Item = &'a Value>) -> Value {
    let mut properties = Map::new();
    let mut required = BTreeSet::new();
    let mut description = None;
    for part in parts {
        properties.extend(
            part["properties"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, of)| (name.clone(), of.clone())),
        );
        required.extend(
            part["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str),
        );
        description = part["description"].as_str().or(description);
    }

    let mut object = json!({ "type": "object", "properties": properties, "required": required });
    if let Some(description) = description {
        object["description"] = description.into();
    }
    object
}

/// Removes schemas that neither operations nor other schemas refer to.
pub(super) fn remove_unused(schemas: &mut Map<String, Value>, operations: &[Value]) {
    // A schema that is removed may have been the only one to refer to another.
    loop {
        let mut used = BTreeSet::new();
        operations
            .iter()
            .chain(schemas.values())
            .for_each(|value| collect_references(value, &mut used));

        let before = schemas.len();
        schemas.retain(|name, _| used.contains(name));
        if schemas.len() == before {
            return;
        }
    }
}

/// Adds the names of the schemas that a value refers to.
fn collect_references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(name) = members
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|target| target.rsplit('/').next())
            {
                found.insert(name.to_owned());
            }
            members
                .values()
                .for_each(|member| collect_references(member, found));
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| collect_references(item, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_have_all_of_their_properties() {
        let reference = |name: &str| format!("#/components/schemas/{name}");
        let mut schemas = Map::from_iter([
            (
                "Amount".to_owned(),
                json!({"properties": {"amount": {}}, "required": ["amount"]}),
            ),
            (
                "Entry".to_owned(),
                json!({
                    "properties": {"id": {}},
                    "required": ["id"],
                    "oneOf": [{"$ref": reference("Amount"), "properties": {"type": {"const": "deposit"}}}],
                }),
            ),
        ]);

        flatten(&mut schemas);
        let expected = json!({
            "type": "object",
            "properties": {"id": {}, "amount": {}, "type": {"const": "deposit"}},
            "required": ["amount", "id"],
        });
        assert_eq!(schemas["Entry"], json!({"oneOf": [expected]}));

        remove_unused(
            &mut schemas,
            &[json!({"schema": {"$ref": reference("Entry")}})],
        );
        assert_eq!(schemas.keys().collect::<Vec<_>>(), ["Entry"]);
    }
}

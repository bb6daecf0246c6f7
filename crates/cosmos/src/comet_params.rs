//! The parameters of CometBFT's methods: a few texts, numbers and truth values.
//!
//! A document of JSON takes up to a hundred times the memory of its text, and a request may wait
//! for its turn. So no other values are kept.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value, value::RawValue};

/// Most parameters of a request.
const MAX_PARAMS: usize = 32;
/// Most bytes of a request's id, which a subscription keeps.
const MAX_ID: usize = 1 << 10;

/// The parameters of a request, by name or by position.
#[derive(Debug, Default)]
pub(super) enum CometParams {
    #[default]
    None,
    Named(Map<String, Value>),
    Positional(Vec<Value>),
}

impl CometParams {
    /// Returns the parameter with a name, which may be passed at a position. Null counts as absent.
    pub(super) fn get(&self, name: &str, position: Option<usize>) -> Option<&Value> {
        let value = match self {
            Self::None => None,
            Self::Named(params) => params.get(name),
            Self::Positional(params) => params.get(position?),
        };
        value.filter(|value| !value.is_null())
    }
}

impl<'de> Deserialize<'de> for CometParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        // What is neither an object nor a list counts as absent.
        if is_scalar(raw) {
            return Ok(Self::None);
        }
        serde_json::Deserializer::from_str(raw.get())
            .deserialize_any(ParamsVisitor)
            .map_err(D::Error::custom)
    }
}

struct ParamsVisitor;

impl<'de> Visitor<'de> for ParamsVisitor {
    type Value = CometParams;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("parameters in an object or in a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<CometParams, A::Error> {
        let mut params = Map::new();
        while let Some((name, raw)) = members.next_entry::<String, &RawValue>()? {
            params.insert(name, flat(raw)?);
            check_count(params.len())?;
        }
        Ok(CometParams::Named(params))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<CometParams, A::Error> {
        let mut params = Vec::new();
        while let Some(raw) = items.next_element::<&RawValue>()? {
            params.push(flat(raw)?);
            check_count(params.len())?;
        }
        Ok(CometParams::Positional(params))
    }
}

fn is_scalar(raw: &RawValue) -> bool {
    !raw.get().starts_with(['{', '['])
}

fn check_count<E: Error>(count: usize) -> Result<(), E> {
    if count > MAX_PARAMS {
        Err(E::custom(format!("more than {MAX_PARAMS} parameters")))
    } else {
        Ok(())
    }
}

/// Returns a value; an empty list instead of what has members or items, which no method takes.
fn flat<E: Error>(raw: &RawValue) -> Result<Value, E> {
    if is_scalar(raw) {
        serde_json::from_str(raw.get()).map_err(E::custom)
    } else {
        Ok(Value::Array(Vec::new()))
    }
}

/// Reads the id of a request: a text, a number, or nothing.
pub(super) fn read_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    if !is_scalar(raw) || raw.get().len() > MAX_ID {
        return Err(D::Error::custom(format!(
            "id: expected a number, or a text of at most {MAX_ID} bytes"
        )));
    }
    serde_json::from_str(raw.get()).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn params(value: &Value) -> Result<CometParams, serde_json::Error> {
        serde_json::from_str(&value.to_string())
    }

    #[test]
    fn parameters_are_read_by_name_and_by_position() {
        let named = params(&json!({ "height": "3", "prove": null, "query": { "a": [1] } }))
            .expect("an object");
        assert_eq!(named.get("height", Some(2)), Some(&json!("3")));
        assert_eq!(named.get("prove", Some(0)), None);
        assert_eq!(
            named.get("query", None),
            Some(&json!([])),
            "no value that a method takes"
        );

        let positional = params(&json!([true, 5])).expect("a list");
        assert_eq!(positional.get("height", Some(1)), Some(&json!(5)));
        assert_eq!(positional.get("height", None), None);
        for none in [Value::Null, json!(5), json!("text"), json!(true)] {
            assert!(matches!(params(&none), Ok(CometParams::None)), "{none}");
        }
    }

    #[test]
    fn parameters_that_would_take_much_memory_are_refused() {
        assert!(params(&json!(vec![0; MAX_PARAMS + 1])).is_err());
        let many: Map<_, _> = (0..=MAX_PARAMS)
            .map(|n| (n.to_string(), Value::Null))
            .collect();
        assert!(params(&Value::Object(many)).is_err());
    }
}

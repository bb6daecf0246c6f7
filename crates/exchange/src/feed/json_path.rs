//! Paths to a token's price in a JSON document.
//!
//! A path is a list of steps between dots: `name` takes a member, `7` the item at that position,
//! `[name=text]` the first item with such a member. `{symbol}`, `{id}` and `{address}` stand for
//! the token's symbol, CoinGecko id and address. Numbers are taken from the text verbatim: none
//! passes through a float, as they do in the values that libraries for JSONPath (RFC 9535) search.

use std::{borrow::Cow, collections::HashMap, fmt, str::FromStr};

use serde_json::value::RawValue;
use tetrad_network::network::Token;

use crate::quote::key;

/// A path with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath(Vec<PathStep>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathStep {
    /// A member, or, in a list, a position.
    Name(String),
    /// The first item with a member that has this text.
    Where { name: String, text: String },
}

/// The reason why a text is not a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonPathError {
    /// Nothing between two dots.
    #[error("the JSON path has an empty step")]
    Empty,
    /// Not `[name=text]`.
    #[error("the step `{0}` is not of the form [name=text]")]
    Condition(String),
}

impl FromStr for JsonPath {
    type Err = JsonPathError;

    fn from_str(text: &str) -> Result<Self, JsonPathError> {
        text.split('.')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl FromStr for PathStep {
    type Err = JsonPathError;

    fn from_str(text: &str) -> Result<Self, JsonPathError> {
        if text.is_empty() {
            return Err(JsonPathError::Empty);
        }
        let Some(inner) = text.strip_prefix('[') else {
            return Ok(Self::Name(text.to_owned()));
        };
        let condition = inner
            .strip_suffix(']')
            .and_then(|inner| inner.split_once('='))
            .filter(|(name, _)| !name.is_empty());
        let (name, text) = condition.ok_or_else(|| JsonPathError::Condition(text.to_owned()))?;
        Ok(Self::Where {
            name: name.to_owned(),
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            let dot = if position > 0 { "." } else { "" };
            match step {
                PathStep::Name(name) => write!(f, "{dot}{name}")?,
                PathStep::Where { name, text } => write!(f, "{dot}[{name}={text}]")?,
            }
        }
        Ok(())
    }
}

impl JsonPath {
    /// The number at the token's path, verbatim, bare or in quotes; none if the path leads nowhere.
    pub fn find(&self, document: &str, token: &Token) -> Option<String> {
        // Raw, since a parsed number would pass through a float.
        let mut here: &RawValue = serde_json::from_str(document).ok()?;
        for step in &self.0 {
            here = match step {
                PathStep::Name(name) => member(here, &fill(name, token))?,
                PathStep::Where { name, text } => {
                    matching(here, &fill(name, token), &fill(text, token))?
                }
            };
        }
        content(here).map(Cow::into_owned)
    }
}

/// Replaces the placeholders with a token's names.
pub(super) fn fill<'a>(text: &'a str, token: &Token) -> Cow<'a, str> {
    if !text.contains('{') {
        return text.into();
    }
    let text = text
        .replace("{symbol}", &token.symbol)
        .replace("{id}", &token.coin_gecko_id);
    text.replace("{address}", &key(token.address)).into()
}

fn member<'a>(value: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    if value.get().starts_with('[') {
        let position: usize = name.parse().ok()?;
        return items(value)?.get(position).copied();
    }
    members(value)?.get(name).copied()
}

fn matching<'a>(value: &'a RawValue, name: &str, text: &str) -> Option<&'a RawValue> {
    items(value)?.into_iter().find(|item| {
        let found = members(item).and_then(|members| members.get(name).copied());
        found.and_then(content).is_some_and(|found| found == text)
    })
}

fn members(value: &RawValue) -> Option<HashMap<Cow<'_, str>, &RawValue>> {
    serde_json::from_str(value.get()).ok()
}

fn items(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

/// The text of a string, or a number verbatim.
fn content(value: &RawValue) -> Option<Cow<'_, str>> {
    let text = value.get();
    match text.as_bytes().first()? {
        b'"' => serde_json::from_str::<String>(text).ok().map(Cow::Owned),
        b'-' | b'0'..=b'9' => Some(text.into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use tetrad_network::network::Network;

    use super::*;

    #[test]
    fn prices_are_found_in_the_shapes_that_services_have() {
        let network = Network::default();
        let weth = network.token("WETH").expect("a token");
        for (path, document, expected) in [
            (
                "{id}.usd",
                r#"{"weth":{"usd":3512.350000000001}}"#,
                Some("3512.350000000001"),
            ),
            (
                "data.{address}.price",
                r#"{"data":{"0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7":{"price":1e3}}}"#,
                Some("1e3"),
            ),
            (
                "[symbol={symbol}USDT].price",
                r#"[{"symbol":"X"},{"symbol":"WETHUSDT","price":"3.5"}]"#,
                Some("3.5"),
            ),
            ("a.1.b", r#"{"a":[0,{"b":7}]}"#, Some("7")),
            ("a", r#"{"a":null}"#, None),
            ("a", r#"{"a":{}}"#, None),
            ("a.b", r#"{"a":1}"#, None),
            ("9", "[1]", None),
            ("a", "", None),
            ("a", "{", None),
        ] {
            let path: JsonPath = path.parse().expect("a path");
            assert_eq!(
                path.find(document, weth).as_deref(),
                expected,
                "{path} in {document}"
            );
        }
        for text in ["", ".", "a.", "[a]", "[=b]", "[a=b"] {
            assert!(text.parse::<JsonPath>().is_err(), "{text}");
        }
    }
}

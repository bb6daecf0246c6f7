//! JSON as the book shows it: members in the order of the response, and `…` for omissions.
//!
//! An object whose last member is `"…"` has more members, a list whose last entry is `"…"` has more
//! entries. `…` within a text stands for any text, and `"…"` alone for any value.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

const REST: &str = "…";
/// Columns of the book's lines.
const WIDTH: usize = 120;
/// Characters of a text that is shown whole.
const MAX_TEXT_LENGTH: usize = 300;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Object(Vec<(String, Json)>),
    List(Vec<Json>),
    /// A text, number, truth value or null, as it is written.
    Scalar(String),
}

struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl Json {
    pub(super) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let text = text.trim();
        Ok(match text.chars().next() {
            Some('{') => {
                let Members(members) = serde_json::from_str(text)?;
                let parsed = members
                    .into_iter()
                    .map(|(name, value)| Ok((name, Self::parse(value.get())?)));
                Self::Object(parsed.collect::<Result<_, serde_json::Error>>()?)
            }
            Some('[') => {
                let entries: Vec<Box<RawValue>> = serde_json::from_str(text)?;
                Self::List(
                    entries
                        .iter()
                        .map(|entry| Self::parse(entry.get()))
                        .collect::<Result<_, _>>()?,
                )
            }
            _ => {
                serde_json::from_str::<Value>(text)?;
                Self::Scalar(text.to_owned())
            }
        })
    }

    fn rest() -> Self {
        Self::Scalar(format!("\"{REST}\""))
    }

    fn is_rest(&self) -> bool {
        *self == Self::rest()
    }

    /// The text, if it is one.
    fn text(&self) -> Option<String> {
        match self {
            Self::Scalar(text) => serde_json::from_str(text).ok(),
            _ => None,
        }
    }

    /// The difference between a response and this example, if there is one.
    pub(super) fn difference(&self, answer: &Self, place: &str) -> Option<String> {
        match (self, answer) {
            (example, _) if example.is_rest() => None,
            (Self::Object(shown), Self::Object(found)) => {
                let is_cut = shown.last().is_some_and(|(name, _)| name == REST);
                let hidden = found
                    .iter()
                    .find(|(name, _)| shown.iter().all(|(other, _)| other != name));
                if let Some((name, _)) = hidden.filter(|_| !is_cut) {
                    return Some(format!("{place}: {name} is not shown"));
                }

                shown
                    .iter()
                    .filter(|(name, _)| name != REST)
                    .find_map(
                        |(name, value)| match found.iter().find(|(other, _)| other == name) {
                            Some((_, other)) => value.difference(other, &format!("{place}.{name}")),
                            None => Some(format!("{place}: there is no {name}")),
                        },
                    )
            }

            (Self::List(shown), Self::List(found)) => {
                let is_cut = shown.last().is_some_and(Self::is_rest);
                let shown = &shown[..shown.len() - usize::from(is_cut)];
                if found.len() < shown.len() || (found.len() > shown.len() && !is_cut) {
                    return Some(format!(
                        "{place}: {} entries, not {}",
                        found.len(),
                        shown.len()
                    ));
                }
                let pairs = shown.iter().zip(found).enumerate();
                pairs
                    .into_iter()
                    .find_map(|(at, (one, other))| one.difference(other, &format!("{place}[{at}]")))
            }

            (example, answer) => {
                let is_same = match (example.text(), answer.text()) {
                    (Some(pattern), Some(text)) => fits(&pattern, &text),
                    _ => example == answer,
                };
                (!is_same)
                    .then(|| format!("{place}: {}, not {}", answer.inline(), example.inline()))
            }
        }
    }

    /// The response, with the omissions of this example.
    pub(super) fn updated(&self, answer: &Self) -> Self {
        match (self, answer) {
            (example, answer) if example.difference(answer, "").is_none() => example.clone(),

            (Self::Object(shown), Self::Object(found)) => {
                let kept = found.iter().filter_map(|(name, value)| {
                    let (_, example) = shown.iter().find(|(other, _)| other == name)?;
                    Some((name.clone(), example.updated(value)))
                });
                let mut kept: Vec<_> = kept.collect();
                if kept.is_empty() {
                    return answer.abridged();
                }
                if kept.len() < found.len() {
                    kept.push((REST.to_owned(), Self::rest()));
                }
                Self::Object(kept)
            }

            (Self::List(shown), Self::List(found)) => {
                let count = shown.iter().filter(|entry| !entry.is_rest()).count();
                let mut kept: Vec<_> = shown
                    .iter()
                    .zip(found)
                    .take(count)
                    .map(|(one, other)| one.updated(other))
                    .collect();
                if kept.len() < found.len() {
                    kept.push(Self::rest());
                }
                Self::List(kept)
            }

            _ => answer.abridged(),
        }
    }

    /// The response abridged, as a first example.
    pub(super) fn abridged(&self) -> Self {
        match self {
            Self::Object(members) => Self::Object(
                members
                    .iter()
                    .map(|(name, value)| (name.clone(), value.abridged()))
                    .collect(),
            ),
            Self::List(entries) => {
                let mut kept: Vec<_> = entries.iter().take(1).map(Self::abridged).collect();
                if kept.len() < entries.len() {
                    kept.push(Self::rest());
                }
                Self::List(kept)
            }
            scalar => match scalar
                .text()
                .filter(|text| text.chars().count() > MAX_TEXT_LENGTH)
            {
                Some(text) => Self::Scalar(format!(
                    "\"{}{REST}\"",
                    text.chars().take(66).collect::<String>()
                )),
                None => scalar.clone(),
            },
        }
    }

    fn inline(&self) -> String {
        match self {
            Self::Object(members) if members.is_empty() => "{}".to_owned(),
            Self::Object(members) => {
                let members: Vec<_> = members
                    .iter()
                    .map(|(name, value)| {
                        format!("{}: {}", Value::from(name.as_str()), value.inline())
                    })
                    .collect();
                format!("{{ {} }}", members.join(", "))
            }
            Self::List(entries) => {
                format!(
                    "[{}]",
                    entries
                        .iter()
                        .map(Self::inline)
                        .collect::<Vec<_>>()
                        .join(", ")
                )
            }
            Self::Scalar(text) => text.clone(),
        }
    }

    /// The text of a block: on one line if it fits, otherwise with as many members on each line as
    /// fit.
    pub(super) fn render(&self) -> String {
        format!("{}\n", self.laid_out(0, 0))
    }

    /// The same at a depth, after `before` columns of the first line.
    fn laid_out(&self, depth: usize, before: usize) -> String {
        let inline = self.inline();
        // A comma may follow.
        if depth + before + inline.chars().count() < WIDTH {
            return inline;
        }

        let (open, close, parts) = match self {
            Self::Scalar(_) => return inline,
            Self::List(entries) => (
                '[',
                ']',
                entries
                    .iter()
                    .map(|entry| (String::new(), entry))
                    .collect::<Vec<_>>(),
            ),
            Self::Object(members) => {
                let named = members
                    .iter()
                    .map(|(name, value)| (format!("{}: ", Value::from(name.as_str())), value));
                ('{', '}', named.collect())
            }
        };

        let indent = " ".repeat(depth + 2);
        let mut lines: Vec<String> = Vec::new();
        // Whether more may follow on the last line.
        let mut has_room = false;
        for (name, value) in parts {
            let text = format!("{name}{}", value.laid_out(depth + 2, name.chars().count()));
            let is_flat = !text.contains('\n');

            match lines.last_mut() {
                Some(line)
                    if has_room
                        && is_flat
                        && line.chars().count() + 2 + text.chars().count() < WIDTH =>
                {
                    line.push_str(&format!(", {text}"));
                }
                Some(line) => {
                    line.push(',');
                    lines.push(format!("{indent}{text}"));
                }
                None => lines.push(format!("{indent}{text}")),
            }
            has_room = is_flat;
        }
        format!("{open}\n{}\n{}{close}", lines.join("\n"), " ".repeat(depth))
    }
}

/// Whether a text matches a pattern, in which `…` stands for any text.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split(REST);
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

#[test]
fn examples_show_a_response_except_for_marked_omissions() {
    let parse = |text: &str| Json::parse(text).unwrap();
    let answer = parse(r#"{"z":1.50,"a":["0xab12","x",null],"t":1700000000000}"#);
    for same in [
        r#"{"z":1.50,"a":["0xab12","x",null],"t":1700000000000}"#,
        r#"{"z":"…","a":["0x…","…"],"…":"…"}"#,
        r#"{"t":1700000000000,"a":"…","z":1.50}"#,
    ] {
        assert_eq!(parse(same).difference(&answer, ""), None, "{same}");
    }
    for other in [
        r#"{"z":1.50}"#,
        r#"{"z":1.5,"…":"…"}"#,
        r#"{"a":["0xab12"],"…":"…"}"#,
        r#"{"a":["0x…1","…"],"…":"…"}"#,
        r#"{"y":"…","…":"…"}"#,
        r#"{"a":["0xab12","x",null,"…","…"],"…":"…"}"#,
    ] {
        assert!(parse(other).difference(&answer, "").is_some(), "{other}");
    }
    let updated = parse(r#"{"a":["0x"],"z":0}"#).updated(&answer);
    assert_eq!(
        updated.render(),
        "{ \"z\": 1.50, \"a\": [\"0xab12\", \"…\"], \"…\": \"…\" }\n"
    );
    assert!(fits("a…b…c", "a-b--c") && !fits("a…b", "abc") && fits("…", "") && !fits("a", "ab"));
}

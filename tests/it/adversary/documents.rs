//! Values for JSON schemas: values of the chain where they fit, and otherwise arbitrary, deep, wide
//! or random ones.

use proptest::{
    strategy::{Strategy, ValueTree},
    string::string_regex,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::{Map, Value, json};

use crate::{contracts::random::Random, support::unquoted};

/// Numbers at likely limits, largest pages first.
const NUMBERS: [u64; 7] = [10_000, 1_000, 100, 1, 0, u64::MAX, 1 << 31];
/// Maximum number of values of one kind to try for a parameter.
const PER_KIND: usize = 3;
/// Depth to which schema references are followed and documents are generated.
const DEPTH: usize = 5;

/// Values of the chain that parameters may have.
#[derive(Debug, Default)]
pub(super) struct ChainValues {
    /// Texts by kind, those with the largest histories first.
    texts: Vec<(Kind, Vec<String>)>,
    /// The newest height.
    pub height: u64,
}

/// The form of a text; texts of the same form can replace each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    Quantity,
    Address,
    Hash,
    BareHash,
    Bech32,
    Hex,
    Base64,
    Condition,
    Word,
}

impl Kind {
    fn of(text: &str) -> Self {
        let is_hex = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte);
        match text.strip_prefix("0x") {
            Some(digits) if !is_hex(digits) => Self::Word,
            Some(digits) => match digits.len() {
                40 => Self::Address,
                64 => Self::Hash,
                length if length < 40 => Self::Quantity,
                _ => Self::Hex,
            },
            None if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                Self::Number
            }
            None if text.len() == 64 && is_hex(text) => Self::BareHash,
            None if text.len() == 42 && text.starts_with("pax1") => Self::Bech32,
            None if text.contains(['>', '=', '<']) && text.contains(['.', ' ']) => Self::Condition,
            None if text.len() > 60 && text.bytes().all(is_base64) => Self::Base64,
            None => Self::Word,
        }
    }
}

impl ChainValues {
    /// Adds a text as a possible parameter.
    pub(super) fn add(&mut self, text: impl Into<String>) {
        let text = text.into();
        let kind = Kind::of(&text);
        match self.texts.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, texts)) if texts.contains(&text) => {}
            Some((_, texts)) => texts.push(text),
            None => self.texts.push((kind, vec![text])),
        }
    }

    /// The texts with the form of an example.
    fn like(&self, example: &str) -> impl Iterator<Item = &String> {
        let kind = Kind::of(example);
        self.texts
            .iter()
            .filter(move |(known, _)| *known == kind)
            .flat_map(|(_, texts)| texts)
    }

    /// Texts of every form: the first of each, then the second of each, and so on.
    fn each(&self) -> impl Iterator<Item = &String> {
        (0..PER_KIND).flat_map(|rank| {
            self.texts
                .iter()
                .filter_map(move |(_, texts)| texts.get(rank))
        })
    }
}

/// A schema with its references to `document` replaced, except for circular ones.
pub(super) fn expanded(schema: &Value, document: &Value, depth: usize) -> Value {
    if depth > 2 * DEPTH {
        return json!({});
    }
    match schema {
        Value::Object(members) => match members.get("$ref").and_then(Value::as_str) {
            Some(reference) => {
                let target = document
                    .pointer(reference.trim_start_matches('#'))
                    .unwrap_or(&Value::Null);
                expanded(target, document, depth + 1)
            }
            None => members
                .iter()
                .map(|(name, value)| (name.clone(), expanded(value, document, depth + 1)))
                .collect(),
        },
        Value::Array(items) => items
            .iter()
            .map(|item| expanded(item, document, depth + 1))
            .collect(),
        Value::Null => json!({}),
        other => other.clone(),
    }
}

/// Whether a text is valid for a schema; true without a schema.
fn fits(validator: Option<&jsonschema::Validator>, text: &str) -> bool {
    validator.is_none_or(|validator| validator.is_valid(&json!(text)))
}

/// Generates values.
pub(super) struct Generator<'a> {
    pub chain_values: &'a ChainValues,
    pub random: Random,
    runner: TestRunner,
}

impl<'a> Generator<'a> {
    /// Returns a generator whose values depend on the seed only.
    pub(super) fn new(chain_values: &'a ChainValues, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let bytes: Vec<u8> = (0..4).flat_map(|_| random.next().to_le_bytes()).collect();
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        Self {
            chain_values,
            random,
            runner: TestRunner::new_with_rng(Config::default(), rng),
        }
    }

    /// The values to try for a parameter, the most promising first.
    pub(super) fn candidates(&mut self, schema: &Value, examples: &[Value]) -> Vec<Value> {
        let mut found = Vec::new();
        self.add_candidates(schema, examples, &mut found);
        let mut distinct: Vec<Value> = Vec::new();
        for value in found {
            if !distinct.contains(&value) {
                distinct.push(value);
            }
        }
        distinct
    }

    fn add_candidates(&mut self, schema: &Value, examples: &[Value], found: &mut Vec<Value>) {
        let alternatives = ["anyOf", "oneOf"]
            .into_iter()
            .filter_map(|name| schema[name].as_array())
            .flatten();
        for alternative in alternatives {
            self.add_candidates(alternative, examples, found);
        }

        found.extend(schema["enum"].as_array().into_iter().flatten().cloned());
        found.extend(
            ["const", "default"]
                .into_iter()
                .filter_map(|name| schema.get(name))
                .cloned(),
        );

        match schema["type"].as_str() {
            Some("integer" | "number") => {
                found.extend(schema.get("maximum").cloned());
                found.extend([NUMBERS[0].into(), self.chain_values.height.into()]);
                found.extend(NUMBERS.map(Value::from));
            }
            Some("boolean") => found.extend([json!(true), json!(false)]),
            Some("string") if schema.get("enum").is_none() => {
                self.add_texts(schema, examples, found)
            }
            Some("array" | "object") => found.extend(
                (0..PER_KIND)
                    .map(|_| self.value(schema, 0))
                    .collect::<Vec<_>>(),
            ),
            _ if schema
                .get("anyOf")
                .or(schema.get("oneOf"))
                .or(schema.get("enum"))
                .is_none() =>
            {
                self.add_texts(schema, examples, found);
                found.extend(NUMBERS.map(Value::from));
                found.extend([json!({}), json!([]), Value::Null]);
            }
            _ => {}
        }

        found.extend(examples.iter().cloned());
    }

    fn add_texts(&mut self, schema: &Value, examples: &[Value], found: &mut Vec<Value>) {
        let chain_values = self.chain_values;
        let validator = jsonschema::validator_for(schema).ok();
        let validator = validator.as_ref();

        // An example's form shows the expected one, unless it is a mere word.
        let mut like: Vec<&str> = examples.iter().filter_map(Value::as_str).collect();
        like.sort_by_key(|example| Kind::of(example) == Kind::Word);
        for example in like {
            found.extend(
                chain_values
                    .like(example)
                    .filter(|text| fits(validator, text))
                    .take(2 * PER_KIND)
                    .map(|text| json!(text)),
            );
        }

        found.extend(examples.iter().cloned());
        found.extend(
            chain_values
                .each()
                .filter(|text| fits(validator, text))
                .map(|text| json!(text)),
        );

        if let Some(text) = self.matching(schema) {
            found.push(json!(text));
        }
    }

    /// A text that matches the pattern of a schema.
    fn matching(&mut self, schema: &Value) -> Option<String> {
        let pattern = schema["pattern"]
            .as_str()?
            .trim_start_matches('^')
            .trim_end_matches('$');
        let tree = string_regex(pattern)
            .ok()?
            .new_tree(&mut self.runner)
            .ok()?;
        Some(tree.current())
    }

    /// A valid value for a schema, with values of the chain where they fit.
    pub(super) fn value(&mut self, schema: &Value, depth: usize) -> Value {
        let alternatives = ["anyOf", "oneOf"]
            .into_iter()
            .filter_map(|name| schema[name].as_array())
            .flatten();
        let alternatives: Vec<&Value> = alternatives
            .filter(|alternative| alternative["type"] != "null")
            .collect();

        if !alternatives.is_empty() {
            let chosen = self.random.below(alternatives.len() as u64) as usize;
            return self.value(alternatives[chosen], depth);
        }

        match schema["type"].as_str() {
            Some("object") => self.object(schema, depth),
            Some("array") => {
                let few = [1, 3, 40];
                let count = if depth < DEPTH {
                    self.random.pick(&few)
                } else {
                    0
                };
                (0..count)
                    .map(|_| self.value(&schema["items"], depth + 1))
                    .collect()
            }
            Some("null") => Value::Null,
            _ => {
                let candidates = self.candidates(schema, &[]);
                let chosen = self.random.below(candidates.len().max(1) as u64) as usize;
                candidates.into_iter().nth(chosen).unwrap_or_default()
            }
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut members = Map::new();
        if depth > DEPTH {
            return members.into();
        }
        let required = schema["required"].as_array();
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = required.is_some_and(|names| names.contains(&json!(name)));
            if is_required || self.random.chance(60) {
                members.insert(name.clone(), self.value(schema, depth + 1));
            }
        }
        if schema["additionalProperties"].is_object() {
            for _ in 0..PER_KIND {
                let name = unquoted(&self.anything(DEPTH));
                members.insert(name, self.value(&schema["additionalProperties"], depth + 1));
            }
        }
        members.into()
    }

    /// An arbitrary value, regardless of any schema.
    pub(super) fn anything(&mut self, depth: usize) -> Value {
        match self.random.below(if depth < DEPTH { 10 } else { 7 }) {
            0 => Value::Null,
            1 => json!(self.random.chance(50)),
            2 => json!(self.random.next()),
            3 => json!(-(self.random.below(1 << 62) as i64)),
            4 => json!(self.random.next() as f64 / 7.0),
            5 => {
                let texts: Vec<&String> = self.chain_values.each().collect();
                let chosen = self.random.below(texts.len().max(1) as u64) as usize;
                json!(texts.get(chosen))
            }
            6 => json!("\u{0}\u{7f}é😀%00%ff\"\\'{}[]()".repeat(self.random.below(20) as usize)),
            7 => (0..self.random.below(8))
                .map(|_| self.anything(depth + 1))
                .collect(),
            _ => {
                let members = (0..self.random.below(8))
                    .map(|n| (format!("member{n}"), self.anything(depth + 1)));
                Value::Object(members.collect())
            }
        }
    }

    /// A document with some values replaced by values of the chain, or by arbitrary ones.
    pub(super) fn mutated(&mut self, document: &Value) -> Value {
        match document {
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| (name.clone(), self.mutated(value)))
                .collect::<Map<_, _>>()
                .into(),
            Value::Array(items) => items.iter().map(|item| self.mutated(item)).collect(),
            Value::String(text) if self.random.chance(50) => {
                let alike: Vec<&String> = self.chain_values.like(text).collect();
                let chosen = self.random.below(alike.len().max(1) as u64) as usize;
                alike
                    .get(chosen)
                    .map_or_else(|| document.clone(), |text| json!(text))
            }
            other if self.random.chance(80) => other.clone(),
            _ => self.anything(DEPTH - 1),
        }
    }
}

/// Texts that parsers nest deeply: brackets of JSON, of GraphQL, of conditions and of ABI types.
pub(super) fn deep(levels: usize) -> [String; 4] {
    let nested =
        |open: &str, close: &str| format!("{}{}", open.repeat(levels), close.repeat(levels));
    [
        nested("[", "]"),
        nested(r#"{"a":"#, "").trim_end_matches(':').to_owned(),
        nested("{a", "}"),
        nested("(", ")"),
    ]
}

/// JSON with this many members and items on one level.
pub(super) fn wide(count: usize) -> [String; 2] {
    let members: Vec<String> = (0..count).map(|n| format!("\"{n}\":{n}")).collect();
    [
        format!("{{{}}}", members.join(",")),
        format!("[{}]", vec!["{}"; count].join(",")),
    ]
}

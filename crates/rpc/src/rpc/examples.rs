//! The examples in the documentation of the methods: requests with their responses.
//!
//! They are data, in the `examples.jsonl` of each namespace: stanzas of requests and responses in
//! turn, whose last request is the example of the method it calls. `rpc.discover` shows them, and a
//! test sends the requests and compares the responses.

use std::collections::BTreeMap;

use serde_json::Value;

/// The files, in the order in which their requests build on each other.
const FILES: [(&str, &str); 7] = [
    ("eth/examples.jsonl", include_str!("eth/examples.jsonl")),
    ("examples.jsonl", include_str!("examples.jsonl")),
    ("debug/examples.jsonl", include_str!("debug/examples.jsonl")),
    ("trace/examples.jsonl", include_str!("trace/examples.jsonl")),
    ("ots/examples.jsonl", include_str!("ots/examples.jsonl")),
    ("dev/examples.jsonl", include_str!("dev/examples.jsonl")),
    (
        "tetrad/examples.jsonl",
        include_str!("tetrad/examples.jsonl"),
    ),
];

/// The example of one method.
#[derive(Clone, Debug)]
pub struct Example {
    /// The file it is from, relative to the sources of this module.
    pub file: &'static str,
    /// The exchange that shows the method, after those that prepare it.
    pub exchanges: Vec<ExampleExchange>,
}

/// A request and its response, without the members that all of them have.
#[derive(Clone, Copy, Debug)]
pub struct ExampleExchange {
    /// `{{method}}` and `{{method.member}}` stand for that method's last result.
    pub request: &'static str,
    /// The response.
    pub response: &'static str,
}

/// All examples, in the order in which they build on each other.
pub fn examples() -> Vec<Example> {
    FILES
        .iter()
        .flat_map(|(file, text)| text.split("\n\n").map(|stanza| example(file, stanza)))
        .collect()
}

fn example(file: &'static str, stanza: &'static str) -> Example {
    let lines: Vec<&str> = stanza.lines().collect();
    let exchanges = lines
        .chunks_exact(2)
        .map(|pair| ExampleExchange {
            request: pair[0],
            response: pair[1],
        })
        .collect();
    Example { file, exchanges }
}

/// The last result of each method.
#[derive(Clone, Debug, Default)]
pub struct Answers(BTreeMap<String, Value>);

impl Answers {
    /// Remembers a method's result.
    pub fn remember(&mut self, method: &str, result: Value) {
        self.0.insert(method.to_owned(), result);
    }

    /// A request with its placeholders replaced by results.
    pub fn fill_in(&self, request: &str) -> String {
        let mut parts = request.split("{{");
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
            let (method, member) = name.split_once('.').unwrap_or((name, ""));
            let result = self.0.get(method).unwrap_or(&Value::Null);

            let value = if member.is_empty() {
                result
            } else {
                &result[member]
            };
            out += value.as_str().unwrap_or_default();
            out += rest;
        }
        out
    }
}

//! The documentation of every method: what it is for, the names of its parameters, and a request with its response.
//!
//! It is written for people, in the files of `reference/`, and read by `rpc.discover`. A test sends the requests and
//! compares the responses, and compares the names with the method table.

use std::{collections::BTreeMap, sync::OnceLock};

use serde_json::{Value, json};

use super::{Context, RpcError, Table, error::Dialect, json::Written, table::Described};

pub(super) fn methods(table: &mut Table) {
    table.read("rpc_modules", modules);
    table.read("rpc.discover", discover);
}

/// The files, in the order in which their requests build on each other.
const FILES: [(&str, &str); 6] = [
    ("eth.md", include_str!("reference/eth.md")),
    ("other.md", include_str!("reference/other.md")),
    ("debug.md", include_str!("reference/debug.md")),
    ("trace.md", include_str!("reference/trace.md")),
    ("ots.md", include_str!("reference/ots.md")),
    ("dev.md", include_str!("reference/dev.md")),
];

/// What the documentation says about one method.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The file that says it.
    pub file: &'static str,
    /// The method under all its names.
    pub names: Vec<&'static str>,
    /// The names of its parameters.
    pub parameters: Vec<&'static str>,
    /// What it is for.
    pub summary: &'static str,
    /// Requests with their responses: first what prepares the last one, which is the example.
    pub exchanges: Vec<Exchange>,
}

/// A request and its response, without what all of them have.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// `{{method}}` and `{{method.member}}` stand for what that method answered last.
    pub request: &'static str,
    /// The response.
    pub response: &'static str,
}

/// The whole documentation.
pub fn reference() -> Vec<Entry> {
    FILES.iter().flat_map(|(file, text)| text.split("\n## ").skip(1).filter_map(|part| entry(file, part))).collect()
}

/// A section: heading, text, and a block of lines with requests and responses in turn.
fn entry(file: &'static str, section: &'static str) -> Option<Entry> {
    let (heading, rest) = section.split_once('\n')?;
    let (names, parameters) = heading.trim_end().strip_suffix(')')?.split_once('(')?;
    let (summary, rest) = rest.split_once("```json\n")?;
    let (block, _) = rest.split_once("```")?;
    let lines: Vec<&str> = block.lines().collect();
    Some(Entry {
        file,
        names: names.split(", ").collect(),
        parameters: parameters.split(", ").filter(|name| !name.is_empty()).collect(),
        summary: summary.trim(),
        exchanges: lines.chunks_exact(2).map(|pair| Exchange { request: pair[0], response: pair[1] }).collect(),
    })
}

/// What methods answered last.
#[derive(Clone, Debug, Default)]
pub struct Answers(BTreeMap<String, Value>);

impl Answers {
    /// Remembers what a method answered.
    pub fn remember(&mut self, method: &str, result: Value) {
        self.0.insert(method.to_owned(), result);
    }

    /// A request with everything in it that stands for an answer.
    pub fn fill_in(&self, request: &str) -> String {
        let mut parts = request.split("{{");
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
            let (method, member) = name.split_once('.').unwrap_or((name, ""));
            let result = self.0.get(method).unwrap_or(&Value::Null);
            out += if member.is_empty() { result } else { &result[member] }.as_str().unwrap_or_default();
            out += rest;
        }
        out
    }
}

/// What the table knows of the methods.
pub(super) struct Methods {
    described: Vec<Described>,
    /// What `rpc.discover` answers, once it has been asked for. It never changes.
    document: OnceLock<Vec<u8>>,
}

impl Methods {
    /// Everything in `table`.
    pub(super) fn of(table: &Table, dialect: Dialect) -> Self {
        Self { described: table.describe(dialect), document: OnceLock::new() }
    }
}

/// The namespaces and their versions.
fn modules(context: &Context, (): ()) -> Result<Written, RpcError> {
    let names = context.methods.described.iter().filter_map(|method| method.name.split_once('_'));
    let modules: serde_json::Map<_, _> = names.map(|(space, _)| (space.to_owned(), json!("1.0"))).collect();
    Ok(Written(Value::Object(modules).to_string().into_bytes()))
}

/// A description of all methods, as an OpenRPC document: made of the table, with the words and examples of the
/// documentation.
fn discover(context: &Context, (): ()) -> Result<Written, RpcError> {
    Ok(Written(context.methods.document.get_or_init(|| document(&context.methods.described)).clone()))
}

fn document(methods: &[Described]) -> Vec<u8> {
    let mut described = BTreeMap::new();
    let mut answers = Answers::default();
    for entry in reference() {
        let mut example = None;
        for Exchange { request, response } in &entry.exchanges {
            let request: Value = serde_json::from_str(&answers.fill_in(request)).unwrap_or_default();
            let mut response: Value = serde_json::from_str(response).unwrap_or_default();
            answers.remember(request["method"].as_str().unwrap_or_default(), response["result"].clone());
            let result = response.get_mut("result").map(Value::take);
            example = result.map(|result| (request["params"].clone(), result));
        }
        for name in &entry.names {
            described.insert(*name, (entry.parameters.clone(), entry.summary, example.clone()));
        }
    }
    let methods: Vec<Value> = methods
        .iter()
        .map(|method| match described.remove(method.name) {
            Some((parameters, summary, example)) => describe(method, &parameters, summary, example),
            None => describe(method, &[], "", None),
        })
        .collect();
    let document = json!({
        "openrpc": "1.3.2",
        "info": {"title": "tetrad", "version": env!("CARGO_PKG_VERSION")},
        "methods": methods,
    });
    document.to_string().into_bytes()
}

fn describe(
    Described { name, shapes, result }: &Described,
    parameters: &[&str],
    summary: &str,
    example: Option<(Value, Value)>,
) -> Value {
    let name_of = |at: usize| parameters.get(at).map_or_else(|| format!("parameter {}", at + 1), ToString::to_string);
    let params: Vec<Value> = shapes
        .iter()
        .enumerate()
        .map(|(at, shape)| json!({"name": name_of(at), "required": shape.required, "schema": shape.schema}))
        .collect();
    let mut method = json!({
        "name": name,
        "summary": summary,
        "paramStructure": "by-position",
        "params": params,
        "result": {"name": "result", "schema": result(example.as_ref().map(|(_, result)| result))},
    });
    if let Some((params, result)) = example {
        let params = params.as_array().cloned().unwrap_or_default();
        let params = params.into_iter().enumerate().map(|(at, value)| json!({"name": name_of(at), "value": value}));
        method["examples"] = json!([{
            "name": "example",
            "params": params.collect::<Vec<_>>(),
            "result": {"name": "result", "value": result},
        }]);
    }
    method
}

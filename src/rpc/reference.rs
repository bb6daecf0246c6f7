//! The documentation of every method: what it is for, the names of its parameters, and a request with its response.
//!
//! It is written for people, in the files of `reference/`, and read by `rpc.discover`. A test sends the requests and
//! compares the responses, and compares the names with the method table.

use serde_json::{Value, json};

use super::{Context, RpcError, Table, error::Dialect, json::Written, params::Shape};

pub(super) fn methods(table: &mut Table) {
    table.read("rpc_modules", modules);
    table.read("rpc.discover", discover);
}

/// The files, in the order in which their requests build on each other.
const FILES: [(&str, &str); 5] = [
    ("eth.md", include_str!("reference/eth.md")),
    ("other.md", include_str!("reference/other.md")),
    ("debug.md", include_str!("reference/debug.md")),
    ("trace.md", include_str!("reference/trace.md")),
    ("ots.md", include_str!("reference/ots.md")),
];

/// What the documentation says about one method.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The file that says it.
    pub file: &'static str,
    /// The method.
    pub name: &'static str,
    /// The names of its parameters.
    pub parameters: Vec<&'static str>,
    /// What it is for.
    pub summary: &'static str,
    /// Requests and their responses: first what prepares the last one, which is the example.
    pub exchanges: Vec<(&'static str, &'static str)>,
}

/// The whole documentation.
pub fn reference() -> Vec<Entry> {
    FILES.iter().flat_map(|(file, text)| text.split("\n## ").skip(1).filter_map(|part| entry(file, part))).collect()
}

/// A section: heading, text, and a block of lines with requests and responses in turn.
fn entry(file: &'static str, section: &'static str) -> Option<Entry> {
    let (heading, rest) = section.split_once('\n')?;
    let (name, parameters) = heading.trim_end().strip_suffix(')')?.split_once('(')?;
    let (summary, rest) = rest.split_once("```json\n")?;
    let (block, _) = rest.split_once("```")?;
    let lines: Vec<&str> = block.lines().collect();
    Some(Entry {
        file,
        name,
        parameters: parameters.split(", ").filter(|name| !name.is_empty()).collect(),
        summary: summary.trim(),
        exchanges: lines.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
    })
}

/// What the table knows of the methods.
pub(super) struct Methods(pub(super) Vec<(&'static str, Vec<Shape>)>);

impl Methods {
    /// Everything in `table`.
    pub(super) fn of(table: &Table, dialect: Dialect) -> Self {
        Self(table.describe(dialect))
    }
}

/// The namespaces and their versions.
fn modules(context: &Context, (): ()) -> Result<Written, RpcError> {
    let names = context.methods.0.iter().filter_map(|(name, _)| name.split_once('_'));
    let modules: serde_json::Map<_, _> = names.map(|(space, _)| (space.to_owned(), json!("1.0"))).collect();
    Ok(Written(Value::Object(modules).to_string().into_bytes()))
}

/// A description of all methods, as an OpenRPC document: made of the table, with the words and examples of the
/// documentation.
fn discover(context: &Context, (): ()) -> Result<Written, RpcError> {
    let reference = reference();
    let methods: Vec<Value> = context
        .methods
        .0
        .iter()
        .map(|(name, shapes)| describe(name, shapes, reference.iter().find(|entry| entry.name == *name)))
        .collect();
    let document = json!({
        "openrpc": "1.3.2",
        "info": {"title": "tetrad", "version": env!("CARGO_PKG_VERSION")},
        "methods": methods,
    });
    Ok(Written(document.to_string().into_bytes()))
}

fn describe(name: &str, shapes: &[Shape], entry: Option<&Entry>) -> Value {
    let parameter = |at: usize| entry.and_then(|entry| entry.parameters.get(at)).copied();
    let name_of = |at: usize| parameter(at).map_or_else(|| format!("parameter {}", at + 1), str::to_owned);
    let params: Vec<Value> = shapes
        .iter()
        .enumerate()
        .map(|(at, shape)| json!({"name": name_of(at), "required": shape.required, "schema": shape.schema}))
        .collect();
    let mut method = json!({
        "name": name,
        "paramStructure": "by-position",
        "params": params,
        "result": {"name": "result", "schema": {}},
    });
    if let Some(entry) = entry {
        method["summary"] = json!(entry.summary);
        if let Some(example) = entry.exchanges.last().and_then(|exchange| example(exchange, name_of)) {
            method["examples"] = json!([example]);
        }
    }
    method
}

/// The last exchange as OpenRPC has it; none if the documentation shortened the response.
fn example((request, response): &(&str, &str), name_of: impl Fn(usize) -> String) -> Option<Value> {
    let (request, mut response): (Value, Value) =
        (serde_json::from_str(request).ok()?, serde_json::from_str(response).ok()?);
    let params = request["params"].as_array()?.iter().enumerate();
    let params: Vec<Value> = params.map(|(at, value)| json!({"name": name_of(at), "value": value})).collect();
    Some(json!({
        "name": "example",
        "params": params,
        "result": {"name": "result", "value": response["result"].take()},
    }))
}

//! The `rpc` namespace: descriptions of the methods, generated from their registrations.

use std::{collections::BTreeMap, sync::OnceLock};

use serde_json::{Value, json};

use super::{
    Context, OnFork, RpcError, Table,
    error::Dialect,
    examples::{Answers, ExampleExchange, examples},
    json::Written,
    table::Described,
};

pub(super) fn methods(table: &mut Table) {
    table.read("rpc_modules", modules, OnFork::Node).describe([], "The namespaces and their versions.");
    table
        .read("rpc.discover", discover, OnFork::Node)
        .describe([], "This description of all methods, as an OpenRPC document.");
}

/// The descriptions of all methods.
pub(super) struct Methods {
    described: Vec<Described>,
    /// The result of `rpc.discover`, rendered at the first request. It never changes.
    document: OnceLock<Vec<u8>>,
}

impl Methods {
    /// Describes the methods of `table`.
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

/// A description of all methods, as an OpenRPC document.
fn discover(context: &Context, (): ()) -> Result<Written, RpcError> {
    Ok(Written(context.methods.document.get_or_init(|| document(&context.methods.described)).clone()))
}

fn document(methods: &[Described]) -> Vec<u8> {
    let shown = results();
    let methods: Vec<Value> = methods.iter().map(|method| describe(method, shown.get(method.example))).collect();
    let document = json!({
        "openrpc": "1.3.2",
        "info": {"title": "tetrad", "version": env!("CARGO_PKG_VERSION")},
        "methods": methods,
    });
    document.to_string().into_bytes()
}

/// The parameters and the result in the example of each method. Examples of errors have none.
fn results() -> BTreeMap<String, (Value, Value)> {
    let mut shown = BTreeMap::new();
    let mut answers = Answers::default();
    for example in examples() {
        let mut last = None;
        for ExampleExchange { request, response } in example.exchanges {
            let mut request: Value = serde_json::from_str(&answers.fill_in(request)).unwrap_or_default();
            let mut response: Value = serde_json::from_str(response).unwrap_or_default();
            let method = request["method"].as_str().unwrap_or_default().to_owned();
            answers.remember(&method, response["result"].clone());
            let result = response.get_mut("result").map(Value::take);
            last = result.map(|result| (method, (request["params"].take(), result)));
        }
        shown.extend(last);
    }
    shown
}

fn describe(
    Described { name, parameters, summary, shapes, result, .. }: &Described,
    example: Option<&(Value, Value)>,
) -> Value {
    let params: Vec<Value> = parameters
        .iter()
        .zip(shapes)
        .map(|(name, shape)| json!({"name": name, "required": shape.required, "schema": shape.schema}))
        .collect();
    let mut method = json!({
        "name": name,
        "summary": summary,
        "paramStructure": "by-position",
        "params": params,
        "result": {"name": "result", "schema": result(example.map(|(_, result)| result))},
    });
    if let Some((params, result)) = example {
        let values = params.as_array().into_iter().flatten();
        let params = parameters.iter().zip(values).map(|(name, value)| json!({"name": name, "value": value}));
        method["examples"] = json!([{
            "name": "example",
            "params": params.collect::<Vec<_>>(),
            "result": {"name": "result", "value": result},
        }]);
    }
    method
}

//! The `rpc` namespace: descriptions of the methods, generated from their registrations.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use serde_json::{Value, json};

use super::{
    Context, OnFork, RpcError, Table,
    catalog::{self, errors},
    error::Dialect,
    examples::{Answers, ExampleExchange, examples},
    json::Raw,
    params::ParamShape,
    table::Described,
};

pub(super) fn methods(table: &mut Table) {
    table
        .read("rpc_modules", modules, OnFork::Node)
        .describe([], "The namespaces and their versions.");

    table.read("rpc.discover", discover, OnFork::Node).describe(
        [],
        "This description of all methods, as an OpenRPC document.",
    );
}

/// The descriptions of all methods.
pub(super) struct Methods {
    described: Vec<Described>,
    /// The result of `rpc.discover`, rendered at the first request. It never changes.
    document: OnceLock<Arc<str>>,
}

impl Methods {
    /// Describes the methods of `table` that every transport has.
    pub(super) fn of(table: &Table, dialect: Dialect) -> Self {
        let mut described = table.describe(dialect);
        described.retain(|method| !method.needs_connection);
        Self {
            described,
            document: OnceLock::new(),
        }
    }
}

/// The namespaces and their versions.
fn modules(context: &Context, (): ()) -> Result<Raw<String>, RpcError> {
    let names = context
        .methods
        .described
        .iter()
        .map(|method| method.namespace.name);
    let modules: serde_json::Map<_, _> =
        names.map(|name| (name.to_owned(), json!("1.0"))).collect();
    Ok(Raw(Value::Object(modules).to_string()))
}

/// A description of all methods, as an OpenRPC document.
fn discover(context: &Context, (): ()) -> Result<Raw<Arc<str>>, RpcError> {
    let methods = &context.methods;
    let document = methods
        .document
        .get_or_init(|| document(&methods.described).into());
    Ok(Raw(document.clone()))
}

fn document(methods: &[Described]) -> String {
    let shown = results();
    let components = catalog::components(methods.iter().map(|method| method.namespace));
    let methods: Vec<Value> = methods
        .iter()
        .map(|method| describe(method, shown.get(method.example)))
        .collect();

    // Servers would need absolute URLs, which the node does not know behind a proxy.
    let document = json!({
        "openrpc": "1.3.2",
        "info": {
            "title": "tetrad",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Ethereum's JSON-RPC, over HTTP and WebSocket. `x-changes-state` marks \
                            methods that change the chain, the pool of transactions or the node's \
                            settings.",
            "license": {"name": env!("CARGO_PKG_LICENSE")},
        },
        "methods": methods,
        "components": components,
    });
    document.to_string()
}

/// The parameters and the result in the example of each method. Examples of errors have none.
fn results() -> BTreeMap<String, (Value, Value)> {
    let mut shown = BTreeMap::new();
    let mut answers = Answers::default();
    for example in examples() {
        let mut last = None;
        for ExampleExchange { request, response } in example.exchanges {
            let mut request: Value =
                serde_json::from_str(&answers.fill_in(request)).unwrap_or_default();
            let mut response: Value = serde_json::from_str(response).unwrap_or_default();
            let method = request["method"].as_str().unwrap_or_default().to_owned();

            answers.remember(&method, response["result"].clone());
            let result = response.get_mut("result").map(Value::take);
            last = result.map(|result| (method, (request["params"].take(), result)));
        }
        // The last request is the example of its method.
        shown.extend(last);
    }
    shown
}

/// The OpenRPC description of a method, with the parameters and the result of its example.
fn describe(described: &Described, example: Option<&(Value, Value)>) -> Value {
    let name = described.name;
    let params: Vec<Value> = described
        .parameters
        .iter()
        .zip(&described.shapes)
        .map(|(name, shape)| parameter(name, shape))
        .collect();
    let result = (described.result)(example.map(|(_, result)| result));
    let errors: Vec<Value> = errors(described.effort)
        .into_iter()
        .map(|error| reference("errors", error))
        .collect();

    let mut method = json!({
        "name": name,
        "tags": [reference("tags", described.namespace.name)],
        "summary": described.summary,
        "paramStructure": "by-position",
        "params": params,
        "result": {"name": "result", "schema": result},
        "errors": errors,
    });
    if described.changes_state {
        method["x-changes-state"] = true.into();
    }

    if let Some((params, result)) = example {
        let values = params.as_array().into_iter().flatten();
        let params = described
            .parameters
            .iter()
            .zip(values)
            .map(|(name, value)| json!({"name": name, "value": value}));
        method["examples"] = json!([{
            "name": name,
            "params": params.collect::<Vec<_>>(),
            "result": {"name": "result", "value": result},
        }]);
    }
    method
}

fn parameter(name: &str, shape: &ParamShape) -> Value {
    let mut param = json!({"name": name, "required": shape.required, "schema": shape.schema});
    if let Some(about) = catalog::parameter(name) {
        param["summary"] = about.into();
    }
    param
}

/// A reference to a component of the document.
fn reference(kind: &str, name: &str) -> Value {
    json!({"$ref": format!("#/components/{kind}/{name}")})
}

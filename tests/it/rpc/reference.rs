//! The documentation of the methods is correct and complete.
//!
//! With `TETRAD_BLESS=1` the first test writes the node's responses to the examples instead of
//! comparing them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use serde_json::{Value, json};
use tetrad_rpc::rpc::{Answers, Example, ExampleExchange, examples};

use crate::support::{TestNode, golden::is_blessing, manual_clock, node_at, number};

/// A node whose chain is the same in every run.
async fn deterministic_node() -> TestNode {
    node_at(manual_clock(), |config| {
        config.rpc.client_version = "tetrad/v0.1.0".to_owned()
    })
    .await
}

/// Methods whose results are shown only in part, or differ from run to run.
const VARYING: [&str; 2] = ["rpc.discover", "anvil_metadata"];

/// The response without the members that are the same in all responses.
fn essence(method: &str, mut response: Value) -> Value {
    let object = response.as_object_mut().unwrap();
    object.remove("jsonrpc");
    object.remove("id");
    if method == "rpc.discover" {
        // The result contains the whole documentation.
        response["result"]["methods"] = json!([]);
    }
    if method == "anvil_dumpState" {
        // A whole chain is long, and the dump's length differs with the time.
        response["result"] = json!(response["result"].as_str().unwrap()[..6]);
    }
    if method.starts_with("eth_new") && method.ends_with("Filter") {
        // Identifiers are random.
        assert!(number(&response["result"]) > 0);
        response["result"] = json!("0x8d2f6f0a4b3c4e5f9a1b2c3d4e5f6071");
    }
    response
}

/// The names of the members of a result.
fn members(response: &Value) -> Vec<String> {
    response["result"]
        .as_object()
        .map(|object| object.keys().cloned().collect())
        .unwrap_or_default()
}

#[tokio::test]
async fn every_example_gets_the_response_that_it_shows() {
    let node = deterministic_node().await;

    let mut answers = Answers::default();
    let mut wrong = Vec::new();
    let mut edits = Vec::new();
    for Example { file, exchanges } in examples() {
        for ExampleExchange { request, response } in exchanges {
            let filled_in = answers.fill_in(request);
            let parsed: Value = serde_json::from_str(&filled_in)
                .unwrap_or_else(|error| panic!("{request}: {error}"));
            let method = parsed["method"].as_str().unwrap();

            let whole = node.request(method, parsed["params"].clone()).await;
            answers.remember(method, whole["result"].clone());
            let answer = essence(method, whole);

            let shown: Value = serde_json::from_str(response).unwrap();
            let same = if VARYING.contains(&method) {
                members(&shown) == members(&answer)
            } else {
                shown == answer
            };
            if same {
                continue;
            }

            if is_blessing() {
                edits.push((
                    file,
                    format!("{request}\n{response}\n"),
                    format!("{request}\n{answer}\n"),
                ));
            } else {
                wrong.push(format!(
                    "{filled_in}\n  shown:    {response}\n  answered: {answer}"
                ));
            }
        }
    }

    for (file, before, after) in edits {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("crates/rpc/src/rpc")
            .join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen(&before, &after, 1)).unwrap();
    }

    assert!(
        wrong.is_empty(),
        "{} examples: {}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[tokio::test]
async fn every_method_is_described_and_has_one_example() {
    let node = deterministic_node().await;
    let document = node.rpc("rpc.discover", json!([])).await;
    let methods = document["methods"].as_array().unwrap();
    let described: BTreeMap<&str, &Value> = methods
        .iter()
        .map(|method| (method["name"].as_str().unwrap(), method))
        .collect();

    for (name, method) in &described {
        assert!(!method["summary"].as_str().unwrap().is_empty(), "{name}");
        let params = method["params"].as_array().unwrap();

        // No optional parameter precedes a required one.
        let required: Vec<bool> = params
            .iter()
            .map(|param| param["required"] == json!(true))
            .collect();
        assert!(
            required.is_sorted_by(|before, after| before >= after),
            "{name}: {required:?}"
        );
    }

    let mut failing = BTreeSet::new();
    let mut shown = BTreeSet::new();
    for Example { exchanges, .. } in examples() {
        let ExampleExchange { request, response } = exchanges.last().unwrap();
        let request: Value = serde_json::from_str(request).unwrap();
        let name = request["method"].as_str().unwrap().to_owned();
        assert!(
            described.contains_key(name.as_str()),
            "{name}: no such method"
        );

        if response.starts_with(r#"{"error""#) {
            failing.insert(name.clone());
        }
        assert!(shown.insert(name.clone()), "{name} has two examples");
    }

    // Other names of a method share its summary and its example; one that shows an error is left
    // out.
    let failing: Vec<&Value> = failing
        .iter()
        .map(|name| &described[name.as_str()]["summary"])
        .collect();

    for (name, method) in described {
        assert_eq!(
            method["examples"].is_null(),
            failing.contains(&&method["summary"]),
            "{name}"
        );
    }
}

#[tokio::test]
async fn methods_take_exactly_the_described_parameters() {
    let node = deterministic_node().await;
    let document = node.rpc("rpc.discover", json!([])).await;
    for method in document["methods"].as_array().unwrap() {
        let name = method["name"].as_str().unwrap();
        let params = method["params"].as_array().unwrap();
        let too_many: Vec<Value> = vec![Value::Null; params.len() + 1];
        let error = node.rpc_error(name, json!(too_many)).await;
        assert_eq!(error["code"], -32602, "{name}: {error}");
        if params.iter().any(|param| param["required"] == json!(true)) {
            let error = node.rpc_error(name, json!([])).await;
            assert_eq!(error["code"], -32602, "{name}: {error}");
        }
    }
}

/// Whether a schema restricts anything.
fn says_something(schema: &Value) -> bool {
    schema.as_object().is_some_and(|schema| !schema.is_empty())
}

#[tokio::test]
async fn parameters_and_results_match_the_schemas() {
    let node = deterministic_node().await;
    let document = node.rpc("rpc.discover", json!([])).await;
    let methods = document["methods"].as_array().unwrap();

    let described: BTreeMap<&str, &Value> = methods
        .iter()
        .map(|method| (method["name"].as_str().unwrap(), method))
        .collect();

    let mut answers = Answers::default();
    let mut wrong = Vec::new();
    for ExampleExchange { request, .. } in
        examples().into_iter().flat_map(|example| example.exchanges)
    {
        let request: Value = serde_json::from_str(&answers.fill_in(request)).unwrap();
        let name = request["method"].as_str().unwrap();
        let params = &request["params"];

        let answer = node.request(name, params.clone()).await;
        answers.remember(name, answer["result"].clone());

        let method = described[name];

        let mut check = |what: String, schema: &Value, value: &Value| {
            let validator = jsonschema::validator_for(schema)
                .unwrap_or_else(|error| panic!("{name} {what}: {error}"));
            wrong.extend(
                validator
                    .iter_errors(value)
                    .map(|error| format!("{name} {what}: {error} at {}", error.instance_path())),
            );
            if !says_something(schema) && !value.is_null() {
                wrong.push(format!("{name} {what}: the schema says nothing"));
            }
        };

        if let Some(result) = answer.get("result") {
            check("result".to_owned(), &method["result"]["schema"], result);

            // Methods that are also documented under other names have the same results.
            let params = method["params"]
                .as_array()
                .unwrap()
                .iter()
                .zip(params.as_array().unwrap());
            for (at, (param, value)) in params
                .enumerate()
                .filter(|(_, (_, value))| !value.is_null())
            {
                check(format!("params[{at}]"), &param["schema"], value);
            }
        }
    }

    for (name, method) in described {
        for param in method["params"].as_array().unwrap() {
            if !says_something(&param["schema"]) {
                wrong.push(format!("{name} {}: the schema says nothing", param["name"]));
            }
        }
    }

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

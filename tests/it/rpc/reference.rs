//! The documentation of the methods: it says what the node does, and nothing is missing.
//!
//! With `TETRAD_WRITE_REFERENCE=1` the first test writes down what the node answers instead of comparing it, and fills in
//! what requests take from earlier answers (`{{method.member}}`). Read what it wrote before you believe it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use serde_json::{Value, json};
use tetrad::rpc::{Entry, reference};

use crate::support::{TestNode, manual_clock, node_at};

/// A node that is the same each time.
async fn same_node() -> TestNode {
    node_at(manual_clock(), |config| config.rpc.client_version = "tetrad/v0.1.0".to_owned()).await
}

fn filled_in(request: &str, results: &BTreeMap<String, Value>) -> String {
    let mut parts = request.split("{{");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap();
        let (method, member) = name.split_once('.').unwrap_or((name, ""));
        let result = &results[method];
        let value = if member.is_empty() { result } else { &result[member] };
        out += value.as_str().unwrap_or_else(|| panic!("{name} is {value}"));
        out += rest;
    }
    out
}

/// The response without what is the same in all of them.
fn essence(mut response: Value) -> Value {
    let object = response.as_object_mut().unwrap();
    object.remove("jsonrpc");
    object.remove("id");
    response
}

#[tokio::test]
async fn every_example_gets_the_answer_that_it_shows() {
    let node = same_node().await;
    let write = std::env::var_os("TETRAD_WRITE_REFERENCE").is_some();
    let (mut results, mut wrong, mut edits) = (BTreeMap::new(), Vec::new(), Vec::new());
    for Entry { file, name, exchanges, .. } in reference() {
        for (request, expected) in exchanges {
            let request_now = if write { filled_in(request, &results) } else { request.to_owned() };
            let parsed: Value = serde_json::from_str(&request_now).unwrap_or_else(|error| panic!("{name}: {error}"));
            let method = parsed["method"].as_str().unwrap();
            let response = essence(node.request(method, parsed["params"].clone()).await);
            let text = if method == "rpc.discover" {
                // Its answer is all of this.
                assert_eq!(response["result"]["openrpc"], "1.3.2");
                r#"{"result":{"openrpc":"1.3.2","info":{"title":"tetrad"},"methods":[]}}"#.to_owned()
            } else {
                response.to_string()
            };
            results.insert(method.to_owned(), response["result"].clone());
            if write {
                edits.push((file, format!("{request}\n{expected}\n"), format!("{request_now}\n{text}\n")));
            } else if serde_json::from_str::<Value>(expected).ok() != serde_json::from_str(&text).ok() {
                wrong.push(format!("{name}: {request}\n  shown:    {expected}\n  answered: {text}"));
            }
        }
    }
    for (file, before, after) in edits {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/rpc/reference").join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen(&before, &after, 1)).unwrap();
    }
    assert!(wrong.is_empty(), "{} examples: {}", wrong.len(), wrong.join("\n"));
}

/// Methods that local nodes have under several names; their own documentation describes them.
fn is_development(name: &str) -> bool {
    ["evm_", "anvil_", "hardhat_"].iter().any(|prefix| name.starts_with(prefix))
}

#[tokio::test]
async fn the_table_the_description_and_the_documentation_agree() {
    let node = same_node().await;
    let document = node.rpc("rpc.discover", json!([])).await;
    let described: BTreeMap<&str, &Value> = document["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|method| (method["name"].as_str().unwrap(), method))
        .filter(|(name, _)| !is_development(name))
        .collect();
    let documented: BTreeMap<&str, Entry> = reference().into_iter().map(|entry| (entry.name, entry)).collect();
    let names = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(names(described.keys().copied().collect()), names(documented.keys().copied().collect()));
    assert_eq!(reference().len(), documented.len(), "a method is documented twice");
    for (name, method) in described {
        let entry = &documented[name];
        let params = method["params"].as_array().unwrap();
        assert_eq!(params.len(), entry.parameters.len(), "{name}: parameters are {:?}", entry.parameters);
        assert!(!entry.summary.is_empty() && !entry.exchanges.is_empty(), "{name}");
        assert_eq!(method["summary"], json!(entry.summary));
        assert!(method["examples"][0]["result"].get("value").is_some(), "{name}");
        // Nothing that may be left out stands before what may not.
        let required: Vec<bool> = params.iter().map(|param| param["required"] == json!(true)).collect();
        assert!(required.is_sorted_by(|before, after| before >= after), "{name}: {required:?}");
    }
}

#[tokio::test]
async fn methods_take_no_more_and_no_fewer_parameters_than_they_describe() {
    let node = same_node().await;
    let document = node.rpc("rpc.discover", json!([])).await;
    for method in document["methods"].as_array().unwrap() {
        let (name, params) = (method["name"].as_str().unwrap(), method["params"].as_array().unwrap());
        let too_many: Vec<Value> = vec![Value::Null; params.len() + 1];
        let error = node.rpc_error(name, json!(too_many)).await;
        assert_eq!(error["code"], -32602, "{name}: {error}");
        if params.iter().any(|param| param["required"] == json!(true)) {
            let error = node.rpc_error(name, json!([])).await;
            assert_eq!(error["code"], -32602, "{name}: {error}");
        }
    }
}

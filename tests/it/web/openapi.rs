//! `GET /openapi.json`, held against the routes themselves.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{TestNode, node_with};

async fn quiet() -> TestNode {
    node_with(|config| config.exchange.rate_limit = 0).await
}

/// Every operation: method, path with its examples filled in, and description.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let mut found = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let mut filled = path.clone();
            let mut query = Vec::new();
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let (name, example) = (parameter["name"].as_str().expect("a name"), &parameter["example"]);
                let example = example.as_str().expect("an example");
                match parameter["in"].as_str() {
                    Some("path") => filled = filled.replace(&format!("{{{name}}}"), example),
                    _ => query.push(format!("{name}={example}")),
                }
            }
            assert!(!filled.contains('{'), "{path}: a part of the path is not described");
            let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
            found.push((method.clone(), filled + &query, operation.clone()));
        }
    }
    found
}

/// Validates a value against a schema that may refer to the components of the document.
fn check(value: &Value, schema: &Value, document: &Value) -> Result<(), String> {
    let mut schema = schema.clone();
    schema["components"] = document["components"].clone();
    let validator = jsonschema::validator_for(&schema).map_err(|error| error.to_string())?;
    validator.validate(value).map_err(|error| format!("body{}: {error}", error.instance_path()))
}

#[tokio::test]
async fn every_answer_is_one_that_the_document_describes() {
    let node = quiet().await;
    let document = node.get_json("/openapi.json").await;
    assert_eq!(document["openapi"], "3.1.0");
    let operations = operations(&document);
    assert!(operations.len() >= 20, "{}", operations.len());
    for (method, path, operation) in operations {
        let method = reqwest::Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
        let mut request = node.http.request(method.clone(), format!("{}{path}", node.rest_url()));
        if operation.get("requestBody").is_some() {
            request = request.header("content-type", "application/json").body("{}");
        }
        let response = request.send().await.expect("an answer");
        let status = response.status().as_u16().to_string();
        let described = operation["responses"].get(&status).unwrap_or_else(|| panic!("{method} {path}: {status}"));
        let described = described["content"].as_object().into_iter().flatten().next();
        let (media, described) = described.unwrap_or_else(|| panic!("{method} {path}: {status} has no body"));
        assert_eq!(response.headers()["content-type"].to_str().expect("text"), media, "{method} {path}");
        if media != "application/json" {
            continue;
        }
        let body: Value = response.json().await.expect("JSON");
        let schema = &described["schema"];
        assert!(schema.is_object(), "{method} {path}: {status} has no schema");
        check(&body, schema, &document).unwrap_or_else(|error| panic!("{method} {path}: {error}\n{body}"));
        let constrained = check(&Value::from(7), schema, &document).is_err();
        assert!(constrained || !path.starts_with("/api/"), "{method} {path}: the schema accepts anything");
    }
    node.end().await;
}

#[tokio::test]
async fn bad_parameters_get_an_answer_that_is_described() {
    let node = quiet().await;
    let document = node.get_json("/openapi.json").await;
    for (path, methods) in document["paths"].as_object().expect("paths") {
        let Some(operation) = methods.get("get") else { continue };
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().expect("a name");
            for bad in ["%00", "%ff", "-1", "x", "99999999999999999999999999", ""] {
                let mut path = path.clone();
                let mut query = String::new();
                for other in operation["parameters"].as_array().into_iter().flatten() {
                    let (of, example) = (other["name"].as_str().expect("a name"), other["example"].as_str());
                    let value = if of == name { bad } else { example.expect("an example") };
                    match other["in"].as_str() {
                        Some("path") => path = path.replace(&format!("{{{of}}}"), value),
                        _ => query.push_str(&format!("&{of}={value}")),
                    }
                }
                // Nothing between two slashes is another path.
                if path.contains("//") || path.ends_with('/') {
                    continue;
                }
                let response = node.get(&format!("{path}?{query}")).await;
                let status = response.status().as_u16();
                let described = operation["responses"].get(status.to_string());
                let described = described.unwrap_or_else(|| panic!("{path}?{query}: {status}"));
                let body: Value = response.json().await.expect("JSON");
                let schema = &described["content"]["application/json"]["schema"];
                check(&body, schema, &document).unwrap_or_else(|error| panic!("{path}?{query}: {error}"));
            }
        }
    }
    node.end().await;
}

#[tokio::test]
async fn operations_have_names_of_their_own() {
    let node = node_with(|config| config.exchange.rate_limit = 5).await;
    let document = node.get_json("/openapi.json").await;
    let operations = operations(&document);
    let names: BTreeSet<_> = operations.iter().map(|(_, _, operation)| operation["operationId"].to_string()).collect();
    assert_eq!(names.len(), operations.len());
    let limited = |path: &str| document["paths"][path]["get"]["responses"].get("429").is_some();
    for path in ["/rpc", "/", "/ws", "/websocket", "/metrics", "/health", "/ready"] {
        assert!(document["paths"][path].is_object(), "{path}");
    }
    assert!(limited("/api/prices") && limited("/api/swaps") && !limited("/api/pools") && !limited("/health"));
    node.end().await;
}

//! `GET /openapi.json`, compared with the routes themselves.

use std::collections::{BTreeSet, HashMap};

use jsonschema::Validator;
use serde_json::Value;

use crate::support::{TestNode, golden::is_blessing, node_with, unquoted};

async fn quiet() -> TestNode {
    node_with(|config| config.rate_limit = 0).await
}

/// Every operation: method, path with its examples filled in, and description.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let mut found = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let mut filled = path.clone();
            let mut query = Vec::new();

            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let name = parameter["name"].as_str().expect("a name");
                let example = &parameter["example"];
                if example.is_null() {
                    assert!(
                        parameter["required"] == false,
                        "{path}: {name} has no example"
                    );
                    continue;
                }
                let example = &unquoted(example);
                match parameter["in"].as_str() {
                    Some("path") => filled = filled.replace(&format!("{{{name}}}"), example),
                    _ => query.push(format!("{name}={example}")),
                }
            }

            assert!(
                !filled.contains('{'),
                "{path}: a part of the path is not described"
            );

            let query = if query.is_empty() {
                String::new()
            } else {
                format!("?{}", query.join("&"))
            };

            found.push((method.clone(), filled + &query, operation.clone()));
        }
    }
    found
}

/// Validators for the schemas of a document. Compiling one takes longer than many validations.
struct Validators<'d> {
    components: &'d Value,
    compiled: HashMap<String, Validator>,
}

impl<'d> Validators<'d> {
    fn of(document: &'d Value) -> Self {
        Self {
            components: &document["components"],
            compiled: HashMap::new(),
        }
    }

    /// Validates a value against a schema that may refer to the components of the document.
    fn check(&mut self, value: &Value, schema: &Value) -> Result<(), String> {
        let key = schema.to_string();
        if !self.compiled.contains_key(&key) {
            let mut schema = schema.clone();
            if key.contains("$ref") {
                schema["components"] = self.components.clone();
            }
            let validator =
                jsonschema::validator_for(&schema).map_err(|error| error.to_string())?;
            self.compiled.insert(key.clone(), validator);
        }

        self.compiled[&key]
            .validate(value)
            .map_err(|error| format!("body{}: {error}", error.instance_path()))
    }
}

#[tokio::test]
async fn every_response_is_described_in_the_document() {
    let node = quiet().await;
    let document = node.get_json("/openapi.json").await;
    let mut validators = Validators::of(&document);
    assert_eq!(document["openapi"], "3.1.0");

    let operations = operations(&document);
    assert!(operations.len() >= 20, "{}", operations.len());

    for (method, path, operation) in operations {
        let method =
            reqwest::Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
        let mut request = node
            .http
            .request(method.clone(), format!("{}{path}", node.rest_url()));
        if operation.get("requestBody").is_some() {
            request = request
                .header("content-type", "application/json")
                .body("{}");
        }
        let response = request.send().await.expect("an answer");

        let status = response.status().as_u16().to_string();
        let described = operation["responses"]
            .get(&status)
            .unwrap_or_else(|| panic!("{method} {path}: {status}"));
        let described = described["content"]
            .as_object()
            .into_iter()
            .flatten()
            .next();
        let (media, described) =
            described.unwrap_or_else(|| panic!("{method} {path}: {status} has no body"));

        assert_eq!(
            response.headers()["content-type"].to_str().expect("text"),
            media,
            "{method} {path}"
        );

        if media != "application/json" {
            continue;
        }
        let body: Value = response.json().await.expect("JSON");

        let schema = &described["schema"];
        assert!(
            schema.is_object(),
            "{method} {path}: {status} has no schema"
        );
        validators
            .check(&body, schema)
            .unwrap_or_else(|error| panic!("{method} {path}: {error}\n{body}"));

        let constrained = validators.check(&Value::from(7), schema).is_err();
        assert!(
            constrained || !path.starts_with("/api/"),
            "{method} {path}: the schema accepts anything"
        );
    }
    node.end().await;
}

#[tokio::test]
async fn invalid_parameters_get_a_described_response() {
    let node = quiet().await;
    let document = node.get_json("/openapi.json").await;
    let mut validators = Validators::of(&document);
    for (path, methods) in document["paths"].as_object().expect("paths") {
        let Some(operation) = methods.get("get") else {
            continue;
        };
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().expect("a name");
            for bad in ["%00", "%ff", "-1", "x", "99999999999999999999999999", ""] {
                let mut path = path.clone();
                let mut query = String::new();
                for other in operation["parameters"].as_array().into_iter().flatten() {
                    let of = other["name"].as_str().expect("a name");
                    let example = if other["example"].is_null() {
                        String::new()
                    } else {
                        unquoted(&other["example"])
                    };
                    let value = if of == name { bad } else { &example };
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
                validators
                    .check(&body, schema)
                    .unwrap_or_else(|error| panic!("{path}?{query}: {error}"));
            }
        }
    }
    node.end().await;
}

/// Whether a route is described as limited.
fn is_limited(document: &Value, path: &str) -> bool {
    document["paths"][path]["get"]["responses"]
        .get("429")
        .is_some()
}

#[tokio::test]
async fn operations_have_unique_names() {
    let node = node_with(|config| config.rate_limit = 5).await;
    let document = node.get_json("/openapi.json").await;
    let operations = operations(&document);
    let names: BTreeSet<_> = operations
        .iter()
        .map(|(_, _, operation)| operation["operationId"].to_string())
        .collect();
    assert_eq!(names.len(), operations.len());

    for path in [
        "/rpc",
        "/",
        "/ws",
        "/websocket",
        "/metrics",
        "/health",
        "/ready",
    ] {
        assert!(document["paths"][path].is_object(), "{path}");
    }

    for path in ["/api/prices", "/api/swaps"] {
        assert!(is_limited(&document, path), "{path}");
    }
    for path in ["/api/pools", "/health"] {
        assert!(!is_limited(&document, path), "{path}");
    }
    node.end().await;
}

/// The schema with a name, at the end of a reference.
fn referred<'a>(document: &'a Value, target: &str) -> Option<&'a Value> {
    document.pointer(target.strip_prefix('#')?)
}

/// Calls back for each member of a value, at any depth.
fn walk(value: &Value, visit: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            visit(name, member);
            walk(member, visit);
        }),
        Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
        _ => {}
    }
}

#[tokio::test]
async fn schemas_have_one_name_per_type() {
    let node = quiet().await;
    let document = node.get_json("/openapi.json").await;
    let schemas = document["components"]["schemas"]
        .as_object()
        .expect("schemas");

    for name in schemas.keys() {
        assert!(
            name.starts_with(|first: char| first.is_ascii_uppercase()),
            "{name}"
        );
        assert!(
            name.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            "{name}"
        );

        // schemars numbers types whose names are the same.
        let unnumbered = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
        assert!(
            unnumbered == name || !schemas.contains_key(unnumbered),
            "{name}"
        );
    }

    walk(&document, &mut |name, member| {
        if name == "$ref" {
            let target = member.as_str().expect("a reference");
            assert!(
                referred(&document, target).is_some(),
                "{target} does not exist"
            );
        }
    });
    node.end().await;
}

/// The id of an operation.
fn operation_id<'d>(document: &'d Value, method: &str, path: &str) -> &'d str {
    document["paths"][path][method]["operationId"]
        .as_str()
        .unwrap_or_default()
}

#[tokio::test]
async fn operations_are_named_tagged_and_described_for_programs_and_people() {
    let node = quiet().await;
    let document = node.get_json("/openapi.json").await;
    let tags = document["tags"].as_array().expect("tags").iter();
    let described: BTreeSet<_> = tags
        .map(|tag| tag["name"].as_str().expect("a name").to_owned())
        .collect();

    let mut used = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let id = operation["operationId"].as_str().expect("an id");
        assert!(
            id.starts_with(|first: char| first.is_ascii_lowercase()),
            "{id}"
        );
        assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");

        let tag = operation["tags"][0].as_str().expect("a tag");
        assert!(
            described.contains(tag),
            "{method} {path}: nothing describes the tag {tag}"
        );
        used.insert(tag.to_owned());

        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            assert!(
                !parameter["description"]
                    .as_str()
                    .expect("a description")
                    .is_empty(),
                "{id}: {}",
                parameter["name"]
            );
        }

        assert!(
            operation["responses"]
                .as_object()
                .unwrap()
                .keys()
                .any(|status| status.starts_with('4')),
            "{id}"
        );
    }
    assert_eq!(used, described);

    assert_eq!(operation_id(&document, "get", "/api/prices"), "getPrices");
    assert_eq!(
        operation_id(&document, "get", "/api/user/{address}/positions"),
        "getUserPositions"
    );
    assert_eq!(
        operation_id(&document, "get", "/cosmos/bank/v1beta1/balances/{address}"),
        "getBankAllBalances"
    );
    node.end().await;
}

#[tokio::test]
async fn examples_match_the_schemas() {
    let node = quiet().await;
    let document = node.get_json("/openapi.json").await;
    let mut validators = Validators::of(&document);

    let mut shown = 0;
    for (method, path, operation) in operations(&document) {
        let responses = operation["responses"].as_object().expect("responses");
        let bodies = responses.values().chain([&operation["requestBody"]]);
        for content in bodies
            .filter_map(|body| body["content"].as_object())
            .flat_map(|content| content.values())
        {
            let Some(example) = content.get("example") else {
                continue;
            };
            validators
                .check(example, &content["schema"])
                .unwrap_or_else(|error| panic!("{method} {path}: {error}"));
            shown += 1;
        }

        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let Some(example) = parameter.get("example") else {
                continue;
            };
            validators
                .check(example, &parameter["schema"])
                .unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        }
    }

    assert!(shown > 150, "only {shown} examples");
    let price = &document["paths"]["/api/prices/{address}"]["get"]["responses"]["200"]["content"]["application/json"];
    assert_eq!(price["example"]["data"]["symbol"], "WETH");
    node.end().await;
}

#[tokio::test]
async fn the_token_is_declared_where_it_is_required() {
    let node = quiet().await;
    let document = node.get_json("/openapi.json").await;
    assert_eq!(document["security"], serde_json::json!([]));
    let token = serde_json::json!({ "adminToken": [] });
    assert_eq!(
        document["components"]["securitySchemes"]["adminToken"]["scheme"],
        "bearer"
    );
    let administration = &document["paths"]["/api/admin/prices/{address}"]["post"];
    assert_eq!(
        administration["security"],
        serde_json::json!([{}, token]),
        "optional in development"
    );
    assert!(
        document["paths"]["/api/prices"]["get"]
            .get("security")
            .is_none()
    );
    node.end().await;
}

/// A value as examples show it: lists have their first item, and long texts are cut.
fn shortened(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let most = if items.iter().any(|item| item.is_array() || item.is_object()) {
                1
            } else {
                12
            };
            items.iter().take(most).map(shortened).collect()
        }
        Value::Object(members) => {
            let is_map = members.len() > 2
                && members
                    .keys()
                    .all(|name| name.len() == 42 && name.starts_with("0x"));
            let most = if is_map { 1 } else { members.len() };
            let shown = members
                .iter()
                .take(most)
                .map(|(name, member)| (name.clone(), shortened(member)));
            Value::Object(shown.collect())
        }
        Value::String(text) if text.chars().count() > 300 => {
            format!("{}…", text.chars().take(120).collect::<String>()).into()
        }
        other => other.clone(),
    }
}

/// Whether the members of an object have addresses or hashes for names.
fn is_map(object: &serde_json::Map<String, Value>) -> bool {
    object.keys().all(|name| name.starts_with("0x"))
}

/// Whether two values have the same members of the same kinds. Nothing is compared with null or
/// with the items of an empty list, nor with the members of a value in a choice of several forms,
/// which `type` tells apart.
fn are_alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let differ = one.get("type") != other.get("type");
            differ
                || (is_map(one) && is_map(other))
                || (one.len() == other.len()
                    && one.iter().all(|(name, member)| {
                        other
                            .get(name)
                            .is_some_and(|other| are_alike(member, other))
                    }))
        }
        (Value::Array(one), Value::Array(other)) => one
            .iter()
            .zip(other)
            .all(|(one, other)| are_alike(one, other)),
        (Value::Null, _) | (_, Value::Null) => true,
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

/// A node on which an account has sent a token, with the hash of the transaction.
async fn used_node() -> (TestNode, String) {
    let node = quiet().await;
    let accounts = node.rpc("eth_accounts", serde_json::json!([])).await;
    let network = node.get_json("/api/network").await;
    // transfer(address,uint256)
    let data = format!(
        "0xa9059cbb{:0>64}{:064x}",
        "70997970c51812dc3a010c7d01b50e0d17dc79c8", 1_000_000
    );
    let transfer =
        serde_json::json!({ "from": accounts[0], "to": network["tokens"]["WETH"], "data": data });
    let receipt = node
        .rpc("eth_sendTransactionSync", serde_json::json!([transfer]))
        .await;
    let hash = receipt["transactionHash"]
        .as_str()
        .expect("a hash")
        .to_owned();
    (node, hash)
}

#[tokio::test]
async fn responses_match_the_examples() {
    let (node, transaction) = used_node().await;
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/app/openapi-examples.jsonl"
    );

    let mut lines = String::new();
    let mut wrong = Vec::new();
    for line in std::fs::read_to_string(file).expect("the examples").lines() {
        let mut example: Value = serde_json::from_str(line).expect("JSON");
        let text = |name: &str| example[name].as_str().unwrap_or_default();

        let method = reqwest::Method::from_bytes(text("method").to_uppercase().as_bytes())
            .expect("a method");
        let url = text("url").replace("{{transaction}}", &transaction);
        let mut request = node
            .http
            .request(method, format!("{}{url}", node.rest_url()));
        if let (Some(media), Some(body)) = (example["type"].as_str(), example["request"].as_str()) {
            request = request.header("content-type", media).body(body.to_owned());
        }

        let response = request.send().await.expect("an answer");
        let status = response.status().as_u16();
        let body: Value = shortened(&response.json().await.expect("JSON"));

        if example["status"] != status || !are_alike(&example["response"], &body) {
            wrong.push(format!("{line}\n  answered: {status} {body}"));
            example["status"] = status.into();
            example["response"] = body;
        }

        lines.push_str(&format!("{example}\n"));
    }

    node.end().await;
    if is_blessing() && !wrong.is_empty() {
        std::fs::write(file, lines).expect("the examples are written");
        return;
    }
    assert!(
        wrong.is_empty(),
        "{} examples: {}",
        wrong.len(),
        wrong.join("\n")
    );
}

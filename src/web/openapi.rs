//! The OpenAPI document (version 3.1), made from the operations that routes were registered with.

use std::collections::BTreeMap;

use axum::{Router, body::Bytes, http::header, routing::get};
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{
    api::{Answer, Operation, Parameter},
    method_not_allowed,
};

/// The route of the document about `operations`. The answer is the same for as long as the node runs.
pub fn openapi_router(title: &str, operations: Vec<Operation>) -> Router {
    let own = Operation {
        method: "get",
        path: "/openapi.json",
        ..Operation::new("Node", "This document.").returns::<Map<String, Value>>()
    };
    let operations: Vec<_> = operations.into_iter().chain([own]).collect();
    let body = Bytes::from(document(title, &operations).to_string());
    let answer = move || {
        let body = body.clone();
        async move { ([(header::CONTENT_TYPE, "application/json")], body) }
    };
    Router::new().route("/openapi.json", get(answer).fallback(method_not_allowed))
}

/// The document.
pub fn document(title: &str, operations: &[Operation]) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut generator = SchemaGenerator::new(settings.with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    }));
    let mut paths = Map::new();
    for operation in operations {
        let described = describe(operation, &mut generator);
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = described;
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": title, "version": env!("CARGO_PKG_VERSION") },
        "paths": paths,
        "components": { "schemas": generator.take_definitions(true) },
    })
}

fn describe(operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let parameters = operation.parameters.iter().map(|parameter| describe_parameter(parameter, generator));
    let parameters: Vec<_> = parameters.collect();
    let mut by_status: BTreeMap<String, Value> = BTreeMap::new();
    for answer in &operation.answers {
        by_status.insert(answer.status.as_u16().to_string(), describe_answer(answer, generator));
    }
    let mut described = json!({
        "tags": [operation.tag],
        "operationId": id(operation),
        "summary": operation.summary,
        "responses": by_status,
    });
    if !parameters.is_empty() {
        described["parameters"] = parameters.into();
    }
    if let Some(schema) = operation.body {
        described["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": schema(generator) } } });
    }
    described
}

fn describe_parameter(parameter: &Parameter, generator: &mut SchemaGenerator) -> Value {
    json!({
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.required,
        "description": parameter.what,
        "schema": (parameter.schema)(generator),
        "example": parameter.example,
    })
}

fn describe_answer(answer: &Answer, generator: &mut SchemaGenerator) -> Value {
    match answer.schema {
        None => json!({ "description": answer.what }),
        Some(schema) => json!({
            "description": answer.what,
            "content": { answer.media: { "schema": schema(generator) } },
        }),
    }
}

/// A name for generated clients: `get_api_prices_address`.
fn id(operation: &Operation) -> String {
    let words = operation.path.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    std::iter::once(operation.method).chain(words).collect::<Vec<_>>().join("_")
}

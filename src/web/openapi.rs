//! The OpenAPI document (version 3.1), made from the operations of the routes.

use std::collections::BTreeMap;

use axum::{Router, extract::State, http::HeaderMap};
use schemars::{SchemaGenerator, generate::SchemaSettings, transform::ReplaceBoolSchemas};
use serde_json::{Map, Value, json};

use super::{
    Effort, Prepared,
    api::{Api, Operation, ResponseKind},
    method_not_allowed,
    parameters::{Parameter, ParameterPlace},
    reply::Serialized,
};

/// The route of the document about `operations`, which stays the same for as long as the node runs.
pub fn openapi_router(title: &str, mut operations: Vec<Operation>) -> Router {
    let api = Api::new("Node").get("/openapi.json", openapi, "This document.");
    operations.extend_from_slice(api.operations());
    let body = Prepared::new(document(title, &operations).to_string().into(), Effort::Always);
    api.and(|router| router.method_not_allowed_fallback(method_not_allowed)).with_state(body).0
}

async fn openapi(State(body): State<Prepared>, headers: HeaderMap) -> Serialized<Map<String, Value>> {
    Serialized::prepared(&body, &headers)
}

/// Generates the document.
pub fn document(title: &str, operations: &[Operation]) -> Value {
    // Of any value, generators of clients and of tests expect `{}` rather than `true`.
    let mut replace_booleans = ReplaceBoolSchemas::default();
    replace_booleans.skip_additional_properties = true;
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(replace_booleans);
    let mut generator = SchemaGenerator::new(settings.with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    }));
    let mut paths = Map::new();
    for operation in operations {
        let described = describe(operation, &mut generator);
        let path = paths.entry(operation.path.as_ref()).or_insert_with(|| json!({}));
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
    let parameters = operation.parameters.iter().map(describe_parameter).collect::<Vec<_>>();
    let mut by_status: BTreeMap<String, Value> = BTreeMap::new();
    for response in &operation.responses {
        by_status.insert(response.status.as_u16().to_string(), describe_response(response, generator));
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
    if let Some((media, schema)) = operation.body {
        described["requestBody"] = json!({ "required": true, "content": { media: { "schema": schema(generator) } } });
    }
    described
}

fn describe_parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "in": match parameter.place {
            ParameterPlace::Path => "path",
            ParameterPlace::Query => "query",
        },
        "required": parameter.required,
        "description": parameter.description,
        "schema": parameter.schema,
        "example": parameter.example,
    })
}

fn describe_response(response: &ResponseKind, generator: &mut SchemaGenerator) -> Value {
    match response.schema {
        None => json!({ "description": response.description }),
        Some(schema) => json!({
            "description": response.description,
            "content": { response.media: { "schema": schema(generator) } },
        }),
    }
}

/// The operation id, which names functions of generated clients: `get_api_prices_address`.
fn id(operation: &Operation) -> String {
    let words = operation.path.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    std::iter::once(operation.method).chain(words).collect::<Vec<_>>().join("_")
}

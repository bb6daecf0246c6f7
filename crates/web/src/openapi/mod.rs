//! The OpenAPI document (version 3.1), made from the operations of the routes.

mod alternatives;
mod examples;
mod names;

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use schemars::{SchemaGenerator, generate::SchemaSettings, transform::ReplaceBoolSchemas};
use serde_json::{Map, Value, json};

use self::{
    alternatives::{flatten, remove_unused},
    examples::by_route,
    names::{operation_id, rename_schemas, renamed},
};
use super::{
    Api, Effort, Operation, Prepared, RestError, admin_token, method_not_allowed,
    operation::ResponseKind,
    parameters::{Parameter, ParameterPlace},
    reply::Serialized,
};

/// The parts of the document that do not follow from the operations.
#[derive(Clone, Copy, Debug)]
pub struct ApiInfo {
    /// The name of the program.
    pub title: &'static str,
    /// The description, in Markdown.
    pub description: &'static str,
    /// The tags, in the order of display, with their descriptions.
    pub tags: &'static [(&'static str, &'static str)],
    /// Lines of JSON with an example of each route.
    pub examples: &'static str,
    /// Whether administrative routes require the token.
    pub token_required: bool,
}

/// The name of the security scheme of administrative routes.
const ADMIN_TOKEN: &str = "adminToken";

/// The route of the document about `operations`, which stays the same for as long as the node runs.
pub fn openapi_router(info: ApiInfo, mut operations: Vec<Operation>) -> Router {
    let api = Api::new("Node")
        .get("/openapi.json", openapi, "This document.")
        .named("getOpenApiDocument");

    operations.extend_from_slice(api.operations());
    let made: MadeOnDemand = Arc::new(LazyLock::new(Box::new(move || {
        let text = document(&info, &operations).to_string();
        Prepared::new(text.into(), Effort::Always)
    })));

    api.and(|router| router.method_not_allowed_fallback(method_not_allowed))
        .with_state(made)
        .0
}

/// The document. Making it takes a good part of the time of a start, so that the first request for
/// it does.
type MadeOnDemand = Arc<LazyLock<Prepared, Box<dyn FnOnce() -> Prepared + Send + Sync>>>;

async fn openapi(
    State(made): State<MadeOnDemand>,
    headers: HeaderMap,
) -> Serialized<Map<String, Value>> {
    Serialized::prepared(&made, &headers)
}

/// Generates the document.
pub(crate) fn document(info: &ApiInfo, operations: &[Operation]) -> Value {
    let mut generator = SchemaGenerator::new(schema_settings());
    let described: Vec<Value> = operations
        .iter()
        .map(|operation| describe(operation, info, &mut generator))
        .collect();

    let mut schemas = rename_schemas(generator.take_definitions(true));
    flatten(&mut schemas);
    // After flattening, which drops references.
    remove_unused(&mut schemas, &described);

    let paths = by_path(operations, described, info.examples);
    let tags = describe_tags(operations, info);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": info.title,
            "version": env!("CARGO_PKG_VERSION"),
            "description": info.description,
            "contact": { "name": "The maintainers of tetrad" },
            "license": { "name": env!("CARGO_PKG_LICENSE"), "identifier": env!("CARGO_PKG_LICENSE") },
        },
        // Relative to this document, which may be behind a proxy.
        "servers": [{ "url": ".", "description": "The node that serves this document." }],
        "tags": tags,
        // Routes that do not say otherwise are open to all clients.
        "security": [],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": {
                "Forbidden": {
                    "description": "The request names a host that is not in `allowed-hosts`, or a page sent it whose \
                                    origin is not in `cors-origins`.",
                    "content": { "text/plain; charset=utf-8": { "schema": { "type": "string" } } },
                },
            },
            "securitySchemes": {
                ADMIN_TOKEN: {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token in the file `admin-token-file`, for the routes under `/api/admin`. They do \
                                    not exist in production without that setting, and are open to everybody in \
                                    development.",
                },
            },
        },
    })
}

fn schema_settings() -> SchemaSettings {
    // Of any value, generators of clients and of tests expect `{}` rather than `true`.
    let mut replace_booleans = ReplaceBoolSchemas::default();
    replace_booleans.skip_additional_properties = true;

    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(replace_booleans);
    settings.with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    })
}

/// The descriptions of the operations by path and method, with their examples.
fn by_path<'a>(
    operations: &'a [Operation],
    described: Vec<Value>,
    examples: &str,
) -> BTreeMap<&'a str, Map<String, Value>> {
    let examples = by_route(examples);
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for (operation, mut described) in operations.iter().zip(described) {
        if let Some(example) = examples.get(&(operation.method, &*operation.path)) {
            example.add_to(&mut described);
        }
        paths
            .entry(&operation.path)
            .or_default()
            .insert(operation.method.to_owned(), described);
    }
    paths
}

/// The tags that an operation has, in the order of display.
fn describe_tags(operations: &[Operation], info: &ApiInfo) -> Vec<Value> {
    let used = |tag: &str| operations.iter().any(|operation| operation.tag == tag);
    let tags = info.tags.iter().filter(|(name, _)| used(name));
    tags.map(|(name, description)| json!({ "name": name, "description": description }))
        .collect()
}

/// Adds the bodies of other media types that an earlier description of the same status has.
fn keep_media_types(response: &mut Value, earlier: &Value) {
    let content = response.get_mut("content").and_then(Value::as_object_mut);
    let earlier = earlier.get("content").and_then(Value::as_object);
    for (content, earlier) in content.into_iter().zip(earlier) {
        for (media, body) in earlier {
            content.entry(media).or_insert_with(|| body.clone());
        }
    }
}

fn describe(operation: &Operation, info: &ApiInfo, generator: &mut SchemaGenerator) -> Value {
    let parameters = operation
        .parameters
        .iter()
        .map(describe_parameter)
        .collect::<Vec<_>>();

    let mut by_status: BTreeMap<String, Value> = BTreeMap::new();
    for response in &operation.responses {
        let status = if response.is_default {
            "default".to_owned()
        } else {
            response.status.as_u16().to_string()
        };
        let mut described = describe_response(response, generator);
        if let Some(earlier) = by_status.get(&status) {
            keep_media_types(&mut described, earlier);
        }
        by_status.insert(status, described);
    }

    // Every route refuses foreign hosts and origins.
    by_status
        .entry("403".to_owned())
        .or_insert_with(|| json!({ "$ref": "#/components/responses/Forbidden" }));

    if info.token_required && admin_token::protects(&operation.path) {
        let operation = Operation::new("", "").fails::<RestError>(&[StatusCode::UNAUTHORIZED]);
        let refusals = operation
            .responses
            .iter()
            .map(|response| describe_response(response, generator));
        by_status.extend(refusals.map(|refusal| ("401".to_owned(), refusal)));
    }

    let mut described = json!({
        "tags": [operation.tag],
        "operationId": operation_id(operation),
        "summary": operation.summary,
        "responses": by_status,
    });

    if !parameters.is_empty() {
        described["parameters"] = parameters.into();
    }

    if let Some((media, schema)) = operation.body {
        let schema = renamed(schema(generator));
        described["requestBody"] =
            json!({ "required": true, "content": { media: { "schema": schema } } });
    }

    if admin_token::protects(&operation.path) {
        let token = json!({ ADMIN_TOKEN: [] });
        described["security"] = if info.token_required {
            json!([token])
        } else {
            // The empty requirement makes the token optional.
            json!([{}, token])
        };
    }
    described
}

fn describe_parameter(parameter: &Parameter) -> Value {
    let mut described = json!({
        "name": parameter.name,
        "in": match parameter.place {
            ParameterPlace::Path => "path",
            ParameterPlace::Query => "query",
        },
        "required": parameter.required,
        "description": parameter.description,
        "schema": parameter.schema,
    });

    if let Some(example) = parameter.example_value() {
        described["example"] = example;
    }
    described
}

fn describe_response(response: &ResponseKind, generator: &mut SchemaGenerator) -> Value {
    match response.schema {
        None => json!({ "description": response.description }),
        Some(schema) => json!({
            "description": response.description,
            "content": { response.media: { "schema": renamed(schema(generator)) } },
        }),
    }
}

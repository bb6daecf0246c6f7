//! The operations of a node, read from its own descriptions: OpenAPI, OpenRPC, gRPC reflection,
//! GraphQL introspection and CometBFT's table of methods. No operation is known here by its name.

use std::collections::BTreeMap;

use axum::body::Bytes;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use prost_reflect::MessageDescriptor;
use serde_json::{Map, Value, json};
use tetrad_cosmos::{CometType, comet_methods};

use super::{
    documents::expanded,
    grpc, introspection,
    request::{Client, Protocol, Request},
    subject::{Subject, client_address, text},
};

/// The listener with all interfaces, by its name in the ready file.
const MAIN: &str = "rest";

/// The part of a request with a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    /// In a query, as JSON: texts are quoted.
    Json,
    /// A JSON-RPC parameter by position.
    Position,
    /// A JSON-RPC parameter by name.
    Member,
    /// A field of a protobuf message, or an argument of a GraphQL field.
    Field,
    /// The body.
    Body,
}

/// A parameter of an operation.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub name: String,
    pub place: Place,
    pub required: bool,
    pub schema: Value,
    /// The example, and words in the description.
    pub examples: Vec<Value>,
}

/// How an operation is called.
#[derive(Clone, Debug)]
pub(super) enum Call {
    /// An HTTP method and path, with the media type of the body.
    Http {
        method: String,
        path: String,
        media: Option<String>,
    },
    /// A JSON-RPC method.
    JsonRpc { method: String },
    /// A gRPC method, with one request message or a stream of them.
    Grpc {
        path: String,
        input: MessageDescriptor,
        streams: bool,
    },
    /// A field of GraphQL's `Query`, with the selections below it.
    Graph { field: String, selections: String },
    /// A WebSocket.
    Socket { path: String },
}

/// An operation that clients can request from a node.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    /// The readable name, such as `GET /api/v2/transactions`.
    pub name: String,
    /// The listeners of the operation, by their names in the ready file.
    pub listeners: Vec<String>,
    pub call: Call,
    pub parameters: Vec<Parameter>,
    /// Whether it changes the chain, its pool or the node's settings.
    pub changes_state: bool,
}

/// The value of each parameter; none to omit it.
pub(super) type Arguments = Vec<Option<Value>>;

impl Operation {
    /// Whether clients choose the body.
    pub(super) fn has_body(&self) -> bool {
        !matches!(
            &self.call,
            Call::Http { media: None, .. } | Call::Socket { .. }
        )
    }

    /// The request with these arguments.
    pub(super) fn request(&self, arguments: &Arguments) -> Request {
        let listener = self.listeners[0].clone();
        let given = self
            .parameters
            .iter()
            .zip(arguments)
            .filter_map(|(parameter, value)| Some((parameter, value.as_ref()?)));

        match &self.call {
            Call::Http {
                method,
                path,
                media,
            } => {
                let (target, body) = target(path, given);
                let body = body.map(|value| encoded(value, media.as_deref().unwrap_or_default()));
                let method = method.clone();
                let media = media.clone();
                let body = body.unwrap_or_default();
                Request {
                    listener,
                    protocol: Protocol::Http,
                    method,
                    target,
                    media,
                    body,
                }
            }
            Call::JsonRpc { method } => self.post(listener, &self.json_rpc(method, arguments)),

            Call::Graph { field, selections } => {
                let arguments: Vec<_> = given
                    .map(|(parameter, value)| format!("{}: {value}", parameter.name))
                    .collect();
                let arguments = if arguments.is_empty() {
                    String::new()
                } else {
                    format!("({})", arguments.join(", "))
                };
                self.post(
                    listener,
                    &json!({"query": format!("{{ {field}{arguments} {selections} }}")}),
                )
            }

            Call::Grpc { path, input, .. } => Request {
                listener,
                protocol: Protocol::Grpc,
                method: "POST".to_owned(),
                target: path.clone(),
                media: Some("application/grpc+proto".to_owned()),
                body: grpc::message(input, given).into(),
            },

            Call::Socket { path } => Request {
                listener,
                protocol: Protocol::Http,
                method: "GET".to_owned(),
                target: path.clone(),
                media: None,
                body: Bytes::new(),
            },
        }
    }

    /// A request with a body that replaces the operation's own.
    pub(super) fn with_body(&self, body: impl Into<Bytes>, arguments: &Arguments) -> Request {
        Request {
            body: body.into(),
            ..self.request(arguments)
        }
    }

    fn json_rpc(&self, method: &str, arguments: &Arguments) -> Value {
        let by_name = self
            .parameters
            .first()
            .is_some_and(|parameter| parameter.place == Place::Member);
        let params: Value = if by_name {
            let members = self.parameters.iter().zip(arguments);
            members
                .filter_map(|(parameter, value)| Some((parameter.name.clone(), value.clone()?)))
                .collect::<Map<_, _>>()
                .into()
        } else {
            let last = arguments
                .iter()
                .rposition(Option::is_some)
                .map_or(0, |last| last + 1);
            arguments[..last]
                .iter()
                .map(|value| value.clone().unwrap_or_default())
                .collect()
        };
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    }

    fn post(&self, listener: String, body: &Value) -> Request {
        let path = if matches!(self.call, Call::Graph { .. }) {
            "/graphql"
        } else {
            "/"
        };
        Request {
            listener,
            protocol: Protocol::Http,
            method: "POST".to_owned(),
            target: path.to_owned(),
            media: Some("application/json".to_owned()),
            body: body.to_string().into(),
        }
    }
}

/// The path with its parameters and query, and the value of the body.
fn target<'a>(
    path: &str,
    given: impl Iterator<Item = (&'a Parameter, &'a Value)>,
) -> (String, Option<&'a Value>) {
    let mut path = path.to_owned();
    let mut query = Vec::new();
    let mut body = None;
    for (parameter, value) in given {
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        match parameter.place {
            Place::Path => {
                path = path.replace(&format!("{{{}}}", parameter.name), &encode(&text(value)))
            }
            Place::Body => body = Some(value),
            Place::Json => query.push(format!("{}={}", parameter.name, encode(&json_text(value)))),
            _ => query.push(format!("{}={}", parameter.name, encode(&text(value)))),
        }
    }
    if !query.is_empty() {
        path = format!("{path}?{}", query.join("&"));
    }
    (path, body)
}

/// A value in a CometBFT query: texts are quoted, numbers and hex bytes are not.
fn json_text(value: &Value) -> String {
    match value {
        Value::String(text) if text.starts_with("0x") => text.clone(),
        other => other.to_string(),
    }
}

/// A body, encoded for a media type.
fn encoded(value: &Value, media: &str) -> Bytes {
    match (media, value) {
        ("application/x-www-form-urlencoded", Value::Object(members)) => {
            let pairs = members
                .iter()
                .map(|(name, value)| (name.clone(), text(value)));
            form_urlencoded::Serializer::new(String::new())
                .extend_pairs(pairs)
                .finish()
                .into()
        }
        ("application/json", value) => value.to_string().into(),
        (_, value) => text(value).into(),
    }
}

/// Every operation that the node describes.
pub(super) async fn operations(subject: &Subject) -> Vec<Operation> {
    let mut client = Client::new(client_address(1));
    let openapi = document(subject, &mut client, "GET", "/openapi.json", None).await;
    let discover = json!({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover", "params": []});
    let openrpc =
        document(subject, &mut client, "POST", "/rpc", Some(&discover)).await["result"].take();
    let query = json!({"query": introspection::QUERY});
    let graph = document(subject, &mut client, "POST", "/graphql", Some(&query)).await;

    let mut operations = of_openapi(&openapi);
    operations.extend(of_openrpc(&openrpc));
    operations.extend(introspection::operations(&graph));
    operations.extend(grpc::operations(subject.address("grpc")).await);
    operations.extend(of_comet());
    // Listeners that serve WebSockets only.
    for (name, url) in subject.listeners() {
        if let Some(rest) = url.strip_prefix("ws://") {
            let path = rest
                .split_once('/')
                .map_or("/".to_owned(), |(_, path)| format!("/{path}"));
            operations.push(socket(&format!("WebSocket {name}"), &name, path));
        }
    }
    share_examples(&mut operations);
    operations
}

/// Copies the examples of parameters to those with the same name but no examples, across
/// interfaces.
fn share_examples(operations: &mut [Operation]) {
    let short = |name: &str| name.rsplit('.').next().unwrap_or(name).to_lowercase();
    let mut known: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for parameter in operations
        .iter()
        .flat_map(|operation| &operation.parameters)
    {
        let examples = known.entry(short(&parameter.name)).or_default();
        for example in &parameter.examples {
            if !examples.contains(example) {
                examples.push(example.clone());
            }
        }
    }
    for parameter in operations
        .iter_mut()
        .flat_map(|operation| &mut operation.parameters)
    {
        if parameter.examples.is_empty() && parameter.place != Place::Body {
            parameter
                .examples
                .clone_from(&known[&short(&parameter.name)]);
        }
    }
}

/// A JSON document that the node serves.
async fn document(
    subject: &Subject,
    client: &mut Client,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Value {
    let request = Request {
        listener: MAIN.to_owned(),
        protocol: Protocol::Http,
        method: method.to_owned(),
        target: path.to_owned(),
        media: body.map(|_| "application/json".to_owned()),
        body: body.map(Value::to_string).unwrap_or_default().into(),
    };
    let outcome = client
        .ask(subject, &request)
        .await
        .unwrap_or_else(|error| panic!("{method} {path}: {error}"));
    serde_json::from_slice(&outcome.body).unwrap_or_else(|error| panic!("{method} {path}: {error}"))
}

fn socket(name: &str, listener: &str, path: String) -> Operation {
    let name = name.to_owned();
    let listeners = vec![listener.to_owned()];
    Operation {
        name,
        listeners,
        call: Call::Socket { path },
        parameters: Vec::new(),
        changes_state: false,
    }
}

/// The operations of an OpenAPI document.
fn of_openapi(document: &Value) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, described) in methods.as_object().expect("methods") {
            let method = method.to_uppercase();
            let name = format!("{method} {path}");
            if described["responses"].get("101").is_some() {
                operations.push(socket(&name, MAIN, path.clone()));
                continue;
            }

            let mut parameters: Vec<_> = described["parameters"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|parameter| {
                    let place = if parameter["in"] == "path" {
                        Place::Path
                    } else {
                        Place::Query
                    };
                    Parameter {
                        name: parameter["name"].as_str().expect("a name").to_owned(),
                        place,
                        required: parameter["required"] == true,
                        schema: expanded(&parameter["schema"], document, 0),
                        examples: examples(parameter, "example", "description"),
                    }
                })
                .collect();

            let body = described["requestBody"]["content"]
                .as_object()
                .into_iter()
                .flatten()
                .next();
            if let Some((_, content)) = body {
                parameters.push(Parameter {
                    name: "body".to_owned(),
                    place: Place::Body,
                    required: true,
                    schema: expanded(&content["schema"], document, 0),
                    examples: content.get("example").cloned().into_iter().collect(),
                });
            }

            let call = Call::Http {
                method,
                path: path.clone(),
                media: body.map(|(media, _)| media.clone()),
            };
            operations.push(Operation {
                name,
                listeners: vec![MAIN.to_owned()],
                call,
                parameters,
                changes_state: false,
            });
        }
    }
    operations
}

/// The methods of an OpenRPC document.
fn of_openrpc(document: &Value) -> Vec<Operation> {
    let described = document["methods"].as_array().expect("methods");
    let methods = described.iter().map(|described| {
        let method = described["name"].as_str().expect("a name").to_owned();
        let shown: BTreeMap<&str, &Value> = described["examples"][0]["params"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|example| Some((example["name"].as_str()?, &example["value"])))
            .collect();

        let parameters = described["params"]
            .as_array()
            .expect("parameters")
            .iter()
            .map(|parameter| {
                let name = parameter["name"].as_str().expect("a name");
                let mut examples = examples(parameter, "example", "summary");
                examples.extend(shown.get(name).map(|value| (*value).clone()));
                Parameter {
                    name: name.to_owned(),
                    place: Place::Position,
                    required: parameter["required"] == true,
                    schema: expanded(&parameter["schema"], document, 0),
                    examples,
                }
            });

        Operation {
            name: method.clone(),
            listeners: vec![MAIN.to_owned()],
            parameters: parameters.collect(),
            call: Call::JsonRpc { method },
            changes_state: described["x-changes-state"] == true,
        }
    });
    methods.collect()
}

/// The methods of CometBFT, which has no machine-readable description, each in both ways to call
/// it.
fn of_comet() -> Vec<Operation> {
    let mut operations = Vec::new();
    for (method, described) in comet_methods() {
        let listeners = vec!["comet".to_owned()];
        operations.push(Operation {
            name: format!("CometBFT {method}"),
            listeners: listeners.clone(),
            call: Call::JsonRpc {
                method: method.to_owned(),
            },
            parameters: comet_parameters(described, &Place::Member),
            changes_state: false,
        });
        operations.push(Operation {
            name: format!("CometBFT GET /{method}"),
            listeners,
            call: Call::Http {
                method: "GET".to_owned(),
                path: format!("/{method}"),
                media: None,
            },
            parameters: comet_parameters(described, &Place::Json),
            changes_state: false,
        });
    }
    operations
}

fn comet_parameters(described: &[(&str, CometType)], place: &Place) -> Vec<Parameter> {
    described
        .iter()
        .map(|(name, kind)| comet_parameter(name, *kind, place.clone()))
        .collect()
}

fn comet_parameter(name: &str, kind: CometType, place: Place) -> Parameter {
    let schema = match kind {
        CometType::Number => json!({"type": "integer", "minimum": 0}),
        CometType::Flag => json!({"type": "boolean"}),
        CometType::Text | CometType::Hex | CometType::Bytes => json!({"type": "string"}),
    };
    Parameter {
        name: name.to_owned(),
        place,
        required: false,
        schema,
        examples: Vec::new(),
    }
}

/// The example of a parameter, and the words in backticks in its description.
fn examples(parameter: &Value, example: &str, description: &str) -> Vec<Value> {
    let mut found: Vec<Value> = parameter.get(example).cloned().into_iter().collect();
    let description = parameter[description].as_str().unwrap_or_default();
    found.extend(description.split('`').skip(1).step_by(2).map(Value::from));
    found
}

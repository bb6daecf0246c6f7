//! The gRPC methods, as reflection describes them.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
};

use prost::Message;
use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor,
    prost_types::{FileDescriptorProto, FileDescriptorSet},
};
use serde_json::{Map, Value, json};
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, ServerReflectionResponse, server_reflection_request::MessageRequest,
    server_reflection_response::MessageResponse,
};

use super::describe::{Call, Operation, Parameter, Place};
use crate::support::grpc::GrpcClient;

/// Levels of messages whose fields become separate parameters.
const LEVELS: usize = 3;

/// An operation for each method in the server's description.
pub(super) async fn operations(server: SocketAddr) -> Vec<Operation> {
    let mut client = GrpcClient::connect(server).await;
    let services = match reflect(&mut client, MessageRequest::ListServices(String::new())).await {
        Some(MessageResponse::ListServicesResponse(list)) => list.service,
        other => panic!("{other:?}"),
    };

    let mut files = BTreeMap::new();
    let mut wanted: Vec<_> = services
        .iter()
        .map(|service| MessageRequest::FileContainingSymbol(service.name.clone()))
        .collect();

    let mut asked = BTreeSet::new();
    while let Some(request) = wanted.pop() {
        let Some(MessageResponse::FileDescriptorResponse(found)) =
            reflect(&mut client, request).await
        else {
            continue;
        };
        for encoded in found.file_descriptor_proto {
            let file = FileDescriptorProto::decode(encoded.as_slice()).expect("a descriptor");
            let missing = file
                .dependency
                .iter()
                .filter(|name| asked.insert((*name).clone()));
            wanted.extend(missing.map(|name| MessageRequest::FileByFilename(name.clone())));
            files.insert(file.name().to_owned(), file);
        }
    }

    let files = FileDescriptorSet {
        file: files.into_values().collect(),
    };
    let pool = DescriptorPool::from_file_descriptor_set(files).expect("complete descriptors");

    let methods = services
        .iter()
        .filter_map(|service| pool.get_service_by_name(&service.name));
    let methods = methods.flat_map(|service| service.methods().collect::<Vec<_>>());

    let operations = methods.map(|method| {
        let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
        let mut parameters = Vec::new();
        add_fields(&method.input(), "", LEVELS, &mut parameters);
        Operation {
            name: format!("gRPC {path}"),
            listeners: vec!["grpc".to_owned()],
            call: Call::Grpc {
                path,
                input: method.input(),
                streams: method.is_client_streaming(),
            },
            parameters,
            changes_state: false,
        }
    });
    operations.collect()
}

async fn reflect(client: &mut GrpcClient, request: MessageRequest) -> Option<MessageResponse> {
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(request),
    }
    .encode_to_vec();
    let path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    let answer = client.call(path, &request, None).await;
    ServerReflectionResponse::decode(answer.body.as_slice())
        .expect("a response")
        .message_response
}

/// Adds the fields of a message, and those of nested messages with their paths.
fn add_fields(
    message: &MessageDescriptor,
    prefix: &str,
    levels: usize,
    parameters: &mut Vec<Parameter>,
) {
    for field in message.fields() {
        let name = format!("{prefix}{}", field.name());
        match field.kind() {
            Kind::Message(inner)
                if levels > 0 && !field.is_list() && !field.is_map() && is_plain(&inner) =>
            {
                add_fields(&inner, &format!("{name}."), levels - 1, parameters);
            }
            _ => parameters.push(Parameter {
                name,
                place: Place::Field,
                required: false,
                schema: schema(&field),
                examples: Vec::new(),
            }),
        }
    }
}

/// Whether protobuf's JSON represents a message as an object with its fields.
fn is_plain(message: &MessageDescriptor) -> bool {
    !message.full_name().starts_with("google.protobuf.")
}

/// The schema of a field in protobuf's JSON.
fn schema(field: &FieldDescriptor) -> Value {
    let item = match field.kind() {
        Kind::Bool => json!({"type": "boolean"}),
        Kind::String => json!({"type": "string"}),
        Kind::Bytes => {
            json!({"type": "string", "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"})
        }
        Kind::Enum(kind) => {
            json!({"enum": kind.values().map(|value| value.name().to_owned()).collect::<Vec<_>>()})
        }
        Kind::Message(_) => json!({"type": "object"}),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => {
            json!({"type": "integer", "maximum": i32::MAX})
        }
        Kind::Uint32 | Kind::Fixed32 => json!({"type": "integer", "maximum": u32::MAX}),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => {
            json!({"type": "integer", "maximum": i64::MAX})
        }
        _ => json!({"type": "integer", "maximum": u64::MAX}),
    };
    if field.is_list() {
        json!({"type": "array", "items": item})
    } else {
        item
    }
}

/// The encoding of a message with these fields. Fields with unsuitable values are omitted.
pub(super) fn message<'a>(
    input: &MessageDescriptor,
    given: impl Iterator<Item = (&'a Parameter, &'a Value)>,
) -> Vec<u8> {
    let mut whole = DynamicMessage::new(input.clone());
    for (parameter, value) in given {
        let nested = parameter
            .name
            .rsplit('.')
            .fold(value.clone(), |value, name| {
                Value::Object(Map::from_iter([(name.to_owned(), value)]))
            });
        if let Ok(message) = DynamicMessage::deserialize(input.clone(), nested) {
            // Decoding protobuf messages one after another merges them.
            let _ = whole.merge(message.encode_to_vec().as_slice());
        }
    }
    whole.encode_to_vec()
}

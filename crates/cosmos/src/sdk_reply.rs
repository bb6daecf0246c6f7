//! Responses in the SDK's JSON.

use std::borrow::Cow;

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};
use tetrad_web::{Answer, Operation, Output};

/// A body in the SDK's own shape, which the OpenAPI document does not repeat.
pub(super) struct SdkBody;

impl JsonSchema for SdkBody {
    fn schema_name() -> Cow<'static, str> {
        "SdkBody".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Map::<String, Value>::json_schema(generator)
    }
}

/// A response of the SDK in JSON, which may be different the next time.
pub(super) struct SdkReply(pub(super) Answer);

impl IntoResponse for SdkReply {
    fn into_response(self) -> Response {
        let mut response = self.0.into_json();
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}

impl Output for SdkReply {
    fn describe(operation: Operation) -> Operation {
        operation.returns::<SdkBody>()
    }
}

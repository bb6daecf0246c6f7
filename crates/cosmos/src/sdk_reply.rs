//! Responses in the SDK's JSON.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
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
        self.0.into_no_cache_json()
    }
}

impl Output for SdkReply {
    fn describe(operation: Operation) -> Operation {
        operation.returns::<SdkBody>()
    }
}

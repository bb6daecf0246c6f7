//! Results of handlers, typed by their JSON body so that the OpenAPI document follows from the signature.

use std::marker::PhantomData;

use axum::{
    Json,
    body::Bytes,
    extract::{FromRequest, Request},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Prepared, RestError,
    api::{Input, Operation, Output},
    cache::{CachePolicy, Rendered},
    content::TOML_TYPE,
};

/// A body that caches must revalidate before each use.
pub struct NoCache<T>(pub T);

/// A body that no cache may store.
pub struct NoStore<T>(pub T);

impl<T: Serialize> IntoResponse for NoCache<T> {
    fn into_response(self) -> Response {
        ([(header::CACHE_CONTROL, "no-cache")], Json(self.0)).into_response()
    }
}

impl<T: Serialize> IntoResponse for NoStore<T> {
    fn into_response(self) -> Response {
        ([(header::CACHE_CONTROL, "no-store")], Json(self.0)).into_response()
    }
}

impl<T: JsonSchema> Output for NoCache<T> {
    fn describe(operation: Operation) -> Operation {
        operation.returns::<T>()
    }
}

impl<T: JsonSchema> Output for NoStore<T> {
    fn describe(operation: Operation) -> Operation {
        operation.returns::<T>()
    }
}

/// A [`Rendered`] body of type `T`, or 304 for a client that has it.
pub struct Cached<T> {
    response: Response,
    body: PhantomData<fn() -> T>,
}

impl<T> Cached<T> {
    /// The response to a request with these headers.
    pub fn new(rendered: &Rendered, request: &HeaderMap, policy: CachePolicy, now_ms: u64) -> Self {
        Self { response: rendered.respond(request, policy, now_ms), body: PhantomData }
    }
}

impl<T> IntoResponse for Cached<T> {
    fn into_response(self) -> Response {
        self.response
    }
}

impl<T: JsonSchema> Output for Cached<T> {
    fn describe(operation: Operation) -> Operation {
        operation.returns::<T>().answers_bare(StatusCode::NOT_MODIFIED, "The client has this answer already.")
    }
}

/// A JSON body of type `T` that is serialized already.
pub struct Serialized<T> {
    response: Response,
    body: PhantomData<fn() -> T>,
}

impl<T> From<Bytes> for Serialized<T> {
    fn from(json: Bytes) -> Self {
        let response = ([(header::CONTENT_TYPE, "application/json")], json).into_response();
        Self { response, body: PhantomData }
    }
}

impl<T> Serialized<T> {
    /// The response to a request with these headers, with a body that is compressed once.
    pub fn prepared(json: &Prepared, request: &HeaderMap) -> Self {
        let mut serialized = Self::from(json.bytes().clone());
        json.mark(request, &mut serialized.response);
        serialized
    }
}

impl<T> IntoResponse for Serialized<T> {
    fn into_response(self) -> Response {
        self.response
    }
}

impl<T: JsonSchema> Output for Serialized<T> {
    fn describe(operation: Operation) -> Operation {
        operation.returns::<T>()
    }
}

/// The result of a health check: 200 or 503, with the same body. No cache may store it.
pub struct Checked<T> {
    /// Whether the check passed.
    pub passed: bool,
    /// The body.
    pub body: T,
}

impl<T: Serialize> IntoResponse for Checked<T> {
    fn into_response(self) -> Response {
        let status = if self.passed { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        (status, NoStore(self.body)).into_response()
    }
}

impl<T: JsonSchema> Output for Checked<T> {
    fn describe(operation: Operation) -> Operation {
        operation.returns::<T>().answers::<T>(StatusCode::SERVICE_UNAVAILABLE, "The check failed; the body says why.")
    }
}

/// A JSON request body that parses and describes itself.
pub trait RequestBody: JsonSchema + Sized {
    /// Reads the body. An error names the member.
    fn parse(json: &[u8]) -> Result<Self, RestError>;
}

/// Extracts a [`RequestBody`].
pub struct JsonBody<T>(pub T);

impl<S: Send + Sync, T: RequestBody> FromRequest<S> for JsonBody<T> {
    type Rejection = RestError;

    async fn from_request(request: Request, state: &S) -> Result<Self, RestError> {
        T::parse(&Bytes::from_request(request, state).await?).map(Self)
    }
}

impl<S, T: RequestBody> Input<S> for JsonBody<T> {
    fn describe(operation: Operation) -> Operation {
        operation.body::<T>().fails::<RestError>(&[StatusCode::BAD_REQUEST])
    }
}

/// Extracts the text of a TOML document.
pub struct TomlBody(pub String);

impl<S: Send + Sync> FromRequest<S> for TomlBody {
    type Rejection = RestError;

    async fn from_request(request: Request, state: &S) -> Result<Self, RestError> {
        let bytes = Bytes::from_request(request, state).await?;
        let text = String::from_utf8(bytes.into()).map_err(|error| RestError::parameter("body", error.to_string()))?;
        Ok(Self(text))
    }
}

impl<S> Input<S> for TomlBody {
    fn describe(operation: Operation) -> Operation {
        operation.body_in::<String>(TOML_TYPE).fails::<RestError>(&[StatusCode::BAD_REQUEST])
    }
}

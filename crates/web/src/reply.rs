//! Results of handlers, typed by their JSON body so that the OpenAPI document follows from the
//! signature.

use std::marker::PhantomData;

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Answer, AnswerError, Input, Operation, Output, Prepared, RestError,
    api::MAX_BODY,
    cache::{CachePolicy, Rendered},
    content::TOML_TYPE,
    receive, shared,
};

/// A body that caches must revalidate before each use.
pub struct NoCache<T>(pub T);

/// A body that no cache may store.
pub struct NoStore<T>(pub T);

/// The response with the JSON of a value, or the error if there is no room for it.
fn json(value: &impl Serialize, respond: fn(Answer) -> Response) -> Response {
    match Answer::json(value) {
        Ok(answer) => respond(answer),
        Err(error) => RestError::from(error).into_response(),
    }
}

impl<T: Serialize> IntoResponse for NoCache<T> {
    fn into_response(self) -> Response {
        json(&self.0, Answer::into_no_cache_json)
    }
}

impl<T: Serialize> IntoResponse for NoStore<T> {
    fn into_response(self) -> Response {
        json(&self.0, Answer::into_no_store_json)
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

/// A body of type `T` whose JSON is written already. Its memory counts while it waits to be sent,
/// as that of a value would not. Caches must revalidate it before each use.
pub struct WrittenJson<T> {
    response: Response,
    body: PhantomData<fn() -> T>,
}

impl<T: Serialize> WrittenJson<T> {
    /// Writes a body, where the value was made.
    pub fn new(value: &T) -> Result<Self, AnswerError> {
        Ok(Self {
            response: Answer::json(value)?.into_no_cache_json(),
            body: PhantomData,
        })
    }
}

impl<T> IntoResponse for WrittenJson<T> {
    fn into_response(self) -> Response {
        self.response
    }
}

impl<T: JsonSchema> Output for WrittenJson<T> {
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
        Self {
            response: rendered.respond(request, policy, now_ms),
            body: PhantomData,
        }
    }
}

impl<T> IntoResponse for Cached<T> {
    fn into_response(self) -> Response {
        self.response
    }
}

impl<T: JsonSchema> Output for Cached<T> {
    fn describe(operation: Operation) -> Operation {
        operation.returns::<T>().answers_bare(
            StatusCode::NOT_MODIFIED,
            "The client has this answer already.",
        )
    }
}

/// A JSON body of type `T` that was serialized once for all requests.
pub struct Serialized<T> {
    response: Response,
    body: PhantomData<fn() -> T>,
}

impl<T> From<Bytes> for Serialized<T> {
    fn from(json: Bytes) -> Self {
        let mut response = shared(json);
        response.headers_mut().insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        Self {
            response,
            body: PhantomData,
        }
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
        let status = if self.passed {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        (status, NoStore(self.body)).into_response()
    }
}

impl<T: JsonSchema> Output for Checked<T> {
    fn describe(operation: Operation) -> Operation {
        operation.returns::<T>().answers::<T>(
            StatusCode::SERVICE_UNAVAILABLE,
            "The check failed; the body says why.",
        )
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

    async fn from_request(request: Request, _: &S) -> Result<Self, RestError> {
        let (body, _held) = receive(request, MAX_BODY).await?;
        T::parse(&body).map(Self)
    }
}

impl<S, T: RequestBody> Input<S> for JsonBody<T> {
    fn describe(operation: Operation) -> Operation {
        operation
            .body::<T>()
            .fails::<RestError>(&[StatusCode::BAD_REQUEST])
    }
}

/// Extracts the text of a TOML document.
pub struct TomlBody(pub String);

impl<S: Send + Sync> FromRequest<S> for TomlBody {
    type Rejection = RestError;

    async fn from_request(request: Request, _: &S) -> Result<Self, RestError> {
        let (body, _held) = receive(request, MAX_BODY).await?;
        let text = String::from_utf8(body.into())
            .map_err(|error| RestError::parameter("body", error.to_string()))?;
        Ok(Self(text))
    }
}

impl<S> Input<S> for TomlBody {
    fn describe(operation: Operation) -> Operation {
        operation
            .body_in::<String>(TOML_TYPE)
            .fails::<RestError>(&[StatusCode::BAD_REQUEST])
    }
}

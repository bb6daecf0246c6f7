//! Bodies of requests with sources, which are longer than others. They are read first, and then
//! parsed in the turns of their clients.
//!
//! Forms of verifiers are accepted from pages of any origin, without the content type for which
//! browsers send a preflight request: the chain does not change, and a source is accepted only if
//! it is the contract's.

use std::collections::BTreeMap;

use axum::{
    body::{Body, Bytes},
    extract::{
        DefaultBodyLimit, FromRequest, Multipart, Request,
        multipart::{MultipartError, MultipartRejection},
    },
    http::{HeaderMap, StatusCode, header},
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tetrad_contracts::sources::MAX_INPUT;
use tetrad_web::{Held, Input, Operation, RestError, in_long_turn, is_json, receive, receive_json};
use tokio::runtime::Handle;

use super::rest::Explorer;

/// The most bytes of a body. In a form, a byte may take three.
const MAX_BODY: usize = 3 * MAX_INPUT;

/// The most members of a form.
const MAX_MEMBERS: usize = 100;

fn refused(status: StatusCode, what: impl ToString) -> RestError {
    RestError::Body {
        status,
        what: what.to_string(),
    }
}

fn is(headers: &HeaderMap, media: &str) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case(media))
}

const FORM: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data";

/// The members of a form, in either encoding.
pub(super) struct Form {
    pub(super) members: Vec<(String, String)>,
    /// The memory that the members take.
    _held: Held,
}

impl Form {
    /// A form whose members take this memory.
    pub(super) fn new(members: Vec<(String, String)>, held: Held) -> Self {
        Self {
            members,
            _held: held,
        }
    }

    /// Returns a member.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.members
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }
}

impl FromRequest<Explorer> for Form {
    type Rejection = RestError;

    async fn from_request(request: Request, _: &Explorer) -> Result<Self, RestError> {
        let is_form = is(request.headers(), FORM);
        let is_multipart = is(request.headers(), MULTIPART);
        if !is_form && !is_multipart {
            return Err(RestError::UnsupportedMediaType("this route takes a form"));
        }

        let headers = request.headers().clone();
        let (body, held) = receive(request, MAX_BODY).await?;
        let members = in_long_turn(move || {
            if is_form {
                let members = form_urlencoded::parse(&body).take(MAX_MEMBERS);
                Ok(members
                    .map(|(name, value)| (name.into_owned(), value.into_owned()))
                    .collect())
            } else {
                // The body is here as a whole, so nothing waits.
                Handle::current().block_on(multipart(headers, body))
            }
        })
        .await?;
        Ok(Self::new(members, held))
    }
}

/// Reads the members of a form of several parts.
pub(super) async fn multipart(
    headers: HeaderMap,
    body: Bytes,
) -> Result<Vec<(String, String)>, RestError> {
    let mut request = Request::new(Body::from(body));
    *request.headers_mut() = headers;
    // The body has been limited already; axum's own limit is lower.
    DefaultBodyLimit::max(MAX_BODY).apply(&mut request);

    let malformed = |error: MultipartRejection| refused(StatusCode::BAD_REQUEST, error.body_text());
    let wrong = |error: MultipartError| refused(StatusCode::BAD_REQUEST, error.body_text());
    let mut parts = Multipart::from_request(request, &())
        .await
        .map_err(malformed)?;
    let mut members = Vec::new();
    while let Some(part) = parts.next_field().await.map_err(wrong)? {
        if members.len() == MAX_MEMBERS {
            break;
        }
        let name = part.name().unwrap_or_default().to_owned();
        members.push((name, part.text().await.map_err(wrong)?));
    }
    Ok(members)
}

/// The members of a form with sources.
#[derive(JsonSchema)]
#[schemars(rename = "ExplorerForm")]
#[allow(
    dead_code,
    reason = "it describes a form, which is read member by member"
)]
struct FormBody {
    /// Members by name, as texts or files.
    #[schemars(flatten)]
    members: BTreeMap<String, String>,
}

impl Input<Explorer> for Form {
    fn describe(operation: Operation) -> Operation {
        let statuses = [
            StatusCode::BAD_REQUEST,
            StatusCode::PAYLOAD_TOO_LARGE,
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ];
        operation
            .body_in::<FormBody>(FORM)
            .fails::<RestError>(&statuses)
    }
}

/// A JSON body with sources, before it is parsed.
pub(super) struct JsonUpload {
    body: Bytes,
    held: Held,
}

impl JsonUpload {
    /// Parses the body in the turn of its client. The memory that the result takes is counted as
    /// long as `Held` is.
    pub(super) async fn parse<T>(self) -> Result<(serde_json::Result<T>, Held), RestError>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let Self { body, held } = self;
        let parsed =
            in_long_turn(move || Ok::<_, RestError>(serde_json::from_slice(&body))).await?;
        Ok((parsed, held))
    }
}

impl Input<Explorer> for JsonUpload {
    fn describe(operation: Operation) -> Operation {
        let statuses = [
            StatusCode::PAYLOAD_TOO_LARGE,
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ];
        operation
            .body::<Map<String, Value>>()
            .fails::<RestError>(&statuses)
    }
}

impl FromRequest<Explorer> for JsonUpload {
    type Rejection = RestError;

    async fn from_request(request: Request, _: &Explorer) -> Result<Self, RestError> {
        if !is_json(request.headers()) {
            return Err(RestError::UnsupportedMediaType(
                "this route takes content type application/json",
            ));
        }
        let (body, held) = receive_json(request, MAX_BODY).await?;
        Ok(Self { body, held })
    }
}

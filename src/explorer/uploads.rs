//! Bodies of requests with sources, which are longer than others: a few are read at a time.

use std::{collections::BTreeMap, time::Duration};

use axum::{
    body::Body,
    extract::{
        DefaultBodyLimit, FromRequest, Multipart, Request,
        multipart::{MultipartError, MultipartRejection},
    },
    http::{HeaderMap, StatusCode, header},
};
use schemars::JsonSchema;
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::rest::Explorer;
use crate::{
    sources::MAX_INPUT,
    web::{Input, Operation, RestError, is_encoded, is_json},
};

/// The time that a body has, and how long it may wait for others.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The most bytes of a body. In a form, a byte may take three.
const MAX_BODY: usize = 3 * MAX_INPUT;

/// The most members of a form.
const MAX_MEMBERS: usize = 100;

fn refused(status: StatusCode, what: impl ToString) -> RestError {
    RestError::Body { status, what: what.to_string() }
}

/// Reads a body of up to `limit` bytes.
async fn read(explorer: &Explorer, request: Request, limit: usize) -> Result<(HeaderMap, Vec<u8>), RestError> {
    if is_encoded(request.headers()) {
        return Err(RestError::UnsupportedMediaType("a body has to come without a content encoding"));
    }
    let _permit = timeout(TIME_LIMIT, explorer.0.uploads.acquire())
        .await
        .map_err(|_| RestError::Unavailable("the node reads other sources: try again later".to_owned()))?;
    let (parts, body) = request.into_parts();
    let bytes = timeout(TIME_LIMIT, axum::body::to_bytes(body, limit)).await;
    let bytes = bytes.map_err(|_| refused(StatusCode::REQUEST_TIMEOUT, "the body took too long"))?;
    let too_long = |_| refused(StatusCode::PAYLOAD_TOO_LARGE, format!("the body may have at most {limit} bytes"));
    Ok((parts.headers, bytes.map_err(too_long)?.into()))
}

fn is(headers: &HeaderMap, media: &str) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next()).map(str::trim);
    essence.is_some_and(|essence| essence.eq_ignore_ascii_case(media))
}

const FORM: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data";

/// The members of a form, in either encoding.
pub(super) struct Form(pub(super) Vec<(String, String)>);

impl Form {
    /// Returns a member.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

impl FromRequest<Explorer> for Form {
    type Rejection = RestError;

    async fn from_request(request: Request, explorer: &Explorer) -> Result<Self, RestError> {
        let (is_form, is_multipart) = (is(request.headers(), FORM), is(request.headers(), MULTIPART));
        if !is_form && !is_multipart {
            return Err(RestError::UnsupportedMediaType("this route takes a form"));
        }
        let (headers, body) = read(explorer, request, MAX_BODY).await?;
        if is_form {
            let members = form_urlencoded::parse(&body).take(MAX_MEMBERS);
            return Ok(Self(members.map(|(name, value)| (name.into_owned(), value.into_owned())).collect()));
        }
        multipart(headers, body).await.map(Self)
    }
}

/// Reads the members of a form of several parts.
pub(super) async fn multipart(headers: HeaderMap, body: Vec<u8>) -> Result<Vec<(String, String)>, RestError> {
    let mut request = Request::new(Body::from(body));
    *request.headers_mut() = headers;
    // The body has been limited already; axum's own limit is lower.
    DefaultBodyLimit::max(MAX_BODY).apply(&mut request);
    let parts = Multipart::from_request(request, &()).await;
    let malformed = |error: MultipartRejection| refused(StatusCode::BAD_REQUEST, error.body_text());
    let wrong = |error: MultipartError| refused(StatusCode::BAD_REQUEST, error.body_text());
    let mut parts = parts.map_err(malformed)?;
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
#[allow(dead_code, reason = "it describes a form, which is read member by member")]
struct FormBody {
    /// Members by name, as texts or files.
    #[schemars(flatten)]
    members: BTreeMap<String, String>,
}

impl Input<Explorer> for Form {
    fn describe(operation: Operation) -> Operation {
        let statuses = [StatusCode::BAD_REQUEST, StatusCode::PAYLOAD_TOO_LARGE, StatusCode::UNSUPPORTED_MEDIA_TYPE];
        operation.body_in::<FormBody>(FORM).fails::<RestError>(&statuses)
    }
}

/// A JSON body with sources, before it is parsed.
pub(super) struct JsonUpload(pub(super) Vec<u8>);

impl Input<Explorer> for JsonUpload {
    fn describe(operation: Operation) -> Operation {
        let statuses = [StatusCode::PAYLOAD_TOO_LARGE, StatusCode::UNSUPPORTED_MEDIA_TYPE];
        operation.body::<Map<String, Value>>().fails::<RestError>(&statuses)
    }
}

impl FromRequest<Explorer> for JsonUpload {
    type Rejection = RestError;

    async fn from_request(request: Request, explorer: &Explorer) -> Result<Self, RestError> {
        if !is_json(request.headers()) {
            return Err(RestError::UnsupportedMediaType("this route takes content type application/json"));
        }
        let (_, body) = read(explorer, request, MAX_BODY).await?;
        Ok(Self(body))
    }
}

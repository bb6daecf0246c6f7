//! Bodies of requests with sources, which are longer than others: a few are parsed at a time.

use std::{collections::BTreeMap, time::Duration};

use axum::{
    body::Body,
    extract::{
        DefaultBodyLimit, FromRequest, Multipart, Request,
        multipart::{MultipartError, MultipartRejection},
    },
    http::{HeaderMap, StatusCode, header},
};
use futures_util::StreamExt;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::{runtime::Handle, sync::OwnedSemaphorePermit, time::timeout};

use super::rest::Explorer;
use crate::{
    sources::MAX_INPUT,
    web::{Budget, Held, Input, Operation, RestError, is_encoded, is_json},
};

/// The time that a body has to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a body waits while others are parsed.
const TURN_TIMEOUT: Duration = Duration::from_secs(30);

/// The most bytes of a body. In a form, a byte may take three.
const MAX_BODY: usize = 3 * MAX_INPUT;

/// The most members of a form.
const MAX_MEMBERS: usize = 100;

fn refused(status: StatusCode, what: impl ToString) -> RestError {
    RestError::Body { status, what: what.to_string() }
}

/// A body that was read as a whole.
struct Upload {
    headers: HeaderMap,
    body: Vec<u8>,
    /// The memory that the body takes.
    held: Held,
    /// The turn to parse it.
    turn: OwnedSemaphorePermit,
}

/// Reads a body, and then waits for the turn to parse it: a turn never waits for a client. Bodies that are still arriving
/// count in the memory budget.
async fn receive(explorer: &Explorer, request: Request) -> Result<Upload, RestError> {
    if is_encoded(request.headers()) {
        return Err(RestError::UnsupportedMediaType("a body has to come without a content encoding"));
    }
    let (parts, body) = request.into_parts();
    let read = timeout(BODY_TIMEOUT, read(&explorer.0.budget, body)).await;
    let (body, held) = read.map_err(|_| refused(StatusCode::REQUEST_TIMEOUT, "the body took too long"))??;
    let busy = |_| RestError::Unavailable("the node reads other sources: try again later".to_owned());
    let turn = timeout(TURN_TIMEOUT, explorer.0.uploads.clone().acquire_owned()).await.map_err(busy)?;
    let turn = turn.map_err(|closed| RestError::Unavailable(closed.to_string()))?;
    Ok(Upload { headers: parts.headers, body, held, turn })
}

/// Reads a body, whose memory the budget counts before it is taken.
async fn read(budget: &Budget, body: Body) -> Result<(Vec<u8>, Held), RestError> {
    let mut frames = body.into_data_stream();
    let (mut read, mut held) = (Vec::new(), Held::default());
    while let Some(piece) = frames.next().await {
        let piece =
            piece.map_err(|error| refused(StatusCode::BAD_REQUEST, format!("the body could not be read: {error}")))?;
        let length = read.len() + piece.len();
        if length > MAX_BODY {
            return Err(refused(StatusCode::PAYLOAD_TOO_LARGE, format!("the body may have at most {MAX_BODY} bytes")));
        }
        if length > read.capacity() {
            let capacity = length.max(2 * read.capacity()).min(MAX_BODY);
            if !budget.grow(&mut held, capacity).await {
                let what = "out of memory for large requests and responses; try again";
                return Err(RestError::Unavailable(what.to_owned()));
            }
            read.reserve_exact(capacity - read.len());
        }
        read.extend_from_slice(&piece);
    }
    Ok((read, held))
}

fn is(headers: &HeaderMap, media: &str) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next()).map(str::trim);
    essence.is_some_and(|essence| essence.eq_ignore_ascii_case(media))
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
    /// Returns a member.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.members.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

impl FromRequest<Explorer> for Form {
    type Rejection = RestError;

    async fn from_request(request: Request, explorer: &Explorer) -> Result<Self, RestError> {
        let (is_form, is_multipart) = (is(request.headers(), FORM), is(request.headers(), MULTIPART));
        if !is_form && !is_multipart {
            return Err(RestError::UnsupportedMediaType("this route takes a form"));
        }
        let Upload { headers, body, held, turn } = receive(explorer, request).await?;
        let parse = move || {
            let _turn = turn;
            if is_form {
                let members = form_urlencoded::parse(&body).take(MAX_MEMBERS);
                Ok(members.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
            } else {
                // The body is here as a whole, so nothing waits.
                Handle::current().block_on(multipart(headers, body))
            }
        };
        let members = tokio::task::spawn_blocking(parse).await??;
        Ok(Self { members, _held: held })
    }
}

/// Reads the members of a form of several parts.
async fn multipart(headers: HeaderMap, body: Vec<u8>) -> Result<Vec<(String, String)>, RestError> {
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
pub(super) struct JsonUpload {
    body: Vec<u8>,
    held: Held,
    turn: OwnedSemaphorePermit,
}

impl JsonUpload {
    /// Parses the body on a thread that may block. The memory that the result takes is counted as long as `Held` is.
    pub(super) async fn parse<T>(self) -> Result<(serde_json::Result<T>, Held), RestError>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let Self { body, held, turn } = self;
        let parse = move || {
            let _turn = turn;
            serde_json::from_slice(&body)
        };
        Ok((tokio::task::spawn_blocking(parse).await?, held))
    }
}

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
        let Upload { body, held, turn, .. } = receive(explorer, request).await?;
        Ok(Self { body, held, turn })
    }
}

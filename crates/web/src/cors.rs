//! Cross-origin access to the interfaces. By default all origins have it, since nothing here
//! authenticates by cookie, except to the routes that administer the node.

use std::{str::FromStr, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
};
use tetrad_stdx::calendar::HOUR;
use tower_http::cors::{AllowOrigin, Any, CorsLayer, Vary};

/// The time for which a browser may cache the response to a preflight request.
const MAX_AGE: Duration = Duration::from_secs(HOUR);

/// The routes that administer the node. They change what the node does for all clients, without a
/// signature.
const ADMINISTRATION: &str = "/api/admin/";

/// Origins of pages that may use the interfaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origins {
    /// All origins; those of other pages than the node's own not for administration.
    #[default]
    Any,
    /// These origins, and the node's own page.
    Listed(Vec<Origin>),
}

/// The origin of a page: scheme, host and port, as browsers send it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl FromStr for Origin {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected scheme, host and port such as https://dapp.example, or *";
        let uri: Uri = text.parse().map_err(|_| EXPECTED)?;
        let known = matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some();
        // Browsers send nothing after the port, so that anything longer would never match.
        let bare = format!(
            "{}://{}",
            uri.scheme_str().unwrap_or_default(),
            uri.authority().map_or("", |a| a.as_str())
        );

        if known && bare == text {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(EXPECTED)
        }
    }
}

impl Origin {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Adds cross-origin access for these origins. Preflight requests are answered here, so they count
/// against no limit. Pages on public addresses may reach a node on a private one, such as a
/// development node.
pub fn with_cors(router: Router, origins: &Origins) -> Router {
    let layer = CorsLayer::new()
        .allow_methods(Any)
        .allow_headers(Any)
        .allow_private_network(true)
        .expose_headers(exposed())
        .max_age(MAX_AGE);

    match origins {
        // The response is the same for every origin.
        Origins::Any => router
            .layer(layer.allow_origin(Any).vary(Vary::list([])))
            .layer(from_fn(guard_administration)),
        Origins::Listed(listed) => {
            let values = listed
                .iter()
                .filter_map(|origin| HeaderValue::from_str(&origin.0).ok());
            // To browsers the asterisk does not include the header with the token of
            // administration.
            let layer = layer.allow_headers([HeaderName::from_static("*"), header::AUTHORIZATION]);
            let layer = layer
                .allow_origin(AllowOrigin::list(values))
                .vary(Vary::list([header::ORIGIN]));
            router
                .layer(layer)
                .layer(from_fn_with_state(listed.clone(), guard))
        }
    }
}

/// Refuses requests of other origins that browsers do not hold back: any page may open a WebSocket
/// and send some requests, of which browsers only hide the responses.
async fn guard(State(listed): State<Vec<Origin>>, request: Request, next: Next) -> Response {
    let reads = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    if (!reads || request.headers().contains_key(header::UPGRADE)) && !is_welcome(&request, &listed)
    {
        return refused();
    }
    next.run(request).await
}

/// Refuses administration by pages of other origins, while these may use everything else. Preflight
/// requests are refused like the requests that they precede.
async fn guard_administration(request: Request, next: Next) -> Response {
    let administers = request.uri().path().starts_with(ADMINISTRATION);
    if administers && !is_welcome(&request, &[]) {
        return refused();
    }

    // The inner layer has allowed every origin.
    let mut response = next.run(request).await;
    if administers {
        response
            .headers_mut()
            .remove(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    }
    response
}

fn refused() -> Response {
    (
        StatusCode::FORBIDDEN,
        "pages of this origin may not use this node\n",
    )
        .into_response()
}

/// Whether a request comes from a program, from the node's own page, or from a listed origin.
fn is_welcome(request: &Request, listed: &[Origin]) -> bool {
    let headers = request.headers();
    let Some(origin) = header_text(headers, header::ORIGIN) else {
        // An origin that is not text is still an origin.
        return !headers.contains_key(header::ORIGIN);
    };

    // HTTP/2 has the host in the URI.
    let host = request
        .uri()
        .authority()
        .map(|authority| authority.as_str())
        .or_else(|| header_text(headers, header::HOST));

    let own = origin
        .split_once("://")
        .is_some_and(|(_, authority)| Some(authority) == host);

    own || listed.iter().any(|one| one.0.eq_ignore_ascii_case(origin))
}

fn header_text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Response headers that pages may read in addition to the safelisted ones.
fn exposed() -> Vec<HeaderName> {
    let limits = [
        "ratelimit-policy",
        "ratelimit",
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ];
    limits
        .map(HeaderName::from_static)
        .into_iter()
        .chain([header::RETRY_AFTER, header::ETAG, header::AGE])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_what_browsers_send() {
        for good in [
            "https://dapp.example",
            "http://localhost:3000",
            "http://[::1]:8080",
        ] {
            assert_eq!(
                good.parse::<Origin>().map(|origin| origin.0),
                Ok(good.to_owned())
            );
        }
        for bad in [
            "",
            "*",
            "dapp.example",
            "https://",
            "https://x/",
            "https://x/y",
            "ftp://x",
            "https://x?y",
        ] {
            assert!(bad.parse::<Origin>().is_err(), "{bad}");
        }
    }
}

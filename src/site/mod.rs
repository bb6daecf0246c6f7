//! The page that browsers get at `/`, embedded in the program.
//!
//! Plain HTML, CSS and ES modules in `page/`, sent unchanged, except that the program inlines what blocks the first paint
//! when it starts. The page uses the node's public interfaces and nothing else; the only file made for it is the list of
//! contract interfaces with which it decodes calls and events.

mod assets;
mod interfaces;
mod links;

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::{Path, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{MethodRouter, get},
};
use headers::{HeaderMapExt, IfNoneMatch};

use self::assets::{Assets, PageFile};
use crate::web::not_found;

/// The page and everything it loads.
#[derive(Clone)]
pub struct Site(Arc<Assets>);

impl Default for Site {
    fn default() -> Self {
        Self(Arc::new(Assets::embedded()))
    }
}

impl Site {
    /// The routes of the files that the page loads, under `/site`, and of links into the page in the form of block explorers.
    pub fn router(&self) -> Router {
        Router::new().route("/site/{*path}", get(asset)).with_state(self.clone()).merge(links::router())
    }

    /// Puts the page in front of another service at `/`: `GET` and `HEAD` get the page, everything else goes to the
    /// service, including upgrades to WebSocket.
    pub fn before(&self, service: MethodRouter) -> MethodRouter {
        service.layer(from_fn_with_state(self.clone(), page))
    }
}

async fn page(State(site): State<Site>, request: Request, next: Next) -> Response {
    let shown = matches!(*request.method(), Method::GET | Method::HEAD);
    if !shown || request.headers().contains_key(header::UPGRADE) {
        return next.run(request).await;
    }
    respond(&site.0.page, &site.0.policy, request.headers())
}

async fn asset(State(site): State<Site>, Path(path): Path<String>, request: Request) -> Response {
    match site.0.get(&path) {
        Some(asset) => respond(asset, &site.0.policy, request.headers()),
        None => not_found(request.uri().clone()).await.into_response(),
    }
}

/// Answers with an asset, or with 304 if the browser has it. Browsers revalidate each time, so that a new program never
/// meets an old page.
fn respond(asset: &PageFile, policy: &HeaderValue, request: &HeaderMap) -> Response {
    let known = request.typed_get::<IfNoneMatch>();
    let unchanged = known.is_some_and(|known| !known.precondition_passes(&asset.etag));
    let body = if unchanged { Bytes::new() } else { asset.body.clone() };
    let mut response = body.into_response();
    if unchanged {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.typed_insert(asset.etag.clone());
    response
}

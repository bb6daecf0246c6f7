//! The page that browsers get at `/`, embedded in the program.
//!
//! Plain HTML, CSS and ES modules in `page/`, sent unchanged, except that the program inlines what
//! blocks the first paint when it starts. The page uses the node's public interfaces and nothing
//! else; the only file made for it is the list of contract interfaces with which it decodes calls
//! and events. The crate knows no chain.
//!
//! ```
//! use axum::{body::Body, http::{Request, StatusCode}};
//! use tetrad_page::{PageConfig, Site};
//! use tower::ServiceExt;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let request = Request::get("/site/app.js").body(Body::empty())?;
//! let site = Site::new(&PageConfig::default());
//! let response = site.router().oneshot(request).await?;
//! assert_eq!(response.status(), StatusCode::OK);
//! # Ok(())
//! # }
//! ```

mod assets;
mod book;
mod config;
mod interfaces;
mod links;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, Request, State},
    http::{Method, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{MethodRouter, get},
};
use tetrad_web::not_found;

use self::assets::Assets;
pub use self::config::{IpfsGateway, MediaOrigin, PageConfig};

/// The page and everything it loads.
#[derive(Clone)]
pub struct Site(Arc<Assets>);

impl Site {
    /// The page, with what the operator allows it.
    pub fn new(config: &PageConfig) -> Self {
        Self(Arc::new(Assets::embedded(config)))
    }

    /// The routes of the files that the page loads, under `/site`, of the book, under `/docs`, and
    /// of links into the page in the form of block explorers.
    pub fn router(&self) -> Router {
        let book = book::router(self.0.policy.clone());
        Router::new()
            .route("/site/{*path}", get(asset))
            .with_state(self.clone())
            .merge(book)
            .merge(links::router())
    }

    /// Leads browsers from names that these routes do not have to the page.
    pub fn around(&self, router: Router) -> Router {
        router.layer(from_fn(links::lead_browsers))
    }

    /// Puts the page in front of another service at `/`: `GET` and `HEAD` get the page, everything
    /// else goes to the service, including upgrades to WebSocket.
    pub fn before(&self, service: MethodRouter) -> MethodRouter {
        service.layer(from_fn_with_state(self.clone(), page))
    }
}

async fn page(State(site): State<Site>, request: Request, next: Next) -> Response {
    let shown = matches!(*request.method(), Method::GET | Method::HEAD);
    if !shown || request.headers().contains_key(header::UPGRADE) {
        return next.run(request).await;
    }

    site.0.page.respond(&site.0.page_policy, request.headers())
}

async fn asset(State(site): State<Site>, Path(path): Path<String>, request: Request) -> Response {
    match site.0.get(&path) {
        Some(asset) => asset.respond(&site.0.policy, request.headers()),
        None => not_found(request.uri().clone()).await.into_response(),
    }
}

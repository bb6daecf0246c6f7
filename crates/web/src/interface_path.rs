//! Paths of interfaces.

use axum::{Router, routing::MethodRouter};

/// The path of an interface: a slash at its end makes no difference.
pub fn interface_path(path: &str) -> &str {
    path.strip_suffix('/')
        .filter(|bare| !bare.is_empty())
        .unwrap_or(path)
}

/// Adds an interface at its path, and at the same path with a slash at its end.
pub fn at_interface_path<S: Clone + Send + Sync + 'static>(
    router: Router<S>,
    path: &str,
    interface: MethodRouter<S>,
) -> Router<S> {
    router
        .route(path, interface.clone())
        .route(&format!("{path}/"), interface)
}

//! REST routes, each registered once: the router, the OpenAPI document and the parsing of
//! parameters all follow from the signature of the handler.
//!
//! Extractors and results describe themselves, as in aide; neither aide nor utoipa-axum is used.
//! Both leave the extractors and errors to be written here as well, because errors name the
//! parameter and have a body of their own. In addition, the stable aide brings a second schemars,
//! and utoipa wants its own schema derived for every body and the parameters listed in an attribute
//! next to the handler, where they can drift from what it parses.
//!
//! REST interfaces ignore unknown parameters, unless `Api::only_described` refuses them.

use std::{convert::Infallible, future::Future};

use axum::{
    Router,
    handler::Handler,
    http::StatusCode,
    middleware::{from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::MethodRouter,
};

use super::{
    Failure, Input, Operation, Output, RestError,
    content::{only_json, only_toml},
    parameters::{ParameterPlace, QueryNames, only_accepted},
};

/// Most bytes of a request's body: no route takes more than a few values.
pub(super) const MAX_BODY: usize = 64 << 10;

/// The routes of an interface together with their description.
pub struct Api<S> {
    /// The tag of the routes registered next.
    tag: &'static str,
    router: Router<S>,
    operations: Vec<Operation>,
    /// The treatment of undescribed query parameters by the routes registered next. `None` ignores
    /// them.
    undescribed: Option<Undescribed>,
}

/// The refusal of query parameters that a route does not describe.
#[derive(Clone, Copy)]
struct Undescribed {
    /// Names that are accepted without effect.
    without_effect: &'static [&'static str],
    /// The response to other names.
    refuse: fn(RestError) -> Response,
    /// Adds this response to the operation.
    describe: fn(Operation) -> Operation,
}

/// A handler whose arguments and result describe themselves. `Signature` distinguishes the
/// implementations.
pub trait Documented<S, Signature> {
    /// Adds the description of the arguments and the result.
    fn describe(operation: Operation) -> Operation;
}

macro_rules! documented {
    ($($input:ident)*) => {
        impl<S, F, Reply, Pending, $($input),*> Documented<S, fn($($input),*) -> Reply> for F
        where
            F: FnOnce($($input),*) -> Pending,
            Pending: Future<Output = Reply>,
            Reply: Output,
            $($input: Input<S>,)*
        {
            fn describe(operation: Operation) -> Operation {
                $(let operation = $input::describe(operation);)*
                Reply::describe(operation)
            }
        }
    };
}

documented!();
documented!(A);
documented!(A B);
documented!(A B C);
documented!(A B C D);
documented!(A B C D E);

impl<S: Clone + Send + Sync + 'static> Api<S> {
    /// No routes yet, of the interface `tag`.
    pub fn new(tag: &'static str) -> Self {
        Self {
            tag,
            router: Router::new(),
            operations: Vec::new(),
            undescribed: None,
        }
    }

    /// Refuses parameters in queries that a route does not describe, on the routes that follow, but
    /// for those `without_effect`. `E` is the error of these routes.
    pub fn only_described<E>(self, without_effect: &'static [&'static str]) -> Self
    where
        E: Failure + From<RestError> + IntoResponse,
    {
        let refuse = |error| E::from(error).into_response();
        let describe = |operation: Operation| operation.fails::<E>(&[StatusCode::BAD_REQUEST]);
        Self {
            undescribed: Some(Undescribed {
                without_effect,
                refuse,
                describe,
            }),
            ..self
        }
    }

    /// Ignores parameters in queries that a route does not describe, on the routes that follow.
    pub fn any_parameters(self) -> Self {
        Self {
            undescribed: None,
            ..self
        }
    }

    /// Counts the routes that follow to the interface `tag`.
    pub fn tag(self, tag: &'static str) -> Self {
        Self { tag, ..self }
    }

    /// Adds a route for `GET`.
    pub fn get<H, T, D>(self, path: &'static str, handler: H, summary: &'static str) -> Self
    where
        H: Handler<T, S> + Documented<S, D>,
        T: 'static,
    {
        let operation = H::describe(Operation::new(self.tag, summary));
        self.route("get", path, axum::routing::get(handler), operation)
    }

    /// Adds a route for `POST`, which takes JSON only.
    pub fn post<H, T, D>(self, path: &'static str, handler: H, summary: &'static str) -> Self
    where
        H: Handler<T, S> + Documented<S, D>,
        T: 'static,
    {
        let operation = H::describe(Operation::new(self.tag, summary));
        // A route layer, so that other methods still get 405 instead of 415.
        let routes = axum::routing::post(handler).route_layer(from_fn(only_json));
        self.typed_post(path, routes, operation)
    }

    /// Adds a route for `POST` that takes TOML only.
    pub fn post_toml<H, T, D>(self, path: &'static str, handler: H, summary: &'static str) -> Self
    where
        H: Handler<T, S> + Documented<S, D>,
        T: 'static,
    {
        let operation = H::describe(Operation::new(self.tag, summary));
        let routes = axum::routing::post(handler).route_layer(from_fn(only_toml));
        self.typed_post(path, routes, operation)
    }

    /// Adds a route for `POST` that refuses bodies of another type and long ones.
    fn typed_post(
        self,
        path: &'static str,
        routes: MethodRouter<S, Infallible>,
        operation: Operation,
    ) -> Self {
        let statuses = [
            StatusCode::PAYLOAD_TOO_LARGE,
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ];
        self.route(
            "post",
            path,
            routes,
            operation.fails::<RestError>(&statuses),
        )
    }

    /// Adds a route for `POST` that takes bodies of any type: it changes nothing, or only what the
    /// body proves to be allowed. The handler limits its body.
    pub fn inert_post<H, T, D>(self, path: &'static str, handler: H, summary: &'static str) -> Self
    where
        H: Handler<T, S> + Documented<S, D>,
        T: 'static,
    {
        let operation = H::describe(Operation::new(self.tag, summary));
        self.route("post", path, axum::routing::post(handler), operation)
    }

    /// Adds a route for `DELETE`, which takes JSON or nothing.
    pub fn delete<H, T, D>(self, path: &'static str, handler: H, summary: &'static str) -> Self
    where
        H: Handler<T, S> + Documented<S, D>,
        T: 'static,
    {
        let statuses = [StatusCode::UNSUPPORTED_MEDIA_TYPE];
        let operation =
            H::describe(Operation::new(self.tag, summary)).fails::<RestError>(&statuses);
        self.route(
            "delete",
            path,
            // A route layer, so that other methods still get 405 instead of 415.
            axum::routing::delete(handler).route_layer(from_fn(only_json)),
            operation,
        )
    }

    fn route(
        mut self,
        method: &'static str,
        path: &'static str,
        routes: MethodRouter<S, Infallible>,
        operation: Operation,
    ) -> Self {
        let mut named = operation
            .parameters
            .iter()
            .filter(|parameter| parameter.place == ParameterPlace::Path);
        // Otherwise every request to the route would fail.
        debug_assert!(
            named.all(|parameter| path.contains(&format!("{{{}}}", parameter.name))),
            "{path} has no segment for a parameter of its handler"
        );

        let (routes, operation) = match self.undescribed {
            None => (routes, operation),
            Some(Undescribed {
                without_effect,
                refuse,
                describe,
            }) => {
                let accepted = QueryNames::of(&operation.parameters, without_effect, refuse);
                (
                    routes.route_layer(from_fn_with_state(accepted, only_accepted)),
                    describe(operation),
                )
            }
        };

        self.router = self.router.route(path, routes);
        self.operations.push(operation.at(method, path));
        self
    }

    /// Names the route that was added last for programs, in camelCase, where its path makes no good
    /// name.
    pub fn named(mut self, id: &'static str) -> Self {
        if let Some(operation) = self.operations.last_mut() {
            operation.id = Some(id.into());
        }
        self
    }

    /// Adds error responses to the route that was added last, beside those that its handler's error
    /// type always has.
    pub fn fails<E: Failure>(mut self, statuses: &[StatusCode]) -> Self {
        if let Some(operation) = self.operations.pop() {
            self.operations.push(operation.fails::<E>(statuses));
        }
        self
    }

    /// Adds routes that are described elsewhere, or not worth describing.
    pub fn and(mut self, add: impl FnOnce(Router<S>) -> Router<S>) -> Self {
        self.router = add(self.router);
        self
    }

    /// The operations registered so far.
    pub(super) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The routes and their description.
    pub fn with_state(self, state: S) -> (Router, Vec<Operation>) {
        (self.router.with_state(state), self.operations)
    }
}

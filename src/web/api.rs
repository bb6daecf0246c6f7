//! Routes that describe themselves: what is registered is what `/openapi.json` tells of.

use std::convert::Infallible;

use axum::{
    Router, extract::DefaultBodyLimit, handler::Handler, http::StatusCode, middleware::from_fn, routing::MethodRouter,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::{content::only_json, rest::ErrorBody};

/// Most bytes of a request's body: no route takes more than a few values.
pub(super) const MAX_BODY: usize = 64 << 10;

/// Makes the schema of one type.
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// Routes of a REST interface together with their description.
pub struct Api<S> {
    router: Router<S>,
    operations: Vec<Operation>,
}

/// What a route does, takes and answers.
#[derive(Clone, Debug)]
pub struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    /// The interface that it belongs to.
    pub(super) tag: &'static str,
    pub(super) summary: &'static str,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<SchemaOf>,
    pub(super) answers: Vec<Answer>,
}

/// A parameter in the path or in the query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) place: &'static str,
    pub(super) what: &'static str,
    pub(super) required: bool,
    pub(super) schema: SchemaOf,
    pub(super) example: &'static str,
}

/// One kind of answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) what: &'static str,
    pub(super) media: &'static str,
    pub(super) schema: Option<SchemaOf>,
}

impl Operation {
    /// An operation of the interface `tag`.
    pub fn new(tag: &'static str, summary: &'static str) -> Self {
        Self { method: "", path: "", tag, summary, parameters: Vec::new(), body: None, answers: Vec::new() }
    }

    /// It has this in its path.
    pub fn path<T: JsonSchema>(self, name: &'static str, what: &'static str, example: &'static str) -> Self {
        self.parameter::<T>(name, "path", true, what, example)
    }

    /// It takes this in its query, which may be left out.
    pub fn query<T: JsonSchema>(self, name: &'static str, what: &'static str, example: &'static str) -> Self {
        self.parameter::<T>(name, "query", false, what, example)
    }

    /// It needs this in its query.
    pub fn required<T: JsonSchema>(self, name: &'static str, what: &'static str, example: &'static str) -> Self {
        self.parameter::<T>(name, "query", true, what, example)
    }

    fn parameter<T: JsonSchema>(
        mut self,
        name: &'static str,
        place: &'static str,
        required: bool,
        what: &'static str,
        example: &'static str,
    ) -> Self {
        let schema = SchemaGenerator::subschema_for::<T>;
        self.parameters.push(Parameter { name, place, what, required, schema, example });
        self
    }

    /// It takes a body.
    pub fn body<T: JsonSchema>(mut self) -> Self {
        self.body = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    /// It answers 200 with this.
    pub fn returns<T: JsonSchema>(self) -> Self {
        self.answers::<T>(StatusCode::OK, "The answer.")
    }

    /// It may answer so.
    pub fn answers<T: JsonSchema>(self, status: StatusCode, what: &'static str) -> Self {
        self.answers_in::<T>("application/json", status, what)
    }

    /// It may answer so, with a body of another media type.
    pub fn answers_in<T: JsonSchema>(mut self, media: &'static str, status: StatusCode, what: &'static str) -> Self {
        self.answers.push(Answer { status, what, media, schema: Some(SchemaGenerator::subschema_for::<T>) });
        self
    }

    /// The route, for one that is not registered with an [`Api`].
    pub fn at(self, method: &'static str, path: &'static str) -> Self {
        Self { method, path, ..self }
    }

    /// It may answer so, without a body in JSON.
    pub fn answers_bare(mut self, status: StatusCode, what: &'static str) -> Self {
        self.answers.push(Answer { status, what, media: "", schema: None });
        self
    }

    /// It may answer 304 to a client that names the body it has.
    pub fn cached(self) -> Self {
        self.answers_bare(StatusCode::NOT_MODIFIED, "The client has this answer already.")
    }

    /// It may fail for these reasons, with the body that all errors of the REST interfaces have.
    pub fn fails(self, statuses: &[u16]) -> Self {
        let statuses = statuses.iter().filter_map(|status| StatusCode::from_u16(*status).ok());
        statuses.fold(self, |operation, status| operation.answers::<ErrorBody>(status, reason(status)))
    }
}

/// Why the REST interfaces answer with a status.
fn reason(status: StatusCode) -> &'static str {
    match status {
        StatusCode::BAD_REQUEST => "A parameter is missing or malformed; the message names it.",
        StatusCode::NOT_FOUND => "There is nothing under this name.",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "The body is not JSON, or is compressed.",
        StatusCode::TOO_MANY_REQUESTS => "The client has used up its share; `Retry-After` says when there is more.",
        StatusCode::SERVICE_UNAVAILABLE => "The answer cannot be given now.",
        _ => "The node failed.",
    }
}

impl<S: Clone + Send + Sync + 'static> Default for Api<S> {
    fn default() -> Self {
        Self { router: Router::new(), operations: Vec::new() }
    }
}

impl<S: Clone + Send + Sync + 'static> Api<S> {
    /// Adds a route for `GET`.
    pub fn get<H, T>(self, path: &'static str, handler: H, operation: Operation) -> Self
    where
        H: Handler<T, S>,
        T: 'static,
    {
        self.route("get", path, axum::routing::get(handler), operation)
    }

    /// Adds a route for `POST`, which takes JSON only.
    pub fn post<H, T>(self, path: &'static str, handler: H, operation: Operation) -> Self
    where
        H: Handler<T, S>,
        T: 'static,
    {
        let route = axum::routing::post(handler).route_layer(DefaultBodyLimit::max(MAX_BODY));
        self.route("post", path, route.route_layer(from_fn(only_json)), operation.fails(&[413, 415]))
    }

    /// Adds a route for `POST` that changes nothing, and therefore takes bodies of any type.
    pub fn inert_post<H, T>(self, path: &'static str, handler: H, operation: Operation) -> Self
    where
        H: Handler<T, S>,
        T: 'static,
    {
        self.route("post", path, axum::routing::post(handler), operation)
    }

    /// Adds a route for `DELETE`, which takes JSON or nothing.
    pub fn delete<H, T>(self, path: &'static str, handler: H, operation: Operation) -> Self
    where
        H: Handler<T, S>,
        T: 'static,
    {
        self.route(
            "delete",
            path,
            axum::routing::delete(handler).route_layer(from_fn(only_json)),
            operation.fails(&[415]),
        )
    }

    fn route(
        mut self,
        method: &'static str,
        path: &'static str,
        routes: MethodRouter<S, Infallible>,
        operation: Operation,
    ) -> Self {
        self.router = self.router.route(path, routes);
        self.operations.push(operation.at(method, path));
        self
    }

    /// The same with something added to every operation so far.
    pub fn each(mut self, add: impl Fn(Operation) -> Operation) -> Self {
        self.operations = self.operations.into_iter().map(add).collect();
        self
    }

    /// The same with other routes that are described elsewhere, or are not worth describing.
    pub fn and(mut self, add: impl FnOnce(Router<S>) -> Router<S>) -> Self {
        self.router = add(self.router);
        self
    }

    /// The routes, and what there is to say about them.
    pub fn with_state(self, state: S) -> (Router, Vec<Operation>) {
        (self.router.with_state(state), self.operations)
    }
}

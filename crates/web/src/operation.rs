//! The description of a route, and what its handler's arguments, result and errors add to it.

use std::{borrow::Cow, convert::Infallible};

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::parameters::Parameter;

/// Generates the schema of one type.
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The description of a route: its parameters, body and responses.
#[derive(Clone, Debug)]
pub struct Operation {
    pub(super) method: &'static str,
    pub(super) path: Cow<'static, str>,
    /// The interface that the route belongs to.
    pub(super) tag: &'static str,
    /// The name for programs, if it does not follow from the path.
    pub(super) id: Option<Cow<'static, str>>,
    pub(super) summary: &'static str,
    pub(super) parameters: Vec<Parameter>,
    /// The media type and the schema of the request's body.
    pub(super) body: Option<(&'static str, SchemaOf)>,
    pub(super) responses: Vec<ResponseKind>,
}

/// One kind of response.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResponseKind {
    pub(super) status: StatusCode,
    pub(super) description: &'static str,
    pub(super) media: &'static str,
    pub(super) schema: Option<SchemaOf>,
    /// Whether it stands for all statuses without a response of their own.
    pub(super) is_default: bool,
}

impl Operation {
    /// An operation of the interface `tag`. Only routes that are not registered with an
    /// [`Api`](super::Api) are described by hand: those of JSON-RPC and WebSockets.
    pub fn new(tag: &'static str, summary: &'static str) -> Self {
        Self {
            method: "",
            path: "".into(),
            tag,
            id: None,
            summary,
            parameters: Vec::new(),
            body: None,
            responses: Vec::new(),
        }
    }

    /// Sets the name for programs, in camelCase.
    pub fn named(self, id: impl Into<Cow<'static, str>>) -> Self {
        Self {
            id: Some(id.into()),
            ..self
        }
    }

    /// Sets the method and the path.
    pub fn at(self, method: &'static str, path: impl Into<Cow<'static, str>>) -> Self {
        Self {
            method,
            path: path.into(),
            ..self
        }
    }

    /// Adds parameters.
    pub fn parameters(mut self, parameters: Vec<Parameter>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// Adds a request body.
    pub fn body<T: JsonSchema>(self) -> Self {
        self.body_in::<T>("application/json")
    }

    /// Adds a request body of another media type.
    pub fn body_in<T: JsonSchema>(mut self, media: &'static str) -> Self {
        self.body = Some((media, SchemaGenerator::subschema_for::<T>));
        self
    }

    /// Adds a response with status 200.
    pub fn returns<T: JsonSchema>(self) -> Self {
        self.answers::<T>(StatusCode::OK, "Success.")
    }

    /// Adds a response with a JSON body.
    pub fn answers<T: JsonSchema>(self, status: StatusCode, description: &'static str) -> Self {
        self.answers_in::<T>("application/json", status, description)
    }

    /// Adds a response with a body of another media type.
    pub fn answers_in<T: JsonSchema>(
        mut self,
        media: &'static str,
        status: StatusCode,
        description: &'static str,
    ) -> Self {
        let schema = Some(SchemaGenerator::subschema_for::<T> as SchemaOf);
        self.responses.push(ResponseKind {
            status,
            description,
            media,
            schema,
            is_default: false,
        });
        self
    }

    /// Adds the response of all statuses that are not described, with a text.
    pub fn answers_otherwise(mut self, description: &'static str) -> Self {
        self.responses.push(ResponseKind {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            description,
            media: "text/plain; charset=utf-8",
            schema: Some(SchemaGenerator::subschema_for::<String> as SchemaOf),
            is_default: true,
        });
        self
    }

    /// Adds a response without a body.
    pub fn answers_bare(mut self, status: StatusCode, description: &'static str) -> Self {
        self.responses.push(ResponseKind {
            status,
            description,
            media: "",
            schema: None,
            is_default: false,
        });
        self
    }

    /// Adds error responses with the body that errors of type `E` have.
    pub fn fails<E: Failure>(self, statuses: &[StatusCode]) -> Self {
        statuses.iter().fold(self, |operation, status| {
            operation.answers::<E::Body>(*status, E::reason(*status))
        })
    }
}

/// An argument of a handler, which adds to the operation what it takes from the request. `S` is the
/// state of the routes.
pub trait Input<S> {
    /// Adds parameters or a body, and the errors of reading them.
    fn describe(operation: Operation) -> Operation {
        operation
    }
}

impl<S> Input<S> for State<S> {}
impl<S> Input<S> for HeaderMap {}

/// The result of a handler, which adds the responses that it can become to the operation.
pub trait Output {
    /// Adds the responses.
    fn describe(operation: Operation) -> Operation;
}

/// An error of a handler.
pub trait Failure {
    /// The JSON body.
    type Body: JsonSchema;
    /// The statuses that a handler which returns this error can fail with. Errors of reading the
    /// request are not among them: [inputs](Input) describe those.
    const STATUSES: &'static [StatusCode];

    /// The reason for a status.
    fn reason(status: StatusCode) -> &'static str;
}

impl Output for Infallible {
    fn describe(operation: Operation) -> Operation {
        operation
    }
}

impl<T: Output, E: Failure> Output for Result<T, E> {
    fn describe(operation: Operation) -> Operation {
        T::describe(operation).fails::<E>(E::STATUSES)
    }
}

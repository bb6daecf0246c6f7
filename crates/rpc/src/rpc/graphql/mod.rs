//! GraphQL over HTTP (EIP-1767), with geth's schema.
//!
//! A query runs on a thread for executions, from its parsing to its response, and its fields never
//! wait. Only the mutation does: it runs on the task that received the request. A document counts
//! until the response.

pub(super) mod fuzzing;
mod limits;
mod objects;
mod query;
mod scalars;

use std::{collections::HashMap, sync::Arc};

use async_graphql::{
    EmptySubscription, Request, Response as QueryResponse, Schema, ServerError, Variables,
    parser::types::{DocumentOperations, ExecutableDocument, OperationType},
};
use axum::{
    body::Bytes,
    extract::{Request as HttpRequest, State},
    http::{Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{MethodRouter, any},
};
use futures_util::FutureExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tetrad_web::{
    Answer, Budget, Caller, Held, Operation, check_json, current_client, is_json, json_memory,
    receive,
};

use self::{
    limits::{Limited, MAX_ERRORS, QueryLimits, shortened},
    query::{MutationRoot, QueryRoot},
};
use super::{Context, Rpc, RpcError};

type NodeSchema = Schema<QueryRoot, MutationRoot, EmptySubscription>;

/// A request's body.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GraphRequest {
    /// The document.
    #[serde(default)]
    query: String,
    /// The operation to run, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_name: Option<String>,
    /// The values of variables, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<HashMap<String, Value>>")]
    variables: Option<Variables>,
}

/// A response's body, with the members in geth's order.
#[derive(Serialize)]
struct GraphResponse {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ServerError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<async_graphql::Value>,
}

/// A response's body, for the OpenAPI document.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "for the schema only")]
struct GraphResponseBody {
    /// The errors, each with a `message`.
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<Vec<Value>>,
    /// The requested data; absent if nothing was executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<HashMap<String, Value>>,
}

/// A response with its status.
struct RenderedQuery {
    status: StatusCode,
    json: Vec<u8>,
    held: Held,
}

/// The route of GraphQL.
pub fn graphql_service(rpc: Rpc) -> MethodRouter {
    any(serve).with_state((rpc, schema()))
}

fn schema() -> NodeSchema {
    Schema::build(QueryRoot, MutationRoot, EmptySubscription)
        .extension(Limited)
        .finish()
}

/// The OpenAPI description of the route.
pub fn graphql_operation() -> Operation {
    let plain = "text/plain; charset=utf-8";
    Operation::new(
        "GraphQL",
        "A query or a mutation of GraphQL (EIP-1767), with geth's schema.",
    )
    .body::<GraphRequest>()
    .returns::<GraphResponseBody>()
    .answers::<GraphResponseBody>(StatusCode::BAD_REQUEST, "The query or the body has errors.")
    .answers_in::<String>(
        plain,
        StatusCode::REQUEST_TIMEOUT,
        "The body took too long.",
    )
    .answers_in::<String>(
        plain,
        StatusCode::PAYLOAD_TOO_LARGE,
        "The body is too long.",
    )
    .answers_in::<String>(
        plain,
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "The body is not JSON, or is compressed.",
    )
    .answers_in::<String>(
        plain,
        StatusCode::SERVICE_UNAVAILABLE,
        "The memory for long requests is in use by other clients; `Retry-After` says when to \
             try again.",
    )
    .at("post", "/graphql")
    .named("queryGraphql")
}

async fn serve(State((rpc, schema)): State<(Rpc, NodeSchema)>, request: HttpRequest) -> Response {
    if request.method() != Method::POST {
        return (
            StatusCode::METHOD_NOT_ALLOWED,
            [(header::ALLOW, "POST, OPTIONS")],
            "GraphQL takes POST\n",
        )
            .into_response();
    }
    if !is_json(request.headers()) {
        return (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "GraphQL takes content type application/json\n",
        )
            .into_response();
    }

    let context = rpc.context.clone();
    let (body, _held) = match receive(request, context.config.max_body).await {
        Ok(received) => received,
        Err(error) => return error.into_response(),
    };

    match answer(context, schema, body).await {
        Ok(rendered) => reply(rendered),
        Err(error) => (
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("{}\n", error.message),
        )
            .into_response(),
    }
}

fn reply(RenderedQuery { status, json, held }: RenderedQuery) -> Response {
    let mut response = Answer::new(json, held).into_json();
    *response.status_mut() = status;
    response
}

/// A checked query, or the response to one that runs no further.
enum QueryStep {
    Mutation(Box<Request>, ParsedMemory),
    Answered(RenderedQuery),
}

/// The memory that a parsed request takes.
struct ParsedMemory {
    budget: Budget,
    bytes: usize,
    held: Held,
}

impl ParsedMemory {
    fn new(context: &Context) -> Self {
        Self {
            budget: context.config.budget.clone(),
            bytes: 0,
            held: Held::default(),
        }
    }

    /// Takes memory for what is parsed next.
    fn take(&mut self, bytes: usize) -> Result<(), ServerError> {
        self.bytes += bytes;
        if self.budget.try_grow(&mut self.held, self.bytes) {
            return Ok(());
        }

        Err(ServerError::new(
            "the query is too large for the memory that is left; try again",
            None,
        ))
    }
}

async fn answer(
    context: Arc<Context>,
    schema: NodeSchema,
    body: Bytes,
) -> Result<RenderedQuery, RpcError> {
    let caller = Caller {
        client: current_client(),
        long: true,
        remote: context.fork().is_some(),
    };
    let run_query = {
        let context = context.clone();
        let schema = schema.clone();
        move || parse_and_run(context, &schema, &body)
    };

    match context.execution.apart(caller, run_query).await? {
        QueryStep::Answered(answered) => Ok(answered),
        // A mutation waits for its block, and must not occupy a thread meanwhile.
        QueryStep::Mutation(request, _memory) => {
            let limits = limits(&context);
            let response = schema.execute(request.data(limits.clone())).await;
            Ok(rendered(response, &limits))
        }
    }
}

/// Parses and checks a body, and executes it unless it is a mutation.
fn parse_and_run(
    context: Arc<Context>,
    schema: &NodeSchema,
    body: &[u8],
) -> Result<QueryStep, RpcError> {
    let mut memory = ParsedMemory::new(&context);
    match parse(body, &mut memory) {
        Ok(request) => run(context, schema, request, memory),
        Err(error) => Ok(refusal(error, &limits(&context))),
    }
}

/// Parses a body.
fn parse(body: &[u8], memory: &mut ParsedMemory) -> Result<GraphRequest, ServerError> {
    check_json(body).map_err(refused)?;
    // Before it is parsed: values take much more memory than their text.
    memory.take(json_memory(body))?;
    serde_json::from_slice(body).map_err(refused)
}

fn refused(what: impl ToString) -> ServerError {
    ServerError::new(what.to_string(), None)
}

/// The response to a request that is not executed.
fn refusal(error: ServerError, limits: &QueryLimits) -> QueryStep {
    QueryStep::Answered(rendered(QueryResponse::from_errors(vec![error]), limits))
}

/// Checks a request, and executes it unless it is a mutation.
fn run(
    context: Arc<Context>,
    schema: &NodeSchema,
    request: GraphRequest,
    mut memory: ParsedMemory,
) -> Result<QueryStep, RpcError> {
    let limits = limits(&context);
    let (request, ty) = match check(request, &mut memory) {
        Ok(checked) => checked,
        Err(error) => return Ok(refusal(error, &limits)),
    };
    if ty == Some(OperationType::Mutation) {
        return Ok(QueryStep::Mutation(Box::new(request.data(context)), memory));
    }

    // The fields of a query never wait, so that it completes at once.
    let request = request.data(context).data(limits.clone());
    let response = schema
        .execute(request)
        .now_or_never()
        .ok_or_else(|| RpcError::internal("not answered"))?;
    Ok(QueryStep::Answered(rendered(response, &limits)))
}

fn limits(context: &Context) -> Arc<QueryLimits> {
    let out_of_time = Box::new(context.time_check());
    Arc::new(QueryLimits::new(
        out_of_time,
        context.config.max_batch_response,
        context.config.budget.clone(),
    ))
}

/// Parses the document of a request, and checks its size.
fn check(
    given: GraphRequest,
    memory: &mut ParsedMemory,
) -> Result<(Request, Option<OperationType>), ServerError> {
    // Before it is parsed: a document takes a multiple of the memory of its text.
    memory.take(limits::check_tokens(&given.query).map_err(refused)?)?;

    let mut request = Request::new(given.query);
    if let Some(variables) = given.variables {
        request = request.variables(variables);
    }

    let document = request.parsed_query()?;
    limits::check_selections(document).map_err(refused)?;
    let ty = operation_type(document, given.operation_name.as_deref());
    let request = match given.operation_name {
        Some(name) if !name.is_empty() => request.operation_name(name),
        _ => request,
    };
    Ok((request, ty))
}

/// Returns the type of the operation that runs, if there is one with this name.
fn operation_type(document: &ExecutableDocument, name: Option<&str>) -> Option<OperationType> {
    match &document.operations {
        DocumentOperations::Single(operation) => Some(operation.node.ty),
        DocumentOperations::Multiple(operations) => name
            .and_then(|name| operations.get(name))
            .map(|op| op.node.ty),
    }
}

/// Returns the JSON of a response. Errors make it 400, as in geth.
fn rendered(response: QueryResponse, limits: &QueryLimits) -> RenderedQuery {
    let (failures, is_void) = limits.take_failures();

    // A request that is invalid was not executed, and has no data.
    let data = response.errors.is_empty().then_some(if is_void {
        async_graphql::Value::Null
    } else {
        response.data
    });

    let errors: Vec<_> = response
        .errors
        .into_iter()
        .take(MAX_ERRORS)
        .map(shortened)
        .chain(failures)
        .collect();
    let status = if errors.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::BAD_REQUEST
    };

    // The types have no content that JSON lacks.
    let mut json = Vec::with_capacity(limits.length());
    if let Err(error) = serde_json::to_writer(&mut json, &GraphResponse { errors, data }) {
        tracing::error!(%error, "an answer of GraphQL cannot be written");
    }

    RenderedQuery {
        status,
        json,
        held: limits.take_held(),
    }
}

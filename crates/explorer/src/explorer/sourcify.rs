//! Sourcify's API v2, under `/sourcify`: verification, and what is known of a contract's source.

use alloy_primitives::{Address, hex};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json, value::RawValue};
use tetrad_contracts::sources::{
    CodeMatch, CompiledCode, CompiledContract, KnownContract, Matches, SubmitError,
    VerificationError,
};
use tetrad_stdx::calendar::rfc3339;
use tetrad_web::{
    Api, ExecutionFailed, Failure, NoCache, Operation, Output, Path, Query, RestError, WrittenJson,
    parameters::parameters,
};

use super::{
    contracts::{Creation, Submission, SubmissionError, creation},
    page::WITHOUT_EFFECT,
    parameters::{ContractAddress, Natural, Words},
    render::Render,
    rest::{Explorer, SharedExplorer},
    uploads::JsonUpload,
};

pub(super) fn routes(api: Api<Explorer>) -> Api<Explorer> {
    let api = api.only_described::<SourcifyError>(&WITHOUT_EFFECT).inert_post(
        "/sourcify/v2/verify/{chain}/{address}",
        verify,
        "Verifies a contract's source, as Sourcify does: `stdJsonInput`, `compilerVersion` and `contractIdentifier`.",
    )
    .named("verifySourcifyContract")
    .get("/sourcify/v2/verify/{id}", verification, "A verification, for an hour after it ended.")
    .named("getSourcifyVerification");
    api.only_described::<RestError>(&WITHOUT_EFFECT)
        .get(
            "/sourcify/v2/contract/{chain}/{address}",
            contract,
            "A contract's source, as far as `fields` asks for it.",
        )
        .named("getSourcifyContract")
}

parameters! {
    /// The path of a route about a contract.
    struct ChainContractPath {
        /// The chain id.
        #[param("chain", example = "125")]
        chain: Natural,
        /// The contract's address.
        #[param("address", example = "0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7")]
        address: ContractAddress,
    }
}

parameters! {
    /// The path of a route about a verification.
    struct VerificationPath {
        /// The verification's id.
        #[param("id", example = "00000000-0000-4000-8000-000000000000")]
        id: Words,
    }
}

parameters! {
    /// The members of a contract that are asked for.
    struct FieldsQuery {
        /// Members, separated by commas, or `all`: `abi`, `sources`, `compilation`, `metadata`,
        /// `stdJsonInput`, `sourceIds`, `storageLayout`, `userdoc`, `devdoc`, `deployment`,
        /// `creationBytecode`, `runtimeBytecode`, and parts of them, such as `compilation.name`.
        #[param("fields", example = "abi,sources")]
        fields: Option<Words>,
        /// Members to leave out.
        #[param("omit", example = "sources")]
        omit: Option<Words>,
    }
}

/// The request of a verification. Other members are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct VerifyRequest {
    pub(super) std_json_input: Box<RawValue>,
    compiler_version: String,
    pub(super) contract_identifier: String,
}

/// An error in Sourcify's form.
#[derive(Debug)]
struct SourcifyError {
    status: StatusCode,
    code: &'static str,
    message: String,
}

/// The body of an error.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SourcifyErrorBody")]
struct ErrorBody {
    /// The kind of error, for programs.
    custom_code: &'static str,
    /// The message, for people.
    message: String,
    error_id: String,
}

impl SourcifyError {
    fn new(status: StatusCode, code: &'static str, message: impl ToString) -> Self {
        Self {
            status,
            code,
            message: message.to_string(),
        }
    }

    fn body(code: &'static str, message: String) -> ErrorBody {
        ErrorBody {
            custom_code: code,
            message,
            error_id: "00000000-0000-4000-8000-000000000000".to_owned(),
        }
    }
}

impl IntoResponse for SourcifyError {
    fn into_response(self) -> Response {
        let body = Self::body(self.code, self.message);
        (
            self.status,
            [(header::CACHE_CONTROL, "no-store")],
            Json(body),
        )
            .into_response()
    }
}

impl Failure for SourcifyError {
    type Body = ErrorBody;
    const STATUSES: &'static [StatusCode] = &[
        StatusCode::BAD_REQUEST,
        StatusCode::NOT_FOUND,
        StatusCode::CONFLICT,
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::INTERNAL_SERVER_ERROR,
        StatusCode::SERVICE_UNAVAILABLE,
    ];

    fn reason(status: StatusCode) -> &'static str {
        match status {
            StatusCode::BAD_REQUEST => "The request is malformed, or its compiler is not there.",
            StatusCode::NOT_FOUND => "There is nothing under this name.",
            StatusCode::CONFLICT => "The contract is already verified.",
            StatusCode::TOO_MANY_REQUESTS => "Other verifications are waiting.",
            StatusCode::SERVICE_UNAVAILABLE => "The node runs no compilers, or is still indexing.",
            _ => "The node failed.",
        }
    }
}

impl From<ExecutionFailed> for SourcifyError {
    fn from(error: ExecutionFailed) -> Self {
        RestError::from(error).into()
    }
}

impl From<RestError> for SourcifyError {
    fn from(error: RestError) -> Self {
        let code = match error.status() {
            StatusCode::BAD_REQUEST => "invalid_parameter",
            StatusCode::NOT_FOUND => "not_found",
            _ => "internal_error",
        };
        Self::new(error.status(), code, error)
    }
}

impl From<SubmissionError> for SourcifyError {
    fn from(error: SubmissionError) -> Self {
        match error {
            SubmissionError::NoCode(address) => Self::new(
                StatusCode::NOT_FOUND,
                "contract_not_deployed",
                format!("there is no contract at {}", address.to_checksum(None)),
            ),
            SubmissionError::AlreadyVerified => Self::new(
                StatusCode::CONFLICT,
                "already_verified",
                "the contract is already verified",
            ),
            SubmissionError::Malformed(what) => {
                Self::new(StatusCode::BAD_REQUEST, "invalid_parameter", what)
            }
            SubmissionError::NoCompiler(error) => match error {
                SubmitError::NoVersion(_) => Self::new(
                    StatusCode::BAD_REQUEST,
                    "unsupported_compiler_version",
                    error,
                ),
                SubmitError::NoCompilers => {
                    Self::new(StatusCode::SERVICE_UNAVAILABLE, "no_compilers", error)
                }
                SubmitError::Busy | SubmitError::TooMany => Self::new(
                    StatusCode::TOO_MANY_REQUESTS,
                    "too_many_verifications",
                    error,
                ),
            },
            SubmissionError::Node(error) => error.into(),
        }
    }
}

/// The id of a verification.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SourcifyTicket")]
struct Ticket {
    verification_id: String,
}

impl IntoResponse for Ticket {
    fn into_response(self) -> Response {
        (
            StatusCode::ACCEPTED,
            [(header::CACHE_CONTROL, "no-store")],
            Json(self),
        )
            .into_response()
    }
}

impl Output for Ticket {
    fn describe(operation: Operation) -> Operation {
        operation.answers::<Self>(StatusCode::ACCEPTED, "The verification has begun.")
    }
}

/// How a contract matches its source: `exact_match`, `match`, or null.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SourcifyMatch")]
struct MatchBody {
    /// The better one of both.
    #[serde(rename = "match")]
    best: Option<&'static str>,
    creation_match: Option<&'static str>,
    runtime_match: Option<&'static str>,
    chain_id: String,
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    match_id: Option<String>,
}

/// A verification.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SourcifyVerification")]
struct VerificationBody {
    is_job_completed: bool,
    verification_id: String,
    job_start_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_finish_time: Option<String>,
    contract: MatchBody,
    /// The reason of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
}

/// A contract; the members after the match are those that `fields` asks for.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SourcifyContract")]
struct ContractBody {
    #[serde(flatten)]
    matched: MatchBody,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

fn match_name(matched: CodeMatch) -> &'static str {
    match matched {
        CodeMatch::Exact => "exact_match",
        CodeMatch::Partial => "match",
    }
}

fn match_body(
    shared: &SharedExplorer,
    address: Address,
    matches: Matches,
    verified_at: Option<u64>,
) -> MatchBody {
    MatchBody {
        best: matches.best().map(match_name),
        creation_match: matches.creation.map(match_name),
        runtime_match: matches.runtime.map(match_name),
        chain_id: shared.chain.params().chain_id.to_string(),
        address: address.to_checksum(None),
        verified_at: verified_at.map(rfc3339),
        match_id: matches.best().map(|_| format!("{address:#x}")),
    }
}

fn check_chain(shared: &SharedExplorer, Natural(chain): Natural) -> Result<(), SourcifyError> {
    let own = shared.chain.params().chain_id;
    if chain == own {
        return Ok(());
    }

    let what = format!("the chain {chain} is not this node's, which is {own}");
    Err(SourcifyError::new(
        StatusCode::BAD_REQUEST,
        "unsupported_chain",
        what,
    ))
}

async fn verify(
    State(explorer): State<Explorer>,
    path: Result<Path<ChainContractPath>, RestError>,
    upload: JsonUpload,
) -> Result<Ticket, SourcifyError> {
    let Path(path) = path?;
    check_chain(&explorer.0, path.chain)?;

    let ContractAddress(address) = path.address;
    // The memory of the sources is counted until the end of the request.
    let (request, _held) = upload.parse::<VerifyRequest>().await?;
    let request = request
        .map_err(|error| SourcifyError::new(StatusCode::BAD_REQUEST, "invalid_parameter", error))?;

    let submission = Submission {
        address,
        compiler: request.compiler_version,
        contract: request.contract_identifier,
        input: Box::<str>::from(request.std_json_input).into(),
        license: None,
    };

    Ok(Ticket {
        verification_id: explorer.submit(submission).await?,
    })
}

async fn verification(
    State(explorer): State<Explorer>,
    path: Result<Path<VerificationPath>, RestError>,
) -> Result<NoCache<VerificationBody>, SourcifyError> {
    let Path(path) = path?;
    let shared = &explorer.0;
    let id = path.id.0;
    let found = shared.verifier.verification(&id).ok_or_else(|| {
        SourcifyError::new(
            StatusCode::NOT_FOUND,
            "job_not_found",
            format!("no verification {id:?}"),
        )
    })?;

    let matches = found
        .result
        .as_ref()
        .and_then(|result| result.as_ref().ok())
        .copied();
    let ended = found.ended_ms.map(|ended| ended / 1_000);
    let error = found
        .result
        .and_then(Result::err)
        .map(|error| SourcifyError::body(error_code(&error), error.to_string()));

    let verified_at = ended.filter(|_| matches.is_some());

    Ok(NoCache(VerificationBody {
        is_job_completed: ended.is_some(),
        verification_id: found.id,
        job_start_time: rfc3339(found.submitted_ms / 1_000),
        job_finish_time: ended.map(rfc3339),
        contract: match_body(
            shared,
            found.address,
            matches.unwrap_or_default(),
            verified_at,
        ),
        error,
    }))
}

fn error_code(error: &VerificationError) -> &'static str {
    match error {
        VerificationError::Compiler(_) => "compiler_error",
        VerificationError::NoContract(_) => "contract_not_found",
        VerificationError::NoMatch(_) => "no_match",
        VerificationError::Store(_) | VerificationError::Failed => "internal_error",
    }
}

/// A contract, or 404 with a match of null, as in Sourcify.
struct Found {
    is_known: bool,
    body: WrittenJson<ContractBody>,
}

impl Found {
    fn new(body: &ContractBody) -> Result<Self, RestError> {
        Ok(Self {
            is_known: body.matched.best.is_some(),
            body: WrittenJson::new(body)?,
        })
    }
}

impl IntoResponse for Found {
    fn into_response(self) -> Response {
        let status = if self.is_known {
            StatusCode::OK
        } else {
            StatusCode::NOT_FOUND
        };
        (status, self.body).into_response()
    }
}

impl Output for Found {
    fn describe(operation: Operation) -> Operation {
        operation.returns::<ContractBody>().answers::<ContractBody>(
            StatusCode::NOT_FOUND,
            "The source is not known: the match is null.",
        )
    }
}

async fn contract(
    State(explorer): State<Explorer>,
    Path(path): Path<ChainContractPath>,
    Query(query): Query<FieldsQuery>,
) -> Result<Found, RestError> {
    let ContractAddress(address) = path.address;
    let Natural(chain) = path.chain;
    explorer
        .read(move |shared, render| {
            let body = contract_body(shared, render, &query, chain, address)?;
            Found::new(&body)
        })
        .await
}

fn contract_body(
    shared: &SharedExplorer,
    render: &Render<'_>,
    query: &FieldsQuery,
    chain: u64,
    address: Address,
) -> Result<ContractBody, RestError> {
    let is_own_chain = chain == shared.chain.params().chain_id;
    let compiled = is_own_chain
        .then(|| render.compiled(address))
        .transpose()?
        .flatten();
    let Some((known, compiled)) = compiled else {
        return Ok(ContractBody {
            matched: match_body(shared, address, Matches::default(), None),
            fields: Map::new(),
        });
    };

    let fields = fields(query, render, address, &known, compiled)?;
    Ok(ContractBody {
        matched: match_body(shared, address, known.matches, known.verified_at),
        fields,
    })
}

/// The words of a list, separated by commas.
fn list(words: Option<&Words>) -> Vec<String> {
    words
        .map(|words| words.0.as_str())
        .unwrap_or_default()
        .split(',')
        .map(|word| word.trim().to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Returns the members that a query asks for.
fn fields(
    query: &FieldsQuery,
    render: &Render<'_>,
    address: Address,
    known: &KnownContract,
    compiled: CompiledContract,
) -> Result<Map<String, Value>, RestError> {
    let wanted = list(query.fields.as_ref());
    let omitted = list(query.omit.as_ref());
    if wanted.is_empty() && omitted.is_empty() {
        return Ok(Map::new());
    }

    let all = members(render, address, known, compiled)?;
    let is_all = wanted.iter().any(|word| word == "all") || wanted.is_empty();
    let mut given = if is_all { all } else { selected(&all, &wanted) };
    for word in &omitted {
        match word.split_once('.') {
            None => drop(given.remove(word)),
            Some((member, part)) => {
                if let Some(holder) = given.get_mut(member).and_then(Value::as_object_mut) {
                    holder.remove(part);
                }
            }
        }
    }
    Ok(given)
}

/// Returns some of the members, or parts of them, as in `compilation.name`.
fn selected(all: &Map<String, Value>, wanted: &[String]) -> Map<String, Value> {
    let mut given = Map::new();
    for word in wanted {
        match word.split_once('.') {
            None => {
                if let Some(value) = all.get(word) {
                    given.insert(word.clone(), value.clone());
                }
            }
            Some((member, part)) => {
                let value = all.get(member).and_then(|value| value.get(part)).cloned();
                let holder = given.entry(member.to_owned()).or_insert_with(|| json!({}));
                if let (Some(value), Some(holder)) = (value, holder.as_object_mut()) {
                    holder.insert(part.to_owned(), value);
                }
            }
        }
    }
    given
}

/// Returns all members.
fn members(
    render: &Render<'_>,
    address: Address,
    known: &KnownContract,
    compiled: CompiledContract,
) -> Result<Map<String, Value>, RestError> {
    let creation = creation(render, address)?;
    let deployed = deployed_code(render, address)?;

    let sources: Map<_, _> = compiled
        .sources
        .iter()
        .map(|(path, content)| (path.clone(), json!({ "content": content })))
        .collect();
    let ids: Map<_, _> = compiled
        .source_ids
        .iter()
        .map(|(id, path)| (path.clone(), json!({ "id": id })))
        .collect();
    let metadata = compiled
        .metadata
        .as_deref()
        .and_then(|text| serde_json::from_str::<Value>(text).ok());
    let input = compiled.standard_input();
    let compilation = compilation(&compiled);

    let deployment = deployment(creation.as_ref());
    let creation_bytecode = json!({
        "onchainBytecode": creation.and_then(|creation| creation.input).map(hex::encode_prefixed),
        "recompiledBytecode": recompiled(compiled.creation_code.as_ref()),
        "sourceMap": compiled.creation_source_map,
        "transformationValues": {
            "constructorArguments": known.constructor_arguments.as_ref().map(hex::encode_prefixed),
        },
    });
    let runtime_bytecode = json!({
        "onchainBytecode": deployed,
        "recompiledBytecode": recompiled(compiled.runtime_code.as_ref()),
        "sourceMap": compiled.source_map,
    });

    let members = [
        ("abi", compiled.abi),
        ("sources", Value::Object(sources)),
        ("compilation", compilation),
        ("metadata", metadata.unwrap_or_default()),
        ("stdJsonInput", input),
        ("sourceIds", Value::Object(ids)),
        ("storageLayout", compiled.storage_layout),
        ("userdoc", compiled.userdoc),
        ("devdoc", compiled.devdoc),
        ("deployment", deployment),
        ("creationBytecode", creation_bytecode),
        ("runtimeBytecode", runtime_bytecode),
    ];
    Ok(members
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect())
}

fn compilation(compiled: &CompiledContract) -> Value {
    json!({
        "language": compiled.language,
        "compiler": "solc",
        "compilerVersion": compiled.compiler_version,
        "compilerSettings": compiled.settings,
        "name": compiled.name,
        "fullyQualifiedName": format!("{}:{}", compiled.file, compiled.name),
    })
}

fn deployment(creation: Option<&Creation>) -> Value {
    json!({
        "transactionHash": creation.map(|creation| creation.transaction),
        "blockNumber": creation.map(|creation| creation.position.block.to_string()),
        "transactionIndex": creation.map(|creation| creation.position.index.to_string()),
        "deployer": creation.map(|creation| creation.creator.to_checksum(None)),
    })
}

fn deployed_code(render: &Render<'_>, address: Address) -> Result<Option<String>, RestError> {
    let account = render
        .view()
        .state
        .get(address)
        .map_err(|error| RestError::Internal(error.to_string()))?;
    Ok(account.map(|account| hex::encode_prefixed(account.code().original_byte_slice())))
}

fn recompiled(code: Option<&CompiledCode>) -> Option<String> {
    code.map(|code| hex::encode_prefixed(code.bytes()))
}

//! Routes about contracts and their sources, and the beginning of a verification, which the other
//! interfaces share.

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, Bytes, hex};
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use tetrad_contracts::sources::{
    CodeMatch, CompilerVersion, ContractName, DeployedContract, KnownContract, Origin,
    StandardInput, SubmitError, VerificationRequest, read_abi,
};
use tetrad_stdx::text::excerpt;
use tetrad_web::{Api, ExecutionFailed, NoCache, Path, RestError, current_client, in_turn};

use super::{
    bodies::ContractBody,
    decode,
    parameters::{ContractAddress, ContractPath},
    render::{Render, timestamp},
    rest::{Body, Explorer},
    uploads::Form,
};
use crate::index::Position;

/// The longest licence that is kept.
const MAX_LICENSE: usize = 100;

/// The rules that solc compiles for.
const EVM_VERSIONS: [&str; 14] = [
    "homestead",
    "tangerineWhistle",
    "spuriousDragon",
    "byzantium",
    "constantinople",
    "petersburg",
    "istanbul",
    "berlin",
    "london",
    "paris",
    "shanghai",
    "cancun",
    "prague",
    "osaka",
];

pub(super) fn routes(api: Api<Explorer>) -> Api<Explorer> {
    api.get(
        "/api/v2/smart-contracts/{address}",
        contract,
        "A contract's code; ABI and source if they are known; 404 without code.",
    )
    .get(
        "/api/v2/smart-contracts/verification/config",
        config,
        "The compilers that verify sources, and the forms of sources.",
    )
    .named("getExplorerVerificationConfig")
    .inert_post(
        "/api/v2/smart-contracts/{address}/verification/via/standard-input",
        verify,
        "Verifies a contract's source: a form with `compiler_version`, `contract_name`, `license_type` and the file \
         `files[0]` with the compiler's standard JSON input.",
    )
    .named("verifyExplorerContract")
}

async fn contract(
    State(explorer): State<Explorer>,
    Path(path): Path<ContractPath>,
) -> Body<ContractBody> {
    let ContractAddress(address) = path.address;
    explorer
        .body(move |_, render| render_contract(render, address))
        .await
}

/// Returns the code of a contract; `None` without code.
fn code_at(render: &Render<'_>, address: Address) -> Result<Option<Bytes>, RestError> {
    let account = render
        .view()
        .state
        .get(address)
        .map_err(|error| RestError::Internal(error.to_string()))?;
    Ok(account
        .map(|account| account.code().original_bytes())
        .filter(|code| !code.is_empty()))
}

fn render_contract(render: &Render<'_>, address: Address) -> Result<ContractBody, RestError> {
    let none = || RestError::NotFound(format!("no contract {}", address.to_checksum(None)));
    let code = code_at(render, address)?.ok_or_else(none)?;

    let bare = ContractBody {
        deployed_bytecode: hex::encode_prefixed(&code),
        creation_bytecode: creation(render, address)?
            .and_then(|creation| creation.input)
            .map(hex::encode_prefixed),
        ..ContractBody::default()
    };

    let Some((known, compiled)) = render.compiled(address)? else {
        return Ok(bare);
    };

    let is_exact = known.matches.best() == Some(CodeMatch::Exact);
    let others = compiled
        .sources
        .iter()
        .filter(|(path, _)| **path != compiled.file);

    Ok(ContractBody {
        name: Some(known.name.clone()),
        is_verified: true,
        is_fully_verified: is_exact,
        is_partially_verified: !is_exact,
        additional_sources: others
            .map(|(path, text)| json!({ "file_path": path, "source_code": text }))
            .collect(),
        source_code: compiled.own_source().map(str::to_owned),
        file_path: Some(compiled.file.clone()),
        language: Some(compiled.language.to_lowercase()),
        compiler_version: Some(format!("v{}", compiled.compiler_version)),
        evm_version: compiled.evm_version().map(str::to_owned),
        optimization_enabled: Some(compiled.optimizer_runs().is_some()),
        optimization_runs: compiled.optimizer_runs(),
        // Without the creating transaction, the compiler's code without arguments.
        creation_bytecode: bare.creation_bytecode.or_else(|| {
            compiled
                .creation_code
                .as_ref()
                .map(|code| hex::encode_prefixed(code.bytes()))
        }),
        constructor_args: known
            .constructor_arguments
            .as_ref()
            .map(hex::encode_prefixed),
        decoded_constructor_args: known.constructor_arguments.as_ref().and_then(|arguments| {
            decode::arguments(
                &read_abi(compiled.abi.clone()).ok()?.constructor?,
                arguments,
            )
        }),
        license_type: known.license.clone(),
        verified_at: known.verified_at.map(timestamp),
        abi: Some(compiled.abi),
        compiler_settings: Some(compiled.settings),
        ..bare
    })
}

/// The creation of a contract.
pub(super) struct Creation {
    pub(super) creator: Address,
    pub(super) position: Position,
    pub(super) transaction: alloy_primitives::B256,
    /// The input of the transaction, if that is the creation code.
    pub(super) input: Option<Bytes>,
}

/// Returns the creation of a contract, if it is known.
pub(super) fn creation(
    render: &Render<'_>,
    address: Address,
) -> Result<Option<Creation>, RestError> {
    let Some((creator, position)) = render.reader.account(address)?.creation else {
        return Ok(None);
    };
    let Some(block) = render.reader.block(position.block) else {
        return Ok(None);
    };

    Ok(block
        .transactions
        .get(position.index as usize)
        .map(|transaction| Creation {
            creator,
            position,
            transaction: transaction.hash(),
            input: (transaction.creates() == Some(address))
                .then(|| transaction.envelope.input().clone()),
        }))
}

/// The compilers.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerVerificationConfig")]
pub(super) struct ConfigBody {
    /// `standard-input`, if the node has compilers.
    verification_options: Vec<&'static str>,
    /// The versions, the newest first.
    solidity_compiler_versions: Vec<String>,
    solidity_evm_versions: Vec<&'static str>,
    vyper_compiler_versions: Vec<String>,
    vyper_evm_versions: Vec<String>,
    is_rust_verifier_microservice_enabled: bool,
    license_types: Value,
}

async fn config(State(explorer): State<Explorer>) -> Result<NoCache<ConfigBody>, RestError> {
    let verifier = explorer.0.verifier.clone();
    let versions =
        move || Ok::<_, RestError>(verifier.compilers().map(|compilers| compilers.versions()));
    let versions = in_turn(versions).await?;

    Ok(NoCache(ConfigBody {
        verification_options: versions.iter().map(|_| "standard-input").collect(),
        solidity_compiler_versions: versions
            .into_iter()
            .flatten()
            .map(|version| format!("v{version}"))
            .collect(),
        solidity_evm_versions: EVM_VERSIONS.iter().rev().copied().collect(),
        vyper_compiler_versions: Vec::new(),
        vyper_evm_versions: Vec::new(),
        is_rust_verifier_microservice_enabled: false,
        license_types: json!({
            "none": 1, "unlicense": 2, "mit": 3, "gnu_gpl_v2": 4, "gnu_gpl_v3": 5, "gnu_lgpl_v2_1": 6, "gnu_lgpl_v3": 7,
            "bsd_2_clause": 8, "bsd_3_clause": 9, "mpl_2_0": 10, "osl_3_0": 11, "apache_2_0": 12, "gnu_agpl_v3": 13,
            "bsl_1_1": 14,
        }),
    }))
}

/// A verification that was requested.
pub(super) struct Submission {
    pub(super) address: Address,
    /// The compiler's version, and the contract as `path:Name` or `Name`.
    pub(super) compiler: String,
    pub(super) contract: String,
    /// The compiler's standard JSON input.
    pub(super) input: String,
    pub(super) license: Option<String>,
}

/// The reason why a verification does not begin.
pub(super) enum SubmissionError {
    /// There is no code.
    NoCode(Address),
    /// The source is known already.
    AlreadyVerified,
    /// A member of the request is wrong.
    Malformed(String),
    /// The compiler is not there.
    NoCompiler(SubmitError),
    /// The node failed.
    Node(RestError),
}

impl From<RestError> for SubmissionError {
    fn from(error: RestError) -> Self {
        Self::Node(error)
    }
}

impl From<ExecutionFailed> for SubmissionError {
    fn from(error: ExecutionFailed) -> Self {
        Self::Node(error.into())
    }
}

impl From<SubmissionError> for RestError {
    fn from(error: SubmissionError) -> Self {
        match error {
            SubmissionError::NoCode(address) => {
                Self::NotFound(format!("no contract {}", address.to_checksum(None)))
            }
            SubmissionError::AlreadyVerified => {
                Self::parameter("address", "the contract is already verified")
            }
            SubmissionError::Malformed(what) => Self::parameter("files[0]", what),
            SubmissionError::NoCompiler(error @ SubmitError::NoVersion(_)) => {
                Self::parameter("compiler_version", error.to_string())
            }
            SubmissionError::NoCompiler(error) => Self::Unavailable(error.to_string()),
            SubmissionError::Node(error) => error,
        }
    }
}

/// Returns whether nothing better can come of a verification.
pub(super) fn is_settled(known: &KnownContract) -> bool {
    match known.origin {
        Origin::Network => true,
        Origin::Verified => known.matches.best() == Some(CodeMatch::Exact),
        Origin::SameCode | Origin::Artifact => false,
    }
}

impl Explorer {
    /// Begins a verification, and returns its id.
    pub(super) async fn submit(&self, submission: Submission) -> Result<String, SubmissionError> {
        if self.0.verifier.compilers().is_none() {
            return Err(SubmissionError::NoCompiler(SubmitError::NoCompilers));
        }
        let compiler = compiler_version(&submission.compiler)?;

        let address = submission.address;
        let found = self.read(move |_, render| {
            let known = render
                .contract(address)
                .is_some_and(|known| is_settled(&known));
            let creation = creation(render, address)?.and_then(|creation| creation.input);
            Ok((known, code_at(render, address)?, creation))
        });
        let (is_known, code, creation) = found.await?;
        let code = code.ok_or(SubmissionError::NoCode(address))?;
        if is_known {
            return Err(SubmissionError::AlreadyVerified);
        }

        let verifier = self.0.verifier.clone();
        let client = current_client().address.octets();
        // Parsing megabytes of JSON takes more than a millisecond.
        in_turn(move || {
            let input =
                StandardInput::parse(&submission.input).map_err(SubmissionError::Malformed)?;
            let license = submission.license.filter(|license| !license.is_empty());
            let request = VerificationRequest {
                deployed: DeployedContract {
                    address,
                    code,
                    creation,
                },
                input,
                contract: ContractName::parse(&submission.contract),
                compiler,
                license: license.map(|license| excerpt(&license, MAX_LICENSE).to_owned()),
            };
            verifier
                .submit(client, request)
                .map_err(SubmissionError::NoCompiler)
        })
        .await
    }
}

fn compiler_version(text: &str) -> Result<CompilerVersion, SubmissionError> {
    CompilerVersion::parse(text).ok_or_else(|| {
        let shown = excerpt(text, 50);
        SubmissionError::Malformed(format!(
            "compiler version: expected one such as v0.8.24+commit.e11b9ed9, got {shown:?}"
        ))
    })
}

/// A verification has begun.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerVerificationStarted")]
pub(super) struct StartedBody {
    message: &'static str,
    /// The id with which `/sourcify/v2/verify/{id}` and Etherscan's `checkverifystatus` tell the
    /// result.
    verification_id: String,
}

fn required<'a>(form: &'a Form, name: &'static str) -> Result<&'a str, RestError> {
    form.get(name)
        .ok_or_else(|| RestError::parameter(name, "is missing"))
}

async fn verify(
    State(explorer): State<Explorer>,
    Path(path): Path<ContractPath>,
    form: Form,
) -> Result<NoCache<StartedBody>, RestError> {
    let ContractAddress(address) = path.address;
    let submission = Submission {
        address,
        compiler: required(&form, "compiler_version")?.to_owned(),
        contract: form.get("contract_name").unwrap_or_default().to_owned(),
        input: required(&form, "files[0]")?.to_owned(),
        license: form.get("license_type").map(str::to_owned),
    };
    let verification_id = explorer.submit(submission).await?;
    Ok(NoCache(StartedBody {
        message: "Smart-contract verification started",
        verification_id,
    }))
}

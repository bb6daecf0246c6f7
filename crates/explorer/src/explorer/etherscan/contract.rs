//! The module `contract`.

use std::time::Duration;

use alloy_primitives::hex;
use serde_json::json;
use tetrad_stdx::text::excerpt;
use tetrad_web::Interface;

use super::{
    Action, AnyText, EtherscanQuery, ListWriter, Outcome, Refusal, Request, Run, parse_address,
    text,
};
use crate::explorer::{
    contracts::{Submission, SubmissionError, creation},
    rest::Explorer,
    uploads::Form,
};

/// Etherscan's words for a contract whose source is not known, which clients compare.
const NOT_VERIFIED: &str = "Contract source code not verified";

/// The time that a request for the state of a verification waits for its end.
const STATUS_WAIT: Duration = Duration::from_secs(5);

/// The most contracts of a request for creations.
const MAX_CONTRACTS: usize = 10;

pub(super) const ACTIONS: &[Action] = &[
    Action::value("contract", "getabi", &["address"], abi),
    Action::value("contract", "getsourcecode", &["address"], source),
    Action::list(
        "contract",
        "getcontractcreation",
        &["contractaddresses"],
        creations,
        "No data found",
    ),
    Action::value("contract", "verifysourcecode", &[], no_form),
    Action {
        module: "contract",
        name: "checkverifystatus",
        takes: &["guid"],
        run: Run::Status,
    },
];

fn no_form(_: &Request<'_>) -> Outcome {
    Err(Refusal::failed(
        "Sources to verify have to be sent as a form, by POST",
    ))
}

fn abi(request: &Request<'_>) -> Outcome {
    let known = request.render.compiled(request.address()?)?;
    let (_, compiled) = known.ok_or_else(|| Refusal::failed(NOT_VERIFIED))?;
    // A text with JSON in it, as in Etherscan.
    Ok(json!(compiled.abi.to_string()))
}

fn source(request: &Request<'_>) -> Outcome {
    let address = request.address()?;
    let Some((known, compiled)) = request.render.compiled(address)? else {
        return Ok(json!([{
            "SourceCode": "",
            "ABI": NOT_VERIFIED,
            "ContractName": "",
            "CompilerVersion": "",
            "OptimizationUsed": "",
            "Runs": "",
            "ConstructorArguments": "",
            "EVMVersion": "Default",
            "Library": "",
            "LicenseType": "",
            "Proxy": "0",
            "Implementation": "",
            "SwarmSource": "",
        }]));
    };

    let runs = compiled.optimizer_runs();
    Ok(json!([{
        // The compiler's standard input in another pair of braces, as in Etherscan.
        "SourceCode": format!("{{{}}}", compiled.standard_input()),
        "ABI": compiled.abi.to_string(),
        "ContractName": compiled.name,
        "ContractFileName": compiled.file,
        "CompilerVersion": format!("v{}", compiled.compiler_version),
        "OptimizationUsed": if runs.is_some() { "1" } else { "0" },
        "Runs": runs.unwrap_or(200).to_string(),
        "ConstructorArguments": known.constructor_arguments.as_ref().map(hex::encode).unwrap_or_default(),
        "EVMVersion": compiled.evm_version().unwrap_or("Default"),
        "Library": "",
        "LicenseType": known.license.clone().unwrap_or_default(),
        "Proxy": "0",
        "Implementation": "",
        "SwarmSource": "",
    }]))
}

/// A member of the form, which must not be empty.
fn required<'a>(form: &'a Form, name: &str) -> Result<&'a str, Refusal> {
    form.get(name)
        .filter(|value| !value.is_empty())
        .ok_or_else(|| Refusal::failed(format!("Missing or invalid {name}")))
}

/// Begins a verification.
pub(super) async fn verify(explorer: &Explorer, form: &Form) -> Outcome {
    let contract = required(form, "contractaddress")?;
    let address = parse_address(explorer.network(), contract)?;
    let submission = Submission {
        address,
        compiler: required(form, "compilerversion")?.to_owned(),
        contract: form.get("contractname").unwrap_or_default().to_owned(),
        input: standard_input(form, required(form, "sourceCode")?)?,
        license: form.get("licenseType").map(str::to_owned),
    };

    explorer
        .submit(submission)
        .await
        .map(|id| json!(id))
        .map_err(|error| match error {
            SubmissionError::NoCode(address) => Refusal::failed(format!(
                "Unable to locate ContractCode at {}",
                address.to_checksum(None)
            )),
            SubmissionError::AlreadyVerified => {
                Refusal::failed("Contract source code already verified")
            }
            SubmissionError::Malformed(what) => Refusal::failed(what),
            SubmissionError::NoCompiler(error) => Refusal::failed(error.to_string()),
            SubmissionError::Node(error) => Refusal::Node(error),
        })
}

/// Returns the compiler's standard input, from sources in either format.
pub(in crate::explorer) fn standard_input(form: &Form, source: &str) -> Result<String, Refusal> {
    match form.get("codeformat") {
        // Etherscan's own default is a single file.
        Some("solidity-standard-json-input") => Ok(source.to_owned()),
        None if source.trim_start().starts_with('{') => Ok(source.to_owned()),
        None | Some("solidity-single-file") => single_file(form, source),
        Some(other) => {
            let other = excerpt(other, 50);
            Err(Refusal::failed(format!(
                "codeformat {other:?} is not supported: use solidity-standard-json-input or solidity-single-file"
            )))
        }
    }
}

/// The standard input of a single file, whose settings are members of the form.
fn single_file(form: &Form, source: &str) -> Result<String, Refusal> {
    let name = form.get("contractname").unwrap_or_default();
    // The compiler's own default is 200 runs.
    let runs = form
        .get("runs")
        .filter(|runs| !runs.is_empty())
        .map_or(Ok(200), str::parse::<u32>)
        .map_err(|_| Refusal::failed("Missing or invalid runs"))?;
    let mut settings = json!({ "optimizer": { "enabled": form.get("optimizationUsed") == Some("1"), "runs": runs } });

    // Clients misspell it as Etherscan does.
    let evm_version = form.get("evmversion").or_else(|| form.get("evmVersion"));
    if let Some(version) =
        evm_version.filter(|version| !version.is_empty() && *version != "default")
    {
        settings["evmVersion"] = json!(version);
    }

    let (file, _) = name.rsplit_once(':').unwrap_or(("Contract.sol", name));
    let input = json!({ "language": "Solidity", "sources": { file: { "content": source } }, "settings": settings });
    Ok(input.to_string())
}

/// Returns how a verification stands, in Etherscan's words, which clients compare. It waits a
/// moment for the end, since some clients ask again many seconds later only.
pub(super) async fn status(explorer: &Explorer, query: &EtherscanQuery) -> Outcome {
    let id = text(&query.guid).ok_or_else(|| Refusal::failed("Missing or invalid guid"))?;
    let verification = explorer
        .0
        .verifier
        .ended(id, STATUS_WAIT)
        .await
        .ok_or_else(|| Refusal::failed("Invalid guid: no such verification"))?;
    match verification.result {
        None => Err(Refusal::failed("Pending in queue")),
        Some(Ok(_)) => Ok(json!("Pass - Verified")),
        Some(Err(error)) => Err(Refusal::Because {
            result: "Fail - Unable to verify",
            reason: error.to_string(),
        }),
    }
}

fn creations(request: &Request<'_>, list: &mut ListWriter) -> Result<(), Refusal> {
    let Some(AnyText(text)) = &request.query.contracts else {
        return Err(Refusal::failed(
            "Query parameter 'contractaddresses' is required",
        ));
    };

    let contracts = text
        .split(',')
        .filter(|text| !text.is_empty())
        .map(|text| request.parse_address(text.trim()))
        .collect::<Result<Vec<_>, _>>()?;
    if contracts.len() > MAX_CONTRACTS {
        return Err(Refusal::failed(format!(
            "Error! At most {MAX_CONTRACTS} contracts"
        )));
    }

    for contract in contracts {
        let Some(creation) = creation(request.render, contract)? else {
            continue;
        };
        let creator = creation.creator;
        let position = creation.position;
        let Some(block) = request.render.reader.block(position.block) else {
            continue;
        };

        list.push(&json!({
            "contractAddress": hex::encode_prefixed(contract),
            "contractCreator": hex::encode_prefixed(creator),
            "txHash": creation.transaction.to_string(),
            "blockNumber": block.number().to_string(),
            "timestamp": block.header.timestamp.to_string(),
            // A part above zero is an internal call: the creator is a contract.
            "contractFactory": if position.part > 0 { hex::encode_prefixed(creator) } else { String::new() },
            "creationBytecode": creation.input.map(hex::encode_prefixed).unwrap_or_default(),
        }))?;
    }
    Ok(())
}

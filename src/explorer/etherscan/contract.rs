//! The module `contract`. Sources are known of the network's own contracts.

use alloy_primitives::hex;
use serde_json::{Value, json};

use super::{AnyText, Outcome, Refusal, Request};
use crate::explorer::known::{COMPILER, EVM_VERSION, OPTIMIZER_RUNS};

/// Etherscan's words for a contract whose source is not known, which clients compare.
const NOT_VERIFIED: &str = "Contract source code not verified";

/// The most contracts of a request for creations.
const MAX_CONTRACTS: usize = 10;

pub(super) fn answer(request: &Request<'_>, action: &str) -> Option<Outcome> {
    Some(match action {
        "getabi" => abi(request),
        "getsourcecode" => source(request),
        "getcontractcreation" => creations(request),
        _ => return None,
    })
}

fn abi(request: &Request<'_>) -> Outcome {
    let known = request.render.known.contract(request.address()?);
    let known = known.ok_or_else(|| Refusal::failed(NOT_VERIFIED))?;
    // A text with JSON in it, as in Etherscan.
    let abi: Value = serde_json::from_str(known.artifact.abi()).unwrap_or_default();
    Ok(json!(abi.to_string()))
}

fn source(request: &Request<'_>) -> Outcome {
    let address = request.address()?;
    let Some(known) = request.render.known.contract(address) else {
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
    let abi: Value = serde_json::from_str(known.artifact.abi()).unwrap_or_default();
    Ok(json!([{
        // The compiler's standard input in another pair of braces, as in Etherscan.
        "SourceCode": format!("{{{}}}", known.standard_input()),
        "ABI": abi.to_string(),
        "ContractName": known.artifact.name,
        "CompilerVersion": COMPILER,
        "OptimizationUsed": "1",
        "Runs": OPTIMIZER_RUNS.to_string(),
        "ConstructorArguments": "",
        "EVMVersion": EVM_VERSION,
        "Library": "",
        "LicenseType": "",
        "Proxy": "0",
        "Implementation": "",
        "SwarmSource": "",
    }]))
}

fn creations(request: &Request<'_>) -> Outcome {
    let Some(AnyText(text)) = &request.query.contracts else {
        return Err(Refusal::failed("Query parameter 'contractaddresses' is required"));
    };
    let contracts = text.split(',').filter(|text| !text.is_empty());
    let contracts = contracts.map(|text| request.parse_address(text.trim())).collect::<Result<Vec<_>, _>>()?;
    if contracts.len() > MAX_CONTRACTS {
        return Err(Refusal::failed(format!("Error! At most {MAX_CONTRACTS} contracts")));
    }
    let mut items = Vec::new();
    for contract in contracts {
        let Some((creator, position)) = request.render.reader.account(contract)?.creation else { continue };
        let Some(block) = request.render.reader.block(position.block) else { continue };
        let Some(transaction) = block.transactions.get(position.index as usize) else { continue };
        items.push(json!({
            "contractAddress": hex::encode_prefixed(contract),
            "contractCreator": hex::encode_prefixed(creator),
            "txHash": transaction.hash().to_string(),
            "blockNumber": block.number().to_string(),
            "timestamp": block.header.timestamp.to_string(),
            "contractFactory": if position.part > 0 { hex::encode_prefixed(creator) } else { String::new() },
            "creationBytecode": if position.part > 0 {
                String::new()
            } else {
                hex::encode_prefixed(alloy_consensus::Transaction::input(&transaction.envelope))
            },
        }));
    }
    super::list(items, "No data found")
}

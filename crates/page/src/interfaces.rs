//! The contracts' interfaces as lines of Solidity, which are a fifth of the size of the compiler's
//! JSON.

use serde::Deserialize;
use serde_json::{Map, Value};
use tetrad_contracts::artifacts;

/// An entry of an ABI. Other kinds, such as constructors, are left out.
#[derive(Deserialize)]
struct AbiEntry {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    inputs: Vec<AbiParameter>,
    #[serde(default)]
    outputs: Vec<AbiParameter>,
    #[serde(default, rename = "stateMutability")]
    mutability: String,
}

#[derive(Deserialize)]
struct AbiParameter {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    components: Vec<Self>,
    #[serde(default)]
    indexed: bool,
}

impl AbiParameter {
    /// `address indexed user`, or `(uint256 a, bool b)[] list` for tuples.
    fn line(&self) -> String {
        let kind = match self.kind.strip_prefix("tuple") {
            Some(array) => format!("({}){array}", list(&self.components)),
            None => self.kind.clone(),
        };
        let indexed = if self.indexed { " indexed" } else { "" };
        let space = if self.name.is_empty() { "" } else { " " };
        format!("{kind}{indexed}{space}{}", self.name)
    }
}

fn list(parameters: &[AbiParameter]) -> String {
    parameters
        .iter()
        .map(AbiParameter::line)
        .collect::<Vec<_>>()
        .join(",")
}

impl AbiEntry {
    fn line(&self) -> Option<String> {
        if !matches!(self.kind.as_str(), "function" | "event" | "error") {
            return None;
        }

        let mut line = format!("{} {}({})", self.kind, self.name, list(&self.inputs));
        if matches!(self.mutability.as_str(), "view" | "pure" | "payable") {
            line = format!("{line} {}", self.mutability);
        }
        if !self.outputs.is_empty() {
            line = format!("{line} returns ({})", list(&self.outputs));
        }

        Some(line)
    }
}

/// The interfaces of all contracts, as a JSON object of lists by contract.
pub(super) fn json() -> String {
    let contracts = artifacts::ALL.into_iter().map(|artifact| {
        // The artifacts are part of the program: a test reads them all.
        let entries: Vec<AbiEntry> = serde_json::from_str(artifact.abi()).unwrap_or_default();
        (
            artifact.name.to_owned(),
            entries
                .iter()
                .filter_map(AbiEntry::line)
                .map(Value::String)
                .collect(),
        )
    });
    Value::Object(contracts.collect::<Map<_, _>>()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_what_the_compiler_says() {
        let json: Value = serde_json::from_str(&json()).expect("JSON");
        let lines = [
            ("Vault", "function SWAP_FEE_BPS() view returns (uint256)"),
            (
                "Vault",
                "event Swap(address indexed user,address indexed tokenIn,address indexed tokenOut,uint256 amountIn,uint256 amountOut)",
            ),
            (
                "Vault",
                "error PriceImpactTooHigh(uint256 impactBps,uint256 maxImpactBps)",
            ),
            (
                "Multicall3",
                "function aggregate((address target,bytes callData)[] calls) payable returns (uint256 blockNumber,bytes[] returnData)",
            ),
        ];
        for (contract, line) in lines {
            let found = json[contract].as_array().expect("a list");
            assert!(
                found.iter().any(|one| one == line),
                "{contract}: {line} is not in {found:#?}"
            );
        }
    }
}

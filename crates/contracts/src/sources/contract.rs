//! Contracts whose sources are known.

use std::{collections::BTreeMap, io, sync::Arc};

use alloy_json_abi::JsonAbi;
use alloy_primitives::{B256, Bytes};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tetrad_stdx::nesting::MAX_NESTING;

use super::{
    abi::nests_too_deeply,
    code::{CodeMatch, CompiledCode},
    output::{CompilerContract, CompilerOutput},
    signatures::Signatures,
    standard_json::StandardInput,
};

/// A compiled contract with its source.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompiledContract {
    /// The path of its file.
    pub file: String,
    /// Its name there.
    pub name: String,
    /// `Solidity` or `Yul`.
    pub language: String,
    /// The compiler's version, without a leading `v`.
    pub compiler_version: String,
    /// The settings of the compiler.
    pub settings: Value,
    /// Contents by path.
    pub sources: BTreeMap<String, String>,
    /// The numbers of the files in source maps.
    pub source_ids: BTreeMap<u32, String>,
    /// The ABI as JSON.
    pub abi: Value,
    /// The compiler's metadata, a document in JSON.
    pub metadata: Option<String>,
    /// The documentation for developers, as JSON.
    #[serde(default)]
    pub devdoc: Value,
    /// The documentation for users, as JSON.
    #[serde(default)]
    pub userdoc: Value,
    /// The layout of the storage, as JSON.
    #[serde(default)]
    pub storage_layout: Value,
    /// The creation code.
    pub creation_code: Option<CompiledCode>,
    /// The runtime code.
    pub runtime_code: Option<CompiledCode>,
    /// The source map of the runtime code.
    #[serde(default)]
    pub source_map: String,
    /// The source map of the creation code.
    #[serde(default)]
    pub creation_source_map: String,
}

impl CompiledContract {
    /// Takes a contract from the compiler's output; `None` if it has no code.
    pub(super) fn new(
        input: &StandardInput,
        output: &CompilerOutput,
        (file, name, contract): (&str, &str, &CompilerContract),
        compiler_version: &str,
    ) -> Result<Option<Self>, String> {
        // An interface or an abstract contract.
        let Some(runtime_code) = contract.evm.deployed_bytecode.code()? else {
            return Ok(None);
        };

        if !contract.abi.is_null() {
            read_abi(contract.abi.clone())?;
        }

        Ok(Some(Self {
            file: file.to_owned(),
            name: name.to_owned(),
            language: input.language.clone(),
            compiler_version: compiler_version.to_owned(),
            settings: Value::Object(input.settings.clone()),
            sources: input.sources.clone(),
            source_ids: output
                .sources
                .iter()
                .map(|(path, source)| (source.id, path.clone()))
                .collect(),
            abi: contract.abi.clone(),
            metadata: contract.metadata.clone(),
            devdoc: contract.devdoc.clone(),
            userdoc: contract.userdoc.clone(),
            storage_layout: contract.storage_layout.clone(),
            creation_code: contract.evm.bytecode.code()?,
            runtime_code: Some(runtime_code),
            source_map: contract.evm.deployed_bytecode.source_map.clone(),
            creation_source_map: contract.evm.bytecode.source_map.clone(),
        }))
    }

    /// Returns the compiler's standard input, without an output selection.
    pub fn standard_input(&self) -> Value {
        let settings = self.settings.as_object().cloned().unwrap_or_default();
        StandardInput {
            language: self.language.clone(),
            sources: self.sources.clone(),
            settings,
        }
        .to_json()
    }

    /// Returns the content of the contract's own file.
    pub fn own_source(&self) -> Option<&str> {
        self.sources.get(&self.file).map(String::as_str)
    }

    /// Returns the optimiser's runs if it is on.
    pub fn optimizer_runs(&self) -> Option<u64> {
        let optimizer = &self.settings["optimizer"];
        let is_on = optimizer["enabled"].as_bool().unwrap_or_default();
        is_on.then(|| optimizer["runs"].as_u64().unwrap_or(200))
    }

    /// Returns the rules for which the contract is compiled, if they are given.
    pub fn evm_version(&self) -> Option<&str> {
        self.settings["evmVersion"].as_str()
    }
}

/// The compiler's version that a metadata document names.
pub(super) fn version_in(metadata: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Metadata {
        compiler: Compiler,
    }
    #[derive(Deserialize)]
    struct Compiler {
        version: String,
    }
    serde_json::from_str::<Metadata>(metadata)
        .ok()
        .map(|metadata| metadata.compiler.version)
}

/// The origin of the knowledge of a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is one of the network's own.
    Network,
    /// Its source was verified.
    Verified,
    /// It has the same code as a contract whose source was verified.
    SameCode,
    /// Its code is that of an artifact in the directory of `--artifacts`.
    Artifact,
}

/// How a contract matches its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matches {
    /// The runtime code.
    pub runtime: Option<CodeMatch>,
    /// The creation code, if the creating transaction is known.
    pub creation: Option<CodeMatch>,
}

impl Matches {
    /// Returns the better of both.
    pub fn best(&self) -> Option<CodeMatch> {
        self.runtime.max(self.creation)
    }
}

/// A contract of which name and ABI are at hand, and the rest on request.
pub struct KnownContract {
    /// The name that lists show.
    pub label: String,
    /// The name in the source.
    pub name: String,
    /// The functions, events and errors.
    pub signatures: Signatures,
    /// The origin of the knowledge.
    pub origin: Origin,
    /// How the code matches.
    pub matches: Matches,
    /// The arguments of the constructor, if they are known.
    pub constructor_arguments: Option<Bytes>,
    /// The time of the verification, in seconds since the Unix epoch.
    pub verified_at: Option<u64>,
    /// The licence that the user named.
    pub license: Option<String>,
    /// The hash of the code that was matched.
    pub(super) code_hash: B256,
    pub(super) source: Arc<dyn ContractSource>,
}

/// The place from which everything about a contract can be read.
pub(super) trait ContractSource: Send + Sync {
    /// Reads it.
    fn read(&self) -> io::Result<CompiledContract>;
}

impl KnownContract {
    /// Reads the source, the settings and the code.
    pub fn compiled(&self) -> io::Result<CompiledContract> {
        self.source.read()
    }

    /// Whether this is its code on the chain, whatever its constructor filled in. The creation code
    /// ends with the code that it deploys, after an INVALID, and has words of zeros in the places
    /// that are filled in.
    pub(super) fn has_code(&self, deployed: &[u8]) -> bool {
        let compiled = self.compiled().ok();
        let Some(code) = compiled.and_then(|compiled| compiled.creation_code) else {
            return false;
        };
        let creation = code.bytes();
        let Some(start) = creation.len().checked_sub(deployed.len()) else {
            return false;
        };

        const INVALID: u8 = 0xfe;
        let (before, own) = creation.split_at(start);
        let mut pairs = own.iter().zip(deployed).enumerate();
        before.last() == Some(&INVALID)
            && pairs.all(|(at, (byte, found))| byte == found || is_filled_in(own, at))
    }
}

/// Whether a place of code is within a word of zeros.
fn is_filled_in(code: &[u8], at: usize) -> bool {
    let is_zero = |byte: &&u8| **byte == 0;
    let before = code[..at].iter().rev().take_while(is_zero).count();
    let from = code[at..].iter().take_while(is_zero).count();
    from > 0 && before + from >= 32
}

/// Reads an ABI. One that is not understood or [nests too deeply](read_abi) is empty.
pub(super) fn parse_abi(abi: &Value) -> JsonAbi {
    read_abi(abi.clone()).unwrap_or_default()
}

/// Reads an ABI. Its types are decoded by functions that call themselves, so their depth is
/// limited.
pub fn read_abi(abi: Value) -> Result<JsonAbi, String> {
    let abi: JsonAbi = serde_json::from_value(abi)
        .map_err(|error| format!("the ABI is not understood: {error}"))?;

    let functions = abi
        .functions()
        .flat_map(|function| function.inputs.iter().chain(&function.outputs));
    let errors = abi.errors().flat_map(|error| &error.inputs);
    let constructor = abi
        .constructor
        .iter()
        .flat_map(|constructor| &constructor.inputs);
    let mut events = abi.events().flat_map(|event| &event.inputs);

    let mut others = functions.chain(errors).chain(constructor);
    if others.any(|input| nests_too_deeply(&input.ty, &input.components))
        || events.any(|input| nests_too_deeply(&input.ty, &input.components))
    {
        return Err(format!(
            "the ABI has a type that is nested more than {MAX_NESTING} deep"
        ));
    }
    Ok(abi)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn abi(kind: &str, components: &Value) -> Value {
        let input = json!({"name": "a", "type": kind, "components": components});
        json!([
            {"type": "function", "name": "f", "inputs": [], "outputs": [input], "stateMutability": "view"},
            {"type": "constructor", "inputs": [], "stateMutability": "payable"},
        ])
    }

    #[test]
    fn the_depth_of_types_in_an_abi_is_limited() {
        let array = |depth: usize| format!("uint256{}", "[]".repeat(depth));
        assert!(read_abi(abi(&array(MAX_NESTING), &json!([]))).is_ok());
        for depth in [MAX_NESTING + 1, 1_000_000] {
            let deep = abi(&array(depth), &json!([]));
            assert_eq!(
                read_abi(deep.clone()).unwrap_err(),
                "the ABI has a type that is nested more than 64 deep"
            );
            assert!(parse_abi(&deep).is_empty());
        }

        let mut structure = json!({"name": "b", "type": "uint256"});
        for _ in 0..30 {
            structure = json!({"name": "b", "type": "tuple[][]", "components": [structure]});
        }
        assert!(
            read_abi(abi("tuple", &json!([structure])))
                .unwrap_err()
                .contains("nested more than 64 deep")
        );
        assert!(
            read_abi(json!({"a": 1}))
                .unwrap_err()
                .starts_with("the ABI is not understood")
        );
    }
}

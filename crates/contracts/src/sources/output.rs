//! The compiler's output in its standard JSON format, and the contracts in it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use tetrad_stdx::text::excerpt;

use super::{
    code::{CompiledCode, Reference},
    standard_json::ContractName,
};

/// The most characters of the compiler's messages that an error repeats.
const MAX_MESSAGE: usize = 2_000;

/// The output.
#[derive(Debug, Default, Deserialize)]
pub(super) struct CompilerOutput {
    #[serde(default)]
    errors: Vec<Message>,
    #[serde(default)]
    pub(super) contracts: BTreeMap<String, BTreeMap<String, CompilerContract>>,
    #[serde(default)]
    pub(super) sources: BTreeMap<String, SourceId>,
}

/// A message.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    severity: String,
    message: Option<String>,
    formatted_message: Option<String>,
}

/// The number of a file in source maps.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct SourceId {
    pub(super) id: u32,
}

/// A contract.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompilerContract {
    #[serde(default)]
    pub(super) abi: Value,
    pub(super) metadata: Option<String>,
    #[serde(default)]
    pub(super) devdoc: Value,
    #[serde(default)]
    pub(super) userdoc: Value,
    #[serde(default)]
    pub(super) storage_layout: Value,
    #[serde(default)]
    pub(super) evm: CompilerEvm,
}

/// The code of a contract.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompilerEvm {
    #[serde(default)]
    pub(super) bytecode: CompilerCode,
    #[serde(default)]
    pub(super) deployed_bytecode: CompilerCode,
}

/// Positions in code by file, and by library there.
pub(super) type LinkReferences = BTreeMap<String, BTreeMap<String, Vec<Reference>>>;

/// Creation or runtime code.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompilerCode {
    #[serde(default)]
    pub(super) object: String,
    #[serde(default)]
    link_references: LinkReferences,
    #[serde(default)]
    immutable_references: BTreeMap<String, Vec<Reference>>,
    #[serde(default)]
    pub(super) source_map: String,
}

impl CompilerCode {
    /// Returns the code; `None` if there is none, as of an interface.
    pub(super) fn code(&self) -> Result<Option<CompiledCode>, String> {
        code(
            &self.object,
            &self.link_references,
            &self.immutable_references,
        )
    }
}

/// Returns code; `None` if there is none, as of an interface.
pub(super) fn code(
    object: &str,
    links: &LinkReferences,
    immutables: &BTreeMap<String, Vec<Reference>>,
) -> Result<Option<CompiledCode>, String> {
    if object.trim_start_matches("0x").is_empty() {
        return Ok(None);
    }
    let links: Vec<_> = links
        .values()
        .flat_map(BTreeMap::values)
        .flatten()
        .copied()
        .collect();

    let immutables: Vec<_> = immutables.values().flatten().copied().collect();
    CompiledCode::parse(object, &links, &immutables).map(Some)
}

impl CompilerOutput {
    /// Reads the output. An error repeats what the compiler says about the sources.
    pub(super) fn parse(json: &[u8]) -> Result<Self, String> {
        let output: Self = serde_json::from_slice(json).map_err(|error| {
            let begin: String = String::from_utf8_lossy(&json[..json.len().min(200)]).into_owned();
            format!("the compiler's output is not understood: {error}; it begins with {begin:?}")
        })?;

        let faults = output
            .errors
            .iter()
            .filter(|message| message.severity == "error");
        let faults: Vec<_> = faults
            .filter_map(|fault| {
                fault
                    .formatted_message
                    .as_deref()
                    .or(fault.message.as_deref())
            })
            .map(str::trim)
            .collect();

        if faults.is_empty() {
            Ok(output)
        } else {
            Err(excerpt(&faults.join("\n"), MAX_MESSAGE).to_owned())
        }
    }

    /// Returns the contracts that a name may mean, with their files.
    pub(super) fn named<'a>(
        &'a self,
        wanted: &'a ContractName,
    ) -> impl Iterator<Item = (&'a str, &'a str, &'a CompilerContract)> {
        let all = self.contracts.iter().flat_map(|(file, contracts)| {
            contracts
                .iter()
                .map(move |(name, contract)| (file.as_str(), name.as_str(), contract))
        });
        all.filter(move |(file, name, _)| wanted.is(file, name))
    }
}

//! The network's own contracts: their names, ABIs and sources.

use std::collections::{BTreeMap, HashMap};

use alloy_dyn_abi::{DynSolValue, EventExt, JsonAbiExt};
use alloy_json_abi::{Event, Function, JsonAbi};
use alloy_primitives::{Address, B256, Log, Selector, hex};
use include_dir::{Dir, include_dir};
use serde::Deserialize;
use serde_json::{Value, json};

use super::bodies::{DecodedBody, DecodedParameter};
use crate::{
    artifacts::{self, Artifact},
    network::Network,
};

/// The sources of the network's contracts.
static SOURCES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/contracts/src");

/// The compiler of the contracts, as verifiers name it.
pub(super) const COMPILER: &str = "v0.8.37";
/// The rules and the optimiser's runs for which they are compiled.
pub(super) const EVM_VERSION: &str = "osaka";
pub(super) const OPTIMIZER_RUNS: u32 = 200;

/// The most bytes of data that are decoded.
const MAX_DATA: usize = 1 << 16;

/// The known contracts.
pub(super) struct KnownContracts {
    functions: HashMap<Selector, Function>,
    /// By topic and number of indexed parameters, which distinguishes the `Transfer` of ERC-20 and ERC-721.
    events: HashMap<(B256, usize), Event>,
    contracts: BTreeMap<Address, KnownContract>,
}

/// A contract of the network.
#[derive(Clone, Debug)]
pub(super) struct KnownContract {
    /// The name that lists show.
    pub(super) name: String,
    /// The artifact.
    pub(super) artifact: Artifact,
}

impl KnownContracts {
    /// The contracts of a network; only ABIs if the chain does not have them.
    pub(super) fn new(network: Option<&Network>) -> Self {
        let mut known = Self { functions: HashMap::new(), events: HashMap::new(), contracts: BTreeMap::new() };
        artifacts::ALL.iter().for_each(|artifact| known.learn(artifact));
        if let Some(network) = network {
            let own = &network.contracts;
            known.add(own.vault, "Vault", artifacts::VAULT);
            known.add(own.oracle, "PriceOracle", artifacts::PRICE_ORACLE);
            known.add(own.lending_pool, "LendingPool", artifacts::LENDING_POOL);
            known.add(own.lending_lens, "LendingLens", artifacts::LENDING_LENS);
            for token in &network.tokens {
                known.add(token.address, &token.name, artifacts::TOKEN);
                known.add(token.receipt, &format!("p{}", token.symbol), artifacts::RECEIPT_TOKEN);
            }
        }
        known
    }

    fn add(&mut self, address: Address, name: &str, artifact: Artifact) {
        self.contracts.insert(address, KnownContract { name: name.to_owned(), artifact });
    }

    fn learn(&mut self, artifact: &Artifact) {
        #[derive(Deserialize)]
        struct CompiledContract {
            abi: JsonAbi,
        }
        let Ok(CompiledContract { abi }) = serde_json::from_str(artifact.json) else { return };
        self.functions.extend(abi.functions().map(|function| (function.selector(), function.clone())));
        self.events.extend(abi.events().map(|event| {
            let indexed = event.inputs.iter().filter(|input| input.indexed).count();
            ((event.selector(), indexed), event.clone())
        }));
    }

    /// Returns the contract at an address.
    pub(super) fn contract(&self, address: Address) -> Option<&KnownContract> {
        self.contracts.get(&address)
    }

    /// Returns all contracts.
    pub(super) fn contracts(&self) -> impl Iterator<Item = (&Address, &KnownContract)> {
        self.contracts.iter()
    }

    /// Returns the name of the function that call data selects, or the selector; `None` without call data.
    pub(super) fn method(&self, input: &[u8]) -> Option<String> {
        let selector = input.first_chunk::<4>()?;
        let function = self.functions.get(&Selector::from(*selector));
        Some(function.map_or_else(|| hex::encode_prefixed(selector), |function| function.name.clone()))
    }

    /// Decodes call data.
    pub(super) fn call(&self, input: &[u8]) -> Option<DecodedBody> {
        let (selector, data) = input.split_first_chunk::<4>()?;
        let function = self.functions.get(&Selector::from(*selector)).filter(|_| data.len() <= MAX_DATA)?;
        let values = function.abi_decode_input(data).ok()?;
        let inputs = function.inputs.iter().map(|input| (input.name.clone(), input.ty.clone(), None));
        Some(DecodedBody {
            method_call: declaration(&function.name, inputs.clone()),
            method_id: hex::encode(selector),
            parameters: parameters(inputs, values),
        })
    }

    /// Decodes a log.
    pub(super) fn event(&self, log: &Log) -> Option<DecodedBody> {
        let topics = log.data.topics();
        let event = self.events.get(&(*topics.first()?, topics.len() - 1))?;
        let decoded = event.decode_log(&log.data).ok().filter(|_| log.data.data.len() <= MAX_DATA)?;
        let (mut indexed, mut body) = (decoded.indexed.into_iter(), decoded.body.into_iter());
        let values = event.inputs.iter().map(|input| if input.indexed { indexed.next() } else { body.next() });
        let values = values.collect::<Option<Vec<_>>>()?;
        let inputs = event.inputs.iter().map(|input| (input.name.clone(), input.ty.clone(), Some(input.indexed)));
        Some(DecodedBody {
            method_call: declaration(&event.name, inputs.clone()),
            method_id: hex::encode(&topics[0][..4]),
            parameters: parameters(inputs, values),
        })
    }
}

impl KnownContract {
    /// Returns the input of the compiler in its standard format.
    pub(super) fn standard_input(&self) -> Value {
        let sources: serde_json::Map<_, _> =
            sources().into_iter().map(|(path, content)| (path, json!({ "content": content }))).collect();
        json!({
            "language": "Solidity",
            "sources": sources,
            "settings": { "viaIR": true, "optimizer": { "enabled": true, "runs": OPTIMIZER_RUNS }, "evmVersion": EVM_VERSION },
        })
    }

    /// Returns the path and the content of the file with the contract.
    pub(super) fn source(&self) -> Option<(String, &'static str)> {
        let name = format!("/{}.sol", self.artifact.name);
        sources().into_iter().find(|(path, _)| path.ends_with(&name))
    }
}

/// Returns the paths and contents of all sources.
pub(super) fn sources() -> Vec<(String, &'static str)> {
    fn walk(folder: &'static Dir<'static>, all: &mut Vec<(String, &'static str)>) {
        for file in folder.files() {
            if let Some(text) = file.contents_utf8() {
                all.push((format!("src/{}", file.path().display()), text));
            }
        }
        folder.dirs().for_each(|folder| walk(folder, all));
    }
    let mut all = Vec::new();
    walk(&SOURCES, &mut all);
    all
}

type Input = (String, String, Option<bool>);

/// Writes `name(type name, …)`.
fn declaration(name: &str, inputs: impl Iterator<Item = Input>) -> String {
    let inputs = inputs.map(|(name, kind, indexed)| match indexed {
        Some(true) => format!("{kind} indexed {name}"),
        _ => format!("{kind} {name}"),
    });
    format!("{name}({})", inputs.collect::<Vec<_>>().join(", "))
}

fn parameters(inputs: impl Iterator<Item = Input>, values: Vec<DynSolValue>) -> Vec<DecodedParameter> {
    let named = inputs.zip(values);
    named.map(|((name, kind, indexed), value)| DecodedParameter { name, kind, value: plain(&value), indexed }).collect()
}

/// Returns a value as JSON: numbers as decimal text, bytes as hex.
fn plain(value: &DynSolValue) -> Value {
    match value {
        DynSolValue::Bool(value) => json!(value.to_string()),
        DynSolValue::Int(value, _) => json!(value.to_string()),
        DynSolValue::Uint(value, _) => json!(value.to_string()),
        DynSolValue::FixedBytes(word, size) => json!(hex::encode_prefixed(&word[..*size])),
        DynSolValue::Address(address) => json!(address.to_checksum(None)),
        DynSolValue::Function(function) => json!(hex::encode_prefixed(function.as_slice())),
        DynSolValue::Bytes(bytes) => json!(hex::encode_prefixed(bytes)),
        DynSolValue::String(text) => json!(text),
        DynSolValue::Array(values) | DynSolValue::FixedArray(values) | DynSolValue::Tuple(values) => {
            Value::Array(values.iter().map(plain).collect())
        }
        #[allow(unreachable_patterns, reason = "a feature of the crate adds a variant")]
        _ => Value::Null,
    }
}

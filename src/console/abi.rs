//! Known ABIs: names of addresses, selectors and topics, and decoding of data.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use alloy_dyn_abi::DynSolValue;
use alloy_json_abi::Function;
use alloy_primitives::{Address, LogData, hex};
use serde::Deserialize;
use serde_json::Value;
use tetrad_chain::{Head, View};
use tetrad_contracts::sources::{
    KnownContracts,
    abi::{decode_log, decode_values},
    read_abi,
    text::{MAX_TEXT, clean, cut, listed, named, plain, revert_reason},
};
use tetrad_evm::FailedCall;
use tetrad_network::network::Network;

/// The deepest folder that is searched.
const MAX_DEPTH: usize = 8;

/// The error of a file or folder of ABIs that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("--abi {}: {source}", .path.display())]
pub struct AbiError {
    path: PathBuf,
    source: io::Error,
}

/// The names of accounts and the ABIs that are known, as of one moment.
pub(super) struct Decoder<'a> {
    known: &'a KnownContracts,
    names: &'a BTreeMap<Address, String>,
    view: View,
}

/// Returns the short names of the network's tokens.
pub(super) fn token_names(network: &Network) -> BTreeMap<Address, String> {
    let mut names = BTreeMap::new();
    for token in &network.tokens {
        names.insert(token.address, token.symbol.clone());
        names.insert(token.receipt, format!("p{}", token.symbol));
    }
    names
}

/// Adds the ABI in a file, or in each `.json` below a folder.
pub(super) fn learn(known: &KnownContracts, path: &Path) -> Result<(), AbiError> {
    walk(known, path, 0).map_err(|source| AbiError {
        path: path.to_owned(),
        source,
    })
}

fn walk(known: &KnownContracts, path: &Path, depth: usize) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            let path = entry?.path();
            let fits = path.is_dir()
                || path
                    .extension()
                    .is_some_and(|extension| extension == "json");
            if fits && depth < MAX_DEPTH {
                walk(known, &path, depth + 1)?;
            }
        }
        return Ok(());
    }
    add(known, &fs::read_to_string(path)?);
    Ok(())
}

/// Adds the ABI of an artifact, or a bare ABI. Other JSON is ignored.
fn add(known: &KnownContracts, json: &str) {
    #[derive(Deserialize)]
    struct CompiledContract {
        abi: Value,
    }
    let parsed = serde_json::from_str::<CompiledContract>(json).map(|contract| contract.abi);
    if let Ok(abi) = parsed.or_else(|_| serde_json::from_str(json))
        && let Ok(abi) = read_abi(abi)
    {
        known.learn(&abi);
    }
}

impl<'a> Decoder<'a> {
    pub(super) fn new(
        known: &'a KnownContracts,
        names: &'a BTreeMap<Address, String>,
        head: &Arc<Head>,
    ) -> Self {
        Self {
            known,
            names,
            view: View::newest(head.clone()),
        }
    }

    fn name(&self, address: Address) -> Option<String> {
        self.names
            .get(&address)
            .cloned()
            .or_else(|| self.known.name(&self.view, address))
    }

    /// Returns the name of an account, or its shortened address.
    pub(super) fn account(&self, address: Address) -> String {
        self.name(address).unwrap_or_else(|| short(address))
    }

    /// Formats the place in the source where a call failed, if it is known.
    pub(super) fn place(&self, call: &FailedCall) -> Option<String> {
        let address = call.code?;
        let place = self.known.location(&self.view, address, call.position)?;
        let account = self.account(address);
        let function = self.function(address, &call.input);
        Some(clean(&format!(
            "at {account}.{function} ({}:{}:{})",
            place.file, place.line, place.column
        )))
    }

    /// Returns the function of a contract that call data selects.
    fn selected(&self, to: Address, data: &[u8]) -> Option<Arc<Function>> {
        self.known
            .function(self.known.at(&self.view, to).as_deref(), data)
    }

    /// Returns the name of the function of a contract that call data selects, or the selector.
    pub(super) fn function(&self, to: Address, data: &[u8]) -> String {
        match data.first_chunk::<4>() {
            None if data.is_empty() => "receive".to_owned(),
            None => "fallback".to_owned(),
            Some(selector) => match self.selected(to, data) {
                Some(function) => function.name.clone(),
                None => hex::encode_prefixed(selector),
            },
        }
    }

    /// Formats a call with its arguments.
    pub(super) fn call(&self, to: Address, data: &[u8]) -> String {
        let decoded = data.split_first_chunk::<4>().and_then(|(_, rest)| {
            let function = self.selected(to, data)?;
            let values = decode_values(&function.inputs, rest)?;
            let names = function.inputs.iter().map(|input| input.name.as_str());
            Some(format!("{}({})", function.name, self.named(names, &values)))
        });
        decoded.unwrap_or_else(|| match data.len() {
            0..=4 => format!("{}()", self.function(to, data)),
            length => format!("{}({} bytes)", self.function(to, data), length - 4),
        })
    }

    /// Formats the output of a call.
    pub(super) fn output(&self, to: Address, data: &[u8], output: &[u8]) -> String {
        let decoded = self.selected(to, data).and_then(|function| {
            let values = decode_values(&function.outputs, output)?;
            Some(cut(values
                .iter()
                .map(|value| self.value(value))
                .collect::<Vec<_>>()
                .join(", ")))
        });
        decoded.unwrap_or_else(|| cut(hex::encode_prefixed(&output[..output.len().min(MAX_TEXT)])))
    }

    /// Formats the reason of a contract's revert.
    pub(super) fn revert(&self, address: Address, data: &[u8]) -> String {
        let error = self
            .known
            .error(self.known.at(&self.view, address).as_deref(), data);
        revert_reason(data, error.as_deref(), |value| self.value(value))
    }

    /// Formats a contract's event, with its parameters in the order of its declaration.
    pub(super) fn event(&self, address: Address, log: &LogData) -> String {
        let topics = log.topics();
        let contract = self.known.at(&self.view, address);
        let decoded = self
            .known
            .event(contract.as_deref(), topics)
            .and_then(|event| {
                let values = decode_log(&event, log)?;
                let names = event.inputs.iter().map(|input| input.name.as_str());
                Some(format!("{}({})", event.name, self.named(names, &values)))
            });
        decoded.unwrap_or_else(|| match topics.first() {
            Some(topic) => format!("{topic} ({} bytes)", log.data.len()),
            None => format!("anonymous event ({} bytes)", log.data.len()),
        })
    }

    fn named<'n>(&self, names: impl Iterator<Item = &'n str>, values: &[DynSolValue]) -> String {
        named(names, values, |value| self.value(value))
    }

    fn value(&self, value: &DynSolValue) -> String {
        match value {
            DynSolValue::Address(address) => self
                .name(*address)
                .unwrap_or_else(|| address.to_checksum(None)),
            DynSolValue::String(text) => format!("\"{}\"", clean(text)),
            DynSolValue::Array(values) | DynSolValue::FixedArray(values) => {
                format!("[{}]", listed(values, |value| self.value(value)))
            }
            DynSolValue::Tuple(values) | DynSolValue::CustomStruct { tuple: values, .. } => {
                format!("({})", listed(values, |value| self.value(value)))
            }
            value => plain(value),
        }
    }
}

/// Shortens an address, as in `0xf39F…2266`.
pub(super) fn short(address: Address) -> String {
    let text = address.to_checksum(None);
    format!("{}…{}", &text[..6], &text[38..])
}

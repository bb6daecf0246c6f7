//! Known ABIs: names of addresses, selectors and topics, and decoding of data.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

use alloy_dyn_abi::{DynSolValue, EventExt, FunctionExt, JsonAbiExt};
use alloy_json_abi::{Error, Event, Function, JsonAbi};
use alloy_primitives::{Address, B256, LogData, Selector, hex};
use alloy_sol_types::{ContractError, GenericContractError, SolInterface};
use serde::Deserialize;

use crate::{artifacts, network::Network};

/// The longest message, in characters; longer ones are cut.
pub(super) const MAX_MESSAGE: usize = 4_096;

/// The most bytes of data that are decoded.
const MAX_DATA: usize = 1 << 16;
/// The longest text, in characters; longer ones are cut.
const MAX_TEXT: usize = 600;
/// The deepest folder that is searched.
const MAX_DEPTH: usize = 8;

/// The error of a file or folder of ABIs that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("--abi {}: {source}", .path.display())]
pub struct AbiError {
    path: PathBuf,
    source: io::Error,
}

/// The known ABIs.
#[derive(Debug, Default)]
pub(super) struct Abis {
    functions: HashMap<Selector, Function>,
    errors: HashMap<Selector, Error>,
    /// By topic and number of indexed parameters, which distinguishes the `Transfer` of ERC-20 and ERC-721.
    events: HashMap<(B256, usize), Event>,
    names: BTreeMap<Address, String>,
}

impl Abis {
    /// Returns the ABIs of the network's contracts.
    pub(super) fn of_network(network: &Network) -> Self {
        let mut abis = Self::default();
        artifacts::ALL.iter().for_each(|artifact| abis.add(artifact.json));
        let contracts = &network.contracts;
        let named = [
            (contracts.vault, "Vault"),
            (contracts.oracle, "PriceOracle"),
            (contracts.lending_pool, "LendingPool"),
            (contracts.lending_lens, "LendingLens"),
        ];
        abis.names.extend(named.map(|(address, name)| (address, name.to_owned())));
        for token in &network.tokens {
            abis.names.insert(token.address, token.symbol.clone());
            abis.names.insert(token.receipt, format!("p{}", token.symbol));
        }
        abis
    }

    /// Adds the ABI in a file, or in each `.json` below a folder.
    pub(super) fn read(&mut self, path: &Path) -> Result<(), AbiError> {
        self.walk(path, 0).map_err(|source| AbiError { path: path.to_owned(), source })
    }

    fn walk(&mut self, path: &Path, depth: usize) -> io::Result<()> {
        if path.is_dir() {
            for entry in fs::read_dir(path)? {
                let path = entry?.path();
                let fits = path.is_dir() || path.extension().is_some_and(|extension| extension == "json");
                if fits && depth < MAX_DEPTH {
                    self.walk(&path, depth + 1)?;
                }
            }
            return Ok(());
        }
        self.add(&fs::read_to_string(path)?);
        Ok(())
    }

    /// Adds the ABI of an artifact, or a bare ABI. Other JSON is ignored.
    fn add(&mut self, json: &str) {
        #[derive(Deserialize)]
        struct CompiledContract {
            abi: JsonAbi,
        }
        let parsed = serde_json::from_str::<CompiledContract>(json).map(|contract| contract.abi);
        let Ok(abi) = parsed.or_else(|_| serde_json::from_str::<JsonAbi>(json)) else { return };
        self.functions.extend(abi.functions().map(|function| (function.selector(), function.clone())));
        self.errors.extend(abi.errors().map(|error| (error.selector(), error.clone())));
        self.events.extend(abi.events().map(|event| {
            let indexed = event.inputs.iter().filter(|input| input.indexed).count();
            ((event.selector(), indexed), event.clone())
        }));
    }

    /// Returns the name of an account, or its shortened address.
    pub(super) fn account(&self, address: Address) -> String {
        self.names.get(&address).cloned().unwrap_or_else(|| short(address))
    }

    /// Returns the name of the function that call data selects, or the selector.
    pub(super) fn function(&self, data: &[u8]) -> String {
        match data.first_chunk::<4>() {
            None if data.is_empty() => "receive".to_owned(),
            None => "fallback".to_owned(),
            Some(selector) => match self.functions.get(&Selector::from(*selector)) {
                Some(function) => function.name.clone(),
                None => hex::encode_prefixed(selector),
            },
        }
    }

    /// Formats a call with its arguments.
    pub(super) fn call(&self, data: &[u8]) -> String {
        let decoded = data.split_first_chunk::<4>().and_then(|(selector, rest)| {
            let function = self.functions.get(&Selector::from(*selector))?;
            let values = function.abi_decode_input(within(rest)?).ok()?;
            let names = function.inputs.iter().map(|input| input.name.as_str());
            Some(format!("{}({})", function.name, self.named(names, &values)))
        });
        decoded.unwrap_or_else(|| match data.len() {
            0..=4 => format!("{}()", self.function(data)),
            length => format!("{}({} bytes)", self.function(data), length - 4),
        })
    }

    /// Formats the output of a call.
    pub(super) fn output(&self, data: &[u8], output: &[u8]) -> String {
        let decoded = data.first_chunk::<4>().and_then(|selector| {
            let function = self.functions.get(&Selector::from(*selector))?;
            let values = function.abi_decode_output(within(output)?).ok()?;
            Some(cut(values.iter().map(|value| self.value(value)).collect::<Vec<_>>().join(", ")))
        });
        decoded.unwrap_or_else(|| cut(hex::encode_prefixed(&output[..output.len().min(MAX_TEXT)])))
    }

    /// Formats the reason of a revert.
    pub(super) fn revert(&self, data: &[u8]) -> String {
        if data.is_empty() {
            return "without a reason".to_owned();
        }
        if let Ok(standard) = GenericContractError::abi_decode(data) {
            return match standard {
                ContractError::Revert(revert) => clean(&cut(revert.reason)),
                ContractError::Panic(panic) => clean(&panic.to_string()),
                ContractError::CustomError(never) => match never {},
            };
        }
        let decoded = data.split_first_chunk::<4>().and_then(|(selector, rest)| {
            let error = self.errors.get(&Selector::from(*selector))?;
            let values = error.abi_decode_input(within(rest)?).ok()?;
            let names = error.inputs.iter().map(|input| input.name.as_str());
            Some(format!("{}({})", error.name, self.named(names, &values)))
        });
        decoded.unwrap_or_else(|| cut(hex::encode_prefixed(&data[..data.len().min(MAX_TEXT)])))
    }

    /// Formats an event, with its parameters in the order of its declaration.
    pub(super) fn event(&self, log: &LogData) -> String {
        let topics = log.topics();
        let decoded = topics.first().and_then(|topic| {
            let event = self.events.get(&(*topic, topics.len() - 1))?;
            within(&log.data)?;
            let decoded = event.decode_log(log).ok()?;
            let (mut indexed, mut body) = (decoded.indexed.into_iter(), decoded.body.into_iter());
            let values = event.inputs.iter().map(|input| if input.indexed { indexed.next() } else { body.next() });
            let values: Option<Vec<_>> = values.collect();
            let names = event.inputs.iter().map(|input| input.name.as_str());
            Some(format!("{}({})", event.name, self.named(names, &values?)))
        });
        decoded.unwrap_or_else(|| match topics.first() {
            Some(topic) => format!("{topic} ({} bytes)", log.data.len()),
            None => format!("anonymous event ({} bytes)", log.data.len()),
        })
    }

    fn named<'a>(&self, names: impl Iterator<Item = &'a str>, values: &[DynSolValue]) -> String {
        let parts = names.zip(values).map(|(name, value)| match name {
            "" => self.value(value),
            name => format!("{name}: {}", self.value(value)),
        });
        cut(parts.collect::<Vec<_>>().join(", "))
    }

    fn value(&self, value: &DynSolValue) -> String {
        match value {
            DynSolValue::Address(address) => {
                self.names.get(address).cloned().unwrap_or_else(|| address.to_checksum(None))
            }
            DynSolValue::String(text) => format!("\"{}\"", clean(text)),
            DynSolValue::Array(values) | DynSolValue::FixedArray(values) => {
                format!("[{}]", values.iter().take(64).map(|value| self.value(value)).collect::<Vec<_>>().join(", "))
            }
            DynSolValue::Tuple(values) => {
                format!("({})", values.iter().take(64).map(|value| self.value(value)).collect::<Vec<_>>().join(", "))
            }
            value => plain(value),
        }
    }
}

/// Returns the data if it is short enough to be decoded.
fn within(data: &[u8]) -> Option<&[u8]> {
    Some(data).filter(|data| data.len() <= MAX_DATA)
}

/// Replaces control characters, so that a contract cannot control the terminal, and cuts long text off.
pub(super) fn clean(text: &str) -> String {
    let letters = text.chars().take(MAX_MESSAGE);
    letters.map(|letter| if letter.is_control() && letter != '\n' { '\u{fffd}' } else { letter }).collect()
}

/// Formats a value without names and quotes.
pub(super) fn plain(value: &DynSolValue) -> String {
    match value {
        DynSolValue::Bool(value) => value.to_string(),
        DynSolValue::Int(value, _) => value.to_string(),
        DynSolValue::Uint(value, _) => value.to_string(),
        DynSolValue::FixedBytes(word, size) => hex::encode_prefixed(&word[..(*size).min(32)]),
        DynSolValue::Address(address) => address.to_checksum(None),
        DynSolValue::Bytes(bytes) => hex::encode_prefixed(&bytes[..bytes.len().min(MAX_TEXT)]),
        DynSolValue::String(text) => text.clone(),
        other => {
            let mut text = String::new();
            // Writing to a string cannot fail.
            let _ = write!(text, "{other:?}");
            cut(text)
        }
    }
}

/// Cuts a text that is too long.
fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Shortens an address, as in `0xf39F…2266`.
pub(super) fn short(address: Address) -> String {
    let text = address.to_checksum(None);
    format!("{}…{}", &text[..6], &text[38..])
}

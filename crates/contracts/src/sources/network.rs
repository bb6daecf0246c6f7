//! The network's own contracts.

use std::{collections::BTreeMap, io, sync::Arc};

use alloy_primitives::{Address, B256, hex};
use include_dir::{Dir, include_dir};
use serde_json::{Value, json};
use tetrad_network::network::Network;

use super::{
    code::{CodeMatch, CompiledCode},
    contract::{CompiledContract, ContractSource, KnownContract, Matches, Origin, parse_abi},
    signatures::Signatures,
};
use crate::artifacts::{self, Artifact};

/// The sources of the network's contracts.
static SOURCES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../contracts/src");

/// The compiler of the contracts.
const COMPILER: &str = "0.8.37";

/// The signatures of all of them.
pub(super) fn signatures() -> Signatures {
    let mut signatures = Signatures::default();
    artifacts::ALL
        .iter()
        .for_each(|artifact| signatures.learn(&parse_abi(&abi(artifact))));
    signatures
}

/// The contracts by their addresses.
pub(super) fn contracts(network: &Network) -> BTreeMap<Address, Arc<KnownContract>> {
    let own = &network.contracts;
    let single = [
        (own.vault, "Vault".to_owned(), artifacts::VAULT),
        (
            own.oracle,
            "PriceOracle".to_owned(),
            artifacts::PRICE_ORACLE,
        ),
        (
            own.lending_pool,
            "LendingPool".to_owned(),
            artifacts::LENDING_POOL,
        ),
        (
            own.lending_lens,
            "LendingLens".to_owned(),
            artifacts::LENDING_LENS,
        ),
    ];
    let tokens = network.tokens.iter().flat_map(|token| {
        [
            (token.address, token.name.clone(), artifacts::TOKEN),
            (
                token.receipt,
                format!("p{}", token.symbol),
                artifacts::RECEIPT_TOKEN,
            ),
        ]
    });

    let all = single.into_iter().chain(tokens);
    all.map(|(address, label, artifact)| (address, Arc::new(contract(label, artifact))))
        .collect()
}

fn abi(artifact: &Artifact) -> Value {
    serde_json::from_str(artifact.abi()).unwrap_or_default()
}

fn storage_layout(artifact: &Artifact) -> Value {
    let parsed = serde_json::from_str::<Value>(artifact.json);
    parsed.map_or(Value::Null, |mut parsed| parsed["storageLayout"].take())
}

fn contract(label: String, artifact: Artifact) -> KnownContract {
    KnownContract {
        label,
        name: artifact.name.to_owned(),
        signatures: Signatures::from(&parse_abi(&abi(&artifact))),
        origin: Origin::Network,
        matches: Matches {
            runtime: Some(CodeMatch::Exact),
            creation: Some(CodeMatch::Exact),
        },
        constructor_arguments: None,
        verified_at: None,
        license: None,
        code_hash: B256::ZERO,
        source: Arc::new(artifact),
    }
}

impl ContractSource for Artifact {
    fn read(&self) -> io::Result<CompiledContract> {
        let sources = sources();
        let file = format!("/{}.sol", self.name);
        let file = sources
            .keys()
            .find(|path| path.ends_with(&file))
            .cloned()
            .unwrap_or_default();

        let source_map = self.source_map();
        let creation_code = CompiledCode::parse(&hex::encode(self.creation_code()), &[], &[]).ok();

        Ok(CompiledContract {
            file,
            name: self.name.to_owned(),
            language: "Solidity".to_owned(),
            compiler_version: COMPILER.to_owned(),
            settings: json!({
                "viaIR": true,
                "optimizer": { "enabled": true, "runs": 200 },
                "evmVersion": "osaka",
                "metadata": { "bytecodeHash": "none", "appendCBOR": false },
            }),
            sources,
            source_ids: source_map
                .source_ids
                .into_iter()
                .map(|(path, id)| (id, path))
                .collect(),
            abi: abi(self),
            metadata: None,
            devdoc: Value::Null,
            userdoc: Value::Null,
            storage_layout: storage_layout(self),
            creation_code,
            runtime_code: None,
            source_map: source_map.runtime,
            creation_source_map: String::new(),
        })
    }
}

/// The contents of all sources by path.
fn sources() -> BTreeMap<String, String> {
    fn walk(folder: &'static Dir<'static>, all: &mut BTreeMap<String, String>) {
        for file in folder.files() {
            if let Some(text) = file.contents_utf8() {
                all.insert(format!("src/{}", file.path().display()), text.to_owned());
            }
        }
        folder.dirs().for_each(|folder| walk(folder, all));
    }
    let mut all = BTreeMap::new();
    walk(&SOURCES, &mut all);
    all
}

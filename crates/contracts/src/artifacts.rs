//! The compiled contracts, from `contracts/artifacts`.

use std::collections::BTreeMap;

use alloy_primitives::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A compiled contract.
#[derive(Clone, Copy, Debug)]
pub struct Artifact {
    /// The name of the contract in its source.
    pub name: &'static str,
    /// The artifact as `contracts/build.mjs` wrote it.
    pub json: &'static str,
    /// The source map of its runtime code, and the numbers of the files in it.
    source_map: &'static str,
}

/// The source map of a contract.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ArtifactSourceMap {
    /// The numbers of the files by path.
    pub(crate) source_ids: BTreeMap<String, u32>,
    pub(crate) runtime: String,
}

macro_rules! artifact {
    ($name:literal) => {
        Artifact {
            name: $name,
            json: include_str!(concat!("../../../contracts/artifacts/", $name, ".json")),
            source_map: include_str!(concat!(
                "../../../contracts/artifacts/source-maps/",
                $name,
                ".json"
            )),
        }
    };
}

/// An ERC-20 token of the network.
pub const TOKEN: Artifact = artifact!("Token");
/// The oracle, from which the exchange and the lending pool read prices.
pub const PRICE_ORACLE: Artifact = artifact!("PriceOracle");
/// The exchange, which swaps tokens at the oracle's prices.
pub const VAULT: Artifact = artifact!("Vault");
/// The lending pool.
pub const LENDING_POOL: Artifact = artifact!("LendingPool");
/// Reads what a user interface shows of the lending pool.
pub const LENDING_LENS: Artifact = artifact!("LendingLens");
/// The token that depositors in a lending pool receive.
pub const RECEIPT_TOKEN: Artifact = artifact!("PToken");
/// Several calls in one, at the address that client libraries expect.
pub const MULTICALL3: Artifact = artifact!("Multicall3");

/// Every contract of the network.
pub const ALL: [Artifact; 7] = [
    TOKEN,
    PRICE_ORACLE,
    VAULT,
    LENDING_POOL,
    LENDING_LENS,
    RECEIPT_TOKEN,
    MULTICALL3,
];

impl Artifact {
    /// Returns the creation code, without the constructor's arguments.
    pub fn creation_code(&self) -> Bytes {
        #[derive(Deserialize)]
        struct Bytecode {
            bytecode: Bytes,
        }
        // The files are embedded, and a test parses all of them.
        serde_json::from_str::<Bytecode>(self.json)
            .map(|artifact| artifact.bytecode)
            .unwrap_or_default()
    }

    /// Returns the source map of the runtime code.
    pub(crate) fn source_map(&self) -> ArtifactSourceMap {
        serde_json::from_str(self.source_map).unwrap_or_default()
    }

    /// Returns the ABI as the compiler wrote it.
    pub fn abi(&self) -> &'static str {
        #[derive(Deserialize)]
        struct Abi {
            #[serde(borrow)]
            abi: &'static RawValue,
        }
        serde_json::from_str::<Abi>(self.json)
            .map(|artifact| artifact.abi.get())
            .unwrap_or_default()
    }
}

//! The compiled contracts, as `contracts/` has them.

use alloy_primitives::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Creation code of a contract.
macro_rules! artifact {
    ($(#[$doc:meta])* $name:ident, $file:literal) => {
        $(#[$doc])*
        pub(crate) fn $name() -> Bytes {
            creation_code(include_str!(concat!("../contracts/artifacts/", $file, ".json")))
        }
    };
}

artifact!(
    /// ERC-20 token: constructor `(string name, string symbol, uint8 decimals, address owner)`.
    token,
    "Token"
);
artifact!(
    /// Price oracle: constructor `(address owner, address updater)`.
    price_oracle,
    "PriceOracle"
);
artifact!(
    /// The exchange's vault: constructor `(address owner, address oracle)`.
    vault,
    "Vault"
);
artifact!(
    /// Lending pool: constructor `(address owner, address oracle)`.
    lending_pool,
    "LendingPool"
);
artifact!(
    /// What reads the lending pool: constructor `(address pool)`.
    lending_lens,
    "LendingLens"
);
artifact!(
    /// Receipt token: constructor `(address pool, address asset)`.
    receipt_token,
    "PToken"
);
artifact!(
    /// Multicall3: no constructor arguments.
    multicall3,
    "Multicall3"
);

/// The artifacts themselves, with the contracts' ABIs.
pub(crate) fn all() -> [&'static str; 7] {
    macro_rules! artifact_text {
        ($file:literal) => {
            include_str!(concat!("../contracts/artifacts/", $file, ".json"))
        };
    }
    [
        artifact_text!("Token"),
        artifact_text!("PriceOracle"),
        artifact_text!("Vault"),
        artifact_text!("LendingPool"),
        artifact_text!("LendingLens"),
        artifact_text!("PToken"),
        artifact_text!("Multicall3"),
    ]
}

fn creation_code(json: &str) -> Bytes {
    #[derive(Deserialize)]
    struct Artifact {
        bytecode: Bytes,
    }
    // The files are part of the program: a test reads them all.
    serde_json::from_str::<Artifact>(json).map(|artifact| artifact.bytecode).unwrap_or_default()
}

/// The interfaces of all contracts by name, as the compiler wrote them.
pub(crate) fn interfaces() -> Vec<(&'static str, Box<RawValue>)> {
    #[derive(Deserialize)]
    struct Artifact {
        abi: Box<RawValue>,
    }
    let artifacts = [
        ("Token", include_str!("../contracts/artifacts/Token.json")),
        ("PriceOracle", include_str!("../contracts/artifacts/PriceOracle.json")),
        ("Vault", include_str!("../contracts/artifacts/Vault.json")),
        ("LendingPool", include_str!("../contracts/artifacts/LendingPool.json")),
        ("LendingLens", include_str!("../contracts/artifacts/LendingLens.json")),
        ("PToken", include_str!("../contracts/artifacts/PToken.json")),
        ("Multicall3", include_str!("../contracts/artifacts/Multicall3.json")),
    ];
    let abi = |json| serde_json::from_str::<Artifact>(json).ok().map(|artifact| artifact.abi);
    artifacts.into_iter().filter_map(|(name, json)| Some((name, abi(json)?))).collect()
}

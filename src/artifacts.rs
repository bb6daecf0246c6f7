//! The compiled contracts, as `contracts/` has them.

use alloy_primitives::Bytes;
use serde::Deserialize;

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

//! The rules of execution and of headers: forks by name, their order, and what each sets.

use std::str::FromStr;

use alloy_eips::eip7840::BlobParams;
use revm::primitives::hardfork::SpecId;

/// A mainnet fork that changed the rules of execution or the shape of a block, in historical order.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[expect(
    missing_docs,
    reason = "the names are the documentation: https://ethereum.org/en/history"
)]
pub enum Fork {
    Frontier,
    Homestead,
    Tangerine,
    SpuriousDragon,
    Byzantium,
    Constantinople,
    Petersburg,
    Istanbul,
    MuirGlacier,
    Berlin,
    London,
    ArrowGlacier,
    GrayGlacier,
    Paris,
    Shanghai,
    Cancun,
    Prague,
    Osaka,
    Bpo1,
    Bpo2,
    Bpo3,
    Bpo4,
    Bpo5,
}

/// Every fork with the names that `--hardfork` takes; the first is canonical.
pub(super) const FORKS: [(Fork, &[&str]); 23] = [
    (Fork::Frontier, &["frontier"]),
    (Fork::Homestead, &["homestead"]),
    (
        Fork::Tangerine,
        &["tangerine", "eip150", "tangerinewhistle"],
    ),
    (
        Fork::SpuriousDragon,
        &["spuriousdragon", "eip158", "spurious"],
    ),
    (Fork::Byzantium, &["byzantium"]),
    (Fork::Constantinople, &["constantinople"]),
    (Fork::Petersburg, &["petersburg"]),
    (Fork::Istanbul, &["istanbul"]),
    (Fork::MuirGlacier, &["muirglacier"]),
    (Fork::Berlin, &["berlin"]),
    (Fork::London, &["london"]),
    (Fork::ArrowGlacier, &["arrowglacier"]),
    (Fork::GrayGlacier, &["grayglacier"]),
    (Fork::Paris, &["paris", "merge"]),
    (Fork::Shanghai, &["shanghai"]),
    (Fork::Cancun, &["cancun"]),
    (Fork::Prague, &["prague"]),
    (Fork::Osaka, &["osaka"]),
    (Fork::Bpo1, &["bpo1"]),
    (Fork::Bpo2, &["bpo2", "latest"]),
    (Fork::Bpo3, &["bpo3"]),
    (Fork::Bpo4, &["bpo4"]),
    (Fork::Bpo5, &["bpo5"]),
];

/// `--hardfork` names an unknown fork.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown hardfork `{0}`; one of frontier, homestead, … cancun, prague, osaka, bpo1, bpo2, latest is expected"
)]
pub struct UnknownFork(String);

impl Fork {
    /// The newest fork that is live on mainnet.
    pub const LATEST: Self = Self::Bpo2;

    /// The canonical name.
    pub fn name(self) -> &'static str {
        FORKS[self as usize].1[0]
    }

    /// revm's name for the rules of execution. revm has no Constantinople, which differs from
    /// Petersburg in the price of `SSTORE` alone and gets an instruction of its own for that.
    pub fn spec(self) -> SpecId {
        match self {
            Self::Frontier => SpecId::FRONTIER,
            Self::Homestead => SpecId::HOMESTEAD,
            Self::Tangerine => SpecId::TANGERINE,
            Self::SpuriousDragon => SpecId::SPURIOUS_DRAGON,
            Self::Byzantium => SpecId::BYZANTIUM,
            Self::Constantinople | Self::Petersburg => SpecId::PETERSBURG,
            Self::Istanbul | Self::MuirGlacier => SpecId::ISTANBUL,
            Self::Berlin => SpecId::BERLIN,
            Self::London | Self::ArrowGlacier | Self::GrayGlacier => SpecId::LONDON,
            Self::Paris => SpecId::MERGE,
            Self::Shanghai => SpecId::SHANGHAI,
            Self::Cancun => SpecId::CANCUN,
            Self::Prague => SpecId::PRAGUE,
            Self::Osaka | Self::Bpo1 | Self::Bpo2 | Self::Bpo3 | Self::Bpo4 | Self::Bpo5 => {
                SpecId::OSAKA
            }
        }
    }

    /// Mainnet's blob limits and prices since this fork, if it set any (EIP-7840, EIP-7892).
    pub(super) fn blob_params(self) -> Option<BlobParams> {
        match self {
            Self::Cancun => Some(BlobParams::cancun()),
            Self::Prague => Some(BlobParams::prague()),
            Self::Osaka => Some(BlobParams::osaka()),
            Self::Bpo1 => Some(BlobParams::bpo1()),
            Self::Bpo2 => Some(BlobParams::bpo2()),
            _ => None,
        }
    }
}

impl FromStr for Fork {
    type Err = UnknownFork;

    fn from_str(name: &str) -> Result<Self, UnknownFork> {
        let plain = name.to_ascii_lowercase().replace(['-', '_', ' '], "");
        // Later forks exist in genesis files only, which state their own limits.
        let mut live = FORKS.iter().filter(|(fork, _)| *fork <= Self::LATEST);
        let found = live.find(|(_, names)| names.contains(&plain.as_str()));
        found
            .map(|(fork, _)| *fork)
            .ok_or_else(|| UnknownFork(name.to_owned()))
    }
}

/// The rules of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The newest active fork.
    pub fork: Fork,
    /// Blob limits and prices, since Cancun.
    pub blobs: Option<BlobParams>,
}

impl Rules {
    /// Whether `fork` is active.
    pub fn has(&self, fork: Fork) -> bool {
        self.fork >= fork
    }

    /// revm's name for the rules of execution.
    pub fn spec(&self) -> SpecId {
        self.fork.spec()
    }
}

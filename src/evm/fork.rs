//! Which rules hold at which block: fork names, their order, when each begins, and what it sets.

use std::str::FromStr;

use alloy_eips::eip7840::BlobParams;
use alloy_genesis::ChainConfig;
use alloy_primitives::U256;
use revm::primitives::hardfork::SpecId;

/// A mainnet fork that changed the rules of execution or the shape of a block, in historical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are the documentation: https://ethereum.org/en/history")]
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
}

/// Every fork with the names that `--hardfork` takes; the first is canonical.
const FORKS: [(Fork, &[&str]); 20] = [
    (Fork::Frontier, &["frontier"]),
    (Fork::Homestead, &["homestead"]),
    (Fork::Tangerine, &["tangerine", "eip150", "tangerinewhistle"]),
    (Fork::SpuriousDragon, &["spuriousdragon", "eip158", "spurious"]),
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
];

/// `--hardfork` named no fork.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown hardfork `{0}`; one of frontier, homestead, … cancun, prague, osaka, bpo1, bpo2, latest is expected")]
pub struct UnknownFork(String);

impl Fork {
    /// The newest fork that is live on mainnet.
    pub const LATEST: Self = Self::Bpo2;

    /// The canonical name.
    pub fn name(self) -> &'static str {
        FORKS[self as usize].1[0]
    }

    /// The rules of execution, as the EVM names them. Constantinople lived on mainnet only together with
    /// Petersburg, which is why the two share theirs.
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
            Self::Osaka | Self::Bpo1 | Self::Bpo2 => SpecId::OSAKA,
        }
    }

    /// Mainnet's blob limits and prices since this fork, if it set any (EIP-7840, EIP-7892).
    fn blob_params(self) -> Option<BlobParams> {
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
        let found = FORKS.iter().find(|(_, names)| names.contains(&plain.as_str()));
        found.map(|(fork, _)| *fork).ok_or_else(|| UnknownFork(name.to_owned()))
    }
}

/// When a fork begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// With the block of this number.
    Block(u64),
    /// With the first block at or after this time, in seconds since the Unix epoch.
    Time(u64),
}

/// The forks of one chain and when each begins.
#[derive(Clone, Debug)]
pub struct Forks(Vec<ScheduledFork>);

/// One fork of a chain.
#[derive(Clone, Copy, Debug)]
pub struct ScheduledFork {
    /// The fork.
    pub fork: Fork,
    /// When it begins.
    pub activation: Activation,
    /// The blob limits and prices it sets.
    pub blobs: Option<BlobParams>,
}

/// The rules that hold for one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The newest active fork.
    pub fork: Fork,
    /// Blob limits and prices, since Cancun.
    pub blobs: Option<BlobParams>,
}

impl Rules {
    /// Whether `fork`'s rules hold.
    pub fn has(&self, fork: Fork) -> bool {
        self.fork >= fork
    }

    /// The rules of execution, as the EVM names them.
    pub fn spec(&self) -> SpecId {
        self.fork.spec()
    }
}

impl Forks {
    /// Every fork up to `newest` from the first block on.
    pub fn all_from_genesis(newest: Fork) -> Self {
        let forks = FORKS.iter().map(|(fork, _)| *fork).take_while(|fork| *fork <= newest);
        Self(
            forks
                .map(|fork| ScheduledFork { fork, activation: Activation::Block(0), blobs: fork.blob_params() })
                .collect(),
        )
    }

    /// The schedule in a genesis file's `config`, as geth reads it.
    pub fn from_genesis(config: &ChainConfig) -> Self {
        let by_block = |number: Option<u64>| number.map(Activation::Block);
        let by_time = |time: Option<u64>| time.map(Activation::Time);
        // A chain that names a terminal difficulty of zero, or calls it passed, was never mined.
        let born_merged =
            config.terminal_total_difficulty_passed || config.terminal_total_difficulty == Some(U256::ZERO);
        let merged = config.merge_netsplit_block.or(born_merged.then_some(0));
        let schedule = [
            (Fork::Frontier, Some(Activation::Block(0))),
            (Fork::Homestead, by_block(config.homestead_block)),
            (Fork::Tangerine, by_block(config.eip150_block)),
            (Fork::SpuriousDragon, by_block(config.eip158_block)),
            (Fork::Byzantium, by_block(config.byzantium_block)),
            (Fork::Constantinople, by_block(config.constantinople_block)),
            // Without a block of its own, Petersburg comes with Constantinople.
            (Fork::Petersburg, by_block(config.petersburg_block.or(config.constantinople_block))),
            (Fork::Istanbul, by_block(config.istanbul_block)),
            (Fork::MuirGlacier, by_block(config.muir_glacier_block)),
            (Fork::Berlin, by_block(config.berlin_block)),
            (Fork::London, by_block(config.london_block)),
            (Fork::ArrowGlacier, by_block(config.arrow_glacier_block)),
            (Fork::GrayGlacier, by_block(config.gray_glacier_block)),
            (Fork::Paris, by_block(merged)),
            (Fork::Shanghai, by_time(config.shanghai_time)),
            (Fork::Cancun, by_time(config.cancun_time)),
            (Fork::Prague, by_time(config.prague_time)),
            (Fork::Osaka, by_time(config.osaka_time)),
            (Fork::Bpo1, by_time(config.bpo1_time)),
            (Fork::Bpo2, by_time(config.bpo2_time)),
        ];
        let scheduled = schedule.into_iter().filter_map(|(fork, activation)| {
            let blobs = fork.blob_params().map(|mainnet| match config.blob_schedule.get(fork.name()) {
                // The file names three of the parameters; the others belong to the fork.
                Some(own) => BlobParams {
                    target_blob_count: own.target_blob_count,
                    max_blob_count: own.max_blob_count,
                    update_fraction: own.update_fraction,
                    ..mainnet
                },
                None => mainnet,
            });
            Some(ScheduledFork { fork, activation: activation?, blobs })
        });
        Self(scheduled.collect())
    }

    /// The rules for the block of this number and time.
    pub fn at(&self, number: u64, timestamp: u64) -> Rules {
        let mut rules = Rules { fork: Fork::Frontier, blobs: None };
        for scheduled in &self.0 {
            let begun = match scheduled.activation {
                Activation::Block(first) => number >= first,
                Activation::Time(first) => timestamp >= first,
            };
            if begun {
                rules.fork = rules.fork.max(scheduled.fork);
                rules.blobs = scheduled.blobs.or(rules.blobs);
            }
        }
        rules
    }

    /// The schedule, in historical order.
    pub fn schedule(&self) -> &[ScheduledFork] {
        &self.0
    }
}

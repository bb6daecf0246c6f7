//! Fork schedules: when each fork of a chain begins.

use alloy_eips::eip7840::BlobParams;
use alloy_genesis::ChainConfig;
use alloy_primitives::U256;

use super::{Fork, Rules, fork::FORKS};

/// The start of a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// At the block with this number.
    Block(u64),
    /// At the first block with this time or a later one, in seconds since the Unix epoch.
    Time(u64),
}

/// The forks of one chain with their starts.
#[derive(Clone, Debug)]
pub struct Forks {
    schedule: Vec<ScheduledFork>,
    dao: Option<DaoFork>,
}

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

/// The DAO fork (EIP-779), or the decision against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaoFork {
    /// The block at which it begins.
    pub block: u64,
    /// Whether this chain takes part.
    pub support: bool,
}

/// A genesis file requires rules that are not implemented, or that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("config.{field}: {what}")]
pub struct UnsupportedConfig {
    /// The field.
    pub field: String,
    /// The problem.
    pub what: String,
}

fn unsupported(field: impl Into<String>, what: impl Into<String>) -> UnsupportedConfig {
    UnsupportedConfig {
        field: field.into(),
        what: what.into(),
    }
}

/// The maximum number of blobs that a schedule may allow in a block: far more than any network
/// uses, and small enough that no sum overflows.
const MAX_BLOBS: u64 = 1 << 16;

/// A time that some tools write for "never".
const NEVER: u64 = u64::MAX;

impl Forks {
    /// Every fork up to `newest` from the first block on.
    pub fn all_from_genesis(newest: Fork) -> Self {
        let forks = FORKS
            .iter()
            .map(|(fork, _)| *fork)
            .take_while(|fork| *fork <= newest);
        let schedule = forks.map(|fork| ScheduledFork {
            fork,
            activation: Activation::Block(0),
            blobs: fork.blob_params(),
        });
        Self {
            schedule: schedule.collect(),
            dao: None,
        }
    }

    /// The schedule in a genesis file's `config`, as geth reads it; `difficulty` is that of the
    /// first block.
    ///
    /// # Errors
    /// The file requires rules that are not implemented: ignoring them would make it another chain.
    pub fn from_genesis(config: &ChainConfig, difficulty: U256) -> Result<Self, UnsupportedConfig> {
        check_known(config)?;

        // The field and the value of the latest fork so far.
        let mut last_block = ("", 0);
        let mut last_time = ("", 0);
        let mut scheduled = Vec::new();
        for (field, fork, activation) in activations(config, difficulty)? {
            let Some(activation) = activation else {
                continue;
            };

            let (last, at) = match activation {
                Activation::Block(number) => (&mut last_block, number),
                Activation::Time(time) => (&mut last_time, time),
            };

            // Chains that never had proof of work name no block for the merge.
            let named = fork != Fork::Paris || config.merge_netsplit_block.is_some();
            if named && at < last.1 {
                return Err(unsupported(
                    field,
                    format!("{at} is before {} at {}", last.0, last.1),
                ));
            }
            if named {
                *last = (field, at);
            }

            scheduled.push(ScheduledFork {
                fork,
                activation,
                blobs: blob_params(config, fork)?,
            });
        }

        let dao = config.dao_fork_block.map(|block| DaoFork {
            block,
            support: config.dao_fork_support,
        });
        Ok(Self {
            schedule: scheduled,
            dao,
        })
    }

    /// The rules for the block of this number and time.
    pub fn at(&self, number: u64, timestamp: u64) -> Rules {
        let mut rules = Rules {
            fork: Fork::Frontier,
            blobs: None,
        };
        for scheduled in &self.schedule {
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
        &self.schedule
    }

    /// The DAO fork, if this chain decided about it.
    pub fn dao(&self) -> Option<DaoFork> {
        self.dao
    }
}

/// The start of every fork, with the field that states it.
type Activations = [(&'static str, Fork, Option<Activation>); FORKS.len()];

/// The starts in a genesis file's `config`.
fn activations(config: &ChainConfig, difficulty: U256) -> Result<Activations, UnsupportedConfig> {
    let by_block = |number: Option<u64>| number.map(Activation::Block);
    let by_time = |time: Option<u64>| time.filter(|time| *time != NEVER).map(Activation::Time);
    Ok([
        ("", Fork::Frontier, Some(Activation::Block(0))),
        (
            "homesteadBlock",
            Fork::Homestead,
            by_block(config.homestead_block),
        ),
        (
            "eip150Block",
            Fork::Tangerine,
            by_block(config.eip150_block),
        ),
        (
            "eip158Block",
            Fork::SpuriousDragon,
            by_block(config.eip158_block),
        ),
        (
            "byzantiumBlock",
            Fork::Byzantium,
            by_block(config.byzantium_block),
        ),
        (
            "constantinopleBlock",
            Fork::Constantinople,
            by_block(config.constantinople_block),
        ),
        // Without a block of its own, Petersburg comes with Constantinople.
        (
            "petersburgBlock",
            Fork::Petersburg,
            by_block(config.petersburg_block.or(config.constantinople_block)),
        ),
        (
            "istanbulBlock",
            Fork::Istanbul,
            by_block(config.istanbul_block),
        ),
        (
            "muirGlacierBlock",
            Fork::MuirGlacier,
            by_block(config.muir_glacier_block),
        ),
        ("berlinBlock", Fork::Berlin, by_block(config.berlin_block)),
        ("londonBlock", Fork::London, by_block(config.london_block)),
        (
            "arrowGlacierBlock",
            Fork::ArrowGlacier,
            by_block(config.arrow_glacier_block),
        ),
        (
            "grayGlacierBlock",
            Fork::GrayGlacier,
            by_block(config.gray_glacier_block),
        ),
        (
            "mergeNetsplitBlock",
            Fork::Paris,
            by_block(merge(config, difficulty)?),
        ),
        (
            "shanghaiTime",
            Fork::Shanghai,
            by_time(config.shanghai_time),
        ),
        ("cancunTime", Fork::Cancun, by_time(config.cancun_time)),
        ("pragueTime", Fork::Prague, by_time(config.prague_time)),
        ("osakaTime", Fork::Osaka, by_time(config.osaka_time)),
        ("bpo1Time", Fork::Bpo1, by_time(config.bpo1_time)),
        ("bpo2Time", Fork::Bpo2, by_time(config.bpo2_time)),
        ("bpo3Time", Fork::Bpo3, by_time(config.bpo3_time)),
        ("bpo4Time", Fork::Bpo4, by_time(config.bpo4_time)),
        ("bpo5Time", Fork::Bpo5, by_time(config.bpo5_time)),
    ])
}

/// Rejects fields that are not implemented.
fn check_known(config: &ChainConfig) -> Result<(), UnsupportedConfig> {
    let later = [
        ("amsterdamTime", config.amsterdam_time),
        ("bogotaTime", config.bogota_time),
    ];
    if let Some((field, _)) = later
        .iter()
        .find(|(_, time)| time.is_some_and(|time| time != NEVER))
    {
        return Err(unsupported(
            *field,
            "the rules of this fork are not supported",
        ));
    }

    // Without the rules of such a fork, blocks would be executed wrongly.
    let schedules = |name: &str| name.ends_with("Block") || name.ends_with("Time");

    let unknown = config
        .extra_fields
        .iter()
        .find(|(name, value)| schedules(name) && !value.is_null());
    if let Some((field, _)) = unknown {
        return Err(unsupported(field, "no fork of this name is known"));
    }

    if config
        .eip155_block
        .is_some_and(|block| config.eip158_block != Some(block))
    {
        return Err(unsupported(
            "eip155Block",
            "must be the same as eip158Block: the two begin together",
        ));
    }

    let merged = config.terminal_total_difficulty_passed
        || config.terminal_total_difficulty == Some(U256::ZERO);
    for (field, present) in [
        ("clique", config.clique.is_some()),
        ("parlia", config.parlia.is_some()),
    ] {
        if present && !merged {
            return Err(unsupported(
                field,
                "blocks sealed by authorities are not supported",
            ));
        }
    }
    Ok(())
}

/// The block at which proof of stake begins, if there is one.
fn merge(config: &ChainConfig, difficulty: U256) -> Result<Option<u64>, UnsupportedConfig> {
    match (
        config.merge_netsplit_block,
        config.terminal_total_difficulty,
    ) {
        (Some(block), _) => Ok(Some(block)),
        _ if config.terminal_total_difficulty_passed => Ok(Some(0)),
        // The first block reaches the terminal total difficulty.
        (None, Some(total)) if total <= difficulty => Ok(Some(0)),
        (None, Some(_)) => Err(unsupported(
            "terminalTotalDifficulty",
            "a merge at a total difficulty is not supported; name its block in mergeNetsplitBlock",
        )),
        (None, None) => Ok(None),
    }
}

/// The blob limits and prices of a fork: the file's, or else mainnet's.
fn blob_params(config: &ChainConfig, fork: Fork) -> Result<Option<BlobParams>, UnsupportedConfig> {
    if fork < Fork::Cancun {
        return Ok(None);
    }
    let field = || format!("blobSchedule.{}", fork.name());

    let own = config.blob_schedule.get(fork.name());
    let Some(own) = own else {
        let mainnet = fork.blob_params();
        return mainnet
            .map(Some)
            .ok_or_else(|| unsupported(field(), "missing, and mainnet has no such fork"));
    };

    let possible = own.max_blob_count <= MAX_BLOBS && own.target_blob_count <= own.max_blob_count;
    if !possible
        || own.max_blob_count == 0
        || own.update_fraction == 0
        || own.update_fraction > u64::MAX.into()
    {
        return Err(unsupported(
            field(),
            format!(
                "expected target <= max, max from 1 to {MAX_BLOBS} and a baseFeeUpdateFraction above zero"
            ),
        ));
    }

    // The file sets three of the parameters; the others follow from the fork.
    let mut blobs = fork.blob_params().unwrap_or(BlobParams::bpo2());
    blobs.target_blob_count = own.target_blob_count;
    blobs.max_blob_count = own.max_blob_count;
    blobs.update_fraction = own.update_fraction;
    if fork < Fork::Osaka {
        // Before EIP-7594 a transaction may carry as many blobs as a block.
        blobs.max_blobs_per_tx = own.max_blob_count;
    }
    Ok(Some(blobs))
}

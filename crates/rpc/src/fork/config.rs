//! Settings of forks: the other chain, its nodes, and the block.

use std::{env, fmt, path::PathBuf, str::FromStr, time::Duration};

use alloy_primitives::B256;
use reqwest::Url;

use super::pace::ForkPace;

/// The chain to fork and how to reach it.
#[derive(Clone, Debug)]
pub struct ForkConfig {
    /// The other node's JSON-RPC endpoint over HTTP; none for no fork.
    pub url: Option<Url>,
    /// Further nodes of the same chain, which get requests in rotation with that one.
    pub others: Vec<Url>,
    /// The block to fork.
    pub block: ForkBlock,
    /// Whether what an execution reads is requested before it runs, and not one by one.
    pub prefetch: bool,
    /// The cache of answers about a block with a number or a hash.
    pub cache: ForkCache,
    /// The most bytes of all files of other blocks in that directory.
    pub cache_bytes: u64,
    /// Headers of every request to the origin of that URL, and to no other.
    pub headers: Vec<(String, String)>,
    /// The pace of calls to the other node; by default as fast as it answers.
    pub pace: Option<ForkPace>,
    /// The interval at which a block that may not be final is checked, while requests are sent.
    pub check_every: Duration,
    /// The time limit of a request, retries included.
    pub timeout: Duration,
    /// The maximum number of retries.
    pub retries: u32,
    /// The delay of the first retry; each further delay is twice the one before.
    pub retry_backoff: Duration,
    /// The chain id; by default the other chain's.
    pub chain_id: Option<u64>,
    /// The gas limit of new blocks; by default that of the forked block.
    pub gas_limit: Option<u64>,
}

impl Default for ForkConfig {
    fn default() -> Self {
        Self {
            url: None,
            others: Vec::new(),
            block: ForkBlock::Latest,
            prefetch: true,
            cache: ForkCache::Usual,
            cache_bytes: 1 << 30,
            headers: Vec::new(),
            pace: None,
            check_every: Duration::from_secs(15),
            timeout: Duration::from_secs(30),
            retries: 5,
            retry_backoff: Duration::from_secs(1),
            chain_id: None,
            gas_limit: None,
        }
    }
}

/// The block at which a chain is forked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkBlock {
    /// By number.
    Number(u64),
    /// This many blocks before the newest.
    Back(u64),
    /// By hash.
    Hash(B256),
    /// The block of a transaction, with only those that precede it, and itself if it is included.
    Transaction {
        /// The transaction's hash.
        hash: B256,
        /// Whether it is executed as well.
        included: bool,
    },
    /// The newest one.
    Latest,
    /// The newest one that the other node calls safe.
    Safe,
    /// The newest one that the other node calls final.
    Finalized,
}

impl ForkBlock {
    /// Whether it is the same block each time.
    pub(super) fn is_fixed(self) -> bool {
        matches!(self, Self::Number(_) | Self::Hash(_))
    }
}

impl fmt::Display for ForkBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Back(blocks) => write!(f, "-{blocks}"),
            Self::Hash(hash) => write!(f, "{hash}"),
            Self::Transaction { hash, included } => {
                let side = if *included { "after" } else { "before" };
                write!(f, "{side}:{hash}")
            }
            Self::Latest => f.write_str("latest"),
            Self::Safe => f.write_str("safe"),
            Self::Finalized => f.write_str("finalized"),
        }
    }
}

impl FromStr for ForkBlock {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = match text {
            "latest" => Some(Self::Latest),
            "safe" => Some(Self::Safe),
            "finalized" => Some(Self::Finalized),
            _ if text.len() == 66 => text.parse().ok().map(Self::Hash),
            _ if text.contains(':') => transaction(text),
            _ => match text.strip_prefix('-') {
                Some(digits) => block_number(digits).map(Self::Back),
                None => block_number(text).map(Self::Number),
            },
        };
        read.ok_or_else(|| {
            format!(
                "expected a number, -N for N blocks before the newest, latest, safe, finalized, a hash, or before: or after: with \
                 the hash of a transaction, got {text}"
            )
        })
    }
}

fn block_number(digits: &str) -> Option<u64> {
    digits
        .parse()
        .ok()
        .filter(|number| *number <= i64::MAX as u64)
}

/// Reads `before:` or `after:` and the hash of a transaction.
fn transaction(text: &str) -> Option<ForkBlock> {
    let (side, hash) = text.split_once(':')?;
    let included = match side {
        "before" => false,
        "after" => true,
        _ => return None,
    };
    let hash = hash.parse().ok()?;
    Some(ForkBlock::Transaction { hash, included })
}

/// The place at which the other node's answers are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForkCache {
    /// Nowhere.
    Off,
    /// In the platform's directory for caches, unless the other node is one for development.
    Usual,
    /// In this directory.
    At(PathBuf),
}

impl ForkCache {
    /// The directory, if there is one.
    pub fn directory(&self) -> Option<PathBuf> {
        match self {
            Self::Off => None,
            Self::Usual => usual_directory(),
            Self::At(directory) => Some(directory.clone()),
        }
    }
}

/// The platform's directory for caches of this program.
fn usual_directory() -> Option<PathBuf> {
    let caches = if cfg!(windows) {
        absolute_path("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        absolute_path("HOME").map(|home| home.join("Library/Caches"))
    } else {
        // https://specifications.freedesktop.org/basedir
        absolute_path("XDG_CACHE_HOME")
            .or_else(|| absolute_path("HOME").map(|home| home.join(".cache")))
    };
    caches.map(|caches| caches.join("tetrad/forks"))
}

/// The path in a variable of the environment, unless it is relative.
fn absolute_path(variable: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

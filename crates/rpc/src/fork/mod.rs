//! ChainForks: a chain of one's own on top of another node's, from one of its blocks on.
//!
//! Changes since the fork are held here; unchanged accounts, code and storage are fetched when they
//! are needed (see [`Remote`]), and blocks up to the forked one stay with the other node.
//!
//! The state root of a fork's own blocks covers the accounts and slots that changed since the fork:
//! it is deterministic, but no other node computes it. Proofs for such blocks are refused.

mod cache;
mod client;
mod file;
mod foretell;
mod history;
mod remote;

use std::{
    env, fmt, io,
    path::PathBuf,
    str::FromStr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, U64, U256, keccak256};
use arc_swap::ArcSwapOption;
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Value, json};
use tetrad_chain::Head;
use tetrad_evm::{ChainParams, Overlay};
use tetrad_primitives::{
    block::Block,
    state::{ReadError, ReadState, State, Wanted},
};
use tetrad_stdx::{calendar::LAST_SECOND, redact};
use tetrad_web::Budget;
use tracing::warn;

pub use self::{
    client::{AskError, ForkAnswer, ForkClient, ForkStats},
    file::{CachedFork, clear, list},
    remote::Remote,
};
use self::{
    client::{Question, read_result},
    file::{ForkFile, Record},
    history::History,
};

/// What development nodes call themselves. The state of their newest block can be edited.
const EDITABLE: [&str; 5] = ["anvil", "hardhat", "ethereumjs", "ganache", "tetrad"];

/// The block at which a chain is forked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkBlock {
    /// By number.
    Number(u64),
    /// This many blocks before the newest.
    Back(u64),
    /// By hash.
    Hash(B256),
    /// The newest one.
    Latest,
    /// The newest one that the other node calls safe.
    Safe,
    /// The newest one that the other node calls final.
    Finalized,
}

impl ForkBlock {
    /// Whether it is the same block each time.
    fn is_fixed(self) -> bool {
        matches!(self, Self::Number(_) | Self::Hash(_))
    }
}

impl fmt::Display for ForkBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Back(blocks) => write!(f, "-{blocks}"),
            Self::Hash(hash) => write!(f, "{hash}"),
            Self::Latest => f.write_str("latest"),
            Self::Safe => f.write_str("safe"),
            Self::Finalized => f.write_str("finalized"),
        }
    }
}

impl FromStr for ForkBlock {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |digits: &str| {
            digits
                .parse()
                .ok()
                .filter(|number| *number <= i64::MAX as u64)
        };
        let read = match text {
            "latest" => Some(Self::Latest),
            "safe" => Some(Self::Safe),
            "finalized" => Some(Self::Finalized),
            _ if text.len() == 66 => text.parse().ok().map(Self::Hash),
            _ => match text.strip_prefix('-') {
                Some(digits) => number(digits).map(Self::Back),
                None => number(text).map(Self::Number),
            },
        };
        read.ok_or_else(|| {
            format!(
                "expected a number, -N for N blocks before the newest, latest, safe, finalized or a hash, got {text}"
            )
        })
    }
}

/// Where what the other node answers is kept.
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
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let caches = if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        absolute("HOME").map(|home| home.join("Library/Caches"))
    } else {
        // https://specifications.freedesktop.org/basedir
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))
    };
    caches.map(|caches| caches.join("tetrad/forks"))
}

/// The chain to fork and how to reach it.
#[derive(Clone, Debug)]
pub struct ForkConfig {
    /// The other node's JSON-RPC endpoint over HTTP; none for no fork.
    pub url: Option<Url>,
    /// Further nodes of the same chain, which are asked in turns with that one.
    pub others: Vec<Url>,
    /// The block to fork.
    pub block: ForkBlock,
    /// Whether what an execution reads is asked for before it runs, and not one by one.
    pub prefetch: bool,
    /// Where answers about a block with a number or a hash are kept.
    pub cache: ForkCache,
    /// The most bytes of all files of other blocks in that directory.
    pub cache_bytes: u64,
    /// Headers of every request to the origin of that URL, and to no other.
    pub headers: Vec<(String, String)>,
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
            timeout: Duration::from_secs(30),
            retries: 5,
            retry_backoff: Duration::from_secs(1),
            chain_id: None,
            gas_limit: None,
        }
    }
}

/// The other chain cannot be forked.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// A required request failed.
    #[error("fork: {0}")]
    Ask(#[from] AskError),
    /// The other node's answer makes no sense.
    #[error("fork: {method}: {what}")]
    Answer {
        /// The method.
        method: &'static str,
        /// The problem with the answer.
        what: String,
    },
    /// The other node has no such block.
    #[error("fork: the other node has no block {0}")]
    NoBlock(ForkBlock),
    /// Another node of the settings cannot be used.
    #[error("fork: {url}: {what}")]
    Other {
        /// The node, without what may be a secret.
        url: String,
        /// The problem.
        what: String,
    },
    /// An account could not be read.
    #[error("fork: {0}")]
    Read(#[from] ReadError),
    /// No URL was given.
    #[error("fork: no URL to fork from")]
    NoUrl,
    /// The operating system reported an error.
    #[error("fork: {0}")]
    System(#[from] io::Error),
}

/// The point at which the node's chain leaves the other one.
#[derive(Debug)]
pub struct ChainFork {
    /// The other node.
    pub client: Arc<ForkClient>,
    /// The other chain's id.
    pub chain_id: u64,
    /// The number of the forked block.
    pub number: u64,
    /// Its hash.
    pub hash: B256,
    /// Gas limit of new blocks.
    pub gas_limit: u64,
    history: History,
}

impl ChainFork {
    /// Calls a method about blocks up to the forked one. Blocks until the answer arrives.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn ask(&self, method: &str, params: &Value) -> Result<ForkAnswer, AskError> {
        self.history.ask(method, params)
    }
}

/// Builds the node's own first block again, or returns the reason why it cannot.
pub type OwnChain = Box<dyn Fn() -> Result<Head, String> + Send + Sync>;

/// The fork that the node is on, if any, and how to change it.
pub struct ChainForks {
    config: ForkConfig,
    /// The chain parameters on a fork; the chain id is replaced.
    params: ChainParams,
    /// Accounts that have this balance in wei on every fork.
    funded: (Vec<Address>, U256),
    own: OwnChain,
    current: ArcSwapOption<ChainFork>,
    /// The memory that answers of the other node count against.
    budget: Budget,
}

impl ChainForks {
    /// A node that forks nothing yet.
    pub fn new(
        config: ForkConfig,
        params: ChainParams,
        funded: (Vec<Address>, U256),
        own: OwnChain,
        budget: Budget,
    ) -> Self {
        Self {
            config,
            params,
            funded,
            own,
            current: ArcSwapOption::empty(),
            budget,
        }
    }

    /// The current fork.
    pub fn current(&self) -> Option<Arc<ChainFork>> {
        self.current.load_full()
    }

    /// Sets the current fork.
    pub fn set(&self, fork: Option<Arc<ChainFork>>) {
        self.current.store(fork);
    }

    /// The node's own first block.
    ///
    /// # Errors
    /// As when the node starts.
    pub fn own(&self) -> Result<Head, String> {
        (self.own)()
    }

    /// The chain that begins at a block of another one. Without a URL it is that of the current fork.
    /// Blocks until the other node has answered.
    ///
    /// # Errors
    /// See [`ForkError`].
    pub fn begin(
        &self,
        url: Option<Url>,
        block: ForkBlock,
    ) -> Result<(Head, Arc<ChainFork>), ForkError> {
        let url = url
            .or_else(|| self.current().map(|fork| fork.client.url()))
            .or_else(|| self.config.url.clone())
            .ok_or(ForkError::NoUrl)?;
        let client = Arc::new(ForkClient::new(url, &self.config, &self.budget)?);

        let Beginning {
            chain_id,
            header,
            hash,
            is_editable,
            is_final,
        } = ask_beginning(&client, block)?;
        if !self.config.others.is_empty() {
            check_nodes(&client, header.number, hash)?;
        } else if matches!(block, ForkBlock::Hash(_)) {
            // It may be none of the chain.
            let method = "eth_getBlockByNumber";
            let found = client.ask(method, &json!([U64::from(header.number), false]))?;
            check_hash(&found, header.number, hash).map_err(|what| wrong(method, what))?;
        }

        let is_kept =
            block.is_fixed() && is_final && (!is_editable || self.config.cache != ForkCache::Usual);
        let kept = is_kept
            .then(|| self.open_file((chain_id, header.number, hash)))
            .flatten();
        let (file, records) = kept.unzip();
        let file = file.map(Arc::new);
        let records = records.unwrap_or_default();

        let fork = ChainFork {
            history: History::new(client.clone(), file.clone(), &records),
            client: client.clone(),
            chain_id,
            number: header.number,
            hash,
            gas_limit: self.config.gas_limit.unwrap_or(header.gas_limit),
        };
        let remote = Remote::new(client, fork.number, self.config.prefetch, file);
        remote.restore(records);
        Ok((self.head(header, &fork, remote)?, Arc::new(fork)))
    }

    /// The file of a forked block, and what it has. Without one everything works, but slower.
    fn open_file(&self, block: (u64, u64, B256)) -> Option<(ForkFile, Vec<Record>)> {
        let directory = self.config.cache.directory()?;
        ForkFile::open(&directory, block, self.config.cache_bytes)
            .inspect_err(|error| {
                warn!(
                    "{}: {error}; what the forked node answers is not kept",
                    directory.display()
                );
            })
            .ok()
    }

    /// The chain of the forked block alone, with the accounts that are funded on every fork.
    fn head(&self, header: Header, fork: &ChainFork, remote: Remote) -> Result<Head, ForkError> {
        let params = ChainParams {
            chain_id: self.config.chain_id.unwrap_or(fork.chain_id),
            // Other networks have none of the network's precompiles.
            network_precompiles: self.params.network_precompiles
                && fork.chain_id == self.params.chain_id,
            ..self.params.clone()
        };

        let mut state = State::forked(Arc::new(remote));
        let block = Block {
            header,
            hash: fork.hash,
            // The other node answers for its content.
            transactions: Vec::new(),
            receipts: Vec::new(),
            ommers: Vec::new(),
            withdrawals: None,
            known_size: OnceLock::new(),
        };
        let head = Head::genesis(Arc::new(params.clone()), Arc::new(block), state.clone());

        let mut overlay = Overlay::new(&head.state, &head);
        let (accounts, balance) = &self.funded;
        let is_missing = |account: &&Address| {
            let at_hand = state.account_at_hand(account, &keccak256(account));
            self.config.prefetch && matches!(at_hand, Ok(None))
        };
        let missing = accounts.iter().filter(is_missing);
        let wanted: Vec<_> = missing.map(|account| Wanted::Account(*account)).collect();
        if !wanted.is_empty() {
            // Whatever fails is asked for again.
            let _ = state.fetch(&wanted, None);
        }
        accounts
            .iter()
            .try_for_each(|account| overlay.edit(*account, |info| info.balance = *balance))?;
        let changes = overlay.into_changes();
        state.apply(&changes);

        // Again, now with the funded accounts in its state.
        Ok(Head::genesis(Arc::new(params), head.block.clone(), state))
    }
}

/// What a fork has to know of the other chain.
struct Beginning {
    chain_id: u64,
    header: Header,
    hash: B256,
    /// Whether the state of a block may change, as that of nodes for development.
    is_editable: bool,
    /// Whether another block cannot take its place, as far as the other node can tell.
    is_final: bool,
}

/// A block, of which only the number is read.
#[derive(Deserialize)]
struct Numbered {
    number: U64,
}

fn ask_beginning(client: &ForkClient, block: ForkBlock) -> Result<Beginning, ForkError> {
    let (method, id) = match block {
        ForkBlock::Number(number) => ("eth_getBlockByNumber", json!(U64::from(number))),
        ForkBlock::Hash(hash) => ("eth_getBlockByHash", json!(hash)),
        ForkBlock::Back(blocks) => {
            let newest: U64 = client
                .ask("eth_blockNumber", &json!([]))?
                .read()
                .map_err(|error| wrong("eth_blockNumber", error))?;
            let number = newest.to::<u64>().checked_sub(blocks);
            let number = number.ok_or(ForkError::NoBlock(block))?;
            ("eth_getBlockByNumber", json!(U64::from(number)))
        }
        ForkBlock::Latest | ForkBlock::Safe | ForkBlock::Finalized => {
            ("eth_getBlockByNumber", json!(block.to_string()))
        }
    };

    let questions = [
        ("eth_chainId", json!([])),
        (method, json!([id, false])),
        ("web3_clientVersion", json!([])),
        ("eth_getBlockByNumber", json!(["finalized", false])),
    ]
    .map(|(method, params)| Question { method, params });
    let answers = client.ask_many(questions.into(), None);
    let [chain_id, found, version, finalized] = answers.results.as_slice() else {
        return Err(wrong("batch", "a response is missing"));
    };

    let chain_id: U64 = read_result(chain_id.as_ref().map_err(Clone::clone)?)
        .map_err(|error| wrong("eth_chainId", error))?;
    let (hash, header) = match read_result(found.as_ref().map_err(Clone::clone)?) {
        Ok(Value::Null) => return Err(ForkError::NoBlock(block)),
        Ok(block) => read_header(block)?,
        Err(error) => return Err(wrong(method, error)),
    };
    check_header(&header, hash, block)?;

    // A node that does not say what it is may be anything.
    let version = version
        .as_ref()
        .ok()
        .and_then(|json| read_result::<String>(json).ok());
    let is_editable = version.is_none_or(|version| {
        let version = version.to_ascii_lowercase();
        EDITABLE.iter().any(|name| version.starts_with(name))
    });
    let is_final = match finalized {
        Ok(json) => read_result::<Option<Numbered>>(json)
            .is_ok_and(|found| found.is_none_or(|found| header.number <= found.number.to::<u64>())),
        // On a chain that does not know the word every block counts as final.
        Err(AskError::Refused { .. }) => true,
        Err(_) => false,
    };

    Ok(Beginning {
        chain_id: chain_id.to(),
        header,
        hash,
        is_editable,
        is_final,
    })
}

/// Refuses nodes that do not have the forked block among those of their chain: state is asked for by
/// its number. Nodes that do not answer are left out.
fn check_nodes(client: &ForkClient, number: u64, hash: B256) -> Result<(), ForkError> {
    let mut fit = Vec::new();
    let mut last = None;
    let params = json!([U64::from(number), false]);
    for (url, answer) in client.ask_each("eth_getBlockByNumber", &params) {
        let shown = redact::url(url.as_str());
        match answer {
            Ok(answer) => {
                let what = check_hash(&answer, number, hash);
                what.map_err(|what| ForkError::Other { url: shown, what })?;
                fit.push(url);
            }
            Err(error) => {
                warn!("{shown}: {error}; it is left out");
                last = Some(error);
            }
        }
    }

    match last {
        Some(error) if fit.is_empty() => Err(error.into()),
        Some(_) => {
            client.keep_only(&fit);
            Ok(())
        }
        None => Ok(()),
    }
}

/// Checks that a block has this hash. The error says what it is instead.
fn check_hash(answer: &ForkAnswer, number: u64, hash: B256) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Hashed {
        hash: B256,
    }

    match answer.read::<Option<Hashed>>()? {
        Some(found) if found.hash == hash => Ok(()),
        Some(found) => Err(format!("its block {number} is {}, not {hash}", found.hash)),
        None => Err(format!("it has no block {number}")),
    }
}

/// Hash and header of a block. Fields that a chain does not use may be missing.
fn read_header(mut block: Value) -> Result<(B256, Header), ForkError> {
    let method = "eth_getBlockByNumber";
    let Some(fields) = block.as_object_mut() else {
        return Err(ForkError::Answer {
            method,
            what: "the block is no object".to_owned(),
        });
    };

    let hash = fields.get("hash").cloned().unwrap_or_default();
    let hash: B256 =
        serde_json::from_value(hash).map_err(|error| wrong(method, format!("hash: {error}")))?;

    for (name, absent) in [
        ("mixHash", json!(B256::ZERO)),
        ("nonce", json!("0x0000000000000000")),
        ("sha3Uncles", json!(alloy_consensus::EMPTY_OMMER_ROOT_HASH)),
        ("difficulty", json!("0x0")),
        ("extraData", json!("0x")),
    ] {
        let field = fields.entry(name).or_insert(Value::Null);
        if field.is_null() {
            *field = absent;
        }
    }

    let header = serde_json::from_value(block).map_err(|error| wrong(method, error))?;
    Ok((hash, header))
}

/// Refuses a header that is not of the `requested` block, or whose time is too late.
fn check_header(header: &Header, hash: B256, requested: ForkBlock) -> Result<(), ForkError> {
    let method = "eth_getBlockByNumber";
    let got = match requested {
        ForkBlock::Number(number) if number != header.number => Some(header.number.to_string()),
        ForkBlock::Hash(asked) if asked != hash => Some(hash.to_string()),
        _ => None,
    };
    if let Some(got) = got {
        let what = format!("requested block {requested}, got block {got}");
        return Err(ForkError::Answer { method, what });
    }

    if header.timestamp > LAST_SECOND {
        let what = format!(
            "the block's time {} is after 9999-12-31T23:59:59Z",
            header.timestamp
        );
        return Err(ForkError::Answer { method, what });
    }
    Ok(())
}

fn wrong(method: &'static str, what: impl std::fmt::Display) -> ForkError {
    ForkError::Answer {
        method,
        what: what.to_string(),
    }
}

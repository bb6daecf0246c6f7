//! ChainForks: a chain of one's own on top of another node's, from one of its blocks on.
//!
//! Changes since the fork are held here; unchanged accounts, code and storage are fetched when they
//! are needed (see [`Remote`]), and blocks up to the forked one stay with the other node.
//!
//! The state root of a fork's own blocks covers the accounts and slots that changed since the fork:
//! it is deterministic, but no other node computes it. Proofs for such blocks are refused.

mod cache;
mod client;
mod remote;

use std::{
    io,
    sync::{Arc, OnceLock},
    time::Duration,
};

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, U64, U256};
use arc_swap::ArcSwapOption;
use reqwest::Url;
use serde_json::{Value, json};
use tetrad_chain::Head;
use tetrad_evm::{ChainParams, Overlay};
use tetrad_primitives::{
    block::Block,
    state::{ReadError, State},
};
use tetrad_stdx::calendar::LAST_SECOND;
use tetrad_web::Budget;

pub use self::{
    client::{AskError, ForkAnswer, ForkClient},
    remote::Remote,
};

/// The chain to fork and how to reach it.
#[derive(Clone, Debug)]
pub struct ForkConfig {
    /// The other node's JSON-RPC endpoint over HTTP; none for no fork.
    pub url: Option<Url>,
    /// The block to fork; by default the newest.
    pub block: Option<u64>,
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
            block: None,
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
    NoBlock(u64),
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

    /// The chain that begins at a block of another one, by default its newest. Without a URL it is
    /// that of the current fork. Blocks until the other node has answered.
    ///
    /// # Errors
    /// See [`ForkError`].
    pub fn begin(
        &self,
        url: Option<Url>,
        block: Option<u64>,
    ) -> Result<(Head, Arc<ChainFork>), ForkError> {
        let url = url
            .or_else(|| self.current().map(|fork| fork.client.url()))
            .or_else(|| self.config.url.clone())
            .ok_or(ForkError::NoUrl)?;
        let client = Arc::new(ForkClient::new(url, &self.config, &self.budget)?);

        let id = block.map_or_else(|| json!("latest"), |number| json!(U64::from(number)));
        let [chain_id, found] = client.ask_all([
            ("eth_chainId", &json!([])),
            ("eth_getBlockByNumber", &json!([id, false])),
        ]);

        let chain_id: U64 = chain_id?
            .read()
            .map_err(|error| wrong("eth_chainId", error))?;
        let (hash, header) = match found?.read() {
            Ok(Value::Null) => return Err(ForkError::NoBlock(block.unwrap_or_default())),
            Ok(block) => read_header(block)?,
            Err(error) => return Err(wrong("eth_getBlockByNumber", error)),
        };
        check_header(&header, block)?;

        let fork = ChainFork {
            client,
            chain_id: chain_id.to(),
            number: header.number,
            hash,
            gas_limit: self.config.gas_limit.unwrap_or(header.gas_limit),
        };
        Ok((self.head(header, &fork)?, Arc::new(fork)))
    }

    /// The chain of the forked block alone, with the accounts that are funded on every fork.
    fn head(&self, header: Header, fork: &ChainFork) -> Result<Head, ForkError> {
        let params = ChainParams {
            chain_id: self.config.chain_id.unwrap_or(fork.chain_id),
            // Other networks have none of the network's precompiles.
            network_precompiles: self.params.network_precompiles
                && fork.chain_id == self.params.chain_id,
            ..self.params.clone()
        };

        let remote = Arc::new(Remote::new(fork.client.clone(), fork.number));
        let mut state = State::forked(remote);
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
        accounts
            .iter()
            .try_for_each(|account| overlay.edit(*account, |info| info.balance = *balance))?;
        let changes = overlay.into_changes();
        state.apply(&changes);

        // Again, now with the funded accounts in its state.
        Ok(Head::genesis(Arc::new(params), head.block.clone(), state))
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
fn check_header(header: &Header, requested: Option<u64>) -> Result<(), ForkError> {
    let method = "eth_getBlockByNumber";
    if let Some(number) = requested.filter(|number| *number != header.number) {
        let what = format!("requested block {number}, got block {}", header.number);
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

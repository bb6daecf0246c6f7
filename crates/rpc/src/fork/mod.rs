//! Forks of other chains: a chain of one's own that begins at a block of another node's.
//!
//! Changes since the fork are held here; unchanged accounts, code and storage are fetched when they
//! are needed (see [`Remote`]), and blocks up to the forked one stay with the other node.
//!
//! The state root of a fork's own blocks covers the accounts and slots that changed since the fork:
//! it is deterministic, but no other node computes it. Proofs for such blocks are refused.

mod account;
mod begin;
mod cache;
mod client;
mod config;
mod file;
mod history;
mod nodes;
mod pace;
mod remote;
mod replay;
mod stats;
mod tracer;

use std::sync::{Arc, OnceLock};

use alloy_consensus::Header;
use alloy_primitives::{Address, B256};
use arc_swap::ArcSwapOption;
use reqwest::Url;
use serde_json::Value;
use tetrad_chain::{Edit, Head};
use tetrad_evm::ChainParams;
use tetrad_primitives::{
    block::Block,
    state::{ReadError, ReadState, State, Wanted},
};
use tetrad_web::Budget;
use tracing::warn;

use self::{
    begin::Beginning,
    file::{ForkFile, Record},
    history::History,
    replay::Replay,
};
pub use self::{
    begin::ForkError,
    client::{ForkAnswer, ForkCallError, ForkClient},
    config::{ForkBlock, ForkCache, ForkConfig},
    file::{CachedFork, clear, list},
    pace::ForkPace,
    remote::Remote,
    stats::ForkStats,
};

/// The number of edits whose accounts are requested at once: more of them might leave the cache
/// before they are edited.
const EDITS_AT_ONCE: usize = 1_000;

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
    /// See [`ForkCallError`].
    pub fn call(&self, method: &str, params: &Value) -> Result<ForkAnswer, ForkCallError> {
        self.history.call(method, params)
    }
}

/// Builds the node's own first block again, or returns the reason why it cannot.
pub type OwnChain = Box<dyn Fn() -> Result<Head, String> + Send + Sync>;

/// The fork that the node is on, if any, and how to change it.
pub struct ChainForks {
    config: ForkConfig,
    /// The chain parameters on a fork. The chain id, which is replaced, is the network's.
    params: ChainParams,
    /// The edits with which every fork begins, on top of the other chain's state.
    edits: Vec<Edit>,
    own: OwnChain,
    current: ArcSwapOption<ChainFork>,
    /// The memory that answers of the other node count against.
    budget: Budget,
}

impl ChainForks {
    /// A node that forks nothing yet. Every fork begins with `edits` on top of the other chain's
    /// state.
    pub fn new(
        config: ForkConfig,
        params: ChainParams,
        edits: Vec<Edit>,
        own: OwnChain,
        budget: Budget,
    ) -> Self {
        Self {
            config,
            params,
            edits,
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

    /// Lets requests to the other node fail from now on, those under way as well, since the node
    /// shuts down.
    pub fn end(&self) {
        if let Some(fork) = self.current() {
            fork.client.end();
        }
    }

    /// Whether a chain with this id is the network: by the network's id, or by the one that was
    /// chosen for this node.
    pub fn is_network(&self, chain_id: u64) -> bool {
        chain_id == self.params.chain_id || Some(chain_id) == self.config.chain_id
    }

    /// The node's own first block.
    ///
    /// # Errors
    /// As when the node starts.
    pub fn own(&self) -> Result<Head, String> {
        (self.own)()
    }

    /// The chain that begins at a block of another one. Without a URL it is that of the current
    /// fork. Blocks until the other node has answered.
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

        let replay = match block {
            ForkBlock::Transaction { hash, included } => {
                Some(Replay::fetch(&client, hash, included)?)
            }
            _ => None,
        };
        let block = replay.as_ref().map_or(block, Replay::parent);
        let gas_limit = replay.as_ref().map(Replay::gas_limit);
        let beginning = Beginning::fetch(&client, block, &self.config)?;
        let (mut head, fork) = self.at_block(client, beginning, gas_limit);

        if let Some(replay) = replay {
            head = replay.onto(&head)?;
        }
        for edits in self.edits.chunks(EDITS_AT_ONCE) {
            fetch_together(&head.state, edits.iter().flat_map(accounts_of));
            head = begin_with(head, edits)?;
        }
        Ok((head, Arc::new(fork)))
    }

    /// The chain of the forked block alone, and the fork. New blocks have this gas limit, or that
    /// of the forked block, unless the settings have one.
    fn at_block(
        &self,
        client: Arc<ForkClient>,
        beginning: Beginning,
        gas_limit: Option<u64>,
    ) -> (Head, ChainFork) {
        let Beginning {
            chain_id,
            header,
            hash,
            is_cached,
        } = beginning;
        if !is_cached {
            client.watch(header.number, hash, self.config.check_every);
        }

        let opened = is_cached
            .then(|| self.open_file((chain_id, header.number, hash)))
            .flatten();
        let (file, records) = opened.unzip();
        let file = file.map(Arc::new);
        let records = records.unwrap_or_default();

        let gas_limit = gas_limit.unwrap_or(header.gas_limit);
        let fork = ChainFork {
            history: History::new(client.clone(), file.clone(), &records),
            client: client.clone(),
            chain_id,
            number: header.number,
            hash,
            gas_limit: self.config.gas_limit.unwrap_or(gas_limit),
        };
        let remote = Remote::new(client, &header, hash, self.config.prefetch, file);
        remote.restore(records);
        let head = self.head(header, &fork, remote);
        (head, fork)
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

    /// The chain of the forked block alone.
    fn head(&self, header: Header, fork: &ChainFork, remote: Remote) -> Head {
        let params = ChainParams {
            chain_id: self.config.chain_id.unwrap_or(fork.chain_id),
            // Other networks have none of the network's precompiles.
            network_precompiles: self.params.network_precompiles && self.is_network(fork.chain_id),
            ..self.params.clone()
        };

        let state = State::forked(Arc::new(remote));
        let block = Block {
            header,
            hash: fork.hash,
            // Requests about its content are forwarded to the other node.
            transactions: Vec::new(),
            receipts: Vec::new(),
            ommers: Vec::new(),
            withdrawals: None,
            known_size: OnceLock::new(),
        };
        Head::genesis(Arc::new(params), Arc::new(block), state)
    }
}

/// Requests those of the accounts that are not at hand, all at once. What fails is requested again
/// where it is needed.
pub fn fetch_together(state: &State, accounts: impl IntoIterator<Item = Address>) {
    let wanted: Vec<_> = accounts.into_iter().map(Wanted::Account).collect();
    let missing = state.not_at_hand(&wanted);
    if !missing.is_empty() {
        let _ = state.fetch(&missing, None);
    }
}

/// The accounts that an edit changes.
fn accounts_of(edit: &Edit) -> Vec<Address> {
    match edit {
        Edit::Balance(address, _)
        | Edit::Credit(address, _)
        | Edit::Nonce(address, _)
        | Edit::Code(address, _)
        | Edit::Storage(address, ..) => vec![*address],
        Edit::Accounts(accounts) => accounts.iter().map(|account| account.address).collect(),
        Edit::ChainId(_) | Edit::Signature(..) => Vec::new(),
    }
}

/// Applies edits of accounts. They are a part of the first block, if it is the only one, so that
/// they stay when the chain returns to it.
///
/// # Errors
/// If an account cannot be read.
pub fn begin_with(head: Head, edits: &[Edit]) -> Result<Head, ReadError> {
    let is_first = head.number() == head.genesis.number();
    let edited = edits.iter().try_fold(head, |head, edit| head.edit(edit))?;
    Ok(if is_first {
        // Another head, which has this state for its first block as well.
        Head::genesis(edited.params, edited.block, edited.state)
    } else {
        edited
    })
}

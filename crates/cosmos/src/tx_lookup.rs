//! Transactions in blocks: by hash, and by their events.
//!
//! Cosmos transactions are in the chain's index under both of their hashes. Ethereum transactions
//! are not under their Cosmos hash, which would cost every block about 1 µs for each: a table of
//! the newest ones is brought up to date when a client asks for one. Searches by events read the
//! blocks: those in memory, and older ones of an account through the index of changes.

use std::{cell::OnceCell, collections::HashMap, sync::Arc};

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, B256, hex};
use parking_lot::Mutex;
use tetrad_chain::{BlockId, Chain, Head};
use tetrad_network::account::parse_account_address;
use tetrad_primitives::block::{
    Block, Transaction,
    cosmos::{BANK_ADDRESS, CosmosNetwork, cosmos_hash},
};

use super::{
    Gateway,
    error::GatewayError,
    event_query::EventQuery,
    tx::raw_tx,
    tx_result::{TxResult, fee_collector},
};

/// Most transactions whose events one search compares with its query, and most older blocks that it
/// reads: a search takes a fraction of a second.
const MAX_COMPARED: usize = 20_000;
const MAX_READ: usize = 5_000;
const NARROWING_HINT: &str = "narrow it with conditions on tx.height";
/// The number of the newest transactions among which an Ethereum transaction is found by its Cosmos
/// hash.
const MAX_HASHED: usize = 100_000;
/// Attributes whose value is the sender of the transaction, and those whose value is a recipient of
/// a Cosmos transaction.
const OF_SENDERS: [&str; 4] = [
    "coin_spent.spender",
    "message.sender",
    "transfer.sender",
    "tx.fee_payer",
];
const OF_RECIPIENTS: [&str; 2] = ["coin_received.receiver", "transfer.recipient"];

/// A transaction in a block.
#[derive(Clone, Debug)]
pub(super) struct FoundTx {
    pub(super) block: Arc<Block>,
    pub(super) index: usize,
    /// The transaction as blocks show it: `TxRaw`.
    pub(super) raw: Vec<u8>,
    pub(super) result: TxResult,
}

impl FoundTx {
    pub(super) fn of(block: &Arc<Block>, index: usize, network: &CosmosNetwork) -> Option<Self> {
        let result = TxResult::of(block, index, network)?;
        let raw = raw_tx(block.transactions.get(index)?, network);
        Some(Self {
            block: block.clone(),
            index,
            raw,
            result,
        })
    }

    /// The Cosmos hash.
    pub(super) fn hash(&self) -> String {
        hex::encode_upper(cosmos_hash(&self.raw))
    }

    /// The values by which queries find the transaction, under their keys.
    pub(super) fn events(&self) -> Vec<(String, String)> {
        let own = [
            ("tm.event".to_owned(), "Tx".to_owned()),
            ("tx.hash".to_owned(), self.hash()),
            ("tx.height".to_owned(), self.block.number().to_string()),
        ];
        let attributes = self.result.events.iter().flat_map(|event| {
            let attributes = event.attributes.iter();
            attributes.map(|(key, value)| (format!("{}.{key}", event.kind), value.clone()))
        });
        own.into_iter().chain(attributes).collect()
    }
}

/// Whether a query finds a transaction, which is decoded only for conditions on its events.
fn matches(block: &Arc<Block>, index: usize, network: &CosmosNetwork, query: &EventQuery) -> bool {
    let Some(transaction) = block.transactions.get(index) else {
        return false;
    };

    let height = block.number().to_string();
    let hash: OnceCell<String> = OnceCell::new();
    let events: OnceCell<Vec<(String, String)>> = OnceCell::new();

    query.matches(|key| match key {
        "tm.event" => vec!["Tx"],
        "tx.height" => vec![&height],
        "tx.hash" => {
            vec![hash.get_or_init(|| hex::encode_upper(cosmos_hash(&raw_tx(transaction, network))))]
        }
        key => events
            .get_or_init(|| events_of(block, index, network))
            .iter()
            .filter(|(own, _)| own == key)
            .map(|(_, value)| value.as_str())
            .collect(),
    })
}

/// The values by which queries find a transaction, under their keys; none if it has no result.
fn events_of(block: &Arc<Block>, index: usize, network: &CosmosNetwork) -> Vec<(String, String)> {
    FoundTx::of(block, index, network)
        .map(|found| found.events())
        .unwrap_or_default()
}

/// Cosmos hashes of the newest Ethereum transactions, brought up to date by each search. They are
/// not those of the chain's index: only Cosmos clients ask for them.
#[derive(Debug, Default)]
pub(super) struct CosmosHashes(Mutex<HashedBlocks>);

#[derive(Debug, Default)]
struct HashedBlocks {
    /// The newest block whose transactions are known.
    newest: Option<Arc<Block>>,
    places: HashMap<B256, (u64, usize)>,
}

impl CosmosHashes {
    /// The block of a transaction, and its position there.
    fn find(
        &self,
        head: &Head,
        hash: B256,
        network: &CosmosNetwork,
    ) -> Option<(Arc<Block>, usize)> {
        // Held while hashing, since a concurrent search would hash the same blocks.
        let mut known = self.0.lock();
        // The hashes are dropped after a revert, and before they take too much memory.
        let is_current = known
            .newest
            .as_ref()
            .is_some_and(|newest| is_canonical(head, newest));
        if !is_current || known.places.len() > 2 * MAX_HASHED {
            *known = HashedBlocks::default();
        }

        let first = known.newest.as_ref().map_or(0, |block| block.number() + 1);
        let mut left = MAX_HASHED;
        // The newest first, since those are the ones that the limit keeps.
        for block in head.blocks_from(first).rev() {
            if block.transactions.len() > left {
                break;
            }
            left -= block.transactions.len();
            for (index, transaction) in block.transactions.iter().enumerate() {
                known.places.insert(
                    cosmos_hash(&raw_tx(transaction, network)),
                    (block.number(), index),
                );
            }
        }
        known.newest = Some(head.block.clone());

        let (number, index) = *known.places.get(&hash)?;
        let block = head.block(number)?;
        let raw = raw_tx(block.transactions.get(index)?, network);
        (cosmos_hash(&raw) == hash).then(|| (block.clone(), index))
    }
}

fn is_canonical(head: &Head, block: &Block) -> bool {
    head.block(block.number())
        .is_some_and(|own| own.hash == block.hash)
}

/// The transactions of a page, and the number of all that match.
pub(super) struct TxsFound {
    chain: Chain,
    head: Arc<Head>,
    /// Numbers of blocks, which are not kept: there may be thousands of old ones, and those
    /// are not in memory otherwise.
    places: Vec<(u64, usize)>,
    pub(super) total: usize,
}

impl TxsFound {
    /// The transactions, each with its block, which is read when it is its turn. Those of blocks
    /// that are no longer kept are left out.
    pub(super) fn into_places(self) -> impl Iterator<Item = Result<TxPlace, GatewayError>> + Send {
        let Self {
            chain,
            head,
            places,
            ..
        } = self;
        let mut last: Option<Arc<Block>> = None;
        places.into_iter().filter_map(move |(number, index)| {
            if last.as_ref().is_none_or(|block| block.number() != number) {
                match chain.block(&head, BlockId::Number(number)) {
                    Ok(block) => last = block,
                    Err(error) => return Some(Err(GatewayError::Internal(error.to_string()))),
                }
            }
            Some(Ok((last.clone()?, index)))
        })
    }
}

/// A page of what a search finds.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchPage {
    /// The number of transactions before it.
    pub(super) skip: usize,
    pub(super) limit: usize,
    pub(super) newest_first: bool,
}

/// A position in the chain: a block, and the position of a transaction in it.
pub(super) type TxPlace = (Arc<Block>, usize);

/// The accounts that a query asks for, by which most transactions are passed over.
struct Wanted {
    sender: Option<Address>,
    recipient: Option<Address>,
}

impl Wanted {
    /// `None` if a text that should be an account is not one.
    fn of(query: &EventQuery, gateway: &Gateway) -> Option<Self> {
        let mut wanted = Self {
            sender: None,
            recipient: None,
        };
        for (key, text) in query.equals() {
            let account = || parse_account_address(text, &gateway.network.hrp).ok();
            if OF_SENDERS.contains(&key) {
                wanted.sender = Some(account()?);
            } else if OF_RECIPIENTS.contains(&key) {
                // The fee has a recipient that no transaction names.
                wanted.recipient = Some(account()?).filter(|account| *account != fee_collector());
            }
        }
        Some(wanted)
    }

    fn accepts(&self, transaction: &Transaction) -> bool {
        self.sender
            .is_none_or(|account| transaction.sender == account)
            && self
                .recipient
                .is_none_or(|account| may_pay(transaction, account))
    }
}

/// Whether an account may be a recipient of a transaction.
fn may_pay(transaction: &Transaction, account: Address) -> bool {
    let to = transaction.envelope.to();
    // Several transfers are sent to the bank.
    transaction.is_cosmos() && (to == Some(account) || to == Some(BANK_ADDRESS))
}

/// A search under way.
struct TxSearch<'a> {
    query: &'a EventQuery,
    wanted: Wanted,
    network: &'a CosmosNetwork,
    /// The numbers of transactions compared with the query, and of older blocks read.
    compared: usize,
    read: usize,
    found: Vec<(u64, usize)>,
}

impl TxSearch<'_> {
    fn compare(&mut self, block: &Arc<Block>) -> Result<(), String> {
        for (index, transaction) in block.transactions.iter().enumerate() {
            if !self.wanted.accepts(transaction) {
                continue;
            }
            self.compared += 1;
            if self.compared > MAX_COMPARED {
                return Err(format!(
                    "the search goes through more than {MAX_COMPARED} transactions: {NARROWING_HINT}"
                ));
            }
            if matches(block, index, self.network, self.query) {
                self.found.push((block.number(), index));
            }
        }
        Ok(())
    }

    fn compare_older(&mut self, block: &Arc<Block>) -> Result<(), String> {
        self.read += 1;
        if self.read > MAX_READ {
            return Err(format!(
                "the search reads more than {MAX_READ} old blocks: {NARROWING_HINT}"
            ));
        }
        self.compare(block)
    }
}

/// Whether a search reads many transactions: all do but those by hash.
pub(super) fn is_long_search(query: &EventQuery) -> bool {
    hash_in(query).is_none()
}

/// The hash of the transaction that a query asks for, if it names one.
fn hash_in(query: &EventQuery) -> Option<&str> {
    ["tx.hash", "ethereum_tx.ethereumTxHash"]
        .into_iter()
        .find_map(|key| query.equal(key))
}

impl Gateway {
    /// The position of the transaction with this hash: its Cosmos hash, or its Ethereum hash.
    pub(super) fn tx(&self, hash: B256) -> Option<TxPlace> {
        self.tx_at(&self.chain.head(), hash)
    }

    fn tx_at(&self, head: &Arc<Head>, hash: B256) -> Option<TxPlace> {
        let found = self.chain.transaction_by_any_hash(head, hash);
        found.or_else(|| self.hashes.find(head, hash, &self.node.network))
    }

    /// The transactions whose events match a query.
    pub(super) fn search_txs(
        &self,
        query: &EventQuery,
        page: SearchPage,
    ) -> Result<TxsFound, GatewayError> {
        let head = self.chain.head();
        let mut found: Vec<(u64, usize)> = match hash_in(query) {
            Some(hash) => self.place_of_hash(&head, hash, query).into_iter().collect(),
            None => self
                .scan(&head, query)
                .map_err(GatewayError::InvalidArgument)?,
        };

        // The scan visits blocks in memory before the older ones on disk.
        found.sort_unstable();
        if page.newest_first {
            found.reverse();
        }

        let total = found.len();
        let places = found.into_iter().skip(page.skip).take(page.limit).collect();
        Ok(TxsFound {
            chain: self.chain.clone(),
            head,
            places,
            total,
        })
    }

    /// The position of the transaction with a hash, if it meets the query's other conditions too.
    fn place_of_hash(
        &self,
        head: &Arc<Head>,
        hash: &str,
        query: &EventQuery,
    ) -> Option<(u64, usize)> {
        let hash = hex::decode(hash).ok()?;
        let hash = B256::try_from(hash.as_slice()).ok()?;
        let (block, index) = self.tx_at(head, hash)?;
        matches(&block, index, &self.node.network, query).then(|| (block.number(), index))
    }

    /// The positions of transactions; the error says why there is no answer.
    fn scan(&self, head: &Arc<Head>, query: &EventQuery) -> Result<Vec<(u64, usize)>, String> {
        let Some(wanted) = Wanted::of(query, self) else {
            return Ok(Vec::new());
        };
        let (least, greatest) = query.range("tx.height");
        let first = least.max(self.chain.oldest(head));
        let last = greatest.min(head.number());
        let account = wanted.sender.or(wanted.recipient);
        let network = &self.node.network;
        let mut search = TxSearch {
            query,
            wanted,
            network,
            compared: 0,
            read: 0,
            found: Vec::new(),
        };

        let in_memory = head
            .blocks_from(first)
            .take_while(|block| block.number() <= last);
        for block in in_memory {
            search.compare(block)?;
        }

        match account {
            _ if first >= head.oldest() => {}
            // The index of changes to an account leads to its blocks without reading the others.
            Some(account) => {
                for block in self.chain.older_blocks_changing(head, account) {
                    let block = block.map_err(|error| error.to_string())?;
                    // They come newest first.
                    if block.number() < first {
                        break;
                    }
                    if block.number() <= last {
                        search.compare_older(&block)?;
                    }
                }
            }
            None => {
                for number in first..head.oldest().min(last.saturating_add(1)) {
                    let block = self
                        .chain
                        .block(head, BlockId::Number(number))
                        .map_err(|error| error.to_string())?;
                    if let Some(block) = block {
                        search.compare_older(&block)?;
                    }
                }
            }
        }
        Ok(search.found)
    }
}

//! The other chain as of one block: the base of a forked state.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::Arc,
    thread,
    time::Duration,
};

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bytes, U64, U256};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tetrad_chain::block_in_place;
use tetrad_primitives::state::{Account, Base, ReadError, TracedCall, Wanted};
use tetrad_web::{as_part, is_abandoned};

use super::{
    account,
    cache::Cache,
    client::{ForkAnswer, ForkCall, ForkCallError, ForkClient, read_block_hash, read_result},
    file::{ForkFile, Record},
    tracer::{RemoteTracer, TracedReads},
};

/// The approximate size in bytes of cached accounts, in each of two generations.
const MAX_ACCOUNT_BYTES: usize = 64 << 20;
/// The number of cached slots, likewise.
const MAX_SLOTS: usize = 1 << 19;
/// The number of cached block hashes, likewise.
const MAX_HASHES: usize = 1 << 12;
/// The time limit of requests for what an execution may need. Those for what it needs have the one
/// of the settings.
const PREFETCH_TIMEOUT: Duration = Duration::from_secs(10);

/// The most accounts and slots that are taken from a trace of the other node.
const MAX_TRACED: usize = 10_000;

/// The methods that return the parts of an account.
const ACCOUNT_METHODS: [&str; 3] = ["eth_getBalance", "eth_getTransactionCount", "eth_getCode"];
const SLOT_METHOD: &str = "eth_getStorageAt";
const BLOCK_METHOD: &str = "eth_getBlockByNumber";

/// The other chain as of one block.
pub struct Remote {
    client: Arc<ForkClient>,
    /// Whether what executions read is fetched before they run.
    prefetch: bool,
    /// The file of the block.
    file: Option<Arc<ForkFile>>,
    number: u64,
    /// The same as a block parameter.
    block: Value,
    accounts: Cache<Address, Option<Account>>,
    slots: Cache<(Address, U256), U256>,
    hashes: Cache<u64, B256>,
    tracer: RemoteTracer,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Remote {
    /// The chain that `client` knows, as of the block with this header and hash. `prefetch` says
    /// whether what executions read is fetched before they run.
    pub(super) fn new(
        client: Arc<ForkClient>,
        header: &Header,
        hash: B256,
        prefetch: bool,
        file: Option<Arc<ForkFile>>,
    ) -> Self {
        let lookups = &client.lookups();
        let number = header.number;
        let hashes = Cache::new(MAX_HASHES, lookups);
        hashes.put(number, hash, 1);
        if let Some(parent) = number.checked_sub(1) {
            hashes.put(parent, header.parent_hash, 1);
        }

        Self {
            client,
            prefetch,
            file,
            number,
            block: json!(U64::from(number)),
            accounts: Cache::new(MAX_ACCOUNT_BYTES, lookups),
            slots: Cache::new(MAX_SLOTS, lookups),
            hashes,
            tracer: RemoteTracer::default(),
        }
    }

    /// Fills the caches with the records of the file.
    pub(super) fn restore(&self, records: Vec<Record>) {
        let mut contracts = HashMap::new();
        for record in records {
            match record {
                Record::Code(hash, code) => {
                    contracts.insert(hash, Arc::new(account::contract(code)));
                }
                Record::Account(address, None) => self.put_account(address, None),
                Record::Account(address, Some((balance, nonce, code_hash))) => {
                    let contract = match code_hash {
                        None => None,
                        Some(hash) => match contracts.get(&hash) {
                            Some(contract) => Some(contract.clone()),
                            // Its code was lost: the account is requested again.
                            None => continue,
                        },
                    };
                    let account = account::with_contract(address, balance, nonce, contract);
                    self.put_account(address, Some(account));
                }
                Record::Slot(address, index, value) => self.slots.put((address, index), value, 1),
                // The hashes from the forked header have precedence.
                Record::BlockHash(number, hash) if !self.hashes.has(number) => {
                    self.hashes.put(number, hash, 1);
                }
                Record::BlockHash(..) | Record::Answer(..) => {}
            }
        }
    }

    /// Appends records to the file, if there is one.
    fn append_to_file(&self, records: impl FnOnce() -> Vec<Record>) {
        if let Some(file) = self.file.as_ref().filter(|_| self.client.is_original()) {
            file.append(&records());
        }
    }

    /// Requests an account, and appends it to the file.
    fn request_account(&self, address: &Address) -> Result<Option<Account>, ReadError> {
        let answers = self.client.call_many(self.account_calls(*address), None);
        let account = read_account(*address, &answers.results)?;
        self.append_to_file(|| account::records(*address, account.as_ref()).collect());
        Ok(account)
    }

    /// Requests the value of a slot, and appends it to the file.
    fn request_slot(&self, address: Address, index: U256) -> Result<U256, ReadError> {
        let params = self.slot_params(address, index);
        let answer = self.client.call(SLOT_METHOD, &params);
        let value = read(SLOT_METHOD, answer.as_ref().map(ForkAnswer::json))?;
        self.append_to_file(|| vec![Record::Slot(address, index, value)]);
        Ok(value)
    }

    /// Requests the hash of a block, and appends it to the file.
    fn request_hash(&self, number: u64) -> Result<B256, ReadError> {
        let call = Self::block_call(number);
        let answer = self.client.call(call.method, &call.params);
        let hash = read_hash(number, answer.as_ref().map(ForkAnswer::json))?;
        self.append_to_file(|| vec![Record::BlockHash(number, hash)]);
        Ok(hash)
    }

    /// The calls that request an account, in the order of [`ACCOUNT_METHODS`].
    fn account_calls(&self, address: Address) -> Vec<ForkCall> {
        let params = json!([address, self.block]);
        ACCOUNT_METHODS
            .map(|method| ForkCall::new(method, params.clone()))
            .into()
    }

    fn slot_params(&self, address: Address, index: U256) -> Value {
        json!([address, index, self.block])
    }

    fn block_call(number: u64) -> ForkCall {
        ForkCall::new(BLOCK_METHOD, json!([U64::from(number), false]))
    }

    fn put_account(&self, address: Address, account: Option<Account>) {
        let size = account::size(&account);
        self.accounts.put(address, account, size);
    }

    /// The calls that request an account, a slot or a block hash.
    fn calls(&self, wanted: &Wanted) -> Vec<ForkCall> {
        match *wanted {
            Wanted::Account(address) => self.account_calls(address),
            Wanted::Slot(address, index) => {
                let params = self.slot_params(address, index);
                vec![ForkCall::new(SLOT_METHOD, params)]
            }
            Wanted::BlockHash(number) => vec![Self::block_call(number)],
        }
    }

    /// Requests accounts, slots and block hashes at once.
    fn fetch_all(&self, wanted: &[Wanted]) -> Result<(), ReadError> {
        let calls = wanted.iter().flat_map(|wanted| self.calls(wanted));
        let answers = self
            .client
            .call_many(calls.collect(), Some(PREFETCH_TIMEOUT));

        let mut failure = Ok(());
        let mut learned = Vec::new();
        let mut results = answers.results.as_slice();
        for wanted in wanted {
            let (own, rest) = results.split_at(match wanted {
                Wanted::Account(_) => ACCOUNT_METHODS.len(),
                Wanted::Slot(..) | Wanted::BlockHash(_) => 1,
            });
            results = rest;

            match self.put_results(wanted, own) {
                Ok(records) => learned.extend(records),
                Err(error) => failure = Err(error),
            }
        }
        self.append_to_file(|| learned);
        failure
    }

    /// Puts the results of the [`calls`](Self::calls) for `wanted` into the cache. Returns their
    /// records.
    fn put_results(
        &self,
        wanted: &Wanted,
        results: &[Result<bytes::Bytes, ForkCallError>],
    ) -> Result<Vec<Record>, ReadError> {
        match *wanted {
            Wanted::Account(address) => {
                let account = read_account(address, results)?;
                let records = account::records(address, account.as_ref()).collect();
                self.put_account(address, account);
                Ok(records)
            }
            Wanted::Slot(address, index) => {
                let value = read(SLOT_METHOD, results[0].as_deref())?;
                self.slots.put((address, index), value, 1);
                Ok(vec![Record::Slot(address, index, value)])
            }
            Wanted::BlockHash(number) => {
                let hash = read_hash(number, results[0].as_deref())?;
                self.hashes.put(number, hash, 1);
                Ok(vec![Record::BlockHash(number, hash)])
            }
        }
    }

    /// Puts what a trace has read into the caches. Returns what it names without a value, and is
    /// not at hand.
    fn put_traced(&self, traced: TracedReads, execution: &TracedCall) -> BTreeSet<Wanted> {
        let mut named = traced.named;
        let mut learned = Vec::new();
        for (address, before) in traced.before.into_iter().take(MAX_TRACED) {
            for (index, value) in before.storage {
                // Values that were read before stay as they were.
                if !self.slots.has((address, index)) {
                    learned.push(Record::Slot(address, index, value));
                    self.slots.put((address, index), value, 1);
                }
            }

            // Some nodes return the sender and the recipient as they are after the transfer.
            let is_party = address == execution.from || Some(address) == execution.to;
            if is_party || before.code.is_empty() {
                named.insert(Wanted::Account(address));
            } else if !self.accounts.has(address) {
                let account =
                    account::from_parts(address, before.balance, before.nonce, before.code);
                learned.extend(account::records(address, account.as_ref()));
                self.put_account(address, account);
            }
        }
        self.append_to_file(|| learned);

        named.retain(|wanted| !self.is_at_hand(wanted));
        named
    }

    /// Fetches accounts, slots and block hashes, and traces an execution at the same time, since
    /// neither knows what the other finds.
    fn fetch_and_trace(
        &self,
        wanted: &[Wanted],
        execution: &TracedCall,
    ) -> (Result<(), ReadError>, Option<TracedReads>) {
        block_in_place(|| {
            thread::scope(|scope| {
                let trace = as_part(|| self.tracer.trace(&self.client, execution, &self.block));
                let tracing = thread::Builder::new().spawn_scoped(scope, trace).ok();
                let fetched = self.fetch_all(wanted);
                let traced = tracing.and_then(|tracing| tracing.join().ok().flatten());
                (fetched, traced)
            })
        })
    }

    fn is_at_hand(&self, wanted: &Wanted) -> bool {
        match *wanted {
            Wanted::Account(address) => self.accounts.has(address),
            Wanted::Slot(address, index) => self.slots.has((address, index)),
            Wanted::BlockHash(number) => self.hashes.has(number),
        }
    }
}

impl Base for Remote {
    fn account(&self, address: &Address) -> Result<Option<Account>, ReadError> {
        self.accounts
            .get(*address, account::size, || self.request_account(address))
    }

    fn slot(&self, address: &Address, index: U256) -> Result<U256, ReadError> {
        let request = || self.request_slot(*address, index);
        self.slots.get((*address, index), |_| 1, request)
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn is_given_up(&self) -> bool {
        is_abandoned()
    }

    fn account_at_hand(&self, address: &Address) -> Result<Option<Option<Account>>, ReadError> {
        if self.prefetch {
            Ok(self.accounts.find(*address))
        } else {
            self.account(address).map(Some)
        }
    }

    fn slot_at_hand(&self, address: &Address, index: U256) -> Result<Option<U256>, ReadError> {
        if self.prefetch {
            Ok(self.slots.find((*address, index)))
        } else {
            self.slot(address, index).map(Some)
        }
    }

    fn fetch(&self, wanted: &[Wanted], execution: Option<&TracedCall>) -> Result<(), ReadError> {
        let Some(execution) = execution else {
            return self.fetch_all(wanted);
        };

        let (fetched, traced) = self.fetch_and_trace(wanted, execution);
        let named: Vec<_> = traced
            .map(|traced| self.put_traced(traced, execution))
            .into_iter()
            .flatten()
            .take(MAX_TRACED)
            .collect();
        fetched?;
        if named.is_empty() {
            return Ok(());
        }
        self.fetch_all(&named)
    }

    fn block_hash(&self, number: u64) -> Result<Option<B256>, ReadError> {
        // Later blocks are this chain's own.
        if number > self.number {
            return Ok(None);
        }

        let request = || self.request_hash(number);
        self.hashes.get(number, |_| 1, request).map(Some)
    }

    fn block_hash_at_hand(&self, number: u64) -> Result<Option<Option<B256>>, ReadError> {
        if self.prefetch && number <= self.number {
            Ok(self.hashes.find(number).map(Some))
        } else {
            self.block_hash(number).map(Some)
        }
    }
}

/// Reads the account of the results of [`ACCOUNT_METHODS`].
fn read_account(
    address: Address,
    results: &[Result<bytes::Bytes, ForkCallError>],
) -> Result<Option<Account>, ReadError> {
    let [balance, nonce, code] = results else {
        return Err(unavailable("an answer is missing".to_owned()));
    };
    let balance: U256 = read(ACCOUNT_METHODS[0], balance.as_deref())?;
    let nonce: U64 = read(ACCOUNT_METHODS[1], nonce.as_deref())?;
    let code: Bytes = read(ACCOUNT_METHODS[2], code.as_deref())?;
    Ok(account::from_parts(address, balance, nonce.to(), code))
}

/// Reads the hash of a block. The other chain has all blocks up to the forked one: a node without
/// one of them is behind.
fn read_hash(number: u64, json: Result<&[u8], &ForkCallError>) -> Result<B256, ReadError> {
    let json = json.map_err(|error| unavailable(error.to_string()))?;
    read_block_hash(json, number).map_err(|what| unavailable(format!("{BLOCK_METHOD}: {what}")))
}

/// Reads a result.
fn read<T: DeserializeOwned>(
    method: &str,
    json: Result<&[u8], &ForkCallError>,
) -> Result<T, ReadError> {
    let json = json.map_err(|error| unavailable(error.to_string()))?;
    read_result(json).map_err(|error| unavailable(format!("{method}: {error}")))
}

fn unavailable(reason: String) -> ReadError {
    ReadError(format!("the forked node did not answer: {reason}"))
}

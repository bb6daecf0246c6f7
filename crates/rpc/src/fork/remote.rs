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
use tetrad_primitives::state::{Account, Base, Contract, ReadError, TracedCall, Wanted, bytecode};
use tetrad_web::{as_part, is_abandoned};

use super::{
    cache::Cache,
    client::{AskError, ForkAnswer, ForkClient, Question, read_hash, read_result},
    file::{ForkFile, Record},
    tracer::{RemoteTracer, TracedReads},
};

/// The approximate size in bytes of cached accounts, in each of two generations.
const ACCOUNT_BYTES: usize = 64 << 20;
/// The number of cached slots, likewise.
const SLOTS: usize = 1 << 19;
/// The number of cached block hashes, likewise.
const HASHES: usize = 1 << 12;
/// The time limit of requests for what may be needed. What is needed has that of the settings.
const FETCH_TIME: Duration = Duration::from_secs(10);

/// The most accounts and slots that are taken from what the other node traces.
const MAX_TRACED: usize = 10_000;

/// The methods that an account is read with.
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
        let hashes = Cache::new(HASHES, lookups);
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
            accounts: Cache::new(ACCOUNT_BYTES, lookups),
            slots: Cache::new(SLOTS, lookups),
            hashes,
            tracer: RemoteTracer::default(),
        }
    }

    /// Takes what a file has.
    pub(super) fn restore(&self, records: Vec<Record>) {
        let mut contracts = HashMap::new();
        for record in records {
            match record {
                Record::Code(hash, code) => {
                    contracts.insert(hash, Arc::new(contract_of(code)));
                }
                Record::Account(address, None) => self.put_account(address, None),
                Record::Account(address, Some((balance, nonce, code))) => {
                    let contract = match code {
                        None => None,
                        Some(hash) => match contracts.get(&hash) {
                            Some(contract) => Some(contract.clone()),
                            // Its code was lost: it is asked for again.
                            None => continue,
                        },
                    };
                    let account = account_with(address, balance, nonce, contract);
                    self.put_account(address, Some(account));
                }
                Record::Slot(address, index, value) => self.slots.put((address, index), value, 1),
                // What the forked header says counts.
                Record::BlockHash(number, hash) if !self.hashes.has(number) => {
                    self.hashes.put(number, hash, 1);
                }
                Record::BlockHash(..) | Record::Answer(..) => {}
            }
        }
    }

    /// Keeps what was learned in the file, if there is one.
    fn keep(&self, records: impl FnOnce() -> Vec<Record>) {
        if let Some(file) = self.file.as_ref().filter(|_| self.client.is_original()) {
            file.append(&records());
        }
    }

    fn ask_account(&self, address: &Address) -> Result<Option<Account>, ReadError> {
        let answers = self.client.ask_many(self.account_questions(*address), None);
        account_of(*address, &answers.results)
    }

    fn account_questions(&self, address: Address) -> Vec<Question> {
        let params = json!([address, self.block]);
        ACCOUNT_METHODS
            .map(|method| Question::new(method, params.clone()))
            .into()
    }

    fn slot_params(&self, address: Address, index: U256) -> Value {
        json!([address, index, self.block])
    }

    fn block_question(number: u64) -> Question {
        Question::new(BLOCK_METHOD, json!([U64::from(number), false]))
    }

    fn put_account(&self, address: Address, account: Option<Account>) {
        let weight = weight(&account);
        self.accounts.put(address, account, weight);
    }

    /// Asks for accounts, slots and block hashes at once.
    fn fetch_all(&self, wanted: &[Wanted]) -> Result<(), ReadError> {
        let questions = wanted.iter().flat_map(|wanted| match *wanted {
            Wanted::Account(address) => self.account_questions(address),
            Wanted::Slot(address, index) => {
                let params = self.slot_params(address, index);
                vec![Question::new(SLOT_METHOD, params)]
            }
            Wanted::BlockHash(number) => vec![Self::block_question(number)],
        });
        let answers = self.client.ask_many(questions.collect(), Some(FETCH_TIME));

        let mut failure = Ok(());
        let mut learned = Vec::new();
        let mut results = answers.results.as_slice();
        for wanted in wanted {
            let (own, rest) = results.split_at(match wanted {
                Wanted::Account(_) => ACCOUNT_METHODS.len(),
                Wanted::Slot(..) | Wanted::BlockHash(_) => 1,
            });
            results = rest;

            let taken = match *wanted {
                Wanted::Account(address) => account_of(address, own).map(|account| {
                    learned.extend(records_of(address, account.as_ref()));
                    self.put_account(address, account);
                }),
                Wanted::Slot(address, index) => read(SLOT_METHOD, own[0].as_deref()).map(|value| {
                    learned.push(Record::Slot(address, index, value));
                    self.slots.put((address, index), value, 1);
                }),
                Wanted::BlockHash(number) => hash_of(number, own[0].as_deref()).map(|hash| {
                    learned.push(Record::BlockHash(number, hash));
                    self.hashes.put(number, hash, 1);
                }),
            };
            if taken.is_err() {
                failure = taken;
            }
        }
        self.keep(|| learned);
        failure
    }

    /// Takes what the other node says that an execution reads. Returns what it names without a value.
    fn take(&self, traced: TracedReads, execution: &TracedCall) -> BTreeSet<Wanted> {
        let mut named = traced.named;
        let mut learned = Vec::new();
        for (address, before) in traced.before.into_iter().take(MAX_TRACED) {
            for (index, value) in before.storage {
                // What was read before stays as it was.
                if !self.slots.has((address, index)) {
                    learned.push(Record::Slot(address, index, value));
                    self.slots.put((address, index), value, 1);
                }
            }

            // Some nodes give the sender and the recipient as they are after the transfer.
            let is_party = address == execution.from || Some(address) == execution.to;
            if is_party || before.code.is_empty() {
                named.insert(Wanted::Account(address));
            } else if !self.accounts.has(address) {
                let account = account(address, before.balance, before.nonce, before.code);
                learned.extend(records_of(address, account.as_ref()));
                self.put_account(address, account);
            }
        }
        self.keep(|| learned);

        named.retain(|wanted| !self.is_at_hand(wanted));
        named
    }

    fn is_at_hand(&self, wanted: &Wanted) -> bool {
        match *wanted {
            Wanted::Account(address) => self.accounts.has(address),
            Wanted::Slot(address, index) => self.slots.has((address, index)),
            Wanted::BlockHash(number) => self.hashes.has(number),
        }
    }
}

/// The account of the results of [`ACCOUNT_METHODS`].
fn account_of(
    address: Address,
    results: &[Result<bytes::Bytes, AskError>],
) -> Result<Option<Account>, ReadError> {
    let [balance, nonce, code] = results else {
        return Err(unavailable("an answer is missing".to_owned()));
    };
    let balance: U256 = read(ACCOUNT_METHODS[0], balance.as_deref())?;
    let nonce: U64 = read(ACCOUNT_METHODS[1], nonce.as_deref())?;
    let code: Bytes = read(ACCOUNT_METHODS[2], code.as_deref())?;
    Ok(account(address, balance, nonce.to(), code))
}

fn account(address: Address, balance: U256, nonce: u64, code: Bytes) -> Option<Account> {
    // Nodes answer with zeros for an account that does not exist (EIP-161).
    if balance.is_zero() && nonce == 0 && code.is_empty() {
        return None;
    }

    let contract = (!code.is_empty()).then(|| Arc::new(contract_of(code)));
    Some(account_with(address, balance, nonce, contract))
}

fn account_with(
    address: Address,
    balance: U256,
    nonce: u64,
    contract: Option<Arc<Contract>>,
) -> Account {
    Account {
        address,
        number: Account::UNNUMBERED,
        nonce,
        balance,
        public_key: None,
        contract,
    }
}

/// An account in the file, after its code.
fn records_of(address: Address, account: Option<&Account>) -> impl Iterator<Item = Record> {
    let contract = account.and_then(|account| account.contract.as_ref());
    let code =
        contract.map(|contract| Record::Code(contract.code_hash, contract.code.original_bytes()));
    let known = account.map(|account| {
        let code = contract.map(|contract| contract.code_hash);
        (account.balance, account.nonce, code)
    });
    code.into_iter().chain([Record::Account(address, known)])
}

/// A contract with this code, which is not empty.
fn contract_of(code: Bytes) -> Contract {
    let code = bytecode(code);
    Contract {
        code_hash: code.hash_slow(),
        code,
        ..Contract::default()
    }
}

/// The approximate size of a cached account in bytes.
fn weight(account: &Option<Account>) -> usize {
    // Code is kept with a map of its jump targets.
    let code = account
        .as_ref()
        .and_then(|account| account.contract.as_ref())
        .map_or(0, |contract| contract.code.len());

    256 + code + code / 8
}

impl Base for Remote {
    fn account(&self, address: &Address) -> Result<Option<Account>, ReadError> {
        let ask = || {
            let account = self.ask_account(address)?;
            self.keep(|| records_of(*address, account.as_ref()).collect());
            Ok(account)
        };
        self.accounts.get(*address, weight, ask)
    }

    fn slot(&self, address: &Address, index: U256) -> Result<U256, ReadError> {
        let ask = || {
            let params = self.slot_params(*address, index);
            let answer = self.client.ask(SLOT_METHOD, &params);
            let value = read(SLOT_METHOD, answer.as_ref().map(ForkAnswer::json))?;
            self.keep(|| vec![Record::Slot(*address, index, value)]);
            Ok(value)
        };
        self.slots.get((*address, index), |_| 1, ask)
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

        // Side by side: neither knows what the other finds.
        let (traced, fetched) = block_in_place(|| {
            thread::scope(|scope| {
                let ask = as_part(|| self.tracer.ask(&self.client, execution, &self.block));
                let asking = thread::Builder::new().spawn_scoped(scope, ask).ok();
                let fetched = self.fetch_all(wanted);
                let traced = asking.and_then(|asking| asking.join().ok().flatten());
                (traced, fetched)
            })
        });
        let named: Vec<_> = traced
            .map(|traced| self.take(traced, execution))
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

        let ask = || {
            let question = Self::block_question(number);
            let answer = self.client.ask(question.method, &question.params);
            let hash = hash_of(number, answer.as_ref().map(ForkAnswer::json))?;
            self.keep(|| vec![Record::BlockHash(number, hash)]);
            Ok(hash)
        };
        self.hashes.get(number, |_| 1, ask).map(Some)
    }

    fn block_hash_at_hand(&self, number: u64) -> Result<Option<Option<B256>>, ReadError> {
        if self.prefetch && number <= self.number {
            Ok(self.hashes.find(number).map(Some))
        } else {
            self.block_hash(number).map(Some)
        }
    }
}

/// The hash of a block. The other chain has all blocks up to the forked one: a node without one of
/// them is behind.
fn hash_of(number: u64, json: Result<&[u8], &AskError>) -> Result<B256, ReadError> {
    let json = json.map_err(|error| unavailable(error.to_string()))?;
    read_hash(json, number).map_err(|what| unavailable(format!("{BLOCK_METHOD}: {what}")))
}

/// Deserializes a result.
fn read<T: DeserializeOwned>(method: &str, json: Result<&[u8], &AskError>) -> Result<T, ReadError> {
    let json = json.map_err(|error| unavailable(error.to_string()))?;
    read_result(json).map_err(|error| unavailable(format!("{method}: {error}")))
}

fn unavailable(what: String) -> ReadError {
    ReadError(format!("the forked node did not answer: {what}"))
}

//! The state as an execution sees it: a base state with the execution's changes so far on top.

#[cfg(feature = "js-tracer")]
mod detached;

use std::collections::HashMap;

use alloy_consensus::constants::{EMPTY_ROOT_HASH, KECCAK_EMPTY};
use alloy_primitives::{Address, B256, Bytes, U256, keccak256, map::DefaultHashBuilder};
use revm::{
    Database, DatabaseRef,
    bytecode::Bytecode,
    state::{AccountId, AccountInfo, EvmState},
};
use tetrad_primitives::{
    block::CompressedKey,
    state::{
        Account, AccountChange, AccountFields, Changes, ReadError, ReadState, TracedCall, Wanted,
        bytecode,
    },
};

#[cfg(feature = "js-tracer")]
pub use self::detached::DetachedAccount;
use super::{
    guesses::Guesses,
    time_limit::{STOPPED, TimeLimit},
};

/// Hashes of past blocks, for the `BLOCKHASH` instruction.
pub trait BlockHashes: Send + Sync {
    /// The hash of the block with this number; none if there is no such block or it is no longer
    /// known.
    fn block_hash(&self, number: u64) -> Result<Option<B256>, ReadError>;

    /// The same, or nothing if another node would have to be asked for it.
    fn block_hash_at_hand(&self, number: u64) -> Result<Option<Option<B256>>, ReadError> {
        self.block_hash(number).map(Some)
    }
}

/// The code hash that revm sees for an account with storage but neither code nor nonce. revm treats
/// it as empty code except that it creates no contract there (EIP-7610), a rule that revm lacks
/// because it cannot see the storage.
const OCCUPIED: B256 = B256::ZERO;

/// A state with uncommitted changes on top.
pub struct Overlay<'a> {
    base: &'a dyn ReadState,
    hashes: &'a dyn BlockHashes,
    /// Every account that was read or changed, in the order of first use: the order in which new
    /// accounts get their numbers.
    accounts: Vec<OverlayAccount>,
    index: HashMap<Address, usize, DefaultHashBuilder>,
    time_limit: Option<TimeLimit<'a>>,
    /// The guesses of an execution whose outcome does not count if it needed any.
    guesses: Option<Guesses>,
}

#[derive(Clone)]
struct OverlayAccount {
    address: Address,
    key: B256,
    base: Option<Account>,
    now: Option<AccountInfo>,
    /// Whether all of it is a guess.
    guessed: bool,
    changed: bool,
    wiped: bool,
    /// Slots written so far.
    storage: HashMap<U256, U256, DefaultHashBuilder>,
    public_key: Option<CompressedKey>,
}

impl<'a> Overlay<'a> {
    /// No changes yet.
    pub fn new(base: &'a dyn ReadState, hashes: &'a dyn BlockHashes) -> Self {
        Self {
            base,
            hashes,
            accounts: Vec::new(),
            index: HashMap::default(),
            time_limit: None,
            guesses: None,
        }
    }

    /// An overlay without changes, for an execution with a time limit.
    pub(super) fn with_time_limit(mut self, time_limit: Option<TimeLimit<'a>>) -> Self {
        self.time_limit = time_limit;
        self
    }

    /// The execution's time limit.
    pub(super) fn time_limit(&mut self) -> Option<&mut TimeLimit<'a>> {
        self.time_limit.as_mut()
    }

    /// The same state without the changes.
    pub(super) fn unchanged(&self) -> Self {
        Self::new(self.base, self.hashes)
    }

    /// The number of accounts that have been used; see [`forget`](Self::forget).
    pub fn used(&self) -> usize {
        self.accounts.len()
    }

    /// Forgets all but the first `used` accounts. For work that is abandoned, such as a transaction
    /// that could not begin; nothing of it may have been [committed](Self::commit).
    pub fn forget(&mut self, used: usize) {
        for entry in self.accounts.drain(used..) {
            self.index.remove(&entry.address);
        }
    }

    /// The account as it is now.
    pub fn account(&mut self, address: Address) -> Result<Option<&AccountInfo>, ReadError> {
        let at = self.load(address)?;
        Ok(self.accounts[at].now.as_ref())
    }

    /// The account's number before the block, as Cosmos signatures name it; none if there was no
    /// account.
    pub fn account_number(&mut self, address: Address) -> Result<Option<u64>, ReadError> {
        let at = self.load(address)?;
        Ok(self.accounts[at].base.as_ref().map(Account::shown_number))
    }

    /// Adds to a balance outside of any transaction: rewards and withdrawals. An amount of zero
    /// still touches the account, which deletes it if it is empty (EIP-161).
    pub fn credit(
        &mut self,
        address: Address,
        amount: U256,
        clear_empty: bool,
    ) -> Result<(), ReadError> {
        let at = self.load(address)?;
        let entry = &mut self.accounts[at];
        let info = entry.now.get_or_insert_default();

        info.balance = info.balance.saturating_add(amount);
        entry.changed = true;

        // An empty account that is touched is removed (EIP-161).
        if clear_empty && info.is_empty() {
            entry.now = None;
            entry.wiped = true;
        }
        Ok(())
    }

    /// Replaces an account's fields outside of any transaction.
    pub fn edit(
        &mut self,
        address: Address,
        edit: impl FnOnce(&mut AccountInfo),
    ) -> Result<(), ReadError> {
        let at = self.load(address)?;
        let entry = &mut self.accounts[at];
        edit(entry.now.get_or_insert_default());
        entry.changed = true;
        Ok(())
    }

    /// Gives an account code outside of any transaction.
    pub fn set_code(&mut self, address: Address, code: Bytes) -> Result<(), ReadError> {
        let code = bytecode(code);
        self.edit(address, |info| {
            info.code_hash = code.hash_slow();
            info.code = Some(code);
        })
    }

    /// Writes a storage slot outside of any transaction.
    pub fn set_storage(
        &mut self,
        address: Address,
        slot: U256,
        value: U256,
    ) -> Result<(), ReadError> {
        let at = self.load(address)?;
        let entry = &mut self.accounts[at];
        entry.now.get_or_insert_default();
        entry.changed = true;
        entry.storage.insert(slot, value);
        Ok(())
    }

    /// Forgets all storage of an account, outside of any transaction.
    pub fn clear_storage(&mut self, address: Address) -> Result<(), ReadError> {
        let at = self.load(address)?;
        let entry = &mut self.accounts[at];
        entry.changed = true;
        entry.wiped = true;
        entry.storage.clear();
        Ok(())
    }

    /// Records the public key of a transaction that the account signed.
    pub(crate) fn signed_by(
        &mut self,
        address: Address,
        key: CompressedKey,
    ) -> Result<(), ReadError> {
        let at = self.load(address)?;
        self.accounts[at].public_key = Some(key);
        Ok(())
    }

    /// Adopts the changes of one transaction or system call.
    pub fn commit(&mut self, changes: EvmState) -> Result<(), ReadError> {
        for (address, account) in changes {
            // revm's state has the accounts that were only read, too.
            if !account.is_touched() {
                continue;
            }

            let at = self.load(address)?;
            let entry = &mut self.accounts[at];
            entry.changed = true;

            // An account that is created while it exists (it had a balance before) starts with
            // empty storage.
            if account.is_selfdestructed() || account.is_created() {
                entry.storage.clear();
                entry.wiped = true;
            }

            if account.is_selfdestructed() || (account.is_empty() && !account.is_created()) {
                entry.now = None;
                continue;
            }

            let changed = account
                .storage
                .into_iter()
                .filter(|(_, slot)| slot.is_changed());
            entry
                .storage
                .extend(changed.map(|(index, slot)| (index, slot.present_value)));

            let mut info = account.info;
            // revm hands back what `seen` gave it.
            if info.code_hash == OCCUPIED {
                info.code_hash = KECCAK_EMPTY;
            }
            entry.now = Some(info);
        }
        Ok(())
    }

    /// All changes, ready to be applied to the base state.
    pub fn into_changes(self) -> Changes {
        let forked = self.base.is_forked();
        let changed = self.accounts.into_iter().filter(|entry| entry.changed);
        Changes(
            changed
                .filter_map(|entry| entry.into_change(forked))
                .collect(),
        )
    }

    /// The root of the state with the changes so far, which receipts carry before Byzantium.
    pub fn root(&self) -> Result<B256, ReadError> {
        let changed = self.accounts.iter().filter(|entry| entry.changed).cloned();
        let forked = self.base.is_forked();
        self.base.root_with(&Changes(
            changed
                .filter_map(|entry| entry.into_change(forked))
                .collect(),
        ))
    }

    /// Refuses further reads for an execution that has exceeded its time limit. Only reads from
    /// disk or from another node take long.
    fn check_time_limit(&self) -> Result<(), ReadError> {
        match &self.time_limit {
            Some(time_limit) if self.base.is_forked() && time_limit.has_ended() => {
                Err(ReadError(STOPPED.to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn load(&mut self, address: Address) -> Result<usize, ReadError> {
        if let Some(&at) = self.index.get(&address) {
            return Ok(at);
        }

        self.check_time_limit()?;
        let key = keccak256(address);
        let at = self.accounts.len();
        let at_hand = match self.guesses {
            None => Some(self.base.account(&address, &key)?),
            Some(_) => self.base.account_at_hand(&address, &key)?,
        };
        let guessed = at_hand.is_none();
        let base = at_hand.flatten();
        let now = match &mut self.guesses {
            Some(guesses) if guessed => Some(AccountInfo {
                account_id: AccountId::new(at),
                ..guesses.account(address)?
            }),
            _ => base.as_ref().map(|account| info(account, at)),
        };

        self.accounts.push(OverlayAccount {
            address,
            key,
            base,
            now,
            guessed,
            changed: false,
            wiped: false,
            storage: HashMap::default(),
            public_key: None,
        });

        self.index.insert(address, at);
        Ok(at)
    }

    fn slot(&mut self, at: usize, index: U256) -> Result<U256, ReadError> {
        let entry = &self.accounts[at];
        let is_beneath = !entry.wiped && !entry.storage.contains_key(&index);
        let Some(guesses) = self.guesses.as_mut().filter(|_| is_beneath) else {
            return entry.slot(self.base, index);
        };

        match &entry.base {
            None if entry.guessed => guesses.slot(entry.address, index),
            None => Ok(U256::ZERO),
            Some(account) => match self.base.slot_at_hand(account, index)? {
                Some(value) => Ok(value),
                None => guesses.slot(entry.address, index),
            },
        }
    }

    /// Whether another node may have to be asked for accounts and slots.
    pub(super) fn asks_others(&self) -> bool {
        self.base.is_remote() && self.guesses.is_none()
    }

    /// Whether the execution has exceeded its time limit.
    pub(super) fn is_out_of_time(&self) -> bool {
        self.time_limit.as_ref().is_some_and(TimeLimit::has_ended)
    }

    /// Takes guesses for what is not at hand from now on.
    pub(super) fn begin_guessing(&mut self, guesses: Guesses) {
        self.guesses = Some(guesses);
    }

    /// Stops guessing, and returns the guesses so far.
    pub(super) fn end_guessing(&mut self) -> Option<Guesses> {
        self.guesses.take()
    }

    /// Those of these parts of the state that another node would have to be asked for.
    pub(super) fn not_at_hand(&self, mut wanted: Vec<Wanted>) -> Vec<Wanted> {
        wanted.retain(|wanted| match wanted {
            Wanted::Account(address) => !self.index.contains_key(address),
            Wanted::Slot(..) | Wanted::BlockHash(_) => true,
        });
        self.base.not_at_hand(&wanted)
    }

    /// Has another node asked for all of this at once; see [`ReadState::fetch`].
    pub(super) fn fetch(
        &self,
        wanted: &[Wanted],
        execution: Option<&TracedCall>,
    ) -> Result<(), ReadError> {
        self.base.fetch(wanted, execution)
    }
}

/// An account in revm's type; `at` is its index in the overlay.
fn info(account: &Account, at: usize) -> AccountInfo {
    AccountInfo {
        balance: account.balance,
        nonce: account.nonce,
        code_hash: account.code_hash(),
        account_id: AccountId::new(at),
        code: Some(account.code()),
    }
}

impl OverlayAccount {
    /// The account as revm sees it.
    fn seen(&self) -> Option<AccountInfo> {
        let mut info = self.now.clone()?;
        if info.nonce == 0 && info.code_hash == KECCAK_EMPTY && self.has_storage() {
            info.code_hash = OCCUPIED;
        }
        Some(info)
    }

    fn has_storage(&self) -> bool {
        let stored = self
            .base
            .as_ref()
            .is_some_and(|account| account.storage_root() != EMPTY_ROOT_HASH);
        (stored && !self.wiped) || self.storage.values().any(|value| !value.is_zero())
    }

    fn slot(&self, state: &dyn ReadState, index: U256) -> Result<U256, ReadError> {
        match (self.storage.get(&index), &self.base) {
            (Some(value), _) => Ok(*value),
            (None, Some(account)) if !self.wiped => state.slot(account, index),
            _ => Ok(U256::ZERO),
        }
    }

    /// The account's change, if there is one. On a fork it is complete for an account that only the
    /// base had so far.
    fn into_change(self, forked: bool) -> Option<AccountChange> {
        // Created and destroyed within the same changes.
        if self.now.is_none() && self.base.is_none() {
            return None;
        }

        let code_before = self.base.as_ref().map_or(KECCAK_EMPTY, Account::code_hash);
        let is_beneath = self.base.as_ref().is_some_and(Account::is_beneath);
        let after = self.now.map(|info| AccountFields {
            nonce: info.nonce,
            balance: info.balance,
            code: match &self.base {
                Some(base) if is_beneath && info.code_hash == code_before => {
                    Some((code_before, base.code()))
                }
                _ if info.code_hash == code_before => None,
                _ => Some((info.code_hash, info.code.unwrap_or_default())),
            },
        });

        let mut storage: Vec<_> = self.storage.into_iter().collect();
        storage.sort_unstable();

        Some(AccountChange {
            address: self.address,
            key: self.key,
            after,
            // Except on a fork, there is nothing beneath a new account.
            storage_wiped: self.wiped && (self.base.is_some() || forked),
            storage,
            public_key: self.public_key,
        })
    }
}

/// The state before a transaction, for tracers.
impl DatabaseRef for Overlay<'_> {
    type Error = ReadError;

    fn basic_ref(&self, address: Address) -> Result<Option<AccountInfo>, ReadError> {
        match self.index.get(&address) {
            Some(&at) => Ok(self.accounts[at].now.clone()),
            None => Ok(self
                .base
                .account(&address, &keccak256(address))?
                .as_ref()
                .map(|account| info(account, 0))),
        }
    }

    fn code_by_hash_ref(&self, hash: B256) -> Result<Bytecode, ReadError> {
        Err(ReadError(format!("no code with hash {hash}")))
    }

    fn storage_ref(&self, address: Address, index: U256) -> Result<U256, ReadError> {
        match self.index.get(&address) {
            Some(&at) => self.accounts[at].slot(self.base, index),
            None => match self.base.account(&address, &keccak256(address))? {
                Some(account) => self.base.slot(&account, index),
                None => Ok(U256::ZERO),
            },
        }
    }

    fn block_hash_ref(&self, number: u64) -> Result<B256, ReadError> {
        Ok(self.hashes.block_hash(number)?.unwrap_or_default())
    }
}

impl Database for Overlay<'_> {
    type Error = ReadError;

    fn basic(&mut self, address: Address) -> Result<Option<AccountInfo>, ReadError> {
        let at = self.load(address)?;
        Ok(self.accounts[at].seen())
    }

    fn code_by_hash(&mut self, hash: B256) -> Result<Bytecode, ReadError> {
        // Accounts are always returned with their code.
        Err(ReadError(format!("no code with hash {hash}")))
    }

    fn storage(&mut self, address: Address, index: U256) -> Result<U256, ReadError> {
        self.check_time_limit()?;
        let at = self.load(address)?;
        self.slot(at, index)
    }

    fn storage_by_account_id(
        &mut self,
        address: Address,
        id: AccountId,
        index: U256,
    ) -> Result<U256, ReadError> {
        self.check_time_limit()?;
        // A forgotten account's index may be another one's by now.
        let is_there = |entry: &OverlayAccount| entry.address == address;
        if self.accounts.get(id.get()).is_some_and(is_there) {
            self.slot(id.get(), index)
        } else {
            self.storage(address, index)
        }
    }

    fn block_hash(&mut self, number: u64) -> Result<B256, ReadError> {
        let Some(guesses) = &mut self.guesses else {
            return Ok(self.hashes.block_hash(number)?.unwrap_or_default());
        };
        match self.hashes.block_hash_at_hand(number)? {
            Some(hash) => Ok(hash.unwrap_or_default()),
            None => guesses.block_hash(number),
        }
    }
}

//! The other chain as of one block: the base of a forked state.

use std::{fmt, sync::Arc};

use alloy_primitives::{Address, B256, Bytes, U64, U256};
use revm::bytecode::Bytecode;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tetrad_primitives::state::{Account, Base, Contract, ReadError};

use super::{
    cache::Cache,
    client::{AskError, ForkAnswer, ForkClient},
};

/// The approximate size in bytes of cached accounts, in each of two generations.
const ACCOUNT_BYTES: usize = 64 << 20;
/// The number of cached slots, likewise.
const SLOTS: usize = 1 << 19;
/// The number of cached block hashes, likewise.
const HASHES: usize = 1 << 12;

/// The other chain as of one block.
pub struct Remote {
    client: Arc<ForkClient>,
    number: u64,
    /// The same as a block parameter.
    block: Value,
    accounts: Cache<Address, Option<Account>>,
    slots: Cache<(Address, U256), U256>,
    hashes: Cache<u64, Option<B256>>,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Remote {
    /// The chain that `client` knows, as of the block with this number.
    pub(super) fn new(client: Arc<ForkClient>, number: u64) -> Self {
        Self {
            client,
            number,
            block: json!(U64::from(number)),
            accounts: Cache::new(ACCOUNT_BYTES),
            slots: Cache::new(SLOTS),
            hashes: Cache::new(HASHES),
        }
    }

    fn ask_account(&self, address: &Address) -> Result<Option<Account>, ReadError> {
        let params = json!([address, self.block]);
        let methods = ["eth_getBalance", "eth_getTransactionCount", "eth_getCode"];
        let [balance, nonce, code] = self.client.ask_all(methods.map(|method| (method, &params)));

        let balance: U256 = read(methods[0], balance)?;
        let nonce: U64 = read(methods[1], nonce)?;
        let code: Bytes = read(methods[2], code)?;
        // Nodes answer with zeros for an account that does not exist (EIP-161).
        if balance.is_zero() && nonce.is_zero() && code.is_empty() {
            return Ok(None);
        }

        let contract = (!code.is_empty()).then(|| Arc::new(contract_of(code)));
        Ok(Some(Account {
            address: *address,
            number: Account::UNNUMBERED,
            nonce: nonce.to(),
            balance,
            public_key: None,
            contract,
        }))
    }
}

/// A contract with this code, which is not empty.
fn contract_of(code: Bytes) -> Contract {
    // Code that begins like a delegation without being a valid one is ordinary code.
    let code =
        Bytecode::new_raw_checked(code.clone()).unwrap_or_else(|_| Bytecode::new_legacy(code));
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

/// A block, of which only the hash is read.
#[derive(Deserialize)]
struct Hashed {
    hash: B256,
}

impl Base for Remote {
    fn account(&self, address: &Address) -> Result<Option<Account>, ReadError> {
        self.accounts
            .get(*address, weight, || self.ask_account(address))
    }

    fn slot(&self, address: &Address, index: U256) -> Result<U256, ReadError> {
        let method = "eth_getStorageAt";
        let ask = || {
            let params = json!([address, index, self.block]);
            read(method, self.client.ask(method, &params))
        };
        self.slots.get((*address, index), |_| 1, ask)
    }

    fn block_hash(&self, number: u64) -> Result<Option<B256>, ReadError> {
        // Later blocks are this chain's own.
        if number > self.number {
            return Ok(None);
        }

        let method = "eth_getBlockByNumber";
        let ask = || {
            let params = json!([U64::from(number), false]);
            let block: Option<Hashed> = read(method, self.client.ask(method, &params))?;
            Ok(block.map(|block| block.hash))
        };
        self.hashes.get(number, |_| 1, ask)
    }
}

/// Deserializes a result.
fn read<T: DeserializeOwned>(
    method: &str,
    answer: Result<ForkAnswer, AskError>,
) -> Result<T, ReadError> {
    let result = answer.map_err(|error| unavailable(error.to_string()))?;
    result
        .read()
        .map_err(|error| unavailable(format!("{method}: {error}")))
}

fn unavailable(what: String) -> ReadError {
    ReadError(format!("the forked node did not answer: {what}"))
}

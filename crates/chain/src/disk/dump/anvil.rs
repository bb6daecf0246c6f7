//! The data types of anvil's dump format.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, OnceLock},
};

use alloy_consensus::{Header, TxType, Typed2718};
use alloy_primitives::{Address, B256, Bytes, Log, U256};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::{Map, Value, json};
use tetrad_primitives::block::{Block, Envelope, Receipt, Status, Transaction, bloom};

use super::{DumpError, contiguous};
use crate::GenesisAccount;

/// Accounts by address.
pub(super) type Accounts = BTreeMap<Address, DumpedAccount>;

/// An account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct DumpedAccount {
    pub(super) nonce: u64,
    pub(super) balance: U256,
    #[serde(default)]
    pub(super) code: Bytes,
    #[serde(default)]
    pub(super) storage: BTreeMap<U256, U256>,
}

impl DumpedAccount {
    pub(super) fn at(&self, address: Address) -> GenesisAccount {
        GenesisAccount {
            address,
            balance: self.balance,
            nonce: self.nonce,
            code: self.code.clone(),
            storage: self
                .storage
                .iter()
                .map(|(slot, value)| (*slot, *value))
                .collect(),
        }
    }
}

/// Returns what has to be set so that the accounts become those `after`.
pub(super) fn difference(before: &Accounts, after: &Accounts) -> Vec<GenesisAccount> {
    let nothing = DumpedAccount::default();
    let gone = before
        .keys()
        .filter(|address| !after.contains_key(*address))
        .map(|address| (address, &nothing));

    after
        .iter()
        .chain(gone)
        .filter(|(address, account)| before.get(*address) != Some(*account))
        .map(|(address, account)| {
            let mut changed = account.at(*address);
            let old = before.get(address).map(|account| &account.storage);
            // Slots that are no longer listed are zero.
            let cleared = old
                .into_iter()
                .flatten()
                .filter(|(slot, _)| !account.storage.contains_key(*slot));
            changed
                .storage
                .extend(cleared.map(|(slot, _)| (*slot, U256::ZERO)));
            changed
        })
        .collect()
}

/// A block without its receipts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DumpedBlock {
    header: Header,
    transactions: Vec<MaybeImpersonated>,
    #[serde(default)]
    ommers: Vec<Header>,
    /// Always null in anvil's dumps.
    #[serde(skip_deserializing)]
    withdrawals: (),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct MaybeImpersonated {
    #[serde(deserialize_with = "envelope")]
    transaction: Envelope,
    #[serde(default)]
    impersonated_sender: Option<Address>,
}

/// The names of the types of transactions in dumps of anvil before 1.6, which write
/// `{"EIP1559": {…}}` instead of a member `type`.
const TYPE_NAMES: [(&str, &str); 5] = [
    ("Legacy", LEGACY),
    ("EIP2930", "0x1"),
    ("EIP1559", "0x2"),
    ("EIP4844", "0x3"),
    ("EIP7702", "0x4"),
];

/// The type of transactions whose `v` includes the chain id (EIP-155).
const LEGACY: &str = "0x0";

/// Gives a transaction that has the parity of its signature as `v` the one that it was signed with.
fn restore_v(fields: &mut Map<String, Value>) {
    let Some(parity) = hex_number(fields, "v").filter(|v| *v < 2) else {
        return;
    };

    let v = match hex_number(fields, "chainId") {
        Some(chain) => u128::from(chain) * 2 + 35 + u128::from(parity),
        None => 27 + u128::from(parity),
    };
    fields.insert("v".to_owned(), format!("{v:#x}").into());
}

fn hex_number(fields: &Map<String, Value>, name: &str) -> Option<u64> {
    let digits = fields.get(name)?.as_str()?.strip_prefix("0x")?;
    u64::from_str_radix(digits, 16).ok()
}

/// Reads a transaction of any version of anvil.
fn envelope<'de, D: Deserializer<'de>>(from: D) -> Result<Envelope, D::Error> {
    let mut transaction = Value::deserialize(from)?;
    let named = TYPE_NAMES
        .into_iter()
        .find_map(|(name, kind)| Some((transaction.get_mut(name)?.take(), kind)));
    if let Some((mut fields, kind)) = named {
        if let Some(fields) = fields.as_object_mut() {
            fields.insert("type".to_owned(), kind.into());
            if kind == LEGACY {
                restore_v(fields);
            }
        }
        transaction = fields;
    }
    serde_json::from_value(transaction).map_err(D::Error::custom)
}

impl DumpedBlock {
    pub(super) fn number(&self) -> u64 {
        self.header.number
    }

    pub(super) fn of(block: &Arc<Block>) -> Self {
        let transactions = block
            .transactions
            .iter()
            .map(|transaction| MaybeImpersonated {
                transaction: transaction.envelope.clone(),
                impersonated_sender: transaction.is_impersonated().then_some(transaction.sender),
            });
        Self {
            header: block.header.clone(),
            transactions: transactions.collect(),
            ommers: block.ommers.clone(),
            withdrawals: (),
        }
    }
}

impl MaybeImpersonated {
    fn restore(self) -> Result<Transaction, DumpError> {
        if let Some(sender) = self.impersonated_sender {
            return Ok(Transaction {
                envelope: self.transaction,
                sender,
                public_key: None,
            });
        }

        let hash = self.transaction.tx_hash().to_string();
        Transaction::recover(self.transaction, true)
            .map_err(|error| DumpError::Signature(hash, error))
    }
}

/// A transaction's receipt and its block. Restoring a chain needs nothing of `info`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DumpedTransaction {
    #[serde(skip_deserializing)]
    info: Value,
    receipt: DumpedReceipt,
    block_hash: B256,
    block_number: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DumpedReceipt {
    #[serde(rename = "type", skip_deserializing)]
    kind: Value,
    #[serde(with = "alloy_serde::quantity")]
    status: u64,
    #[serde(with = "alloy_serde::quantity")]
    cumulative_gas_used: u64,
    logs: Vec<Log>,
    #[serde(skip_deserializing)]
    logs_bloom: Value,
}

impl DumpedTransaction {
    pub(super) fn all(block: &Arc<Block>) -> impl Iterator<Item = Self> {
        let receipts = block.receipts.iter().zip(&block.transactions).enumerate();
        receipts.map(|(index, (receipt, transaction))| {
            use alloy_consensus::Transaction as _;
            let exit = if receipt.succeeded() {
                "Stop"
            } else {
                "Revert"
            };
            let info = json!({
                "transaction_hash": transaction.hash(),
                "transaction_index": index,
                "from": transaction.sender,
                "to": transaction.envelope.to(),
                "contract_address": transaction.creates(),
                "traces": [],
                "exit": exit,
                "out": Bytes::new(),
                "nonce": transaction.envelope.nonce(),
                "gas_used": receipt.gas_used,
            });

            let receipt = DumpedReceipt {
                kind: format!("{:#x}", transaction.envelope.ty()).into(),
                status: u64::from(receipt.succeeded()),
                cumulative_gas_used: receipt.cumulative_gas_used,
                logs: receipt.logs.clone(),
                logs_bloom: json!(receipt.bloom()),
            };
            Self {
                info,
                receipt,
                block_hash: block.hash,
                block_number: block.number(),
            }
        })
    }
}

/// Returns the blocks with their receipts, from the newest back to the first gap.
pub(super) fn blocks(
    blocks: Vec<DumpedBlock>,
    transactions: Vec<DumpedTransaction>,
) -> Result<Vec<Arc<Block>>, DumpError> {
    let mut receipts: HashMap<B256, Vec<DumpedReceipt>> = HashMap::new();
    let mut hashes: HashMap<u64, B256> = HashMap::new();
    for transaction in transactions {
        hashes.insert(transaction.block_number, transaction.block_hash);
        receipts
            .entry(transaction.block_hash)
            .or_default()
            .push(transaction.receipt);
    }

    let restored = blocks.into_iter().map(|block| {
        let hash = block.header.hash_slow();
        // Anvil of 2024 hashed headers without `withdrawalsRoot` in a way of its own.
        let dumped = receipts
            .remove(&hash)
            .or_else(|| receipts.remove(hashes.get(&block.number())?));
        restore(block, hash, dumped.unwrap_or_default()).map(Arc::new)
    });
    Ok(contiguous(restored.collect::<Result<_, _>>()?))
}

fn restore(
    block: DumpedBlock,
    hash: B256,
    mut dumped: Vec<DumpedReceipt>,
) -> Result<Block, DumpError> {
    let DumpedBlock {
        header,
        transactions,
        ommers,
        ..
    } = block;
    if transactions.len() != dumped.len() {
        return Err(DumpError::Receipts(
            header.number,
            transactions.len(),
            dumped.len(),
        ));
    }

    // Anvil dumps transactions in no particular order.
    dumped.sort_by_key(|receipt| receipt.cumulative_gas_used);
    let transactions: Vec<_> = transactions
        .into_iter()
        .map(|one| one.restore().map(Arc::new))
        .collect::<Result<_, _>>()?;
    let receipts = restore_receipts(dumped, &transactions);
    let withdrawals = header.withdrawals_root.map(|_| Vec::new());

    Ok(Block {
        hash,
        header,
        receipts,
        transactions,
        ommers,
        withdrawals,
        known_size: OnceLock::new(),
    })
}

/// Restores the receipts of a block from those of a dump, in the order of the transactions.
fn restore_receipts(dumped: Vec<DumpedReceipt>, transactions: &[Arc<Transaction>]) -> Vec<Receipt> {
    let mut gas = 0;
    let mut logs = 0;
    dumped
        .into_iter()
        .zip(transactions)
        .map(|(receipt, transaction)| {
            let status = if receipt.status == 1 {
                Status::Success
            } else {
                Status::Failure
            };
            let restored = Receipt {
                tx_type: TxType::try_from(transaction.envelope.ty()).unwrap_or_default(),
                status,
                cumulative_gas_used: receipt.cumulative_gas_used,
                gas_used: receipt.cumulative_gas_used.saturating_sub(gas),
                bloom: bloom(&receipt.logs),
                first_log_index: logs,
                logs: receipt.logs,
            };
            gas = receipt.cumulative_gas_used;
            logs += restored.logs.len() as u64;
            restored
        })
        .collect()
}

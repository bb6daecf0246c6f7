//! A chain full of the largest content that it accepts.

mod account;
mod contracts;
mod cosmos;

use std::time::{Duration, Instant};

use alloy::primitives::{Address, Bytes, TxKind, U256, hex, keccak256};
use base64ct::{Base64, Encoding};
use serde_json::{Value, json};

pub(super) use self::account::key;
use self::{
    account::{Account, GAS, RECIPIENT},
    contracts::{LOGGER, RECURSION, token},
    cosmos::{fill_cosmos, wrongly_signed},
};
use super::{api::Api, documents::ChainValues};
use crate::{contracts::random::Random, cosmos::signing::bech32};

/// Bytes of data in a transaction, which make it nearly as large as the pool accepts.
const DATA: usize = 127_000;
/// How long the chain may take to include all transactions.
pub(super) const INCLUSION_TIMEOUT: Duration = Duration::from_secs(120);

/// The acknowledged content of the chain.
pub(super) struct Filled {
    pub chain_values: ChainValues,
    /// Hashes of Ethereum transactions.
    pub hashes: Vec<String>,
    /// Hashes of Cosmos transactions, a short one first.
    pub cosmos_hashes: Vec<String>,
    /// The levels of the deepest nested messages that the node accepted.
    pub levels: Option<usize>,
    /// Accounts whose keys no other client has.
    pub accounts: Vec<Address>,
}

/// The contracts on the filled chain.
struct Contracts {
    logger: Address,
    recursion: Address,
    /// A token whose name and symbol are a megabyte of zeros.
    blank_token: Address,
    /// A token whose name and symbol are 20,000 letters.
    lettered_token: Address,
}

/// Fills the chain. Messages nest no deeper than `levels`.
pub(super) async fn fill(
    api: &Api,
    transactions: usize,
    levels: usize,
    random: &mut Random,
) -> Filled {
    let mut main = Account::new(api, 1).await;
    let mut other = Account::new(api, 2).await;
    let mut hashes = Vec::new();

    let contracts = deploy_contracts(&mut main, &mut hashes).await;
    let (blob_transaction, blobs) = main.send_blobs(RECIPIENT).await;
    hashes.push(blob_transaction);
    let remarkable = call_contracts(&mut main, &contracts).await;

    for n in 0..transactions {
        let mut data = vec![0; DATA];
        let mut gas = 1_400_000;
        // Random bytes cannot be compressed.
        if n % 16 == 0 {
            data.fill_with(|| random.next() as u8);
            gas = 5_500_000;
        }

        let sender = if n % 8 == 7 { &mut other } else { &mut main };
        hashes.push(sender.send(TxKind::Call(RECIPIENT), data, gas).await);
    }
    // The remarkable ones come last, where `add_transactions` takes them from.
    hashes.extend(remarkable);

    let (cosmos_hashes, levels) = fill_cosmos(api, transactions / 5, levels).await;
    let receipts = included(api, &hashes).await;

    let without_gas = other.signed(TxKind::Call(RECIPIENT), vec![1; DATA], 21_000);
    let main = main.key.address();
    let other = other.key.address();
    let mut chain_values = ChainValues::default();
    add_accounts(&mut chain_values, main, other, &contracts);
    add_transactions(&mut chain_values, &hashes, &receipts);
    add_numbers(&mut chain_values);
    for hash in cosmos_hashes.iter().rev() {
        chain_values.add(hash);
    }
    for hash in blobs {
        chain_values.add(hash.to_string());
    }
    add_conditions(&mut chain_values);
    add_raw_transactions(&mut chain_values, &without_gas);
    for word in [
        "latest", "earliest", "pending", "desc", "and", "or", "ahpx", "WETH", "AAAAAAAA", "",
    ] {
        chain_values.add(word);
    }

    Filled {
        chain_values,
        hashes,
        cosmos_hashes,
        levels,
        accounts: vec![main, RECIPIENT, other, key(3).address()],
    }
}

/// Deploys the contracts, and one with the maximum code size. Adds the hashes of the transactions.
async fn deploy_contracts(account: &mut Account<'_>, hashes: &mut Vec<String>) -> Contracts {
    let blank_token = token(1 << 20, &[]);
    let lettered_token = token(20_000, &[b'A'; 20_000]);
    let longest_code = vec![0x5b; 24_576];

    let mut addresses = Vec::new();
    for code in [
        &LOGGER[..],
        &RECURSION,
        &blank_token,
        &lettered_token,
        &longest_code,
    ] {
        let (address, hash) = account.deploy(code).await;
        addresses.push(address);
        hashes.push(hash);
    }

    Contracts {
        logger: addresses[0],
        recursion: addresses[1],
        blank_token: addresses[2],
        lettered_token: addresses[3],
    }
}

/// Sends the transactions with the largest receipts and traces, and returns their hashes.
async fn call_contracts(account: &mut Account<'_>, contracts: &Contracts) -> Vec<String> {
    let word = |number: u64| U256::from(number).to_be_bytes_vec();
    let many_logs = [word(0), word(19_000)].concat();
    let large_logs = [word(200_000), word(7)].concat();
    let deep_calls = word(1);
    let many_calls = word(2);

    let mut hashes = Vec::new();
    for (contract, input, gas) in [
        (contracts.logger, many_logs, GAS),
        (contracts.logger, large_logs, GAS),
        (contracts.recursion, deep_calls, GAS),
        (contracts.recursion, many_calls, 3_000_000),
        (contracts.blank_token, Vec::new(), 100_000),
        (contracts.lettered_token, Vec::new(), 100_000),
    ] {
        hashes.push(account.send(TxKind::Call(contract), input, gas).await);
    }
    hashes
}

/// Adds the addresses on the chain, in hex and in bech32.
fn add_accounts(
    chain_values: &mut ChainValues,
    main: Address,
    other: Address,
    contracts: &Contracts,
) {
    let cosmos = key(3).address();

    for address in [
        main,
        RECIPIENT,
        contracts.blank_token,
        contracts.logger,
        contracts.lettered_token,
        contracts.recursion,
        other,
        cosmos,
    ] {
        chain_values.add(format!("{address:#x}"));
    }
    for address in [main, RECIPIENT, cosmos] {
        chain_values.add(bech32(address));
    }
}

/// Adds some of the last transactions with their blocks, and the search keys of their logs. Sets
/// the height to that of the last one.
fn add_transactions(chain_values: &mut ChainValues, hashes: &[String], receipts: &[Value]) {
    let count = hashes.len();
    // The last one with data, the large logs, the many logs, the deep and the many calls.
    let shown = [count - 7, count - 5, count - 6, count - 4, count - 3];

    for at in shown {
        let hash = &hashes[at];
        let receipt = &receipts[at];
        chain_values.add(hash);
        chain_values.add(receipt["blockHash"].as_str().unwrap());

        let number = receipt["blockNumber"].as_str().unwrap();
        chain_values.add(number);
        chain_values.height = u64::from_str_radix(&number[2..], 16).unwrap();
        chain_values.add(chain_values.height.to_string());
    }
    chain_values.add(keccak256("Transfer(address,address,uint256)").to_string());
}

/// Adds numbers and quantities, valid ones first.
fn add_numbers(chain_values: &mut ChainValues) {
    for number in [
        "10000",
        "1000",
        "0",
        "1",
        "99999999",
        "18446744073709551615",
    ] {
        chain_values.add(number);
    }
    for quantity in ["0x2710", "0x0", "0x1", "0xffffffff"] {
        chain_values.add(quantity);
    }
}

/// Adds conditions of event searches.
fn add_conditions(chain_values: &mut ChainValues) {
    for condition in [
        "tx.height>0",
        "block.height>0",
        "tx.height > 0 AND tx.height < 99999999",
    ] {
        chain_values.add(condition);
    }
    chain_values.add(format!("transfer.recipient='{}'", bech32(RECIPIENT)));
}

/// Adds a Cosmos transaction with a wrong signature, and an Ethereum transaction with too little
/// gas for its data.
fn add_raw_transactions(chain_values: &mut ChainValues, ethereum: &Bytes) {
    let wrong = wrongly_signed(&key(4));
    chain_values.add(Base64::encode_string(&wrong));
    chain_values.add(hex::encode_prefixed(&wrong));
    chain_values.add(ethereum.to_string());
}

/// Waits until transactions are in blocks, and returns their receipts.
async fn included(api: &Api, hashes: &[String]) -> Vec<Value> {
    let began = Instant::now();
    let mut receipts = Vec::new();

    for hash in hashes {
        loop {
            let receipt = api.rpc("eth_getTransactionReceipt", json!([hash])).await;
            if receipt.is_object() {
                // A receipt may have megabytes of logs.
                receipts.push(json!({
                    "blockHash": receipt["blockHash"],
                    "blockNumber": receipt["blockNumber"],
                }));
                break;
            }

            assert!(
                began.elapsed() < INCLUSION_TIMEOUT,
                "{hash} must be included in time"
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    receipts
}

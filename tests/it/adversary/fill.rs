//! A chain full of the largest things that it admits.

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
use super::{api::Api, documents::World};
use crate::{contracts::random::Random, cosmos::signing::bech32};

/// Bytes of data in a transaction: with the rest, close to what the pool takes.
const DATA: usize = 127_000;
/// How long the chain may take to include everything.
pub(super) const INCLUSION_TIMEOUT: Duration = Duration::from_secs(120);

/// What was put on the chain, and acknowledged.
pub(super) struct Filled {
    pub world: World,
    /// Hashes of Ethereum transactions.
    pub hashes: Vec<String>,
    /// Hashes of Cosmos transactions, a short one first.
    pub cosmos_hashes: Vec<String>,
    /// The levels of the deepest nested messages that the node admitted.
    pub levels: Option<usize>,
    /// Accounts that nobody else has a key for.
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

/// Fills the chain. The deepest nested message has no more than `levels`.
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
    // The remarkable ones are the last, where the world looks for them.
    hashes.extend(remarkable);

    let (cosmos_hashes, levels) = fill_cosmos(api, transactions / 5, levels).await;
    let receipts = included(api, &hashes).await;

    let without_gas = other.signed(TxKind::Call(RECIPIENT), vec![1; DATA], 21_000);
    let main = main.key.address();
    let other = other.key.address();
    let mut world = World::default();
    add_accounts(&mut world, main, other, &contracts);
    add_transactions(&mut world, &hashes, &receipts);
    add_numbers(&mut world);
    for hash in cosmos_hashes.iter().rev() {
        world.add(hash);
    }
    for hash in blobs {
        world.add(hash.to_string());
    }
    add_conditions(&mut world);
    add_raw_transactions(&mut world, &without_gas);
    for word in [
        "latest", "earliest", "pending", "desc", "and", "or", "ahpx", "WETH", "AAAAAAAA", "",
    ] {
        world.add(word);
    }

    Filled {
        world,
        hashes,
        cosmos_hashes,
        levels,
        accounts: vec![main, RECIPIENT, other, key(3).address()],
    }
}

/// Deploys the contracts, and one whose code is as long as it may be. Adds the hashes of the
/// transactions.
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

/// Adds the addresses on the chain, in hex and as Cosmos clients write them.
fn add_accounts(world: &mut World, main: Address, other: Address, contracts: &Contracts) {
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
        world.add(format!("{address:#x}"));
    }
    for address in [main, RECIPIENT, cosmos] {
        world.add(bech32(address));
    }
}

/// Adds some of the last transactions with their blocks, and what logs are searched by. The height
/// becomes that of the last of them.
fn add_transactions(world: &mut World, hashes: &[String], receipts: &[Value]) {
    let count = hashes.len();
    // The last one with data, the large logs, the many logs, the deep and the many calls.
    let shown = [count - 7, count - 5, count - 6, count - 4, count - 3];

    for at in shown {
        let hash = &hashes[at];
        let receipt = &receipts[at];
        world.add(hash);
        world.add(receipt["blockHash"].as_str().unwrap());

        let number = receipt["blockNumber"].as_str().unwrap();
        world.add(number);
        world.height = u64::from_str_radix(&number[2..], 16).unwrap();
        world.add(world.height.to_string());
    }
    world.add(keccak256("Transfer(address,address,uint256)").to_string());
}

/// Adds numbers and quantities, sensible ones first.
fn add_numbers(world: &mut World) {
    for number in [
        "10000",
        "1000",
        "0",
        "1",
        "99999999",
        "18446744073709551615",
    ] {
        world.add(number);
    }
    for quantity in ["0x2710", "0x0", "0x1", "0xffffffff"] {
        world.add(quantity);
    }
}

/// Adds conditions of searches among events.
fn add_conditions(world: &mut World) {
    for condition in [
        "tx.height>0",
        "block.height>0",
        "tx.height > 0 AND tx.height < 99999999",
    ] {
        world.add(condition);
    }
    world.add(format!("transfer.recipient='{}'", bech32(RECIPIENT)));
}

/// Adds a Cosmos transaction with a wrong signature, and an Ethereum transaction, whose gas does not
/// suffice for its data.
fn add_raw_transactions(world: &mut World, ethereum: &Bytes) {
    let wrong = wrongly_signed(&key(4));
    world.add(Base64::encode_string(&wrong));
    world.add(hex::encode_prefixed(&wrong));
    world.add(ethereum.to_string());
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
                "{hash} is included in time"
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    receipts
}

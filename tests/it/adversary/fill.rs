//! A chain full of the largest things that it admits.

use std::time::{Duration, Instant};

use alloy::{
    consensus::{TxEip1559, TxEip4844},
    eips::eip4844::builder::{SidecarBuilder, SimpleCoder},
    primitives::{Address, B256, Bytes, TxKind, U256, hex, keccak256},
    signers::{SignerSync, local::PrivateKeySigner},
};
use base64ct::{Base64, Encoding};
use prost::Message;
use serde_json::{Value, json};
use tetrad_primitives::block::cosmos::proto::{
    Any, AuthInfo, Fee, ModeInfo, PubKey, SignDoc, SignerInfo, SingleMode, TxBody, TxRaw,
};

use super::{api::Api, documents::World};
use crate::{
    contracts::random::Random,
    cosmos::signing::{CHAIN_ID, bech32, coins, multi_send, send},
    support::sign,
};

/// Bytes of data in a transaction: with the rest, close to what the pool takes.
const DATA: usize = 127_000;
/// Bytes of a Cosmos transaction's extension options, close to the limit of its size.
const OPTIONS: usize = 118_000;
/// Blobs of a transaction (EIP-7594), and bytes that the blobs of the test hold each.
const BLOBS: usize = 6;
const BLOB_BYTES: usize = 120_000;
/// Characters of a memo.
const MEMO: usize = 256;
/// The most gas of a transaction (EIP-7825).
const GAS: u64 = 16_000_000;
/// Wei per gas that every transaction pays at most: more than full blocks make of the base fee.
const GAS_PRICE: u128 = 1_000_000_000_000;
/// The levels of nested messages that are tried, the deepest first.
const LEVELS: [usize; 8] = [2_000, 1_000, 500, 200, 100, 50, 20, 5];
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

/// A key of this test alone.
pub(super) fn key(n: u8) -> PrivateKeySigner {
    PrivateKeySigner::from_slice(keccak256([n]).as_slice()).unwrap()
}

/// The code that deploys a contract.
fn deployment(runtime: &[u8]) -> Vec<u8> {
    let size = u16::try_from(runtime.len()).unwrap().to_be_bytes();
    // PUSH2 size, DUP1, PUSH1 10, PUSH0, CODECOPY, PUSH0, RETURN.
    [
        &[
            0x61, size[0], size[1], 0x80, 0x60, 10, 0x5f, 0x39, 0x5f, 0xf3,
        ],
        runtime,
    ]
    .concat()
}

/// A contract that emits as many logs as the second word of its input says, of as many bytes as the
/// first says.
const LOGGER: [u8; 23] = hex!("6020355b801560155760019003805f355fa16003565b00");

/// A contract that calls itself as often as its input says, as does each of these calls, as long as
/// there is gas.
const RECURSION: [u8; 30] = hex!("365f5f375f355b8015601c57600190035f5f365f5f305af1506006565b00");

/// A token whose name and symbol have so many characters. Without input it emits a transfer.
fn token(characters: usize, text: &[u8]) -> Vec<u8> {
    let size = u32::try_from(characters).unwrap();
    let word = |size: u32| [&[0x62], &size.to_be_bytes()[1..]].concat();
    let transfer = keccak256("Transfer(address,address,uint256)");
    let mut code = [
        &hex!("3660305760015f5230337f")[..],
        transfer.as_slice(),
        &hex!("60205fa3005b"),
    ]
    .concat();
    if !text.is_empty() {
        let copied = u16::try_from(text.len()).unwrap().to_be_bytes();
        // The text follows 8 bytes here and 18 below.
        let at = u8::try_from(code.len() + 8 + 18).unwrap();
        code.extend([&[0x61], &copied[..], &[0x60, at, 0x60, 0x40, 0x39]].concat());
    }
    // MSTORE(0, 32), MSTORE(32, size), RETURN(0, size + 64).
    code.extend(
        [
            &hex!("60205f52")[..],
            &word(size),
            &hex!("602052"),
            &word(size + 64),
            &hex!("5ff3"),
        ]
        .concat(),
    );
    code.resize(code.len() + 1, 0);
    [code.as_slice(), text].concat()
}

/// A sender of transactions.
struct Account<'a> {
    api: &'a Api,
    key: PrivateKeySigner,
    nonce: u64,
}

impl Account<'_> {
    async fn new(api: &Api, n: u8) -> Account<'_> {
        let key = key(n);
        for _ in 0..2 {
            let paid = api
                .post("/api/faucet", &json!({"address": key.address()}))
                .await;
            assert_eq!(paid["success"], true, "{paid}");
        }
        api.until_paid(key.address()).await;
        Account { api, key, nonce: 0 }
    }

    fn signed(&mut self, to: TxKind, input: Vec<u8>, gas_limit: u64) -> Bytes {
        let tx = TxEip1559 {
            to,
            input: input.into(),
            gas_limit,
            max_fee_per_gas: GAS_PRICE,
            value: U256::ZERO,
            ..sign::transfer(self.nonce)
        };
        self.nonce += 1;
        sign::raw_of(tx, &self.key)
    }

    /// Sends a transaction, which must be accepted, and returns its hash.
    async fn send(&mut self, to: TxKind, input: Vec<u8>, gas_limit: u64) -> String {
        let raw = self.signed(to, input, gas_limit);
        self.api
            .rpc("eth_sendRawTransaction", json!([raw]))
            .await
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Sends a transaction with as many blobs as it may have. Returns its hash, and those of the
    /// blobs.
    async fn send_blobs(&mut self, to: Address) -> (String, Vec<B256>) {
        let tx = TxEip4844 {
            chain_id: 125,
            nonce: self.nonce,
            to,
            gas_limit: 21_000,
            max_fee_per_gas: GAS_PRICE,
            max_priority_fee_per_gas: 1_000_000_000,
            max_fee_per_blob_gas: GAS_PRICE,
            ..TxEip4844::default()
        };
        let sidecar = SidecarBuilder::<SimpleCoder>::from_slice(&[1; BLOBS * BLOB_BYTES])
            .build_7594()
            .unwrap();
        let (raw, hashes) = sign::raw_with_blobs(tx, sidecar, &self.key);
        let hash = self.api.rpc("eth_sendRawTransaction", json!([raw])).await;
        self.nonce += 1;
        (hash.as_str().unwrap().to_owned(), hashes)
    }

    /// Deploys a contract.
    async fn deploy(&mut self, runtime: &[u8]) -> (Address, String) {
        let address = self.key.address().create(self.nonce);
        (
            address,
            self.send(TxKind::Create, deployment(runtime), GAS).await,
        )
    }
}

/// An unsigned Cosmos transaction with everything as large as possible.
fn body(messages: Vec<Any>, options: Vec<Any>) -> TxBody {
    let memo = "m".repeat(MEMO);
    TxBody {
        messages,
        memo,
        non_critical_extension_options: options,
        ..TxBody::default()
    }
}

/// Messages in messages, so many levels deep.
fn nested(levels: usize) -> Any {
    let innermost = Any {
        type_url: "/cosmos.tx.v1beta1.TxBody".to_owned(),
        value: Vec::new(),
    };
    (1..levels).fold(innermost, |inner, _| Any {
        type_url: "/cosmos.tx.v1beta1.TxBody".to_owned(),
        value: TxBody {
            messages: vec![inner],
            ..TxBody::default()
        }
        .encode_to_vec(),
    })
}

/// `SIGN_MODE_DIRECT`.
const DIRECT: i32 = 1;
/// `SIGN_MODE_LEGACY_AMINO_JSON`.
const AMINO_JSON: i32 = 127;

/// A Cosmos transaction; without an account number its signature is wrong.
fn cosmos_tx(
    key: &PrivateKeySigner,
    sequence: u64,
    account_number: Option<u64>,
    body: &TxBody,
) -> Vec<u8> {
    let point = key
        .credential()
        .verifying_key()
        .to_encoded_point(true)
        .as_bytes()
        .to_vec();
    let public_key = Some(Any {
        type_url: "/hyperpaxeer.crypto.v1.ethsecp256k1.PubKey".to_owned(),
        value: PubKey { key: point }.encode_to_vec(),
    });
    let mode = if account_number.is_some() {
        DIRECT
    } else {
        AMINO_JSON
    };
    let mode_info = Some(ModeInfo {
        single: Some(SingleMode { mode }),
    });
    let fee = Fee {
        amount: coins(u128::from(GAS) * GAS_PRICE),
        gas_limit: GAS,
        ..Fee::default()
    };
    let auth = AuthInfo {
        signer_infos: vec![SignerInfo {
            public_key,
            mode_info,
            sequence,
        }],
        fee: Some(fee),
    };
    let document = SignDoc {
        body_bytes: body.encode_to_vec(),
        auth_info_bytes: auth.encode_to_vec(),
        chain_id: CHAIN_ID.to_owned(),
        account_number: account_number.unwrap_or_default(),
    };
    let signature = key
        .sign_hash_sync(&keccak256(document.encode_to_vec()))
        .unwrap()
        .as_bytes()[..64]
        .to_vec();
    let SignDoc {
        body_bytes,
        auth_info_bytes,
        ..
    } = document;
    TxRaw {
        body_bytes,
        auth_info_bytes,
        signatures: vec![signature],
    }
    .encode_to_vec()
}

/// A Cosmos transaction of about 38 kB whose signature is none of any document that signers have.
fn wrongly_signed(key: &PrivateKeySigner) -> Vec<u8> {
    let outputs: Vec<_> = (0..490)
        .map(|n| (Address::with_last_byte(n as u8), 1))
        .collect();
    cosmos_tx(
        key,
        0,
        None,
        &body(vec![multi_send(key.address(), &outputs)], Vec::new()),
    )
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
    let recipient = Address::repeat_byte(0xda);

    let mut contracts = Vec::new();
    let large = vec![0x5b; 24_576];
    let names = [token(1 << 20, &[]), token(20_000, &[b'A'; 20_000])];
    for code in [&LOGGER[..], &RECURSION, &names[0], &names[1], &large] {
        let (address, hash) = main.deploy(code).await;
        contracts.push(address);
        hashes.push(hash);
    }
    let (hash, blobs) = main.send_blobs(recipient).await;
    hashes.push(hash);
    let word = |number: u64| U256::from(number).to_be_bytes_vec();
    let mut remarkable = Vec::new();
    // Many logs and large ones; deep calls and many.
    for (contract, input, gas) in [
        (0, [word(0), word(19_000)].concat(), GAS),
        (0, [word(200_000), word(7)].concat(), GAS),
        (1, word(1), GAS),
        (1, word(2), 3_000_000),
        (2, Vec::new(), 100_000),
        (3, Vec::new(), 100_000),
    ] {
        remarkable.push(
            main.send(TxKind::Call(contracts[contract]), input, gas)
                .await,
        );
    }
    for n in 0..transactions {
        let mut data = vec![0; DATA];
        let mut gas = 1_400_000;
        if n % 16 == 0 {
            data.fill_with(|| random.next() as u8);
            gas = 5_500_000;
        }
        let sender = if n % 8 == 7 { &mut other } else { &mut main };
        hashes.push(sender.send(TxKind::Call(recipient), data, gas).await);
    }
    hashes.extend(remarkable.iter().cloned());
    let (cosmos_hashes, levels) = fill_cosmos(api, transactions / 5, levels).await;
    let receipts = included(api, &hashes).await;

    let mut world = World::default();
    let sender = main.key.address();
    for address in [
        sender,
        recipient,
        contracts[2],
        contracts[0],
        contracts[3],
        contracts[1],
        other.key.address(),
        key(3).address(),
    ] {
        world.add(format!("{address:#x}"));
    }
    for address in [sender, recipient, key(3).address()] {
        world.add(bech32(address));
    }
    let count = hashes.len();
    let shown = [count - 7, count - 5, count - 6, count - 4, count - 3]
        .map(|at| (&hashes[at], &receipts[at]));
    for (hash, receipt) in shown {
        world.add(hash);
        world.add(receipt["blockHash"].as_str().unwrap());
        let number = receipt["blockNumber"].as_str().unwrap();
        world.add(number);
        world.height = u64::from_str_radix(&number[2..], 16).unwrap();
        world.add(world.height.to_string());
    }
    world.add(keccak256("Transfer(address,address,uint256)").to_string());
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
    for hash in cosmos_hashes.iter().rev() {
        world.add(hash);
    }
    for hash in blobs {
        world.add(hash.to_string());
    }
    for condition in [
        "tx.height>0",
        "block.height>0",
        "tx.height > 0 AND tx.height < 99999999",
    ] {
        world.add(condition);
    }
    world.add(format!("transfer.recipient='{}'", bech32(recipient)));
    let wrong = wrongly_signed(&key(4));
    world.add(Base64::encode_string(&wrong));
    world.add(hex::encode_prefixed(&wrong));
    // Known to the node already.
    world.add(
        other
            .signed(TxKind::Call(recipient), vec![1; DATA], 21_000)
            .to_string(),
    );
    other.nonce -= 1;
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
        accounts: vec![sender, recipient, other.key.address(), key(3).address()],
    }
}

/// Sends Cosmos transactions, and returns the hashes of those that the node accepted, and the depth
/// of the last one.
async fn fill_cosmos(
    api: &Api,
    transactions: usize,
    levels: usize,
) -> (Vec<String>, Option<usize>) {
    let account = Account::new(api, 3).await;
    let path = format!(
        "/cosmos/auth/v1beta1/accounts/{}",
        bech32(account.key.address())
    );
    let described = api.get(&path).await;
    let number = described["account"]["base_account"]["account_number"].as_str();
    let number: u64 = number
        .unwrap_or_else(|| panic!("{described}"))
        .parse()
        .unwrap();
    let from = account.key.address();
    let to = Address::repeat_byte(0xda);
    let option = |bytes: usize| Any {
        type_url: "/cosmos.bank.v1beta1.MsgSend".to_owned(),
        value: vec![0; bytes],
    };
    let many: Vec<_> = (0..500)
        .map(|n| (Address::left_padding_from(&[1, n as u8, (n >> 8) as u8]), 1))
        .collect();
    let mut bodies = vec![
        TxBody {
            messages: vec![send(from, to, 1)],
            ..TxBody::default()
        },
        body(vec![send(from, to, 1); 100], Vec::new()),
        body(vec![multi_send(from, &many)], vec![option(OPTIONS / 2)]),
        body(
            vec![send(from, to, 1)],
            vec![
                Any {
                    type_url: "/t".to_owned(),
                    value: Vec::new()
                };
                OPTIONS / 12
            ],
        ),
    ];
    bodies.extend((0..transactions).map(|_| body(vec![send(from, to, 1)], vec![option(OPTIONS)])));
    let mut hashes = Vec::new();
    let mut sequence = 0;
    for body in &bodies {
        if let Some(hash) =
            broadcast(api, &cosmos_tx(&account.key, sequence, Some(number), body)).await
        {
            hashes.push(hash);
            sequence += 1;
        }
    }
    assert!(!hashes.is_empty(), "no Cosmos transaction was accepted");
    // The deepest one that is admitted.
    for depth in LEVELS.into_iter().filter(|depth| *depth <= levels) {
        let body = body(vec![send(from, to, 1)], vec![nested(depth)]);
        if let Some(hash) =
            broadcast(api, &cosmos_tx(&account.key, sequence, Some(number), &body)).await
        {
            println!("the chain admits messages nested {depth} levels deep");
            hashes.push(hash);
            return (hashes, Some(depth));
        }
    }
    (hashes, None)
}

/// Sends a Cosmos transaction, and returns its hash if the node accepts it.
async fn broadcast(api: &Api, raw: &[u8]) -> Option<String> {
    let body = json!({"tx_bytes": Base64::encode_string(raw), "mode": "BROADCAST_MODE_SYNC"});
    let answer = api.post("/cosmos/tx/v1beta1/txs", &body).await;
    if answer["tx_response"]["code"] != 0 {
        println!(
            "a Cosmos transaction of {} bytes is refused: {}",
            raw.len(),
            answer["tx_response"]["raw_log"]
        );
        return None;
    }
    answer["tx_response"]["txhash"].as_str().map(str::to_owned)
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
                receipts.push(json!({"blockHash": receipt["blockHash"], "blockNumber": receipt["blockNumber"]}));
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

//! The largest Cosmos transactions, and the most deeply nested ones.

use alloy::{
    primitives::{Address, keccak256},
    signers::{SignerSync, local::PrivateKeySigner},
};
use base64ct::{Base64, Encoding};
use prost::Message;
use serde_json::json;
use tetrad_primitives::block::cosmos::proto::{
    Any, AuthInfo, Fee, ModeInfo, PubKey, SignDoc, SignerInfo, SingleMode, TxBody, TxRaw,
};

use super::{
    super::api::Api,
    account::{Account, GAS, GAS_PRICE, RECIPIENT},
};
use crate::cosmos::signing::{CHAIN_ID, bech32, coins, multi_send, send};

/// Bytes of a Cosmos transaction's extension options, close to the size limit.
const OPTIONS: usize = 118_000;
/// Characters of a memo.
const MEMO: usize = 256;
/// The levels of nested messages to try, the deepest first.
const LEVELS: [usize; 8] = [2_000, 1_000, 500, 200, 100, 50, 20, 5];
/// `SIGN_MODE_DIRECT`.
const DIRECT: i32 = 1;
/// `SIGN_MODE_LEGACY_AMINO_JSON`.
const AMINO_JSON: i32 = 127;

/// Sends Cosmos transactions. Returns the hashes of the accepted ones, and the levels of the last
/// one.
pub(super) async fn fill_cosmos(
    api: &Api,
    transactions: usize,
    levels: usize,
) -> (Vec<String>, Option<usize>) {
    let account = Account::new(api, 3).await;
    let from = account.key.address();
    let number = account_number(api, from).await;

    let mut hashes = Vec::new();
    let mut sequence = 0;
    for body in large_bodies(from, transactions) {
        let raw = cosmos_tx(&account.key, sequence, Some(number), &body);
        if let Some(hash) = broadcast(api, &raw).await {
            hashes.push(hash);
            sequence += 1;
        }
    }
    assert!(!hashes.is_empty(), "no Cosmos transaction was accepted");

    // The deepest one that the node accepts.
    for depth in LEVELS.into_iter().filter(|depth| *depth <= levels) {
        let body = body(vec![send(from, RECIPIENT, 1)], vec![nested(depth)]);
        let raw = cosmos_tx(&account.key, sequence, Some(number), &body);
        if let Some(hash) = broadcast(api, &raw).await {
            println!("the chain admits messages nested {depth} levels deep");
            hashes.push(hash);
            return (hashes, Some(depth));
        }
    }
    (hashes, None)
}

/// The account number, which Cosmos clients sign.
async fn account_number(api: &Api, address: Address) -> u64 {
    let path = format!("/cosmos/auth/v1beta1/accounts/{}", bech32(address));
    let described = api.get(&path).await;

    let number = described["account"]["base_account"]["account_number"].as_str();
    number
        .unwrap_or_else(|| panic!("{described}"))
        .parse()
        .unwrap()
}

/// An extension option with this many bytes.
fn option(bytes: usize) -> Any {
    Any {
        type_url: "/cosmos.bank.v1beta1.MsgSend".to_owned(),
        value: vec![0; bytes],
    }
}

/// A short Cosmos transaction, one of each large kind, and `transactions` with long options.
fn large_bodies(from: Address, transactions: usize) -> Vec<TxBody> {
    let transfer = send(from, RECIPIENT, 1);
    let empty_option = Any {
        type_url: "/t".to_owned(),
        value: Vec::new(),
    };

    let short = TxBody {
        messages: vec![transfer.clone()],
        ..TxBody::default()
    };
    let many_messages = body(vec![transfer.clone(); 100], Vec::new());
    let outputs: Vec<_> = (0..500)
        .map(|n| (Address::left_padding_from(&[1, n as u8, (n >> 8) as u8]), 1))
        .collect();
    let many_outputs = body(vec![multi_send(from, &outputs)], vec![option(OPTIONS / 2)]);
    let many_options = body(vec![transfer.clone()], vec![empty_option; OPTIONS / 12]);
    let long_option = body(vec![transfer], vec![option(OPTIONS)]);

    let mut bodies = vec![short, many_messages, many_outputs, many_options];
    bodies.extend(vec![long_option; transactions]);
    bodies
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

/// Messages within messages, this many levels deep.
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

/// A Cosmos transaction of about 38 kB whose signature matches no sign document.
pub(super) fn wrongly_signed(key: &PrivateKeySigner) -> Vec<u8> {
    let outputs: Vec<_> = (0..490)
        .map(|n| (Address::with_last_byte(n as u8), 1))
        .collect();
    let body = body(vec![multi_send(key.address(), &outputs)], Vec::new());

    cosmos_tx(key, 0, None, &body)
}

/// A Cosmos transaction. Without an account number its signature is wrong.
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

    TxRaw {
        body_bytes: document.body_bytes,
        auth_info_bytes: document.auth_info_bytes,
        signatures: vec![signature],
    }
    .encode_to_vec()
}

/// Sends a Cosmos transaction. Returns its hash if the node accepts it.
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

//! Cosmos transactions from broadcast to blocks.

use std::sync::Arc;

use alloy::{eips::BlockNumberOrTag, providers::Provider};
use alloy_primitives::{Address, B256, Bytes, U256, hex};
use alloy_rlp::Decodable;
use base64ct::{Base64, Encoding};
use proptest::prelude::*;
use prost::Message;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tetrad_chain::{ForeignBlock, apply};
use tetrad_primitives::block::{
    Submission,
    cosmos::{
        BANK_ADDRESS, CosmosTransaction, DecodedTx, MAX_COSMOS_TX_SIZE, SignerData,
        proto::{
            AddressCoins, Any, Coin, Fee, MsgEthereumTx, MsgMultiSend, MsgSend, TxBody, TxRaw,
        },
    },
};

use super::signing::{
    CHAIN_ID, GAS, MODES, Mode, PRICE, Unsigned, bech32, coins, cosmos_hash, multi_send, send,
};
use crate::support::{TestNode, node, node_on, number, sign};

const TO: Address = Address::repeat_byte(0xaa);
const OTHER: Address = Address::repeat_byte(0xbb);

async fn balance(node: &TestNode, account: Address) -> U256 {
    node.reader().get_balance(account).await.unwrap()
}

fn bank(raw: &[u8]) -> Box<CosmosTransaction> {
    match DecodedTx::decode(raw).unwrap() {
        DecodedTx::Bank(tx) => tx,
        DecodedTx::Ethereum(_) => panic!("an Ethereum transaction"),
    }
}

/// Signed by CosmJS and by MetaMask's library for typed data.
#[test]
fn signatures_of_published_libraries_are_valid() {
    let file: Value = serde_json::from_str(include_str!("../../data/cosmos-txs.json")).unwrap();
    let signer = SignerData {
        chain_id: CHAIN_ID,
        evm_chain_id: 125,
        account_number: 7,
    };

    let all = file["txs"].as_array().unwrap();
    assert_eq!(all.len(), 13);
    for each in all {
        let name = &each["name"];
        let raw = Base64::decode_vec(each["tx"].as_str().unwrap()).unwrap();
        assert_eq!(each["hash"], cosmos_hash(&raw), "{name}");

        let tx = bank(&raw);
        assert_eq!(
            (tx.sequence, bech32(tx.sender).as_str()),
            (3, file["address"].as_str().unwrap())
        );
        tx.verify(&signer)
            .unwrap_or_else(|error| panic!("{name}: {error}"));

        let legacy = tx.to_legacy().unwrap();
        assert_eq!(
            (legacy.nonce, legacy.gas_limit, legacy.gas_price),
            (3, 200_000, 2_000_000_000),
            "{name}"
        );

        // A signature is valid for one account of one chain only,
        for other in [
            SignerData {
                account_number: 8,
                ..signer
            },
            SignerData {
                chain_id: "hyperpax_126-1",
                ..signer
            },
        ] {
            assert_eq!(tx.verify(&other).unwrap_err().code, 4, "{name}");
        }

        // and for one body only.
        let mut parts = TxRaw::decode(raw.as_slice()).unwrap();
        let mut body = TxBody::decode(parts.body_bytes.as_slice()).unwrap();
        body.memo.push('!');
        parts.body_bytes = body.encode_to_vec();
        assert_eq!(
            bank(&parts.encode_to_vec())
                .verify(&signer)
                .unwrap_err()
                .code,
            4,
            "{name}"
        );
    }
}

#[test]
fn truncated_bytes_are_refused_at_every_length() {
    let file: Value = serde_json::from_str(include_str!("../../data/cosmos-txs.json")).unwrap();
    for each in file["txs"].as_array().unwrap() {
        let raw = Base64::decode_vec(each["tx"].as_str().unwrap()).unwrap();
        for end in 0..raw.len() {
            let refused = DecodedTx::decode(&raw[..end]).map(drop);
            if let Err(error) = &refused {
                assert!(matches!(error.code, 2 | 4 | 18), "{end}: {error}");
            }

            // A transaction that ends before its signature is complete, but not signed.
            if refused.is_ok() {
                let signer = SignerData {
                    chain_id: CHAIN_ID,
                    evm_chain_id: 125,
                    account_number: 7,
                };
                let code = bank(&raw[..end])
                    .verify(&signer)
                    .err()
                    .map(|error| error.code);
                assert!(code == Some(15), "{end}");
            }
        }

        let unknown = [raw.as_slice(), &[0x7a, 1, 0]].concat();
        assert_eq!(DecodedTx::decode(&unknown).unwrap_err().code, 2);
    }

    assert_eq!(
        DecodedTx::decode(&vec![0; MAX_COSMOS_TX_SIZE + 1])
            .unwrap_err()
            .code,
        21
    );
}

proptest! {
    #[test]
    fn decoding_never_panics(
        change in any::<[u8; 3]>(),
        at in any::<prop::sample::Index>(),
        which in 0..13usize,
    ) {
        let file: Value = serde_json::from_str(include_str!("../../data/cosmos-txs.json")).unwrap();
        let raw = Base64::decode_vec(file["txs"][which]["tx"].as_str().unwrap()).unwrap();
        let at = at.index(raw.len() - 3);
        assert_no_signature_of_other_content(&raw, at, change)?;
    }
}

/// Changed bytes may be decoded, but the signature is never valid for another content.
fn assert_no_signature_of_other_content(
    original: &[u8],
    at: usize,
    change: [u8; 3],
) -> Result<(), TestCaseError> {
    let mut raw = original.to_vec();
    raw[at..at + 3].copy_from_slice(&change);

    let signer = SignerData {
        chain_id: CHAIN_ID,
        evm_chain_id: 125,
        account_number: 7,
    };
    if let Ok(DecodedTx::Bank(tx)) = DecodedTx::decode(&raw) {
        let original = bank(original);
        let is_signed = tx.verify(&signer).is_ok();
        let is_other = tx.body != original.body || tx.declared_fee() != original.declared_fee();
        prop_assert!(!is_signed || !is_other);
        tx.to_legacy().ok();
    }

    let _ = Submission::decode(&raw);
    Ok(())
}

#[tokio::test]
async fn every_sign_mode_moves_the_balance_and_takes_the_whole_fee() {
    let node = node().await;
    let from = node.account(0);
    let fee = U256::from(u128::from(GAS) * PRICE);

    for (index, mode) in MODES.into_iter().enumerate() {
        let before = (
            balance(&node, from).await,
            balance(&node, TO).await,
            balance(&node, OTHER).await,
        );

        let raw = node
            .unsigned(0, vec![send(from, TO, 1_000)])
            .await
            .sign(mode);
        let answer = node.broadcast(&raw).await;
        assert_eq!(
            (&answer["code"], &answer["txhash"]),
            (&0.into(), &cosmos_hash(&raw).into()),
            "{mode:?}: {answer}"
        );

        let raw = node
            .unsigned(0, vec![multi_send(from, &[(TO, 10), (OTHER, 20)])])
            .await
            .sign(mode);
        assert_eq!(node.broadcast(&raw).await["code"], 0, "{mode:?}");

        let messages = vec![send(from, TO, 1), send(from, OTHER, 2)];
        let raw = node.unsigned(0, messages).await.sign(mode);
        assert_eq!(node.broadcast(&raw).await["code"], 0, "{mode:?}");

        assert_eq!(balance(&node, TO).await, before.1 + U256::from(1_011));
        assert_eq!(balance(&node, OTHER).await, before.2 + U256::from(22));
        assert_eq!(
            balance(&node, from).await,
            before.0 - U256::from(1_033) - fee * U256::from(3)
        );
        assert_eq!(
            node.reader().get_transaction_count(from).await.unwrap(),
            3 * (index as u64 + 1)
        );
    }

    let path = format!("/cosmos/auth/v1beta1/accounts/{}", bech32(from));
    let account = node.get_json(&path).await["account"].clone();
    assert_eq!(account["sequence"], "15");
    assert!(account["pub_key"]["key"].is_string());
    node.end().await;
}

#[tokio::test]
async fn ethereum_clients_see_legacy_transactions_without_a_signature() {
    let node = node().await;
    let from = node.account(0);
    let before = node.chain().head();

    // Blocks of other nodes must be later than their parents.
    node.increase_time(5).await;
    let raw = node
        .unsigned(0, vec![send(from, TO, 5_000)])
        .await
        .sign(Mode::Direct);
    let multi = multi_send(from, &[(TO, 1), (OTHER, 2)]);
    assert_eq!(node.broadcast(&raw).await["code"], 0);

    let between = node.chain().head();
    node.increase_time(5).await;
    let unsigned = node.unsigned(0, vec![multi]).await;
    assert_eq!(node.broadcast(&unsigned.sign(Mode::Amino)).await["code"], 0);

    let block = node.rpc("eth_getBlockByNumber", json!(["0x1", true])).await;

    let tx = &block["transactions"][0];
    assert_eq!(
        (&tx["type"], &tx["v"], &tx["r"], &tx["s"]),
        (&"0x0".into(), &"0x0".into(), &"0x0".into(), &"0x0".into())
    );
    assert_eq!(tx["input"], hex::encode_prefixed(&raw));
    assert_eq!(
        (
            number(&tx["value"]),
            number(&tx["gasPrice"]),
            number(&tx["nonce"])
        ),
        (5_000, PRICE, 0)
    );
    assert_eq!(tx["to"], format!("{TO:#x}"));

    let receipt = node
        .rpc("eth_getTransactionReceipt", json!([tx["hash"]]))
        .await;
    assert_eq!(
        (&receipt["status"], number(&receipt["gasUsed"])),
        (&"0x1".into(), u128::from(GAS))
    );
    assert_eq!(receipt["logs"], json!([]));

    // Alloy's client and its hash of the encoding.
    let seen = node
        .reader()
        .get_block_by_number(BlockNumberOrTag::Number(1))
        .full()
        .await
        .unwrap()
        .unwrap();
    let hash = seen.transactions.as_transactions().unwrap()[0]
        .inner
        .tx_hash()
        .to_owned();

    let encoded: Bytes = node
        .rpc("eth_getRawTransactionByHash", json!([hash]))
        .await
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(alloy_primitives::keccak256(&encoded), hash);

    let options = json!({ "tracer": "callTracer" });
    let trace = node
        .rpc("debug_traceTransaction", json!([tx["hash"], options]))
        .await;
    assert_eq!(
        (&trace["type"], &trace["to"], number(&trace["value"])),
        (&"CALL".into(), &tx["to"], 5_000)
    );

    let traces = node
        .rpc("debug_traceBlockByNumber", json!(["0x2", options]))
        .await;
    let trace = &traces[0]["result"];
    assert_eq!(trace["to"], format!("{BANK_ADDRESS:#x}"));

    let inner = trace["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| number(&call["value"]))
        .collect::<Vec<_>>();
    assert_eq!(inner, [1, 2]);

    let traces = node.rpc("trace_block", json!(["0x2"])).await;
    assert_eq!(traces.as_array().unwrap().len(), 3);
    let replayed = node
        .rpc(
            "trace_replayBlockTransactions",
            json!(["0x2", ["trace", "stateDiff", "vmTrace"]]),
        )
        .await;
    let diff = &replayed[0]["stateDiff"];
    assert!(
        diff[format!("{OTHER:#x}")]["balance"]["+"].is_string(),
        "{diff}"
    );

    for tracer in [
        "prestateTracer",
        "4byteTracer",
        "flatCallTracer",
        "noopTracer",
    ] {
        node.rpc(
            "debug_traceTransaction",
            json!([tx["hash"], { "tracer": tracer }]),
        )
        .await;
    }

    assert_eq!(
        node.rpc("debug_traceTransaction", json!([tx["hash"]]))
            .await["structLogs"],
        json!([])
    );

    if cfg!(all(feature = "js-tracer", unix)) {
        let script = "{ values: [], enter(call) { this.values.push(Number(call.getValue())) }, exit() {}, fault() {}, \
                        result(context) { return { values: this.values, gas: context.gasUsed } } }";
        let traces = node
            .rpc(
                "debug_traceBlockByNumber",
                json!(["0x2", { "tracer": script }]),
            )
            .await;
        assert_eq!(traces[0]["result"], json!({"values": [1, 2], "gas": GAS}));
    }

    // A block contains everything that another node needs to execute it.
    for (parent, number) in [(before, 1), (between, 2)] {
        let block = node.chain().head().block(number).unwrap().clone();
        let foreign = ForeignBlock::decode(&mut &block.encode()[..]).unwrap();
        assert_eq!(apply(&parent, foreign).unwrap().block.hash, block.hash);

        // The decoded fields of a block are derived from the signed bytes.
        let amount = if number == 1 { "5000" } else { "ahpx" };
        let [from, to] = [amount, "9999"].map(hex::encode);
        let forged = hex::decode(hex::encode(block.encode()).replacen(&from, &to, 1)).unwrap();
        apply(&parent, ForeignBlock::decode(&mut &forged[..]).unwrap()).unwrap_err();
    }
    node.end().await;
}

#[tokio::test]
async fn cosmos_clients_see_the_transaction_as_sent() {
    let node = node().await;
    let from = node.account(0);

    let raw = node
        .unsigned(0, vec![send(from, TO, 5)])
        .await
        .sign(Mode::Direct);

    let tx = Base64::encode_string(&raw);
    assert_eq!(
        node.comet("check_tx", json!({ "tx": tx })).await["result"]["code"],
        0
    );

    let committed = node.comet("broadcast_tx_commit", json!({ "tx": tx })).await["result"].clone();
    assert_eq!(
        (&committed["hash"], &committed["height"]),
        (&cosmos_hash(&raw).into(), &"1".into())
    );

    let result = &committed["tx_result"];
    assert_eq!(
        (&result["code"], &result["gas_wanted"]),
        (&0.into(), &GAS.to_string().into())
    );

    let kinds = result["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["type"].as_str().unwrap().to_owned());
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [
            "coin_spent",
            "coin_received",
            "transfer",
            "message",
            "tx",
            "tx",
            "tx",
            "message",
            "coin_spent",
            "coin_received",
            "transfer",
            "message"
        ]
    );

    let block = node.comet("block", json!({ "height": "1" })).await["result"].clone();
    assert_eq!(block["block"]["data"]["txs"], json!([tx]));

    let results =
        node.comet("block_results", json!({ "height": "1" })).await["result"]["txs_results"]
            .clone();
    assert_eq!(results[0], *result);

    // An Ethereum transaction is wrapped in a message, and can be unwrapped again.
    let raw = sign::raw(sign::transfer(1), 0);
    node.rpc("eth_sendRawTransaction", json!([raw])).await;

    let block = node.comet("block", json!({ "height": "2" })).await["result"].clone();
    let shown = Base64::decode_vec(block["block"]["data"]["txs"][0].as_str().unwrap()).unwrap();
    let DecodedTx::Ethereum(inner) = DecodedTx::decode(&shown).unwrap() else {
        panic!("a bank transaction")
    };
    assert_eq!(inner, raw);

    let answer = node
        .comet(
            "broadcast_tx_sync",
            json!({ "tx": Base64::encode_string(&shown) }),
        )
        .await["result"]
        .clone();
    assert_eq!(
        (&answer["code"], &answer["codespace"]),
        (&32.into(), &"sdk".into()),
        "{answer}"
    );
    assert_eq!(answer["hash"], cosmos_hash(&shown));
    node.end().await;
}

/// A message of the chain's EVM module.
fn evm_message(name: &str, value: Vec<u8>) -> Any {
    Any {
        type_url: format!("/cosmos.evm.vm.v1.{name}"),
        value,
    }
}

/// A `TxRaw` with an Ethereum transaction.
fn ethereum_tx(raw: &[u8], with_option: bool) -> Vec<u8> {
    let message = MsgEthereumTx {
        raw: raw.to_vec(),
        ..MsgEthereumTx::default()
    };
    let body = TxBody {
        messages: vec![evm_message("MsgEthereumTx", message.encode_to_vec())],
        extension_options: with_option
            .then(|| evm_message("ExtensionOptionsEthereumTx", Vec::new()))
            .into_iter()
            .collect(),
        ..TxBody::default()
    };

    TxRaw {
        body_bytes: body.encode_to_vec(),
        ..TxRaw::default()
    }
    .encode_to_vec()
}

#[tokio::test]
async fn ethereum_transactions_are_unwrapped() {
    let node = node().await;
    let raw = sign::raw(sign::transfer(0), 0);
    let refused = node.broadcast(&ethereum_tx(&raw, false)).await;
    assert_eq!(
        (&refused["code"], &refused["codespace"]),
        (&29.into(), &"sdk".into()),
        "{refused}"
    );
    let answer = node.broadcast(&ethereum_tx(&raw, true)).await;
    assert_eq!(answer["code"], 0, "{answer}");
    let block = node
        .rpc("eth_getBlockByNumber", json!(["latest", true]))
        .await;
    assert_eq!(
        block["transactions"][0]["hash"],
        alloy_primitives::keccak256(&raw).to_string()
    );
    let shown = node.comet("block", json!({})).await["result"]["block"]["data"]["txs"][0].clone();
    assert_eq!(
        answer["txhash"],
        cosmos_hash(&Base64::decode_vec(shown.as_str().unwrap()).unwrap())
    );
    assert_eq!(
        node.broadcast(&ethereum_tx(&[1, 2, 3], true)).await["code"],
        2
    );
    node.end().await;
}

/// A transaction that a test has changed.
async fn changed(node: &TestNode, change: impl FnOnce(&mut Unsigned)) -> Vec<u8> {
    let mut unsigned = node.unsigned(0, vec![send(node.account(0), TO, 1)]).await;
    change(&mut unsigned);
    unsigned.sign(Mode::Direct)
}

/// One message of any type and with any bytes.
fn message(name: &str, value: Vec<u8>) -> Vec<Any> {
    vec![Any {
        type_url: name.to_owned(),
        value,
    }]
}

/// A transfer to a recipient of any text, which may be invalid.
fn send_to_text(from: Address, to: &str) -> Vec<Any> {
    let send = MsgSend {
        from_address: bech32(from),
        to_address: to.to_owned(),
        amount: coins(1),
    };
    message("/cosmos.bank.v1beta1.MsgSend", send.encode_to_vec())
}

#[tokio::test]
async fn rejections_have_the_codes_of_the_sdk() {
    let node = node().await;
    let from = node.account(0);
    let rich = u128::MAX;
    let price = PRICE * u128::from(GAS);
    let collector = Address::from_slice(&Sha256::digest("fee_collector")[..20]);

    let stranger =
        alloy::signers::local::PrivateKeySigner::from_bytes(&B256::repeat_byte(7)).unwrap();
    let to_stranger = send(stranger.address(), TO, 1);
    let cosmos = "cosmos1qy352eufqy352eufqy352eufqy35qqqptw34ca";

    let cases: Vec<(&str, u32, Vec<u8>)> = vec![
        ("no transaction", 2, vec![1, 2, 3]),
        (
            "no message",
            18,
            changed(&node, |tx| tx.messages.clear()).await,
        ),
        (
            "wrong chain",
            4,
            changed(&node, |tx| tx.chain_id = "other_125-1".to_owned()).await,
        ),
        (
            "wrong account number",
            4,
            changed(&node, |tx| tx.account_number += 1).await,
        ),
        (
            "sequence too high",
            32,
            changed(&node, |tx| tx.sequence += 1).await,
        ),
        (
            "insufficient fee",
            13,
            changed(&node, |tx| tx.fee.amount = coins(1)).await,
        ),
        (
            "no fee",
            13,
            changed(&node, |tx| tx.fee.amount.clear()).await,
        ),
        (
            "fee in another coin",
            13,
            changed(&node, |tx| tx.fee.amount[0].denom = "uatom".to_owned()).await,
        ),
        (
            "fee above the balance",
            5,
            changed(&node, |tx| tx.fee.amount = coins(rich)).await,
        ),
        ("another coin", 5, {
            let own = MsgSend {
                from_address: bech32(from),
                to_address: bech32(TO),
                amount: vec![Coin {
                    denom: "uatom".into(),
                    amount: "1".into(),
                }],
            };
            changed(&node, |tx| {
                tx.messages = message("/cosmos.bank.v1beta1.MsgSend", own.encode_to_vec())
            })
            .await
        }),
        (
            "memo too large",
            12,
            changed(&node, |tx| tx.memo = "m".repeat(257)).await,
        ),
        (
            "too large",
            21,
            changed(&node, |tx| tx.memo = "m".repeat(MAX_COSMOS_TX_SIZE)).await,
        ),
        (
            "gas too low",
            11,
            changed(&node, |tx| {
                tx.fee = Fee {
                    gas_limit: 21_000,
                    ..tx.fee.clone()
                }
            })
            .await,
        ),
        (
            "gas beyond integers",
            41,
            changed(&node, |tx| {
                tx.fee = Fee {
                    gas_limit: u64::MAX,
                    ..tx.fee.clone()
                }
            })
            .await,
        ),
        (
            "gas above a block's",
            41,
            changed(&node, |tx| {
                tx.fee = Fee {
                    gas_limit: 100_000_000,
                    amount: coins(price * 500),
                    ..tx.fee.clone()
                };
            })
            .await,
        ),
        (
            "unknown message",
            6,
            changed(&node, |tx| {
                tx.messages = message("/cosmos.staking.v1beta1.MsgDelegate", vec![])
            })
            .await,
        ),
        (
            "address of another chain",
            7,
            changed(&node, |tx| tx.messages = send_to_text(from, cosmos)).await,
        ),
        (
            "no address",
            7,
            changed(&node, |tx| tx.messages = send_to_text(from, "pax1nonsense")).await,
        ),
        (
            "zero",
            10,
            changed(&node, |tx| tx.messages = vec![send(from, TO, 0)]).await,
        ),
        (
            "a module's account",
            4,
            changed(&node, |tx| tx.messages = vec![send(from, collector, 1)]).await,
        ),
        (
            "a precompile",
            4,
            changed(&node, |tx| {
                tx.messages = vec![send(from, Address::with_last_byte(1), 1)]
            })
            .await,
        ),
        (
            "another sender",
            8,
            changed(&node, |tx| tx.messages = vec![to_stranger.clone()]).await,
        ),
        (
            "two senders",
            4,
            changed(&node, |tx| tx.messages.push(to_stranger.clone())).await,
        ),
        (
            "other key type",
            8,
            changed(&node, |tx| {
                tx.key_type = "/cosmos.crypto.secp256k1.PubKey".to_owned()
            })
            .await,
        ),
        (
            "granter",
            18,
            changed(&node, |tx| tx.fee.granter = bech32(TO)).await,
        ),
        (
            "payer",
            4,
            changed(&node, |tx| tx.fee.payer = bech32(TO)).await,
        ),
        (
            "no account",
            9,
            Unsigned::new(stranger.clone(), 0, 0, vec![to_stranger.clone()]).sign(Mode::Direct),
        ),
    ];

    for (what, code, raw) in cases {
        let answer = node.broadcast(&raw).await;
        assert_eq!(
            (&answer["code"], &answer["codespace"]),
            (&code.into(), &"sdk".into()),
            "{what}: {answer}"
        );
        assert!(answer["raw_log"].as_str().unwrap().len() < 1_000, "{what}");
        assert_eq!(answer["txhash"], cosmos_hash(&raw), "{what}");

        let tx = json!({ "tx": Base64::encode_string(&raw) });
        let checked = node.comet("check_tx", tx.clone()).await["result"].clone();
        assert_eq!(checked["code"], code, "{what}: {checked}");
        let sent = node.comet("broadcast_tx_sync", tx.clone()).await;
        match code {
            21 => assert_eq!(sent["error"]["code"], -32603, "{what}: {sent}"),
            code => assert_eq!(sent["result"]["code"], code, "{what}: {sent}"),
        }
        assert_eq!(
            node.comet("broadcast_tx_async", tx).await["result"]["code"],
            0,
            "{what}"
        );
    }

    let uneven = MsgMultiSend {
        inputs: vec![AddressCoins {
            address: bech32(from),
            coins: coins(3),
        }],
        outputs: vec![AddressCoins {
            address: bech32(TO),
            coins: coins(2),
        }],
    };
    let raw = changed(&node, |tx| {
        tx.messages = message("/cosmos.bank.v1beta1.MsgMultiSend", uneven.encode_to_vec());
    })
    .await;

    let answer = node.broadcast(&raw).await;
    assert_eq!(
        (&answer["code"], &answer["codespace"]),
        (&4.into(), &"bank".into()),
        "{answer}"
    );
    assert_eq!(node.block_number().await, 0, "nothing got into a block");

    // What was sent asynchronously does not get into a later block either.
    node.mine().await;
    let block = node
        .rpc("eth_getBlockByNumber", json!(["0x1", false]))
        .await;
    assert_eq!(block["transactions"], json!([]));
    node.end().await;
}

#[tokio::test]
async fn a_transaction_times_out_after_its_block_and_a_sequence_is_used_once() {
    let node = node().await;

    // Late by one block: the next block is block 2.
    node.mine().await;
    let late = changed(&node, |tx| tx.timeout_height = 1).await;
    assert_eq!(node.broadcast(&late).await["code"], 30);

    let raw = changed(&node, |tx| tx.timeout_height = 2).await;
    assert_eq!(node.broadcast(&raw).await["code"], 0);

    let raw = changed(&node, |tx| tx.sequence -= 1).await;
    assert_eq!(
        node.broadcast(&raw).await["code"],
        32,
        "its sequence has been used"
    );
    node.end().await;
}

#[tokio::test]
async fn bodies_without_a_transaction_or_its_mode_are_bad_requests() {
    let node = node().await;

    for (body, what) in [
        (json!({}), "invalid empty tx"),
        (
            json!({ "tx_bytes": "&", "mode": "BROADCAST_MODE_SYNC" }),
            "base64",
        ),
        (json!({ "tx_bytes": "CgA=" }), "unsupported return type"),
        (json!({ "tx_bytes": 7 }), "invalid type"),
    ] {
        let (status, answer) = node.post_json("/cosmos/tx/v1beta1/txs", body).await;
        assert_eq!((status, &answer["code"]), (400, &3.into()), "{answer}");
        assert!(
            answer["message"].as_str().unwrap().contains(what),
            "{answer}"
        );
    }

    node.end().await;
}

#[tokio::test]
async fn a_pending_transaction_is_known_and_a_full_pool_is_reported() {
    let node = crate::support::node_with(|config| config.pool.per_account = 1).await;
    node.rpc("evm_setAutomine", json!([false])).await;
    let from = node.account(0);
    let unsigned = node.unsigned(0, vec![send(from, TO, 1)]).await;
    let raw = unsigned.sign(Mode::Direct);
    assert_eq!(node.broadcast(&raw).await["code"], 0);
    assert_eq!(node.broadcast(&raw).await["code"], 19);
    let next = Unsigned {
        sequence: unsigned.sequence + 1,
        ..unsigned.clone()
    };
    assert_eq!(node.broadcast(&next.sign(Mode::Direct)).await["code"], 20);
    let other = Unsigned {
        messages: vec![send(from, TO, 2)],
        ..unsigned
    };
    assert_eq!(
        node.broadcast(&other.sign(Mode::Direct)).await["code"],
        32,
        "the sequence is taken"
    );
    let pending = node
        .rpc("eth_getTransactionCount", json!([from, "pending"]))
        .await;
    assert_eq!(pending, "0x1");
    node.mine().await;
    assert_eq!(balance(&node, TO).await, U256::ONE);
    node.end().await;
}

#[tokio::test]
async fn a_transfer_above_the_balance_fails_and_pays_its_fee() {
    let node = node().await;
    let from = node.account(0);
    let before = balance(&node, from).await;

    let most: u128 = before.to();
    let messages = vec![send(from, TO, 1), send(from, OTHER, most)];
    let raw = node.unsigned(0, messages).await.sign(Mode::Direct);

    let tx = json!({ "tx": Base64::encode_string(&raw) });
    let committed = node.comet("broadcast_tx_commit", tx).await["result"].clone();
    assert_eq!(committed["check_tx"]["code"], 0, "{committed}");
    assert_eq!(
        (
            &committed["tx_result"]["code"],
            &committed["tx_result"]["codespace"]
        ),
        (&5.into(), &"sdk".into())
    );

    let block = node
        .rpc("eth_getBlockByNumber", json!(["latest", true]))
        .await;
    let hash = &block["transactions"][0]["hash"];
    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
    assert_eq!(receipt["status"], "0x0");

    assert_eq!(balance(&node, TO).await, U256::ZERO, "all messages or none");
    assert_eq!(
        balance(&node, from).await,
        before - U256::from(u128::from(GAS) * PRICE)
    );

    let trace = node
        .rpc(
            "debug_traceTransaction",
            json!([hash, { "tracer": "callTracer" }]),
        )
        .await;
    assert_eq!(trace["error"], "execution reverted", "{trace}");
    assert!(
        trace["revertReason"]
            .as_str()
            .unwrap()
            .contains("insufficient funds"),
        "{trace}"
    );
    node.end().await;
}

#[tokio::test]
async fn a_simulation_returns_the_required_gas() {
    let node = node().await;
    let from = node.account(0);

    let mut unsigned = node.unsigned(0, vec![send(from, TO, 1)]).await;
    let body = |raw: &[u8]| json!({ "tx_bytes": Base64::encode_string(raw) });

    let (status, answer) = node
        .post_json("/cosmos/tx/v1beta1/simulate", body(&unsigned.unsigned()))
        .await;
    assert_eq!(status, 200, "{answer}");
    let gas: u64 = answer["gas_info"]["gas_used"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();

    let size = unsigned.sign(Mode::Direct).len() as u64;
    assert_eq!(gas, 21_000 + 10 * size + 25_000);

    unsigned.fee = Fee {
        gas_limit: gas,
        amount: coins(u128::from(gas) * PRICE),
        ..Fee::default()
    };
    assert_eq!(
        node.broadcast(&unsigned.sign(Mode::Direct)).await["code"],
        0
    );

    // CosmJS simulates like this.
    let unsigned = node.unsigned(0, vec![send(from, TO, 1)]).await;
    let raw = unsigned.unsigned();
    let mut data = vec![0x12];
    prost::encode_length_delimiter(raw.len(), &mut data).unwrap();
    data.extend_from_slice(&raw);

    let query =
        json!({ "path": "/cosmos.tx.v1beta1.Service/Simulate", "data": hex::encode(&data) });
    let response = node.comet("abci_query", query).await["result"]["response"].clone();
    assert_eq!(response["code"], 0, "{response}");

    let value = Base64::decode_vec(response["value"].as_str().unwrap()).unwrap();
    assert_eq!(value[0], 0x0a, "gas_info");

    // CosmJS simulates with a key of another type.
    let other = Unsigned {
        key_type: "/cosmos.crypto.secp256k1.PubKey".to_owned(),
        ..unsigned.clone()
    };
    assert_eq!(
        node.post_json("/cosmos/tx/v1beta1/simulate", body(&other.unsigned()))
            .await
            .0,
        200
    );

    // cosmpy encodes the transaction explicitly.
    for key in ["ethermint", "cosmos.evm", "hyperpaxeer"]
        .map(|of| format!("/{of}.crypto.v1.ethsecp256k1.PubKey"))
    {
        let message = json!({
            "@type": "/cosmos.bank.v1beta1.MsgSend", "fromAddress": bech32(node.account(1)), "toAddress": bech32(TO),
            "amount": [{ "denom": "ahpx", "amount": "1" }],
        });
        let key = json!({ "@type": key, "key": "Anm+Zn753LusVaBilc6HCwcCm/zbLc4o2VnygVsW+BeY" });
        let info =
            json!({ "publicKey": key, "modeInfo": { "single": { "mode": "SIGN_MODE_DIRECT" } } });
        let tx = json!({
            "body": { "messages": [message] }, "authInfo": { "signerInfos": [info], "fee": {} }, "signatures": ["AAAA"],
        });
        let (status, answer) = node
            .post_json("/cosmos/tx/v1beta1/simulate", json!({ "tx": tx }))
            .await;
        assert_eq!(status, 200, "{answer}");
    }

    let wrong = Unsigned {
        sequence: 9,
        ..unsigned
    };
    let (status, answer) = node
        .post_json("/cosmos/tx/v1beta1/simulate", body(&wrong.unsigned()))
        .await;
    assert_eq!((status, &answer["code"]), (500, &2.into()));
    assert!(
        answer["message"]
            .as_str()
            .unwrap()
            .contains("account sequence mismatch, expected 1, got 9"),
        "{answer}"
    );
    node.end().await;
}

/// The first blocks in every form.
async fn first_blocks(node: &TestNode) -> Vec<Value> {
    let mut seen = Vec::new();
    for number in 0..=5 {
        let block = json!(format!("{number:#x}"));
        seen.push(node.rpc("eth_getBlockByNumber", json!([block, true])).await);
        seen.push(node.rpc("eth_getBlockReceipts", json!([block])).await);
        seen.push(
            node.comet("block", json!({ "height": number.to_string() }))
                .await,
        );
    }
    seen
}

#[tokio::test]
async fn cosmos_transactions_are_stored_on_disk() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("chain");
    let node = node_on(&place).await;
    let from = node.account(0);

    for mode in MODES {
        let raw = node.unsigned(0, vec![send(from, TO, 7)]).await.sign(mode);
        assert_eq!(node.broadcast(&raw).await["code"], 0);
    }

    node.rpc("evm_setAutomine", json!([false])).await;
    let waiting = node
        .unsigned(0, vec![send(from, TO, 9)])
        .await
        .sign(Mode::Direct);
    assert_eq!(node.broadcast(&waiting).await["code"], 0);

    let before = first_blocks(&node).await;
    node.end().await;

    let node = node_on(&place).await;
    assert_eq!(first_blocks(&node).await, before);

    // The pending one is sealed at the start.
    while node.block_number().await < 6 {
        node.mine().await;
    }
    assert_eq!(balance(&node, TO).await, U256::from(5 * 7 + 9));
    node.end().await;

    let (succeeded, _, error) = crate::support::process::output(&[
        "chain",
        "--data-dir",
        place.to_str().unwrap(),
        "verify",
    ]);
    assert!(succeeded, "{error}");
}

/// Transactions of both kinds from the same accounts, sent concurrently by several clients.
#[tokio::test]
async fn both_kinds_of_transactions_share_one_order() {
    const ACCOUNTS: usize = 4;
    const EACH: u64 = 60;

    let node = Arc::new(node().await);
    let initial: Vec<U256> = {
        let mut all = Vec::new();
        for index in 0..ACCOUNTS {
            all.push(balance(&node, node.account(index)).await);
        }
        all
    };

    let clients = (0..ACCOUNTS).map(|index| {
        let node = node.clone();
        tokio::spawn(async move {
            let from = node.account(index);
            let mut sent = [0u64; 2];
            let mut unsigned = node.unsigned(index, Vec::new()).await;

            for nonce in 0..EACH {
                unsigned.sequence = nonce;

                // A pattern that differs between the clients.
                let amount = nonce * 31 + index as u64;

                match (nonce * 7 + index as u64 * 3) % 5 {
                    0 | 1 => {
                        let tx = alloy::consensus::TxEip1559 {
                            to: TO.into(),
                            value: U256::from(amount),
                            ..sign::transfer(nonce)
                        };
                        node.rpc("eth_sendRawTransaction", json!([sign::raw(tx, index)]))
                            .await;
                        sent[0] += amount;
                    }
                    2 => {
                        unsigned.messages = vec![multi_send(from, &[(TO, 3), (OTHER, 4)])];
                        assert_eq!(node.broadcast(&unsigned.sign(Mode::Amino)).await["code"], 0);
                        sent = [sent[0] + 3, sent[1] + 4];
                    }
                    kind => {
                        unsigned.messages = vec![send(from, OTHER, u128::from(amount) + 1)];
                        let mode = if kind == 3 {
                            Mode::Direct
                        } else {
                            Mode::Eip712
                        };
                        let answer = node.broadcast(&unsigned.sign(mode)).await;
                        assert_eq!(answer["code"], 0, "{answer}");
                        sent[1] += amount + 1;
                    }
                }
            }

            sent
        })
    });

    let mut sent = Vec::new();
    for client in clients.collect::<Vec<_>>() {
        sent.push(client.await.unwrap());
    }

    let totals = sent
        .iter()
        .fold([0, 0], |sum, sent| [sum[0] + sent[0], sum[1] + sent[1]]);
    assert_eq!(balance(&node, TO).await, U256::from(totals[0]));
    assert_eq!(balance(&node, OTHER).await, U256::from(totals[1]));

    // Each account's transactions are in the order of its nonces, regardless of their kind.
    let mut next = [0u64; ACCOUNTS];
    let mut fees = [U256::ZERO; ACCOUNTS];

    let head = node.chain().head();
    for number in 1..=head.number() {
        let block = head.block(number).unwrap();
        block.verify().unwrap();
        for (transaction, receipt) in block.transactions.iter().zip(&block.receipts) {
            use alloy::consensus::Transaction as _;
            let Some(index) =
                (0..ACCOUNTS).find(|index| node.account(*index) == transaction.sender)
            else {
                continue;
            };

            assert_eq!(transaction.envelope.nonce(), next[index]);
            next[index] += 1;

            let price = transaction.effective_gas_price(block.header.base_fee_per_gas);
            fees[index] += U256::from(price) * U256::from(receipt.gas_used);
        }
    }

    assert_eq!(next, [EACH; ACCOUNTS]);
    for index in 0..ACCOUNTS {
        let left = initial[index] - fees[index] - U256::from(sent[index][0] + sent[index][1]);
        assert_eq!(balance(&node, node.account(index)).await, left, "{index}");
    }

    Arc::into_inner(node).unwrap().end().await;
}

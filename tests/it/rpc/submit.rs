//! Sending transactions: every type, every refusal, waiting and replacing.

use alloy::{
    consensus::{TxEip1559, TxEip2930, TxEip7702, TxLegacy},
    eips::{
        eip2930::{AccessList, AccessListItem},
        eip7702::Authorization,
    },
    primitives::{Address, B256, Bytes, TxKind, U256, keccak256},
    signers::SignerSync,
};
use serde_json::{Value, json};

use crate::support::{
    TestNode, node, node_with, number,
    sign::{raw, signer, transfer},
};

async fn send(node: &TestNode, raw: &Bytes) -> Value {
    node.rpc("eth_sendRawTransaction", json!([raw])).await
}

async fn refusal(node: &TestNode, raw: &Bytes) -> String {
    let error = node.rpc_error("eth_sendRawTransaction", json!([raw])).await;
    assert_eq!(error["code"], -32000, "{error}");
    error["message"].as_str().unwrap().to_owned()
}

async fn receipt(node: &TestNode, hash: &Value) -> Value {
    node.rpc("eth_getTransactionReceipt", json!([hash])).await
}

#[tokio::test]
async fn every_type_of_transaction_is_executed() {
    let node = node().await;
    let to = TxKind::Call(Address::with_last_byte(0xaa));

    let access_list = AccessList(vec![AccessListItem {
        address: Address::with_last_byte(1),
        storage_keys: vec![B256::ZERO],
    }]);

    let authorization = Authorization {
        chain_id: U256::from(125),
        address: Address::with_last_byte(0xbb),
        nonce: 0,
    };
    let signature = signer(1)
        .sign_hash_sync(&authorization.signature_hash())
        .unwrap();

    let raws = [
        raw(
            TxLegacy {
                chain_id: Some(125),
                nonce: 0,
                gas_price: 5_000_000_000,
                gas_limit: 21_000,
                to,
                value: U256::from(1),
                ..Default::default()
            },
            0,
        ),
        raw(
            TxLegacy {
                chain_id: None,
                nonce: 1,
                gas_price: 5_000_000_000,
                gas_limit: 21_000,
                to,
                value: U256::from(1),
                ..Default::default()
            },
            0,
        ),
        raw(
            TxEip2930 {
                chain_id: 125,
                nonce: 2,
                gas_price: 5_000_000_000,
                gas_limit: 50_000,
                to,
                access_list,
                ..Default::default()
            },
            0,
        ),
        raw(transfer(3), 0),
        raw(
            TxEip7702 {
                chain_id: 125,
                nonce: 4,
                gas_limit: 100_000,
                max_fee_per_gas: 5_000_000_000,
                max_priority_fee_per_gas: 1,
                to: Address::with_last_byte(0xaa),
                authorization_list: vec![authorization.into_signed(signature)],
                ..Default::default()
            },
            0,
        ),
    ];

    for (raw, (kind, chain_id)) in raws.iter().zip([
        ("0x0", true),
        ("0x0", false),
        ("0x1", true),
        ("0x2", true),
        ("0x4", true),
    ]) {
        let hash = send(&node, raw).await;
        assert_eq!(hash, json!(keccak256(raw)));

        let receipt = receipt(&node, &hash).await;
        assert_eq!(
            (&receipt["status"], &receipt["type"]),
            (&json!("0x1"), &json!(kind)),
            "{receipt}"
        );

        let transaction = node.rpc("eth_getTransactionByHash", json!([hash])).await;
        assert_eq!(transaction["chainId"] == "0x7d", chain_id, "{transaction}");
        assert_eq!(transaction["blockNumber"], receipt["blockNumber"]);
        assert_eq!(
            transaction["from"],
            json!(format!("{:#x}", node.account(0)))
        );
    }

    // The authorization of the last one took effect.
    let code = node
        .rpc("eth_getCode", json!([node.account(1), "latest"]))
        .await;
    assert_eq!(code, "0xef010000000000000000000000000000000000000000bb");
}

/// The transfer of the next nonce after something was done to it, signed.
fn altered(alter: impl FnOnce(&mut TxEip1559)) -> Bytes {
    let mut tx = transfer(1);
    alter(&mut tx);
    raw(tx, 0)
}

#[tokio::test]
async fn invalid_transactions_are_refused_with_geths_messages() {
    let node = node_with(|config| config.enable_tx_gas_limit = Some(true)).await;
    send(&node, &raw(transfer(0), 0)).await;

    let poor = alloy::signers::local::PrivateKeySigner::random();
    let from_poor = {
        use alloy::{consensus::SignableTransaction, eips::eip2718::Encodable2718};
        let transaction = transfer(0);
        let signature = poor.sign_hash_sync(&transaction.signature_hash()).unwrap();
        Bytes::from(transaction.into_signed(signature).encoded_2718())
    };

    let mut bad_signature = raw(transfer(1), 0).to_vec();
    *bad_signature.last_mut().unwrap() ^= 1;

    let cases: Vec<(Bytes, &str)> = vec![
        (
            raw(transfer(0), 0),
            "nonce too low: next nonce 1, tx nonce 0",
        ),
        (
            from_poor,
            "insufficient funds for gas * price + value: balance 0, tx cost 210000000000001, overshot 210000000000001",
        ),
        (
            altered(|tx| {
                tx.gas_limit = 20_999;
            }),
            "intrinsic gas too low: gas 20999, minimum needed 21000",
        ),
        (
            altered(|tx| {
                tx.input = vec![1; 100].into();
                tx.gas_limit = 22_600;
            }),
            "insufficient gas for floor data gas cost: gas 22600, minimum needed 25000",
        ),
        (
            altered(|tx| {
                tx.gas_limit = 20_000_000;
            }),
            "transaction gas limit too high (cap: 16777216, tx: 20000000)",
        ),
        (
            altered(|tx| {
                tx.chain_id = 1;
            }),
            "invalid sender: invalid chain id for signer: have 1 want 125",
        ),
        (
            altered(|tx| {
                tx.max_priority_fee_per_gas = 20_000_000_000;
            }),
            "max priority fee per gas higher than max fee per gas: maxPriorityFeePerGas: 20000000000, maxFeePerGas: 10000000000",
        ),
        (
            altered(|tx| {
                tx.to = TxKind::Create;
                tx.input = vec![0; 49_153].into();
                tx.gas_limit = 10_000_000;
            }),
            "max initcode size exceeded: code size 49153, limit 49152",
        ),
        (
            altered(|tx| {
                tx.input = vec![0; 131_072].into();
                tx.gas_limit = 10_000_000;
            }),
            "oversized data: transaction size 131188, limit 131072",
        ),
        (
            raw(transfer(u64::MAX), 0),
            "nonce has max value: address 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266, nonce: 18446744073709551615",
        ),
        (Bytes::from_static(&[]), "rlp: input too short"),
        (
            Bytes::from_static(&[0x7f]),
            "transaction type not supported",
        ),
        (Bytes::from_static(&[0x02, 0xc0]), "rlp: input too short"),
    ];

    for (raw, expected) in cases {
        assert_eq!(refusal(&node, &raw).await, expected);
    }

    // An altered signature belongs to another account, which has no funds, or is invalid.
    let message = refusal(&node, &bad_signature.into()).await;
    assert!(
        message.starts_with("insufficient funds")
            || message.starts_with("invalid transaction v, r, s"),
        "{message}"
    );
}

#[tokio::test]
async fn the_same_transaction_twice_is_already_known_while_it_waits() {
    let node = node().await;
    let gapped = raw(transfer(1), 0);
    send(&node, &gapped).await;
    assert_eq!(refusal(&node, &gapped).await, "already known");
}

#[tokio::test]
async fn a_nonce_gap_waits_in_the_pool_and_is_filled_later() {
    let node = node().await;
    let later = send(&node, &raw(transfer(1), 0)).await;
    assert_eq!(receipt(&node, &later).await, Value::Null);
    let waiting = node.rpc("eth_getTransactionByHash", json!([later])).await;
    assert_eq!(
        (
            &waiting["blockHash"],
            &waiting["blockNumber"],
            &waiting["nonce"]
        ),
        (&Value::Null, &Value::Null, &json!("0x1"))
    );
    assert_eq!(
        node.rpc(
            "eth_getTransactionCount",
            json!([node.account(0), "pending"])
        )
        .await,
        "0x0"
    );

    let sooner = send(&node, &raw(transfer(0), 0)).await;
    let sooner = receipt(&node, &sooner).await;
    let later = receipt(&node, &later).await;
    assert_eq!(
        (&sooner["blockNumber"], &sooner["transactionIndex"]),
        (&json!("0x1"), &json!("0x0"))
    );
    assert_eq!(
        (&later["blockNumber"], &later["transactionIndex"]),
        (&json!("0x1"), &json!("0x1"))
    );
    assert_eq!(number(&later["cumulativeGasUsed"]), 42_000);
}

#[tokio::test]
async fn transactions_of_one_account_are_sealed_in_any_order_of_arrival() {
    let node = node().await;
    let order = [7, 3, 9, 0, 1, 8, 2, 6, 4, 5];
    let raws = order.map(|nonce| raw(transfer(nonce), 0));
    let sends = raws.iter().map(|raw| send(&node, raw));
    futures_util::future::join_all(sends).await;
    assert_eq!(
        node.rpc(
            "eth_getTransactionCount",
            json!([node.account(0), "latest"])
        )
        .await,
        "0xa"
    );
}

fn priced(max: u128, tip: u128) -> Bytes {
    let mut tx = transfer(0);
    (tx.max_fee_per_gas, tx.max_priority_fee_per_gas) = (max, tip);
    raw(tx, 0)
}

#[tokio::test]
async fn a_replacement_pays_a_tenth_more() {
    let node = node_with(|config| config.no_mining = true).await;
    let first = send(&node, &priced(10_000_000_000, 1_000_000_000)).await;

    for (max, tip) in [
        (10_999_999_999, 1_100_000_000),
        (11_000_000_000, 1_099_999_999),
        (10_000_000_000, 2_000_000_000),
    ] {
        assert_eq!(
            refusal(&node, &priced(max, tip)).await,
            "replacement transaction underpriced"
        );
    }

    let second = send(&node, &priced(11_000_000_000, 1_100_000_000)).await;
    assert_eq!(
        node.rpc("eth_getTransactionByHash", json!([first])).await,
        Value::Null
    );

    node.rpc("evm_mine", json!([])).await;
    assert_eq!(receipt(&node, &second).await["status"], "0x1");
}

#[tokio::test]
async fn a_fee_below_the_base_fee_waits_where_blocks_are_sealed_without_transactions() {
    let node = node_with(|config| config.no_mining = true).await;
    let mut cheap = transfer(0);
    (cheap.max_fee_per_gas, cheap.max_priority_fee_per_gas) = (800_000_000, 0);
    let hash = send(&node, &raw(cheap, 0)).await;
    assert_eq!(receipt(&node, &hash).await, Value::Null);
    // Empty blocks lower the base fee by an eighth each, from 10^9 to below 8 · 10^8.
    for _ in 0..3 {
        node.rpc("evm_mine", json!([])).await;
    }
    assert_eq!(receipt(&node, &hash).await["status"], "0x1");
}

#[tokio::test]
async fn without_mining_blocks_are_sealed_on_request_only() {
    let node = node_with(|config| config.no_mining = true).await;
    let hash = send(&node, &raw(transfer(0), 0)).await;
    assert_eq!(receipt(&node, &hash).await, Value::Null);
    assert_eq!(
        node.rpc(
            "eth_getTransactionCount",
            json!([node.account(0), "pending"])
        )
        .await,
        "0x1"
    );

    let pending = node
        .rpc("eth_getBlockByNumber", json!(["pending", true]))
        .await;
    assert_eq!(
        (&pending["hash"], &pending["nonce"], &pending["number"]),
        (&Value::Null, &Value::Null, &json!("0x1"))
    );
    assert_eq!(pending["transactions"][0]["hash"], hash);

    assert_eq!(
        node.rpc(
            "eth_getBalance",
            json!([Address::with_last_byte(0xaa), "pending"])
        )
        .await,
        "0x1"
    );
    assert_eq!(
        node.rpc(
            "eth_getBalance",
            json!([Address::with_last_byte(0xaa), "latest"])
        )
        .await,
        "0x0"
    );

    node.rpc("evm_mine", json!([])).await;
    assert_eq!(receipt(&node, &hash).await["blockNumber"], "0x1");
}

#[tokio::test]
async fn a_transaction_that_cannot_be_paid_any_more_is_refused() {
    let node = node().await;
    let from = node.account(0);
    let balance = number(&node.rpc("eth_getBalance", json!([from, "latest"])).await);
    let mut rich = transfer(0);
    rich.value = U256::from(balance - 10_u128.pow(16));
    send(&node, &raw(rich, 0)).await;
    let mut second = transfer(1);
    second.value = U256::from(10_u128.pow(17));
    let message = refusal(&node, &raw(second, 0)).await;
    assert!(
        message.starts_with("insufficient funds for gas * price + value: balance"),
        "{message}"
    );
}

#[tokio::test]
async fn a_created_contract_has_the_address_of_sender_and_nonce() {
    let node = node().await;
    // Returns one byte of code: STOP.
    let hash = node
        .rpc(
            "eth_sendTransaction",
            json!([{"from": node.account(0), "data": "0x60016000f3"}]),
        )
        .await;
    let receipt = receipt(&node, &hash).await;
    assert_eq!(
        receipt["contractAddress"],
        "0x5fbdb2315678afecb367f032d93f642f64180aa3"
    );
    assert_eq!(receipt["to"], Value::Null);
    assert_eq!(
        node.rpc("eth_getCode", json!([receipt["contractAddress"], "latest"]))
            .await,
        "0x00"
    );
}

#[tokio::test]
async fn sends_without_a_nonce_from_many_clients_never_collide() {
    let node = node().await;
    let from = node.account(0);
    let sends = (0..50).map(|_| {
        node.rpc(
            "eth_sendTransaction",
            json!([{"from": from, "to": node.account(1), "value": "0x1", "gas": "0x5208"}]),
        )
    });
    let hashes = futures_util::future::join_all(sends).await;

    for hash in &hashes {
        assert_eq!(receipt(&node, hash).await["status"], "0x1");
    }
    assert_eq!(
        node.rpc("eth_getTransactionCount", json!([from, "latest"]))
            .await,
        "0x32"
    );
}

#[tokio::test]
async fn an_account_without_a_key_cannot_send() {
    let node = node().await;
    let error = node
        .rpc_error(
            "eth_sendTransaction",
            json!([{"from": Address::with_last_byte(9), "to": node.account(1)}]),
        )
        .await;
    assert_eq!(error, json!({"code": -32000, "message": "unknown account"}));
}

#[tokio::test]
async fn the_production_profile_holds_no_keys() {
    let mut config = tetrad::Config::of(tetrad::config::Profile::Production);
    config.block_time = None;
    let production = node_with(|test| {
        (config.listen, config.ws_listen, config.exchange.price_tick) =
            (test.listen, test.ws_listen, None);
        *test = config;
    })
    .await;
    for method in ["eth_accounts", "personal_listAccounts"] {
        assert_eq!(production.rpc(method, json!([])).await, json!([]));
    }
    let from = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
    let error = production
        .rpc_error("eth_sendTransaction", json!([{"from": from, "to": from}]))
        .await;
    assert_eq!(error, json!({"code": -32000, "message": "unknown account"}));
    for method in [
        "evm_mine",
        "evm_snapshot",
        "evm_revert",
        "evm_increaseTime",
        "evm_setNextBlockTimestamp",
    ] {
        assert_eq!(
            production.rpc_error(method, json!([])).await["code"],
            -32601,
            "{method}"
        );
    }
}

/// A transaction that pays nothing.
fn free(nonce: u64) -> TxEip1559 {
    TxEip1559 {
        chain_id: 125,
        nonce,
        gas_limit: 21_000,
        to: TxKind::Call(Address::ZERO),
        ..Default::default()
    }
}

#[tokio::test]
async fn the_production_profile_refuses_transactions_without_a_tip() {
    let mut config = tetrad::Config::of(tetrad::config::Profile::Production);
    config.block_time = None;
    let production = node_with(|test| {
        (config.listen, config.ws_listen, config.exchange.price_tick) =
            (test.listen, test.ws_listen, None);
        *test = config;
    })
    .await;

    for nonce in [0, 7] {
        let error = production
            .rpc_error("eth_sendRawTransaction", json!([raw(free(nonce), 0)]))
            .await
            .to_string();
        assert!(
            error.contains("transaction underpriced: gas tip cap 0, minimum needed 1"),
            "{error}"
        );
    }

    let paying = TxEip1559 {
        max_fee_per_gas: 10_000_000_000,
        max_priority_fee_per_gas: 1,
        ..free(0)
    };
    let error = production
        .rpc_error("eth_sendRawTransaction", json!([raw(paying, 0)]))
        .await
        .to_string();
    assert!(error.contains("insufficient funds"), "{error}");

    assert_eq!(
        production.rpc("txpool_status", json!([])).await,
        json!({"pending": "0x0", "queued": "0x0"})
    );
}

/// A transaction of the first account with an authorization of the second one, at this nonce, that
/// delegates its code.
fn delegation(nonce: u64, authorized: u64, tip: u128) -> Bytes {
    let to = Address::with_last_byte(0xbb);
    let authorization = Authorization {
        chain_id: U256::from(125),
        address: to,
        nonce: authorized,
    };
    let signature = signer(1)
        .sign_hash_sync(&authorization.signature_hash())
        .unwrap();
    let transaction = TxEip7702 {
        chain_id: 125,
        nonce,
        gas_limit: 100_000,
        max_fee_per_gas: 10_000_000_000,
        max_priority_fee_per_gas: tip,
        to,
        authorization_list: vec![authorization.into_signed(signature)],
        ..Default::default()
    };
    raw(transaction, 0)
}

async fn pending_count(node: &TestNode) -> Value {
    node.rpc(
        "eth_getTransactionCount",
        json!([node.account(1), "pending"]),
    )
    .await
}

#[tokio::test]
async fn a_nonce_that_another_account_advances_releases_the_queue() {
    let node = node().await;
    let waiting = send(&node, &raw(transfer(1), 1)).await;
    assert_eq!(receipt(&node, &waiting).await, Value::Null);

    send(&node, &delegation(0, 0, 1)).await;
    node.wake().await;
    assert_eq!(
        node.rpc(
            "eth_getTransactionCount",
            json!([node.account(1), "latest"])
        )
        .await,
        "0x2"
    );
    assert_eq!(pending_count(&node).await, "0x2");
    assert_eq!(receipt(&node, &waiting).await["status"], "0x1");
    assert_eq!(
        receipt(&node, &send(&node, &raw(transfer(2), 1)).await).await["status"],
        "0x1"
    );
    assert!(node.chain().pool().is_empty());

    // The transaction whose nonce the other account used up is dropped, but not the next one.
    node.rpc("evm_setAutomine", json!([false])).await;
    let pointless = send(&node, &raw(transfer(3), 1)).await;
    let next = send(&node, &raw(transfer(4), 1)).await;
    send(&node, &delegation(1, 3, 9_000_000_000)).await;
    node.mine().await;

    assert_eq!(pending_count(&node).await, "0x5");
    node.mine().await;

    assert_eq!(receipt(&node, &pointless).await, Value::Null);
    assert_eq!(receipt(&node, &next).await["status"], "0x1");
    assert!(node.chain().pool().is_empty());
}

#[tokio::test]
async fn a_contract_that_advances_its_nonce_releases_its_transactions() {
    let node = node().await;
    let contract = Address::with_last_byte(0xcc);
    node.rpc("anvil_setBalance", json!([contract, "0xde0b6b3a7640000"]))
        .await;
    node.rpc("anvil_impersonateAccount", json!([contract]))
        .await;
    let from_contract =
        json!([{"from": contract, "to": node.account(1), "nonce": "0x1", "gas": "0x5208"}]);
    let waiting = node.rpc("eth_sendTransaction", from_contract).await;
    assert_eq!(receipt(&node, &waiting).await, Value::Null);
    // Creates an empty contract with each call.
    node.rpc("anvil_setCode", json!([contract, "0x5f5f5ff000"]))
        .await;
    let call = json!([{"from": node.account(0), "to": contract, "gas": "0x186a0"}]);
    let caller = node.rpc("eth_sendTransaction", call).await;
    assert_eq!(receipt(&node, &caller).await["status"], "0x1");
    node.wake().await;
    assert_eq!(receipt(&node, &waiting).await["status"], "0x1");
    assert_eq!(
        node.rpc("eth_getTransactionCount", json!([contract, "pending"]))
            .await,
        "0x2"
    );
    assert!(node.chain().pool().is_empty());
}

//! Methods that tools, wallets and indexers of other nodes call.

use alloy::primitives::{Address, keccak256};
use serde_json::{Value, json};

use crate::support::{TestNode, node, node_with, number};

/// Reverts unless it has a wei to send on to `0x…aa`.
const FORWARDS: &str = "0x5f5f5f5f600160aa5af15f525f515f14601457005b5f5ffd";
const AT: &str = "0x00000000000000000000000000000000000000cc";

async fn send(node: &TestNode, request: Value) -> Value {
    node.rpc("eth_sendTransaction", json!([request])).await
}

fn transfer(node: &TestNode, from: usize) -> Value {
    json!({"from": node.account(from), "to": node.account(9), "value": "0x1", "gas": "0x5208"})
}

fn with(mut object: Value, members: Value) -> Value {
    for (name, value) in members.as_object().unwrap() {
        object[name] = value.clone();
    }
    object
}

/// A transfer that pays less than the base fee.
fn cheap(node: &TestNode) -> Value {
    with(
        transfer(node, 0),
        json!({"maxFeePerGas": "0x1", "maxPriorityFeePerGas": "0x0"}),
    )
}

#[tokio::test]
async fn a_fee_cap_below_the_base_fee_is_refused_if_it_could_never_be_paid() {
    let manual = node_with(|config| config.no_mining = true);
    let (node, manual) = tokio::join!(node(), manual);

    for nonce in ["0x0", "0x7"] {
        let request = with(cheap(&node), json!({"nonce": nonce}));
        let message = node
            .rpc_error("eth_sendTransaction", json!([request]))
            .await["message"]
            .clone();
        let expected = format!(
            "max fee per gas less than block base fee: address {}, maxFeePerGas: 1",
            node.account(0)
        );
        assert!(
            message.as_str().unwrap().starts_with(&expected),
            "{message}"
        );
    }

    assert_eq!(
        node.rpc("txpool_status", json!([])).await,
        json!({"pending": "0x0", "queued": "0x0"})
    );

    // If blocks are sealed on demand only, the base fee may fall before.
    send(&manual, cheap(&manual)).await;
    assert_eq!(
        number(&manual.rpc("txpool_status", json!([])).await["pending"]),
        1
    );
}

#[tokio::test]
async fn pending_transactions_of_the_nodes_accounts_are_listed_and_replaced() {
    let node = node_with(|config| config.no_mining = true).await;
    assert_eq!(node.rpc("eth_mining", json!([])).await, false);

    let stranger = "0x00000000000000000000000000000000000000aa";
    node.rpc("anvil_setBalance", json!([stranger, "0xde0b6b3a7640000"]))
        .await;
    node.rpc("anvil_impersonateAccount", json!([stranger]))
        .await;
    send(&node, with(transfer(&node, 0), json!({"from": stranger}))).await;
    let waiting = send(&node, transfer(&node, 0)).await;
    send(&node, with(transfer(&node, 1), json!({"nonce": "0x5"}))).await;

    let listed = node.rpc("eth_pendingTransactions", json!([])).await;
    assert_eq!(
        listed.as_array().unwrap().len(),
        1,
        "neither the stranger's nor the one after a gap: {listed}"
    );
    assert_eq!(
        (&listed[0]["hash"], &listed[0]["blockHash"]),
        (&waiting, &Value::Null)
    );

    let price = "0x174876e800";
    let described = with(transfer(&node, 0), json!({"nonce": "0x0"}));
    for (request, reason) in [
        (
            transfer(&node, 0),
            "missing transaction nonce in transaction spec",
        ),
        (
            with(described.clone(), json!({"nonce": "0x1"})),
            "not found",
        ),
        (
            with(described.clone(), json!({"value": "0x2"})),
            "not found",
        ),
    ] {
        let error = node.rpc_error("eth_resend", json!([request, price])).await;
        assert!(
            error["message"].as_str().unwrap().contains(reason),
            "{error}"
        );
    }

    let error = node
        .rpc_error("eth_resend", json!([described, null, "0x6000"]))
        .await;
    assert_eq!(error["message"], "replacement transaction underpriced");
    let replacement = node
        .rpc("eth_resend", json!([described, price, "0x6000"]))
        .await;

    let listed = node.rpc("eth_pendingTransactions", json!([])).await;
    assert_eq!(
        (&listed[0]["hash"], &listed[0]["gas"]),
        (&replacement, &json!("0x6000"))
    );
    assert_eq!(listed[0]["maxFeePerGas"], price);

    node.rpc("evm_mine", json!([])).await;
    assert_eq!(
        node.rpc("eth_getTransactionReceipt", json!([replacement]))
            .await["status"],
        "0x1"
    );
    assert_eq!(
        node.rpc("eth_pendingTransactions", json!([])).await,
        json!([])
    );

    node.rpc("evm_setAutomine", json!([true])).await;
    assert_eq!(node.rpc("eth_mining", json!([])).await, true);
}

/// The words of a value, as numbers.
fn words(result: &Value) -> Vec<u64> {
    let text = result["value"]
        .as_str()
        .unwrap_or_else(|| panic!("{result}"));
    text.as_bytes()[2..]
        .chunks(64)
        .map(|word| u64::from_str_radix(std::str::from_utf8(&word[48..]).unwrap(), 16).unwrap())
        .collect()
}

#[tokio::test]
async fn bundles_of_calls_build_on_each_other() {
    let node = node().await;
    let from = "0x00000000000000000000000000000000000000bb";
    let to = node.account(1);
    // Returns the balance of `from`, the number of the block, and its time.
    let reads = "0x60bb315f5243602052426040526060 5ff3".replace(' ', "");
    let read = json!({"to": AT});
    let pay = json!({"from": from, "to": to, "value": "0x2"});
    let overrides = json!({from: {"balance": "0x5"}, AT: {"code": reads}});

    let bundles = json!([
        {"transactions": [read, pay, read]},
        {"transactions": [pay, read, {"to": to, "data": "0x", "gas": "0x5300"}], "blockOverride": {"number": "0x64", "time": "0x7"}},
    ]);

    let results = node
        .rpc(
            "eth_callMany",
            json!([bundles, {"blockNumber": "latest"}, overrides]),
        )
        .await;

    assert_eq!(words(&results[0][0])[..2], [5, 0]);
    assert_eq!(results[0][1], json!({"value": "0x"}));
    assert_eq!(words(&results[0][2])[0], 3);
    assert_eq!(words(&results[1][1]), [1, 100, 7]);

    assert_eq!(
        node.rpc("eth_getBalance", json!([from, "latest"])).await,
        "0x0",
        "nothing was changed"
    );

    // A call that fails has a reason instead of a value, and the next one runs.
    let code = json!({AT: {"code": FORWARDS}});
    let bundle = json!([{"transactions": [{"to": AT}, {"to": to}]}]);
    let results = node.rpc("eth_callMany", json!([bundle, {}, code])).await;
    assert_eq!(
        results,
        json!([[{"error": "execution reverted"}, {"value": "0x"}]])
    );

    // Before the first transaction of a block, after it, and after all.
    let recipient = "0x00000000000000000000000000000000000000dd";
    node.rpc("evm_setAutomine", json!([false])).await;
    for sender in 0..2 {
        send(
            &node,
            with(transfer(&node, sender), json!({"to": recipient})),
        )
        .await;
    }
    node.rpc("evm_mine", json!([])).await;

    let balance = json!({AT: {"code": "0x60dd315f5260205ff3"}});
    for (context, wei) in [
        (json!({"blockNumber": "latest", "transactionIndex": 0}), 0),
        (json!({"blockNumber": "0x1", "transactionIndex": 1}), 1),
        (json!({"blockNumber": "latest", "transactionIndex": -1}), 2),
        (json!(null), 2),
    ] {
        let results = node
            .rpc(
                "eth_callMany",
                json!([[{"transactions": [{"to": AT}]}], context, balance]),
            )
            .await;
        assert_eq!(number(&results[0][0]["value"]), wei, "{context}");
    }

    let many: Vec<Value> = (0..1_001).map(|_| json!({"to": to})).collect();
    let error = node
        .rpc_error("eth_callMany", json!([[{"transactions": many}]]))
        .await;
    assert_eq!(error["code"], -32602, "{error}");

    let forever = json!({AT: {"code": "0x5b5f56"}});
    let results = node
        .rpc(
            "eth_callMany",
            json!([[{"transactions": [{"to": AT, "gas": "0x186a0"}]}], {}, forever]),
        )
        .await;
    assert!(
        results[0][0]["error"]
            .as_str()
            .unwrap()
            .starts_with("out of gas"),
        "{results}"
    );
}

#[tokio::test]
async fn accounts_are_listed_in_the_order_of_the_trie() {
    let node = node().await;
    node.rpc("anvil_setCode", json!([AT, "0x6001"])).await;
    node.rpc(
        "anvil_setStorageAt",
        json!([AT, "0x3", format!("0x{:064x}", 0x1234)]),
    )
    .await;
    node.mine().await;

    let block = node.latest_block().await;
    let mut start = json!("0x");
    let mut keys = Vec::new();
    let mut found = None;
    loop {
        let page = node
            .rpc(
                "debug_accountRange",
                json!(["latest", start, 7, false, false, false]),
            )
            .await;
        assert_eq!(
            format!("0x{}", page["root"].as_str().unwrap()),
            block["stateRoot"].as_str().unwrap()
        );

        let accounts = page["accounts"].as_object().unwrap();
        assert!((1..=7).contains(&accounts.len()));
        for (name, account) in accounts {
            let address: Address = name.parse().unwrap();
            assert_eq!(account["key"], json!(keccak256(address)));
            keys.push(account["key"].as_str().unwrap().to_owned());
            if account["address"] == AT {
                found = Some(account.clone());
            }
        }

        match page.get("next") {
            Some(next) => start = next.clone(),
            None => break,
        }
    }

    // No account is listed twice.
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);

    let found = found.unwrap();
    assert_eq!(
        (&found["balance"], &found["nonce"], &found["code"]),
        (&json!("0"), &json!(0), &json!("0x6001"))
    );
    assert_eq!(found["storage"], json!({format!("0x{:064x}", 3): "1234"}));

    let bare = node
        .rpc(
            "debug_accountRange",
            json!([
                "latest",
                keccak256(AT.parse::<Address>().unwrap()),
                1,
                true,
                true
            ]),
        )
        .await;

    let account = bare["accounts"]
        .as_object()
        .unwrap()
        .values()
        .next()
        .unwrap()
        .clone();
    assert!(
        account.get("code").is_none() && account.get("storage").is_none(),
        "{account}"
    );
}

/// These accounts, the sender and the recipient of the fees, in the order of the trie.
fn modified(node: &TestNode, addresses: &[&str]) -> Value {
    let mut all: Vec<Address> = addresses
        .iter()
        .map(|address| address.parse().unwrap())
        .collect();
    all.extend([node.account(0), Address::ZERO]);
    all.sort_by_key(|address| keccak256(address));
    json!(all)
}

/// A list of accounts without the contracts that the block's system calls write to.
fn without_system(mut listed: Value) -> Value {
    let system = [
        "0x0000f90827f1c53a10cb7a02335b175320002935",
        "0x000f3df6d732807ef1319fb7b8bb8522d0beac02",
    ];
    listed
        .as_array_mut()
        .unwrap()
        .retain(|address| !system.contains(&address.as_str().unwrap()));
    listed
}

#[tokio::test]
async fn accounts_that_blocks_modify_are_listed() {
    let node = node().await;
    let a = "0x00000000000000000000000000000000000000d1";
    let b = "0x00000000000000000000000000000000000000d2";
    for to in [a, b] {
        send(&node, with(transfer(&node, 0), json!({"to": to}))).await;
    }

    let by_number = |params: Value| node.rpc("debug_getModifiedAccountsByNumber", params);
    assert_eq!(
        without_system(by_number(json!([1])).await),
        modified(&node, &[a])
    );
    assert_eq!(
        without_system(by_number(json!([1, 2])).await),
        modified(&node, &[b])
    );
    assert_eq!(
        without_system(by_number(json!([0, "0x2"])).await),
        modified(&node, &[a, b])
    );

    let hash = |block: &str| node.rpc("eth_getBlockByNumber", json!([block, false]));
    let first = hash("0x1").await["hash"].clone();
    let second = hash("0x2").await["hash"].clone();

    let by_hash = node
        .rpc("debug_getModifiedAccountsByHash", json!([first, second]))
        .await;
    assert_eq!(without_system(by_hash), modified(&node, &[b]));

    for (params, reason) in [
        (
            json!([2, 1]),
            "start block height (2) must be less than end block height (1)",
        ),
        (json!([9]), "start block 9 not found"),
        (json!([1, 9]), "end block 9 not found"),
        (json!([0]), "block 0 has no parent"),
    ] {
        assert_eq!(
            node.rpc_error("debug_getModifiedAccountsByNumber", params)
                .await["message"],
            reason
        );
    }
}

#[tokio::test]
async fn intermediate_roots_and_hashed_data_are_traced() {
    let node = node().await;
    node.rpc("evm_setAutomine", json!([false])).await;
    let sent = send(&node, transfer(&node, 0)).await;
    // Hashes the word 7, twice, and 32 bytes that the memory does not hold yet.
    let hashes = "0x60075f5260205f2060205f206020604020 00".replace(' ', "");
    node.rpc("anvil_setCode", json!([AT, hashes])).await;
    let hashing = send(
        &node,
        json!({"from": node.account(1), "to": AT, "gas": "0x186a0"}),
    )
    .await;
    node.rpc("evm_mine", json!([])).await;
    let block = node.latest_block().await;
    assert_eq!(block["transactions"].as_array().unwrap().len(), 2, "{sent}");
    let roots = node
        .rpc("debug_intermediateRoots", json!([block["hash"]]))
        .await;
    assert_eq!(roots.as_array().unwrap().len(), 2);
    // Nothing after the transactions changes the state.
    assert_eq!(roots[1], block["stateRoot"]);
    assert_ne!(roots[0], roots[1]);

    let preimages = node
        .rpc(
            "debug_traceTransaction",
            json!([hashing, {"tracer": "keccak256PreimageTracer"}]),
        )
        .await;
    let seven = format!("0x{:064x}", 7);
    let nothing = format!("0x{:064x}", 0);
    let hash = |text: &str| keccak256(alloy::primitives::hex::decode(text).unwrap()).to_string();
    assert_eq!(
        preimages,
        json!({hash(&seven): seven, hash(&nothing): nothing})
    );
    let none = node
        .rpc(
            "debug_traceTransaction",
            json!([sent, {"tracer": "keccak256PreimageTracer"}]),
        )
        .await;
    assert_eq!(none, json!({}));

    let error = node
        .rpc_error("debug_traceBadBlock", json!([block["hash"]]))
        .await;
    assert_eq!(
        error["message"],
        json!(format!(
            "bad block {} not found",
            block["hash"].as_str().unwrap()
        ))
    );
}

#[tokio::test]
async fn hashed_data_has_a_limit() {
    let node = node_with(|config| config.rpc.max_trace_bytes = 1 << 20).await;
    // Hashes growing memory for ever.
    node.rpc(
        "anvil_setCode",
        json!([AT, "0x5b5f5180600101 5f526180005f20505f56".replace(' ', "")]),
    )
    .await;
    let options = json!({"tracer": "keccak256PreimageTracer"});
    let error = node
        .rpc_error("debug_traceCall", json!([{"to": AT}, "latest", options]))
        .await;
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("the trace exceeds"),
        "{error}"
    );
}

#[tokio::test]
async fn the_head_can_be_rewound() {
    let node = node().await;
    let hash = send(&node, transfer(&node, 0)).await;
    for _ in 0..3 {
        node.mine().await;
    }
    assert_eq!(node.rpc("debug_setHead", json!(["0x2"])).await, Value::Null);
    assert_eq!(node.rpc("eth_blockNumber", json!([])).await, "0x2");
    assert_eq!(
        node.rpc("eth_getTransactionReceipt", json!([hash])).await["blockNumber"],
        "0x1"
    );
    node.rpc("debug_setHead", json!([0])).await;
    assert_eq!(
        node.rpc("eth_getTransactionReceipt", json!([hash])).await,
        Value::Null
    );
    for number in ["0x0", "0x5"] {
        let error = node.rpc_error("debug_setHead", json!([number])).await;
        assert_eq!(
            error["message"], "not allowed to rewind to a future block",
            "{number}"
        );
    }
}

/// The hash of the second block, or null if there is none.
async fn second_hash(node: &TestNode) -> Value {
    node.rpc("eth_getBlockByNumber", json!(["0x2", false]))
        .await["hash"]
        .clone()
}

#[tokio::test]
async fn the_head_is_rewound_to_the_block_despite_concurrent_sealing() {
    let node = node().await;
    for _ in 0..30 {
        node.rpc("evm_mine", json!([{ "blocks": 5 }])).await;
        let before = second_hash(&node).await;

        // In either order, the second block is replaced or missing.
        tokio::join!(node.mine(), node.rpc("debug_setHead", json!(["0x1"])));
        assert_ne!(second_hash(&node).await, before);
    }
}

#[tokio::test]
async fn the_node_describes_itself_like_a_peer() {
    let node = node().await;
    let info = node.rpc("admin_nodeInfo", json!([])).await;
    let genesis = node
        .rpc("eth_getBlockByNumber", json!(["earliest", false]))
        .await["hash"]
        .clone();
    assert_eq!(
        info["protocols"]["eth"],
        json!({"network": 125, "genesis": genesis, "head": genesis})
    );
    assert_eq!(
        info["name"],
        node.rpc("web3_clientVersion", json!([])).await
    );
    let enode = info["enode"].as_str().unwrap();
    let key = enode
        .strip_prefix("enode://")
        .unwrap()
        .strip_suffix("@127.0.0.1:0")
        .unwrap();
    let id = keccak256(alloy::primitives::hex::decode(key).unwrap());
    assert_eq!(info["id"], json!(alloy::primitives::hex::encode(id)));
}

impl TestNode {
    async fn latest_block(&self) -> Value {
        self.rpc("eth_getBlockByNumber", json!(["latest", false]))
            .await
    }
}

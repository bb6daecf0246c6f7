//! GraphQL: geth's schema, and the queries of hive's test suite.

use std::time::Duration;

use alloy::{
    consensus::TxEip1559,
    primitives::{Address, Bytes, TxKind, U256, keccak256},
};
use alloy_sol_types::{SolCall, SolEvent};
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::Token;
use tetrad_web::{Budget, Held};

use crate::support::{
    TestNode,
    chain::token,
    node, node_with,
    sign::{raw, transfer},
};

impl TestNode {
    async fn graphql_body(&self, body: impl Into<reqwest::Body>) -> (u16, Value) {
        let url = format!("{}/graphql", self.rest_url());
        let request = reqwest::Client::new()
            .post(url)
            .header("content-type", "application/json")
            .body(body);
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        (
            status,
            serde_json::from_str(&text).unwrap_or(Value::String(text)),
        )
    }

    /// The data of a query that succeeds.
    async fn graphql(&self, query: &str) -> Value {
        let (status, mut body) = self.graphql_body(json!({"query": query}).to_string()).await;
        assert_eq!(
            (status, &body["errors"]),
            (200, &Value::Null),
            "{query}: {body}"
        );
        body["data"].take()
    }

    /// The first error's message and the data of a query that fails.
    async fn graphql_error(&self, query: &str) -> (String, Value) {
        let (status, mut body) = self.graphql_body(json!({"query": query}).to_string()).await;
        assert_eq!(status, 400, "{query}: {body}");
        let message = body["errors"][0]["message"]
            .as_str()
            .unwrap_or_else(|| panic!("{query}: {body}"))
            .to_owned();
        (message, body["data"].take())
    }
}

/// A type as the schema language writes it.
fn written(kind: &Value) -> String {
    match kind["kind"].as_str() {
        Some("NON_NULL") => format!("{}!", written(&kind["ofType"])),
        Some("LIST") => format!("[{}]", written(&kind["ofType"])),
        _ => kind["name"].as_str().unwrap().to_owned(),
    }
}

/// An argument of a field as the schema language writes it.
fn argument(given: &Value) -> String {
    let name = given["name"].as_str().unwrap();
    format!("{name}: {}", written(&given["type"]))
}

#[tokio::test]
async fn the_schema_matches_geths() {
    let node = node().await;
    let kind = "type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }";
    let query = format!(
        "{{ __schema {{ types {{ name fields {{ name args {{ name {kind} }} {kind} }} inputFields {{ name {kind} }} }} }} }}"
    );
    let schema = node.graphql(&query).await;

    let mut lines = Vec::new();
    for described in schema["__schema"]["types"].as_array().unwrap() {
        let name = described["name"].as_str().unwrap();
        if name.starts_with("__") {
            continue;
        }

        let lists = [&described["fields"], &described["inputFields"]];
        for field in lists.into_iter().filter_map(Value::as_array).flatten() {
            let given: Vec<_> = field["args"]
                .as_array()
                .into_iter()
                .flatten()
                .map(argument)
                .collect();
            let given = if given.is_empty() {
                String::new()
            } else {
                format!("({})", given.join(", "))
            };

            lines.push(format!(
                "{name}.{}{given}: {}",
                field["name"].as_str().unwrap(),
                written(&field["type"])
            ));
        }
    }

    lines.sort();
    assert_eq!(
        lines.join("\n"),
        include_str!("graphql_schema.txt").trim_end()
    );
    node.end().await;
}

#[tokio::test]
async fn blocks_match_json_rpc() {
    let node = node().await;
    node.send_wei(0).await;

    let known = node
        .rpc("eth_getBlockByNumber", json!(["latest", true]))
        .await;
    let number = known["number"].as_str().unwrap();

    let fields = "number hash timestamp difficulty gasUsed gasLimit nonce logsBloom mixHash extraData stateRoot receiptsRoot transactionsRoot baseFeePerGas withdrawalsRoot blobGasUsed excessBlobGas";
    let data = node
        .graphql(&format!(
            "{{ block(number: \"{number}\") {{ {fields} ommerCount ommers {{ hash }} ommerAt(index: 1) {{ hash }} ommerHash \
             transactionCount transactions {{ hash index }} transactionAt(index: 0) {{ hash block {{ hash }} }} \
             missing: transactionAt(index: 7) {{ hash }} miner {{ address }} parent {{ hash number }} withdrawals {{ index }} \
             slotNumber blockAccessListHash raw rawHeader }} }}"
        ))
        .await;

    let block = &data["block"];
    for field in fields.split(' ') {
        assert_eq!(block[field], known[field], "{field}");
    }
    assert_eq!(
        (&block["ommerCount"], &block["ommers"], &block["ommerAt"]),
        (&json!("0x0"), &json!([]), &Value::Null)
    );
    assert_eq!(
        (&block["ommerHash"], &block["miner"]["address"]),
        (&known["sha3Uncles"], &known["miner"])
    );

    let hash = &known["transactions"][0]["hash"];
    assert_eq!(
        block["transactions"],
        json!([{"hash": hash, "index": "0x0"}])
    );
    assert_eq!(
        block["transactionAt"],
        json!({"hash": hash, "block": {"hash": known["hash"]}})
    );
    assert_eq!(
        (&block["transactionCount"], &block["missing"]),
        (&json!("0x1"), &Value::Null)
    );
    assert_eq!(
        (&block["parent"]["hash"], &block["withdrawals"]),
        (&known["parentHash"], &json!([]))
    );

    let header: Bytes = serde_json::from_value(block["rawHeader"].clone()).unwrap();
    assert_eq!(json!(keccak256(header)), known["hash"]);
    assert_eq!(
        block["raw"],
        node.rpc("debug_getRawBlock", json!([number])).await
    );

    // By hash, by a decimal text, and the newest.
    let hash = known["hash"].as_str().unwrap();
    let decimal = u64::from_str_radix(&number[2..], 16).unwrap();
    for arguments in [
        format!("(hash: \"{hash}\")"),
        format!("(number: \"{decimal}\")"),
        String::new(),
    ] {
        assert_eq!(
            node.graphql(&format!("{{ block{arguments} {{ hash }} }}"))
                .await["block"]["hash"],
            hash
        );
    }

    for absent in [
        "number: 88888888",
        "number: -3",
        "hash: \"0x123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0\"",
    ] {
        assert_eq!(
            node.graphql(&format!("{{ block({absent}) {{ number }} }}"))
                .await,
            json!({"block": null})
        );
    }

    let both = node
        .graphql_error(&format!(
            "{{ block(number: \"0x03\", hash: \"{hash}\") {{ number }} }}"
        ))
        .await;
    assert_eq!(
        both,
        (
            "only one of number or hash must be specified".to_owned(),
            json!({"block": null})
        )
    );
    node.end().await;
}

#[tokio::test]
async fn ranges_of_blocks_end_with_the_newest() {
    let node = node().await;
    for _ in 0..5 {
        node.mine().await;
    }
    let numbers = |from: u64, to: u64| json!({"blocks": (from..=to).map(|n| json!({"number": format!("{n:#x}")})).collect::<Vec<_>>()});
    let newest = node.block_number().await;

    assert_eq!(
        node.graphql("{ blocks(from: 1, to: 3) { number } }").await,
        numbers(1, 3)
    );
    assert_eq!(
        node.graphql("{ blocks(from: \"0x2\") { number } }").await,
        numbers(2, newest)
    );
    assert_eq!(
        node.graphql("{ blocks(from: 2, to: 1000000) { number } }")
            .await,
        numbers(2, newest)
    );

    let (message, data) = node
        .graphql_error("{ blocks(from: 3, to: 2) { number } }")
        .await;
    assert_eq!(
        (message.as_str(), data),
        (
            "invalid from and to block combination: from > to",
            Value::Null
        )
    );

    let (message, _) = node.graphql_error("{ blocks(to: 2) { number } }").await;
    assert_eq!(message, "from block number must be specified");
    node.end().await;
}

#[tokio::test]
async fn transactions_match_json_rpc() {
    let node = node().await;
    let hash = node
        .rpc("eth_sendRawTransaction", json!([raw(transfer(0), 0)]))
        .await;
    let hash = hash.as_str().unwrap();
    let known = node.rpc("eth_getTransactionByHash", json!([hash])).await;
    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;

    let same = "nonce gasPrice maxFeePerGas maxPriorityFeePerGas gas value hash r s v yParity type accessList { address }";
    let query = format!(
        "{{ transaction(hash: \"{hash}\") {{ {same} index inputData block {{ number hash logsBloom }} status gasUsed \
         cumulativeGasUsed effectiveGasPrice effectiveTip blobGasUsed blobGasPrice maxFeePerBlobGas blobVersionedHashes \
         from {{ address transactionCount }} to {{ address }} createdContract {{ address }} logs {{ index }} raw rawReceipt }} }}"
    );

    let found = node.graphql(&query).await["transaction"].take();
    for field in [
        "nonce",
        "gasPrice",
        "maxFeePerGas",
        "maxPriorityFeePerGas",
        "gas",
        "value",
        "hash",
        "r",
        "s",
        "v",
        "yParity",
        "type",
        "accessList",
    ] {
        assert_eq!(found[field], known[field], "{field}");
    }

    for field in [
        "status",
        "gasUsed",
        "cumulativeGasUsed",
        "effectiveGasPrice",
    ] {
        assert_eq!(found[field], receipt[field], "{field}");
    }

    assert_eq!(
        (&found["index"], &found["block"]["hash"]),
        (&json!("0x0"), &known["blockHash"])
    );
    assert_eq!(
        found["from"],
        json!({"address": known["from"], "transactionCount": "0x1"})
    );
    assert_eq!(
        (&found["to"]["address"], &found["createdContract"]),
        (&known["to"], &Value::Null)
    );

    for none in [
        "blobGasUsed",
        "blobGasPrice",
        "maxFeePerBlobGas",
        "blobVersionedHashes",
    ] {
        assert_eq!(found[none], Value::Null, "{none}");
    }
    assert_eq!(
        found["raw"],
        node.rpc("debug_getRawTransaction", json!([hash])).await
    );
    assert_eq!(
        json!([found["rawReceipt"]]),
        node.rpc("debug_getRawReceipts", json!([known["blockNumber"]]))
            .await
    );

    // The state of an account is that of the named block.
    let before =
        format!("{{ transaction(hash: \"{hash}\") {{ from(block: 0) {{ transactionCount }} }} }}");
    assert_eq!(
        node.graphql(&before).await["transaction"]["from"]["transactionCount"],
        "0x0"
    );

    let absent = "{ transaction(hash: \"0xffc6c7e602c56aa30c554bb691377f8703d778cec8845f4b88c0f72516b304f4\") { hash } }";
    assert_eq!(node.graphql(absent).await, json!({"transaction": null}));
    node.end().await;
}

/// A query for the logs of a block that a filter selects.
fn block_logs(block: u64, filter: &str, fields: &str) -> String {
    format!("{{ block(number: {block}) {{ logs(filter: {{ {filter} }}) {{ {fields} }} }} }}")
}

#[tokio::test]
async fn logs_are_selected_by_block_contract_and_topic() {
    let node = node().await;

    let signer = node.signer(0);
    let usdc = token("USDC");
    let to = Address::repeat_byte(9);
    let transfer = Token::transferCall {
        to,
        value: U256::from(5),
    };
    let receipt = node.send(&signer, usdc.address, transfer).await;

    let block = receipt.block_number.unwrap();
    let topic = Token::Transfer::SIGNATURE_HASH;

    let fields = "index topics data account { address } transaction { hash block { number } }";
    let address = format!("{:#x}", usdc.address);
    let expected = json!([{
        "index": "0x0",
        "topics": receipt.logs()[0].topics(),
        "data": receipt.logs()[0].data().data,
        "account": {"address": address},
        "transaction": {"hash": receipt.transaction_hash, "block": {"number": format!("{block:#x}")}},
    }]);

    let query = format!(
        "{{ logs(filter: {{ fromBlock: {block}, toBlock: \"{block:#x}\", topics: [], addresses: [] }}) {{ {fields} }} }}"
    );
    assert_eq!(node.graphql(&query).await["logs"], expected);

    let either = format!("topics: [[\"0x{:064x}\", \"{topic:#x}\"]]", 1);

    for filter in [
        either.as_str(),
        &format!("addresses: [\"{address}\"]"),
        "topics: [[], []]",
        "",
    ] {
        assert_eq!(
            node.graphql(&block_logs(block, filter, fields)).await["block"]["logs"],
            expected,
            "{filter}"
        );
    }

    for filter in [
        format!("topics: [[\"0x{:064x}\"]]", 1),
        format!("addresses: [\"0x{:040x}\"]", 1),
    ] {
        assert_eq!(
            node.graphql(&block_logs(block, &filter, fields)).await["block"]["logs"],
            json!([]),
            "{filter}"
        );
    }

    let (message, _) = node
        .graphql_error("{ logs(filter: { fromBlock: 3, toBlock: 2 }) { index } }")
        .await;
    assert_eq!(message, "invalid from and to block combination: from > to");
    node.end().await;
}

#[tokio::test]
async fn calls_and_accounts_read_the_state_of_a_block() {
    let node = node().await;
    let usdc = token("USDC");
    let owner = node.account(0);
    let decimals = Bytes::from(Token::decimalsCall {}.abi_encode());
    let refused = Bytes::from(
        Token::transferCall {
            to: Address::ZERO,
            value: U256::MAX,
        }
        .abi_encode(),
    );

    let query = format!(
        "{{ block {{ call(data: {{ from: \"{owner}\", to: \"{0}\", data: \"{decimals}\" }}) {{ data status gasUsed }} \
         failed: call(data: {{ to: \"{0}\", data: \"{refused}\" }}) {{ data status }} \
         estimateGas(data: {{ from: \"{owner}\", to: \"0x00000000000000000000000000000000000000bb\" }}) nothing: estimateGas(data: {{}}) \
         account(address: \"{owner}\") {{ address balance transactionCount code }} \
         contract: account(address: \"{0}\") {{ code storage(slot: \"0x{1:064x}\") }} }} }}",
        usdc.address, 0
    );
    let block = node.graphql(&query).await["block"].take();

    let call = json!({"data": format!("0x{:064x}", 6), "status": "0x1", "gasUsed": block["call"]["gasUsed"]});
    assert_eq!(block["call"], call);

    assert_eq!(block["failed"]["status"], "0x0");
    assert!(
        block["failed"]["data"].as_str().unwrap().len() > 10,
        "{block}"
    );
    assert_eq!(block["estimateGas"], "0x5208");
    assert!(block["nothing"].is_string());

    let balance = node.rpc("eth_getBalance", json!([owner, "latest"])).await;
    let account = json!({"address": format!("{owner:#x}"), "balance": balance, "transactionCount": "0x0", "code": "0x"});
    assert_eq!(block["account"], account);

    assert_eq!(
        block["contract"]["code"],
        node.rpc("eth_getCode", json!([usdc.address, "latest"]))
            .await
    );
    assert_eq!(
        block["contract"]["storage"],
        node.rpc("eth_getStorageAt", json!([usdc.address, "0x0", "latest"]))
            .await
    );

    let (message, data) = node
        .graphql_error(&format!(
            "{{ block {{ number estimateGas(data: {{ to: \"{}\", data: \"{refused}\" }}) }} }}",
            usdc.address
        ))
        .await;
    assert!(message.starts_with("execution reverted"), "{message}");
    assert_eq!(data, json!({"block": null}));

    let (message, _) = node
        .graphql_error("{ block { account { balance } } }")
        .await;
    assert!(message.contains("address"), "{message}");

    let prices = node
        .graphql("{ gasPrice maxPriorityFeePerGas chainID syncing { currentBlock } }")
        .await;
    let rpc = node.rpc("eth_gasPrice", json!([])).await;
    assert_eq!(
        prices,
        json!({"gasPrice": rpc, "maxPriorityFeePerGas": "0x3b9aca00", "chainID": "0x7d", "syncing": null})
    );
    node.end().await;
}

#[tokio::test]
async fn a_mutation_sends_a_transaction_to_the_pool() {
    let node = node_with(|config| config.no_mining = true).await;
    let send = |raw: Bytes| format!("mutation {{ sendRawTransaction(data: \"{raw}\") }}");
    let signed = raw(transfer(0), 0);
    let hash = node.graphql(&send(signed.clone())).await["sendRawTransaction"].take();
    assert_eq!(hash, json!(keccak256(&signed)));
    let owner = node.account(0);
    let pending = format!(
        "{{ pending {{ transactionCount transactions {{ hash nonce gas index block {{ number }} status logs {{ index }} }} \
         account(address: \"{owner}\") {{ transactionCount }} estimateGas(data: {{}}) \
         call(data: {{ from: \"{owner}\", to: \"{owner}\" }}) {{ data status }} }} }}"
    );
    let pending = node.graphql(&pending).await["pending"].take();
    assert_eq!(
        (
            &pending["transactionCount"],
            &pending["account"]["transactionCount"]
        ),
        (&json!("0x1"), &json!("0x1"))
    );
    let first = &pending["transactions"][0];
    assert_eq!((&first["hash"], &first["nonce"]), (&hash, &json!("0x0")));
    assert!(
        ["index", "block", "status", "logs"]
            .iter()
            .all(|none| first[none].is_null()),
        "{first}"
    );
    assert_eq!(pending["call"], json!({"data": "0x", "status": "0x1"}));
    node.mine().await;

    // With a variable, and among several operations.
    let query = "query Q { chainID } mutation M($raw: Bytes!) { sendRawTransaction(data: $raw) }";
    let body =
        json!({"query": query, "operationName": "M", "variables": {"raw": raw(transfer(1), 0)}});
    let (status, body) = node.graphql_body(body.to_string()).await;
    assert_eq!(status, 200, "{body}");
    let (message, data) = node.graphql_error(&send(signed)).await;
    assert!(message.starts_with("nonce too low"), "{message}");
    assert_eq!(data, Value::Null);
    let (message, _) = node.graphql_error(&send(Bytes::from([1, 2]))).await;
    assert!(!message.is_empty());
    node.end().await;
}

/// A document of this many mutations.
fn mutations(count: usize) -> String {
    let fields = (0..count).map(|index| format!("a{index}: sendRawTransaction(data: \"0x\") "));
    format!("mutation {{ {} }}", fields.collect::<String>())
}

#[tokio::test]
async fn a_document_takes_memory_before_it_is_parsed() {
    let budget = Budget::new(1 << 20);
    let node = node_with(|config| config.rpc.budget = budget.clone()).await;
    let ask = async |count| node.graphql_error(&mutations(count)).await.0;

    let mut others = Held::default();
    assert!(budget.try_grow(&mut others, 400 << 10));
    assert_eq!(
        ask(300).await,
        "the query is too large for the memory that is left; try again"
    );
    assert_eq!(ask(20).await, "rlp: input too short");
    drop(others);
    assert_eq!(ask(300).await, "rlp: input too short");
    node.end().await;
}

#[tokio::test]
async fn invalid_queries_are_refused() {
    let node = node().await;
    let url = format!("{}/graphql", node.rest_url());
    let client = reqwest::Client::new();

    assert_eq!(client.get(&url).send().await.unwrap().status(), 405);
    assert_eq!(
        client.post(&url).body("{}").send().await.unwrap().status(),
        415
    );

    for body in [
        "",
        "[]",
        "{\"query\": \"{ chainID }\"} {}",
        "{\"query\": 5}",
    ] {
        assert_eq!(node.graphql_body(body).await.0, 400, "{body}");
    }

    let long = format!("{{\"query\": \"{}\"}}", " ".repeat(6 << 20));
    assert_eq!(node.graphql_body(long).await.0, 413);

    for query in [
        "",
        "{",
        "{ nothing }",
        "{ block(number: \"x\") { hash } }",
        "{ block(hash: \"0x12\") { hash } }",
    ] {
        let (message, data) = node.graphql_error(query).await;
        assert!(
            !message.is_empty() && data["block"].is_null(),
            "{query}: {data}"
        );
    }
    node.end().await;
}

/// A query whose selections nest to this depth.
fn nested_query(depth: usize) -> String {
    format!(
        "{{ block {} }}",
        "{ parent ".repeat(depth - 2) + "{ number " + &"}".repeat(depth - 1)
    )
}

#[tokio::test]
async fn depth_selections_tokens_and_names_are_limited() {
    let node = node().await;
    node.graphql(&nested_query(20)).await;
    assert!(
        node.graphql_error(&nested_query(21))
            .await
            .0
            .contains("depth 21")
    );

    let brackets = "{a".repeat(100_000);
    assert!(
        node.graphql_error(&brackets)
            .await
            .0
            .contains("nested brackets")
    );

    let list = format!(
        "{{ logs(filter: {{ topics: [[{}]] }}) {{ index }} }}",
        "1,".repeat(40_000)
    );
    assert!(node.graphql_error(&list).await.0.contains("32000 tokens"));

    let name = "a".repeat(257);
    assert!(
        node.graphql_error(&format!("{{ blocks(from: 0) {{ {name}: number }} }}"))
            .await
            .0
            .contains("256 bytes")
    );

    let many: String = (0..6_000)
        .map(|index| format!("a{index}: chainID "))
        .collect();
    assert!(
        node.graphql_error(&format!("{{ {many} }}"))
            .await
            .0
            .contains("selections")
    );

    let mut doubling = String::from("{ ...f0 } ");
    for level in 0..30 {
        doubling += &format!(
            "fragment f{level} on Query {{ ...f{} ...f{} }} ",
            level + 1,
            level + 1
        );
    }
    doubling += "fragment f30 on Query { chainID }";
    assert!(node.graphql_error(&doubling).await.0.contains("selections"));

    assert!(
        node.graphql_error("{ ...f } fragment f on Query { ...f }")
            .await
            .0
            .contains("contains itself")
    );
    node.end().await;
}

#[tokio::test]
async fn time_and_memory_are_limited() {
    let slow = node_with(|config| config.rpc.execution_timeout = Duration::ZERO).await;
    assert_eq!(
        slow.graphql_error("{ block { number } }").await.0,
        "execution timeout"
    );
    slow.end().await;
    let small = node_with(|config| config.rpc.max_batch_response = 10_000).await;
    small.graphql("{ block { number } }").await;
    let usdc = token("USDC").address;
    let code: String = (0..9)
        .map(|index| format!("a{index}: account(address: \"{usdc}\") {{ code }} "))
        .collect();
    assert!(
        small
            .graphql_error(&format!("{{ block {{ {code} }} }}"))
            .await
            .0
            .starts_with("response too large")
    );
    small.end().await;
}

#[tokio::test]
async fn a_created_contract_is_an_account() {
    let node = node().await;
    let create = TxEip1559 {
        to: TxKind::Create,
        input: Bytes::from([0x60, 0x60, 0x60, 0x00, 0x53, 0x60, 0x01, 0x60, 0x00, 0xf3]),
        gas_limit: 100_000,
        ..transfer(0)
    };
    let create = TxEip1559 {
        value: U256::ZERO,
        ..create
    };
    let signed = raw(create, 0);
    assert_eq!(signed[0], 2);
    let hash = node.rpc("eth_sendRawTransaction", json!([signed])).await;
    let query = format!(
        "{{ transaction(hash: {hash}) {{ to {{ address }} createdContract {{ address code }} }} }}"
    );
    let expected = json!({"address": format!("{:#x}", node.account(0).create(0)), "code": "0x60"});
    assert_eq!(
        node.graphql(&query).await["transaction"],
        json!({"to": null, "createdContract": expected})
    );
    node.end().await;
}

#[tokio::test]
async fn a_number_has_nothing_but_digits() {
    let node = node().await;
    for number in ["1_0", "0x1_0", "0x_", "_", ""] {
        let query = format!("{{ block(number: \"{number}\") {{ hash }} }}");
        let (message, _) = node.graphql_error(&query).await;
        assert!(message.contains("expected a number"), "{number}: {message}");
    }
    node.end().await;
}

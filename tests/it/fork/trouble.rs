//! A node to fork that fails, hangs, lies, or knows too little.

use std::{process::Stdio, time::Duration};

use axum::http::StatusCode;
use serde_json::{Value, json};
use tetrad::{Node, SpawnError};
use tetrad_rpc::fork::ForkBlock;
use tokio::task::JoinHandle;

use super::{
    fork_of,
    proxy::{Behaviour, Proxy},
    upstream,
};
use crate::support::{
    TestNode,
    process::{signal, tetrad},
};

const UNUSED: &str = "0x0000000000000000000000000000000000000abc";

/// A separate client with one request, which disconnects when the task is aborted.
fn spawn_request(node: &TestNode, method: &str, params: &Value) -> JoinHandle<()> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let request = reqwest::Client::new().post(node.rpc_url()).json(&body);
    tokio::spawn(async move { drop(request.send().await) })
}

/// The error of a fork that cannot begin.
async fn refusal(url: &str, block: Option<u64>) -> String {
    let mut config = tetrad::Config::test();
    config.fork.url = Some(url.parse().unwrap());
    config.fork.block = block.map_or(ForkBlock::Latest, ForkBlock::Number);
    config.fork.retries = 1;
    (config.fork.timeout, config.fork.retry_backoff) =
        (Duration::from_millis(300), Duration::from_millis(1));
    match Node::spawn(config).await {
        Err(error @ SpawnError::Fork(_)) => error.to_string(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the node started"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_that_cannot_begin_names_the_reason() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    for (behaviour, block, what) in [
        (Behaviour::Forwards, Some(7_777), "no block 7777"),
        (
            Behaviour::Fails(usize::MAX, StatusCode::BAD_GATEWAY),
            None,
            "502",
        ),
        (
            Behaviour::Fails(usize::MAX, StatusCode::UNAUTHORIZED),
            None,
            "401",
        ),
        (Behaviour::Hangs, None, "no answer within 0.3 s"),
        (
            Behaviour::SendsBody("<html>".to_owned()),
            None,
            "not JSON-RPC",
        ),
        (
            Behaviour::SendsBody("{}".to_owned()),
            None,
            "neither result nor error",
        ),
        (
            Behaviour::SendsBody(r#"{"error": "no"}"#.to_owned()),
            None,
            "without code and message",
        ),
        (
            Behaviour::SendsBody(r#"{"error": {"code": -32000, "message": "no key"}}"#.to_owned()),
            None,
            "no key (code -32000)",
        ),
        (
            Behaviour::Answers(json!("0x1")),
            None,
            "the block is no object",
        ),
        (Behaviour::Answers(json!({})), None, "eth_chainId"),
        (Behaviour::Answers(json!(null)), None, "eth_chainId"),
    ] {
        proxy.set(behaviour.clone());
        let error = refusal(&proxy.url, block).await;
        assert!(error.contains(what), "{behaviour:?}: {error}");
        assert!(
            !error.contains("127.0.0.1"),
            "the URL may hold a key: {error}"
        );
    }

    assert!(
        refusal("http://127.0.0.1:1", None)
            .await
            .contains("eth_chainId")
    );
}

/// With the default retries and timeout, which are for nodes that answer at times.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreachable_address_fails_at_once() {
    // Nothing accepts connections, so the system stops answering once a few of them wait.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let full = socket.listen(1).unwrap();
    let silent = full.local_addr().unwrap();
    let _waiting: Vec<_> = (0..4)
        .map(|_| {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            tokio::spawn(async move { socket.connect(silent).await })
        })
        .collect();

    for url in [
        "http://127.0.0.1:1".to_owned(),
        "http://nowhere.invalid".to_owned(),
        format!("http://{silent}"),
    ] {
        let mut config = tetrad::Config::test();
        config.fork.url = Some(url.parse().unwrap());
        let began = std::time::Instant::now();
        let error = Node::spawn(config)
            .await
            .err()
            .expect("no node")
            .to_string();
        assert!(
            error.starts_with("--fork-url: fork: eth_chainId: "),
            "{error}"
        );

        // All retries would take half a minute.
        assert!(
            began.elapsed() < Duration::from_secs(15),
            "{url}: {:?}",
            began.elapsed()
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_state_is_an_error() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let fork = fork_of(&proxy.url, |config| {
        config.fork.retries = 0;
        config.fork.timeout = Duration::from_millis(300);
    })
    .await;

    let known = fork.account(0);
    let unknown = UNUSED;
    let token = fork.token();
    let error = json!({"error": {"code": -32_000, "message": "missing trie node"}}).to_string();

    for (behaviour, what) in [
        (
            Behaviour::Fails(usize::MAX, StatusCode::INTERNAL_SERVER_ERROR),
            "500",
        ),
        (Behaviour::Hangs, "no answer within"),
        (Behaviour::SendsBody("7".to_owned()), "not JSON-RPC"),
        (Behaviour::SendsBody(error), "missing trie node"),
        (Behaviour::Answers(json!(null)), "not what was asked for"),
        (Behaviour::Answers(json!("0xzz")), "not what was asked for"),
        (Behaviour::Answers(json!([])), "not what was asked for"),
    ] {
        proxy.set(behaviour.clone());

        let call = json!({"to": token, "data": "0x18160ddd"});
        let send = json!({"from": known, "to": UNUSED, "value": "0x1"});
        let raw = crate::support::sign::raw(crate::support::sign::transfer(0), 2);

        for (method, params) in [
            ("eth_getBalance", json!([unknown, "latest"])),
            ("eth_getTransactionCount", json!([unknown, "latest"])),
            ("eth_getCode", json!([unknown, "latest"])),
            ("eth_getStorageAt", json!([token, "0x77", "latest"])),
            ("eth_call", json!([call, "latest"])),
            ("eth_estimateGas", json!([send])),
            ("eth_sendTransaction", json!([send])),
            ("eth_getBlockByNumber", json!(["0x1", false])),
            ("eth_getLogs", json!([{"fromBlock": "0x1"}])),
            ("anvil_setCode", json!([unknown, "0x00"])),
        ] {
            let answer = fork.request(method, params.clone()).await;
            let error = answer["error"].to_string();

            // Responses about the other node's own blocks are forwarded, even if they are garbage.
            let forwarded = matches!(
                (&behaviour, method),
                (
                    Behaviour::Answers(_),
                    "eth_getBlockByNumber" | "eth_getLogs"
                )
            );
            assert!(
                forwarded || error.contains(what),
                "{behaviour:?}: {method}: {answer}"
            );
        }

        let sent = fork.request("eth_sendRawTransaction", json!([raw])).await;
        assert!(
            sent["error"].to_string().contains(what),
            "{behaviour:?}: {sent}"
        );

        // Known state is still answered.
        assert_ne!(
            fork.rpc("eth_getBalance", json!([known, "latest"])).await,
            "0x0"
        );
        assert_eq!(
            fork.rpc("eth_blockNumber", json!([])).await,
            upstream.rpc("eth_blockNumber", json!([])).await
        );
    }

    // Once the other node works again, so does the fork.
    proxy.set(Behaviour::Forwards);
    assert_eq!(
        fork.rpc("eth_getBalance", json!([unknown, "latest"])).await,
        "0x0"
    );
    fork.send_wei(0).await;
    fork.transfer_token(3, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn temporary_failures_are_retried() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let fork = fork_of(&proxy.url, |config| {
        config.fork.retries = 3;
        config.fork.headers = vec![("x-key".to_owned(), "secret".to_owned())];
    })
    .await;
    assert_eq!(proxy.headers()["x-key"], "secret");
    for status in [StatusCode::TOO_MANY_REQUESTS, StatusCode::BAD_GATEWAY] {
        proxy.set(Behaviour::Fails(3, status));
        let slot = json!([fork.token(), format!("{:#x}", status.as_u16()), "latest"]);
        assert_eq!(
            fork.rpc("eth_getStorageAt", slot)
                .await
                .as_str()
                .unwrap()
                .len(),
            66
        );
    }
    proxy.set(Behaviour::Fails(4, StatusCode::BAD_GATEWAY));
    let error = fork
        .rpc_error("eth_getStorageAt", json!([fork.token(), "0x3", "latest"]))
        .await;
    assert!(error.to_string().contains("502"), "{error}");
}

async fn read_state(fork: &TestNode) {
    fork.rpc("eth_getCode", json!([fork.token(), "latest"]))
        .await;
    fork.token_balance(3, "latest").await;
    fork.rpc("eth_getBalance", json!([UNUSED, "latest"])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn known_state_is_not_requested_again() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;

    // Without the network's services, which read some of the state themselves.
    let fork = fork_of(&proxy.url, |config| config.bare = true).await;

    proxy.asked();
    read_state(&fork).await;
    let mut asked = proxy.asked();
    asked.sort();

    let count = |method: &str| asked.iter().filter(|asked| *asked == method).count();
    assert_eq!(
        (
            count("eth_getCode"),
            count("eth_getBalance"),
            count("eth_getTransactionCount")
        ),
        (3, 3, 3),
        "{asked:?}"
    );

    read_state(&fork).await;
    assert_eq!(proxy.asked(), Vec::<String>::new());

    // Neither is state that this chain created: PUSH0 SLOAD over unused slots, in a contract of its
    // own.
    let creation = "0x6009600c60003960096000f3600035545f526020600000";
    let request = json!([{"from": fork.account(0), "data": creation, "gas": "0x30d40"}]);
    let hash = fork.rpc("eth_sendTransaction", request).await;
    let receipt = fork.rpc("eth_getTransactionReceipt", json!([hash])).await;

    proxy.asked();
    for slot in 0..3 {
        let params = json!([receipt["contractAddress"], format!("{slot:#x}"), "latest"]);
        assert_eq!(
            fork.rpc("eth_getStorageAt", params).await,
            format!("0x{:064x}", 0)
        );
    }
    assert_eq!(proxy.asked(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_logs_are_refused() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let fork = fork_of(&proxy.url, |config| config.fork.retries = 0).await;
    fork.mine().await;
    proxy.set(Behaviour::SendsBody(format!(
        r#"{{"result":[{}0]}}"#,
        "0,".repeat(1_000_000)
    )));
    // The range begins in the other chain and ends in the fork's own.
    let error = fork
        .rpc_error("eth_getLogs", json!([{"fromBlock": "0x0"}]))
        .await;
    assert!(
        error
            .to_string()
            .contains("query returned more than 50000 results"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replaced_block_is_noticed() {
    let upstream = upstream().await;
    let before = upstream.rpc("evm_snapshot", json!([])).await;
    upstream.send_wei(3).await;
    let height = upstream.height().await;
    let fork = fork_of(&upstream.rpc_url(), |config| {
        config.fork.check_every = std::time::Duration::from_millis(20);
    })
    .await;

    upstream.rpc("evm_revert", json!([before])).await;
    upstream.rpc("anvil_mine", json!(["0x1", "0x1"])).await;
    let began = std::time::Instant::now();
    for account in 1_000u64.. {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "the replacement is not noticed"
        );
        // Each account is a new one, so that the fork has to request it.
        let params = json!([format!("{account:#042x}"), "latest"]);
        let response = fork.request("eth_getBalance", params).await;
        let Some(error) = response.get("error") else {
            continue;
        };
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("has been reorganised") && message.contains(&height.to_string()),
            "{message}"
        );
        break;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_cancelled_when_its_client_disconnects() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let fork = fork_of(&proxy.url, |config| {
        // No request ends by a time limit.
        config.fork.timeout = Duration::from_secs(3_600);
    })
    .await;
    proxy.set(Behaviour::Hangs);

    let call = json!({"to": UNUSED, "data": "0x18160ddd"});
    // The fork also asks the other node to trace each call, until that has failed three times.
    let calls = (0..3).map(|_| ("eth_call", json!([call, "latest"])));
    let reads = [
        ("eth_getBalance", json!([UNUSED, "latest"])),
        ("eth_getStorageAt", json!([fork.token(), "0x77", "latest"])),
        ("eth_getBlockByNumber", json!(["0x1", false])),
    ];
    for (method, params) in reads.into_iter().chain(calls) {
        let client = spawn_request(&fork, method, &params);
        proxy.until_hanging(true).await;
        client.abort();
        proxy.until_hanging(false).await;
    }

    // Cancelled requests do not count as methods that the other node lacks.
    proxy.set(Behaviour::Forwards);
    proxy.asked();
    let call = json!({"to": fork.token(), "data": "0x18160ddd"});
    fork.rpc("eth_call", json!([call, "latest"])).await;
    let asked = proxy.asked();
    assert!(asked.contains(&"debug_traceCall".to_owned()), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_response_is_refused() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let fork = fork_of(&proxy.url, |_| ()).await;
    proxy.set(Behaviour::Endless);
    proxy.requests();

    // The second request is a batch.
    for (method, params) in [
        ("eth_getStorageAt", json!([fork.token(), "0x77", "latest"])),
        ("eth_getBalance", json!([UNUSED, "latest"])),
    ] {
        let error = fork.rpc_error(method, params).await.to_string();
        assert!(error.contains("more than 134217728 bytes"), "{error}");
        assert_eq!(proxy.requests(), 1, "{method}");
    }
}

/// A call that returns `BLOCKHASH` of the block at this distance before its own.
fn hash_before(distance: u8) -> Value {
    let code = format!("0x60{distance:02x}43034060015260216000f3");
    json!([{"data": code}, "latest"])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hash_belongs_to_the_requested_block() {
    let upstream = upstream().await;
    upstream.rpc("anvil_mine", json!(["0x8"])).await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let newest = upstream.latest().await;

    for prefetch in [true, false] {
        let fork = fork_of(&proxy.url, |config| {
            config.fork.prefetch = prefetch;
            config.fork.retries = 0;
        })
        .await;

        // The parent's hash is in the forked header. Afterwards the accounts that a call reads are
        // at hand.
        let parent = fork.rpc("eth_call", hash_before(1)).await;
        let hash = newest["parentHash"].as_str().unwrap();
        assert_eq!(parent, format!("0x00{}", &hash[2..]));

        for (answer, what) in [(json!(null), "has no block"), (newest.clone(), "got block")] {
            proxy.set(Behaviour::Answers(answer));
            let error = fork.rpc_error("eth_call", hash_before(3)).await;
            assert!(error.to_string().contains(what), "{error}");
        }

        // Wrong answers are not remembered.
        proxy.set(Behaviour::Forwards);
        let found = fork.rpc("eth_call", hash_before(3)).await;
        let expected = upstream.rpc("eth_call", hash_before(3)).await;
        assert_eq!(found, expected);
    }
}

/// Answers with a block in which these fields are replaced.
fn replacing(block: &Value, fields: Value) -> Behaviour {
    let mut block = block.clone();
    for (name, value) in fields.as_object().unwrap() {
        block[name] = value.clone();
    }
    Behaviour::Replaces(block)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forked_header_may_have_the_highest_fees_but_not_the_highest_number() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let fork = fork_of(&proxy.url, |_| {}).await;
    let most = "0xffffffffffffffff";
    let block = upstream.latest().await;
    let forked = json!([{"forking": {"jsonRpcUrl": proxy.url}}]);

    proxy.set(replacing(&block, json!({"number": "0x7fffffffffffffff"})));
    let error = fork.rpc_error("anvil_reset", forked.clone()).await;
    assert!(error.to_string().contains("number"), "{error}");

    let fees = json!({
        "baseFeePerGas": most, "gasUsed": block["gasLimit"], "excessBlobGas": most, "blobGasUsed": most,
    });
    proxy.set(replacing(&block, fees));
    fork.rpc("anvil_reset", forked).await;
    fork.rpc("evm_mine", json!([])).await;
    assert_eq!(fork.latest().await["baseFeePerGas"], most);
}

/// A fork without mining, with two transactions of one account in its pool. The state that the
/// second one reads is not at hand: only the next transaction of an account is executed on arrival.
async fn with_unread_transaction(proxy: &Proxy) -> (TestNode, Value, Value) {
    let fork = fork_of(&proxy.url, |config| {
        config.no_mining = true;
        config.fork.retries = 0;
        config.fork.timeout = Duration::from_secs(3_600);
    })
    .await;
    // The state that every block reads is at hand after the first one.
    fork.rpc("evm_mine", json!([])).await;

    let from = fork.account(3);
    let next = fork
        .rpc("eth_getTransactionCount", json!([from, "latest"]))
        .await;
    let next = crate::support::number(&next);
    let mut hashes = Vec::new();
    for (nonce, recipient) in [(next, "abc"), (next + 1, "abd")] {
        // transfer(address,uint256)
        let data = format!("0xa9059cbb{recipient:0>64}{:064x}", 1);
        let transfer = json!({
            "from": from, "to": fork.token(), "data": data, "gas": "0x30d40",
            "nonce": format!("{nonce:#x}"),
        });
        hashes.push(fork.rpc("eth_sendTransaction", json!([transfer])).await);
    }
    let [read, unread] = hashes.try_into().unwrap();
    (fork, read, unread)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acknowledged_transaction_waits_until_its_state_can_be_read() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let (fork, read, unread) = with_unread_transaction(&proxy).await;
    let receipt = async |hash: &Value| fork.rpc("eth_getTransactionReceipt", json!([hash])).await;

    proxy.set(Behaviour::Fails(
        usize::MAX,
        StatusCode::INTERNAL_SERVER_ERROR,
    ));
    fork.rpc("evm_mine", json!([])).await;
    assert_eq!(receipt(&read).await["status"], "0x1");
    assert!(receipt(&unread).await.is_null());
    let status = fork.rpc("txpool_status", json!([])).await;
    assert_eq!(status["pending"], "0x1");

    proxy.set(Behaviour::Forwards);
    // The next attempt may follow after a delay.
    while receipt(&unread).await.is_null() {
        fork.rpc("evm_mine", json!([])).await;
    }
    assert_eq!(receipt(&unread).await["status"], "0x1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_with_unreadable_state_is_retried_automatically() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let (fork, _, unread) = with_unread_transaction(&proxy).await;

    // More failures than the first attempts have requests.
    proxy.set(Behaviour::Fails(12, StatusCode::INTERNAL_SERVER_ERROR));
    fork.rpc("evm_setAutomine", json!([true])).await;
    loop {
        let receipt = fork.rpc("eth_getTransactionReceipt", json!([unread])).await;
        if !receipt.is_null() {
            assert_eq!(receipt["status"], "0x1");
            return;
        }
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_ends_a_node_that_waits_for_the_other_node_to_start() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    proxy.set(Behaviour::Hangs);
    for name in ["-TERM", "-INT"] {
        let mut starting = tetrad(&["--fork-url", &proxy.url, "--fork-timeout", "3600"]);
        starting.args(["--listen", "127.0.0.1:0", "--ws-listen", "127.0.0.1:0"]);
        let mut starting = starting.stdout(Stdio::null()).spawn().unwrap();
        proxy.until_hanging(true).await;

        signal(starting.id(), name);
        let ended = tokio::task::spawn_blocking(move || starting.wait());
        assert!(ended.await.unwrap().unwrap().success(), "{name}");
        proxy.until_hanging(false).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_shuts_down_while_its_writer_waits_for_the_other_node() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let (fork, ..) = with_unread_transaction(&proxy).await;
    proxy.set(Behaviour::Hangs);
    let mining = spawn_request(&fork, "evm_mine", &json!([]));
    proxy.until_hanging(true).await;

    fork.end().await;
    mining.abort();
}

/// The number of transactions in the pending block, if there is one.
async fn pending(fork: &TestNode) -> Option<usize> {
    let block = fork
        .rpc("eth_getBlockByNumber", json!(["pending", false]))
        .await;
    block["transactions"].as_array().map(Vec::len)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pending_block_recovers_a_transaction_that_was_unreadable() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let (fork, ..) = with_unread_transaction(&proxy).await;
    // Otherwise the block would change in the next second.
    let later = crate::support::number(&fork.latest().await["timestamp"]) + 100_000;
    fork.rpc("evm_setNextBlockTimestamp", json!([later])).await;

    proxy.set(Behaviour::Fails(
        usize::MAX,
        StatusCode::INTERNAL_SERVER_ERROR,
    ));
    assert_eq!(pending(&fork).await, Some(1));

    proxy.set(Behaviour::Forwards);
    while pending(&fork).await == Some(1) {}
    assert_eq!(pending(&fork).await, Some(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_disconnects_leaves_the_pending_block_complete() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let fork = fork_of(&proxy.url, |config| {
        config.no_mining = true;
        config.fork.timeout = Duration::from_secs(3_600);
    })
    .await;
    // Otherwise the block would change in the next second.
    let head = fork
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await;
    let later = crate::support::number(&head["timestamp"]) + 100_000;
    fork.rpc("evm_setNextBlockTimestamp", json!([later])).await;

    // transfer(address,uint256). The state that every block reads is at hand after the first one.
    let params = json!(["pending", false]);
    for (nonce, recipient) in [(0, "abc"), (1, "abd")] {
        fork.rpc("eth_getBlockByNumber", params.clone()).await;
        let data = format!("0xa9059cbb{recipient:0>64}{:064x}", 1);
        let transfer = json!({
            "from": fork.account(5), "to": fork.token(), "data": data,
            "gas": "0x30d40", "nonce": format!("{nonce:#x}"),
        });
        fork.rpc("eth_sendTransaction", json!([transfer])).await;
    }
    proxy.set(Behaviour::Hangs);
    let params = json!(["pending", false]);
    let client = spawn_request(&fork, "eth_getBlockByNumber", &params);
    proxy.until_hanging(true).await;
    client.abort();
    proxy.until_hanging(false).await;

    proxy.set(Behaviour::Forwards);
    let pending = fork.rpc("eth_getBlockByNumber", params).await;
    assert_eq!(pending["transactions"].as_array().map(Vec::len), Some(2));
}

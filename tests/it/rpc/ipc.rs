//! JSON-RPC on a Unix socket without HTTP.

use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
};

use crate::support::{TestNode, node_with};

struct IpcNode {
    node: TestNode,
    path: PathBuf,
    _folder: TempDir,
}

impl IpcNode {
    async fn start(change: impl FnOnce(&mut tetrad::Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.ipc");
        let node = node_with(|config| {
            config.listen_unix = Some(path.clone());
            change(config);
        })
        .await;
        Self {
            node,
            path,
            _folder: folder,
        }
    }

    async fn connect(&self) -> Ipc {
        let stream = UnixStream::connect(&self.path).await.unwrap();
        let (reading, writing) = stream.into_split();
        Ipc {
            lines: BufReader::new(reading),
            writing,
        }
    }
}

struct Ipc {
    lines: BufReader<OwnedReadHalf>,
    writing: OwnedWriteHalf,
}

impl Ipc {
    async fn send(&mut self, text: &str) {
        self.writing.write_all(text.as_bytes()).await.unwrap();
    }

    /// The next document; none if the node has closed the connection.
    async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        // A connection that is closed before everything was read is reset.
        let _ = self.lines.read_line(&mut line).await;
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }
}

const BOX: &str = "0x00000000000000000000000000000000000000b0";

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[tokio::test]
async fn documents_are_answered_however_they_are_split() {
    let node = IpcNode::start(|_| {}).await;
    let mut ipc = node.connect().await;

    let chain_id = request(1, "eth_chainId", json!([])).to_string();
    let (begin, end) = chain_id.split_at(20);
    ipc.send(begin).await;
    ipc.send(end).await;
    assert_eq!(ipc.next().await.unwrap()["result"], "0x7d");

    let batch = json!([
        request(2, "eth_blockNumber", json!([])),
        request(3, "web3_sha3", json!(["0x5b7b22"])),
    ]);
    ipc.send(&format!("\n{batch}{chain_id}\n")).await;
    let mut found = [ipc.next().await.unwrap(), ipc.next().await.unwrap()];
    found.sort_by_key(Value::is_array);
    assert_eq!(found[0]["result"], "0x7d");
    assert_eq!(found[1].as_array().unwrap().len(), 2);

    // An invalid line is answered with an error, and the connection stays usable.
    ipc.send("hello\n").await;
    assert_eq!(ipc.next().await.unwrap()["error"]["code"], -32700);
    ipc.send(&chain_id).await;
    assert_eq!(ipc.next().await.unwrap()["result"], "0x7d");
    node.node.end().await;
}

#[tokio::test]
async fn a_subscriber_receives_the_headers_of_blocks() {
    let node = IpcNode::start(|_| {}).await;
    let mut ipc = node.connect().await;
    ipc.send(&request(1, "eth_subscribe", json!(["newHeads"])).to_string())
        .await;
    let id = ipc.next().await.unwrap()["result"].clone();

    node.node.rpc("evm_mine", json!([])).await;
    let event = ipc.next().await.unwrap();
    assert_eq!(event["method"], "eth_subscription");
    assert_eq!(event["params"]["subscription"], id);
    assert_eq!(event["params"]["result"]["number"], "0x1");
    node.node.end().await;
}

#[tokio::test]
async fn long_documents_are_read_and_written_whole() {
    let node = IpcNode::start(|_| {}).await;
    let mut ipc = node.connect().await;
    let data = format!("0x{}", "5b".repeat(100_000));
    let call = json!({"to": "0x0000000000000000000000000000000000000004", "data": data, "gas": "0x1c9c380"});
    ipc.send(&request(1, "eth_call", json!([call, "latest"])).to_string())
        .await;
    assert_eq!(ipc.next().await.unwrap()["result"], data);
    node.node.end().await;
}

#[tokio::test]
async fn a_document_that_is_too_long_ends_its_connection_alone() {
    let node = IpcNode::start(|config| config.rpc.max_body = 10_000).await;
    let mut ipc = node.connect().await;
    let mut other = node.connect().await;
    ipc.send(&"[".repeat(20_000)).await;
    assert_eq!(ipc.next().await, None);
    other
        .send(&request(1, "eth_chainId", json!([])).to_string())
        .await;
    assert_eq!(other.next().await.unwrap()["result"], "0x7d");
    node.node.end().await;
}

/// Programs connect at their start and send their first request when they need to, which may be
/// hours later.
#[tokio::test]
async fn a_connection_may_be_silent_before_its_first_document() {
    let limit = std::time::Duration::from_millis(100);
    let node = IpcNode::start(|config| config.listener.header_timeout = limit).await;
    let mut ipc = node.connect().await;
    // A silent HTTP connection is closed at this time.
    let mut http = tokio::net::TcpStream::connect(node.node.address())
        .await
        .unwrap();
    let read = tokio::io::AsyncReadExt::read(&mut http, &mut [0; 1]).await;
    assert!(matches!(read, Ok(0) | Err(_)));

    ipc.send(&request(1, "eth_chainId", json!([])).to_string())
        .await;
    assert_eq!(ipc.next().await.unwrap()["result"], "0x7d");
    node.node.end().await;
}

#[tokio::test]
async fn a_client_that_closes_its_sending_side_gets_its_responses() {
    let node = IpcNode::start(|_| {}).await;
    let Ipc {
        mut lines,
        mut writing,
    } = node.connect().await;
    let from = node.node.account(0);
    let sent = request(
        1,
        "eth_sendTransaction",
        json!([{"from": from, "to": from}]),
    );
    writing
        .write_all(sent.to_string().as_bytes())
        .await
        .unwrap();
    writing.shutdown().await.unwrap();

    let mut all = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut lines, &mut all)
        .await
        .unwrap();
    let answer: Value = serde_json::from_str(&all).unwrap();
    assert!(answer["result"].is_string(), "{all}");
    node.node.end().await;
}

/// Otherwise it would interleave with the message of an event.
#[tokio::test]
async fn a_long_answer_is_written_whole_beside_events() {
    let node = IpcNode::start(|_| {}).await;
    let mut ipc = node.connect().await;
    ipc.send(&request(1, "eth_subscribe", json!(["newHeads"])).to_string())
        .await;
    ipc.next().await.unwrap();
    let code = format!("0x{}", "5b".repeat(300_000));
    node.node.rpc("anvil_setCode", json!([BOX, code])).await;

    for id in 0..20 {
        ipc.send(&request(id, "eth_getCode", json!([BOX, "latest"])).to_string())
            .await;
        node.node.rpc("evm_mine", json!([])).await;
    }
    let mut codes = 0;
    let mut events = 0;
    while codes < 20 || events < 20 {
        let document = ipc.next().await.unwrap();
        if document.get("method").is_some() {
            events += 1;
        } else {
            assert_eq!(document["result"], code);
            codes += 1;
        }
    }
    node.node.end().await;
}

#[tokio::test]
async fn connections_end_when_the_node_does() {
    let node = IpcNode::start(|_| {}).await;
    let mut ipc = node.connect().await;
    ipc.send(&request(1, "eth_chainId", json!([])).to_string())
        .await;
    assert!(ipc.next().await.is_some());
    node.node.end().await;
    assert_eq!(ipc.next().await, None);
}

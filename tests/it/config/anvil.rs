//! The program in place of anvil: the output that other programs read, and anvil's flags.

use std::{
    fs::Permissions,
    io::{BufRead, BufReader, Lines, Read},
    net::SocketAddr,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::process::{PROGRAM, output, signal};

/// A node that was started like anvil, and its output.
struct Anvil {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    banner: Vec<String>,
    address: SocketAddr,
}

impl Anvil {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(PROGRAM);
        command.arg("anvil");
        Self::run(command, arguments)
    }

    /// Reads lines up to the one with the listener's address, as alloy and prool do.
    fn run(mut command: Command, arguments: &[&str]) -> Self {
        tetrad_stdx::tls::install_provider();
        let mut child = command
            .args(["--port", "0"])
            .args(arguments)
            .env_clear()
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();

        let mut banner = Vec::new();
        let address = loop {
            let line = lines.next().expect("a line more").unwrap();
            if let Some(address) = line.strip_prefix("Listening on ") {
                break address.parse().unwrap();
            }
            banner.push(line);
        };
        Self {
            child,
            lines,
            banner,
            address,
        }
    }

    /// The lines of a section.
    fn section(&self, name: &str) -> Vec<&str> {
        let after = self.banner.iter().skip_while(|line| *line != name);
        let after = after.skip(2).skip_while(|line| line.is_empty());
        after
            .take_while(|line| !line.is_empty())
            .map(String::as_str)
            .collect()
    }

    async fn rpc(&self, method: &str, params: Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = reqwest::Client::new()
            .post(format!("http://{}", self.address))
            .json(&request)
            .send()
            .await
            .unwrap();
        let answer: Value = answer.json().await.unwrap();
        match answer.get("result") {
            Some(result) => result.clone(),
            None => answer,
        }
    }

    fn next_line(&mut self) -> String {
        self.lines.next().expect("a line more").unwrap()
    }

    /// Ends the node like Ctrl-C.
    fn end(mut self) {
        signal(self.child.id(), "-INT");
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Anvil {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn programs_that_start_anvil_read_what_they_expect() {
    let folder = tempfile::tempdir().unwrap();
    // Under the name `anvil`, no command is needed.
    let program = folder.path().join("anvil");
    symlink(PROGRAM, &program).unwrap();
    let node = Anvil::run(Command::new(&program), &["-a", "2", "--balance", "7"]);

    let accounts = node.section("Available Accounts");
    assert_eq!(
        accounts,
        [
            "(0) 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 (7.000000000000000000 ETH)",
            "(1) 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 (7.000000000000000000 ETH)",
        ]
    );
    assert_eq!(
        node.section("Private Keys")[0],
        "(0) 0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
    );
    assert_eq!(
        node.section("Wallet"),
        [
            "Mnemonic:          test test test test test test test test test test test junk",
            "Derivation path:   m/44'/60'/0'/0/",
        ]
    );
    assert_eq!(node.section("Chain ID"), ["31337"]);
    assert_eq!(node.section("Base Fee"), ["1000000000"]);
    assert_eq!(node.section("Gas Limit"), ["30000000"]);
    assert_eq!(node.section("Genesis Number"), ["0"]);
    assert_eq!(node.section("Genesis Timestamp").len(), 1);

    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x7a69");
    let version = node.rpc("web3_clientVersion", json!([])).await;
    assert!(version.as_str().unwrap().starts_with("anvil/"), "{version}");

    let printed = Command::new(&program).arg("--version").output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.starts_with("anvil Version: 1."), "{printed}");
}

#[test]
fn link_anvil_creates_the_link_but_replaces_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let link = folder.path().join("anvil");
    for _ in 0..2 {
        let (succeeded, said, _) = output(&["link-anvil", place]);
        assert!(succeeded);
        assert!(said.starts_with(link.to_str().unwrap()), "{said}");
    }
    let version = Command::new(&link).arg("--version").output().unwrap();
    assert!(version.stdout.starts_with(b"anvil Version: "));

    // A link to a removed version is replaced.
    std::fs::remove_file(&link).unwrap();
    symlink(folder.path().join("gone").join("tetrad"), &link).unwrap();
    assert!(output(&["link-anvil", place]).0);
    assert_eq!(
        std::fs::canonicalize(&link).unwrap(),
        std::fs::canonicalize(PROGRAM).unwrap()
    );

    std::fs::remove_file(&link).unwrap();
    std::fs::write(&link, "another program").unwrap();
    let (succeeded, _, said) = output(&["link-anvil", place]);
    assert!(!succeeded);
    assert!(said.contains(link.to_str().unwrap()), "{said}");
    assert_eq!(std::fs::read_to_string(&link).unwrap(), "another program");
}

/// Scripts search these lines for hashes and failures.
#[tokio::test]
async fn calls_and_blocks_are_printed_like_anvils() {
    let mut node = Anvil::start(&["--timestamp", "1700000000"]);
    let from = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
    let hash = node
        .rpc(
            "eth_sendTransaction",
            json!([{"from": from, "to": from, "value": "0x1"}]),
        )
        .await;
    assert_eq!(node.next_line(), "eth_sendTransaction");
    assert_eq!(node.next_line(), "");
    assert_eq!(
        node.next_line(),
        format!("    Transaction: {}", hash.as_str().unwrap())
    );
    assert_eq!(node.next_line(), "    Gas used: 21000");
    assert_eq!(node.next_line(), "");
    assert_eq!(node.next_line(), "    Block Number: 1");
    assert!(node.next_line().starts_with("    Block Hash: 0x"));
    let time = node.next_line();
    assert!(
        time.starts_with("    Block Time: \"Tue, 14 Nov 2023 22:13:2")
            && time.ends_with(" +0000\""),
        "{time}"
    );
    assert_eq!(node.next_line(), "");

    // A contract that reverts.
    let data = json!([{"from": from, "data": "0x5f5ffd", "gas": "0x186a0"}]);
    node.rpc("eth_sendTransaction", data).await;
    assert_eq!(node.next_line(), "eth_sendTransaction");
    let lines: Vec<_> = (0..5).map(|_| node.next_line()).collect();
    assert!(
        lines[2].starts_with("    Contract created: 0x"),
        "{lines:?}"
    );
    assert!(lines[4].starts_with("    Error: reverted"), "{lines:?}");
}

#[tokio::test]
async fn the_chain_is_bare_and_has_anvils_conventions() {
    let node = Anvil::start(&["--slots-in-an-epoch", "2", "--base-fee", "7"]);
    assert_eq!(
        node.rpc("eth_getBlockByNumber", json!(["0x0", false]))
            .await["baseFeePerGas"],
        "0x7"
    );
    // Neither exchange nor lending, but the contracts that every chain has.
    for (address, is_there) in [
        ("0x49B0f9a0554da1A7243A9C8ac5B45245A66D90ff", false),
        ("0x4e59b44847b379578588920cA78FbF26c0B4956C", true),
        ("0xcA11bde05977b3631167028862bE2a173976CA11", true),
    ] {
        let code = node.rpc("eth_getCode", json!([address, "latest"])).await;
        assert_eq!(code != "0x", is_there, "{address}");
    }

    node.rpc("anvil_mine", json!([7])).await;
    for (tag, number) in [("latest", "0x7"), ("safe", "0x5"), ("finalized", "0x3")] {
        let block = node.rpc("eth_getBlockByNumber", json!([tag, false])).await;
        assert_eq!(block["number"], number, "{tag}");
    }
    node.rpc("anvil_reset", json!([])).await;
    let block = node.rpc("eth_getBlockByNumber", json!(["finalized", false]));
    assert_eq!(block.await["number"], "0x0");
}

/// The tests of alloy and prool expect this.
#[tokio::test]
async fn fees_estimates_times_and_limits_match_anvils() {
    let node = Anvil::start(&[]);
    let own = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
    let hash = node
        .rpc("eth_sendTransaction", json!([{"from": own, "to": own}]))
        .await;
    let block = node
        .rpc("eth_getBlockByNumber", json!(["0x1", false]))
        .await;
    assert_eq!(block["baseFeePerGas"], "0x3b9aca00", "as the first block's");
    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
    assert_eq!(receipt["blockNumber"], "0x1");
    node.rpc("evm_mine", json!([])).await;
    let block = node
        .rpc("eth_getBlockByNumber", json!(["0x2", false]))
        .await;
    assert_eq!(block["baseFeePerGas"], "0x342a1c58", "then by EIP-1559");

    // SSTORE(0, 1), in a contract's code: exactly the minimum gas.
    let contract = "0x00000000000000000000000000000000000000cc";
    node.rpc("anvil_setCode", json!([contract, "0x600160005500"]))
        .await;
    let call = json!([{"from": own, "to": contract}]);
    assert_eq!(node.rpc("eth_estimateGas", call).await, "0xa862");

    // Blobs are known by their commitments.
    let commitment = format!("0xc0{}", "0".repeat(94));
    let call = json!([{
        "from": own,
        "to": own,
        "commitments": [commitment],
        "proofs": [commitment],
        "maxFeePerBlobGas": "0x3b9aca00",
    }]);
    assert_eq!(node.rpc("eth_estimateGas", call).await, "0x5208");

    node.rpc("anvil_setTime", json!([0])).await;
    assert_eq!(node.rpc("anvil_setTime", json!([1_001])).await, 1_001);
    assert_eq!(
        node.rpc("anvil_setBlockGasLimit", json!([1_337])).await,
        true
    );
    node.rpc("evm_mine", json!([])).await;
    let block = node
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await;
    assert_eq!(block["gasLimit"], "0x539");

    let url = format!("http://{}", node.address);
    let client = reqwest::Client::new();
    let answer = client.get(&url).send().await.unwrap();
    assert_eq!(answer.status(), 400);
    let text = answer.text().await.unwrap();
    assert_eq!(text, "Connection header did not include 'upgrade'");
    let page = client.get(&url).header("accept", "text/html,*/*");
    assert_eq!(page.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn flags_select_the_accounts() {
    // As anvil 1.7.1 prints it.
    let seeded = "pen brief eager pepper brass detect problem vital physical tent assume damp";
    let node = Anvil::start(&["--mnemonic-seed-unsafe", "42", "--derivation-path", "m/1/"]);
    assert_eq!(
        node.section("Wallet"),
        [
            format!("Mnemonic:          {seeded}"),
            "Derivation path:   m/1/".to_owned()
        ]
    );
    drop(node);

    let random = ["one", "other"].map(|_| {
        let node = Anvil::start(&["--mnemonic-random", "15", "-a", "1"]);
        node.section("Wallet")[0].to_owned()
    });
    assert_ne!(random[0], random[1]);
    assert_eq!(random[0].split_whitespace().count(), 1 + 15);

    let node = Anvil::start(&["--auto-impersonate", "--disable-default-create2-deployer"]);
    let sender = "0x0000000000000000000000000000000000000abc";
    node.rpc("anvil_setBalance", json!([sender, "0xde0b6b3a7640000"]))
        .await;
    let transfer = json!([{"from": sender, "to": sender}]);
    let sent = node.rpc("eth_sendTransaction", transfer.clone()).await;
    assert!(sent.is_string(), "{sent}");
    node.rpc("anvil_autoImpersonateAccount", json!([false]))
        .await;
    let refused = node.rpc("eth_sendTransaction", transfer).await;
    assert!(refused["error"].is_object(), "{refused}");
    let deployer = json!(["0x4e59b44847b379578588920cA78FbF26c0B4956C", "latest"]);
    assert_eq!(node.rpc("eth_getCode", deployer).await, "0x");
}

#[tokio::test]
async fn accounts_and_settings_are_written_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.json");
    let _node = Anvil::start(&["--config-out", file.to_str().unwrap(), "-a", "1"]);
    let mut written: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let timestamp = written["genesis_timestamp"].take();
    assert!(timestamp.as_str().unwrap().parse::<u64>().is_ok());
    assert_eq!(
        written,
        json!({
            "available_accounts": ["0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"],
            "private_keys": ["0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"],
            "wallet": {
                "mnemonic": "test test test test test test test test test test test junk",
                "derivation_path": "m/44'/60'/0'/0/",
            },
            "base_fee": "1000000000",
            "gas_price": "1875000000",
            "gas_limit": "30000000",
            "genesis_timestamp": null,
        })
    );
}

/// The time continues that of the first block for as long as the node runs.
#[tokio::test]
async fn a_flag_sets_the_time_of_the_first_block() {
    let node = Anvil::start(&["--timestamp", "1000"]);
    node.rpc("evm_mine", json!([])).await;
    let block = node
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await;
    let time = block["timestamp"]
        .as_str()
        .unwrap()
        .trim_start_matches("0x");
    let time = u64::from_str_radix(time, 16).unwrap();
    assert!(
        (1_001..1_000 + Duration::from_secs(600).as_secs()).contains(&time),
        "{time}"
    );
}

#[test]
fn unsupported_flags_are_rejected_with_advice() {
    for (arguments, expected) in [
        (&["--celo"][..], "--celo: tetrad cannot do that"),
        (&["--network", "tempo"], "--network: expected ethereum"),
        (&["--order", "gas"], "order: expected fees or fifo"),
        (
            &["--mixed-mining"],
            "mixed-mining: block-time has to say at which interval",
        ),
        (
            &["--code-size-limit", "5"],
            "--code-size-limit: the node can lift the limit",
        ),
        (
            &["--mnemonic-random", "13"],
            "--mnemonic-random: expected 12, 15, 18, 21 or 24 words",
        ),
        (&["--block-time", "1", "--no-mining"], "cannot be used with"),
        (&["--accuonts", "5"], "'--accounts'"),
        (
            &["-f", "http://127.0.0.1:1", "-f", "http://127.0.0.1:2@100"],
            "--fork-url: the block belongs to the first URL",
        ),
    ] {
        let (success, _, error) = output(&[&["anvil"], arguments].concat());
        assert!(!success && error.contains(expected), "{error}");
    }
}

/// prool ends a node that writes to standard error.
#[test]
fn a_signal_ends_the_node_without_output_on_standard_error() {
    for sent in ["-INT", "-TERM"] {
        let mut node = Anvil::start(&["--threads", "2", "--steps-tracing", "-v"]);
        assert!(
            node.banner
                .iter()
                .any(|line| line.starts_with("Warning: --threads changes nothing: ")),
            "{:?}",
            node.banner
        );
        signal(node.child.id(), sent);
        assert!(node.child.wait().unwrap().success());

        let mut said = String::new();
        let mut stream = node.child.stderr.take().unwrap();
        stream.read_to_string(&mut said).unwrap();
        assert_eq!(said, "");
    }
}

#[tokio::test]
async fn a_fork_has_the_chain_id_and_the_gas_limit_of_the_other_chain() {
    let other = Anvil::start(&["--chain-id", "77", "--gas-limit", "12000000"]);
    other.rpc("anvil_mine", json!([5])).await;
    let url = format!("http://{}@3", other.address);
    let node = Anvil::start(&["--fork-url", &url, "--fork-header", "accept: one, two"]);
    assert_eq!(node.section("Chain ID"), ["77"]);
    assert_eq!(node.section("Gas Limit"), ["12000000"]);
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x4d");
    assert_eq!(node.rpc("eth_blockNumber", json!([])).await, "0x3");

    let node = Anvil::start(&["--fork-url", &url, "--chain-id", "31337"]);
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x7a69");
}

#[tokio::test]
async fn a_fork_of_several_nodes_uses_those_that_answer() {
    let other = Anvil::start(&["--chain-id", "77"]);
    other.rpc("anvil_mine", json!([5])).await;
    let answering = format!("http://{}", other.address);
    let silent = "http://127.0.0.1:1";

    let urls = ["--fork-url", "http://127.0.0.1:1@3", "-f", &answering];
    let node = Anvil::start(&[&urls[..], &["--rpc-url", silent]].concat());
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x4d");
    assert_eq!(node.rpc("eth_blockNumber", json!([])).await, "0x3");
    let unknown = json!(["0x00000000000000000000000000000000000000aa", "latest"]);
    assert_eq!(node.rpc("eth_getBalance", unknown).await, "0x0");
}

#[tokio::test]
async fn a_chain_continues_from_the_state_file_of_its_last_run() {
    let folder = tempfile::tempdir().unwrap();
    // In a directory, the file has anvil's name.
    let state = folder.path().to_str().unwrap();
    let transfer = json!([{
        "from": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
        "to": "0x00000000000000000000000000000000000000aa",
        "value": "0x7",
    }]);
    let balance = json!(["0x00000000000000000000000000000000000000aa", "latest"]);
    let before = json!(["0x00000000000000000000000000000000000000aa", "0x1"]);

    let mut hashes = Vec::new();
    for (round, sent) in ["-INT", "-TERM"].into_iter().enumerate() {
        let mut node = Anvil::start(&["--state", state]);
        hashes.push(node.rpc("eth_sendTransaction", transfer.clone()).await);
        for hash in &hashes {
            let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
            assert_eq!(receipt["status"], "0x1", "{receipt}");
        }
        assert_eq!(
            node.rpc("eth_getBalance", balance.clone()).await,
            format!("{:#x}", 7 * (round + 1))
        );
        assert_eq!(node.rpc("eth_getBalance", before.clone()).await, "0x7");

        signal(node.child.id(), sent);
        assert!(node.child.wait().unwrap().success());
    }

    let file = folder.path().join("state.json");
    let only_read = Anvil::start(&["--load-state", file.to_str().unwrap()]);
    assert_eq!(only_read.rpc("eth_blockNumber", json!([])).await, "0x2");
}

/// Whether a file has a state up to this block. The file is complete at any time.
fn has_state(file: &Path, block: u64) -> bool {
    let Ok(content) = std::fs::read(file) else {
        return false;
    };
    let state: Value = serde_json::from_slice(&content).unwrap();
    state["best_block_number"] == block
}

#[tokio::test]
async fn a_state_written_at_intervals_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.json");
    let arguments = ["--state", file.to_str().unwrap(), "--state-interval", "0.2"];
    let mut node = Anvil::start(&arguments);
    node.rpc("anvil_mine", json!([3])).await;

    while !has_state(&file, 3) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    node.child.kill().unwrap();
    node.child.wait().unwrap();

    let node = Anvil::start(&arguments);
    assert_eq!(node.rpc("eth_blockNumber", json!([])).await, "0x3");
}

#[test]
fn a_state_file_keeps_its_path_and_its_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.json");
    let link = folder.path().join("link.json");
    symlink(&file, &link).unwrap();

    // A link without a target is not a first run: a volume may be missing.
    let (succeeded, _, said) = output(&["anvil", "--port", "0", "--state", link.to_str().unwrap()]);
    assert!(!succeeded);
    assert!(said.contains("No such file"), "{said}");

    Anvil::start(&["--dump-state", file.to_str().unwrap()]).end();
    let mode = Permissions::from_mode(0o640);
    std::fs::set_permissions(&file, mode.clone()).unwrap();
    Anvil::start(&["--state", link.to_str().unwrap()]).end();
    assert!(link.is_symlink());
    let kept = std::fs::metadata(&file).unwrap().permissions();
    assert_eq!(kept.mode() & 0o777, mode.mode());
}

#[test]
fn an_unreadable_or_unwritable_state_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.json");
    std::fs::write(&file, "{").unwrap();
    let name = file.to_str().unwrap();
    let (succeeded, _, said) = output(&["anvil", "--port", "0", "--state", name]);
    assert!(!succeeded);
    assert!(
        said.contains(&format!("--state {name}: not a dump")),
        "{said}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{");

    let nowhere = folder.path().join("nowhere").join("state.json");
    let name = nowhere.to_str().unwrap();
    let (succeeded, _, said) = output(&["anvil", "--port", "0", "--dump-state", name]);
    assert!(!succeeded);
    assert!(
        said.contains(&format!("--dump-state {name}: cannot write the state")),
        "{said}"
    );
}

#[tokio::test]
async fn every_host_has_a_listener_and_a_printed_line() {
    let mut node = Anvil::start(&["--host", "127.0.0.1,127.0.0.2", "--host", "127.0.0.3"]);
    for expected in ["127.0.0.2", "127.0.0.3"] {
        let line = node.next_line();
        let address: SocketAddr = line.strip_prefix("Listening on ").unwrap().parse().unwrap();
        assert_eq!(address.ip().to_string(), expected);
        node.address = address;
        assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x7a69");
    }
}

#[tokio::test]
async fn a_flag_sets_the_number_of_the_first_block() {
    let node = Anvil::start(&["--number", "1000"]);
    assert_eq!(node.section("Genesis Number"), ["1000"]);
    node.rpc("evm_mine", json!([])).await;
    assert_eq!(node.rpc("eth_blockNumber", json!([])).await, "0x3e9");
    let earliest = node
        .rpc("eth_getBlockByNumber", json!(["earliest", false]))
        .await;
    assert_eq!(earliest["number"], "0x3e8");
    let none = node
        .rpc("eth_getBlockByNumber", json!(["0x0", false]))
        .await;
    assert!(none.is_null(), "{none}");
}

/// The parameters of a transfer of no coins to the sender, with this tip.
fn transfer(from: &str, tip: &str) -> Value {
    json!([{
        "from": from,
        "to": from,
        "gas": "0x5208",
        "maxFeePerGas": "0x77359400",
        "maxPriorityFeePerGas": tip,
    }])
}

#[tokio::test]
async fn flags_set_the_order_of_transactions_from_the_pool() {
    let node = Anvil::start(&[
        "--no-mining",
        "--order",
        "fifo",
        "--max-transactions",
        "2",
        "--disable-pool-balance-checks",
        "--auto-impersonate",
    ]);

    let poor = "0x0000000000000000000000000000000000000abc";
    let mut sent = Vec::new();
    for (from, tip) in [
        ("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0x1"),
        ("0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "0x2"),
        (poor, "0x3"),
    ] {
        sent.push(node.rpc("eth_sendTransaction", transfer(from, tip)).await);
    }
    node.rpc("anvil_setBalance", json!([poor, "0xde0b6b3a7640000"]))
        .await;

    node.rpc("anvil_mine", json!([2])).await;
    for (block, expected) in [("0x1", &sent[..2]), ("0x2", &sent[2..])] {
        let block = node
            .rpc("eth_getBlockByNumber", json!([block, false]))
            .await;
        assert_eq!(block["transactions"], json!(expected));
    }
}

/// Blocks are sealed at an interval, and at once for a transaction.
#[tokio::test]
async fn mixed_mining_also_seals_at_once() {
    let node = Anvil::start(&["--block-time", "3600", "--mixed-mining"]);
    let own = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
    let hash = node
        .rpc("eth_sendTransaction", json!([{"from": own, "to": own}]))
        .await;
    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
    assert_eq!(receipt["blockNumber"], "0x1");
    assert_eq!(node.rpc("anvil_getIntervalMining", json!([])).await, 3_600);

    let node = Anvil::start(&["--block-time", "0.05", "--mixed-mining"]);
    loop {
        let number = node.rpc("eth_blockNumber", json!([])).await;
        if number.as_str().is_some_and(|number| number > "0x2") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn flags_select_a_genesis_file_and_a_socket() {
    let folder = tempfile::tempdir().unwrap();
    let genesis = folder.path().join("genesis.json");
    let alloc = json!({"0x00000000000000000000000000000000000000aa": {"balance": "0x7"}});
    let file = json!({
        "config": {"chainId": 31337},
        "gasLimit": "0x1c9c380",
        "difficulty": "0x0",
        "alloc": alloc,
    });
    std::fs::write(&genesis, file.to_string()).unwrap();
    let socket = folder.path().join("node.ipc");

    let node = Anvil::start(&[
        "--init",
        genesis.to_str().unwrap(),
        "--ipc",
        socket.to_str().unwrap(),
        "--hardfork",
        "latest",
        "--balance",
        "5",
    ]);

    let params = json!(["0x00000000000000000000000000000000000000aa", "latest"]);
    assert_eq!(node.rpc("eth_getBalance", params).await, "0x7");
    assert!(socket.exists());

    // Accounts that the file omits have their development balance.
    assert!(
        node.section("Available Accounts")[0].ends_with("(5.000000000000000000 ETH)"),
        "{:?}",
        node.banner
    );
}

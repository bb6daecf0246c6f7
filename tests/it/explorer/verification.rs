//! Verification of sources through all three interfaces, with a program in the place of the
//! compiler, and artifacts.

use std::{
    fs,
    path::{Path, PathBuf},
};

use alloy_primitives::{Address, Bytes, hex, keccak256};
use serde_json::{Value, json};
use tempfile::TempDir;
use tetrad::console::{Console, ConsoleConfig};
use tetrad_network::network::Network;

use crate::support::{TestNode, node_with};

const SOURCE: &str =
    "contract Greeter { event Greeted(uint256 count); function greet(uint256 count) external {} }";
const VERSION: &str = "v0.8.24+commit.e11b9ed9";

/// Runtime code that emits `Greeted(1)` and ends; 32 bytes from the second on are an immutable.
/// Then the metadata.
fn runtime(immutable: u8, metadata: u8) -> Vec<u8> {
    let mut code = vec![0x7f];
    code.extend([immutable; 32]);
    // pop; mstore(0, 1); log1(0, 32, topic); stop
    code.extend(hex!("506001600052"));
    code.push(0x7f);
    code.extend(keccak256("Greeted(uint256)"));
    code.extend(hex!("60206000a100"));
    code.extend(hex!("a2646970667358221220"));
    code.extend([metadata; 32]);
    code.extend(hex!("64736f6c63430008180033"));
    code
}

/// Creation code that returns the runtime code.
fn creation(runtime: &[u8]) -> Vec<u8> {
    let mut code = hex!("61000080600b6000396000f3").to_vec();
    code[1..3].copy_from_slice(&(runtime.len() as u16).to_be_bytes());
    code[5] = 12;
    [code, runtime.to_vec()].concat()
}

fn abi() -> Value {
    let count = json!([{ "name": "count", "type": "uint256", "internalType": "uint256" }]);
    json!([
        { "type": "constructor", "inputs": count, "stateMutability": "nonpayable" },
        { "type": "event", "name": "Greeted", "anonymous": false,
          "inputs": [{ "name": "count", "type": "uint256", "indexed": false }] },
        { "type": "function", "name": "greet", "inputs": count, "outputs": [], "stateMutability": "nonpayable" },
    ])
}

fn metadata() -> String {
    json!({
        "compiler": { "version": &VERSION[1..] }, "language": "Solidity",
        "settings": { "compilationTarget": { "src/Greeter.sol": "Greeter" }, "optimizer": { "enabled": true, "runs": 7 } },
        "sources": { "src/Greeter.sol": { "keccak256": keccak256(SOURCE) } },
        "output": { "abi": abi() },
    })
    .to_string()
}

fn immutables() -> Value {
    json!({ "3": [{ "start": 1, "length": 32 }] })
}

/// The compiler's output.
fn output() -> Value {
    let code = runtime(0, 1);
    json!({
        "sources": { "src/Greeter.sol": { "id": 0 } },
        "contracts": { "src/Greeter.sol": { "Greeter": {
            "abi": abi(),
            "metadata": metadata(),
            "evm": {
                "bytecode": { "object": hex::encode(creation(&code)), "linkReferences": {} },
                "deployedBytecode": { "object": hex::encode(&code), "immutableReferences": immutables() },
            },
        } } },
    })
}

fn input() -> Value {
    json!({
        "language": "Solidity",
        "sources": { "src/Greeter.sol": { "content": SOURCE } },
        "settings": { "optimizer": { "enabled": true, "runs": 7 }, "outputSelection": { "*": { "*": ["*"] } } },
    })
}

/// A directory of compilers as svm lays it out, with one that writes its input and arguments to
/// files and answers with `answer`.
fn compilers(answer: &Value) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("0.8.24")).unwrap();
    fs::write(folder.path().join("answer.json"), answer.to_string()).unwrap();
    let place = folder.path().display();
    let script = format!(
        "#!/bin/sh\necho \"$@\" > {place}/arguments\nls -A > {place}/files\ncat > {place}/input.json\ncat {place}/answer.json\n"
    );
    program(&folder.path().join("0.8.24/solc-0.8.24"), &script);
    folder
}

/// Writes a program that can be executed. It is written by another process, since one that this
/// process starts meanwhile would inherit the open file, and a file that is open for writing cannot
/// be executed.
fn program(path: &Path, script: &str) {
    use std::{io::Write, process};
    let mut copy = process::Command::new("sh");
    copy.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(process::Stdio::piped());
    let mut copy = copy.spawn().unwrap();
    copy.stdin
        .take()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    assert!(copy.wait().unwrap().success());
}

async fn node_with_compilers(compilers: &TempDir) -> TestNode {
    let directory = compilers.path().to_owned();
    node_with(|config| config.solc_directory = Some(directory)).await
}

impl TestNode {
    async fn deploy(&self, code: Vec<u8>) -> Address {
        let hash = self.submit(self.account(0), None, 0, code).await;
        let receipt = self.rpc("eth_getTransactionReceipt", json!([hash])).await;
        receipt["contractAddress"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap()
    }

    /// Sends a form to Etherscan's interface.
    async fn form(&self, members: &[(&str, &str)]) -> Value {
        let encode =
            |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02x}")).collect() };
        let members: Vec<_> = members
            .iter()
            .map(|(name, value)| format!("{name}={}", encode(value)))
            .collect();
        let request = reqwest::Client::new().post(format!("{}/api", self.rest_url()));
        let request = request
            .header("content-type", "application/x-www-form-urlencoded")
            .body(members.join("&"));
        request.send().await.unwrap().json().await.unwrap()
    }

    async fn etherscan_verify(&self, address: Address, version: &str, input: &Value) -> Value {
        self.form(&[
            ("module", "contract"),
            ("action", "verifysourcecode"),
            ("contractaddress", &address.to_string()),
            ("sourceCode", &input.to_string()),
            ("codeformat", "solidity-standard-json-input"),
            ("contractname", "src/Greeter.sol:Greeter"),
            ("compilerversion", version),
            ("constructorArguements", ""),
        ])
        .await
    }

    /// The end of a verification, in Etherscan's words.
    async fn ended(&self, id: &Value) -> Value {
        loop {
            let path = format!(
                "/api?module=contract&action=checkverifystatus&guid={}",
                id.as_str().unwrap()
            );
            let status = self.get_json(&path).await;
            if status["result"] != "Pending in queue" {
                return status;
            }
            tokio::task::yield_now().await;
        }
    }

    /// The same for the members of Sourcify's contract.
    async fn sourcify(&self, address: Address, fields: &str) -> Value {
        let response = self
            .get(&format!(
                "/sourcify/v2/contract/125/{address}?fields={fields}"
            ))
            .await;
        response.json().await.unwrap()
    }

    fn terminal(&self) -> String {
        let config = ConsoleConfig {
            verbosity: 2,
            ..ConsoleConfig::default()
        };
        let logging = std::sync::Arc::new(true.into());
        let console = Console::new(
            &config,
            &Network::default(),
            self.known().clone(),
            [],
            logging,
            false,
        )
        .unwrap();
        let head = self.chain().head();
        console.render(&head, std::slice::from_ref(&head.block), &[])
    }
}

fn greet() -> Bytes {
    let mut data = keccak256("greet(uint256)")[..4].to_vec();
    data.extend([0; 31]);
    data.push(5);
    data.into()
}

#[tokio::test]
async fn etherscans_interface_verifies_and_shows_a_source() {
    let compilers = compilers(&output());
    let node = node_with_compilers(&compilers).await;
    let argument = [[0; 31].as_slice(), &[9]].concat();
    let address = node
        .deploy([creation(&runtime(0, 1)), argument.clone()].concat())
        .await;
    let unknown = node
        .get_json(&format!(
            "/api?module=contract&action=getabi&address={address}"
        ))
        .await;
    assert_eq!(unknown["result"], "Contract source code not verified");

    let begun = node.etherscan_verify(address, VERSION, &input()).await;
    assert_eq!(
        (&begun["status"], &begun["message"]),
        (&json!("1"), &json!("OK")),
        "{begun}"
    );
    let ended = node.ended(&begun["result"]).await;
    assert_eq!(
        (&ended["status"], &ended["result"]),
        (&json!("1"), &json!("Pass - Verified"))
    );

    // The compiler may read nothing, runs in an empty folder, and gets the sources with an output
    // selection of the node's.
    let seen = |name: &str| fs::read_to_string(compilers.path().join(name)).unwrap();
    assert_eq!(
        (seen("arguments").trim(), seen("files").trim()),
        ("--standard-json --no-import-callback", "")
    );
    let compiled: Value = serde_json::from_str(&seen("input.json")).unwrap();
    assert_eq!(compiled["sources"], input()["sources"]);
    assert!(compiled["settings"]["outputSelection"]["src/Greeter.sol"]["Greeter"].is_array());

    let path = |action: &str| format!("/api?module=contract&action={action}&address={address}");
    let found = node.get_json(&path("getabi")).await;
    assert_eq!(
        serde_json::from_str::<Value>(found["result"].as_str().unwrap()).unwrap(),
        abi()
    );
    let source = &node.get_json(&path("getsourcecode")).await["result"][0];
    assert_eq!(
        (&source["ContractName"], &source["CompilerVersion"]),
        (&json!("Greeter"), &json!(VERSION))
    );
    assert_eq!(
        (&source["Runs"], &source["ConstructorArguments"]),
        (&json!("7"), &json!(hex::encode(argument)))
    );
    let text = source["SourceCode"].as_str().unwrap();
    let sent: Value = serde_json::from_str(&text[1..text.len() - 1]).unwrap();
    assert_eq!(sent["sources"], input()["sources"]);

    let again = node.etherscan_verify(address, VERSION, &input()).await;
    assert_eq!(
        (&again["status"], &again["result"]),
        (&json!("0"), &json!("Contract source code already verified"))
    );
    node.end().await;
}

#[tokio::test]
async fn a_verified_source_decodes_calls_and_logs_everywhere() {
    let compilers = compilers(&output());
    let node = node_with_compilers(&compilers).await;
    // Immutables and metadata of the deployed contract are others.
    let address = node.deploy(creation(&runtime(7, 2))).await;
    let hash = node
        .submit(node.account(0), Some(address), 0, greet())
        .await;
    assert!(!node.terminal().contains("Greet"));
    let begun = node.etherscan_verify(address, "0.8.24", &input()).await;
    assert_eq!(
        node.ended(&begun["result"]).await["result"],
        "Pass - Verified"
    );

    let shown = node.terminal();
    assert!(shown.contains("→ Greeter.greet(count: 5)"), "{shown}");
    assert!(shown.contains("Greeter Greeted(count: 1)"), "{shown}");
    let whole = node.get_json(&format!("/api/v2/transactions/{hash}")).await;
    assert_eq!(
        whole["decoded_input"]["method_call"],
        "greet(uint256 count)"
    );
    assert_eq!(
        (&whole["method"], &whole["to"]["name"]),
        (&json!("greet"), &json!("Greeter"))
    );
    let logs = node
        .all_items(&format!("/api/v2/transactions/{hash}/logs"))
        .await;
    assert_eq!(logs[0]["decoded"]["parameters"][0]["value"], "1");
    let found = node.get_json("/api/v2/search/quick?q=greeter").await;
    assert_eq!(
        (&found[0]["type"], &found[0]["name"]),
        (&json!("contract"), &json!("Greeter"))
    );

    // Another contract with the same code is known, too, and one with other immutables is not.
    let twin = node.deploy(creation(&runtime(7, 2))).await;
    let other = node.deploy(creation(&runtime(8, 2))).await;
    let contract = |address: Address| format!("/api/v2/smart-contracts/{address}");
    assert_eq!(node.get_json(&contract(twin)).await["name"], "Greeter");
    assert_eq!(node.get_json(&contract(other)).await["is_verified"], false);
    // Nor is one whose code has changed.
    node.rpc("anvil_setCode", json!([address, "0x00"])).await;
    assert_eq!(
        node.get_json(&contract(address)).await["is_verified"],
        false
    );
    node.end().await;
}

/// A part of a form.
fn part(head: &str, content: &str) -> String {
    format!("--line\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n")
}

/// Sends a form whose parts these are.
async fn send_form(url: &str, body: String) -> reqwest::Response {
    let request = reqwest::Client::new()
        .post(url)
        .header("content-type", "multipart/form-data; boundary=line");
    request.body(body).send().await.unwrap()
}

#[tokio::test]
async fn blockscouts_interface_takes_a_file() {
    let compilers = compilers(&output());
    let node = node_with_compilers(&compilers).await;
    let address = node.deploy(creation(&runtime(0, 2))).await;

    let config = node
        .get_json("/api/v2/smart-contracts/verification/config")
        .await;
    assert_eq!(config["solidity_compiler_versions"], json!(["v0.8.24"]));
    assert_eq!(config["verification_options"], json!(["standard-input"]));

    let body = [
        part("name=\"compiler_version\"", VERSION),
        part("name=\"contract_name\"", "Greeter"),
        part("name=\"license_type\"", "mit"),
        part(
            "name=\"files[0]\"; filename=\"input.json\"\r\nContent-Type: application/json",
            &input().to_string(),
        ),
        "--line--\r\n".to_owned(),
    ];

    let path = format!(
        "{}/api/v2/smart-contracts/{address}/verification/via/standard-input",
        node.rest_url()
    );
    let begun: Value = send_form(&path, body.concat()).await.json().await.unwrap();
    assert_eq!(
        begun["message"], "Smart-contract verification started",
        "{begun}"
    );
    assert_eq!(node.ended(&begun["verification_id"]).await["status"], "1");

    let contract = node
        .get_json(&format!("/api/v2/smart-contracts/{address}"))
        .await;
    assert_eq!(
        (
            &contract["is_verified"],
            &contract["is_fully_verified"],
            &contract["is_partially_verified"]
        ),
        (&json!(true), &json!(false), &json!(true))
    );
    assert_eq!(
        (&contract["file_path"], &contract["source_code"]),
        (&json!("src/Greeter.sol"), &json!(SOURCE))
    );
    assert_eq!(
        (&contract["license_type"], &contract["optimization_runs"]),
        (&json!("mit"), &json!(7))
    );

    let missing = send_form(&path, body[1..].concat()).await;
    assert_eq!(missing.status(), 400);
    assert!(
        missing
            .text()
            .await
            .unwrap()
            .contains("compiler_version: is missing")
    );
    assert_eq!(send_form(&path, "no form".to_owned()).await.status(), 400);
    node.end().await;
}

async fn send_json(url: &str, body: &Value) -> reqwest::Response {
    reqwest::Client::new()
        .post(url)
        .json(body)
        .send()
        .await
        .unwrap()
}

#[tokio::test]
async fn sourcifys_interface_reports_how_a_source_matches() {
    let compilers = compilers(&output());
    let node = node_with_compilers(&compilers).await;
    let address = node.deploy(creation(&runtime(0, 1))).await;
    let path = format!("{}/sourcify/v2/verify/125/{address}", node.rest_url());
    let body = json!({
        "stdJsonInput": input(), "compilerVersion": &VERSION[1..], "contractIdentifier": "src/Greeter.sol:Greeter",
    });
    let none = node
        .get(&format!("/sourcify/v2/contract/125/{address}"))
        .await;
    assert_eq!(none.status(), 404);
    assert_eq!(none.json::<Value>().await.unwrap()["match"], Value::Null);

    let begun = send_json(&path, &body).await;
    assert_eq!(begun.status(), 202);
    let id = begun.json::<Value>().await.unwrap()["verificationId"].clone();
    node.ended(&id).await;
    let ended = node
        .get_json(&format!("/sourcify/v2/verify/{}", id.as_str().unwrap()))
        .await;
    assert_eq!(
        (&ended["isJobCompleted"], &ended["contract"]["match"]),
        (&json!(true), &json!("exact_match"))
    );
    assert_eq!(ended["error"], Value::Null);

    let found = node.sourcify(address, "abi,compilation.name,sources").await;
    assert_eq!(
        (&found["runtimeMatch"], &found["creationMatch"]),
        (&json!("exact_match"), &json!("exact_match"))
    );
    assert_eq!(
        (&found["abi"], &found["compilation"]),
        (&abi(), &json!({ "name": "Greeter" }))
    );
    assert_eq!(found["sources"]["src/Greeter.sol"]["content"], SOURCE);
    assert_eq!(found["metadata"], Value::Null);

    let all = node.sourcify(address, "all").await;
    assert_eq!(all["metadata"]["language"], "Solidity");
    assert_eq!(
        all["deployment"]["deployer"],
        node.account(0).to_checksum(None)
    );

    assert_eq!(send_json(&path, &body).await.status(), 409);
    let other_chain = send_json(&path.replace("/125/", "/1/"), &body).await;
    assert_eq!(other_chain.status(), 400);
    assert!(
        other_chain
            .text()
            .await
            .unwrap()
            .contains("unsupported_chain")
    );
    assert_eq!(node.get("/sourcify/v2/verify/none").await.status(), 404);
    node.end().await;
}

/// The reason why a verification does not begin.
async fn refusal(node: &TestNode, address: Address, version: &str, input: &Value) -> String {
    let answer = node.etherscan_verify(address, version, input).await;
    assert_eq!(answer["status"], "0", "{answer}");
    answer["result"].as_str().unwrap().to_owned()
}

/// The reason why a verification that has begun fails.
async fn failure(node: &TestNode, address: Address, input: &Value) -> String {
    let begun = node.etherscan_verify(address, VERSION, input).await;
    assert_eq!(begun["status"], "1", "{begun}");

    let ended = node.ended(&begun["result"]).await;
    assert_eq!(
        (&ended["status"], &ended["result"]),
        (&json!("0"), &json!("Fail - Unable to verify"))
    );
    ended["message"].as_str().unwrap().to_owned()
}

/// Lets the compiler answer something else from now on.
fn set_answer(compilers: &TempDir, answer: &Value) {
    fs::write(compilers.path().join("answer.json"), answer.to_string()).unwrap();
}

#[tokio::test]
async fn refusals_name_the_mistake() {
    let compilers = compilers(&output());
    let node = node_with_compilers(&compilers).await;
    let address = node.deploy(creation(&runtime(0, 1))).await;

    let missing = refusal(&node, address, "v0.8.19+commit.7dd6d404", &input()).await;
    assert_eq!(
        missing,
        "the directory of --solc-directory has no compiler 0.8.19+commit.7dd6d404; it has 0.8.24"
    );

    assert!(
        refusal(&node, address, "../../bin/sh", &input())
            .await
            .starts_with("compiler version: expected")
    );

    let without_code = refusal(&node, Address::with_last_byte(0x77), VERSION, &input()).await;
    assert!(
        without_code.starts_with("Unable to locate ContractCode at 0x"),
        "{without_code}"
    );

    let urls =
        json!({ "language": "Solidity", "sources": { "a.sol": { "urls": ["/etc/passwd"] } } });
    assert!(
        refusal(&node, address, VERSION, &urls)
            .await
            .contains("urls are not read")
    );
    node.end().await;
}

#[tokio::test]
async fn mistakes_that_compilation_finds_fail_the_verification() {
    let compilers = compilers(&output());
    let node = node_with_compilers(&compilers).await;
    let address = node.deploy(creation(&runtime(0, 1))).await;

    let other = node.deploy(creation(b"\x00\x01\x02")).await;
    let differs = failure(&node, other, &input()).await;
    assert!(
        differs.starts_with("the code at 0x") && differs.contains("is not that"),
        "{differs}"
    );

    let syntax_error = json!({
        "errors": [{ "severity": "error", "formattedMessage": "ParserError: Expected ';'" }]
    });
    set_answer(&compilers, &syntax_error);
    assert!(
        failure(&node, address, &input())
            .await
            .contains("ParserError: Expected ';'")
    );

    let other_contract = json!({ "contracts": { "a.sol": { "Other": {} } } });
    set_answer(&compilers, &other_contract);
    assert!(
        failure(&node, address, &input())
            .await
            .contains("no contract \"src/Greeter.sol:Greeter\"")
    );

    set_answer(&compilers, &json!("nonsense"));
    assert!(
        failure(&node, address, &input())
            .await
            .contains("the compiler's output is not understood")
    );

    let mut wrong = output();
    let evm = &mut wrong["contracts"]["src/Greeter.sol"]["Greeter"]["evm"];
    evm["deployedBytecode"]["immutableReferences"] =
        json!({ "1": [{ "start": 1_000_000, "length": 32 }] });
    set_answer(&compilers, &wrong);
    assert!(
        failure(&node, address, &input())
            .await
            .contains("an immutable at 1000000 is not within the code")
    );
    node.end().await;
}

/// Submits a contract to verify, with so many runs of the optimizer, for a client by the address
/// that a proxy states. Returns the status and the body of the response.
async fn submit_for(node: &TestNode, client: &str, address: Address, runs: u32) -> (u16, Value) {
    let mut input = input();
    input["settings"]["optimizer"]["runs"] = json!(runs);
    let body = json!({
        "stdJsonInput": input,
        "compilerVersion": "0.8.24+commit.e11b9ed9",
        "contractIdentifier": "src/Greeter.sol:Greeter",
    });

    let response = node
        .http
        .post(format!(
            "{}/sourcify/v2/verify/125/{address}",
            node.rest_url()
        ))
        .header("x-forwarded-for", client)
        .json(&body)
        .send()
        .await
        .unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

/// The number of compilations that have begun.
fn begun_compilations(compilers: &TempDir) -> usize {
    fs::read_to_string(compilers.path().join("begun"))
        .unwrap_or_default()
        .lines()
        .count()
}

#[tokio::test]
async fn clients_take_turns_in_verifications() {
    let compilers = compilers(&output());
    let place = compilers.path().display();
    // The compiler records the client whose sources it gets, and waits for a file.
    let script = format!(
        "#!/bin/sh\ngrep -o '\"runs\":[0-9]*' >> {place}/begun\nuntil [ -e {place}/open ]; do sleep 0.02; done\ncat {place}/answer.json\n"
    );
    program(&compilers.path().join("0.8.24/solc-0.8.24"), &script);
    let directory = compilers.path().to_owned();
    let node = node_with(|config| {
        config.solc_directory = Some(directory);
        config.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
    })
    .await;
    let address = node.deploy(creation(&runtime(0, 1))).await;
    let submit = async |client: &str, runs| submit_for(&node, client, address, runs).await;

    for runs in 1..=6 {
        let (status, body) = submit("1.1.1.1", runs).await;
        assert_eq!(status, 202, "{body}");

        // Two are under way before others wait.
        while begun_compilations(&compilers) < runs.min(2) as usize {
            tokio::task::yield_now().await;
        }
    }

    let (status, body) = submit("1.1.1.1", 7).await;
    assert_eq!(status, 429, "{body}");
    assert!(
        body["message"]
            .as_str()
            .unwrap()
            .starts_with("4 of your verifications are waiting"),
        "{body}"
    );

    let (status, body) = submit("2.2.2.2", 100).await;
    assert_eq!(status, 202, "{body}");

    fs::write(compilers.path().join("open"), "").unwrap();
    let id = body["verificationId"].as_str().unwrap();
    while node.get_json(&format!("/sourcify/v2/verify/{id}")).await["isJobCompleted"] != true {
        tokio::task::yield_now().await;
    }
    let begun = fs::read_to_string(compilers.path().join("begun")).unwrap();
    let at = begun
        .lines()
        .position(|line| line == "\"runs\":100")
        .unwrap();
    assert!(at <= 3, "{begun}");
    node.end().await;
}

#[tokio::test]
async fn without_compilers_the_setting_is_named() {
    let node = node_with(|_| {}).await;
    let address = node.deploy(creation(&runtime(0, 1))).await;
    let answer = node.etherscan_verify(address, VERSION, &input()).await;
    assert!(
        answer["result"]
            .as_str()
            .unwrap()
            .contains("--solc-directory"),
        "{answer}"
    );
    node.end().await;
}

/// A node with its chain in a directory.
async fn node_with_compilers_on(compilers: &TempDir, directory: &Path) -> TestNode {
    let solc = compilers.path().to_owned();
    let data = directory.to_owned();
    node_with(move |config| {
        config.solc_directory = Some(solc);
        config.data_dir = Some(data);
    })
    .await
}

/// The file in a data directory that has the source of a contract.
fn source_file(directory: &Path, address: Address) -> PathBuf {
    directory.join(format!("sources/{address:#x}.json.gz"))
}

#[tokio::test]
async fn verified_sources_survive_a_restart_and_damaged_ones_are_set_aside() {
    let compilers = compilers(&output());
    let directory = tempfile::tempdir().unwrap();
    let node = node_with_compilers_on(&compilers, directory.path()).await;
    let addresses = [
        node.deploy(creation(&runtime(1, 1))).await,
        node.deploy(creation(&runtime(2, 1))).await,
    ];
    for address in addresses {
        let begun = node.etherscan_verify(address, VERSION, &input()).await;
        assert_eq!(node.ended(&begun["result"]).await["status"], "1");
    }
    node.end().await;

    let damaged = source_file(directory.path(), addresses[0]);
    let mut bytes = fs::read(&damaged).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(&damaged, bytes).unwrap();

    let node = node_with_compilers_on(&compilers, directory.path()).await;
    let contract = |address: Address| format!("/api/v2/smart-contracts/{address}");
    assert_eq!(
        node.get_json(&contract(addresses[0])).await["is_verified"],
        false
    );
    assert_eq!(
        node.get_json(&contract(addresses[1])).await["source_code"],
        SOURCE
    );
    assert!(!damaged.exists());
    assert!(PathBuf::from(format!("{}.damaged", damaged.display())).exists());
    node.end().await;
}

/// Waits until a contract has this name.
async fn known_as(node: &TestNode, address: Address, name: Value) -> Value {
    loop {
        let contract = node
            .get_json(&format!("/api/v2/smart-contracts/{address}"))
            .await;
        if contract["name"] == name {
            return contract;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn artifacts_of_foundry_identify_contracts() {
    let project = tempfile::tempdir().unwrap();
    let out = project.path().join("out");
    let watched = out.clone();
    // The directory appears later.
    let node = node_with(|config| config.artifacts = Some(watched)).await;
    let address = node.deploy(creation(&runtime(7, 2))).await;
    assert_eq!(
        node.get_json(&format!("/api/v2/smart-contracts/{address}"))
            .await["is_verified"],
        false
    );

    fs::create_dir_all(project.path().join("src")).unwrap();
    fs::write(project.path().join("src/Greeter.sol"), SOURCE).unwrap();
    fs::create_dir_all(out.join("Greeter.sol")).unwrap();

    let code = runtime(0, 1);
    let artifact = json!({
        "abi": abi(),
        "bytecode": { "object": hex::encode_prefixed(creation(&code)), "linkReferences": {}, "sourceMap": "1:2:0:-" },
        "deployedBytecode": { "object": hex::encode_prefixed(&code), "immutableReferences": immutables(), "sourceMap": "3:4:0:-" },
        "rawMetadata": metadata(),
        "storageLayout": { "storage": [], "types": null },
        "id": 0,
    });
    fs::write(out.join("Greeter.sol/Greeter.json"), artifact.to_string()).unwrap();
    fs::write(out.join("Greeter.sol/Broken.json"), "{\"abi\": [").unwrap();

    let contract = known_as(&node, address, json!("Greeter")).await;
    assert_eq!(
        (&contract["source_code"], &contract["abi"]),
        (&json!(SOURCE), &abi())
    );
    assert_eq!(contract["compiler_version"], VERSION);

    let fields = "creationBytecode.sourceMap,runtimeBytecode.sourceMap,storageLayout";
    let debugging = node
        .get_json(&format!(
            "/sourcify/v2/contract/125/{address}?fields={fields}"
        ))
        .await;
    assert_eq!(debugging["creationBytecode"]["sourceMap"], "1:2:0:-");
    assert_eq!(debugging["runtimeBytecode"]["sourceMap"], "3:4:0:-");
    assert_eq!(
        debugging["storageLayout"],
        json!({ "storage": [], "types": null })
    );

    node.submit(node.account(0), Some(address), 0, greet())
        .await;
    assert!(
        node.terminal().contains("→ Greeter.greet(count: 5)"),
        "{}",
        node.terminal()
    );

    // A source that has changed since is another one.
    fs::write(
        project.path().join("src/Greeter.sol"),
        "contract Changed {}",
    )
    .unwrap();
    let contract = node
        .get_json(&format!("/api/v2/smart-contracts/{address}"))
        .await;
    assert_eq!(
        (&contract["name"], &contract["source_code"]),
        (&json!("Greeter"), &Value::Null)
    );
    fs::remove_dir_all(&out).unwrap();
    known_as(&node, address, Value::Null).await;
    node.end().await;
}

#[tokio::test]
async fn builds_of_hardhat_identify_contracts() {
    let folder = tempfile::tempdir().unwrap();
    let builds = folder.path().join("build-info");
    fs::create_dir(&builds).unwrap();

    // Version 2 has one file, version 3 two.
    let whole = json!({ "id": "a", "solcLongVersion": &VERSION[1..], "input": input(), "output": output() });
    let parts = [
        (
            "b.json",
            json!({ "id": "b", "solcLongVersion": &VERSION[1..], "input": input() }),
        ),
        ("b.output.json", json!({ "id": "b", "output": output() })),
    ];
    fs::write(builds.join("a.json"), whole.to_string()).unwrap();

    let directory = folder.path().to_owned();
    let node = node_with(|config| config.artifacts = Some(directory)).await;
    let address = node.deploy(creation(&runtime(3, 1))).await;

    let contract = known_as(&node, address, json!("Greeter")).await;
    assert_eq!(
        (&contract["source_code"], &contract["is_fully_verified"]),
        (&json!(SOURCE), &json!(true))
    );

    fs::remove_file(builds.join("a.json")).unwrap();
    known_as(&node, address, Value::Null).await;
    for (name, part) in parts {
        fs::write(builds.join(name), part.to_string()).unwrap();
    }
    assert_eq!(
        known_as(&node, address, json!("Greeter")).await["source_code"],
        SOURCE
    );

    node.end().await;
}

#[tokio::test]
async fn sourcify_refuses_a_body_that_is_no_text_in_its_own_form() {
    let node = node_with(|_| {}).await;
    let path = format!(
        "{}/sourcify/v2/verify/125/{}",
        node.rest_url(),
        super::STRANGER
    );
    let request = node
        .http
        .post(path)
        .header("content-type", "application/json")
        .body(vec![0x16, 0xff]);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 400);
    assert_eq!(
        answer.json::<Value>().await.unwrap()["customCode"],
        "invalid_parameter"
    );
    node.end().await;
}

#[tokio::test]
async fn clients_that_hold_their_bodies_back_keep_no_upload_out() {
    use std::time::{Duration, Instant};

    use tokio::{io::AsyncWriteExt, net::TcpStream};

    let compilers = compilers(&output());
    let node = node_with_compilers(&compilers).await;
    let address = node.deploy(creation(&runtime(1, 1))).await;
    let server = node.rest_url().trim_start_matches("http://").to_owned();

    let mut held_back = Vec::new();
    for path in [
        format!("/sourcify/v2/verify/125/{address}"),
        "/api".to_owned(),
    ] {
        let media = if path == "/api" {
            "application/x-www-form-urlencoded"
        } else {
            "application/json"
        };
        for _ in 0..20 {
            let mut socket = TcpStream::connect(&server).await.unwrap();
            let head = format!(
                "POST {path} HTTP/1.1\r\nhost: {server}\r\ncontent-type: {media}\r\ncontent-length: 1000\r\n\r\n{{"
            );
            socket.write_all(head.as_bytes()).await.unwrap();
            held_back.push(socket);
        }
    }

    tokio::time::sleep(Duration::from_millis(300)).await;
    let begun = Instant::now();
    let answer = node.etherscan_verify(address, VERSION, &input()).await;
    assert_eq!(answer["status"], "1", "{answer}");

    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(node.ended(&answer["result"]).await["status"], "1");
    drop(held_back);
    node.end().await;
}

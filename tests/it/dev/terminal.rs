//! The terminal's output.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use alloy::{primitives::Bytes, sol, sol_types::SolCall};
use alloy_primitives::{Address, U256};
use serde_json::{Value, json};
use tetrad::console::{Console, ConsoleConfig};
use tetrad_contracts::{contracts::bindings::Token, sources::KnownContracts};
use tetrad_network::network::Network;
use tetrad_stdx::failed_calls::{FailedCall, FailedCalls};

use crate::support::{TestNode, chain::token, node};

/// Code that sends its input after the first 32 bytes to the console, then reverts without data.
const SPEAKER: &str = "60203603602060003760006000602036036000\
    6a636f6e736f6c652e6c6f675afa5060006000fd";

fn known(network: &Network) -> KnownContracts {
    KnownContracts::open(Some(network), None).expect("known contracts")
}

fn console(verbosity: u8) -> Console {
    let config = ConsoleConfig {
        verbosity,
        ..ConsoleConfig::default()
    };
    let network = Network::default();
    Console::new(
        &config,
        &network,
        known(&network),
        [],
        Arc::new(AtomicBool::new(true)),
        false,
    )
    .expect("a console")
}

/// The output for the newest block.
fn shown(node: &TestNode, verbosity: u8) -> String {
    let head = node.chain().head();
    console(verbosity).render(&head, std::slice::from_ref(&head.block), &[])
}

#[tokio::test]
async fn every_transaction_has_a_line() {
    let node = node().await;
    node.send_wei(0).await;
    let hash = node.chain().head().block.transactions[0].hash().to_string();
    let expected =
        format!("#1 {hash}  0xf39F…2266 → 0xa0Ee…9720  0.000000000000000001 HPX  21000 gas\n");
    assert_eq!(shown(&node, 0), expected);
    assert!(shown(&node, 1).contains(&hash));
}

#[tokio::test]
async fn known_contracts_have_names_arguments_events_and_calls() {
    let node = node().await;
    let usdc = token("USDC");
    let to = Address::with_last_byte(9);
    node.send(
        &node.signer(0),
        usdc.address,
        Token::transferCall {
            to,
            value: U256::from(5),
        },
    )
    .await;

    assert!(
        shown(&node, 0).contains("→ USDC.transfer  "),
        "{}",
        shown(&node, 0)
    );

    let call = format!("USDC.transfer(to: {to}, value: 5)");
    assert!(shown(&node, 1).contains(&call), "{}", shown(&node, 1));
    let event = format!("Transfer(from: {}, to: {to}, value: 5)", node.account(0));

    for (verbosity, has_event, has_calls) in [
        (1, false, false),
        (2, true, false),
        (3, true, false),
        (4, true, true),
    ] {
        let text = shown(&node, verbosity);
        assert_eq!(text.contains(&event), has_event, "{verbosity}: {text}");
        assert_eq!(
            text.contains("returns true"),
            has_calls,
            "{verbosity}: {text}"
        );
    }
}

#[tokio::test]
async fn failures_have_a_reason() {
    let node = node().await;
    let usdc = token("USDC");
    let too_much = Token::transferCall {
        to: Address::with_last_byte(9),
        value: U256::MAX,
    };
    node.send_anyway(&node.signer(0), usdc.address, too_much)
        .await;

    let text = shown(&node, 0);
    assert!(
        text.contains("reverted: ERC20InsufficientBalance(sender: 0xf39F"),
        "{text}"
    );
    assert!(
        shown(&node, 3).contains("reverts: ERC20InsufficientBalance"),
        "{}",
        shown(&node, 3)
    );

    // Running out of gas is not a revert.
    node.rpc(
        "anvil_setCode",
        json!([Address::with_last_byte(0x77), "0x5b600056"]),
    )
    .await;
    let request =
        json!([{"from": node.account(0), "to": Address::with_last_byte(0x77), "gas": "0xc350"}]);
    node.rpc("eth_sendTransaction", request).await;

    assert!(
        shown(&node, 0).contains("failed: out of gas"),
        "{}",
        shown(&node, 0)
    );
}

#[tokio::test]
async fn console_log_lines_are_printed() {
    sol! {
        function log(string text, uint256 number) external;
    }
    let node = node().await;
    let speaker = Address::with_last_byte(0x99);
    node.rpc("anvil_setCode", json!([speaker, format!("0x{SPEAKER}")]))
        .await;
    let message = logCall {
        text: "it is %d\n\u{1b}[2Jnow".to_owned(),
        number: U256::from(7),
    }
    .abi_encode();
    let data = Bytes::from([[0; 32].as_slice(), &message].concat());
    let request = json!([{"from": node.account(0), "to": speaker, "data": data, "gas": "0x186a0"}]);
    node.rpc("eth_sendTransaction", request).await;
    let text = shown(&node, 0);
    assert!(
        text.contains("reverted: without a reason\n      it is 7\n      \u{fffd}[2Jnow\n"),
        "{text}"
    );
    assert!(
        shown(&node, 4).contains("console.log: it is 7"),
        "{}",
        shown(&node, 4)
    );
}

/// A terminal that knows the ABIs in a directory.
fn config_with_abi(directory: PathBuf) -> ConsoleConfig {
    ConsoleConfig {
        verbosity: 1,
        abi: vec![directory],
        ..ConsoleConfig::default()
    }
}

#[tokio::test]
async fn abis_of_other_contracts_can_be_configured() {
    let node = node().await;

    let folder = tempfile::tempdir().unwrap();
    let artifact = json!({"abi": [{"type": "function", "name": "greet", "inputs": [{"name": "whom", "type": "string"}],
        "outputs": [], "stateMutability": "nonpayable"}]});
    std::fs::create_dir(folder.path().join("Greeter.sol")).unwrap();
    std::fs::write(
        folder.path().join("Greeter.sol/Greeter.json"),
        artifact.to_string(),
    )
    .unwrap();
    std::fs::write(folder.path().join("other.json"), "[1, 2]").unwrap();

    sol! {
        function greet(string whom) external;
    }
    let greeter = Address::with_last_byte(0x99);
    node.send(
        &node.signer(0),
        greeter,
        greetCall {
            whom: "you".to_owned(),
        },
    )
    .await;

    let logging = Arc::new(AtomicBool::new(true));
    let network = Network::default();

    let console = Console::new(
        &config_with_abi(folder.path().to_owned()),
        &network,
        known(&network),
        [],
        logging.clone(),
        false,
    )
    .unwrap();

    let head = node.chain().head();
    let text = console.render(&head, std::slice::from_ref(&head.block), &[]);
    assert!(text.contains("greet(whom: \"you\")"), "{text}");

    let missing = Console::new(
        &config_with_abi(folder.path().join("none")),
        &network,
        known(&network),
        [],
        logging,
        false,
    );
    assert!(missing.err().unwrap().to_string().contains("--abi"));
}

#[tokio::test]
async fn the_nodes_own_transactions_are_shown_at_a_higher_verbosity() {
    let node = node().await;
    node.send_wei(0).await;
    let head = node.chain().head();
    for (verbosity, lines) in [(0, 0), (3, 0), (4, 1)] {
        let config = ConsoleConfig {
            verbosity,
            ..ConsoleConfig::default()
        };
        let network = Network::default();
        let logging = Arc::new(AtomicBool::new(true));
        let console = Console::new(
            &config,
            &network,
            known(&network),
            [node.account(0)],
            logging,
            false,
        )
        .unwrap();
        assert_eq!(
            console
                .render(&head, std::slice::from_ref(&head.block), &[])
                .lines()
                .count(),
            lines
        );
    }
}

/// Sends the written text through a channel.
struct Sink(tokio::sync::mpsc::UnboundedSender<String>);

impl std::io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let _ = self.0.send(String::from_utf8(bytes.to_vec()).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A call with this gas limit that failed with an error.
fn failed(call: &Value, error: &Value, gas: u64) -> FailedCall {
    let mut call = call.clone();
    call["gas"] = json!(format!("{gas:#x}"));
    FailedCall {
        time_ms: 0,
        method: "eth_call",
        call: Some(serde_json::value::to_raw_value(&call).unwrap()),
        block: None,
        state_overrides: None,
        block_overrides: None,
        code: 3,
        message: error["message"].as_str().unwrap().to_owned(),
        data: Some(serde_json::from_value(error["data"].clone()).unwrap()),
        reason: None,
    }
}

#[tokio::test]
async fn failed_calls_are_shown_with_their_reason_and_a_flood_of_them_is_counted() {
    let node = node().await;

    let call = Token::transferCall {
        to: Address::with_last_byte(9),
        value: U256::MAX,
    };
    let request = json!({"from": node.account(0), "to": token("USDC").address, "data": Bytes::from(call.abi_encode())});

    let error = node.rpc_error("eth_call", json!([request])).await;

    let calls = FailedCalls::default();
    let (sender, mut shown) = tokio::sync::mpsc::unbounded_channel();
    let following =
        tokio::spawn(console(0).follow(node.chain().clone(), calls.clone(), None, Sink(sender)));

    // The output begins at some moment after the first call.
    let first = loop {
        calls.add(failed(&request, &error, 100_000));
        tokio::task::yield_now().await;
        if let Ok(text) = shown.try_recv() {
            break text;
        }
    };

    let line =
        "eth_call  0xf39F…2266 → USDC.transfer  reverted: ERC20InsufficientBalance(sender: 0xf39F";
    assert!(first.starts_with(line) && first.ends_with(")\n"), "{first}");

    (0..1_000).for_each(|gas| calls.add(failed(&request, &error, gas)));
    node.send_wei(0).await;

    let mut lines = 0;
    loop {
        let text = shown.recv().await.unwrap();
        if text.starts_with('#') {
            break;
        }
        lines += text.lines().count();
    }

    assert!(lines < 20, "{lines}");
    following.abort();
}

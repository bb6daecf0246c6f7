//! The program, killed at any moment under load: everything it acknowledged is still there after a
//! restart.
//!
//! `TETRAD_KILLS` sets the number of kills; continuous integration can afford a few.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};

use super::rounds;
use crate::contracts::random::Random;

/// Concurrent clients.
const CLIENTS: usize = 4;

struct Program {
    child: Child,
    url: String,
}

impl Program {
    async fn start(directory: &Path, arguments: &[&str]) -> Self {
        let ready = directory.join("ready.json");
        let _ = fs::remove_file(&ready);

        let mut command = Command::new(env!("CARGO_BIN_EXE_tetrad"));
        command.args([
            "--listen",
            "127.0.0.1:0",
            "--ws-listen",
            "off",
            "--quiet",
            "--limits-checkpoint-kilobytes",
            "16",
        ]);
        command.args(arguments).env_clear().stdin(Stdio::null());

        command
            .arg("--data-dir")
            .arg(directory.join("chain"))
            .arg("--ready-file")
            .arg(&ready);

        let mut child = command.spawn().unwrap();
        let text = loop {
            if let Ok(text) = fs::read_to_string(&ready) {
                break text;
            }
            assert!(child.try_wait().unwrap().is_none(), "the program ended");
            tokio::time::sleep(Duration::from_millis(2)).await;
        };

        let ready: Value = serde_json::from_str(&text).unwrap();
        Self {
            child,
            url: ready["rpc"].as_str().unwrap().to_owned(),
        }
    }

    fn kill(mut self) {
        // SIGKILL.
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The result of a request; none if there was no answer.
async fn call(http: &reqwest::Client, url: &str, method: &str, params: Value) -> Option<Value> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let request = http
        .post(url)
        .header("content-type", "application/json")
        .body(body.to_string());
    let answer: Value = request.send().await.ok()?.json().await.ok()?;
    answer.get("result").cloned()
}

/// Sends transactions until there is no answer. Returns the acknowledged ones.
async fn load(url: String, client: usize, going: Arc<AtomicBool>) -> Vec<Value> {
    let http = reqwest::Client::new();
    let accounts = call(&http, &url, "eth_accounts", json!([])).await;
    let Some(from) = accounts.map(|accounts| accounts[client].clone()) else {
        return Vec::new();
    };
    let mut acknowledged = Vec::new();
    while going.load(Ordering::Relaxed) {
        let to = format!("0x{:040x}", 0xa000 + acknowledged.len());
        let transaction = json!([{"from": from, "to": to, "value": "0x1", "gas": "0x5208"}]);
        acknowledged.extend(call(&http, &url, "eth_sendTransaction", transaction).await);
    }
    acknowledged
}

async fn kill_again_and_again(kills: u64, arguments: &[&str], mined: bool) {
    let directory = tempfile::tempdir().unwrap();
    let random = &mut Random::new(kills);
    let http = reqwest::Client::new();
    let mut acknowledged: Vec<Value> = Vec::new();
    let mut program = Program::start(directory.path(), arguments).await;

    for _ in 0..kills {
        let going = Arc::new(AtomicBool::new(true));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| tokio::spawn(load(program.url.clone(), client, going.clone())))
            .collect();

        tokio::time::sleep(Duration::from_millis(10 + random.below(120))).await;
        program.kill();
        going.store(false, Ordering::Relaxed);

        let before = acknowledged.len();
        for client in clients {
            acknowledged.extend(client.await.unwrap());
        }

        program = Program::start(directory.path(), arguments).await;

        // All transactions of this round, and some of earlier ones.
        let older = (0..20.min(before)).map(|_| random.below(before as u64) as usize);
        for at in older.chain(before..acknowledged.len()) {
            let hash = &acknowledged[at];

            let known = call(
                &http,
                &program.url,
                "eth_getTransactionByHash",
                json!([hash]),
            )
            .await
            .unwrap();
            assert!(known.is_object(), "{hash} was acknowledged and is lost");
            assert!(
                !mined || known["blockNumber"].is_string(),
                "{hash} was in a block"
            );
        }
    }

    program.kill();
    assert!(
        acknowledged.len() as u64 >= kills,
        "too few transactions: {}",
        acknowledged.len()
    );

    let mut verify = Command::new(env!("CARGO_BIN_EXE_tetrad"));
    verify
        .args(["chain", "--data-dir"])
        .arg(directory.path().join("chain"))
        .arg("verify");
    let output = verify.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );

    println!(
        "{} acknowledged; {}",
        acknowledged.len(),
        String::from_utf8_lossy(&output.stdout)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_transactions_survive_kills_with_instant_sealing() {
    kill_again_and_again(
        rounds("TETRAD_KILLS", 24),
        &["--exchange-price-tick", "1"],
        true,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_transactions_survive_kills_with_block_times() {
    kill_again_and_again(
        rounds("TETRAD_KILLS", 24) / 2,
        &["--block-time", "0.05", "--durability", "os"],
        false,
    )
    .await;
}

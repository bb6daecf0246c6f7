//! Transactions of both kinds from the same accounts, while the program is repeatedly killed:
//! nonces have one order, and no coin is lost.
//!
//! `TETRAD_MIXED` sets the number of transactions; continuous integration can afford a few hundred.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use alloy::signers::local::PrivateKeySigner;
use alloy_primitives::{Address, Bytes, U256};
use base64ct::{Base64, Encoding};
use serde_json::{Value, json};
use tetrad_primitives::block::cosmos::{CosmosTransfer, DecodedTx};

use super::signing::{MODES, Unsigned, bech32, multi_send, send};
use crate::support::{process, process::Running, sign};

const CLIENTS: usize = 4;
const TO: [Address; 2] = [Address::repeat_byte(0xaa), Address::repeat_byte(0xbb)];

async fn start(directory: &Path) -> Running {
    let mut command =
        process::tetrad(&["--listen", "127.0.0.1:0", "--ws-listen", "off", "--quiet"]);
    command
        .args(["--exchange-price-tick", "0", "--data-dir"])
        .arg(directory);
    Running::run(command).await
}

/// A client of the program, whose requests have no answer once the program is killed.
#[derive(Clone)]
struct Client {
    http: reqwest::Client,
    url: String,
}

impl Client {
    fn new(program: &Running) -> Self {
        let url = program.ready["rpc"]
            .as_str()
            .unwrap()
            .trim_end_matches("/rpc")
            .to_owned();
        Self {
            http: reqwest::Client::new(),
            url,
        }
    }

    async fn post(&self, path: &str, body: Value) -> Option<Value> {
        self.http
            .post(format!("{}{path}", self.url))
            .json(&body)
            .send()
            .await
            .ok()?
            .json()
            .await
            .ok()
    }

    async fn call(&self, method: &str, params: Value) -> Option<Value> {
        let answer = self
            .post(
                "/rpc",
                json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}),
            )
            .await?;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer.get("result").cloned()
    }

    async fn balance(&self, account: Address) -> U256 {
        self.call("eth_getBalance", json!([account, "latest"]))
            .await
            .unwrap()
            .as_str()
            .unwrap()
            .parse()
            .unwrap()
    }

    async fn account_number(&self, account: Address) -> Option<u64> {
        let url = format!(
            "{}/cosmos/auth/v1beta1/accounts/{}",
            self.url,
            bech32(account)
        );
        let body: Value = self.http.get(url).send().await.ok()?.json().await.ok()?;
        body["account"]["account_number"].as_str()?.parse().ok()
    }

    /// Sends until there is no answer, or until `enough` transactions are sent.
    async fn load(self, key: PrivateKeySigner, sent: Arc<AtomicU64>, enough: u64) -> Option<()> {
        let from = key.address();
        let pending = self
            .call("eth_getTransactionCount", json!([from, "pending"]))
            .await?;
        let mut nonce =
            u64::from_str_radix(pending.as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
        let number = self.account_number(from).await?;

        while sent.load(Ordering::Relaxed) < enough {
            let amount = u128::from(nonce) + 1;
            if nonce % 3 == 0 {
                let value = U256::from(amount);
                let tx = alloy::consensus::TxEip1559 {
                    to: TO[0].into(),
                    value,
                    ..sign::transfer(nonce)
                };
                self.call("eth_sendRawTransaction", json!([sign::raw_of(tx, &key)]))
                    .await?;
            } else {
                let message = match nonce % 3 {
                    1 => send(from, TO[1], amount),
                    _ => multi_send(from, &[(TO[0], amount), (TO[1], 7)]),
                };
                let mode = MODES[nonce as usize % MODES.len()];
                let raw = Unsigned::new(key.clone(), number, nonce, vec![message]).sign(mode);

                let body = json!({ "tx_bytes": Base64::encode_string(&raw), "mode": "BROADCAST_MODE_SYNC" });
                let answer = self.post("/cosmos/tx/v1beta1/txs", body).await?;
                assert_eq!(answer["tx_response"]["code"], 0, "{answer}");
            }

            sent.fetch_add(1, Ordering::Relaxed);
            nonce += 1;
        }
        Some(())
    }
}

/// The transfers of a transaction as JSON-RPC shows it.
fn transfers(tx: &Value) -> Vec<CosmosTransfer> {
    let input: Bytes = tx["input"].as_str().unwrap().parse().unwrap();
    match DecodedTx::decode(&input) {
        Ok(DecodedTx::Bank(tx)) => tx.transfers,
        _ => {
            let to = tx["to"].as_str().unwrap();
            let amount = tx["value"].as_str().unwrap();
            vec![CosmosTransfer {
                to: to.parse().unwrap(),
                amount: amount.parse().unwrap(),
            }]
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_of_both_kinds_survive_kills_in_one_order() {
    const KILLS: u64 = 4;

    let count = std::env::var("TETRAD_MIXED").map_or(300, |text| text.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("chain");
    let sent = Arc::new(AtomicU64::new(0));

    let mut initial = BTreeMap::new();

    for round in 1..=KILLS {
        let mut program = start(&place).await;
        let client = Client::new(&program);
        if round == 1 {
            for index in 0..CLIENTS {
                let account = sign::signer(index).address();
                initial.insert(account, client.balance(account).await);
            }
        }

        // The last round may finish; the others are killed halfway.
        let all = count * round / KILLS;
        let enough = if round == KILLS { all } else { u64::MAX };
        let clients = (0..CLIENTS).map(|index| {
            let client = client.clone();
            let key = sign::signer(index);
            let sent = sent.clone();
            tokio::spawn(client.load(key, sent, enough))
        });

        let clients: Vec<_> = clients.collect();

        while sent.load(Ordering::Relaxed) < all {
            tokio::task::yield_now().await;
        }

        // SIGKILL.
        program.child.kill().unwrap();
        program.child.wait().unwrap();
        for client in clients {
            client.await.unwrap();
        }
    }

    let program = start(&place).await;
    let client = Client::new(&program);

    let newest = client.call("eth_blockNumber", json!([])).await.unwrap();
    let newest =
        u64::from_str_radix(newest.as_str().unwrap().trim_start_matches("0x"), 16).unwrap();

    let mut next = BTreeMap::<Address, u64>::new();
    let mut expected = initial.clone();
    let mut seen = 0;
    for number in 1..=newest {
        let block = json!(format!("{number:#x}"));
        let content = client
            .call("eth_getBlockByNumber", json!([block, true]))
            .await
            .unwrap();

        let receipts = client
            .call("eth_getBlockReceipts", json!([block]))
            .await
            .unwrap();

        for (tx, receipt) in content["transactions"]
            .as_array()
            .unwrap()
            .iter()
            .zip(receipts.as_array().unwrap())
        {
            let from: Address = tx["from"].as_str().unwrap().parse().unwrap();
            if !initial.contains_key(&from) {
                continue;
            }

            let number = |value: &Value| value.as_str().unwrap().parse::<U256>().unwrap();
            let nonce = next.entry(from).or_default();
            assert_eq!(number(&tx["nonce"]), U256::from(*nonce), "{from}");
            *nonce += 1;
            seen += 1;

            assert_eq!(receipt["status"], "0x1");
            let mut paid = number(&receipt["gasUsed"]) * number(&receipt["effectiveGasPrice"]);
            for CosmosTransfer { to, amount } in transfers(tx) {
                paid += amount;
                *expected.entry(to).or_default() += amount;
            }
            *expected.get_mut(&from).unwrap() -= paid;
        }
    }

    let acknowledged = sent.load(Ordering::Relaxed);
    assert!(
        seen >= acknowledged,
        "{acknowledged} transactions were acknowledged, {seen} are included"
    );

    for (account, balance) in expected {
        assert_eq!(client.balance(account).await, balance, "{account}");
    }

    drop(program);
    let (succeeded, text, error) =
        process::output(&["chain", "--data-dir", place.to_str().unwrap(), "verify"]);
    assert!(succeeded, "{error}");

    println!("{acknowledged} acknowledged; {text}");
}

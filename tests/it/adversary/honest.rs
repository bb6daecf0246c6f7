//! Honest clients, one for each interface, which send sequential requests and measure them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use alloy_primitives::{Address, U256};
use futures_util::{SinkExt, StreamExt};
use parking_lot::Mutex;
use prost::Message as _;
use serde_json::{Value, json};
use tokio::{net::TcpStream, task::JoinSet};
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

use super::{
    api::Api,
    fill::key,
    request::{Client, Protocol, Request, connect},
    subject::{Profile, Subject, client_address},
};
use crate::{cosmos::signing::bech32, support::sign};

/// The time between two requests of a client.
const PAUSE: Duration = Duration::from_millis(100);
/// How long a client waits for a WebSocket message.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(20);
/// The number of the first address of honest clients.
const FIRST_ADDRESS: u8 = 100;
/// The share of requests that may be refused, in per cent: the node may be killed while a
/// connection is in use.
const REFUSED_PERCENT: usize = 5;

/// Requests from which a percentile is meaningful. Parts of the attack with fewer are judged
/// together.
const MIN_SAMPLES: usize = 20;

/// The interfaces, by the requests of an honest client.
const INTERFACES: [&str; 10] = [
    "JSON-RPC",
    "exchange",
    "explorer",
    "Cosmos REST",
    "Cosmos search by hash",
    "gRPC",
    "GraphQL",
    "page",
    "WebSocket",
    "transactions",
];

/// The outcome of a request.
struct Sample {
    interface: &'static str,
    phase: String,
    took: Duration,
    failure: Option<String>,
}

/// The account and the transaction that clients request.
#[derive(Clone)]
pub(super) struct Facts {
    /// An account with a short history.
    pub account: Address,
    /// The hash of a short Cosmos transaction.
    pub cosmos_hash: String,
}

/// The running clients.
pub(super) struct Honest {
    profile: Profile,
    samples: Arc<Mutex<Vec<Sample>>>,
    phase: Arc<Mutex<String>>,
    acknowledged: Arc<Mutex<Vec<String>>>,
    is_over: Arc<AtomicBool>,
    tasks: JoinSet<()>,
}

impl Honest {
    /// Starts the clients.
    pub(super) fn start(subject: &Arc<Subject>, facts: &Facts) -> Self {
        let mut honest = Self {
            profile: subject.profile,
            samples: Arc::default(),
            phase: Arc::new(Mutex::new(BEFORE.to_owned())),
            acknowledged: Arc::default(),
            is_over: Arc::default(),
            tasks: JoinSet::new(),
        };

        for (interface, number) in INTERFACES.into_iter().zip(FIRST_ADDRESS..) {
            let api = Api::new(subject, client_address(number));
            let samples = honest.samples.clone();
            let phase = honest.phase.clone();
            let is_over = honest.is_over.clone();
            let mut client = HonestClient {
                calls: Client::new(api.from),
                api,
                facts: facts.clone(),
                socket: None,
                nonce: None,
                acknowledged: honest.acknowledged.clone(),
            };

            honest.tasks.spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    let began = Instant::now();
                    let phase = phase.lock().clone();
                    let failure = client.ask(interface).await.err();
                    // A node that has ended answers no client, which is reported as a separate
                    // failure.
                    if failure.is_none() || client.api.subject.is_alive() {
                        samples.lock().push(Sample {
                            interface,
                            phase,
                            took: began.elapsed(),
                            failure,
                        });
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            });
        }

        honest
    }

    /// Assigns the following latencies to this part of the attack.
    pub(super) fn begin(&self, phase: &str) {
        phase.clone_into(&mut self.phase.lock());
    }

    /// Stops the clients. Returns the failures, and the acknowledged transactions.
    pub(super) async fn end(mut self) -> (Vec<String>, Vec<String>) {
        self.is_over.store(true, Ordering::Relaxed);
        while self.tasks.join_next().await.is_some() {}
        (
            failures(&self.samples.lock(), self.profile),
            self.acknowledged.lock().clone(),
        )
    }
}

/// The part before the attack, which shows the speed of the machine.
const BEFORE: &str = "before the attack";

/// All short parts of the attack together.
const SHORT: &str = "short attacks";
/// The whole attack.
const ALL: &str = "all attacks";

/// The excessive latencies by interface and part of the attack, and excessive refusals.
fn failures(samples: &[Sample], profile: Profile) -> Vec<String> {
    let mut failures = Vec::new();
    for interface in INTERFACES {
        let samples: Vec<_> = samples
            .iter()
            .filter(|sample| sample.interface == interface)
            .collect();

        let parts = parts(&samples);
        let before = parts
            .get(BEFORE)
            .map_or(Duration::ZERO, |samples| percentile(samples, 50));
        // A second, or more if the machine needs much of it without an attack. Without optimisation
        // all requests take several times as long, and the attacker shares the processors.
        let second = Duration::from_secs(if cfg!(debug_assertions) { 3 } else { 1 });
        let limit = second.max(20 * before);

        for (phase, samples) in &parts {
            let median = percentile(samples, 50);
            let high = percentile(samples, 95);
            let refused: Vec<_> = samples
                .iter()
                .filter_map(|sample| sample.failure.as_deref())
                .collect();
            let count = samples.len();

            if 2 * high > limit || [BEFORE, ALL].contains(phase) {
                let refused = refused.len();
                println!(
                    "{interface}, {phase}: {count} requests, median {median:?}, p95 {high:?}, {refused} failed"
                );
            }

            // Clients of a development node may stop its blocks, and remove pending transactions.
            let is_promised = profile == Profile::Production || interface != "transactions";
            if high > limit && *phase != BEFORE && is_promised {
                failures.push(format!(
                    "honest {interface}, {phase}: p95 {high:?}, limit {limit:?} ({count} requests)"
                ));
            }

            if 100 * refused.len() > REFUSED_PERCENT * count && profile == Profile::Production {
                let (refused, first) = (refused.len(), refused[0]);
                failures
                    .push(format!("honest {interface}, {phase}: {refused} of {count} requests failed: {first:.300}"));
            }
        }
    }
    failures
}

/// The samples of an interface by part of the attack, with the short parts together, and all
/// samples.
fn parts<'a>(samples: &[&'a Sample]) -> BTreeMap<&'a str, Vec<&'a Sample>> {
    let mut parts: BTreeMap<&str, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        parts.entry(&sample.phase).or_default().push(sample);
    }
    let mut joined: BTreeMap<&str, Vec<&Sample>> = BTreeMap::new();
    for (phase, samples) in parts {
        if phase != BEFORE {
            joined.entry(ALL).or_default().extend(&samples);
        }
        let phase = if samples.len() < MIN_SAMPLES && phase != BEFORE {
            SHORT
        } else {
            phase
        };
        joined.entry(phase).or_default().extend(samples);
    }
    joined
}

/// The maximum latency of this percentage of requests.
fn percentile(samples: &[&Sample], percent: usize) -> Duration {
    let mut took: Vec<_> = samples.iter().map(|sample| sample.took).collect();
    took.sort_unstable();
    took[(took.len() * percent).div_ceil(100).max(1) - 1]
}

/// A client of one interface.
struct HonestClient {
    api: Api,
    calls: Client,
    facts: Facts,
    socket: Option<WebSocketStream<TcpStream>>,
    nonce: Option<u64>,
    acknowledged: Arc<Mutex<Vec<String>>>,
}

impl HonestClient {
    async fn ask(&mut self, interface: &str) -> Result<(), String> {
        let Facts {
            account,
            cosmos_hash,
        } = self.facts.clone();

        match interface {
            "JSON-RPC" => {
                self.api
                    .try_rpc("eth_getBalance", json!([account, "latest"]))
                    .await?;
                let call = json!({"to": account, "data": "0x70a08231"});
                self.api
                    .try_rpc("eth_call", json!([call, "latest"]))
                    .await
                    .map(drop)
            }
            "exchange" => {
                self.api.try_json("/api/prices", None).await?;
                self.api
                    .try_json(&format!("/api/user/{account:#x}/positions"), None)
                    .await
                    .map(drop)
            }

            "explorer" => {
                let path = format!("/api/v2/addresses/{account:#x}/transactions");
                self.api.try_json(&path, None).await.map(drop)
            }
            "Cosmos REST" => {
                let path = format!("/cosmos/bank/v1beta1/balances/{}", bech32(account));
                self.api.try_json(&path, None).await.map(drop)
            }
            "Cosmos search by hash" => {
                self.api
                    .try_json(&format!("/cosmos/tx/v1beta1/txs/{cosmos_hash}"), None)
                    .await?;
                let query = json!({"query": format!("tx.hash='{cosmos_hash}'"), "per_page": "1"});
                let body =
                    json!({"jsonrpc": "2.0", "id": 1, "method": "tx_search", "params": query});
                let answer = self.api.try_json("/", Some(&body)).await?;
                if answer["result"]["total_count"] == "1" {
                    Ok(())
                } else {
                    Err(answer.to_string())
                }
            }

            "gRPC" => self.call(account).await,
            "GraphQL" => {
                let query = format!(
                    "{{ block {{ number account(address: \"{account:#x}\") {{ balance }} }} }}"
                );
                let answer = self
                    .api
                    .try_json("/graphql", Some(&json!({ "query": query })))
                    .await?;
                if answer["errors"].is_null() {
                    Ok(())
                } else {
                    Err(answer.to_string())
                }
            }

            "page" => self.api.try_text("/", None).await.map(drop),
            "WebSocket" => {
                let asked = tokio::time::timeout(MESSAGE_TIMEOUT, self.message()).await;
                let asked = asked.unwrap_or_else(|_| Err("no message in time".to_owned()));
                if asked.is_err() {
                    self.socket = None;
                }
                asked
            }
            _ => {
                let sent = self.transfer().await;
                if sent.is_err() {
                    self.nonce = None;
                }
                sent
            }
        }
    }

    async fn call(&mut self, account: Address) -> Result<(), String> {
        /// `cosmos.bank.v1beta1.QueryBalanceRequest`.
        #[derive(Clone, PartialEq, prost::Message)]
        struct BalanceRequest {
            #[prost(string, tag = "1")]
            address: String,
            #[prost(string, tag = "2")]
            denom: String,
        }
        let request = Request {
            listener: "grpc".to_owned(),
            protocol: Protocol::Grpc,
            method: "POST".to_owned(),
            target: "/cosmos.bank.v1beta1.Query/Balance".to_owned(),
            media: Some("application/grpc+proto".to_owned()),
            body: BalanceRequest {
                address: bech32(account),
                denom: "ahpx".to_owned(),
            }
            .encode_to_vec()
            .into(),
        };
        let outcome = self.calls.ask(&self.api.subject, &request).await?;
        if outcome.is_success() {
            Ok(())
        } else {
            Err(format!("gRPC status {:?}", outcome.grpc_status))
        }
    }

    /// Waits for a message on a WebSocket with a subscription to blocks.
    async fn message(&mut self) -> Result<(), String> {
        let socket = match &mut self.socket {
            Some(socket) => socket,
            None => {
                let address = self.api.subject.address("ws");
                let stream = connect(address, self.api.from, None).await?;
                let opened = client_async(format!("ws://{address}/rpc"), stream).await;
                let (mut socket, _) = opened.map_err(|error| error.to_string())?;

                let subscribe = json!({
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "eth_subscribe",
                    "params": ["newHeads"],
                });
                socket
                    .send(Message::text(subscribe.to_string()))
                    .await
                    .map_err(|error| error.to_string())?;
                self.socket.insert(socket)
            }
        };

        let request = json!({"jsonrpc": "2.0", "id": 2, "method": "eth_blockNumber", "params": []});
        socket
            .send(Message::text(request.to_string()))
            .await
            .map_err(|error| error.to_string())?;

        loop {
            let message = socket
                .next()
                .await
                .ok_or("the WebSocket ends")?
                .map_err(|error| error.to_string())?;
            let Message::Text(text) = message else {
                continue;
            };
            let message: Value =
                serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
            if message["id"] == 2 {
                return if message["result"].is_string() {
                    Ok(())
                } else {
                    Err(message.to_string())
                };
            }
        }
    }

    /// Sends a transfer.
    async fn transfer(&mut self) -> Result<(), String> {
        let key = key(SENDER);
        let nonce = match self.nonce {
            Some(nonce) => nonce,
            None => {
                let pending = self
                    .api
                    .try_rpc("eth_getTransactionCount", json!([key.address(), "pending"]))
                    .await?;
                u64::from_str_radix(
                    pending
                        .as_str()
                        .unwrap_or_default()
                        .trim_start_matches("0x"),
                    16,
                )
                .map_err(|error| error.to_string())?
            }
        };

        let tx = alloy::consensus::TxEip1559 {
            max_fee_per_gas: 1_000_000_000_000,
            value: U256::from(1),
            ..sign::transfer(nonce)
        };

        let hash = self
            .api
            .try_rpc("eth_sendRawTransaction", json!([sign::raw_of(tx, &key)]))
            .await?;
        self.acknowledged
            .lock()
            .push(hash.as_str().unwrap_or_default().to_owned());

        self.nonce = Some(nonce + 1);
        Ok(())
    }
}

/// The key of the account that sends transfers.
pub(super) const SENDER: u8 = 9;

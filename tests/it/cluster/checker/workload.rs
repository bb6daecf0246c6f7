//! The clients of a run: senders with separate accounts, and one reader of heads for each node.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use alloy::{
    consensus::TxEip1559,
    primitives::{Address, TxKind, U256, bytes},
    signers::local::PrivateKeySigner,
};
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tetrad::{
    Config,
    account::{DerivationPath, Mnemonic},
};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    Endpoints,
    connection::{CallError, Connection},
    heads,
    history::{Acknowledgement, HeadRead, History},
    senders::Sender,
};
use crate::{
    cluster::{POLL, WAIT_TIMEOUT},
    support::sign,
};

/// Maximum number of recorded anomalies.
const ANOMALIES: usize = 100;

/// The size of a run.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// The seed of the clients' choices.
    pub seed: u64,
    /// Number of senders.
    pub clients: usize,
    /// Maximum number of transactions of each sender.
    pub transactions: u64,
    /// Maximum number of heads that each reader records.
    pub heads: usize,
    /// Pause of a client after each transaction or read.
    pub pause: Duration,
}

impl Options {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            clients: 4,
            transactions: 20_000,
            heads: 20_000,
            pause: Duration::from_millis(2),
        }
    }
}

/// The state that the clients share.
pub(super) struct Run {
    pub endpoints: Endpoints,
    pub options: Options,
    pub signers: Vec<PrivateKeySigner>,
    pub counter: Address,
    started: Instant,
    history: Mutex<History>,
    acknowledged: watch::Sender<usize>,
    may_wait: AtomicBool,
    stopped: watch::Sender<Option<Instant>>,
}

impl Run {
    /// Whether clients start no further work.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.borrow().is_some()
    }

    /// Whether the time is over in which clients may finish what they started.
    pub(super) fn is_over(&self) -> bool {
        self.stopped
            .borrow()
            .is_some_and(|stopped| stopped.elapsed() > WAIT_TIMEOUT)
    }

    pub(super) async fn until_stopped(&self) {
        let _ = self.stopped.subscribe().wait_for(Option::is_some).await;
    }

    /// Whether transactions may be acknowledged before they are in a block.
    pub(super) fn may_wait(&self) -> bool {
        self.may_wait.load(Ordering::Relaxed)
    }

    /// Time since the run began.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn record(&self, acknowledgement: Acknowledgement) {
        self.history.lock().acknowledged.push(acknowledgement);
        self.acknowledged.send_modify(|count| *count += 1);
    }

    pub(super) fn record_heads(&self, heads: Vec<HeadRead>) {
        self.history.lock().heads.extend(heads);
    }

    pub(super) fn record_anomaly(&self, anomaly: String) {
        let anomalies = &mut self.history.lock().anomalies;
        if anomalies.len() < ANOMALIES {
            anomalies.push(anomaly);
        }
    }
}

/// The running clients.
pub(crate) struct Workload {
    run: Arc<Run>,
    tasks: JoinSet<()>,
}

impl Workload {
    /// Deploys the counter through the first node, and starts the clients. Every node must answer.
    pub(crate) async fn start(endpoints: Endpoints, options: Options) -> Self {
        let signers = signers(options.clients);

        let mut connection = endpoints.connect(0).await.unwrap();
        let mut nonces = Vec::new();
        for signer in &signers {
            let params = json!([signer.address(), "latest"]);
            nonces.push(
                read::<U256>(&mut connection, "eth_getTransactionCount", params)
                    .await
                    .to::<u64>(),
            );
        }

        let counter = deploy(&mut connection, &signers[0], nonces[0]).await;
        nonces[0] += 1;

        let base = read::<U256>(&mut connection, "eth_blockNumber", json!([])).await;
        let mut accounts = Vec::new();
        for signer in &signers {
            let params = json!([signer.address(), base]);
            accounts.push((
                signer.address(),
                read(&mut connection, "eth_getBalance", params).await,
            ));
        }

        let history = History {
            base: base.to(),
            counter,
            accounts,
            ..History::default()
        };

        let run = Arc::new(Run {
            endpoints,
            options,
            signers,
            counter,
            started: Instant::now(),
            history: Mutex::new(history),
            acknowledged: watch::Sender::new(0),
            may_wait: AtomicBool::new(false),
            stopped: watch::Sender::new(None),
        });

        let mut tasks = JoinSet::new();
        for (index, nonce) in nonces.into_iter().enumerate() {
            tasks.spawn(Sender::new(run.clone(), index, nonce).run());
        }
        for node in 0..run.endpoints.count() {
            tasks.spawn(heads::read(run.clone(), node));
        }

        Self { run, tasks }
    }

    /// Waits until this many more transactions are acknowledged.
    pub(crate) async fn progress(&self, more: usize) {
        let mut count = self.run.acknowledged.subscribe();
        let target = *count.borrow() + more;
        let reached = timeout(WAIT_TIMEOUT, count.wait_for(|count| *count >= target))
            .await
            .is_ok();
        assert!(
            reached,
            "{} of {target} transactions are acknowledged",
            *self.run.acknowledged.borrow()
        );
    }

    /// Number of clients.
    pub(crate) fn clients(&self) -> usize {
        self.run.signers.len()
    }

    /// Sets whether clients expect that acknowledged transactions still wait for a block.
    pub(crate) fn let_wait(&self, may_wait: bool) {
        self.run.may_wait.store(may_wait, Ordering::Relaxed);
    }

    /// Lets the clients finish what they started, and returns the history.
    pub(crate) async fn finish(mut self) -> History {
        self.run.stopped.send_replace(Some(Instant::now()));
        while let Some(task) = self.tasks.join_next().await {
            task.unwrap();
        }
        if self.run.may_wait() {
            // Transactions that are not included by then are lost, which the checker reports.
            let _ = timeout(WAIT_TIMEOUT, self.until_included()).await;
        }
        std::mem::take(&mut self.run.history.lock())
    }

    /// Waits until the first node has every acknowledged transaction in a block.
    async fn until_included(&self) -> Result<(), CallError> {
        let mut connection = self.run.endpoints.connect(0).await?;
        for (index, signer) in self.run.signers.iter().enumerate() {
            let Some(last) = last_nonce(&self.run.history.lock(), index) else {
                continue;
            };

            let params = json!([signer.address(), "latest"]);
            while count(&mut connection, params.clone()).await? <= last {
                sleep(POLL).await;
            }
        }
        Ok(())
    }
}

/// The highest acknowledged nonce of a sender.
fn last_nonce(history: &History, sender: usize) -> Option<u64> {
    history
        .acknowledged
        .iter()
        .filter(|acknowledged| acknowledged.sender == sender)
        .map(|acknowledged| acknowledged.nonce)
        .max()
}

/// The number of an account's transactions.
async fn count(connection: &mut Connection, params: Value) -> Result<u64, CallError> {
    let count = connection.call("eth_getTransactionCount", params).await?;
    Ok(serde_json::from_value::<U256>(count).unwrap().to())
}

/// The keys of the first development accounts.
fn signers(count: usize) -> Vec<PrivateKeySigner> {
    let config = Config::test();
    assert!(
        count <= config.accounts as usize,
        "there are {} development accounts",
        config.accounts
    );

    let seed = Mnemonic::from_phrase(&config.mnemonic).unwrap().to_seed("");

    (0..count as u32)
        .map(|index| {
            let path = DerivationPath::ethereum(index).unwrap();
            let key = seed.derive(&path).unwrap();
            PrivateKeySigner::from_slice(key.to_bytes().as_slice()).unwrap()
        })
        .collect()
}

/// Deploys a contract that counts the calls of each sender.
async fn deploy(connection: &mut Connection, signer: &PrivateKeySigner, nonce: u64) -> Address {
    // sstore(caller, sload(caller) + 1), preceded by code that returns these eight bytes.
    let input = bytes!("67 3354600101335500 600052 60086018f3");
    let create = TxEip1559 {
        to: TxKind::Create,
        value: U256::ZERO,
        gas_limit: 200_000,
        input,
        ..sign::transfer(nonce)
    };

    let hash: Value = read(
        connection,
        "eth_sendRawTransaction",
        json!([sign::raw_of(create, signer)]),
    )
    .await;

    let deadline = Instant::now() + WAIT_TIMEOUT;
    let receipt = loop {
        let receipt: Value = read(connection, "eth_getTransactionReceipt", json!([hash])).await;
        if !receipt.is_null() {
            break receipt;
        }
        assert!(Instant::now() < deadline, "{hash} is not included");
        sleep(POLL).await;
    };

    assert_eq!(receipt["status"], "0x1", "{receipt}");
    receipt["contractAddress"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap()
}

async fn read<T: DeserializeOwned>(connection: &mut Connection, method: &str, params: Value) -> T {
    let result = connection
        .call(method, params)
        .await
        .unwrap_or_else(|error| panic!("{method}: {error}"));
    serde_json::from_value(result).unwrap()
}

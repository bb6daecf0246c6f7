//! Calls of the other node as tasks of the client's thread make them, and what all of them share.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use alloy_primitives::{B256, U64};
use parking_lot::RwLock;
use reqwest::Url;
use serde_json::json;
use tetrad_web::{Budget, is_abandoned};
use tokio::time::timeout;

use super::{
    answer::{ForkAnswer, read_block_hash},
    call::request_body,
    error::{AttemptError, ForkCallError},
    response::extract_result,
    retry::{Attempts, RetryPolicy},
    transport::{HttpResponse, Transport},
};
use crate::fork::{
    config::ForkConfig,
    nodes::{ForkedNode, MAX_COOLDOWN, Nodes},
    pace::Pacer,
    stats::Counters,
};

/// The state that all calls of the other node share.
#[derive(Debug)]
pub(super) struct Requester {
    pub(super) transport: Transport,
    pub(super) pacer: Pacer,
    pub(super) counters: Arc<Counters>,
    /// The time limit of a request, retries included.
    pub(super) time_limit: Duration,
    pub(super) retry_policy: RetryPolicy,
    /// Whether the other node is not known to reject batches.
    pub(super) takes_batches: AtomicBool,
    /// Whether the nodes are still those that the fork began with.
    is_original: AtomicBool,
    /// Whether the node shuts down.
    has_ended: AtomicBool,
    /// The error that another block has taken the place of the forked one, once it has.
    reorganised: RwLock<Option<String>>,
}

impl Requester {
    pub(super) fn new(url: Url, config: &ForkConfig, budget: &Budget) -> io::Result<Self> {
        let counters = Arc::<Counters>::default();
        Ok(Self {
            transport: Transport::new(url, config, counters.clone(), budget)?,
            pacer: Pacer::new(config.pace),
            counters,
            time_limit: config.timeout,
            retry_policy: RetryPolicy {
                max_retries: config.retries,
                first_delay: config.retry_backoff,
            },
            takes_batches: AtomicBool::new(true),
            is_original: AtomicBool::new(true),
            has_ended: AtomicBool::new(false),
            reorganised: RwLock::default(),
        })
    }

    pub(super) fn is_original(&self) -> bool {
        self.is_original.load(Ordering::Relaxed)
    }

    /// Uses another URL from now on. What is known of the nodes so far does not apply to it.
    pub(super) fn set_url(&self, url: Url) {
        self.is_original.store(false, Ordering::Relaxed);
        self.takes_batches.store(true, Ordering::Relaxed);
        self.set_reorganised(None);
        self.transport.set_nodes(Nodes::new(url, &[]));
    }

    /// Lets calls fail with this error from now on, or succeed again.
    pub(super) fn set_reorganised(&self, error: Option<String>) {
        *self.reorganised.write() = error;
    }

    /// Lets calls fail from now on, since the node shuts down.
    pub(super) fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    /// Fails if the caller no longer waits for the answer.
    pub(super) fn check_wanted(&self, method: &str) -> Result<(), ForkCallError> {
        let reason = if self.has_ended.load(Ordering::Relaxed) {
            "the node is shutting down"
        } else if is_abandoned() {
            "the client is gone"
        } else {
            return Ok(());
        };
        Err(ForkCallError::Abandoned {
            method: method.to_owned(),
            reason,
        })
    }

    /// Fails if the caller no longer waits for the answer, or if another block has taken the place
    /// of the forked one.
    pub(super) fn check_usable(&self, method: &str) -> Result<(), ForkCallError> {
        self.check_wanted(method)?;
        match &*self.reorganised.read() {
            Some(reason) => Err(ForkCallError::no_answer("fork", reason)),
            None => Ok(()),
        }
    }

    /// Begins the attempts of a request, which may take `time_limit` together.
    pub(super) fn attempts(&self, method: &str, time_limit: Duration) -> Attempts<'_> {
        Attempts::begin(
            self.retry_policy,
            &self.transport,
            &self.counters,
            method,
            time_limit,
        )
    }

    /// Sends a single call, and retries where that may help, until the time is over.
    pub(super) async fn call(
        &self,
        method: &str,
        body: String,
        time_limit: Duration,
    ) -> Result<ForkAnswer, ForkCallError> {
        self.attempts(method, time_limit)
            .run(|| self.attempt_call(method, body.clone(), time_limit))
            .await
    }

    async fn attempt_call(
        &self,
        method: &str,
        body: String,
        time_limit: Duration,
    ) -> Result<ForkAnswer, AttemptError> {
        self.counters.count_call(method);
        let response = self.transport.send(method, body, time_limit).await?;
        read_answer(method, response)
    }

    /// Sends a single call to one of the nodes, once. A node that fails is left out for a while.
    pub(super) async fn call_node(
        &self,
        node: &ForkedNode,
        method: &str,
        body: String,
    ) -> Result<ForkAnswer, ForkCallError> {
        let attempt = async {
            let response = self.transport.send_to(node, method, body).await?;
            read_answer(method, response)
        };
        timeout(self.time_limit, attempt)
            .await
            .unwrap_or_else(|_| Err(AttemptError::transient(method, "no answer in time")))
            .map_err(|error| {
                node.cool_down(MAX_COOLDOWN);
                error.into_error()
            })
    }

    /// The hash of a block, if the other node answers with it.
    pub(super) async fn block_hash(&self, number: u64) -> Option<B256> {
        let method = "eth_getBlockByNumber";
        let body = request_body(method, &json!([U64::from(number), false]));
        let answer = self.call(method, body, self.time_limit).await.ok()?;
        read_block_hash(answer.json(), number).ok()
    }
}

fn read_answer(method: &str, response: HttpResponse) -> Result<ForkAnswer, AttemptError> {
    let json = extract_result(method, response.status, &response.body)?;
    Ok(ForkAnswer::new(json, response.held))
}

//! A client that uses the interfaces as intended.

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_primitives::{Address, U256};
use serde_json::{Value, json};

use super::{fill::INCLUSION_TIMEOUT, subject::Subject};

/// How long an honest client waits.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);

/// A client with a separate address.
#[derive(Clone)]
pub(super) struct Api {
    pub subject: Arc<Subject>,
    pub from: IpAddr,
    http: reqwest::Client,
}

impl Api {
    /// A client that connects from this address.
    pub(super) fn new(subject: &Arc<Subject>, from: IpAddr) -> Self {
        let http = reqwest::Client::builder()
            .local_address(from)
            .timeout(RESPONSE_TIMEOUT)
            .build()
            .unwrap();
        Self {
            subject: subject.clone(),
            from,
            http,
        }
    }

    /// The body of the response to a request that a node must serve.
    pub(super) async fn try_text(
        &self,
        path: &str,
        body: Option<&Value>,
    ) -> Result<String, String> {
        let url = format!("http://{}{path}", self.subject.address("rest"));
        let request = match body {
            Some(body) => self.http.post(url).json(body),
            None => self.http.get(url),
        };
        let response = request.send().await.map_err(|error| format!("{error:?}"))?;
        let status = response.status();
        let text = response
            .text()
            .await
            .map_err(|error| format!("{error:?}"))?;
        if status.is_success() {
            Ok(text)
        } else {
            Err(format!("status {status}: {text:.200}"))
        }
    }

    /// As [`Self::try_text`], parsed as JSON.
    pub(super) async fn try_json(&self, path: &str, body: Option<&Value>) -> Result<Value, String> {
        let text = self.try_text(path, body).await?;
        serde_json::from_str(&text).map_err(|error| format!("no JSON: {error}: {text:.200}"))
    }

    /// The result of a JSON-RPC request.
    pub(super) async fn try_rpc(&self, method: &str, params: Value) -> Result<Value, String> {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut answer = self.try_json("/rpc", Some(&body)).await?;
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(answer.to_string()),
        }
    }

    /// `GET` of a path that must succeed.
    pub(super) async fn get(&self, path: &str) -> Value {
        self.try_json(path, None)
            .await
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// `POST` of a body that must succeed.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Value {
        self.try_json(path, Some(body))
            .await
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The result of a JSON-RPC request that must succeed.
    pub(super) async fn rpc(&self, method: &str, params: Value) -> Value {
        self.try_rpc(method, params)
            .await
            .unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Waits for the faucet's payment to an account.
    pub(super) async fn until_paid(&self, account: Address) {
        let began = Instant::now();
        while self.balance(account).await.is_zero() {
            assert!(
                began.elapsed() < INCLUSION_TIMEOUT,
                "the faucet pays in time"
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The balance of an account.
    pub(super) async fn balance(&self, account: Address) -> U256 {
        self.rpc("eth_getBalance", json!([account, "latest"]))
            .await
            .as_str()
            .unwrap()
            .parse()
            .unwrap()
    }
}

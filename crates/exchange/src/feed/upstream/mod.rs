//! Price services on the network.
//!
//! Requests run in the background and never delay a block, which uses the last price received if it
//! is recent enough.

mod circuit;
mod http;
mod socket;
mod tls;

use std::{path::PathBuf, sync::Arc, time::Duration};

use parking_lot::Mutex;
use rustls::ClientConfig;
use tetrad_network::network::Network;
use tetrad_stdx::{clock::Clock, redact::origin};
use tetrad_web::Shutdown;
use tokio::sync::watch;

use self::circuit::Circuit;
use super::{Condition, FeedError, JsonPath, Moment, Source, SourceHealth, SourceSpec, usd_e8};

/// Most bytes of an upstream's answer.
const MAX_ANSWER: usize = 4 << 20;

/// Settings of upstreams.
#[derive(Clone, Debug)]
pub struct UpstreamConfig {
    /// Interval between requests.
    pub interval: Duration,
    /// Timeout of a request.
    pub timeout: Duration,
    /// Number of immediate retries of a failed request.
    pub retries: u32,
    /// The age from which on a price is not used.
    pub max_age: Duration,
    /// The message that is sent to a WebSocket once it is open.
    pub subscribe: Option<String>,
    /// PEM file of authorities that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// The pause after a failure, which doubles with each further one.
    pub backoff: Duration,
    /// Consecutive failures after which an upstream is not contacted for a while.
    pub threshold: u32,
    /// The time for which it is not contacted.
    pub cooldown: Duration,
}

impl Default for UpstreamConfig {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(10),
            timeout: Duration::from_secs(5),
            retries: 2,
            max_age: Duration::from_secs(60),
            subscribe: None,
            ca_file: None,
            backoff: Duration::from_millis(250),
            threshold: 5,
            cooldown: Duration::from_secs(30),
        }
    }
}

/// A price and when it was received, in milliseconds since the Unix epoch.
type Received = (u64, u64);

/// An upstream. Clones share its prices.
#[derive(Clone)]
pub struct Upstream(Arc<SharedUpstream>);

struct SharedUpstream {
    name: String,
    url: String,
    path: JsonPath,
    transport: Transport,
    config: UpstreamConfig,
    network: Arc<Network>,
    clock: Arc<dyn Clock>,
    heard: Mutex<Vec<Option<Received>>>,
    circuit: Mutex<Circuit>,
    /// Counts answers and failures, so that tests can wait for them.
    attempts: watch::Sender<u64>,
}

enum Transport {
    Http(reqwest::Client),
    /// The TLS configuration; none for a plain URL.
    Socket(Option<Arc<ClientConfig>>),
}

impl Upstream {
    /// An upstream that is not contacted yet.
    ///
    /// # Errors
    /// [`FeedError::Client`].
    pub fn new(
        spec: SourceSpec,
        config: UpstreamConfig,
        network: Arc<Network>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, FeedError> {
        let authorities = match &config.ca_file {
            Some(file) => tls::authorities(file)?,
            None => Vec::new(),
        };
        let (url, path, transport) = match spec {
            SourceSpec::Http { url, path } => {
                let client =
                    http::client(&config, &authorities).map_err(|what| client_error(&url, what))?;
                (url, path, Transport::Http(client))
            }
            SourceSpec::Socket { url, path } => {
                let encrypted = url.starts_with("wss://");
                let tls = encrypted
                    .then(|| tls::config(authorities))
                    .transpose()
                    .map_err(|what| client_error(&url, what))?;
                (url, path, Transport::Socket(tls))
            }
            SourceSpec::Simulation | SourceSpec::Replay(_) => {
                return Err(FeedError::Client {
                    url: spec.to_string(),
                    what: "this is no upstream".to_owned(),
                });
            }
        };

        Ok(Self(Arc::new(SharedUpstream {
            name: origin(&url),
            url,
            path,
            transport,
            config,
            heard: Mutex::new(vec![None; network.tokens.len()]),
            network,
            clock,
            circuit: Mutex::default(),
            attempts: watch::Sender::default(),
        })))
    }

    /// Requests prices until shutdown.
    pub async fn run(self, mut shutdown: Shutdown) {
        let upstream = &*self.0;
        let ask = async {
            loop {
                let outcome = match &upstream.transport {
                    Transport::Http(client) => http::poll(upstream, client).await,
                    Transport::Socket(tls) => socket::listen(upstream, tls.clone()).await,
                };
                if let Err(error) = outcome {
                    upstream.fail(error);
                }
                let pause = upstream.circuit.lock().pause(&upstream.config);
                tokio::time::sleep(pause).await;
            }
        };
        tokio::select! {
            () = ask => {}
            () = shutdown.begun() => {}
        }
    }

    /// The number of answers and failures.
    pub fn attempts(&self) -> watch::Receiver<u64> {
        self.0.attempts.subscribe()
    }
}

fn client_error(url: &str, what: String) -> FeedError {
    FeedError::Client {
        url: origin(url),
        what,
    }
}

impl SharedUpstream {
    /// Records the prices in `document` of the tokens at these positions. Returns the number of
    /// prices found.
    fn hear(&self, document: &str, tokens: impl Iterator<Item = usize>) -> usize {
        let now = self.clock.now_ms();
        let mut found = 0;
        for token in tokens {
            let Some(info) = self.network.tokens.get(token) else {
                continue;
            };
            let price = self
                .path
                .find(document, info)
                .and_then(|text| usd_e8(&text));
            if let (Some(price), Some(heard)) = (price, self.heard.lock().get_mut(token)) {
                *heard = Some((price, now));
                found += 1;
            }
        }
        found
    }

    fn succeed(&self) {
        self.circuit.lock().succeed();
        self.attempts.send_modify(|attempts| *attempts += 1);
    }

    fn fail(&self, error: String) {
        tracing::warn!(upstream = %self.name, %error, "a price source failed; it is retried, and its last prices are used until they are too old");
        self.circuit.lock().fail(error);
        self.attempts.send_modify(|attempts| *attempts += 1);
    }

    fn age_ms(&self, (_, at): Received) -> u64 {
        self.clock.now_ms().saturating_sub(at)
    }

    fn is_young(&self, heard: Received) -> bool {
        u128::from(self.age_ms(heard)) <= self.config.max_age.as_millis()
    }
}

impl Source for Upstream {
    fn prices(&self, _: &Moment<'_>) -> Vec<Option<u64>> {
        let heard = self.0.heard.lock();
        heard
            .iter()
            .map(|heard| {
                heard
                    .filter(|heard| self.0.is_young(*heard))
                    .map(|(price, _)| price)
            })
            .collect()
    }

    fn condition(&self) -> Condition {
        let newest = self
            .0
            .heard
            .lock()
            .iter()
            .flatten()
            .copied()
            .max_by_key(|(_, at)| *at);

        let circuit = self.0.circuit.lock();
        let status = match newest {
            _ if circuit.is_open(&self.0.config) => SourceHealth::Broken,
            None => SourceHealth::Waiting,
            Some(heard) if self.0.is_young(heard) => SourceHealth::Ok,
            Some(_) => SourceHealth::Stale,
        };

        Condition {
            name: self.0.name.clone(),
            status,
            age_ms: newest.map(|heard| self.0.age_ms(heard)),
            failures: circuit.failures().into(),
            error: circuit.error().map(str::to_owned),
        }
    }
}

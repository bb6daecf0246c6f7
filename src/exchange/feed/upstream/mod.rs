//! Services that know prices and are asked over the network.
//!
//! Asking goes on in the background and never holds up a block: a block takes what was heard last, if it is young enough.

mod circuit;
mod http;
mod socket;

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::watch;

use self::circuit::Circuit;
use super::{Condition, FeedError, Health, JsonPath, Moment, Source, SourceSpec, usd_e8};
use crate::{chain::Clock, network::Network, web::Shutdown};

/// Bytes that an upstream's answer may have.
const MAX_ANSWER: usize = 4 << 20;

/// How upstreams are asked.
#[derive(Clone, Debug)]
pub struct UpstreamConfig {
    /// Time between two questions.
    pub interval: Duration,
    /// How long an answer may take.
    pub timeout: Duration,
    /// How often a question that failed is asked again at once.
    pub retries: u32,
    /// How old a price may be that is passed on.
    pub max_age: Duration,
    /// What is said to a WebSocket once it is open.
    pub subscribe: Option<String>,
    /// The least pause after a failure; it doubles with each further one.
    pub backoff: Duration,
    /// Failures in a row after which an upstream is left alone for a while, and for how long.
    pub threshold: u32,
    /// How long it is left alone.
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
            backoff: Duration::from_millis(250),
            threshold: 5,
            cooldown: Duration::from_secs(30),
        }
    }
}

/// What was heard of a token: its price and when, in milliseconds since the Unix epoch.
type Heard = (u64, u64);

/// An upstream. Clones share what it knows.
#[derive(Clone)]
pub struct Upstream(Arc<Shared>);

struct Shared {
    name: String,
    url: String,
    path: JsonPath,
    transport: Transport,
    config: UpstreamConfig,
    network: Arc<Network>,
    clock: Arc<dyn Clock>,
    heard: Mutex<Vec<Option<Heard>>>,
    circuit: Mutex<Circuit>,
    /// Counts what comes in, so that one can wait for it.
    attempts: watch::Sender<u64>,
}

enum Transport {
    Http(reqwest::Client),
    Socket,
}

impl Upstream {
    /// An upstream that nobody asks yet.
    ///
    /// # Errors
    /// [`FeedError::Client`].
    pub fn new(
        spec: SourceSpec,
        config: UpstreamConfig,
        network: Arc<Network>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, FeedError> {
        let (url, path, transport) = match spec {
            SourceSpec::Http { url, path } => {
                let client = http::client(&config)
                    .map_err(|error| FeedError::Client { url: url.clone(), what: error.to_string() })?;
                (url, path, Transport::Http(client))
            }
            SourceSpec::Socket { url, path } => (url, path, Transport::Socket),
            SourceSpec::Simulation | SourceSpec::Replay(_) => {
                return Err(FeedError::Client { url: spec.to_string(), what: "this is no upstream".to_owned() });
            }
        };
        let name = origin(&url);
        let heard = Mutex::new(vec![None; network.tokens.len()]);
        let (circuit, attempts) = (Mutex::default(), watch::Sender::default());
        Ok(Self(Arc::new(Shared { name, url, path, transport, config, network, clock, heard, circuit, attempts })))
    }

    /// Asks again and again, until the end begins.
    pub async fn run(self, mut shutdown: Shutdown) {
        let upstream = &*self.0;
        let ask = async {
            loop {
                let outcome = match &upstream.transport {
                    Transport::Http(client) => http::poll(upstream, client).await,
                    Transport::Socket => socket::listen(upstream).await,
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

    /// Counts up with every answer and every failure.
    pub fn attempts(&self) -> watch::Receiver<u64> {
        self.0.attempts.subscribe()
    }
}

/// Scheme and host of a URL: what may be told to anybody. The rest may hold a key.
fn origin(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    format!("{scheme}://{}", host.rsplit('@').next().unwrap_or_default())
}

impl Shared {
    /// Takes in what `document` says of the tokens at these positions. Returns of how many it says something.
    fn hear(&self, document: &str, tokens: impl Iterator<Item = usize>) -> usize {
        let (now, mut found) = (self.clock.now_ms(), 0);
        for token in tokens {
            let Some(info) = self.network.tokens.get(token) else { continue };
            let price = self.path.find(document, info).and_then(|text| usd_e8(&text));
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
        tracing::warn!(upstream = %self.name, %error, "a price source failed; it is asked again, and what it said last holds until that is too old");
        self.circuit.lock().fail(error);
        self.attempts.send_modify(|attempts| *attempts += 1);
    }

    fn age_ms(&self, (_, at): Heard) -> u64 {
        self.clock.now_ms().saturating_sub(at)
    }

    fn is_young(&self, heard: Heard) -> bool {
        u128::from(self.age_ms(heard)) <= self.config.max_age.as_millis()
    }
}

impl Source for Upstream {
    fn prices(&self, _: &Moment<'_>) -> Vec<Option<u64>> {
        let heard = self.0.heard.lock();
        heard.iter().map(|heard| heard.filter(|heard| self.0.is_young(*heard)).map(|(price, _)| price)).collect()
    }

    fn condition(&self) -> Condition {
        let newest = self.0.heard.lock().iter().flatten().copied().max_by_key(|(_, at)| *at);
        let circuit = self.0.circuit.lock();
        let status = match newest {
            _ if circuit.is_open(&self.0.config) => Health::Broken,
            None => Health::Waiting,
            Some(heard) if self.0.is_young(heard) => Health::Ok,
            Some(_) => Health::Stale,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_no_secret() {
        for (url, expected) in [
            ("https://me:secret@api.example.org:8443/v1?key=secret", "https://api.example.org:8443"),
            ("ws://127.0.0.1:1/ws", "ws://127.0.0.1:1"),
            ("http://h?key=secret", "http://h"),
            ("http://", "http://"),
        ] {
            assert_eq!(origin(url), expected);
        }
    }
}

//! The connection to NATS, and the names of a cluster's streams, buckets and subjects.

use std::{error::Error, ops::RangeInclusive, path::Path, time::Duration};

use async_nats::{
    Client, ConnectError, ConnectErrorKind, ConnectOptions, Event, Request, ServerInfo, Subject,
    connection::State,
    jetstream::{
        self,
        context::ContextBuilder,
        kv, object_store,
        stream::{DiscardPolicy, StorageType},
    },
};
use bytes::Bytes;
use percent_encoding::percent_decode_str;
use reqwest::Url;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use tetrad_stdx::{causes::with_causes, redact};
use tokio::time::{Instant, sleep};

use super::{ClusterConfig, ClusterError, process::NodeProcess};
use crate::jetstream::LogStream;

/// The oldest version of a single nats-server with which clusters are tested.
const OLDEST: Version = (2, 9, 10);
/// The oldest one of clustered servers. Replicas of 2.9 that were cut off from each other may
/// differ for ever.
const OLDEST_OF_SEVERAL: Version = (2, 10, 26);
/// Versions that may delete whole streams when they are killed
/// (<https://jepsen.io/analyses/nats-2.12.1>).
const DELETING: RangeInclusive<Version> = (2, 10, 20)..=(2, 10, 22);
/// Time in which NATS must be reachable when a node starts.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval between signs of life of a connection. One that misses two is replaced.
const PING_INTERVAL: Duration = Duration::from_secs(1);
/// Time limit of an answer of JetStream.
const JETSTREAM_TIMEOUT: Duration = Duration::from_secs(2);
/// Pause between two connection attempts when a node starts.
const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(1);
/// Interval at which a stream is looked at until it is available.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Longest pause between two attempts to connect again.
const MAX_RECONNECT_PAUSE: Duration = Duration::from_secs(1);
/// Messages of a subscription that are held in memory: more than a request for entries of the log
/// brings.
const SUBSCRIPTION_CAPACITY: usize = 1_024;

/// The beginning of the subjects on which clients of NATS receive answers.
pub(super) const INBOX: &str = "_INBOX.";

/// The names of a cluster's streams, buckets and subjects.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    cluster: String,
}

impl Names {
    /// Returns the names of a cluster.
    pub(crate) fn new(cluster: &str) -> Self {
        Self {
            cluster: cluster.to_owned(),
        }
    }

    /// Returns the name of the log's stream, and of the buckets of keys and objects.
    pub(crate) fn log(&self) -> String {
        format!("tetrad-{}", self.cluster)
    }

    /// Returns the subject of the log.
    pub(crate) fn log_subject(&self) -> String {
        format!("tetrad.{}.log", self.cluster)
    }

    /// Returns the name of the stream of transactions that wait.
    pub(crate) fn pool(&self) -> String {
        format!("tetrad-{}-pool", self.cluster)
    }

    /// Returns the subject of a transaction that waits, or of all (`*`).
    pub(crate) fn pool_subject(&self, hash: &str) -> String {
        format!("tetrad.{}.pool.{hash}", self.cluster)
    }

    /// Returns the name of the bucket with the keys of the network's own accounts.
    pub(crate) fn keys(&self) -> String {
        format!("tetrad-{}-keys", self.cluster)
    }

    /// Returns the subject of requests to a process. One that has the same node name does not
    /// receive them.
    pub(crate) fn requests(&self, NodeProcess { node, instance }: &NodeProcess) -> String {
        format!("tetrad.{}.node.{node}.{instance:016x}", self.cluster)
    }

    /// Returns the subject of requests for the entry at a height, or at all (`*`), of a process's
    /// log.
    pub(crate) fn entry(&self, process: &NodeProcess, height: &str) -> String {
        format!("{}.entry.{height}", self.requests(process))
    }

    /// Returns the subject of an operator's commands to a node.
    pub(crate) fn commands(&self, node: &str) -> String {
        format!("tetrad.{}.command.{node}", self.cluster)
    }

    /// Returns the subject on which all nodes announce their state.
    pub(crate) fn states(&self) -> String {
        format!("tetrad.{}.state", self.cluster)
    }
}

/// The three numbers of a server's version.
type Version = (u64, u64, u64);

/// Returns why a server of this version, which is one of several or alone, cannot be used, if it
/// cannot.
fn fault(version: Version, is_one_of_several: bool) -> Option<&'static str> {
    if version < OLDEST {
        Some("which is older than 2.9.10, the oldest with which clusters are tested")
    } else if is_one_of_several && version < OLDEST_OF_SEVERAL {
        Some(
            "which is older than 2.10.26, the oldest of clustered servers with which clusters are \
             tested",
        )
    } else if DELETING.contains(&version) {
        Some("which may delete whole streams when it is killed, as 2.10.20 to 2.10.22 do")
    } else {
        None
    }
}

/// Returns why a server cannot be used, if it cannot.
fn refusal(server: &ServerInfo) -> Option<String> {
    let fault = fault(version(&server.version)?, is_one_of_several(server))?;
    Some(format!(
        "the NATS server {} has version {}, {fault}: upgrade it",
        server.server_name, server.version
    ))
}

/// Warns of a server that cannot be used, though this node is connected to another one: what that
/// acknowledges, this one may lose. A server that cannot be reached is found out when the node
/// connects to it.
async fn warn_of(server: String, options: ConnectOptions) {
    match options.connect(server).await {
        Ok(client) => {
            if let Some(reason) = refusal(&client.server_info()) {
                tracing::warn!(reason, "a server of the cluster cannot be used");
            }
        }
        Err(error) => tracing::debug!(
            error = with_causes(&error),
            "the version of a server is not known"
        ),
    }
}

/// Returns whether a server belongs to a cluster of servers.
fn is_one_of_several(server: &ServerInfo) -> bool {
    server.cluster.is_some() || server.connect_urls.len() > 1
}

/// Returns the numbers of a server's version, if it has them.
fn version(text: &str) -> Option<Version> {
    // Of versions before a release, such as 2.11.0-RC.1, the numbers count.
    let mut numbers = text
        .trim_start_matches('v')
        .split(['.', '-', '+'])
        .map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??, numbers.next()??))
}

/// A connection to the NATS servers of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(super) client: Client,
    pub(super) jetstream: jetstream::Context,
    pub(super) names: Names,
    replicas: Option<u8>,
}

/// A replica that lacks something that its stream's leader has.
pub(super) struct Lagging {
    /// Name of the server.
    pub(super) server: String,
    /// About how far it has got: the stream's last sequence without what it lacks.
    pub(super) position: u64,
}

/// Returns the error for a refusal of JetStream.
pub(super) fn failed(error: &dyn std::error::Error) -> ClusterError {
    ClusterError::JetStream(with_causes(error))
}

/// Makes attempts until one succeeds, or fails for another reason than that the servers do not
/// answer, or the time in which they must be available at a start is over. A cluster of servers
/// that has just begun is slow to create streams.
pub(super) async fn persist<T, F: Future<Output = Result<T, ClusterError>>>(
    mut attempt: impl FnMut() -> F,
) -> Result<T, ClusterError> {
    let deadline = Instant::now() + START_TIMEOUT;
    loop {
        match attempt().await {
            Err(error) if error.is_temporary() && Instant::now() < deadline => {
                tracing::debug!(%error, "trying again");
                sleep(POLL_INTERVAL).await;
            }
            outcome => return outcome,
        }
    }
}

impl Connection {
    /// Connects to the servers. Waits for a while until one of them can be reached.
    pub(crate) async fn open(config: &ClusterConfig, node: &str) -> Result<Self, ClusterError> {
        let shown: Vec<_> = config
            .servers
            .iter()
            .map(|server| redact::url(server.as_str()))
            .collect();
        let shown = shown.join(",");
        let servers: Vec<String> = config
            .servers
            .iter()
            .map(|server| without_user(server).to_string())
            .collect();

        let client = connect(config, node, &servers, &shown).await?;
        let jetstream = ContextBuilder::new()
            .timeout(JETSTREAM_TIMEOUT)
            .ack_timeout(JETSTREAM_TIMEOUT)
            .build(client.clone());
        let own = Self {
            client,
            jetstream,
            names: Names::new(&config.name),
            replicas: config.replicas,
        };

        if let Some(reason) = own.unfit_server() {
            return Err(ClusterError::Refused(reason));
        }
        for server in servers {
            tokio::spawn(warn_of(server, options(config, node)?));
        }

        // A cluster of servers that starts needs some time for its first election.
        persist(|| own.expect_jetstream())
            .await
            .map_err(|error| ClusterError::Connect(shown, error.to_string()))?;
        Ok(own)
    }

    /// Returns why the server to which this node is connected by now cannot be used, if it cannot.
    pub(super) fn unfit_server(&self) -> Option<String> {
        refusal(&self.client.server_info())
    }

    /// Asks for the account. Servers before 2.10 answer with fewer members than the library's type
    /// has.
    async fn expect_jetstream(&self) -> Result<(), ClusterError> {
        let request = Request::new().timeout(Some(JETSTREAM_TIMEOUT));
        let answer = self
            .client
            .send_request("$JS.API.INFO", request)
            .await
            .map_err(|error| failed(&error))?;

        let answer: serde_json::Value =
            serde_json::from_slice(&answer.payload).map_err(|error| failed(&error))?;
        match answer["error"]["description"].as_str() {
            None => Ok(()),
            Some(error) => Err(ClusterError::JetStream(error.to_owned())),
        }
    }

    /// Returns whether a server is connected.
    pub(crate) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Gives this connection up for one to any of the servers.
    pub(crate) async fn reconnect(&self) {
        if let Err(error) = self.client.force_reconnect().await {
            tracing::debug!(%error, "failed to take another server");
        }
    }

    /// Returns the number of replicas of new streams.
    pub(crate) fn replicas(&self) -> usize {
        let is_one_of_several = is_one_of_several(&self.client.server_info());
        self.replicas
            .map_or(if is_one_of_several { 3 } else { 1 }, usize::from)
    }

    /// Creates the log's stream, or opens it.
    pub(crate) async fn create_log(&self) -> Result<LogStream, ClusterError> {
        persist(|| self.try_create_log()).await
    }

    async fn try_create_log(&self) -> Result<LogStream, ClusterError> {
        let name = self.names.log();
        let subject = self.names.log_subject();
        let log = LogStream::create(&self.jetstream, &name, &subject, self.replicas()).await?;
        self.expect_leader(&name).await?;
        Ok(log)
    }

    /// Checks that a stream, which may just have been created, takes messages.
    async fn expect_leader(&self, stream: &str) -> Result<(), ClusterError> {
        let found = self
            .jetstream
            .get_stream(stream)
            .await
            .map_err(|error| failed(&error))?;
        match &found.cached_info().cluster {
            Some(cluster) if cluster.leader.is_none() => Err(ClusterError::JetStream(format!(
                "the stream {stream} has no leader"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the replicas of a stream that lack something that its leader has.
    pub(super) async fn lagging_replicas(
        &self,
        stream: &str,
    ) -> Result<Vec<Lagging>, ClusterError> {
        let found = self
            .jetstream
            .get_stream(stream)
            .await
            .map_err(|error| failed(&error))?;

        let info = found.cached_info();
        let replicas = info
            .cluster
            .iter()
            .flat_map(|cluster| &cluster.replicas)
            .filter(|replica| !replica.current);
        let lagging = replicas.map(|replica| Lagging {
            server: replica.name.clone(),
            position: info
                .state
                .last_sequence
                .saturating_sub(replica.lag.unwrap_or_default()),
        });
        Ok(lagging.collect())
    }

    /// Opens the log's stream.
    pub(crate) async fn log(&self) -> Result<LogStream, ClusterError> {
        Ok(LogStream::open(
            &self.jetstream,
            &self.names.log(),
            &self.names.log_subject(),
        )
        .await?)
    }

    /// Opens the stream of transactions that wait, or creates it.
    pub(crate) async fn pool(&self) -> Result<jetstream::stream::Stream<()>, ClusterError> {
        persist(|| self.try_pool()).await
    }

    async fn try_pool(&self) -> Result<jetstream::stream::Stream<()>, ClusterError> {
        let config = jetstream::stream::Config {
            name: self.names.pool(),
            subjects: vec![self.names.pool_subject("*")],
            description: Some("Transactions of tetrad that wait for a block".to_owned()),
            // A transaction that is stored again replaces its earlier message.
            max_messages_per_subject: 1,
            storage: StorageType::File,
            num_replicas: self.replicas(),
            ..jetstream::stream::Config::default()
        };

        self.jetstream
            .get_or_create_stream(config)
            .await
            .map_err(|error| failed(&error))?;
        self.expect_leader(&self.names.pool()).await?;

        self.jetstream
            .get_stream_no_info(self.names.pool())
            .await
            .map_err(|error| failed(&error))
    }

    /// Opens a bucket of keys and values, or creates it.
    pub(crate) async fn bucket(&self, name: &str) -> Result<kv::Store, ClusterError> {
        persist(|| self.try_bucket(name)).await
    }

    async fn try_bucket(&self, name: &str) -> Result<kv::Store, ClusterError> {
        if let Ok(bucket) = self.jetstream.get_key_value(name).await {
            return Ok(bucket);
        }

        // The library's function asks for the account first, and does not understand the answer of
        // servers before 2.10. Without direct reads, which any replica answers, a value that was
        // read is not older than the last one written.
        let config = jetstream::stream::Config {
            name: format!("KV_{name}"),
            subjects: vec![format!("$KV.{name}.>")],
            max_messages_per_subject: 1,
            storage: StorageType::File,
            num_replicas: self.replicas(),
            discard: DiscardPolicy::New,
            allow_rollup: true,
            deny_delete: true,
            ..jetstream::stream::Config::default()
        };

        let created = self.jetstream.get_or_create_stream(config).await;
        created.map_err(|error| failed(&error))?;
        self.expect_leader(&format!("KV_{name}")).await?;
        let opened = self.jetstream.get_key_value(name).await;
        opened.map_err(|error| failed(&error))
    }

    /// Opens the bucket of checkpoints, or creates it.
    pub(crate) async fn objects(&self) -> Result<object_store::ObjectStore, ClusterError> {
        persist(|| self.try_objects()).await
    }

    async fn try_objects(&self) -> Result<object_store::ObjectStore, ClusterError> {
        let name = self.names.log();
        if let Ok(objects) = self.jetstream.get_object_store(&name).await {
            return Ok(objects);
        }

        let config = object_store::Config {
            bucket: name.clone(),
            storage: StorageType::File,
            num_replicas: self.replicas(),
            ..object_store::Config::default()
        };

        let created = self.jetstream.create_object_store(config).await;
        self.expect_leader(&format!("OBJ_{name}")).await?;
        match created {
            Ok(objects) => Ok(objects),
            // Another node may have created it meanwhile.
            Err(error) => {
                let opened = self.jetstream.get_object_store(&name).await;
                opened.map_err(|_| failed(&error))
            }
        }
    }

    /// Answers a request. Only to an inbox, or else any client that may send requests could have
    /// this node publish on any subject.
    pub(super) async fn answer(&self, reply: Subject, payload: Bytes) {
        if reply.starts_with(INBOX) {
            // Without a connection, the other side learns from its own that this node is gone.
            let _ = self.client.publish(reply, payload).await;
        }
    }

    /// Publishes a message without an acknowledgement. Nothing happens while no server is
    /// connected.
    pub(super) async fn announce(&self, subject: String, payload: Bytes) {
        if self.is_connected() {
            let _ = self.client.publish(subject, payload).await;
        }
    }
}

/// Connects to one of the servers, and waits for a while until one can be reached. `shown` are the
/// servers for messages.
async fn connect(
    config: &ClusterConfig,
    node: &str,
    servers: &[String],
    shown: &str,
) -> Result<Client, ClusterError> {
    let deadline = Instant::now() + START_TIMEOUT;
    loop {
        let attempt = options(config, node)?
            .event_callback(report)
            .connect(servers.to_vec())
            .await;
        match attempt {
            Ok(client) => return Ok(client),
            Err(error) if is_final(&error) || Instant::now() >= deadline => {
                return Err(ClusterError::Connect(shown.to_owned(), with_causes(&error)));
            }
            Err(error) => {
                tracing::warn!(
                    servers = shown,
                    error = with_causes(&error),
                    "cannot connect to NATS yet"
                )
            }
        }
        sleep(BETWEEN_ATTEMPTS).await;
    }
}

/// Returns whether another attempt would fail likewise: the server refuses the node, or one of the
/// two the other's certificate.
fn is_final(error: &ConnectError) -> bool {
    let mut cause: Option<&dyn std::error::Error> = error.source();
    while let Some(own) = cause {
        let inner = own
            .downcast_ref::<std::io::Error>()
            .and_then(|error| error.get_ref());
        if own.is::<rustls::Error>() || inner.is_some_and(|inner| inner.is::<rustls::Error>()) {
            return true;
        }
        cause = own.source();
    }

    matches!(
        error.kind(),
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication
    )
}

/// Returns the URL of a server without the user, whom the library does not take from there.
fn without_user(server: &Url) -> Url {
    let mut server = server.clone();
    // Both fail only for URLs without a host.
    let _ = server.set_username("");
    let _ = server.set_password(None);
    server
}

/// Adds the user that the URLs name: with a password, or else as a token.
fn authenticated(
    options: ConnectOptions,
    config: &ClusterConfig,
) -> Result<ConnectOptions, ClusterError> {
    let mut users = config
        .servers
        .iter()
        .map(|server| (server.username(), server.password()));
    let Some((user, password)) = users.next() else {
        return Ok(options);
    };

    if users.any(|other| other != (user, password)) {
        let what =
            "--cluster: the URLs name different users, but a node has one user on all servers";
        return Err(ClusterError::Refused(what.to_owned()));
    }

    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    Ok(match (user, password) {
        ("", None) => options,
        // As in all clients of NATS, a user without a password is a token.
        (token, None) => options.token(decoded(token)),
        (user, Some(password)) => options.user_and_password(decoded(user), decoded(password)),
    })
}

/// Checks that a file has sections of PEM of a kind.
fn expect_pem<T: PemObject>(setting: &'static str, file: &Path) -> Result<(), ClusterError> {
    let wrong = |error: String| ClusterError::TlsFile(setting, file.display().to_string(), error);
    let found = T::pem_file_iter(file)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(error.to_string()))?;
    if found.is_empty() {
        Err(wrong("it has no such PEM section".to_owned()))
    } else {
        Ok(())
    }
}

/// Logs what happens to the connection.
async fn report(event: Event) {
    match event {
        Event::Connected => tracing::info!("connected to NATS"),
        Event::Disconnected => tracing::warn!("the connection to NATS was lost"),
        // Such as a permission that is missing.
        Event::ServerError(error) => tracing::warn!(%error, "NATS"),
        event => tracing::debug!(%event, "NATS"),
    }
}

/// Returns the options of a connection of the node with this name.
fn options(config: &ClusterConfig, node: &str) -> Result<ConnectOptions, ClusterError> {
    let options = ConnectOptions::new()
        .name(format!("tetrad {node}"))
        .connection_timeout(CONNECT_TIMEOUT)
        .ping_interval(PING_INTERVAL)
        .subscription_capacity(SUBSCRIPTION_CAPACITY)
        .reconnect_delay_callback(|attempts| {
            MAX_RECONNECT_PAUSE.min(Duration::from_millis(50 * attempts as u64))
        });
    let mut options = authenticated(options, config)?;
    if let Some(file) = &config.credentials_file {
        let failed = |error| ClusterError::Credentials(file.display().to_string(), error);
        let credentials = std::fs::read_to_string(file).map_err(failed)?;
        options = options.credentials(&credentials).map_err(failed)?;
    }

    if let Some(file) = &config.tls_ca_file {
        expect_pem::<CertificateDer<'_>>("--cluster-tls-ca-file", file)?;
        options = options.add_root_certificates(file.clone());
    }
    if let (Some(certificate), Some(key)) = (&config.tls_cert_file, &config.tls_key_file) {
        expect_pem::<CertificateDer<'_>>("--cluster-tls-cert-file", certificate)?;
        expect_pem::<PrivateKeyDer<'_>>("--cluster-tls-key-file", key)?;
        options = options.add_client_certificate(certificate.clone(), key.clone());
    }

    if config.servers.iter().any(|server| server.scheme() == "tls") {
        options = options.require_tls(true);
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_refused_by_the_numbers_of_their_versions() {
        for (text, is_refused, is_refused_of_several) in [
            ("2.9.9", true, true),
            ("2.9.10", false, true),
            ("2.10.0", false, true),
            ("2.10.19", false, true),
            ("2.10.20", true, true),
            ("2.10.22", true, true),
            ("2.10.23", false, true),
            ("2.10.26", false, false),
            ("2.15.1", false, false),
            ("1.4.1", true, true),
        ] {
            let version = version(text).unwrap();
            assert_eq!(fault(version, false).is_some(), is_refused, "{text}");
            assert_eq!(
                fault(version, true).is_some(),
                is_refused_of_several,
                "{text} of several"
            );
        }

        assert_eq!(version("v2.11.0-RC.1"), Some((2, 11, 0)));
        assert_eq!(
            (version(""), version("dev"), version("2.9")),
            (None, None, None)
        );
    }
}

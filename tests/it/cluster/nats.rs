//! `nats-server` processes with JetStream, one or a cluster of three.
//!
//! The servers do not advertise their addresses to clients, so a client of a proxy stays behind it.

use std::{
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio, id},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use async_nats::{
    Client, ConnectOptions,
    jetstream::{self, stream},
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use super::{
    POLL, WAIT_TIMEOUT,
    network::{MACHINES, Machine, Network},
    proxy::{End, Proxy},
};
use crate::support::{
    process::{installed, print_log, signal},
    skip,
};

/// Time after which an unanswered request is repeated, or sent to another server.
const REQUEST: Duration = Duration::from_secs(2);

/// Attempts to start servers, since other processes may take their ports.
const ATTEMPTS: usize = 10;

/// The stream that proves that JetStream stores messages.
const PROBE: &str = "PROBE";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Stopped,
    Ended,
}

struct NatsServer {
    name: String,
    address: SocketAddr,
    machine: Option<Machine>,
    config: PathBuf,
    log: PathBuf,
    child: Child,
    state: State,
    secured: bool,
}

/// The password of the user `node` on secured servers. In a URL it is percent-encoded.
const PASSWORD: &str = "s3cret@1";

/// The oldest version that nodes accept in a cluster of servers.
const OLDEST_OF_SEVERAL: [u64; 3] = [2, 10, 26];
/// The oldest version with `sync_interval: always`, which the shipped configuration sets.
const KNOWS_SYNC_INTERVAL: [u64; 3] = [2, 10, 0];

/// The ports of servers on machines of their own.
const CLIENT_PORT: u16 = 4222;
const ROUTE_PORT: u16 = 6222;

/// NATS servers on loopback, or one on each machine of a network, named n0, n1 and so on. They are
/// killed when dropped; after a panic their logs are printed.
pub(super) struct NatsServers {
    program: PathBuf,
    servers: Vec<NatsServer>,
    /// The proxies between two servers, the first of which opened the connection.
    routes: Vec<(usize, usize, Proxy)>,
    directory: TempDir,
}

impl NatsServers {
    /// Starts one server or a cluster of three, and waits until JetStream stores messages. Returns
    /// none if nats-server is not installed, or too old for a cluster.
    pub(super) async fn start(count: usize) -> Option<Self> {
        Self::begin(count, false, None).await
    }

    /// Starts a cluster with a server on each machine.
    pub(super) async fn start_on(network: &Network) -> Option<Self> {
        Self::begin(MACHINES, false, Some(network)).await
    }

    /// Starts a server with the users and permissions of the shipped configuration.
    pub(super) async fn start_secured() -> Option<Self> {
        Self::begin(1, true, None).await
    }

    async fn begin(count: usize, secured: bool, network: Option<&Network>) -> Option<Self> {
        assert!(count == 1 || count == 3, "{count} servers");
        let Some(program) = installed("nats-server") else {
            skip("nats-server is not installed");
            return None;
        };
        if count > 1 && version(&program) < OLDEST_OF_SEVERAL {
            skip("nats-server is older than nodes accept of clustered servers");
            return None;
        }
        for _ in 0..ATTEMPTS {
            let mut servers = Self::spawn(program.clone(), count, secured, network).await;
            match servers.become_ready().await {
                Ok(()) => return Some(servers),
                Err(error) if error.contains("address already in use") => drop(servers),
                Err(error) => panic!("{error}"),
            }
        }
        panic!("no free ports");
    }

    async fn spawn(
        program: PathBuf,
        count: usize,
        secured: bool,
        network: Option<&Network>,
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let machine = |index| network.map(|network| network.machine(index));

        let address =
            |index, port| machine(index).map_or_else(free_address, |machine| machine.address(port));
        let addresses: Vec<_> = (0..count)
            .map(|index| address(index, CLIENT_PORT))
            .collect();
        let listeners: Vec<_> = (0..count).map(|index| address(index, ROUTE_PORT)).collect();

        let cluster = listeners[0].port();
        let mut routes = Vec::new();

        let sync = if version(&program) < KNOWS_SYNC_INTERVAL {
            ""
        } else {
            "sync_interval: always, "
        };

        let mut servers = Vec::new();
        for (index, address) in addresses.into_iter().enumerate() {
            let name = format!("n{index}");
            let store = directory.path().join(&name);

            let mut text = format!(
                "server_name: {name}\nlisten: \"{address}\"\n\
                 jetstream {{ store_dir: {store:?}, {sync}max_memory_store: 64M, max_file_store: 1G }}\n"
            );

            if count > 1 {
                let mut others = Vec::new();
                for other in (0..count).filter(|other| *other != index) {
                    // The links of machines have faults of their own.
                    if network.is_some() {
                        others.push(format!("nats://{}", listeners[other]));
                        continue;
                    }

                    let proxy = Proxy::start(listeners[other]).await;
                    others.push(format!("nats://{}", proxy.address()));
                    routes.push((index, other, proxy));
                }
                text += &format!(
                    "cluster {{ name: \"test-{}-{cluster}\", listen: \"{}\", no_advertise: true, routes: {others:?} }}\n",
                    id(),
                    listeners[index]
                );
            }

            if secured {
                text += &shipped_accounts();
            }

            let config = store.with_extension("conf");
            fs::write(&config, text).unwrap();
            let log = store.with_extension("log");

            let machine = machine(index);
            let child = run(&program, machine, &config, &log);
            servers.push(NatsServer {
                name,
                address,
                machine,
                config,
                log,
                child,
                state: State::Running,
                secured,
            });
        }

        Self {
            program,
            servers,
            routes,
            directory,
        }
    }

    /// Waits until every server reaches the leader of JetStream's metadata and streams can have a
    /// replica on each. Fails with the log of a server that ended.
    async fn become_ready(&mut self) -> Result<(), String> {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        while let Err(error) = self.probe().await {
            for server in &mut self.servers {
                if server.child.try_wait().unwrap().is_some() {
                    server.state = State::Ended;
                    return Err(fs::read_to_string(&server.log).unwrap());
                }
            }
            assert!(Instant::now() < deadline, "JetStream is not ready: {error}");
            sleep(POLL).await;
        }
        Ok(())
    }

    async fn probe(&self) -> Result<(), async_nats::Error> {
        for server in &self.servers {
            // async-nats cannot parse the answers of servers before 2.10.
            let account = server.api("INFO").await?;
            if account.get("error").is_some() {
                return Err(account.to_string().into());
            }
        }
        let mut context = jetstream::new(self.servers[0].client().await?);
        context.set_timeout(REQUEST);
        let config = stream::Config {
            name: PROBE.to_owned(),
            num_replicas: self.servers.len(),
            storage: stream::StorageType::Memory,
            ..stream::Config::default()
        };
        context.create_stream(config).await?;
        context.delete_stream(PROBE).await?;
        Ok(())
    }

    /// Waits until JetStream stores messages on all servers again, all of which must run.
    pub(super) async fn ready(&mut self) {
        if let Err(log) = self.become_ready().await {
            panic!("{log}");
        }
    }

    /// The URLs for clients.
    pub(super) fn urls(&self) -> Vec<String> {
        self.servers
            .iter()
            .map(|server| {
                let user = if server.secured {
                    "node:s3cret%401@"
                } else {
                    ""
                };
                format!("nats://{user}{}", server.address)
            })
            .collect()
    }

    /// The address at which a server accepts clients.
    pub(super) fn address(&self, index: usize) -> SocketAddr {
        self.servers[index].address
    }

    pub(super) fn pid(&self, index: usize) -> u32 {
        self.servers[index].child.id()
    }

    /// A client of the running servers.
    pub(super) async fn client(&self) -> Client {
        let running = self
            .servers
            .iter()
            .filter(|server| server.state == State::Running);
        let urls: Vec<_> = running
            .map(|server| format!("nats://{}", server.address))
            .collect();
        self.servers[0].options().connect(urls).await.unwrap()
    }

    /// The directory in which a server stores its streams.
    pub(super) fn store(&self, index: usize) -> PathBuf {
        self.directory.path().join(&self.servers[index].name)
    }

    /// Ends a server with SIGKILL, stopped or not.
    pub(super) fn kill(&mut self, index: usize) {
        self.servers[index].kill();
    }

    /// Stops a server with SIGSTOP.
    pub(super) fn stop(&mut self, index: usize) {
        signal(self.pid(index), "-STOP");
        self.servers[index].state = State::Stopped;
    }

    /// Continues a stopped server.
    pub(super) fn cont(&mut self, index: usize) {
        signal(self.pid(index), "-CONT");
        self.servers[index].state = State::Running;
    }

    /// Starts a killed server again with its directory and its ports, and waits until it accepts
    /// clients.
    pub(super) async fn start_again(&mut self, index: usize) {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        let server = &mut self.servers[index];
        assert_eq!(server.state, State::Ended, "{} runs", server.name);
        server.child = run(&self.program, server.machine, &server.config, &server.log);
        server.state = State::Running;
        while server.client().await.is_err() {
            assert!(
                Instant::now() < deadline,
                "{} does not accept clients",
                server.name
            );
            if server.child.try_wait().unwrap().is_some() {
                server.child = run(&self.program, server.machine, &server.config, &server.log);
            }
            sleep(POLL).await;
        }
    }

    /// Cuts a server off from the others without closing connections, so that no server notices.
    pub(super) fn isolate(&self, server: usize) {
        for (from, to, route) in &self.routes {
            if server == *from || server == *to {
                route.hold();
            }
        }
    }

    /// As [`Self::isolate`], but the others still receive the server's messages.
    pub(super) fn deafen(&self, server: usize) {
        for (from, to, route) in &self.routes {
            if server == *from {
                route.hold_to(End::Client);
            } else if server == *to {
                route.hold_to(End::Server);
            }
        }
    }

    /// Connects all servers again.
    pub(super) fn reconnect(&self) {
        self.routes.iter().for_each(|(_, _, route)| route.restore());
    }

    /// A running server's description of a stream.
    async fn stream(&self, stream: &str) -> Option<Value> {
        for server in self
            .servers
            .iter()
            .filter(|server| server.state == State::Running)
        {
            let Ok(info) = server.api(&format!("STREAM.INFO.{stream}")).await else {
                continue;
            };
            if info["config"].is_object() {
                return Some(info);
            }
        }
        None
    }

    /// The server that leads a stream, if there is one.
    pub(super) async fn stream_leader(&self, stream: &str) -> Option<usize> {
        let info = self.stream(stream).await?;
        // A single server does not mention a cluster.
        let Some(cluster) = info.get("cluster") else {
            return Some(0);
        };
        self.servers
            .iter()
            .position(|server| cluster["leader"] == server.name.as_str())
    }

    /// The number of messages of a stream, if a server answers.
    pub(super) async fn messages(&self, stream: &str) -> Option<u64> {
        self.stream(stream).await?["state"]["messages"].as_u64()
    }

    /// Waits until all servers have the whole stream.
    pub(super) async fn await_replicas(&self, stream: &str) {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        loop {
            let info = self.stream(stream).await.unwrap_or_default();
            let replicas = info["cluster"]["replicas"].as_array();
            if replicas
                .is_some_and(|replicas| replicas.iter().all(|replica| replica["current"] == true))
            {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "replicas of {stream} do not catch up: {}",
                info["cluster"]
            );
            sleep(POLL).await;
        }
    }

    /// The server that leads a stream, once a running one does.
    pub(super) async fn await_stream_leader(&self, stream: &str) -> usize {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        loop {
            match self.stream_leader(stream).await {
                Some(leader) if self.servers[leader].state == State::Running => return leader,
                _ => assert!(
                    Instant::now() < deadline,
                    "the stream {stream} has no leader"
                ),
            }
            sleep(POLL).await;
        }
    }
}

impl NatsServer {
    /// A client of this server alone.
    async fn client(&self) -> Result<Client, async_nats::ConnectError> {
        self.options()
            .connection_timeout(REQUEST)
            .connect(format!("nats://{}", self.address))
            .await
    }

    fn options(&self) -> ConnectOptions {
        let options = ConnectOptions::new();
        if self.secured {
            options.user_and_password("node".to_owned(), PASSWORD.to_owned())
        } else {
            options
        }
    }

    /// The response to a request of JetStream's API.
    async fn api(&self, request: &str) -> Result<Value, async_nats::Error> {
        let client = self.client().await?;
        let response = timeout(
            REQUEST,
            client.request(format!("$JS.API.{request}"), "".into()),
        )
        .await??;
        Ok(serde_json::from_slice(&response.payload)?)
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.state = State::Ended;
    }
}

impl Drop for NatsServers {
    fn drop(&mut self) {
        for server in &mut self.servers {
            server.kill();
            if std::thread::panicking() {
                print_log(&server.name, &server.log);
            }
        }
    }
}

/// The numbers of the program's version.
fn version(program: &Path) -> [u64; 3] {
    let shown = Command::new(program).arg("--version").output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let (_, numbers) = shown
        .trim()
        .split_once(": v")
        .unwrap_or_else(|| panic!("no version: {shown}"));
    let numbers: Vec<u64> = numbers
        .split(['.', '-'])
        .map_while(|number| number.parse().ok())
        .collect();
    numbers
        .try_into()
        .unwrap_or_else(|_| panic!("no version: {shown}"))
}

/// The accounts of config/cluster/nats.conf, for the cluster `test`.
fn shipped_accounts() -> String {
    let shipped = include_str!("../../../config/cluster/nats.conf");
    let (_, accounts) = shipped.split_once("\naccounts {").unwrap();
    let (accounts, _) = accounts.split_once("\n# TLS").unwrap();
    let accounts = accounts
        .replace("staging", "test")
        .replace("$NATS_PASSWORD", &format!("{PASSWORD:?}"));
    format!(
        "accounts {{{}\n",
        accounts.replace("$NATS_SYSTEM_PASSWORD", "system")
    )
}

fn run(program: &Path, machine: Option<Machine>, config: &Path, log: &Path) -> Child {
    let log = File::options().create(true).append(true).open(log).unwrap();
    let mut command =
        machine.map_or_else(|| Command::new(program), |machine| machine.command(program));
    command
        .arg("--config")
        .arg(config)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    command.spawn().unwrap()
}

/// An address without a listener, with a port below those that the system assigns to connections: a
/// restarted server must get its port back.
pub(super) fn free_address() -> SocketAddr {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        // Concurrent processes begin at different ports.
        let step = id()
            .wrapping_mul(97)
            .wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 20_000 + (step % 10_000) as u16));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

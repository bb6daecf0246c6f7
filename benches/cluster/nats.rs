//! Three NATS servers with JetStream, in processes of their own.

use std::{
    fs::{self, File},
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::shared::server::cpu;

const SERVERS: usize = 3;

/// Time in which the servers must be able to store messages.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// Interval at which conditions are checked.
const POLL: Duration = Duration::from_millis(20);

/// A cluster of NATS servers, which are killed on drop.
pub(crate) struct NatsServers {
    children: Vec<Child>,
    ports: Vec<u16>,
    monitors: Vec<u16>,
    directory: PathBuf,
}

impl NatsServers {
    /// Starts the servers with their configurations, logs and stores in a directory, and waits
    /// until JetStream has a leader.
    pub(crate) fn start(directory: &Path) -> Self {
        let mut free = free_ports(3 * SERVERS).into_iter();
        let mut three = || -> Vec<u16> { free.by_ref().take(SERVERS).collect() };
        let ports = three();
        let routes = three();
        let monitors = three();

        let urls: Vec<_> = routes
            .iter()
            .map(|port| format!("nats://127.0.0.1:{port}"))
            .collect();

        let mut servers = Self {
            children: Vec::new(),
            ports,
            monitors,
            directory: directory.to_owned(),
        };

        for (at, route) in routes.iter().enumerate() {
            let place = servers.place(at);
            let text = format!(
                "server_name: n{at}\nlisten: \"127.0.0.1:{}\"\nhttp: \"127.0.0.1:{}\"\n\
                 jetstream {{ store_dir: {place:?}, max_memory_store: 64M, max_file_store: 8G }}\n\
                 cluster {{ name: bench, listen: \"127.0.0.1:{}\", routes: {urls:?} }}\n",
                servers.ports[at], servers.monitors[at], route
            );
            fs::write(place.with_extension("conf"), text).unwrap();
            servers.children.push(servers.run(at));
        }

        servers.await_ready();
        servers
    }

    /// The path of a server's files, without their extensions.
    fn place(&self, at: usize) -> PathBuf {
        self.directory.join(format!("nats-{at}"))
    }

    fn run(&self, at: usize) -> Child {
        let place = self.place(at);
        let log = File::options()
            .create(true)
            .append(true)
            .open(place.with_extension("log"))
            .unwrap();
        let mut command = Command::new(program());
        command.arg("--config").arg(place.with_extension("conf"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    fn await_ready(&self) {
        let began = Instant::now();
        while !self.monitors.iter().all(|port| is_ready(*port)) {
            assert!(began.elapsed() < READY_TIMEOUT, "JetStream is not ready");
            thread::sleep(POLL);
        }
    }

    /// The server that leads a stream, once one does.
    pub(crate) fn stream_leader(&self, stream: &str) -> usize {
        let began = Instant::now();
        loop {
            let leader = self
                .monitors
                .iter()
                .find_map(|port| leader_of(*port, stream));
            if let Some(at) = leader.and_then(|name| name.strip_prefix('n')?.parse().ok()) {
                return at;
            }
            assert!(began.elapsed() < READY_TIMEOUT, "{stream} has no leader");
            thread::sleep(POLL);
        }
    }

    /// Ends a server with SIGKILL.
    pub(crate) fn kill(&mut self, at: usize) {
        let _ = self.children[at].kill();
        let _ = self.children[at].wait();
    }

    /// Restarts a killed server, and waits until all are ready.
    pub(crate) fn start_again(&mut self, at: usize) {
        self.children[at] = self.run(at);
        self.await_ready();
    }

    /// The URLs of the servers, separated by commas.
    pub(crate) fn urls(&self) -> String {
        let urls: Vec<_> = self
            .ports
            .iter()
            .map(|port| format!("nats://127.0.0.1:{port}"))
            .collect();
        urls.join(",")
    }

    /// CPU time that all servers have used so far.
    pub(crate) fn cpu(&self) -> Duration {
        self.children.iter().map(cpu).sum()
    }
}

impl Drop for NatsServers {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Whether all servers belong to JetStream's cluster and one of them leads it.
fn is_ready(monitor: u16) -> bool {
    ask(monitor, "/healthz").is_ok_and(|health| health["status"] == "ok")
        && ask(monitor, "/jsz").is_ok_and(|jetstream| {
            let cluster = &jetstream["meta_cluster"];
            cluster["cluster_size"] == SERVERS
                && cluster["leader"]
                    .as_str()
                    .is_some_and(|leader| !leader.is_empty())
        })
}

/// The name of the server that leads a stream, according to the server with this monitoring port.
fn leader_of(monitor: u16, stream: &str) -> Option<String> {
    let jetstream = ask(monitor, "/jsz?streams=true").ok()?;
    let streams = jetstream["account_details"]
        .as_array()?
        .iter()
        .filter_map(|account| account["stream_detail"].as_array());
    let found = streams.flatten().find(|detail| detail["name"] == stream)?;
    found["cluster"]["leader"].as_str().map(str::to_owned)
}

/// What a monitoring port answers. It sends long answers in chunks, unless the request is of
/// HTTP/1.0.
fn ask(monitor: u16, path: &str) -> std::io::Result<Value> {
    let mut stream = TcpStream::connect(("127.0.0.1", monitor))?;
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    let (_, body) = response.split_once("\r\n\r\n").unwrap_or_default();
    Ok(serde_json::from_str(body)?)
}

/// The path of nats-server, which Debian installs where only root's PATH leads.
fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    let mut programs = directories.map(|directory| directory.join("nats-server"));
    programs
        .find(|program| program.is_file())
        .expect("nats-server is not installed")
}

fn free_ports(count: usize) -> Vec<u16> {
    // All are bound at the same time, so that none comes twice.
    let listeners: Vec<_> = (0..count)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    listeners
        .iter()
        .map(|listener| listener.local_addr().unwrap().port())
        .collect()
}

//! Three NATS servers with JetStream, in processes of their own.

use std::{
    fs::{self, File},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::shared::{
    client::{Client, Request},
    server::cpu,
};

const SERVERS: usize = 3;

/// Time in which the servers must be able to store messages.
const PATIENCE: Duration = Duration::from_secs(60);

/// A cluster of NATS servers, which are killed on drop.
pub struct NatsServers {
    children: Vec<Child>,
    ports: Vec<u16>,
}

impl NatsServers {
    /// Starts the servers with their configurations, logs and stores in a directory, and waits until JetStream has a leader.
    pub fn start(directory: &Path) -> Self {
        let program = program();
        let mut free = free_ports(3 * SERVERS).into_iter();
        let mut three = || -> Vec<u16> { free.by_ref().take(SERVERS).collect() };
        let (ports, routes, monitors) = (three(), three(), three());
        let urls: Vec<_> = routes.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
        let mut servers = Self { children: Vec::new(), ports };
        for at in 0..SERVERS {
            let place = directory.join(format!("nats-{at}"));
            let config = place.with_extension("conf");
            let text = format!(
                "server_name: n{at}\nlisten: \"127.0.0.1:{}\"\nhttp: \"127.0.0.1:{}\"\n\
                 jetstream {{ store_dir: {place:?}, max_memory_store: 64M, max_file_store: 8G }}\n\
                 cluster {{ name: bench, listen: \"127.0.0.1:{}\", routes: {urls:?} }}\n",
                servers.ports[at], monitors[at], routes[at]
            );
            fs::write(&config, text).unwrap();
            let log = File::create(place.with_extension("log")).unwrap();
            let mut command = Command::new(&program);
            command.arg("--config").arg(config).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
            servers.children.push(command.spawn().unwrap());
        }
        let began = Instant::now();
        while !monitors.iter().all(|port| is_ready(*port)) {
            assert!(began.elapsed() < PATIENCE, "JetStream is not ready");
            std::thread::sleep(Duration::from_millis(20));
        }
        servers
    }

    /// The URLs of the servers, separated by commas.
    pub fn urls(&self) -> String {
        let urls: Vec<_> = self.ports.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
        urls.join(",")
    }

    /// CPU time that all servers have used so far.
    pub fn cpu(&self) -> Duration {
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
    let answer = |path: &str| -> std::io::Result<Value> {
        Ok(serde_json::from_slice(Client::connect(monitor)?.exchange(&Request::get(path))?)?)
    };
    answer("/healthz").is_ok_and(|health| health["status"] == "ok")
        && answer("/jsz").is_ok_and(|jetstream| {
            let cluster = &jetstream["meta_cluster"];
            cluster["cluster_size"] == SERVERS && cluster["leader"].as_str().is_some_and(|leader| !leader.is_empty())
        })
}

/// The path of nats-server, which Debian installs where only root's PATH leads.
fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    let mut programs = directories.map(|directory| directory.join("nats-server"));
    programs.find(|program| program.is_file()).expect("nats-server is not installed")
}

fn free_ports(count: usize) -> Vec<u16> {
    // All are bound at the same time, so that none comes twice.
    let listeners: Vec<_> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect()
}

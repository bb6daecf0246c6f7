//! A node in its own process, and its resource usage.

use std::{
    fs,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::json;

use super::client::Client;

/// A running node, which is killed on drop.
pub(crate) struct Server {
    child: Child,
    /// The address it listens on.
    pub port: u16,
    /// Time from its start to its first response.
    pub started: Duration,
}

impl Server {
    /// Starts `command`, in which `{port}` stands for a free port, and waits for its first
    /// response.
    pub(crate) fn start(command: &[String]) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();

        let arguments = command[1..]
            .iter()
            .map(|argument| argument.replace("{port}", &port.to_string()));

        let began = Instant::now();
        let child = Command::new(&command[0])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", command[0]));

        let mut server = Self {
            child,
            port,
            started: Duration::ZERO,
        };

        loop {
            if let Ok(mut client) = Client::connect(port)
                && client.try_call("eth_chainId", json!([])).is_ok()
            {
                server.started = began.elapsed();
                return server;
            }
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "{} is not responding",
                command[0]
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Opens a connection.
    pub(crate) fn client(&self) -> Client {
        Client::connect(self.port).unwrap()
    }

    /// CPU time used so far, in user and system mode together.
    pub(crate) fn cpu(&self) -> Duration {
        cpu(&self.child)
    }

    /// Resident memory in megabytes.
    pub(crate) fn memory(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
    }
}

/// CPU time that a process has used so far, in user and system mode together.
pub(crate) fn cpu(child: &Child) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .collect();
    // `/proc` counts in hundredths of a second, independently of the kernel's tick rate.
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

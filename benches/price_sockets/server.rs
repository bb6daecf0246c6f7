//! The servers under test, each in its own process.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::Value;

pub(crate) struct Server {
    process: Child,
    pub address: SocketAddr,
    _folder: Option<tempfile::TempDir>,
}

impl Server {
    /// Starts the server that only writes.
    pub(crate) fn bare() -> Self {
        let program = env::current_exe().expect("the path of this program");
        let mut process = Command::new(program)
            .arg("--bare")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut address = String::new();
        let output = process.stdout.take().expect("its output");
        BufReader::new(output)
            .read_line(&mut address)
            .expect("its address");
        Self {
            address: address.trim().parse().expect("an address"),
            process,
            _folder: None,
        }
    }

    /// Starts the node with a price update every second.
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let ready = folder.path().join("ready.json");

        let mut process = Command::new(env!("CARGO_BIN_EXE_tetrad"))
            .args([
                "--listen",
                "127.0.0.1:0",
                "--ws-listen",
                "127.0.0.1:0",
                "--quiet",
                "--exchange-price-tick",
                "1",
            ])
            .args([
                "--exchange-max-sockets-per-client",
                "1000000",
                "--limits-connections",
                "1000000",
                "--ready-file",
            ])
            .arg(&ready)
            .stdout(Stdio::null())
            .spawn()
            .expect("the program starts");

        let urls = loop {
            if let Ok(text) = fs::read_to_string(&ready) {
                break serde_json::from_str::<Value>(&text).expect("JSON");
            }
            assert!(
                process.try_wait().expect("a process").is_none(),
                "the program ended"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        };

        let address = urls["exchange_ws"]
            .as_str()
            .expect("a URL")
            .trim_start_matches("ws://");
        Self {
            address: address.parse().expect("an address"),
            process,
            _folder: Some(folder),
        }
    }

    /// Resident memory in KiB.
    pub(crate) fn memory_kib(&self) -> u64 {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        line.and_then(|line| line.split_whitespace().nth(1))
            .and_then(|number| number.parse().ok())
            .unwrap_or(0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

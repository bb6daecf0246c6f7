//! The server under test, in its own process.

use std::{
    fs,
    net::SocketAddr,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::Value;

pub struct Server {
    process: Child,
    pub address: SocketAddr,
    _folder: tempfile::TempDir,
}

impl Server {
    /// Starts the server with a price update every second.
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let ready = folder.path().join("ready.json");
        let mut process = Command::new(env!("CARGO_BIN_EXE_tetrad"))
            .args(["--listen", "127.0.0.1:0", "--ws-listen", "127.0.0.1:0", "--quiet", "--exchange-price-tick", "1"])
            .args(["--exchange-max-sockets-per-client", "1000000", "--limits-connections", "1000000", "--ready-file"])
            .arg(&ready)
            .stdout(Stdio::null())
            .spawn()
            .expect("the program starts");
        let urls = loop {
            if let Ok(text) = fs::read_to_string(&ready) {
                break serde_json::from_str::<Value>(&text).expect("JSON");
            }
            assert!(process.try_wait().expect("a process").is_none(), "the program ended");
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        let address = urls["exchange_ws"].as_str().expect("a URL").trim_start_matches("ws://");
        Self { address: address.parse().expect("an address"), process, _folder: folder }
    }

    /// Resident memory in KiB.
    pub fn memory_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        line.and_then(|line| line.split_whitespace().nth(1)).and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

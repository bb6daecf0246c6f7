//! The program itself, as a user starts it.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use serde_json::Value;

/// The path of the program.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_tetrad");

/// The program with these arguments, in an empty environment.
pub(crate) fn tetrad(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

/// The path of another program. Debian installs those for administrators where only root's PATH
/// leads.
pub(crate) fn installed(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories: Vec<_> = std::env::split_paths(&path).collect();
    directories.push("/usr/sbin".into());
    directories
        .into_iter()
        .map(|directory| directory.join(name))
        .find(|program| program.is_file())
}

/// Whether the program succeeds, and what it prints to both streams.
pub(crate) fn output(arguments: &[&str]) -> (bool, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = tetrad(arguments).output().unwrap();
    (
        status.success(),
        String::from_utf8(stdout).unwrap(),
        String::from_utf8(stderr).unwrap(),
    )
}

/// Sends a signal to a process that the test started.
pub(crate) fn signal(pid: u32, signal: &str) {
    let sent = Command::new("kill")
        .args([signal, &pid.to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

/// Prints the last lines of a process's log.
pub(crate) fn print_log(name: &str, log: &Path) {
    let text = fs::read_to_string(log).unwrap_or_else(|error| error.to_string());
    let lines: Vec<_> = text.lines().collect();
    eprintln!(
        "== {name}\n{}",
        lines[lines.len().saturating_sub(100)..].join("\n")
    );
}

/// A node of its own process, ended when dropped.
pub(crate) struct Running {
    pub child: Child,
    /// The content of the ready file.
    pub ready: Value,
    _directory: tempfile::TempDir,
}

impl Running {
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        let mut command = tetrad(arguments);
        command.args(["--listen", "127.0.0.1:0", "--ws-listen", "127.0.0.1:0"]);
        Self::run(command).await
    }

    /// Runs a command that starts a node, and waits until the node listens.
    pub(crate) async fn run(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Self::run_until_ready(command, |child| {
            let mut error = String::new();
            child
                .stderr
                .take()
                .unwrap()
                .read_to_string(&mut error)
                .unwrap();
            error
        });
        started.await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same for a node that logs more than a pipe holds: its output is appended to a file.
    pub(crate) async fn run_with_log(command: Command, log: &Path) -> Self {
        Self::try_run_with_log(command, log)
            .await
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same for a node that may end before it listens. Returns what it has logged then.
    pub(crate) async fn try_run_with_log(mut command: Command, log: &Path) -> Result<Self, String> {
        let file = File::options().create(true).append(true).open(log).unwrap();
        command.stdout(file.try_clone().unwrap()).stderr(file);
        Self::run_until_ready(command, |_| fs::read_to_string(log).unwrap()).await
    }

    async fn run_until_ready(
        mut command: Command,
        error: impl FnOnce(&mut Child) -> String,
    ) -> Result<Self, String> {
        tetrad_stdx::tls::install_provider();
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("ready.json");
        command.arg("--ready-file").arg(&file);
        let child = command.spawn().unwrap();
        let mut running = Self {
            child,
            ready: Value::Null,
            _directory: directory,
        };
        loop {
            if let Ok(text) = fs::read_to_string(&file) {
                // The file is complete from the moment it exists.
                running.ready = serde_json::from_str(&text).unwrap();
                return Ok(running);
            }
            if let Some(status) = running.child.try_wait().unwrap() {
                return Err(format!("{status}: {}", error(&mut running.child)));
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    pub(crate) async fn chain_id(&self) -> Value {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
        let request = reqwest::Client::new()
            .post(self.ready["rpc"].as_str().unwrap())
            .header("content-type", "application/json");
        request
            .body(body)
            .send()
            .await
            .unwrap()
            .json::<Value>()
            .await
            .unwrap()["result"]
            .clone()
    }

    /// Sends a signal and returns what the program printed until it ended.
    pub(crate) fn end(mut self, sent: &str) -> (bool, String) {
        signal(self.child.id(), sent);
        let mut printed = String::new();
        self.child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut printed)
            .unwrap();
        (self.child.wait().unwrap().success(), printed)
    }

    /// Ends the node and returns its log.
    pub(crate) fn log(mut self) -> String {
        signal(self.child.id(), "-TERM");
        let mut log = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut log)
            .unwrap();
        assert!(self.child.wait().unwrap().success(), "{log}");
        log
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

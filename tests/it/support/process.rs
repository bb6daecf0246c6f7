//! The program itself, as a user starts it.

use std::{
    io::Read,
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;

/// The program with these arguments, in an empty environment.
pub fn tetrad(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetrad"));
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

/// Whether the program succeeds, and what it prints to both streams.
pub fn output(arguments: &[&str]) -> (bool, String, String) {
    let Output { status, stdout, stderr } = tetrad(arguments).output().unwrap();
    (status.success(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A node of its own process, ended when dropped.
pub struct Running {
    pub child: Child,
    /// What the ready file says.
    pub ready: Value,
    _directory: tempfile::TempDir,
}

impl Running {
    pub async fn start(arguments: &[&str]) -> Self {
        let mut command = tetrad(arguments);
        command.args(["--listen", "127.0.0.1:0", "--ws-listen", "127.0.0.1:0"]);
        Self::run(command).await
    }

    /// Runs a command that starts a node, and waits until the node listens.
    pub async fn run(mut command: Command) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("ready.json");
        command.arg("--ready-file").arg(&file);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let ready = loop {
            if let Ok(text) = std::fs::read_to_string(&file) {
                // The file is whole from the first moment it is there.
                break serde_json::from_str(&text).unwrap();
            }
            if let Some(status) = child.try_wait().unwrap() {
                let mut error = String::new();
                child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
                panic!("{status}: {error}");
            }
            tokio::task::yield_now().await;
        };
        Self { child, ready, _directory: directory }
    }

    pub async fn chain_id(&self) -> Value {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
        let request =
            reqwest::Client::new().post(self.ready["rpc"].as_str().unwrap()).header("content-type", "application/json");
        request.body(body).send().await.unwrap().json::<Value>().await.unwrap()["result"].clone()
    }

    /// Sends a signal and returns what the program printed until it ended.
    pub fn end(mut self, signal: &str) -> (bool, String) {
        self.signal(signal);
        let mut printed = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        (self.child.wait().unwrap().success(), printed)
    }

    /// Ends the node and returns its log.
    pub fn log(mut self) -> String {
        self.signal("-TERM");
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(self.child.wait().unwrap().success(), "{log}");
        log
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
